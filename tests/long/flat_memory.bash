#!/bin/bash
# Of processes that run for long: what memory they have, and whether it stays flat under a fork storm. To be sourced
# behind lib.sh.

# kib_of PID NAME: a line of /proc/PID/status.
kib_of() { awk -v what="$2:" '$1 == what { print $2 }' "/proc/$1/status" 2>/dev/null; }

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

# Processes that come and go, twice as many at a time as there are CPUs, until $storm is killed. (Each `exact` ends by
# itself after some minutes.)
begin_storm()
{
	(while [ -d "$tmp" ]; do "$WORK/exact" mortal "forks:$((2 * $(nproc)))" mortal execs:100000000; done) &
	storm=$!
	disown
}

# look_on PID SECONDS: its resident memory, out of step with what it does each second; at the end $peak.
look_on()
{
	local begun=$SECONDS

	: >resident
	while [ $((SECONDS - begun)) -lt "$2" ]; do
		sleep 0.37
		kib_of "$1" VmRSS >>resident
	done
	peak=$(kib_of "$1" VmHWM)
}

# is_flat NAME: of what look_on saw the first tenth is the warm-up, and of the rest the median of the last third may be
# 1 MiB and a twentieth above that of the first.
is_flat()
{
	local warm third first last

	warm=$(($(wc -l <resident) / 10))
	third=$((($(wc -l <resident) - warm) / 3))
	first=$(tail -n +$((warm + 1)) resident | head -n $third | median)
	last=$(tail -n $third resident | median)
	check "$1: ${first:-no} KiB in the first third, ${last:-no} in the last, ${peak:-no} at most, $third looks each" \
		test $third -gt 2 -a "${last:-0}" -gt 0 -a "${last:-0}" -le $((${first:-0} * 21 / 20 + 1024))
}
