#!/bin/bash
# SPDX-License-Identifier: MIT
# `pstat report --flamegraph`: its numbers are those of `report --folded`, stack for stack; names are never markup; and
# a browser, where there is one without a screen (chromium, not in `make deps`), does what a user would with it.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2

tool=$ROOT/tests/cli/flamegraph.py
export PYTHONDONTWRITEBYTECODE=1 HOME=$tmp NO_COLOR=1 DEBUGINFOD_URLS=
cd "$tmp" || exit 1

flame() { "$PYTHON" "$tool" "$@"; }
report() { "$PSTAT" report -i "$@" 2>said; }
record() { "$PSTAT" record -q "$@" >said 2>&1 || fail "recording $*" "$(<said)"; }

# equal FILE [OPTION...]: the page has the stacks of --folded, and is a page
equal()
{
	local file=$1

	shift
	report "$file" --flamegraph=page.html "$@"
	report "$file" --flamegraph=page.svg "$@"
	report "$file" --folded "$@" | LC_ALL=C sort >folded
	check "${file##*/} $*: sums, bounds, no markup but its own" flame whole page.html page.svg
	same "${file##*/} $*: the stacks of --folded" "$(<folded)" "$(flame folded page.html | LC_ALL=C sort)"
}

test_stacks()
{
	record -F 2000 -e cpu-clock:u -g -o deep -- "$WORK/callers" deep 200 2
	equal deep
	has "deep: something is there" 'level8;level7' "$(<folded)"
	equal deep -S burn,leaf
	equal deep --time 20%-60%
	equal deep --no-inline
	report deep --flamegraph=page.html
	has "the caption says what was sampled" '^[0-9,]+ samples of cpu-clock:u, at most 2000 a second' "$(flame caption page.html)"
	has "and what was lost" '^Lost: ' "$(flame caption page.html)"
	has "and of what it is" "^Flame graph of .*callers deep" "$(flame caption page.html)"
	report deep --flamegraph=page.html --time 20%-60% --comms callers
	has "and by what it was filtered" '^Only --comms callers, --time 20%-60%$' "$(flame caption page.html)"
	report deep --flamegraph=page.html
	has "there are times" '^in bounds several buckets' "$(flame times page.html)"
}

# Any sample may be in code without a name, which script calls [unknown] and speedscope by its file.
nameless() { sed -E 's/ \[[^ ]*/ []/g'; }

test_speedscope()
{
	record -F 2000 -e cpu-clock:u -g -o deep -- "$WORK/callers" deep 200 2
	report deep --folded | LC_ALL=C sort >folded
	for option in "" --merge; do
		report deep --speedscope=deep.json $option
		same "speedscope $option: the stacks of --folded" "$(<folded)" "$(flame speedscope deep.json | LC_ALL=C sort)"
		report "$ROOT/tests/golden/hostile_names.data" --speedscope=bad.json $option
		check "speedscope $option: hostile names" flame speedscope bad.json
	done
	report deep --speedscope=deep.json
	same "in time: a profile for each thread" "$("$PSTAT" script -i deep -F tid | sort -u | wc -l)" \
		"$(flame speedscope_tracks deep.json | wc -l)"
	"$PSTAT" script -i deep -F tid,ip,sym -G --no-inline 2>said | awk 'NF == 3 { print $1, $3 }' | nameless >script
	report deep --speedscope=deep.json --no-inline
	same "in the order in which they were taken" "$(awk '{ n[$1]++; last[$1] = $2; if (n[$1] == 1) first[$1] = $2 }
		END { for (tid in n) print tid, n[tid], first[tid], last[tid] }' script | sort)" \
		"$(flame speedscope_tracks deep.json | awk '{ print $1, $2, $4, $5 }' | nameless | sort)"
	same "in ms of the clock" "milliseconds" "$(flame speedscope_tracks deep.json | awk '{ print $3 }' | sort -u)"
	run "$PSTAT" report -i deep --merge
	same "--merge alone" 129 "$status"
	run "$PSTAT" report -i deep --speedscope --flamegraph
	same "speedscope and a flame graph" 129 "$status"
}

