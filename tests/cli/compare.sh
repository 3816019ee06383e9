#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat compare: words, rounds, exports, what ends it. What is said of numbers is in tests/unit/test_compare.c.
#
# rights: test_two_commands
. "${0%/*}/../lib.sh"

export NO_COLOR=1
exact=$WORK/exact
few=(-r 12 -w 0 -e page-faults:u)

# json EXPRESSION [STATEMENT BEFORE]: of the file x.json, which is d.
json() { "$PYTHON" -c "import json; d = json.load(open('x.json')); c = d['pstat_compare']; ${2:-pass}; print($1)"; }

test_two_commands()
{
	need_paranoid 2
	run "$PSTAT" compare "${few[@]}" --seed 5 --export-json x.json -n few -n many "$exact pages:10" "$exact pages:2000"
	same "status" 0 "$status"
	has "rounds and seed" '^2 commands, 12 rounds in an order by chance \(--seed 5\)$' "$out"
	has "the reference" '^few  \(reference\)$' "$out"
	has "pages cost faults" '^  page-faults:u .* slower$' "$out"
	has "as many as they are" '^  page-faults:u 2[01][0-9][0-9] ' "$(sed -n '/^many/,$p' <<<"$out" | tr -s ' ' | sed 's/^ /  /')"
	same "hyperfine's JSON" "2 time_wall_clock ['few', 'many']" \
		"$(json "d['schema_version'], d['primary_metric'], [r['name'] for r in d['results']]" | tr -d '(),' | sed "s/\[.*/['few', 'many']/")"
	same "and its version 1 beside it" "12 True" \
		"$(json "len(d['results'][0]['times']), d['results'][0]['mean'] == d['results'][0]['summary']['time_wall_clock']['mean']" | tr -d '(),')"
	same "each run is there" "24 [12, 12]" \
		"$(json "len(c['runs']), [len(r['measurements']) for r in d['results']]" | sed 's/^(\(.*\), \[/\1 [/; s/)$//')"
	same "both orders came" "{0, 1}" "$(json "{r['position'] for r in c['runs'] if not r['command']}")"
	same "in each round a place of its own" True \
		"$(json "all(sorted(r['position'] for r in c['runs'] if r['round'] == n) == [0, 1] for n in range(12))")"
	same "paddings differ" True "$(json "len({r['padding'] for r in c['runs']}) > 12")"
	same "the change is the numbers'" True \
		"$(json "[x for x in c['comparisons'] if x['row'] == 'page-faults:u'][0]['low'] > 1")"
}

# What chance decides comes from the seed.
test_seed()
{
	need_paranoid 2
	for file in a b; do
		run "$PSTAT" compare "${few[@]}" --seed 1 --style none --export-json x.json true "sh -c :"
		same "status" 0 "$status"
		same "nothing is printed" "" "$out"
		json "[(r['position'], r['padding']) for r in c['runs']]" >$file
	done
	check "the same" cmp a b
	run "$PSTAT" compare "${few[@]}" --seed 2 --style none --export-json x.json true "sh -c :"
	json "[(r['position'], r['padding']) for r in c['runs']]" >c
	check_not "another" cmp -s a c
	run "$PSTAT" compare "${few[@]}" --no-env-padding --style none --export-json x.json true "sh -c :"
	same "no padding" "{0}" "$(json "{r['padding'] for r in c['runs']}")"
}

test_words()
{
	need_paranoid 2
	run "$PSTAT" compare -r 1 -w 0 --output inherit -e page-faults:u "printf '%s|' a 'b c' \"d 'e\" f\\ g"
	has "split as sh does" "^a\|b c\|d 'e\|f g\|" "$out"
	run "$PSTAT" compare -r 6 -w 0 --output inherit -e page-faults:u --alpha 0.4 -- echo 'a  b' ::: echo c
	same "words as they are" 6 "$(grep -c '^a  b$' <<<"$out")"
	same "after the dashes" 6 "$(grep -c '^c$' <<<"$out")"
	run "$PSTAT" compare -r 1 -w 0 --output inherit -e page-faults:u -S 'echo $((6 * 7))'
	has "a shell" '^42$' "$out"
	run "$PSTAT" compare -r 1 -w 0 --output inherit -e page-faults:u --shell bash 'echo ${BASH_VERSION%%.*}'
	has "this one" '^[4-9]$' "$out"
	run "$PSTAT" compare -r 12 -w 0 --alpha 0.4 --output inherit -e page-faults:u -L x 1,2 -P y 1 2 -D 0.5 'echo {x}-{y}'
	same "each value with each" "1-1.0 1-1.5 1-2.0 2-1.0 2-1.5 2-2.0" \
		"$(grep -E '^[12]-[0-9.]+$' <<<"$out" | sort -u | paste -sd' ')"
}

test_around_runs()
{
	need_paranoid 2
	run "$PSTAT" compare -r 4 -w 1 --alpha 0.99 -e page-faults:u -s 'echo s >>log' -p 'echo p >>log' -p 'echo q >>log' \
		-C 'echo c >>log' --cleanup 'echo e >>log' -S 'echo 1 >>log' 'echo 2 >>log'
	same "status" 0 "$status"
	same "first and last" "s e" "$(sed -n '1p; $p' log | paste -sd' ')"
	same "each run between its own" "5 p1c 5 q2c" \
		"$(sed '1d; $d' log | paste -d'\0' - - - | sort | uniq -c | tr -s ' ' | paste -sd' ' | sed 's/^ //; s/  / /g')"
	echo in >file
	run "$PSTAT" compare -r 2 -w 0 --output inherit --input file -e page-faults:u cat
	same "each run reads all of it" 2 "$(grep -c '^in$' <<<"$out")"
	run "$PSTAT" compare -r 1 -w 0 --output inherit -e page-faults:u --env "A=1 B='2 3'" -S 'echo "$A,$B"'
	has "environment" '^1,2 3$' "$out"
	run "$PSTAT" compare -r 1 -w 0 --output pipe -e page-faults:u "head -c 1000000 /dev/zero"
	same "a pipe takes all" 0 "$status"
	run "$PSTAT" compare -r 2 -w 0 --output written -e page-faults:u "echo x"
	same "a file" "x x" "$(paste -sd' ' written)"
}

test_failures()
{
	need_paranoid 2
	run "$PSTAT" compare "${few[@]}" -S true 'echo why it failed >&2; exit 3'
	same "status" 1 "$status"
	has "which and when" "^pstat: echo why it failed >&2; exit 3: ended with status 3 in round 1:\$" "$err"
	has "what it said" '^  why it failed$' "$err"
	run "$PSTAT" compare "${few[@]}" -S true 'kill -9 $$'
	has "a signal" 'ended by signal 9 \(Killed\) in round 1$' "$err"
	run "$PSTAT" compare "${few[@]}" -i=3,4 -S true 'exit 3'
	same "that is no failure" 0 "$status"
	run "$PSTAT" compare "${few[@]}" -i -S true 'echo x >>n; [ $(($(wc -l <n) % 4)) != 0 ]'
	same "some rounds" 0 "$status"
	has "are left out" '^3 more were left out because a command failed$' "$out"
	run "$PSTAT" compare "${few[@]}" -i -S true 'exit 2'
	same "all" 1 "$status"
	has "nothing is left" 'a command failed in each round$' "$err"
	run "$PSTAT" compare "${few[@]}" true ./no-such-command
	same "missing" 127 "$status"
	has "before the first round" '^pstat: ./no-such-command: command not found$' "$err"
	run "$PSTAT" compare "${few[@]}" --export-json nowhere/x.json true true
	same "no place" 125 "$status"
	has "which" '^pstat: nowhere/x.json: .*No such file' "$err"
}

test_bad_words()
{
	local words text

	fails_with 129 'no command is given' "$PSTAT" compare
	fails_with 129 'a quote . is not closed' "$PSTAT" compare "echo 'a"
	fails_with 129 "'' is no command" "$PSTAT" compare ""
	fails_with 129 'a command is missing after :::' "$PSTAT" compare -- true :::
	while IFS='|' read -r words text; do
		# shellcheck disable=SC2086
		fails_with 129 "$text" "$PSTAT" compare $words true false
	done <<-'END'
	-r 0|'0' is out of range
	--alpha 0|at 0 nothing can be found
	--alpha nan|not a number from 0 to 1
	--threshold -1|not a number from 0 to 100
	--reference maybe|'maybe' is none of the commands
	-M 3 -m 4|--max-runs is less than --min-runs
	-p a -p b -p c|it is given 3 times for 2 commands
	-n a -n b -n c|more names than commands
	--env x|'x' is not NAME=VALUE
	-D 2|there is no --parameter-scan
	--output x --export-csv x|would write over an export
	END
	need_paranoid 2
	fails_with 129 '--runs: 5 rounds are too few for a verdict: 5 rows of 2 commands at alpha 0.05 need 8' \
		"$PSTAT" compare -r 5 -e page-faults:u true true
	fails_with 129 '--max-runs: 3 rounds are too few' "$PSTAT" compare -M 3 -e page-faults:u true true
}

test_check()
{
	need_paranoid 2
	run "$PSTAT" compare "${few[@]}" --check=page-faults:u "$exact pages:10" "$exact pages:2000"
	same "slower" 3 "$status"
	run "$PSTAT" compare "${few[@]}" --check=page-faults:u "$exact pages:2000" "$exact pages:10"
	same "faster" 0 "$status"
	fails_with 129 "--check: there is no row 'nothing'" "$PSTAT" compare "${few[@]}" --check=nothing true true
}

test_exports()
{
	need_paranoid 2
	run "$PSTAT" compare "${few[@]}" --export-csv - --export-markdown x.md 'echo "a,b"' 'echo c|d'
	same "nothing but CSV" 'command,row,unit,n,mean,stddev,median,min,max,outliers,change,low,high,p,verdict' \
		"$(head -n 1 <<<"$out")"
	same "a line for each row of each command" 9 "$(grep -vc 'peak memory' <<<"$out")"
	has "quoted" '^"echo ""a,b""","page-faults:u",,12,' "$out"
	has "Markdown" '^\| `echo c\\\|d` \| wall \| ' "$(<x.md)"
}

test_metrics()
{
	need_paranoid 2
	run "$PSTAT" compare -r 12 -w 0 -e task-clock --metrics cpus-utilized --export-json x.json "$exact spins:5" "$exact spins:20"
	same "of each run's own counts" "24 True" "$(json 'len(m), all(abs(x["cpus-utilized"]["value"] - x["task-clock"]["value"] /
		x["time_wall_clock"]["value"]) < 1e-9 for x in m)' 'm = [x for r in d["results"] for x in r["measurements"]]' | tr -d '(),')"
	has_not "no better, no worse" 'cpus-utilized.*(slower|faster)' "$out"
	fails_with 129 "metric 'nothing': no metric" "$PSTAT" compare --metrics nothing true true
}

