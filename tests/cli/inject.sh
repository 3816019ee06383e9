#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat inject: recordings written anew, from files and pipes into files and pipes: what no option is about is the same.
#
# run: once
. "${0%/*}/../lib.sh"

# A sample in the vdso has a name where its build-id is known, and a sampled one may be anywhere.
samples() { "$PSTAT" script -i "$1" 2>/dev/null | sed 's/ __vdso_[a-z_]*+0x[0-9a-f]* / [unknown] /'; }
ids() { "$PSTAT" buildid-list -i "$1" | sort; }

# new NAME OPTIONS...: name.file and name.pipe of the recording `in`
rewritten()
{
	local name=$1

	shift
	run "$PSTAT" inject "$@" -i in -o "$name.file"
	same "$name: status" 0 "$status"
	same "$name: nothing is said" "" "$err"
	cat in | "$PSTAT" inject "$@" | cat >"$name.pipe"
	same "$name: status of pipes" "0 0 0" "${PIPESTATUS[*]}"
}

test_same_samples()
{
	need_paranoid 2
	"$PSTAT" record -q -g -e page-faults:u -c 1 -o in "$WORK/callers" known 1 >/dev/null 2>&1
	rewritten as_it_is
	same "into a file" "$(samples in)" "$(samples as_it_is.file)"
	same "through pipes" "$(samples in)" "$(samples as_it_is.pipe)"
	same "the same build-ids" "$(ids in)" "$(ids as_it_is.file)"
	same "of a pipe, too" "$(ids in)" "$(ids as_it_is.pipe)"
	"$PSTAT" inject -o again <as_it_is.pipe
	same "from the layout of pipes into that of files" "$(samples in)" "$(samples again)"
	same "which has the header" "$("$PSTAT" script --header-only -i in | grep -E '^# (hostname|cmdline|event)')" \
		"$("$PSTAT" script --header-only -i again | grep -E '^# (hostname|cmdline|event)')"
	need_perf
	perf script -i in >theirs 2>/dev/null
	same "perf reads the file" "$(cat theirs)" "$(perf script -i as_it_is.file 2>/dev/null)"
	same "and the pipe" "$(cat theirs)" "$(perf script -i - <as_it_is.pipe 2>/dev/null)"
}

test_build_ids()
{
	need_paranoid 2
	cp "$WORK/callers" program
	"$PSTAT" record -q -B -g -e cpu-clock:u -F 1000 -o in ./program known 40 >/dev/null 2>&1
	same "there are none" "" "$(ids in)"
	rewritten hit -b
	has "of the program" '^[0-9a-f]{40} /.*/program$' "$(ids hit.file)"
	same "in a pipe, too" "$(ids hit.file)" "$(ids hit.pipe)"
	same "before the first sample" BUILD_ID "$("$PSTAT" script -D -i hit.pipe |
		grep -oE -m1 'BUILD_ID|RECORD_SAMPLE')"
	same "the samples are the same" "$(samples in)" "$(samples hit.file)"
	rewritten all --buildid-all
	has "of files without a sample" '^[0-9a-f]{40} /.*/ld-linux' "$(ids all.file)"
	rewritten maps --mmap2-buildid-all
	same "in the mappings" "$(ids all.file)" "$(ids maps.file)"
	has "is where the inode was" "MMAP2.*<[0-9a-f]{40}>.*/program$" \
		"$("$PSTAT" script --show-mmap-events -i maps.file)"
	same "known ones come first" "00112233445566778899 $PWD/program" \
		"$("$PSTAT" inject -b --known-build-ids "00112233445566778899 $PWD/program" -i in |
			"$PSTAT" buildid-list -i - | grep program)"
	need_perf
	perf inject -b -i in -o theirs
	same "as perf has them" "$(perf buildid-list -i theirs | grep program)" "$(ids hit.file | grep program)"
	same "perf reads them in a mapping" "$(perf script -i in 2>/dev/null)" "$(perf script -i maps.file 2>/dev/null)"
	# Another file at the path has another build-id, and nobody knows that of the recorded one.
	rm program
	cp "$(type -P true)" program
	run "$PSTAT" inject -v -b -i in -o replaced
	same "status" 0 "$status"
	has "it is said" '^pstat: program: its build-id is not known: it is another file now' "$err"
	has_not "none is made up" 'program$' "$(ids replaced)"
}

