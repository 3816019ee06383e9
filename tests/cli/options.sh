#!/bin/bash
# SPDX-License-Identifier: MIT
# The command line: subcommands, ways to write options, help, and every contradiction.
#
# rights: test_default_events test_as_perf test_default_events_of_cpus test_not_there
. "${0%/*}/../lib.sh"

test_stat_may_be_left_out()
{
	run "$PSTAT" -x, -e page-faults -- true
	has "options first" '^[0-9]+,,page-faults(:u)?,' "$err"
	run "$PSTAT" -- sh -c 'exit 7'
	same "-- first: the program's status" 7 "$status"
	has "-- first: it is counted" 'task-clock' "$err"
	has "-- first: it is the title" "'sh -c exit 7'" "$err"
	for word in top list stat; do # programs of these names, not commands
		mkdir -p bin
		ln -sf "$(type -P true)" bin/$word
		PATH=$PWD/bin:$PATH run "$PSTAT" -x, -e page-faults $word
		same "$word behind an option: status" 0 "$status"
		has "$word behind an option is a program" '^[0-9]+,,page-faults(:u)?,' "$err"
		PATH=$PWD/bin:$PATH run "$PSTAT" -- $word
		has "$word behind -- is a program" "stats for '$word'" "$err"
	done
	run "$PSTAT" stat -x, -e page-faults true
	has "with the word" '^[0-9]+,,page-faults(:u)?,' "$err"
}

test_options_end_at_the_command()
{
	run "$PSTAT" -x, -e page-faults sh -c 'echo "$1"' name -e
	same "options of the command are its own" "-e" "$out"
	run "$PSTAT" -x, -e page-faults -- echo -- -x
	same "only the first -- is pstat's" "-- -x" "$out"
}

test_ways_to_write()
{
	for words in "-e page-faults" "-epage-faults" "--event page-faults" "--event=page-faults" "--ev=page-faults"; do
		# shellcheck disable=SC2086 # words are to be split
		run "$PSTAT" stat -x, $words true
		has "$words" '^[0-9]+,,page-faults(:u)?,' "$err"
	done
	run "$PSTAT" stat -ix, -e page-faults true
	has "bundled" '^[0-9]+,,page-faults(:u)?,' "$err"
	run "$PSTAT" stat -x, -e page-faults -e context-switches true
	same "several -e are one list" "page-faults context-switches" \
		"$(printf '%s\n' "$err" | cut -d, -f3 | sed 's/:u$//' | xargs)"
	run "$PSTAT" stat -x '\t' -e page-faults true
	has "\\t is a tab" "^[0-9]+"$'\t\t'"page-faults" "$err"
}

test_help()
{
	run "$PSTAT" -h
	same "pstat -h: status" 0 "$status"
	has "pstat -h: lists subcommands" '^ +stat +count' "$out"
	run "$PSTAT" stat -h
	same "pstat stat -h: status" 0 "$status"
	has "pstat stat -h: usage" '^Usage: pstat stat ' "$out"
	has "pstat stat -h: options" '^ +-e, --event <list> ' "$out"
	same "pstat stat -h: nothing on stderr" "" "$err"
	for command in "" $("$PSTAT" --list-cmds) "stat record" "stat report"; do
		# shellcheck disable=SC2086 # none or two words
		run "$PSTAT" $command -h
		same "pstat $command -h: at most 80 columns below the usage" "" \
			"$(grep -v '^Usage: ' <<<"$out" | grep -E '.{81}')"
	done
	run "$PSTAT" stat -e cs --help nonsense
	same "--help wins over what follows" 0 "$status"
	run "$PSTAT" help stat
	has "pstat help stat, not on a terminal" '^Usage: pstat stat ' "$out"
	fails_with 129 "help: 'stta' is no command" "$PSTAT" help stta
	run "$PSTAT" --version
	has "--version" '^pstat version [0-9]' "$out"
	run "$PSTAT" version --build-options
	has "version --build-options" 'libpfm4 +\[ (on |OFF) \]' "$out"
}

