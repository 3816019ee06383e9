#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat profile: stacks of programs that know their own, counted to the sample; how it ends; what it prints.
#
# rights: test_two_thirds test_counts test_without_rights test_ends
. "${0%/*}/../lib.sh"

need_paranoid 2
exact=$WORK/exact callers=$WORK/callers
# Each page that is touched is a sample.
faults=(-e page-faults/period=1,name=each/u)

# The samples of folded lines with a frame of that name.
folded() { awk -v f="$2" '{ n = $NF; sub(/ [0-9]+$/, ""); if ((";" $0 ";") ~ ";" f ";") sum += n } END { print sum + 0 }' "$1"; }

test_two_thirds()
{
	"$PSTAT" profile -q -f -F 997 -e cpu-clock:u -- "$callers" known 500 >lines
	check "two thirds: $(folded lines two_thirds), one third: $(folded lines one_third)" \
		test "$(folded lines two_thirds)" -gt "$(folded lines one_third)" -a "$(folded lines one_third)" -gt 0
}

test_counts()
{
	run "$PSTAT" profile -f "${faults[@]}" -- "$exact" pages:3000
	echo "$out" >lines
	same "each page is a sample" 3000 "$(folded lines 'pages|touch_pages')"
	has "none is lost" '^\[ pstat profile: [0-9]+ samples in [0-9.]+ s, lost 0, missed 0, throttled 0 \]$' "$err"
	"$PSTAT" record -q -g -o - "${faults[@]}" -- "$exact" pages:3000 2>/dev/null |
		"$PSTAT" report -q -i - --folded 2>/dev/null | grep 'pages' >reported
	same "as report has them" "$(<reported)" "$(grep pages lines)"
}

test_stacks()
{
	run "$PSTAT" profile "${faults[@]}" -- "$exact" pages:3000
	has "says what it does" '^Sampling at 49 Hertz of .*exact by user \+ kernel stack until it ends.$' "$out"
	tail -n 3 <<<"$out" >end
	has "the most frequent stack is the last" '^ {8}(3000|2999)$' "$(<end)"
	has "with its process" '^    -                exact \([0-9]+\)$' "$(<end)"
	same "counts grow" "" "$(grep -E '^ {8}[0-9]+$' <<<"$out" | sort -nc 2>&1)"
	run "$PSTAT" profile -q -a "${faults[@]}" -- "$exact" pages:10
	has_not "quiet" 'Sampling' "$out"
	same "nothing is said" "" "$err"
}

# The kernel's part of a stack stands first.
test_delimiter()
{
	need_paranoid 1
	run "$PSTAT" profile -q -ad -c 1 -e context-switches -- "$exact" sleeps:5
	has "above the line" '_\[k\]$' "$(sed -n '/^    --$/q; p' <<<"$out")"
	has_not "below it" '_\[k\]$' "$(sed -n '/^    --$/,/^ *-  /p' <<<"$out")"
	run "$PSTAT" profile -q -fd -c 1 -e context-switches -- "$exact" sleeps:5
	has "folded" '^exact;.*;-;' "$out"
}

test_sides()
{
	need_paranoid 1
	run "$PSTAT" profile -q -a -U -c 1 -e context-switches -- "$exact" sleeps:5
	has_not "the user's side alone" '_\[k\]' "$out"
	has "is there" '^    main' "$out"
	run "$PSTAT" profile -q -aK -c 1 -e context-switches -- "$exact" sleeps:5
	has_not "the kernel's side alone" '^    main' "$out"
	has "is there" '_\[k\]' "$out"
}

