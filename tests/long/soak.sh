#!/bin/bash
# SPDX-License-Identifier: MIT
# Recorders that run for long: after LONG_SECONDS they have neither more memory nor more files open than after a
# tenth of that, and what they wrote can be read to its end.
. "${0%/*}/../lib.sh"
. "${0%/*}/flat_memory.bash"
: "${LONG_SECONDS:=600}"
need_paranoid 2

# What goes on beside them until ./stop is there: processes that come and go, threads, calls.
busy() { sh -c 'while [ ! -e stop ]; do "$0" execs:50 forks:3 pages:200; "$1" deep 100 4; done' "$WORK/exact" "$WORK/callers"; }

# At one moment a recorder may have a file more open, such as the one that it changes to.
has_no_more_files() # PID FILES
{
	local tries=100

	until [ "$(files_of "$1")" -le "$2" ]; do
		[ $((tries -= 1)) -gt 0 ] || return 1
		sleep 0.1
	done
}

files_of() { ls "/proc/$1/fd" | wc -l; }

# soak NAME COMMAND...: pstat for so long, told of its end by ./stop.
soak()
{
	local name=$1 begun=$SECONDS pid kib files kib_at_end

	shift
	"$@" >out 2>err </dev/null &
	pid=$!
	sleep $(((LONG_SECONDS + 9) / 10))
	kib=$(kib_of $pid VmRSS) files=$(files_of $pid)
	while [ $((SECONDS - begun)) -lt "$LONG_SECONDS" ] && [ -d /proc/$pid ]; do sleep 1; done
	kib_at_end=$(kib_of $pid VmRSS)
	check "$name: no more than $files files are open" has_no_more_files $pid "$files"
	check "$name: $kib KiB, at the end $kib_at_end" test "${kib_at_end:-0}" -gt 0 -a \
		$((${kib_at_end:-0} * 10)) -le $((${kib:-0} * 11 + 10240))
	touch stop
	wait $pid
	same "$name: status" 0 $?
}
export -f busy
export WORK

test_recording()
{
	local file n

	soak "record" "$PSTAT" record -o x -F 5000 -e cpu-clock:u -g --switch-output=5M --switch-max-files=4 -- \
		bash -c busy
	n=$(ls x.* | wc -l)
	check "files: $n" test "$n" -ge 1 -a "$n" -le 4
	for file in x.*; do
		run "$PSTAT" report -i "$file" --stats
		same "$file can be read" 0 "$status"
		has "$file has samples" '^ +SAMPLE events: +[1-9]' "$out"
	done
}

test_counting()
{
	soak "stat -I" "$PSTAT" stat -I 10 -x, -e page-faults:u,task-clock:u -o rows -- bash -c busy
	check "an interval each tenth of a second or more often: $(grep -c page-faults rows)" \
		test "$(grep -c page-faults rows)" -ge $((LONG_SECONDS * 10))
	same "intervals are whole" "$(grep -c page-faults rows)" "$(grep -c task-clock rows)"
}
run_tests