# Three programs, one after the other and one in the other; each process has mappings that nothing runs in.
test_mappings()
{
	need_paranoid 2
	"$PSTAT" record -q -g -e cpu-clock:u -F 2000 -o in -- sh -c \
		"'$WORK/callers' known 20; '$WORK/exact' execs:2 forks:2 spins:10; exec '$WORK/callers' known 20" >/dev/null 2>&1
	rewritten maps -B
	same "the same samples" "$(samples in)" "$(samples maps.file)"
	same "through pipes, too" "$(samples in)" "$(samples maps.pipe)"
	"$PSTAT" script -i maps.file --show-mmap-events -F pid,ip,dso,event >kept
	# A mapping stands right before a sample that is in it: of its address, or of a frame below.
	same "each is of a sample's file" "" "$(awk '
		/PERF_RECORD_MMAP/ && /callers/ { wanted = 1; next }
		/^\t/ && /callers/ { wanted = 0 }
		/^$/ && wanted { print "no sample is in it" }' kept)"
	has "with its build-id" "MMAP2.*<[0-9a-f]{40}>.*/callers$" "$(cat kept)"
	"$PSTAT" inject -B -i maps.file -o again
	same "again it is the same" "$(samples in)" "$(samples again)"
	same "nothing more is left out" "$(grep -c MMAP kept)" \
		"$("$PSTAT" script -i again --show-mmap-events -F pid,ip,dso,event | grep -c MMAP)"
	# No sample of the first is in the library; a branch of the second is.
	for golden in weight_struct:1 branch_stack:2; do
		"$PSTAT" inject -B -i "$ROOT/tests/golden/${golden%:*}.data" -o golden
		same "mappings of $golden" "${golden#*:}" "$("$PSTAT" script --show-mmap-events -i golden 2>/dev/null |
			grep -c 'MMAP.*/opt/golden')"
	done
	"$PSTAT" record -q --call-graph dwarf,raw -e cpu-clock:u -F 1000 -o in "$WORK/callers" known 20 >/dev/null 2>&1
	rewritten stacks -B
	same "what stacks are unwound to is there" "$(samples in)" "$(samples stacks.file)"
	need_perf
	same "perf reads it" "$(perf script -i in -G -F ip,sym 2>/dev/null)" \
		"$(perf script -i stacks.file -G -F ip,sym 2>/dev/null)"
}

test_chains()
{
	need_paranoid 2
	"$PSTAT" record -q --call-graph dwarf,raw -e cpu-clock:u -F 1000 -o in "$WORK/callers" known 40 >/dev/null 2>&1
	rewritten chains --convert-callchain
	same "the same frames" "$(samples in)" "$(samples chains.file)"
	same "in a pipe, too" "$(samples in)" "$(samples chains.pipe)"
	check "it is a part of the size" [ $(($(stat -c %s chains.file) * 10)) -lt "$(stat -c %s in)" ]
	has "no event has a copy" 'sample_type: [A-Z|]*CALLCHAIN[A-Z|]*,' "$("$PSTAT" evlist -v -i chains.file)"
	has_not "nor registers" 'STACK_USER|REGS_USER' "$("$PSTAT" evlist -v -i chains.file)"
	run "$PSTAT" inject --convert-callchain -i chains.file -o again
	same "again: status" 0 "$status"
	has "again" '^pstat: no event has copies of stacks: callchains stay as they are$' "$err"
	same "they stay" "$(samples chains.file)" "$(samples again)"
	fails_with 125 'no event has callchains$' "$PSTAT" inject --convert-callchain -i "$ROOT/tests/golden/tracepoints.data" -o x
	need_perf
	has "perf reads it" ' known\+' "$(perf script -i chains.file 2>/dev/null)"
}

