#!/bin/bash
# SPDX-License-Identifier: MIT
# -I: intervals, their sum, their number and their clock. Times themselves are not compared.
#
# run: once
. "${0%/*}/../lib.sh"

test_intervals_add_up()
{
	run "$PSTAT" stat -I 20 --summary -x, -e page-faults "$WORK/exact" pages:1000 sleeps:20000 pages:1000
	same "status" 0 "$status"
	sum=$(printf '%s\n' "$err" | awk -F, '$1 !~ /summary/ && $2 ~ /^[0-9]+$/ { n += $2 } END { print n }')
	total=$(printf '%s\n' "$err" | awk -F, '$1 ~ /summary/ { print $2 }')
	same "the sum is the summary" "$total" "$sum"
	check "all pages are in it" test "$total" -ge 2000
	same "the summary is the last row" 1 "$(printf '%s\n' "$err" | tail -1 | grep -c summary)"
}

# until_rows N: a command that ends when N rows are in the file rows; a busy machine may leave out ticks.
until_rows() { until [ -e rows ] && [ "$(grep -c , rows)" -ge "$1" ]; do sleep 0.02; done; }
export -f until_rows

test_times_grow_and_do_not_drift()
{
	run "$PSTAT" stat -I 20 -x, -e duration_time -o rows bash -c 'until_rows 12'
	# Each but the last at or behind a multiple of 20 ms, each in an interval of its own.
	grep , rows | sed '$d' | awk -F, '
		{ at = $1 * 1000; n = int(at / 20); if (n < 1 || n <= last) bad = 1; last = n }
		END { exit bad }'
	same "each tick has a multiple of its own" 0 $?
	has "time has nine decimals" '^ *[0-9]+\.[0-9]{9},' "$(<rows)"
}

test_the_rest_is_printed()
{
	run "$PSTAT" stat -I 60000 -x, -e page-faults "$WORK/exact" pages:100
	same "a command shorter than an interval: one row" 1 "$(printf '%s\n' "$err" | grep -c page-faults)"
	run "$PSTAT" stat -I 60000 -e page-faults true
	has_not "no final report without --summary" 'seconds time elapsed' "$err"
	run "$PSTAT" stat -I 60000 --summary -e page-faults true
	has "--summary in text" 'seconds time elapsed' "$err"
}

test_interval_count()
{
	run "$PSTAT" stat -I 20 --interval-count 3 -x, -e page-faults -o rows bash -c 'until_rows 3; sleep 0.1; exit 5'
	same "three rows" 3 "$(grep -c page-faults rows)"
	same "the command runs to its end" 5 "$status"
}

test_interval_count_ends_a_run_without_command()
{
	need_paranoid 0
	run "$PSTAT" stat -I 20 --interval-count 3 -x, -e page-faults -a
	same "three rows" 3 "$(printf '%s\n' "$err" | grep -c page-faults)"
	same "status" 0 "$status"
}

test_flushed_at_once()
{
	mkfifo rows
	"$PSTAT" stat -I 20 -x, -e page-faults -o rows sleep 60 2>err &
	pid=$!
	{
		IFS= read -r started
		IFS= read -r empty
		IFS= read -r row
	} <rows
	has "a row is there while the command runs" 'page-faults' "$started$empty$row"
	kill "$pid"
	wait "$pid"
}

test_json()
{
	run "$PSTAT" stat -I 20 -j -e page-faults -o rows bash -c 'until_rows 2'
	check "each line is JSON with its time" "$PYTHON" -c '
import json, sys
rows = [json.loads(line) for line in open("rows")]
assert len(rows) > 1 and all("interval" in row for row in rows), rows'
}

test_no_polling()
{
	need_cmd strace
	need_plain_build
	strace -o trace "$PSTAT" stat -e page-faults -o /dev/null sleep 0.3
	check "waiting takes few calls" test "$(grep -c -E 'poll|nanosleep|select' trace)" -le 4
	sleep 0.5 &
	strace -o trace "$PSTAT" stat -e page-faults -o /dev/null -p $!
	check "for another process too" test "$(grep -c -E 'poll|nanosleep|select' trace)" -le 8
}

run_tests
