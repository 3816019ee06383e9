#!/bin/bash
# SPDX-License-Identifier: MIT
# `pstat diff` by itself: verdicts, order, rules, several recordings a side, rates, formats, and recordings that don't fit
# each other. Numbers beside perf's are diff_vs_perf.sh; the statistics are tests/unit/test_significance.c.
#
# run: once
. "${0%/*}/../lib.sh"
export HOME=$tmp NO_COLOR=1 DEBUGINFOD_URLS=
golden=$ROOT/tests/golden
CALLERS=$WORK/callers

recorded()
{
	local file=$1

	shift
	"$PSTAT" record -q -o "$file" -e cpu-clock:u -F 4000 "$@" || fail "$file is recorded"
}

# A program that does something else: what it does is certain, and comes first.
test_verdicts_and_order()
{
	need_paranoid 2
	recorded perf.data.old -- "$CALLERS" deep 300
	recorded perf.data -- "$CALLERS" known 300
	run "$PSTAT" diff --stdio
	same "status" 0 "$status"
	has "the default recordings; what came is on top" '^ +[0-9.]+% +\+[0-9.]+% +\+[0-9.]+% +\+[0-9.]+% +certain +callers +\[\.\] burn' "$out"
	has "bounds are not for all rows, and it says so" '^# Bounds are for each row alone' "$out"
	has "what vanished is certain, too" '^ +[0-9.]+% +-[0-9.]+% +-[0-9.]+% +certain +callers +\[\.\] level[1-8]' "$out"
	has "one recording a side is sampling noise, and it says so" '^# Bounds and verdicts \(95 %\) cover sampling noise only' \
		"$out"
	same "certain rows come first" "" "$(grep -v '^#' <<<"$out" | awk '/ certain / { if (other) print } !/ certain / { other = 1 }')"
	run "$PSTAT" diff -q -t ';' perf.data.old perf.data -o 0
	same "-o 0: by the baseline" "$(cut -d ';' -f 1 <<<"$out" | sort -t '%' -g -r -s -k 1,1)" "$(cut -d ';' -f 1 <<<"$out")"
	run "$PSTAT" diff -q perf.data.old perf.data.old
	same "a recording and itself: nothing is certain" "" "$(grep -w certain <<<"$out")"
	run "$PSTAT" diff -q -b perf.data.old perf.data
	same "-b: rows of both" "" "$(awk '$1 !~ /%/' <<<"$out")"
	run "$PSTAT" diff perf.data -q
	has "one name is the new recording's; options may stand behind it" 'certain +callers +\[\.\] burn' "$out"
}

test_rules()
{
	need_paranoid 2
	recorded old -- "$CALLERS" deep 300
	recorded new -- "$CALLERS" known 300
	# burn has some 4.4 % more, give or take 1.4 %.
	run "$PSTAT" diff old new --fail-if 'burn>+0.1%'
	same "it is broken: status" 1 "$status"
	has "and the line says by how much" "^pstat: --fail-if 'burn>\\+0\\.1%': callers \\[\\.\\] burn: cpu-clock:u: \\+[0-9].* to .*: certain$" "$err"
	run "$PSTAT" diff old new --fail-if 'burn<-2%' --fail-if 'leaf>+1%'
	same "the other way it is kept: status" 0 "$status"
	run "$PSTAT" diff old new --fail-if 'nosuch*<-50%' --fail-if 'bur[n]>+0.1%'
	same "a pattern: status" 1 "$status"
	run "$PSTAT" diff old old --fail-if '*>+0%' --fail-if '*<+0%'
	same "nothing changed: status" 0 "$status"
	run "$PSTAT" diff old new --fail-if 'nosuch>+2%'
	same "a name that is not there: status" 0 "$status"
	has "and it says so" "'nosuch>\\+2%': no row has that name" "$err"
	for rule in '' '>' 'main' 'main>2' 'main>%' '>2%' 'main>x%' 'main>nan%'; do
		run "$PSTAT" diff old new --fail-if "$rule"
		same "rule '$rule': status" 129 "$status"
		has "rule '$rule'" "^pstat: --fail-if: '.*' is no rule such as" "$err"
	done
}

