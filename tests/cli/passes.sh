#!/bin/bash
# SPDX-License-Identifier: MIT
# --passes: where it makes no sense; and runs of a command whose truth is known, with more breakpoints than a
# machine has.
#
# run: once
. "${0%/*}/vs_perf.bash"

need_few_breakpoints()
{
	need_breakpoints
	[ "$(counted "$PSTAT" -e "$(stores_times 8)" -- "$EXACT" stores:3 | grep -c '^3$')" = 4 ] ||
		skip "needs a machine with 4 breakpoints, all free"
}

test_refusals()
{
	local anew='--passes: each pass runs a command anew'

	fails_with 129 "$anew; what runs already" "$PSTAT" stat --passes -p 1
	fails_with 129 "$anew; what runs already" "$PSTAT" stat --passes -t 1 true
	fails_with 129 "$anew; what else runs" "$PSTAT" stat --passes -a true
	fails_with 129 "$anew; what else runs" "$PSTAT" stat --passes -C 0 true
	fails_with 129 "$anew; what else runs" "$PSTAT" stat --passes -e cs -G x true
	fails_with 129 "$anew; what else runs" "$PSTAT" stat --passes --for-each-cgroup x true
	fails_with 129 "$anew; what else runs" "$PSTAT" stat --passes -A -a true
	fails_with 129 '--passes and --interval-print: ' "$PSTAT" stat --passes -I 100 true
	fails_with 129 '--passes: --repeat 0 never ends' "$PSTAT" stat --passes -r 0 true
	fails_with 129 '--passes and --null: ' "$PSTAT" stat --passes -n true
	fails_with 129 '--passes: a recording holds one run' "$PSTAT" stat --passes record -o x true
	fails_with 129 "$anew; what else runs" "$PSTAT" stat --passes
	fails_with 127 'command not found' "$PSTAT" stat --passes -e page-faults -- ./no-such-command
}

test_one_pass()
{
	run "$PSTAT" stat --passes -e page-faults:u -- "$EXACT" pages:10
	has "the title says so" " \(1 pass\):" "$err"
	has "the times are those of one run" '^ +[0-9.]+ seconds user' "$err"
	run "$PSTAT" stat --passes -e page-faults:u -r 3 -- "$EXACT" pages:10
	has "with -r" " \(3 runs, 1 pass each\):" "$err"
	run "$PSTAT" stat --passes -j -e page-faults:u -- "$EXACT" pages:10
	has "JSON has its number" '"pass" : 1}' "$err"
	run "$PSTAT" stat -j -e page-faults:u -- "$EXACT" pages:10
	has_not "but only then" '"pass"' "$err"
	run "$PSTAT" stat --passes -x, -e page-faults:u -- "$EXACT" pages:10
	has "in CSV it stands last, and marks behind it" '^[0-9]+,,page-faults:u,[0-9]+,100.00,,,1,$' "$err"
	run "$PSTAT" stat -x, -e page-faults:u -- "$EXACT" pages:10
	has "but only then" '^[0-9]+,,page-faults:u,[0-9]+,100.00,,$' "$err"
	run "$PSTAT" stat --passes -e page-faults:u -- sh -c 'exit 3'
	same "the command's status" 3 "$status"
}

test_passes()
{
	need_few_breakpoints
	exactly_ours=$(counted "$PSTAT" --passes -e "$(stores_times 10)" -- "$EXACT" stores:1234 | paste -sd ' ')
	same "ten events, each of them exact" "1234 1234 1234 1234 1234 1234 1234 1234 1234 1234" "$exactly_ours"
	run setarch -R "$PSTAT" stat --passes -e "$(stores_times 10)" -- "$EXACT" stores:5
	has "the title says how many passes" " \(3 passes\):" "$err"
	has "the time is the mean of their runs" '^ +[0-9.]+ \+- [0-9.]+ seconds time elapsed' "$err"
	has_not "and no run's own" 'seconds user' "$err"
	run setarch -R "$PSTAT" stat --passes -r 2 -e "$(stores_times 5)" -- sh -c 'echo run >>runs; exec "$@"' sh \
		"$EXACT" stores:5
	has "with -r" " \(2 runs, 2 passes each\):" "$err"
	same "so often the command was run" 4 "$(wc -l <runs)"
	run setarch -R "$PSTAT" stat --passes -j -e "$(stores_times 5),task-clock:u" -- "$EXACT" stores:5
	same "JSON says which pass" "1 1 1 1 2 1" \
		"$(printf '%s\n' "$err" | sed -n 's/.*"pass" : \([0-9]*\).*/\1/p' | paste -sd ' ')"
	has "the clock is counted with each" '"pass" : 2' "$(grep sec <<<"$err")"
}

# A command that counts its runs in the file "runs", and does this one in that which is called that.
every_run='echo >>runs; case $(wc -l <runs)'

