#!/bin/bash
# SPDX-License-Identifier: MIT
# Of processes that run for long: what memory they have, and whether it stays flat under a fork storm. To be sourced
# behind lib.sh.

# kib_of PID NAME: a line of /proc/PID/status.
kib_of() { awk -v what="$2:" '$1 == what { print $2 }' "/proc/$1/status" 2>/dev/null; }

# Of lines on stdin the lower quartile and the highest, in KiB.
low_and_high() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 3) / 4)] + 0, v[NR] + 0 }'; }

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

# is_flat NAME: of what look_on saw the first tenth is the warm-up. Of the last third the lower quartile, what is there
# at rest, and the highest, what is there in the middle of work, may each be 1 MiB and a twentieth above that of the
# first third. (A median lies at either, by which of the two took longer.)
is_flat()
{
	local warm third low high last_low last_high

	warm=$(($(wc -l <resident) / 10))
	third=$((($(wc -l <resident) - warm) / 3))
	read -r low high < <(tail -n +$((warm + 1)) resident | head -n $third | low_and_high)
	read -r last_low last_high < <(tail -n $third resident | low_and_high)
	check "$1: from $low to $last_low KiB at rest, $third looks each" \
		test $third -gt 2 -a "$last_low" -gt 0 -a "$last_low" -le $((low * 21 / 20 + 1024))
	check "$1: from $high to $last_high KiB at most, ${peak:-no} in all" \
		test "$last_high" -gt 0 -a "$last_high" -le $((high * 21 / 20 + 1024))
}