test_several_recordings_a_side()
{
	need_paranoid 2
	for n in 1 2 3 4 5 6; do
		recorded $n -- "$CALLERS" deep 150
	done
	for n in 7 8 9; do
		# shellcheck disable=SC2016 # the other shell's
		recorded $n -- sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done'
	done
	run "$PSTAT" diff --old 1,2,3 --new 4,5,6 --stdio
	has "the variance between runs" '^# Bounds and verdicts \(95 %\) come from the variance between 3 and 3 runs\.' "$out"
	has "all files are said" '^#  \[1\] 6$' "$out"
	# At 95 % it may be by chance.
	run "$PSTAT" diff --old 1,2,3 --new 4,5,6 --stdio --confidence 99.9999
	same "equal runs: nothing is certain" "" "$(grep -v '^#' <<<"$out" | grep -w certain)"
	run "$PSTAT" diff --old 1,2,3 --new 7,8,9 --stdio -s comm
	same "other runs" $'callers\nsh' "$(sed -n 's/.* certain  //p' <<<"$out" | sort)"
	run "$PSTAT" diff --old 1,2 --new 7,8,9 -j
	same "less than three: of samples" '"basis": "sampling"' "$(grep -o '"basis": "[a-z]*"' <<<"$out" | sort -u)"
	run "$PSTAT" diff --old 1,2
	has "one alone" '^pstat: diff: --old and --new belong together' "$err"
	run "$PSTAT" diff --old 1,,2 --new 3
	has "a missing name" "^pstat: diff: the name of a recording is missing" "$err"
}

# Twice the work in one recording, more or less, as a busy machine lets it: shares stay, rates tell.
test_rates()
{
	need_paranoid 2
	recorded once -- "$CALLERS" known 300
	recorded twice -- "$CALLERS" known 600
	run "$PSTAT" diff once twice --per 1 -q -S burn -j
	check "per 1: twice as much" "$PYTHON" -c '
import json, sys
row = [r for r in json.loads(sys.argv[1])["events"][0]["rows"] if r["symbol"] == "burn"][0]["sides"]
rates = [side["rate"] == side["period"] for side in row] # of one unit of work
sys.exit(not (all(rates) and 1.5 < row[1]["rate"] / row[0]["rate"] < 3))' "$out"
	# What is certain of one recording depends on when it had the CPU; of several, on their sums.
	run "$PSTAT" diff --old once,once,once --new twice,twice,twice --per 1 -q -S burn
	has "per 1: it is certain" ' certain .* burn$' "$out"
	run "$PSTAT" diff once twice --per 1,2 -q --fail-if 'burn>+50%' --fail-if 'burn<-50%'
	same "per unit of work it is the same: status" 0 "$status"
	run "$PSTAT" diff once twice --per 1,2,3
	has "as many numbers as recordings" "--per 1,2,3: give one number, or one for each of the 2 recordings" "$err"
	run "$PSTAT" diff once twice --per 0
	has "no work" 'units of work are numbers above 0' "$err"
	run "$PSTAT" diff once twice --per second --fail-if 'burn<-98%' # which a busy machine makes less
	same "per second: status" 0 "$status"
	has "per second has heads of its own" 'Base/s .*Change' "$out"
	run "$PSTAT" diff once twice --per cpu-clock:u -q -S burn
	has "per event" ' burn$' "$out"
	run "$PSTAT" diff once twice --per nosuch
	has "an event that is not there" '^pstat: --per nosuch: once has no samples of such an event' "$err"
}

test_formats()
{
	need_paranoid 2
	recorded old -- "$CALLERS" deep 100
	recorded new -- "$CALLERS" known 100
	run "$PSTAT" diff old new -j
	check "JSON is valid, and rows have both sides" "$PYTHON" -c '
import json, sys
d = json.loads(sys.argv[1])
rows = d["events"][0]["rows"]
shares = [sum(r["sides"][i]["rate"] for r in rows) for i in (0, 1)]
sys.exit(not (d["format"] == "pstat diff" and d["format_version"] == 1 and all(len(r["sides"]) == 2 for r in rows)
	and all(abs(s - 1) < 1e-6 for s in shares)
	and all(sum(r["sides"][i]["period"] for r in rows) == d["events"][0]["totals"][i]["period"] for i in (0, 1))
	and all(s["low"] <= s["difference"] <= s["high"] for r in rows for s in r["sides"][1:])))' "$out"
	run "$PSTAT" diff old new -t ,
	check "CSV: each row has as many fields" "$PYTHON" -c '
import csv, sys
rows = list(csv.reader(l for l in sys.argv[1].split("\n") if l and not l.startswith("#")))
sys.exit(not (rows and {len(r) for r in rows} == {7}))' "$out"
	run env LC_ALL=C.UTF-8 "$PSTAT" diff old new -j -t ,
	has "two formats" 'two formats; give one' "$err"
	run "$PSTAT" diff -D old new
	same "-D: the records of both" "$({ "$PSTAT" report -D -i old; "$PSTAT" report -D -i new; } | wc -l)" "$(wc -l <<<"$out")"
}