# A command's peak memory is not known below that of the process that starts it.
test_small_after_many_runs()
{
	need_paranoid 2
	need_plain_build
	run "$PSTAT" compare -r 1500 -w 0 -e page-faults:u "$exact pages:600"
	has "peak memory" '^  peak memory ' "$out"
}

# Children that a command leaves, and those of hooks, are none of the next command's.
test_others_are_not_counted()
{
	need_paranoid 2
	run "$PSTAT" compare "${few[@]}" --prepare "$exact sleeps:1 pages:3000 &" --export-json x.json \
		"sh -c '$exact sleeps:1 pages:3000 &'" "$exact pages:10"
	same "at most its own" True "$(json 'd["results"][1]["summary"]["page-faults:u"]["max"] < 1000')"
	same "each run" 12 "$(json 'd["results"][1]["summary"]["page-faults:u"]["count"]')"
}

test_interrupted()
{
	need_paranoid 2
	"$PSTAT" compare -r 100000 -w 0 -e page-faults:u --export-json x.json -S 'echo >>n' 'echo >>n' >out 2>&1 &
	until [ "$(wc -l <n 2>/dev/null || echo 0)" -ge 8 ]; do sleep 0.02; done
	kill -INT $!
	wait $!
	same "status" 130 $?
	has "whole rounds stay" '^2 commands, [0-9]+ rounds' "$(<out)"
	has "nothing is said of them" '^nothing is said of echo >>n: the rounds were interrupted' "$(<out)"
	same "no interval" "True {'withheld'}" "$(json "c['interrupted'], {x['verdict'] for x in c['comparisons']}" | tr -d '(),')"
}

