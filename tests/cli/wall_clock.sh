#!/bin/bash
# SPDX-License-Identifier: MIT
# --time with times of day, of a recording that knows the time of day: pstat's by itself, perf's with -k.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2

tod() { TZ=UTC "$PSTAT" script -F tod -i "$1" 2>/dev/null | sed 's/^ *//; s/[: ]*$//'; }
count() { "$PSTAT" script -F time -i "$@" 2>/dev/null | grep -c .; }
# More than a second passes between the first samples and the last ones.
record_two()
{
	# Not over midnight of UTC, where the first sample's time of day is above the last one's.
	until [ $(($(date +%s) % 86400)) -lt 86340 ]; do sleep 1; done
	"$@" -q -e page-faults:u -c 1 -- sh -c '/bin/true; sleep 1.2; /bin/true' 2>/dev/null
}
spans() # FILE
{
	local first last all day

	first=$(tod "$1" | head -1) last=$(tod "$1" | tail -1) all=$(count "$1")
	day=${first% *} first=${first#* } last=${last#* }
	export TZ=UTC
	check "$1: the parts are not empty" test "$all" -gt 1
	same "$1: from the first to the last second" "$all" "$(count "$1" --time "${first%.*},")"
	same "$1: with dates" "$all" "$(count "$1" --time "${day}T${first%.*},${day}T23:59:59.999")"
	check "$1: up to the first second's end: some" test "$(count "$1" --time ",${first%.*}.999999999")" -lt "$all"
	same "$1: after the last one: none" 0 "$(count "$1" --time "${day}T23:59:59.999999,")"
	same "$1: report takes it, too" "$("$PSTAT" report -i "$1" -s comm -g none -q 2>/dev/null)" \
		"$("$PSTAT" report -i "$1" -s comm -g none -q --time "${first%.*}," 2>/dev/null)"
	unset TZ
}

test_spans()
{
	record_two "$PSTAT" record -o mine
	spans mine
	record_two "$PSTAT" record -k monotonic -o clock
	spans clock
}

test_perfs()
{
	need_perf
	record_two perf record -k mono -o perfs
	spans perfs
	record_two "$PSTAT" record -o mine
	same "perf takes the time of day from pstat's" "$(TZ=UTC perf script -F tod -i mine 2>/dev/null | sed 's/^ *//; s/[: ]*$//')" \
		"$(tod mine)"
}

# A time zone in which it is midnight between the first samples and the last one.
test_over_midnight()
{
	local second all late

	record_two "$PSTAT" record -o mine
	second=$(date -u -d "$(tod mine | tail -1 | sed 's/\..*//')" +%s)
	export TZ="LOC+$((second % 86400 / 3600)):$((second % 3600 / 60)):$((second % 60))"
	all=$(count mine) late=$(count mine --time 00:00:00,)
	check "after midnight: some" test "$late" -gt 0 -a "$late" -lt "$all"
	same "before it: the others" "$((all - late))" "$(count mine --time 23:50:00,23:59:59.999999999)"
	same "over it: all" "$all" "$(count mine --time 23:50:00,00:10:00)"
}

test_refused()
{
	local golden=$ROOT/tests/golden

	fails_with 129 "does not have the time of day of its clock" \
		"$PSTAT" report -i "$golden/plain.data" --time 14:03:10,
	has "the remedy" '^  record with .*-k monotonic' "$err"
	fails_with 129 "'14:3x': is not a time of day" "$PSTAT" script -i "$golden/plain.data" --time 14:3x,
	fails_with 129 "'2026-13-01T10:00': is not a time of day" "$PSTAT" script -i "$golden/plain.data" \
		--time 2026-13-01T10:00,
	fails_with 129 "a pipe gives the time of day of its clock only at its end" "$PSTAT" script -i "$golden/in_a_pipe.data" --time 10:00,
}

run_tests