test_wrong_words()
{
	fails_with 129 '^Usage: pstat ' "$PSTAT"
	fails_with 129 "^pstat: 'sta' is not a command of pstat" "$PSTAT" sta
	has "suggests" '^  did you mean pstat stat\? to count a program: pstat -- sta$' "$err"
	fails_with 129 '^pstat: --outptu: there is no such option' "$PSTAT" stat --outptu x true
	has "suggests" 'did you mean --output' "$err"
	fails_with 129 '^pstat: --per: this could be --percore-show-thread, --per-core, ' \
		"$PSTAT" stat --per true
	fails_with 129 "^pstat: --interval-print: 'abc' is not a number \(1 to [0-9]+ ms\)" \
		"$PSTAT" stat -I abc true
	fails_with 129 "^pstat: --timeout: '9' is out of range" "$PSTAT" stat --timeout 9 true
	fails_with 129 "^pstat: --delay: '-2' is out of range" "$PSTAT" stat -D -2 true
	fails_with 129 "^pstat: --repeat: '-1' is out of range" "$PSTAT" stat -r -1 true
	fails_with 129 '^pstat: --event: an argument is missing' "$PSTAT" stat -e
	fails_with 129 '^pstat: --field-separator: an empty separator' "$PSTAT" stat -x '' true
	fails_with 129 '^pstat: --field-separator: it has a quote' "$PSTAT" stat -x '"' true
	fails_with 129 "^pstat: unknown event 'nosuch'" "$PSTAT" stat -e cs,nosuch true
	fails_with 129 '\\x1b' "$PSTAT" stat -e $'\e[31mred' true
	has_not "control characters do not reach the terminal" $'\e' "$err"
	fails_with 129 '^pstat: completion: name the shell' "$PSTAT" completion
	fails_with 125 "^pstat: list: there is no topic, event or metric 'cahce'" "$PSTAT" list cahce
	has "suggests" 'did you mean cache' "$err"
}

# Never a program, whatever there is in $PATH: what a script means must not change with each new command.
test_bare_words()
{
	mkdir bin
	printf '#!/bin/sh\ntouch ran\n' >bin/lock
	chmod +x bin/lock
	cp bin/lock bin/cmd
	PATH=$PWD/bin:$PATH run "$PSTAT" lock
	same "a command of perf: status" 129 "$status"
	has "a command of perf: it says so" "^pstat: 'lock' is a command of perf that pstat does not have$" "$err"
	has "a command of perf: what to use" '^  instead: pstat record -a .*pstat report.*: pstat -- lock$' "$err"
	PATH=$PWD/bin:$PATH run "$PSTAT" cmd -x
	same "a program: status" 129 "$status"
	has "a program: how it is counted" '^  to count a program: pstat -- cmd$' "$err"
	run "$PSTAT" ./bin/cmd
	same "a path: status" 129 "$status"
	has "a path: how it is counted" '^  to count a program: pstat -- ./bin/cmd$' "$err"
	check_not "nothing was run" test -e ran
	run "$PSTAT" $'no\e[31msuch'
	has_not "control characters do not reach the terminal" $'\e' "$err"
}

# Each subcommand of perf is one of pstat's, or is told what to use instead.
test_commands_of_perf()
{
	local word mine

	need_perf
	mine=$("$PSTAT" -h | awk '/^Commands/ { on = 1; next } /^$/ { on = 0 } on { print $1 }')
	for word in $(perf --list-cmds); do
		if grep -qx -e "$word" <<<"$mine"; then
			check "$word is a command of pstat" "$PSTAT" $word -h
		else
			fails_with 129 "^  instead: .*: pstat -- $word$" "$PSTAT" $word
		fi
	done
}

# Options behind other words, but not behind those of a command that is run.
test_options_behind_words()
{
	local recording=$ROOT/tests/golden/plain.data words

	for words in "report main -g none --stdio -i" "evlist -v -i" "buildid-list -i"; do
		# shellcheck disable=SC2086 # words are to be split
		run "$PSTAT" $words "$recording"
		same "$words: status" 0 "$status"
	done
	fails_with 125 "no samples in a function 'main'" "$PSTAT" annotate main --stdio -i "$recording"
	fails_with 129 "script: 'word' is neither an option nor a script" "$PSTAT" script word -i "$recording"
	fails_with 129 "script: '-D' is neither an option nor a script" "$PSTAT" script -i "$recording" -- -D
	run "$PSTAT" diff "$recording" "$recording" -q -s dso
	same "diff: status" 0 "$status"
	run "$PSTAT" -x, -e page-faults sh -c 'echo "$0"' -e
	same "a command keeps its own" "-e" "$out"
}