# What was recorded is what it was, to the byte.
test_load()
{
	local kind

	need_paranoid 2
	need_jansson
	run "$PSTAT" compare "${few[@]}" -e task-clock,page-faults --metrics cpus-utilized --warmup 1 --reference many -L x 10,2000 \
		--export-json a.json --export-csv a.csv --export-markdown a.md -n few -n many "$exact pages:{x}"
	same "status" 0 "$status"
	printed=$out
	run "$PSTAT" compare --load a.json --export-json b.json --export-csv b.csv --export-markdown b.md
	same "status of loaded" 0 "$status"
	same "the same text" "$printed" "$out"
	for kind in json csv md; do
		check "the same $kind" cmp a.$kind b.$kind
	done
	run bash -c '"$0" compare --load - --check=page-faults:u --reference one -n one <a.json' "$PSTAT"
	same "judged anew" 3 "$status"
	has "a pipe, another reference and name" '^one  \(reference\)$' "$out"
}

# Files of two times have nothing in common.
test_load_two()
{
	need_paranoid 2
	need_jansson
	run "$PSTAT" compare "${few[@]}" --style none --export-json a.json "$exact pages:10" "$exact pages:2000"
	run "$PSTAT" compare -r 9 -w 0 -e minor-faults:u --style none --export-json b.json "$exact pages:2000"
	run "$PSTAT" compare --load b.json b.json --check=wall
	same "undecided" 4 "$status"
	run "$PSTAT" compare --load a.json b.json
	has "both" '^a.json: 2 commands, 12 rounds in an order' "$out"
	has "both" '^b.json: 1 command, 9 rounds in an order' "$out"
	has "verdicts within a file" 'page-faults:u .* slower$' "$(sed -n '/^a.json: .*2000$/,/^$/p' <<<"$out")"
	has_not "none between files" ' (slower|faster|same|undecided)$' "$(sed -n '/^b.json: .*2000$/,/^$/p' <<<"$out")"
	has "but the change of medians" '^  wall .* [+-][0-9.]+ % +\| +withheld$' "$(sed -n '/^b.json: .*2000$/,/^$/p' <<<"$out")"
	has "in words" '^b.json: .* time than a.json: .* by their medians, which may be chance$' "$out"
	has "and why" 'files from different times are no comparison in an order by chance' "$err"
	fails_with 129 'only what is loaded from one file' "$PSTAT" compare --load a.json b.json --export-json c.json
}

