#!/bin/bash
# SPDX-License-Identifier: MIT
# `pstat sched page`: its runs are those of `sched timehist`, names are never markup, and a browser, where there is one
# without a screen, does what a user would with it.
#
# run: once
. "${0%/*}/../lib.sh"

tool=$ROOT/tests/cli/sched_page.py
GOLDEN=$ROOT/tests/golden/sched.data
export PYTHONDONTWRITEBYTECODE=1 HOME=$tmp
cd "$tmp" || exit 1

page() { "$PYTHON" "$tool" "$@"; }

# Lines of timehist as sched_page.py has them, without idle ones: end, CPU, number, wait, delay, run time.
lines()
{
	"$PSTAT" sched timehist -q -i "$@" | LC_ALL=C sed -nE \
		'/<idle>/d; s/^ *([0-9.]+) \[0*([0-9]+)\] .*\[(-?[0-9]+)(\/[0-9]+)?\] +([0-9.]+) +([0-9.]+) +([0-9.]+) *$/\1 \2 \3 \5 \6 \7/p'
}

test_runs()
{
	for file in sched sched_hostile; do
		"$PSTAT" sched page -q -i "$ROOT/tests/golden/$file.data" -o page.html
		check "$file: nothing is markup but the page's own" page inert page.html
		same "$file: the runs are those of timehist" "$(lines "$ROOT/tests/golden/$file.data")" "$(page runs page.html)"
	done
	"$PSTAT" sched page -q -i "$GOLDEN" -o page.html
	same "what woke them" "1.019000 4200001 4200002
1.026000 4200001 4200002" "$(page wakers page.html)"
	# Before the first switch of each CPU, and after a loss, nobody knows; the last one still runs.
	same "what is not known" "0 4200001 unseen
1 0 unseen
1 0 unseen
0 4200003 unseen" "$(page last page.html)"
	same "from a pipe to standard output" "$(page runs page.html)" \
		"$("$PSTAT" inject -i "$GOLDEN" -o - | "$PSTAT" sched page -q -o - >piped.html; page runs piped.html)"
	"$PSTAT" sched page -q -i "$GOLDEN" -o part.html --time 1.020,1.030
	same "a part of the time" "1.022000 1 4200002
1.026000 1 4200001
1.030000 1 4200002
1.041000 0 4200003" "$(page runs part.html | cut -d ' ' -f 1-3)"
}

test_refused()
{
	fails_with 125 "/nowhere/page.html: " "$PSTAT" sched page -i "$GOLDEN" -o /nowhere/page.html
	fails_with 125 "has no formats of tracepoints" "$PSTAT" sched page -i "$ROOT/tests/golden/plain.data" -o page.html
}

test_model()
{
	need_cmd node
	check "the model of the page" node "$ROOT/tests/cli/sched_page_model.js" "$ROOT/src/sched"
}

# drive PAGE [OPTION...]: a browser does what tests/cli/sched_page_drive.js says.
drive()
{
	page drive "$1" "$ROOT/tests/cli/sched_page_drive.js" drive.html
	in_browser drive.html "$*" "${@:2}"
}

test_browser()
{
	browser_without_screen
	"$PSTAT" sched page -q -i "$GOLDEN" -o page.html
	drive page.html --window-size=900,600 --blink-settings=preferredColorScheme=0
}

run_tests