# Innermost functions of each thread, one after the other, as script has them; of samples that are equal one. Code without
# a name is named by its file in one of them.
test_chart()
{
	local golden=$ROOT/tests/golden file
	local in_turn='$NF !~ /^\[/ { now = $1 " " $NF; if (now != last) print now; last = now }'

	record -F 2000 -e cpu-clock:u -g -o deep -- "$WORK/callers" deep 200 2
	report deep --flamegraph=page.html --no-inline
	"$PSTAT" script -i deep -F tid,ip,sym -G --no-inline 2>said | awk 'NF == 3 { print $1, $3 }' | LC_ALL=C sort -s -n -k 1,1 |
		awk "$in_turn" >script
	same "a flame chart: what script has, thread by thread" "$(<script)" "$(flame chart page.html | LC_ALL=C sort -s -n -k 1,1 |
		awk "$in_turn")"
	check "spans stand beside each other" awk '$1 == last && $(NF - 2) < at || $(NF - 1) < $(NF - 2) { exit 1 }
		{ last = $1; at = $(NF - 1) }' <(flame chart page.html)
	report deep --flamegraph=page.html --no-inline -S level8
	same "a filter by function" level8 "$(flame chart page.html | awk '{ print $NF }' | sort -u)"

	set -- --symfs "$golden/symfs" --kallsyms "$golden/kallsyms" --no-branch-stack
	for file in tid_reuse out_of_order cgroups; do
		report "$golden/$file.data" "$@" --flamegraph=page.html
		same "$file: spans" "$(sed -n "s/^$file: //p" <<<"$golden_spans")" "$(flame chart page.html)"
	done
	"$PSTAT" record -q -F 2000 -e cpu-clock:u -g -o - -- "$WORK/callers" deep 50 2>said |
		"$PSTAT" report -i - --flamegraph=live.html 2>said
	record -e page-faults:u -c 1 -g -o faults -- "$PYTHON" -c 'import json, socket' # more than fit into SPILL_BYTES
	TMPDIR=/nonexistent report faults --flamegraph=page.html
	has "a temporary file that can't be made is said" '^none: the order of the samples could not be kept: /nonexistent/' \
		"$(flame chart page.html)"
	has "from a pipe" '^[0-9]+ callers -?[0-9]+ [0-9]+ [a-z0-9_]+' "$(flame chart live.html)"
	"$PSTAT" profile -F 2000 -e cpu-clock:u --flamegraph=live.html -- "$WORK/callers" deep 50 2>said
	same "a live profile has none, and says why" "none: a live profile does not keep the order of its samples" "$(flame chart live.html)"
}
# Samples of no known length reach back to the one before.
golden_spans='tid_reuse: 4200001 app 0 0 spin
tid_reuse: 4200001 sh 5000 5000 [unknown]
tid_reuse: 4200001 sh 5000 6000 work
tid_reuse: 4200001 worker 10000 10000 sort<int>
out_of_order: 4200001 app 0 0 main
out_of_order: 4200001 app 0 5000 outer
out_of_order: 4200001 app 5000 10000 middle
out_of_order: 4200001 app 10000 15000 inner
out_of_order: 4200001 app 15000 20000 leaf
out_of_order: 4200001 app 20000 25000 spin
out_of_order: 4200001 app 25000 100000 main
out_of_order: 4200001 app 100000 105000 outer
out_of_order: 4200001 app 105000 110000 middle
out_of_order: 4200001 app 110000 115000 inner
out_of_order: 4200001 app 115000 120000 leaf
out_of_order: 4200001 app 120000 125000 spin
out_of_order: 4200001 app 125000 200000 main
out_of_order: 4200001 app 200000 205000 outer
out_of_order: 4200001 app 205000 210000 middle
out_of_order: 4200001 app 210000 215000 inner
out_of_order: 4200001 app 215000 220000 leaf
out_of_order: 4200001 app 220000 225000 spin
cgroups: 4200001 app 0 4000 spin'