test_passes_that_differ()
{
	local twice="$every_run in 2) exec \"\$1\" stores:2000;; *) exec \"\$1\" stores:1000;; esac"

	need_few_breakpoints
	run setarch -R "$PSTAT" stat --passes -e "$(stores_times 8)" -- sh -c "$twice" sh "$EXACT"
	same "each value names its pass" "1000 (pass 1) 1000 (pass 1) 1000 (pass 1) 1000 (pass 1) 2000 (pass 2) 2000 (pass 2) 2000 (pass 2) 2000 (pass 2)" \
		"$(sed -n 's/^ *\([12]\),000 .*mem:.*\((pass .)\)$/\1000 \2/p' <<<"$err" | paste -sd ' ')"
	has "what differs is said" '^pstat: --passes: the command did not do the same in each pass: mem:.* 1,000 in pass 1, 2,000 in pass 2' "$err"
	has "and what helps" '--warm-up' "$err"
	rm runs
	run setarch -R "$PSTAT" stat --passes -x, -e "$(stores_times 8)" -- sh -c "$twice" sh "$EXACT"
	same "CSV marks it" "4 ,1,differ 4 ,2,differ" "$(grep mem: <<<"$err" | sed 's/.*\(,.,differ\)$/\1/' | uniq -c | xargs)"
	rm runs
	run setarch -R "$PSTAT" stat --passes -j -e "$(stores_times 8)" -- sh -c "$twice" sh "$EXACT"
	has "JSON too" '"event" : "duration_time", .*"passes-differ" : true' "$err"
	rm runs
	run setarch -R "$PSTAT" stat --passes --warm-up -e "$(stores_times 8)" -- \
		sh -c "$every_run in 1) exec \"\$1\" stores:2000;; *) exec \"\$1\" stores:1000;; esac" sh "$EXACT"
	same "a warm-up is not counted" 8 "$(grep -c '^ *1,000 .*mem:' <<<"$err")"
	has_not "and nothing differs then" 'mem:.* in pass' "$err"
	same "three runs" 3 "$(wc -l <runs)"
}

# Page faults are counted in each pass, whether they were asked for or not.
test_other_work()
{
	need_few_breakpoints
	run setarch -R "$PSTAT" stat --passes -e "$(stores_times 5)" -- \
		sh -c "$every_run in 2) exec \"\$1\" stores:3 pages:2000;; *) exec \"\$1\" stores:3;; esac" sh "$EXACT"
	same "the stores are the same" 5 "$(grep -c '^ *3 .*mem:' <<<"$err")"
	has "but not the work" '^pstat: --passes: the command did not do the same in each pass: .*page-faults:u [0-9]+ in pass 1, 2,[0-9]{3} in pass 2' "$err"
	has_not "the stores are no part of it" '^pstat: .*mem:' "$err"
	has_not "it has no row" '^ .*page-faults' "$err"
}

test_input()
{
	need_few_breakpoints
	echo words >words
	printf 'a\nb\n' >two
	ran="--passes <words"
	same "a file is read anew in each pass" "words words" \
		"$(setarch -R "$PSTAT" stat --passes -o out -e "$(stores_times 5)" -- cat <words | paste -sd ' ')"
	same "from where it was" "b b" \
		"$({ read -r _; setarch -R "$PSTAT" stat --passes -o out -e "$(stores_times 5)" -- cat; } <two | paste -sd ' ')"
	# Whether echo writes before nobody is there to read is up to the machine.
	echo words 2>said | setarch -R "$PSTAT" stat --passes -e "$(stores_times 5)" -- touch ran 2>err
	same "a pipe is refused" 129 "${PIPESTATUS[1]}"
	has "with the remedy" '^pstat: --passes: standard input is a pipe: .*$' "$(<err)"
	has "in a line of its own" '^  .*</dev/null' "$(<err)"
	check "and nothing was run" [ ! -e ran ]
	same "but not for one pass" "words" "$(echo words | "$PSTAT" stat --passes -o out -e page-faults:u -- cat)"
	same "-r reads a file anew" "words words words" \
		"$("$PSTAT" stat -r 3 -o out -e page-faults:u -- cat <words | paste -sd ' ')"
	same "and what is left of a pipe, as perf does" "words" \
		"$(echo words | "$PSTAT" stat -r 3 -o out -e page-faults:u -- cat | paste -sd ' ')"
}

test_status()
{
	need_few_breakpoints
	run setarch -R "$PSTAT" stat --passes -e "$(stores_times 12)" -- sh -c "$every_run in 1) exit 0;; 2) exit 7;; *) exit 8;; esac"
	same "the first failure of three passes" 7 "$status"
	rm runs
	run setarch -R "$PSTAT" stat --passes -r 2 -e "$(stores_times 5)" -- sh -c "$every_run in 2) exit 7;; *) exit 0;; esac"
	same "of two repeats" 7 "$status"
}