# In each interval there is another output, whether something was sampled or not: so it is seen that it has begun.
test_intervals()
{
	local held tries=0

	mkfifo go
	bash -c 'read -r <"$1"; shift; exec "$@"' gate "$PWD/go" "$exact" pages:3000 pauses &
	held=$!
	"$PSTAT" profile -q -f -i 0.05 "${faults[@]}" -p $held >lines &
	until grep -q '^# interval 1: ' lines; do sleep 0.02; done
	echo >go
	until [ "$(folded lines pages)" -ge 3000 ] && grep -q '^# interval 3: ' lines || [ $((tries += 1)) -gt 1000 ]; do
		sleep 0.06
	done
	"$PSTAT" profile -q -i 0.05 --flamegraph=x.svg "${faults[@]}" -p $held &
	until [ -s x.2.svg ]; do sleep 0.02; done
	kill -9 $held
	wait
	same "several intervals have all samples" 3000 "$(folded lines pages)"
	same "one after the other" "" "$(sed -nE 's/^# interval ([0-9]+): .*/\1/p' lines | sort -nc 2>&1)"
	check "numbered files" test -s x.1.svg -a -s x.2.svg
	run "$PSTAT" profile -i 1 --pprof=- 1
	same "one place for all" 129 "$status"
	has "is none" 'name a file, and each gets a number' "$err"
}

test_formats()
{
	local option

	for option in --flamegraph=x.html --flamegraph=x.svg --speedscope=x.json --pprof=x.pb.gz; do
		run "$PSTAT" profile -q $option "${faults[@]}" -- "$exact" pages:100
		same "$option" 0 "$status"
		check "$option is there" test -s "${option#*=}"
	done
	run "$PSTAT" profile -q -j "${faults[@]}" -- "$exact" pages:100
	check "JSON" "$PYTHON" -c 'import json, sys; json.loads(sys.argv[1])' "$out"
	run "$PSTAT" profile -q --stdio -s symbol --percent-limit 90 "${faults[@]}" -- "$exact" pages:3000
	has "a table" '^ +9[0-9.]+% .*\[\.\] pages' "$out"
	has_not "--percent-limit: nothing below it" '^ +[0-8]?[0-9]\.[0-9]+% .*\[' "$out"
}

# spinning: a process ($spinner) that uses the CPU until it is killed.
spinning()
{
	"$callers" known 100000 &
	spinner=$!
	"$used" $spinner 20
}

test_ends()
{
	spinning
	run "$PSTAT" profile -F 997 -e cpu-clock:u -p $spinner 1.3
	same "after its time" 0 "$status"
	has "with what it saw" 'callers \('$spinner'\)' "$out"
	has "and says how long" "for 1.3 secs" "$out"
	"$PSTAT" profile -F 997 -e cpu-clock:u -p $spinner >text 2>said &
	until [ -s text ]; do sleep 0.02; done
	"$used" $spinner 300
	kill -INT $!
	wait $!
	same "by Ctrl-C" 0 $?
	has "which prints" 'callers \('$spinner'\)' "$(<text)"
	kill $spinner
	run "$PSTAT" profile -q 0.2 -- sleep 1000
	same "a command that runs on is told to end" 0 "$status"
	run "$PSTAT" profile -q -- sh -c 'exit 3'
	same "with the command's status" 3 "$status"
	run "$PSTAT" profile -q -- ./nowhere
	same "of a command that is not there" 127 "$status"
	"$exact" pages:10 &
	wait $!
	run "$PSTAT" profile -p $!
	same "of a process that is gone" 125 "$status"
}

# Who reads has enough: that is no failure.
test_closed_pipe()
{
	{ "$PSTAT" profile -f "${faults[@]}" -- "$exact" pages:100 2>said; echo $? >status; } | true
	same "status" 0 "$(<status)"
	has_not "no word of it" 'Broken pipe' "$(<said)"
}

test_storage()
{
	run "$PSTAT" profile -f --stack-storage-size 1 "${faults[@]}" -- "$exact" pages:3000
	same "one stack" 1 "$(wc -l <<<"$out")"
	has "others are counted" 'stacks: [0-9]+ samples are left out: their stacks are not among the first 1' "$err"
	same "all samples are in one of the two" "$(sed -nE 's/.*profile: ([0-9]+) samples.*/\1/p' <<<"$err")" \
		$(("${out##* }" + $(sed -nE 's/.*stacks: ([0-9]+) samples.*/\1/p' <<<"$err")))
	run "$PSTAT" profile -q -f --stack-storage-size 1048576 "${faults[@]}" -- "$exact" pages:3000
	check "no limit that matters" test "$(wc -l <<<"$out")" -gt 1
}

