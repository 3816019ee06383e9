#!/bin/bash
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
		"$(json "d['schema_version'], d['primary_metric'], [r['command'] for r in d['results']]" | tr -d '(),' | sed "s/\[.*/['few', 'many']/")"
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
	for file in a b c; do
		run "$PSTAT" compare "${few[@]}" --seed $((file == c ? 2 : 1)) --style none --export-json x.json true "sh -c :"
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

test_fits_80_columns()
{
	need_paranoid 2
	run "$PSTAT" compare "${few[@]}" "$exact pages:10" "$exact pages:2000 $(printf 'sleeps:%d ' 1 1 1 1)"
	same "tables" "" "$(grep '^  ' <<<"$out" | awk 'length > 80')"
}

run_tests