test_warm_up()
{
	fails_with 129 '--warm-up: there is no command' "$PSTAT" stat --warm-up -a
	run "$PSTAT" stat --warm-up -r 2 -e page-faults:u --pre 'echo pre >>log' --post 'echo post >>log' -- \
		sh -c 'echo run >>log'
	same "one run more, with what is around it" "pre run post pre run post pre run post" "$(paste -sd ' ' log)"
	has "it is not one of the runs" " \(2 runs\):" "$err"
	run "$PSTAT" stat --warm-up -e page-faults:u -- sh -c "$every_run in 1) exit 5;; *) exit 0;; esac"
	same "its failure is a failure" 5 "$status"
	fails_with 127 'command not found' "$PSTAT" stat --warm-up -e page-faults -- ./no-such-command
	run "$PSTAT" stat --warm-up -I 10 -x, -e page-faults:u -- sh -c 'sleep 0.05; echo run'
	same "two runs" "run run" "$(paste -sd ' ' <<<"$out")"
	check "the intervals are those of one" sort -cg <(cut -d, -f1 <<<"$err")
	has "and there are some" ',page-faults:u,' "$err"
	fails_with 129 '--warm-up: standard input is a pipe' bash -c 'echo | "$0" stat --warm-up -n cat' "$PSTAT"
}

test_groups()
{
	need_few_breakpoints
	run setarch -R "$PSTAT" stat --passes -j -e "$stores,{$(stores_times 3)},{$(stores_times 3)}" -- "$EXACT" stores:5
	same "each is in one pass" "1 1 1 1 2 2 2" \
		"$(printf '%s\n' "$err" | sed -n 's/.*"pass" : \([0-9]*\).*/\1/p' | paste -sd ' ')"
	fails_with 125 '--passes: the group of mem:.*: 5 events for 4 counters' setarch -R "$PSTAT" stat --passes \
		-e "{$(stores_times 5)}" -- touch ran
	check "and nothing was run" [ ! -e ran ]
	same "a weak one is broken up" "5 5 5 5 5" \
		"$(counted "$PSTAT" --passes -e "{$(stores_times 5)}:W" -- "$EXACT" stores:5 | paste -sd ' ')"
}

test_left_running()
{
	need_few_breakpoints
	run setarch -R "$PSTAT" stat --passes -x, -e "$(stores_times 8)" -- sh -c \
		'sleep 2 & exec "$@"' sh "$EXACT" stores:5
	same "what a pass leaves behind takes no counter from the next" 8 "$(grep -c '^5,' <<<"$err")"
}

# A signal in the second of three passes.
test_interrupted()
{
	need_few_breakpoints
	setarch -R "$PSTAT" stat --passes -o out "$@" -e "$(stores_times 12)" -- sh -c \
		'echo >>up; "$@"; [ "$(wc -l <up)" = 2 ] || exit 0; touch second; exec sleep 60' sh \
		"$EXACT" stores:5 2>said &
	pid=$!
	until [ -e second ] || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
	kill -s INT $pid
	wait $pid
	same "status" 130 $?
	same "two passes are counted" 8 "$(grep -c '^ *5 .*mem:' out)"
	same "the third is not" 4 "$(grep -c '<not counted>  .*mem:' out)"
	has "which is said once" '^ <not counted>: its pass was not run$' "$(cat out)"
	has "a note tells" '--passes: interrupted in pass 2 of 3' "$(<said)"
}

test_interrupted_repeat()
{
	need_few_breakpoints
	setarch -R "$PSTAT" stat --passes -r 3 -o out "$@" -e "$(stores_times 8)" -- sh -c \
		'echo >>up; "$@"; [ "$(wc -l <up)" = 3 ] || exit 0; touch third; exec sleep 60' sh \
		"$EXACT" stores:5 2>said &
	pid=$!
	until [ -e third ] || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
	kill -s INT $pid
	wait $pid
	same "status" 130 $?
	same "what the first run counted stands" 8 "$(grep -c '^ *5 .*mem:' out)"
	has "of one run" '\(1 runs, 2 passes each\)' "$(<out)"
	has "a note tells" '-r: run 2 of 3 was interrupted in pass 1 of 2 and is left out' "$(<said)"
}

test_a_command_for_each_pass()
{
	need_few_breakpoints
	run setarch -R "$PSTAT" stat --passes --pre 'echo pre >>log' --post 'echo post >>log' \
		-e "$(stores_times 5)" -- sh -c 'echo run >>log'
	same "--pre and --post are around each run" "pre run post pre run post" "$(paste -sd ' ' log)"
	fails_with 125 "--post: 'false' ended" setarch -R "$PSTAT" stat --passes --post false \
		-e "$(stores_times 5)" -- "$EXACT" stores:5
	has "what was counted before is reported" 'its pass was not run' "$err"
}

run_tests