# The page has both recordings, and a place's numbers are those of report's callers and callees.
test_flame_graph()
{
	need_paranoid 2
	recorded old -g -- "$CALLERS" deep 300
	recorded new -g -- "$CALLERS" known 300
	run "$PSTAT" diff old new --flamegraph=page.html
	same "status" 0 "$status"
	cat >look.py <<-'END'
	import json, re
	text = open("page.html").read()
	data = json.loads(re.search(r'id="data">\n(.*?)\n</script>', text, re.S).group(1))
	assert len(data["events"]) == 2 and "old one" in data["events"][1]["name"]
	sums = []
	for event in data["events"]:
	    diff, n = event["diff"], len(event["nodes"]["depth"])
	    assert all(len(diff[k]) == n for k in ("before", "now", "low", "high", "verdict"))
	    names = [event["frames"]["name"][f] for f in event["nodes"]["frame"]]
	    at = dict(zip(names, range(n)))
	    sums.append(names)
	    assert all(l <= b - a + 1 and b - a - 1 <= h for a, b, l, h in
	               zip(diff["before"], diff["now"], diff["low"], diff["high"]))
	known = data["events"][0]
	new, old = sums
	assert "known" in new and "known" not in old and "spin_deep" in old and "spin_deep" not in new
	i = new.index("known")
	assert known["diff"]["before"][i] == 0 and known["diff"]["verdict"][i] == 3 and known["diff"]["low"][i] > 0
	gone = data["events"][1]
	i = old.index("spin_deep")
	assert gone["diff"]["now"][i] == 0 and gone["diff"]["verdict"][i] == 3 and gone["diff"]["high"][i] < 0
	# Shares of the outermost frames are all there is.
	for event, side in ((known, "now"), (gone, "before")):
	    top = sum(v for v, d in zip(event["diff"][side], event["nodes"]["depth"]) if d == 1)
	    assert abs(top - 1e6) <= 10, top
	END
	check "both recordings, all places, and what is certain" "$PYTHON" look.py
	run "$PSTAT" diff old new --flamegraph=page.svg
	same "a picture: status" 0 "$status"
	check "a picture: no markup but its own" "$PYTHON" "$ROOT/tests/cli/flamegraph.py" inert page.svg
	cat >look.py <<-'END'
	import re, xml.etree.ElementTree as tree
	svg = "{http://www.w3.org/2000/svg}"
	boxes = {}
	for box in tree.parse("page.svg").iter(svg + "g"):
	    title = box.find(svg + "title")
	    if title is not None:
	        lines = title.text.split("\n")
	        boxes[lines[0].split(" (")[0]] = (box.get("class"), lines, box.findtext(svg + "text"))
	looks = {look for look, _, _ in boxes.values()}
	assert looks <= {"more", "less", "same"}, looks
	look, lines, text = boxes["known"]
	assert look == "more" and text.startswith("known"), (look, text)
	assert re.match(r"before 0\.00 %, now [1-9].*, certain$", lines[2]), lines
	assert "spin_deep" not in boxes
	for look, lines, _ in boxes.values():
	    rise = float(re.search(r": ([+-][0-9.]+) % ", lines[2]).group(1))
	    assert ("certain" in lines[2].split()) == (look != "same") and (look == "same" or (rise > 0) == (look == "more"))
	END
	check "a picture: what is certain" "$PYTHON" look.py
	run "$PSTAT" diff old old --flamegraph
	check "of a recording and itself nothing is certain" "$PYTHON" -c '
import json, re, sys
data = json.loads(re.search(r"id=\"data\">\n(.*?)\n</script>", sys.argv[1], re.S).group(1))
sys.exit(any(v == 3 for e in data["events"] for v in e["diff"]["verdict"]))' "$out"
	run "$PSTAT" diff old new old --flamegraph=three.html
	has "of two recordings" '^pstat: diff: --flamegraph is of two recordings; 3 are named' "$err"
	check_not "and no file is made" test -e three.html
	run "$PSTAT" diff "$golden/plain.data" "$golden/tracepoints.data" --flamegraph=none.html
	has "nothing in common" '^pstat: the recordings have no event with samples in common' "$err"
	check_not "and no file is made" test -e none.html
	run "$PSTAT" diff "$golden/hostile_names.data" "$golden/hostile_names.data" --flamegraph
	has_not "names are never markup" '<script>alert|<img' "$out"
	run "$PSTAT" diff "$golden/hostile_names.data" "$golden/hostile_names.data" --flamegraph=hostile.svg
	check "nor in a picture" "$PYTHON" "$ROOT/tests/cli/flamegraph.py" inert hostile.svg
}