# hyperfine's files, of both versions, with numbers that are fed.
test_load_hyperfine()
{
	need_jansson
	cat >one.json <<-'END'
		{"results": [
		{"command": "a", "times": [0.5, 0.5, 0.5], "memory_usage_byte": [1048576, 1048576, 1048576], "parameters": {"n": "1"}},
		{"command": "b", "times": [1.5, 0.75, 0.75, 0.5], "exit_codes": [0, 0, 0, null]}]}
	END
	cat >two.json <<-'END'
		{"schema_version": 2, "results": [
		{"command": "a", "measurements": [{"exit_code": 0, "time_wall_clock": {"value": 0.5, "unit": "second"},
			"cpu_cycles": {"value": 1000}}]},
		{"command": "b", "name": "B", "measurements": [{"exit_code": null, "time_wall_clock": {"value": 0.75, "unit": "second"},
			"cpu_cycles": {"value": 1500}, "strange": {"value": 7}}]}]}
	END
	run "$PSTAT" compare --load one.json
	same "status" 0 "$status"
	has "as it was measured" '^2 commands, up to 4 runs, one command after the other$' "$out"
	has "mean" '^  wall +500 ms +0.0 % +500 ms' "$out"
	has "memory" '^  peak memory +1 MiB ' "$out"
	has "medians" '^  wall +\+50.0 % +\| +withheld$' "$out"
	run "$PSTAT" compare --load two.json --export-csv -
	has "a name, and an event by pstat's" '^"B","cycles:u",,1,1500,' "$out"
	has "what nobody knows" '^"B","strange",,1,7,' "$out"
	has "why it is not judged" 'two.json: all runs of a command came before all of the next' "$err"
}