# What "jit again" tells in its dump, as ELF files: each sample has the function that report finds in the dump.
test_jit()
{
	need_paranoid 2
	export JITDUMPDIR=$tmp/dumps
	mkdir "$JITDUMPDIR"
	"$PSTAT" record -q -N -k mono -e cpu-clock:u -F 500 -o in -- "$WORK/jit" again >/dev/null 2>&1
	samples in | sed -nE 's/.* (jit_[a-z_]*)\+.*/\1/p' | sort | uniq -c >expected
	check "the dump is read" [ -s expected ]
	rewritten jit -j
	rm "$JITDUMPDIR"/*.dump
	for place in file pipe; do
		same "$place: each function as often" "$(cat expected)" \
			"$(samples "jit.$place" | sed -nE 's/.* (jit_[a-z_]*)\+.*/\1/p' | sort | uniq -c)"
	done
	check "the files are ELF" readelf -h "$JITDUMPDIR"/jitted-*-0.so
	same "their build-ids are those that are read" "$(readelf -n "$JITDUMPDIR"/jitted-*-0.so | awk '/Build ID:/ { print $3 }')" \
		"$("$PSTAT" buildid-list -i "$JITDUMPDIR"/jitted-*-0.so)"
	run "$PSTAT" inject -j -i in -o without
	has "a dump that is gone is said" 'jit-[0-9]+.dump: no such file' "$err"
	same "and all else is written" "$(samples in | wc -l)" "$(samples without | wc -l)"
	"$PSTAT" record -q -N -e cpu-clock:u -o other -- "$WORK/jit" dump </dev/null >/dev/null 2>&1
	fails_with 125 'record with -k mono' "$PSTAT" inject -j -i other -o x
	need_perf
	same "perf has them, too" "$(awk '{ n += $1 } END { print n }' expected)" \
		"$(perf script -F ip,sym -i jit.file 2>/dev/null | grep -c ' jit_')"
}

# The events of a task of its own, so that what is joined is known: each switch and the first of the others after it.
test_waits()
{
	need_tracefs
	need_paranoid -1
	"$PSTAT" record -q -e sched:sched_stat_runtime,sched:sched_switch -o in sh -c 'sleep 0.01; sleep 0.01' 2>/dev/null ||
		skip "needs the tracepoint sched:sched_stat_runtime"
	rewritten waits -s
	"$PSTAT" script -F tid,time,event,period,trace --ns -i in | awk '
		/sched_switch:/ { $1 = $1; split($0, at, " "); kept[$1] = $0; next }
		match($0, / pid=[0-9]+/) {
			pid = substr($0, RSTART + 5, RLENGTH - 5)
			if (pid in kept) {
				n = split(kept[pid], was, " "); was[2] = $2; was[3] = $3
				line = was[1]
				for (i = 2; i <= n; i++) line = line " " was[i]
				print line
			}
		}' >expected
	check "some are joined" [ -s expected ]
	same "switches with the time and period of the others" "$(cat expected)" \
		"$("$PSTAT" script -F tid,time,event,period,trace --ns -i waits.file | awk '{ $1 = $1; print }')"
	same "in a pipe, too" "$(samples waits.file)" "$(samples waits.pipe)"
	"$PSTAT" record -q -e sched:sched_switch -o one true
	fails_with 125 'it has none of the latter' "$PSTAT" inject -s -i one -o x
}

test_damaged()
{
	need_paranoid 2
	"$PSTAT" record -q -e page-faults:u -c 1 -o in ls / >/dev/null 2>&1
	size=$(stat -c %s in)
	head -c $((size / 2)) in >cut
	run "$PSTAT" inject -i cut -o whole
	same "a part is a recording" 0 "$status"
	has "what is missing is said" 'pstat: cut: .*missing' "$err"
	same "what is there is kept" "$(samples cut)" "$(samples whole)"
	"$PYTHON" - <<-'EOF'
	import struct
	data = bytearray(open("in", "rb").read())
	at, size = struct.unpack_from("<QQ", data, 40)
	end, n = at + size, 0
	while at < end:
	    kind, _, length = struct.unpack_from("<IHH", data, at)
	    if kind == 9:
	        n += 1
	        if n == 3:
	            struct.pack_into("<I", data, at, 10)
	    at += length
	open("wrong", "wb").write(data)
	EOF
	run "$PSTAT" inject -i wrong -o right
	same "status" 125 "$status"
	has "a record that makes no sense is named" 'at offset 0x[0-9a-f]+: MMAP2' "$err"
	has "and counted" 'pstat: wrong: 1 records could not be decoded and are left out' "$err"
	same "all others are there" "$(($(samples in | wc -l) - 1))" "$(samples right | wc -l)"
}

test_wrong()
{
	fails_with 125 '^pstat: x: No such file' "$PSTAT" inject -i x -o y
	fails_with 125 'instruction traces' "$PSTAT" inject --itrace=i -i x -o y
	: >empty
	fails_with 125 '^pstat: empty: ' "$PSTAT" inject -i empty -o y
	check_not "nothing is written" [ -e y ]
}

run_tests