# Nothing in common, empty, zero periods, other machines: a line, or a table.
test_recordings_that_do_not_fit()
{
	local names=(--symfs "$golden/symfs" --kallsyms "$golden/kallsyms")

	cd "$golden" || exit 1
	for a in *.data arm64/*.data; do
		for b in plain.data tracepoints.data pid_zero.data big_endian.data; do
			run "$PSTAT" diff "$a" "$b" "${names[@]}" --stdio
			[[ $status -eq 0 && $out == "# Event '"* ]] && continue
			[[ $status -eq 125 && $err == *"pstat: "* && -z $out ]] && continue
			fail "$a and $b" "status $status"$'\n'"$out"$'\n'"$err"
		done
	done
	run "$PSTAT" diff plain.data tracepoints.data
	same "no event in common: status" 125 "$status"
	has "no event in common" '^pstat: the recordings have no event in common: the baseline has .*, the other ' "$err"
	"$PSTAT" record -q -o "$tmp/empty" -e cpu-clock:u -F 1 -- true
	run "$PSTAT" diff "$tmp/empty" "$tmp/empty"
	same "empty ones: status" 125 "$status"
	same "empty ones" "pstat: the recordings have no samples" "$err"
	run "$PSTAT" diff lost.data plain.data
	has "a note names its file" '^pstat: lost.data: lost: 3 samples \(60.00 % of all\)$' "$err"
	has "the other's, too" '^pstat: plain.data: no symbols: ' "$err"
	run "$PSTAT" diff plain.data nosuch
	has "no such file" '^pstat: nosuch: No such file or directory' "$err"
	run "$PSTAT" diff hostile_names.data plain.data "${names[@]}" -s comm,dso,symbol
	has_not "names are made printable" $'\e' "$out$err"
}

test_what_is_refused()
{
	for option in "-c nosuch" "-c wdiff" "-c wdiff:1" "-c wdiff:a,b" "--percentage nosuch" "--confidence 0" "--confidence 100" \
		"-o 5" "--per second --time 10%/1" "-s nosuch"; do
		# shellcheck disable=SC2086 # words
		run "$PSTAT" diff $option "$golden/plain.data" "$golden/plain.data"
		same "$option: status" 129 "$status"
	done
}

# Means by hand: spin (3 * 10 + 3 * 12 + 30) / 7 = 13 and (2 * 15 + 2 * 24) / 4 = 19; middle 7 and 7.
test_blocks()
{
	local files=("$golden/code_blocks.data" "$golden/code_blocks_later.data")
	local names=(--symfs "$golden/symfs" --kallsyms "$golden/kallsyms")

	run "$PSTAT" diff -c cycles -t ';' "${names[@]}" "${files[@]}"
	same "cycles of blocks, the greatest change first" "0.14%;+6;13;19;7;4;[spin+8 -> spin+24];app
0.03%;+0;7;7;3;2;[? -> middle+12];app" "$(grep -v '^#' <<<"$out")"
	has "the event" "^# Event 'branches'" "$out"
	has "what one side alone has is said" \
		'not compared: 2 blocks of the baseline \(99.8 % of its cycles\) and 2 of the other recording \(97.8 %\)' "$err"
	run "$PSTAT" diff --cycles-hist -q -t ';' "${names[@]}" "${files[@]}"
	same "how runs differ: their mean is 96 / 7, of their squares 1632 / 7; 78 / 4 and 1602 / 4" \
		"0.14%;+6;13;19;7;4;[spin+8 -> spin+24];app;48.9%;23.1%;8-15:6 16-31:1;8-15:2 16-31:2
0.03%;+0;7;7;3;2;[? -> middle+12];app;0.0%;0.0%;4-7:3;4-7:2" "$out"
	run "$PSTAT" diff --cycles-hist "${names[@]}" "${files[@]}"
	has "heads of these columns" ' Stddev Before  Stddev Now        Cycles:Runs Before ' "$out"
	fails_with 129 'two recordings as text' "$PSTAT" diff --cycles-hist -j "${files[@]}"
	run "$PSTAT" diff -c cycles -q -t ';' "${names[@]}" "${files[1]}" "${files[0]}"
	has "the other way round" '^1.90%;-6;19;13;4;7;.spin' "$out"
	run "$PSTAT" diff -c cycles -q -t ';' "${names[@]}" "${files[@]}" -S middle
	same "of one function" "100.00%;+0;7;7;3;2;[? -> middle+12];app" "$out"
	run "$PSTAT" diff -c cycles "${names[@]}" "$golden/branch_stack.data" "$golden/branch_stack.data" -S spin
	has "branches without cycles are said to have none" 'the branches of the baseline have no cycles' "$err"
	fails_with 129 'no branches; record them with -b' "$PSTAT" diff -c cycles "$golden/plain.data" "${files[0]}"
	fails_with 129 'two recordings as text' "$PSTAT" diff -c cycles -j "${files[@]}"
	fails_with 129 'two recordings as text' "$PSTAT" diff -c cycles "${files[@]}" "${files[0]}"
}

# The recording's four samples, without the last one and without the first one. Cycles by hand: 7 + 30 + 4 + 12 of the
# first, 10 + 50 + 4 of the second, 5 of the third; the last one has no branches.
test_streams()
{
	local files=("$golden/branch_history.data" "$golden/branch_history.data")
	local names=(--symfs "$golden/symfs" --kallsyms "$golden/kallsyms") matched old new

	run "$PSTAT" diff --stream "${names[@]}" --time 1,1.0075:1.0055,2 "${files[@]}"
	same "status" 0 "$status"
	matched=$(sed '/^\[ Hot/,$d' <<<"$out" | sed 's/^ *//; s/\t */|/; /^$/d')
	old=$(sed '1,/old perf data/d; /new perf data/,$d' <<<"$out" | sed 's/^ *//; /^$/d')
	new=$(sed '1,/new perf data/d' <<<"$out" | sed 's/^ *\t */|/; /^$/d')
	same "streams of both, beside each other" "[ Matched hot streams ]
hot chain pair 1:
cycles: 64, hits: 33.33%|cycles: 64, hits: 33.33%
---------------------------|--------------------------
leaf+8|leaf+8
inner+12|inner+12
inner+10|inner+10
spin+28|spin+28
spin+8|spin+8
inner+9|inner+9
middle+32|middle+32
main+24|main+24
hot chain pair 2:
cycles: 5, hits: 33.33%|cycles: 5, hits: 33.33%
---------------------------|--------------------------
spin+12|spin+12
spin+24|spin+24
spin+16|spin+16
main+24|main+24" "$matched"
	same "those of the old one alone" "hot chain 1:
cycles: 53, hits: 33.33%
---------------------------
leaf+8
inner+12
inner+10
spin+28
spin+8
inner+9
inner+8
middle+28
main+24" "$old"
	same "those of the new one alone" "hot chain 1:
|cycles: 0, hits: 33.33%
|--------------------------
|leaf+16
|inner+16
|middle+32
|main+24" "$new"
	run "$PSTAT" diff --stream "${names[@]}" --time 1,1.0055:1.0055,1.0065 "${files[@]}"
	has_not "nothing in common" 'pair 1' "$out"
	run "$PSTAT" diff --stream "${names[@]}" "$golden/code_blocks.data" "$golden/code_blocks_later.data"
	has "without callers: 10 + 12 + 2500 + 7" 'cycles: 2529, hits: 75.00%' "$out"
	has "a branch into the kernel and back: 60000 + 30" 'cycles: 60030, hits: 25.00%' "$out"
	has "15 + 24 + 2000 + 9 + 7" '^ +	 +cycles: 2055, hits: 100.00%$' "$out"
	run "$PSTAT" diff --stream "${names[@]}" -S spin "${files[@]}"
	has "filtered: all that is left" 'cycles: 5, hits: 100.00%' "$out"
	fails_with 129 'no branches; record them with -b' "$PSTAT" diff --stream "$golden/plain.data" "${files[0]}"
	fails_with 129 'two recordings as text' "$PSTAT" diff --stream -j "${files[@]}"
	fails_with 129 'two recordings as text' "$PSTAT" diff --stream "${files[@]}" "${files[0]}"
}

run_tests