test_load_bad_files()
{
	local text

	need_jansson
	fails_with 129 'files are missing' "$PSTAT" compare --load
	fails_with 129 'files are missing' "$PSTAT" compare --load -- a.json
	fails_with 125 'nowhere.json: No such file' "$PSTAT" compare --load nowhere.json
	echo '{"results": [' >cut.json
	fails_with 125 'cut.json: line 2 is no JSON: ' "$PSTAT" compare --load cut.json
	for text in '[1]' '{}' '{"results": []}' '{"results": {"a": 1}}'; do
		echo "$text" >none.json
		fails_with 125 'none.json: it has no results' "$PSTAT" compare --load none.json
	done
	echo '{"results": [{"command": "a", "times": [1]}]}' >few.json
	fails_with 129 'nothing is run' "$PSTAT" compare --load -r 5 few.json
	fails_with 129 'more names than commands' "$PSTAT" compare --load few.json -n a -n b
	fails_with 129 "'b' is none of the commands" "$PSTAT" compare --load few.json --reference b
	# What is of no use is left out.
	echo '{"results": [7, {"command": 3, "measurements": [1, {"a": {}, "b": {"value": "x"}, "c": 2}], "parameters": []}],
		"pstat_compare": {"rows": [1, {"row": "a"}], "runs": [{"round": 99, "command": -1}, 5], "reference": 77,
		"notes": [3, "a\u001b[31mb"], "alpha": 5, "seed": -1}}' >odd.json
	run "$PSTAT" compare --load odd.json
	same "odd: status" 0 "$status"
	has_not "odd: nothing is said of times that are not there" 'takes as long|time than' "$out"
	has "odd: no escape sequence" 'pstat: a\\x1b\[31mb' "$err"
	"$PYTHON" -c "import json; print(json.dumps({'results': [{'command': 'a', 'measurements': [{'k%d' % i: {'value': 1} for i in range(2000)}]}]}))" >wide.json
	fails_with 125 'are too many' "$PSTAT" compare --load wide.json
}

# hyperfine's scripts, which read what it exports.
test_hyperfine_scripts()
{
	local folder=${HYPERFINE_SCRIPTS:-/usr/share/hyperfine/scripts} name

	need_paranoid 2
	[ -e "$folder/plot_whisker.py" ] || skip "needs hyperfine's scripts (HYPERFINE_SCRIPTS=folder)"
	python3 -c 'import matplotlib' 2>/dev/null || skip "needs Python's matplotlib"
	run "$PSTAT" compare "${few[@]}" --style none --export-json x.json true "sh -c :"
	for name in plot_whisker plot_progression; do
		run python3 "$folder/$name.py" x.json -o $name.png
		same "$name" 0 "$status"
		check "its picture" test -s $name.png
	done
}

test_fits_80_columns()
{
	need_paranoid 2
	run "$PSTAT" compare "${few[@]}" "$exact pages:10" "$exact pages:2000 $(printf 'sleeps:%d ' 1 1 1 1)"
	same "tables" "" "$(grep '^  ' <<<"$out" | awk 'length > 80')"
}

run_tests
