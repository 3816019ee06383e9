#!/bin/bash
# pstat top of all CPUs under a fork storm has flat memory: its resident memory is looked at each second of SOAK_S
# (600), the first tenth is its warm-up, and of the rest the median of the last third may be 1 MiB and a twentieth above
# that of the first. It prints a table each second all the time.
#
# run: alone
. "${0%/*}/../lib.sh"
: "${SOAK_S:=600}"
exact=$WORK/exact

kib_of() { awk -v what="$2:" '$1 == what { print $2 }' "/proc/$1/status" 2>/dev/null; }
median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# flat NAME OPTIONS...
flat()
{
	local name=$1 begun pid storm third first last peak warm tables

	shift
	"$exact" mortal "forks:$((2 * $(nproc)))" mortal execs:100000000 &
	storm=$!
	disown
	"$PSTAT" top -a --stdio -d 1 -e cpu-clock "$@" >tables 2>said </dev/null &
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
	same "$name: ended by the signal" 0 $?
	kill -9 $storm
	tables=$(grep -c '^# top: [1-9]' tables)
	check "$name: $tables tables in $SOAK_S s" test "$tables" -gt $((SOAK_S / 2))
	warm=$(($(wc -l <resident) / 10))
	third=$((($(wc -l <resident) - warm) / 3))
	first=$(tail -n +$((warm + 1)) resident | head -n $third | median)
	last=$(tail -n $third resident | median)
	check "$name: ${first:-no} KiB in the first third, ${last:-no} in the last, ${peak:-no} at most, $third looks each" \
		test $third -gt 2 -a "${last:-0}" -gt 0 -a "${last:-0}" -le $((${first:-0} * 21 / 20 + 1024))
}

test_functions()
{
	need_paranoid 0
	flat "functions"
}

test_tasks_and_callchains()
{
	need_paranoid 0
	flat "tasks and callchains" -g -s pid,comm,dso,symbol
}

run_tests
