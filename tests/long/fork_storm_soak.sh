#!/bin/bash
# A recorder of all CPUs at 25 kHz under a fork storm has flat memory: its resident memory is looked at each second of
# SOAK_S (300), the first tenth is its warm-up, and of the rest the median of the last third may be 1 MiB and a
# twentieth above that of the first.
#
# run: alone
. "${0%/*}/../lib.sh"
: "${SOAK_S:=300}"
exact=$WORK/exact

kib_of() { awk -v what="$2:" '$1 == what { print $2 }' "/proc/$1/status" 2>/dev/null; }
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# flat NAME OPTIONS...
flat()
{
	local name=$1 begun pid storm third first last peak warm

	shift
	"$exact" mortal "forks:$((2 * $(nproc)))" mortal execs:100000000 &
	storm=$!
	disown
	"$PSTAT" record -q -a -e cpu-clock -F 25000 "$@" >/dev/null 2>said </dev/null &
	pid=$!
	begun=$SECONDS
	: >resident
	while [ $((SECONDS - begun)) -lt "$SOAK_S" ] && [ -d "/proc/$storm" ]; do
		sleep 1
		kib_of $pid VmRSS >>resident
	done
	peak=$(kib_of $pid VmHWM)
	kill -INT $pid
	wait $pid
	same "$name: ended by the signal, with a whole recording" 130 $?
	kill -9 $storm
	warm=$(($(wc -l <resident) / 10))
	third=$((($(wc -l <resident) - warm) / 3))
	first=$(tail -n +$((warm + 1)) resident | head -n $third | median)
	last=$(tail -n $third resident | median)
	check "$name: ${first:-no} KiB in the first third, ${last:-no} in the last, ${peak:-no} at most, $third looks each" \
		test $third -gt 2 -a "${last:-0}" -gt 0 -a "${last:-0}" -le $((${first:-0} * 21 / 20 + 1024))
}

test_one_file()
{
	need_paranoid 0
	flat "packed" -z -o x
	run "$PSTAT" report --stats -i x
	same "it can be read" 0 "$status"
	has "it has samples" '^ +SAMPLE events: +[1-9]' "$out"
}

test_switched_files()
{
	need_paranoid 0
	flat "switched" --switch-output=20M --switch-max-files=3 -o x
	check "the last ones can be read" "$PSTAT" report --stats -i "$(find . -name 'x.2*' | sort | tail -n 1)"
}

run_tests