test_ended_processes()
{
	run "$PSTAT" profile -q -f "${faults[@]}" -- sh -c '"$1" pages:1000; "$1" pages:1000; true' sh "$exact"
	echo "$out" >lines
	same "have names" 2000 "$(folded lines pages)"
}

# Stacks of each event, below its name; nothing more where there is one.
test_several_events()
{
	need_paranoid 2
	for words in -f ""; do
		# shellcheck disable=SC2086
		run "$PSTAT" profile $words -F 997 -e cpu-clock:u "${faults[@]}" -- "$exact" spins:100 pages:1000
		same "$words: exit status" 0 "$status"
		same "$words: events" "# event cpu-clock:u
# event each" "$(grep '^#' <<<"$out")"
		has "$words: one's stacks" 'spins' "$(sed '/event each/,$d' <<<"$out")"
		has "$words: the other's" 'pages' "$(sed '1,/event each/d' <<<"$out")"
		has_not "$words: nothing is left out" 'only those of' "$err"
	done
	run "$PSTAT" profile -q -f "${faults[@]}" -- "$exact" pages:1000
	has_not "one event has no name" '^#' "$out"
}

# What was slept, as the program knows it, is in the stack that slept, in us.
test_off_cpu()
{
	local least most us

	need_paranoid 1
	# shellcheck disable=SC2016
	run "$PSTAT" profile -q -f --off-cpu --call-graph dwarf -- sh -c 'exec "$1" 5 >told' sh "$WORK/waits"
	echo "$out" >lines
	read -r least most < <(sed -n 's/^sleeps //p' told)
	us=$(folded lines sleeps)
	check "at least what was slept, at most what passed: $us us of $least to $most ns" \
		test "$us" -ge $((least / 1000 - 5)) -a "$us" -le $((most / 1000))
	run "$PSTAT" profile --off-cpu -- "$exact" sleeps:5
	has "says what it does" '^Tracing off-CPU time \(us\) of .*exact by user \+ kernel stack until it ends.$' "$out"
	run "$PSTAT" profile -q --off-cpu --flamegraph=x.svg -- "$exact" sleeps:5
	has "a picture of time" '[0-9] us, [0-9.]+ %' "$(<x.svg)"
	run "$PSTAT" profile -q -f --wall -F 999 -- "$exact" spins:100 sleeps:5
	has "both in one" 'exact;.*;\[waiting\] [0-9]+$' "$out"
	check "most of what is not waiting is spinning" test "$(grep -v '\[[a-z]*\] [0-9]*$' <<<"$out" | folded /dev/stdin spins)" -gt 10000
}

test_machine()
{
	need_paranoid 0
	local program recorder

	"$callers" known 100000 &
	program=$!
	"$PSTAT" profile -F 499 >text 2>said &
	recorder=$!
	until [ -s text ]; do sleep 0.02; done
	"$used" $program 2000
	kill -INT $recorder
	wait $recorder
	same "ended well" 0 $?
	kill $program
	has "what runs is there" "^    - +callers \\($program\\)\$" "$(<text)"
	has_not "idleness is not" '^    - +swapper' "$(<text)"
}

test_without_rights()
{
	need_restricted 1
	run "$PSTAT" profile -F 99 0.1
	same "its own processes" 0 "$status"
	has "is said" 'only your own processes: the whole machine needs perf_event_paranoid 0 or CAP_PERFMON' "$err"
	has "above all" 'of your own threads' "$out"
}

test_wrong_words()
{
	local words text

	while IFS='|' read -r words text; do
		# shellcheck disable=SC2086
		run "$PSTAT" profile $words
		same "$words" 129 "$status"
		has "$words: says why" "$text" "$err"
	done <<-'END'
	0|duration: '0' is not a number of seconds above 0
	-1|-1: there is no such option
	x|duration: 'x' is not a number of seconds above 0
	1 2|'2' is one argument too many
	--|after -- a command is missing
	-U -K 1|give one
	-F 9 -c 9 1|--frequency and --count: give one of them
	-f -j 1|two formats
	--stack-storage-size 0 1|stack-storage-size
	--stack-storage-size 1048577 1|stack-storage-size
	-i 0 1|--interval: '0' is not a number of seconds above 0
	END
}

run_tests