# perf's options that mean nothing here are taken; those that cannot be had are refused with the reason. -h has both.
test_accepted_and_refused()
{
	local command row option argument tried=0

	for command in stat record report script annotate top list evlist buildid-list buildid-cache; do
		while read -r option argument; do
			case $argument in
			'<'*) argument=1 ;;
			*) argument= ;;
			esac
			[[ $option != *'[='* ]] || argument=
			# shellcheck disable=SC2086 # no word where there is no argument
			run "$PSTAT" $command ${option%%\[*} $argument
			same "$command $option: status" 125 "$status"
			has "$command $option: one line says why" \
				"^pstat: --[A-Za-z0-9-]+: perf has this option, pstat does not: [^ ]+ .* [^ ]+$" "$err"
			same "$command $option: the other line says what to use" "$(($(wc -l <<<"$err") - 1))" \
				"$(grep -c '^  instead: ' <<<"$err")"
			tried=$((tried + 1))
		done < <("$PSTAT" $command -h | awk '/^    -/ { row = $0 } / refused: / { print row }' |
			sed -nE 's/^    (-[A-Za-z], )?(--[^ ]+)( <[^>]*>)?.*/\2\3/p')
	done
	check "there are such rows" test $tried -ge 20
	fails_with 125 "^pstat: --group: perf has" "$PSTAT" record --group -- true
	has "record --group: braces, not another option" "^  instead: -e '\{a,b\}'$" "$err"
	run "$PSTAT" record -q -o x --proc-map-timeout 1000 --no-bpf-event --num-thread-synthesize 1 --no-buffering \
		--aio=2 --debuginfod --vmlinux /no/such --mmap-flush 1K --no-kcore --running-time -m 64,16 \
		--sample-mem-info --data-mmap -e cpu-clock:u -- true
	same "record: status" 0 "$status"
	same "record: what is accepted says nothing" "" "$err"
	run "$PSTAT" stat -x, --no-affinity --affinity --hybrid-merge --metric-no-group --metric-no-merge \
		--metric-no-threshold -e page-faults true
	same "stat: status" 0 "$status"
	same "stat: what is accepted says nothing" 1 "$(wc -l <<<"$err")"
	fails_with 129 "num-thread-synthesize: 'none' is not a number" "$PSTAT" record --num-thread-synthesize none true
	fails_with 129 "^pstat: --delay: 'abc' is not a number" "$PSTAT" record -D abc true
	fails_with 129 "^pstat: --mmap-pages: '64,x' is neither" "$PSTAT" record -m 64,x true
	rm -f x
}

# What perf takes before a command.
test_before_a_command()
{
	local recording=$ROOT/tests/golden/plain.data words

	for words in --no-pager "--debug verbose=1" --debug=x "--no-pager --paginate" -p "--buildid-dir bd"; do
		# shellcheck disable=SC2086 # words are to be split
		run "$PSTAT" $words evlist -i "$recording"
		same "$words: status" 0 "$status"
		same "$words: the command runs" cycles "$(head -n 1 <<<"$out")"
	done
	run "$PSTAT" --no-pager -x, -e page-faults -- true
	has "stat may be left out" '^[0-9]+,,page-faults' "$err"
	fails_with 129 "'sta' is not a command" "$PSTAT" --no-pager sta
	fails_with 129 "buildid-dir: an argument is missing" "$PSTAT" --buildid-dir
	fails_with 129 '^Usage: pstat ' "$PSTAT" --no-pager
	fails_with 125 "exec-path: perf has this option, pstat does not: pstat is a single program" "$PSTAT" --exec-path
	fails_with 125 "html-path: .*: the manual is not in HTML" "$PSTAT" --html-path
	has "what to use instead" '^  instead: pstat help$' "$err"
	run "$PSTAT" --list-cmds
	same "--list-cmds" "$("$PSTAT" -h | awk '/^Commands/ { on = 1; next } /^$/ { on = 0 } on { print $1 }')" "$out"
	run "$PSTAT" --list-opts
	has "--list-opts" '--no-pager .*--version$' "$out"
	run timeout 300 "$PSTAT" -v
	same "-v alone" "$("$PSTAT" --version)" "$out"
	run timeout 300 "$PSTAT" -vv
	same "-vv alone" "$("$PSTAT" version --build-options)" "$out"
	run "$PSTAT" -v -e page-faults true
	has "-v and more is stat's" 'page-faults' "$err"
	rm -rf "$HOME/.debug"
	run "$PSTAT" --buildid-dir "$PWD/bd" record -q -o x -e cpu-clock:u -- "$WORK/exact" spins:50
	check "the cache is there" test -d bd
	check_not "and nowhere else" test -e "$HOME/.debug"
	rm -rf bd x
}