test_groups()
{
	record -F 2000 -e cpu-clock:u -g -o deep -- "$WORK/callers" deep 200 2
	report deep --flamegraph=page.html -s symbol
	same "merged" 1 "$(flame groups page.html | wc -l)"
	report deep --flamegraph=page.html -s tid
	same "threads" "$(report deep --stdio -s tid -F sample,tid -g none | awk '!/^#/ && NF { print $1 }' | sort -n)" \
		"$(flame groups page.html | awk '{ print $NF }' | sort -n)"
	same "threads have lanes" "$(flame groups page.html | awk '{ print $NF }' | sort -n | paste -sd ' ')" \
		"$(flame times page.html | cut -d ' ' -f 5-)"
	report deep --flamegraph=page.html --no-children -s parent -p '^level[67]$'
	same "parents" "$(report deep --stdio --no-children -g none -s parent -F parent,sample -p '^level[67]$' |
		awk '!/^#/ && NF { print $1, $2 }' | LC_ALL=C sort)" "$(flame groups page.html | LC_ALL=C sort)"
}

# What was recorded elsewhere, and what is not as it should be.
test_recordings()
{
	local file n=0

	set -- --symfs "$ROOT/tests/golden/symfs" --kallsyms "$ROOT/tests/golden/kallsyms" --no-branch-stack
	for file in "$ROOT"/tests/golden/*.data; do
		report "$file" "$@" --flamegraph=page.html || continue
		equal "$file" "$@"
		n=$((n + 1))
	done
	more "recordings that were looked at" 5 "$n"
}
more() { if [ "$3" -ge "$2" ]; then pass "$1"; else fail "$1" "$3, not $2 or more"; fi; }

test_places()
{
	record -F 2000 -e cpu-clock:u -g -o deep -- "$WORK/callers" deep 50
	report deep --flamegraph=page.html
	report deep --flamegraph >piped
	check "without a name: standard output" cmp page.html piped
	report deep --flamegraph=- >piped
	check "-: standard output" cmp page.html piped
	"$PSTAT" record -q -F 2000 -e cpu-clock:u -g -o - -- "$WORK/callers" deep 50 2>said |
		"$PSTAT" report -i - --flamegraph=live.html 2>said
	has "from a pipe" 'level8;level7.* [0-9]+$' "$(flame folded live.html)"
	run "$PSTAT" report -i deep --flamegraph=no/such/folder.html
	same "a folder that is not there: status" 125 "$status"
	has "a folder that is not there" '^pstat: no/such/folder.html: .*No such file' "$err"
	run "$PSTAT" report -i deep --flamegraph=x.html --folded
	same "two formats" 129 "$status"
	run "$PSTAT" report -i deep --flamegraph=
	same "an empty name" 129 "$status"
	[ ! -e /dev/full ] || run "$PSTAT" report -i deep --flamegraph=/dev/full
	same "a full disk" 125 "$status"
}

# Without chains, without samples, of events whose samples have no period.
test_little()
{
	record -F 2000 -e cpu-clock:u -o flat -- "$WORK/callers" deep 50
	equal flat
	record -e page-faults:u -c 1000000000 -g -o empty -- true
	equal empty
	has "no samples: said" 'The recording has no samples' "$(flame caption page.html)"
	record -F 1000 -e cpu-clock:u,page-faults:u -g -o two -- "$WORK/callers" deep 100
	report two --flamegraph=page.html
	same "two events" "cpu-clock:u page-faults:u" "$(flame sums page.html | awk '{ print $1 }' | paste -sd ' ')"
}

# Names that would be markup, or end the script: of a thread, and of functions made at run time, 64 KiB long.
test_hostile()
{
	local name='</script><img src=x onerror="hostile=1">'

	mkfifo ctl
	cp "$WORK/jit" './<img src=x>'
	'./<img src=x>' map "$name$(printf '%065000d' 0)" <ctl >ready 2>said &
	exec 8>ctl
	timeout 300 "$BASH" -c 'until [ -s ready ]; do sleep 0.05; done'
	"$PSTAT" record -q -o bad -F 2000 -e cpu-clock:u -g -p $! -- "$used" $! 200 2>said
	report bad --flamegraph=page.html
	report bad --flamegraph=page.svg
	exec 8>&-
	wait $!
	rm -f "/tmp/perf-$!.map" # the next process with its number may not write to it
	check "hostile names: no markup" flame whole page.html page.svg
	has "they are there as text" "^<img src=x>;.*$name" "$(flame folded page.html | cut -c 1-400)"
	browser_without_screen
	drive page.html
	has "a hostile name is drawn" '^ok all samples are drawn' "$(<seen)"
}

# Of a thread and its file: U+FFFE, U+FFFF, a surrogate in UTF-8, a control character, marks of markup.
test_names_that_no_format_has()
{
	local name=$'\xef\xbf\xbe\xef\xbf\xbf\xed\xa0\x80\x01;]]>' format
	local strict="$PYTHON $ROOT/tests/cli/hostile_text.py"

	cp "$WORK/callers" "./$name"
	record -F 2000 -e cpu-clock:u -g -o bad -- "./$name" known 100
	report bad --flamegraph=page.html
	report bad --flamegraph=page.svg
	check "no markup, and characters of XML" flame whole page.html page.svg
	check_not "no character that HTML has not" grep -q $'\xef\xbf\xbe' page.html
	report bad -j >json
	report bad --folded >folded
	report bad --speedscope=speedscope.json
	report bad --firefox=firefox.json
	report bad -s comm,dso -t , -g none >separated
	for format in json folded separated; do
		check "$format" $strict $format $format
	done
	check "speedscope" $strict json speedscope.json
	check "firefox" $strict json firefox.json
	"$PSTAT" export -i bad --jsonl lines 2>said
	check "jsonl" $strict json_lines lines
	report bad --pprof=bad.pb.gz
	check "pprof: texts are UTF-8" "$PYTHON" -c 'import gzip, re
all = gzip.open("bad.pb.gz").read()
text = re.search(rb"\xef\xbf\xbe\xef\xbf\xbf[ -~]+", all).group(0).decode()
assert "\\xed\\xa0\\x80\\x01;" in text, text
assert b"\xef\xbf\xbf\xed\xa0\x80" not in all'
	"$PSTAT" version --build-options | grep -q '^ *libsqlite3 *\[ on *\] *[^;]*$' || return
	"$PSTAT" export -i bad --sqlite db 2>said
	check "sqlite: texts are UTF-8" "$PYTHON" -c 'import sqlite3
text = [row[0] for row in sqlite3.connect("db").execute("SELECT name FROM comms")]
assert any("\\xed\\xa0\\x80\\x01;" in one for one in text), text'
}

# drive PAGE [OPTION...]: a browser does what tests/cli/flamegraph_drive.js says; with a picture, flamegraph_svg_drive.js
drive()
{
	local script=flamegraph_drive.js size=--window-size=1200,800

	case " $*" in *" --window-size="*) size=; esac

	[ "${1##*.}" != svg ] || script=flamegraph_svg_drive.js
	flame drive "$1" "$ROOT/tests/cli/$script" "drive.${1##*.}"
	in_browser "drive.${1##*.}" "$*" $size "${@:2}"
}

test_browser()
{
	browser_without_screen
	record -F 2000 -e cpu-clock -g -o deep -- "$WORK/callers" deep 300 2
	report deep --flamegraph=page.html
	drive page.html
	drive page.html --window-size=800,600 --blink-settings=preferredColorScheme=0
	drive page.html --window-size=2560,1440
	report deep --flamegraph=page.svg
	drive page.svg
}

test_browser_difference()
{
	browser_without_screen
	record -F 2000 -e cpu-clock:u -g -o old -- "$WORK/callers" deep 300
	record -F 2000 -e cpu-clock:u -g -o new -- "$WORK/callers" known 300
	"$PSTAT" diff old new --flamegraph=page.html 2>said
	drive page.html
	"$PSTAT" diff old new --flamegraph=page.svg 2>said
	drive page.svg
}

test_model()
{
	need_cmd node
	check "the model of the page, and 100,000 stacks" node "$ROOT/tests/cli/flamegraph_model.js" "$ROOT/src/fmt"
}

run_tests
