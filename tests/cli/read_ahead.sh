#!/bin/bash
# Recordings with copies of stacks, whose file is read by a thread beside the rest: what is printed of them is the same
# on one CPU, where there is no such thread, and from the file's mapping, which a directory's files are taken from.
#
# run: once
. "${0%/*}/../lib.sh"
CALLERS=$WORK/callers

# recorded NAME OPTION...: `callers` with copies of its stack, in some MB
recorded()
{
	local name=$1

	shift
	[ -e "$tmp/$name" ] ||
		check "recorded: $name" "$PSTAT" record -q -o "$tmp/$name" -e cpu-clock -F 1000 "$@" "$CALLERS" deep 400 2
}

# the_same NAME COMMAND [OPTION]...: on all CPUs, on one, and from the mapping, which is given the same name
the_same()
{
	local name=$1 one

	shift
	one=$(taskset -cp $$) one=${one##* } one=${one%%[,-]*}
	mkdir -p "$tmp/mapped/$name"
	ln -f "$tmp/$name" "$tmp/mapped/$name/data"
	cd "$tmp" || return
	"$PSTAT" "$@" -i "$name" >all 2>all.err
	same "$name: $*: exit status" 0 $?
	check "$name: $*: there are lines" test "$(wc -l <all)" -gt 20
	taskset -c "$one" "$PSTAT" "$@" -i "$name" >one 2>one.err
	check "$name: $*: on one CPU" cmp all one
	check "$name: $*: on one CPU, complaints" cmp all.err one.err
	cd mapped || return
	"$PSTAT" "$@" -i "$name" >../mapping 2>../mapping.err
	check "$name: $*: from the mapping" cmp ../all ../mapping
	check "$name: $*: from the mapping, complaints" cmp ../all.err ../mapping.err
}

test_copied_stacks()
{
	need_cmd taskset
	recorded raw --call-graph dwarf,raw,32768
	check "it is large enough for a thread" test "$(stat -c %s "$tmp/raw")" -gt 8000000
	the_same raw report --stdio
	the_same raw report --stdio --unwinder=libdw
	the_same raw script
	the_same raw script -D
}

test_packed()
{
	need_cmd taskset
	recorded packed -z --call-graph dwarf,raw,32768
	the_same packed report --stdio
}

test_perf()
{
	need_cmd taskset
	need_perf
	check "recorded: perf" perf record -q -o "$tmp/perf" -e cpu-clock:u -c 1000000 --call-graph dwarf,16384 \
		"$CALLERS" deep 400 2
	the_same perf report --stdio
	the_same perf script
}

# Nobody reads on: it ends at once, as other programs do.
test_cut_short()
{
	recorded raw --call-graph dwarf,raw,32768
	"$PSTAT" script -i "$tmp/raw" 2>"$tmp/err" | head -n 1 >"$tmp/first"
	same "ended by the signal" 141 "${PIPESTATUS[0]}"
	same "no complaint" "" "$(<"$tmp/err")"
	same "a line" 1 "$(wc -l <"$tmp/first")"
}

run_tests
