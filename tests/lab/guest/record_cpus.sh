# SPDX-License-Identifier: MIT
# Two CPUs, in the host's time: recordings of all CPUs, throttling and losses, and that none goes unsaid.
. /lab/truth.sh

loops_are 20000000

# perf's count of the records of a type, over all events.
records() { perf report -i p.data --stats 2>/dev/null | awk -v type="$1" '$1 == type && $2 == "events:" { print $3; exit }'; }
# pstat's own sum: "... 750 samples, 0 lost, 95 throttled"
said() { printf '%s\n' "$err" | sed -n "s/.*[ :]\([0-9]*\) $1.*/\1/p" | head -n 1; }

sums_agree()
{
	same "samples, as perf counts them" "$(said samples)" "$(records SAMPLE)"
	same "throttled, as perf counts them" "$(said throttled)" "$(($(records THROTTLE) + 0))"
	same "perf reads it whole" "$(said samples)" "$(perf script -i p.data -F event 2>/dev/null | grep -c :)"
}

test_all_cpus()
{
	run "$PSTAT" record -a -o p.data -c 1000000 -e cycles -- taskset 2 "$loop" $loops
	same "status" 0 $status
	sums_agree
	perf script -i p.data -F comm,cpu 2>/dev/null | grep loop | awk '{ print $2 }' | sort -u >cpus
	same "the loop is on CPU 1 only" "[001]" "$(<cpus)"
}

# Far more than perf_event_max_sample_rate allows. It allows one each tick: a slow host's guest has no time for
# as many as it allows by default.
test_throttled()
{
	local limit=/proc/sys/kernel/perf_event_max_sample_rate usual
	usual=$(<"$limit")
	echo 250 >"$limit"
	run "$PSTAT" record -o p.data -c 2000 -e cycles:u -- "$loop" $loops
	echo "$usual" >"$limit"
	sums_agree
	row "throttle records, of perf's reading" "$(records THROTTLE)" "$(said throttled)" -
	check "throttled" test "$(said throttled)" -gt 0
}

# A ring of one page: it is full before anybody drains it.
test_lost()
{
	run "$PSTAT" record -m 1 -o p.data -c 20000 -e cycles:u -- "$loop" $loops
	sums_agree
	lost=$(perf report -i p.data --stats 2>/dev/null | awk '$1 == "LOST_SAMPLES" { n = $3 } END { print n + 0 }')
	row "samples lost by a ring of one page, perf's reading" "$lost" "$(said lost)" -
	same "lost, as perf counts them" "$(said lost)" "$lost"
}

run_tests