test_contradictions()
{
	fails_with 129 '--output and --log-fd' "$PSTAT" stat -o x --log-fd 2 true
	fails_with 129 '--append: there is no --output' "$PSTAT" stat --append true
	fails_with 129 '--json-output and --field-separator' "$PSTAT" stat -j -x, true
	fails_with 129 '--null: it counts nothing' "$PSTAT" stat -n -e cs true
	fails_with 129 '--all-user and --all-kernel' "$PSTAT" stat --all-user --all-kernel true
	fails_with 129 'one way to add up' "$PSTAT" stat -a -A --per-core true
	fails_with 129 'they need -a or -C' "$PSTAT" stat -A true
	fails_with 129 'they need -a or -C' "$PSTAT" stat --per-cache true
	fails_with 129 "^pstat: --per-cache: 'L10' is none of L1 to L9$" "$PSTAT" stat -a --per-cache=L10 true
	fails_with 129 '--percore-show-thread: .* -A' "$PSTAT" stat -a --percore-show-thread true
	fails_with 129 "this machine has no unit 'nothing'" "$PSTAT" stat --cputype nothing true
	fails_with 129 'they need -a or -C' "$PSTAT" stat --per-socket -p 1 true
	fails_with 129 '--per-thread: it needs' "$PSTAT" stat --per-thread true
	fails_with 129 '--cgroup and --for-each-cgroup' "$PSTAT" stat -e cs -G a --for-each-cgroup b true
	fails_with 129 'cgroups are measured on CPUs' "$PSTAT" stat -p 1 --for-each-cgroup b true
	fails_with 129 'they need -I' "$PSTAT" stat --interval-count 2 true
	fails_with 129 'they need -I' "$PSTAT" stat --interval-clear true
	fails_with 129 '--repeat and --interval-print' "$PSTAT" stat -r 2 -I 100 true
	fails_with 129 'no command to repeat' "$PSTAT" stat -r 2 -p 1
	fails_with 129 'not both' "$PSTAT" stat -p 1 -t 1
	fails_with 129 'not both' "$PSTAT" stat -p 1 -a
}

test_default_events()
{
	run "$PSTAT" stat -x, true
	same "of a command" \
		"task-clock context-switches cpu-migrations page-faults cycles instructions branches branch-misses" \
		"$(printf '%s\n' "$err" | cut -d, -f3 | sed 's/:u$//; /^stalled/d' | xargs)"
	run "$PSTAT" stat -x, -dd -e page-faults true
	same "-dd adds to -e" "page-faults L1-dcache-loads L1-dcache-load-misses LLC-loads LLC-load-misses \
L1-icache-loads L1-icache-load-misses dTLB-loads dTLB-load-misses iTLB-loads iTLB-load-misses" \
		"$(printf '%s\n' "$err" | grep -v '^,' | cut -d, -f3 | sed 's/:u$//' | xargs)"
	run "$PSTAT" stat -n true
	has_not "-n counts nothing" 'task-clock|page-faults' "$err"
	has "-n has the time" 'seconds time elapsed' "$err"
}

test_as_perf()
{
	need_perf
	for options in "" -d -dd -ddd; do
		# shellcheck disable=SC2086 # none or one word
		mine=$("$PSTAT" stat -x, $options true 2>&1 | grep -v '^,' | cut -d, -f3 | sed 's/:u$//')
		# shellcheck disable=SC2086
		perfs=$(perf stat -x, $options true 2>&1 | grep -v '^,' | cut -d, -f3 | sed 's/:u$//')
		same "default events ${options:-without -d}" "$perfs" "$mine"
	done
}

test_default_events_of_cpus()
{
	need_paranoid 0
	run "$PSTAT" stat -x, -a true
	has "cpu-clock on CPUs" 'cpu-clock' "$err"
	has_not "no task-clock" 'task-clock' "$err"
}

# The manual's list of what is not there: what perf 6.1 has and pstat has not, and nothing else.
test_not_there()
{
	long_options() { grep -oE -e '--[a-z][a-z0-9-]+' | sort -u; }
	local listed of_perf of_pstat

	need_perf
	[[ $(perf version) == "perf version 6.1"* ]] || skip "needs perf 6.1, with which the manual compares"
	listed=$(sed -n '/^\.SS Not there/,/^\.SH/p' "$ROOT/man/pstat-stat.1" | tr -d '\\' | long_options)
	of_perf=$(perf stat -h 2>&1 | grep -oE -e '^ +(-[A-Za-z], )?--[a-z0-9-]+' | long_options)
	of_pstat=$("$PSTAT" stat -h | long_options)
	same "options of perf only" "$(comm -23 <(printf '%s\n' "$of_perf") <(printf '%s\n' "$of_pstat"))" "$listed"
	fails_with 125 'bpf-counters: perf has .*: counts are read by system calls' "$PSTAT" stat --bpf-counters true
	run "$PSTAT" stat record -o counts -e page-faults:u true
	run "$PSTAT" stat report -i counts
	has "stat record and stat report are there" ' page-faults:u' "$err"
	has_not "and not in the list" 'stat (record|report)' "$(sed -n '/^\.SS Not there/,/^\.SH/p' \
		"$ROOT/man/pstat-stat.1")"
}

run_tests
