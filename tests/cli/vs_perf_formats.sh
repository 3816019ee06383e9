#!/bin/bash
# SPDX-License-Identifier: MIT
# The same rows, separators, keys, titles and columns as perf in each mode and format, with the same
# counts where the work knows them.
. "${0%/*}/vs_perf.bash"
need_cmd "$PYTHON"

# The dummy never happens, stores happen as often as the work says; task-clock is measured.
exact_events=(dummy:u "$stores")
events=dummy:u,$stores,task-clock:u
work=("$EXACT" stores:20 calls:30)

# json_lines NAME FILE
json_lines()
{
	check "$1: each line is a JSON object" bash -c '"$0" "$1" <"$2"' "$PYTHON" "$ROOT/tests/cli/json_valid.py" "$2"
}

test_command()
{
	need_breakpoints
	alike "plain" -e "$events" -- "${work[@]}"
	alike "without task-clock" -e "$stores" -- "${work[@]}"
	alike "groups" -e "{$stores,dummy:u},task-clock:u" -- "${work[@]}"
	formats="text csv" alike "no events" -n -- true
	formats="text csv" alike "into a file" -o file -e "$events" -- "${work[@]}"
	formats=csv alike "children's count in a row" -e "$events" -- "$EXACT" forks:3 stores:20
}

test_not_supported()
{
	need_no_counter_unit
	need_breakpoints
	alike "not supported" -e "$stores,cycles:u" -- "${work[@]}"
	# Not beside perf: it counts nothing of a group of which one event can't be; pstat counts the rest.
	has "a group's other events are counted" "^20,,$stores," \
		"$(setarch -R "$PSTAT" stat -x, -e "{$stores,cycles:u}" -- "${work[@]}" 2>&1)"
}

test_repeat()
{
	need_breakpoints
	alike "-r 3" -r 3 -e "$events" -- "${work[@]}"
}

# One interval, longer than the work: its end comes with the command's. The work takes a while: perf prints
# no interval if the command has ended before perf begins to wait for it.
test_intervals()
{
	need_breakpoints
	work+=(sleeps:600)
	alike "-I" -I 20000 -e "$events" -- "${work[@]}"
	alike "-I --summary" -I 20000 --summary -e "$events" -- "${work[@]}"
	formats=csv alike "--no-csv-summary" -I 20000 --summary --no-csv-summary -e "$events" -- "${work[@]}"
}

test_tasks()
{
	need_breakpoints
	local format p

	for format in text csv json; do
		for p in perf "$PSTAT"; do
			waiting 2 threads:2 name::worker wait stores:20
			show $format "$p" --per-thread -e "$events" -p $pid -- "$release" $pid
		done
	done
	# Threads stand in the order of what was measured.
	order=sort same_shape "--per-thread -p" text csv json
	for format in text csv json; do
		for p in perf "$PSTAT"; do
			waiting 1 wait stores:20
			show $format "$p" -e "$events" -p $pid -- "$release" $pid
		done
	done
	same_shape "-p" text csv json
}

test_whole_cpus()
{
	whole_cpus
	alike "-a" -a "${events[@]}" -- "${work[@]}"
	alike "-C" -C 0 "${events[@]}" -- "${work[@]}"
	alike "-a -A" -a -A "${events[@]}" -- "${work[@]}"
	work+=(sleeps:600)
	alike "-a -I" -a -I 20000 "${events[@]}" -- "${work[@]}"
	alike "-a -A -I" -a -A -I 20000 "${events[@]}" -- "${work[@]}"
}

test_places()
{
	whole_cpus
	local place

	for place in core socket die node; do
		alike "--per-$place" -a --per-$place "${events[@]}" -- "${work[@]}"
	done
	work+=(sleeps:600)
	formats="csv json" alike "--per-core -I" -a --per-core -I 20000 "${events[@]}" -- "${work[@]}"
	formats="csv json" alike "--per-socket --summary" -a --per-socket -I 20000 --summary "${events[@]}" \
		-- "${work[@]}"
}

# Only this much is beside perf: its JSON of --metric-only is none, its heads in text don't stand above
# their columns, and without -A it leaves out the metrics that it shows with it.
test_metric_only()
{
	whole_cpus
	need_no_counter_unit
	run "$PSTAT" stat -x, -a -A --metric-only -e task-clock,cycles -- true
	same "-a -A" "$(perf stat -x, -a -A --metric-only -e task-clock,cycles -- true 2>&1)" "$err"
	run "$PSTAT" stat -x, --metric-only -e task-clock -- true
	has "the metric's name" '^CPUs utilized,$' "$err"
	has "the metric" '^[0-9]+\.[0-9]{3},$' "$err"
}

# perf -o begins a JSON file with a comment line; pstat's file is JSON.
test_json_files()
{
	need_breakpoints
	local words

	for words in "" "-r 2" "-I 20000" "-I 20000 --summary" --metric-only; do
		"$PSTAT" stat -j -o rows $words -e "$events" \
			-e "task-clock/name='q\"u\\o,te'/u" -- "${work[@]}" >/dev/null 2>&1
		json_lines "in a file, with $words" rows
	done
}

# A decimal comma in numbers would break both formats.
test_locale()
{
	need_breakpoints
	comma_locale
	same "the locale has a decimal comma" "," "$(LC_ALL=$comma_locale locale decimal_point)"
	LC_ALL=$comma_locale "$PSTAT" stat -x '|' -e task-clock:u -o rows -- true
	has "-x has a point" '^[0-9]+\.[0-9]{2}\|msec\|task-clock:u\|[0-9]+\|100\.00\|[0-9]+\.[0-9]{3}\|CPUs utilized$' \
		"$(<rows)"
	LC_ALL=$comma_locale "$PSTAT" stat -j -e task-clock:u -o rows -- true
	json_lines "-j" rows
}
run_tests
