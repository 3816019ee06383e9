#!/bin/bash
# SPDX-License-Identifier: MIT
# speedscope itself opens what `report --speedscope` and `--pprof` write, in a browser without a screen, and its table has
# the numbers of report. It is looked for in $SPEEDSCOPE or where `npm install -g speedscope` puts it; neither it nor the
# browser is in `make deps`. (Of Firefox's formats it knows only the one that is older than the profiler's.)
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2

export PYTHONDONTWRITEBYTECODE=1 HOME=$tmp NO_COLOR=1 DEBUGINFOD_URLS=
cd "$tmp" || exit 1

# opened FILE: speedscope's table of it, "self name" a line, in `rows`
opened()
{
	"$PYTHON" "$ROOT/tests/cli/speedscope_opens.py" put "$app" "$1" page
	timeout 300 "$headless" --headless --no-sandbox --use-angle=swiftshader --enable-unsafe-swiftshader \
		--user-data-dir="$tmp/browser" --window-size=1200,800 --virtual-time-budget=10000 --enable-logging=stderr --dump-dom \
		"file://$PWD/page/index.html#localProfilePath=$PWD/page/load.js" >dom 2>console
	"$PYTHON" "$ROOT/tests/cli/speedscope_opens.py" rows dom >rows
}

test_opens()
{
	local app=${SPEEDSCOPE:-$(npm root -g 2>said)/speedscope} samples period

	browser_without_screen
	[ -e "$app/dist/release/index.html" ] || skip "needs speedscope: npm install -g speedscope, or SPEEDSCOPE=its folder"
	"$PSTAT" record -q -o deep -F 2000 -e cpu-clock:u -g -- "$WORK/callers" known 200 2>said || fail "recorded" "$(<said)"
	read -r samples period <<<"$("$PSTAT" report -i deep --stdio -q -g none --no-children -s sym -F sample,period,sym 2>said |
		awk '$NF == "burn" { print $1, $2 }')"
	"$PSTAT" report -i deep --speedscope=deep.json 2>said
	opened deep.json
	same "speedscope's file: time of the function itself" "$(awk -v ns="$period" 'BEGIN { printf "%.2fms burn\n", ns / 1e6 }')" \
		"$(grep ' burn$' rows)"
	"$PSTAT" report -i deep --speedscope=deep.json --merge 2>said
	opened deep.json
	same "merged: samples of the function itself" "$samples burn" "$(grep ' burn$' rows)"
	"$PSTAT" report -i deep --pprof=deep.pb.gz 2>said
	opened deep.pb.gz
	same "pprof's file: its time" "$(awk -v ns="$period" 'BEGIN { printf "%.2fms burn\n", ns / 1e6 }')" "$(grep ' burn$' rows)"
	has_not "its console has no error" 'CONSOLE.*[Ee]rror' "$(<console)"
}

run_tests
