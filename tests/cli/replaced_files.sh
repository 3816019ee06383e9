#!/bin/bash
# SPDX-License-Identifier: MIT
# A path that is another file's while it is recorded: both files' samples are told apart, and what can't be named for
# sure is told. By real recordings: a program runs, another takes its path, and runs.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2
need_cmd "${CC:-cc}"

program() # NAME FUNCTION CC-OPTIONS...
{
	printf 'static volatile unsigned sink;\n__attribute__((noinline)) void %s(unsigned n) { while (n--) sink = sink * 3 / 2 + n; }\nint main(void) { %s(30000000); }\n' \
		"$2" "$2" >"$1.c"
	${CC:-cc} -O1 "${@:3}" -o "$1" "$1.c" || fail "compiles"
}

# report_of RECORDER... REPLACE: both programs at the path `app`, neither kept in a cache; the report of it is in $text and
# by file in $files.
report_of()
{
	cat >run.sh <<-SH
	cp old app && ./app && cp new next && ${*: -1} && ./app
	SH
	run "${@:1:$#-1}" -N -q -o x -e cpu-clock:u -F 499 -- sh run.sh
	same "recorded" 0 "$status"
	text=$("$PSTAT" report -i x -s dso,sym --stdio 2>&1)
	files=$(printf '%s\n' "$text" | grep -c '^ .* app ')
}

doubts='names missing or in doubt: .*app|no symbols: .*app .*replaced since the recording'

check_replaced() # RECORDER...
{
	for options in -Wl,--build-id -Wl,--build-id=none; do
		program old before "$options"
		program new after "$options"
		report_of "$@" "mv next app"
		check "$options: two files" test "$files" -ge 2
		has "$options: renamed over: told" "$doubts" "$text"
		report_of "$@" "{ rm app; cp next app; }"
		check "$options: two files" test "$files" -ge 2
		has "$options: removed and made anew: told" "$doubts" "$text"
	done
}

test_pstat()
{
	check_replaced "$PSTAT" record
}

test_perf()
{
	need_cmd perf
	check_replaced perf record
}

# One file at the path all the time: nothing to tell.
test_not_replaced()
{
	program old before
	program new after
	report_of "$PSTAT" record true
	has_not "no doubt" "$doubts" "$text"
}

run_tests
