#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat top: its tables are those of record and report of the same samples; how it ends; what it forgets.
#
# Who is sampled waits until all that sample it have begun, and shown an empty table; with -d 3600 the next one is the
# last, of all that came.
#
# rights: test_counts_are_those_of_record test_modes test_vdso test_threads_and_users test_all_cpus test_without_rights test_priority
. "${0%/*}/../lib.sh"

need_paranoid 2
exact=$WORK/exact callers=$WORK/callers

# sleeps PID: it waits for something.
sleeps() { [ "$(sed 's/.*) //' /proc/"$1"/stat | cut -d' ' -f1)" = S ]; }

# gate COMMAND...: a process ($held) that becomes COMMAND when it is opened. It waits already: no sample is of its start.
gate()
{
	rm -f go && mkfifo go
	bash -c 'read -r <"$1"; shift; exec "$@"' gate "$PWD/go" "$@" >/dev/null &
	held=$!
	until [ "$(tr '\0' ' ' <"/proc/$held/cmdline" | cut -d ' ' -f 1-2)" = 'bash -c' ] && sleeps $held; do sleep 0.02; done
}

# begin FILE OPTIONS...: top of the held process; its tables go to FILE. Returns when the first one is there.
begin()
{
	local file=$1

	shift
	: >"$file"
	"$PSTAT" top "${target:--p}" $held "$@" >"$file" 2>"$file.said" </dev/null &
	tops+=($!)
	until grep -q "^# top: " "$file" || [ ! -d /proc/$! ]; do sleep 0.02; done
}

# Opens the gate, and waits for the end of all: of the held one, and of those that sample it.
finish()
{
	local pid

	echo >go
	statuses=
	for pid in "${tops[@]}"; do
		wait "$pid"
		statuses+="$? "
	done
	wait $held
	tops=()
}
tops=()

begin_record() # FILE OPTIONS...
{
	local file=$1

	shift
	"$PSTAT" record -v -p $held -o "$file" "$@" 2>"$file.said" >/dev/null </dev/null &
	tops+=($!)
	# It waits for samples when all is switched on; a program that begins before may have lost its mappings.
	until grep -q "perf_event_open worked" "$file.said" && sleeps $! || [ ! -d /proc/$! ]; do sleep 0.02; done
}

# The sum of a column "Samples" of all tables of an event.
samples_of() { awk -v e="'$2'" '/^# Samples:/ { on = $0 ~ e } on && /^ +[0-9.]+%/ { n += $2 } END { print n + 0 }' "$1"; }

# The faults in the function that touches pages: its own time is in a table of its own.
pages_of()
{
	awk '/^# Samples: / { each = !/cpu-clock/ } each && /\[\.\] pages *$/ { n += $2 } END { print n + 0 }' "$1"
}

test_counts_are_those_of_record()
{
	gate "$exact" pages:5000 spins:300
	begin tables -d 3600 -e page-faults:u,cpu-clock:u -c 1000000 -e page-faults/period=1,name=each/u -n -E 1000
	finish
	same "it ended with its process" "0 " "$statuses"
	# Not at once: the kernel gives samples of two software events that are the same the id of one of them.
	run "$PSTAT" record -q -o x -e page-faults/period=1,name=each/u -- "$exact" pages:5000
	"$PSTAT" report --stdio -i x -s dso,symbol -n 2>/dev/null >reported
	check "each fault is there: $(pages_of tables) in top, $(pages_of reported) in report" \
		test "$(pages_of tables)" -ge 4900 -a "$(pages_of reported)" -ge 4900 -a "$(pages_of tables)" -le 5010
	has "a table for each event" "^# Samples: .* of event 'cpu-clock:u'" "$(<tables)"
	has "the events above" "^# top: .*, page-faults:u .*cpu-clock:u .*each each 1, process [0-9]+$" "$(<tables)"
	has "losses are told" "^# top: lost [0-9]+, missed [0-9]+, own CPU [0-9.]+%, [0-9]+ samples/s, throttled [0-9]+, page" \
		"$(<tables)"
}

# part NAME FILE: the percentage of a node of the call trees: the first that is there.
part() { sed -nE "s/.*--([0-9.]+)%--$1\$/\1/p" "$2" | head -n 1; }

test_callchains_are_those_of_record()
{
	local two one

	gate "$callers" known 500
	begin tables -d 3600 -e cpu-clock:u -g --no-children
	begin_record x -e cpu-clock:u -g
	finish
	same "both ended well" "0 0 " "$statuses"
	"$PSTAT" report --stdio -i x -s dso,symbol --no-children >reported 2>/dev/null
	two=$(part two_thirds tables)
	one=$(part two_thirds reported)
	# A part of two thirds is far from a half and from all, however few samples a busy machine's late timers take;
	# tests/unit/test_calltree.c has it to the sample.
	check "two thirds: ${two:-none} in top, ${one:-none} in report" \
		awk -v a="${two:-0}" -v b="${one:-0}" 'BEGIN { exit !(a > 50 && a < 85 && b > 50 && b < 85) }'
	has "the hottest one is there" '^ +[0-9.]+% +callers +\[\.\] burn' "$(<tables)"
}

# Each table has its own samples only: what they have together is what was sampled.
test_zero()
{
	local n

	gate "$exact" pages:2000 sleeps:300 pages:2000 sleeps:300 pages:2000
	begin tables -z -d 0.05 -e page-faults/period=1,name=each/u -n -E 1000
	finish
	n=$(samples_of tables each)
	same "it ended with its process" "0 " "$statuses"
	check "$n faults in $(grep -c '^# top' tables) tables" test "$n" -ge 6000 -a "$n" -le 6400
}

test_forgets()
{
	local n=0 left

	gate "$exact" pages:4000 pauses
	begin tables -d 0.02 -e page-faults/period=1,name=each/u -n -E 1000
	echo >go
	until [ "$(samples_of tables each)" -ge 4000 ] && sleeps $held; do sleep 0.02; done
	n=$(grep -c '^# top' tables)
	until [ "$(grep -c '^# top' tables)" -gt $((n + 30)) ]; do sleep 0.02; done
	kill -9 $held
	wait "${tops[0]}"
	wait $held 2>/dev/null
	tops=()
	left=$(tac tables | awk '/^ +[0-9.]+%/ { n += $2 } /^# top/ { print n + 0; exit }')
	check "of 4000 faults an eighth goes behind each of more than 30 tables: $left are left" test "$left" -lt 200
}

# Who could not print for long forgets for the tables that did not come: all, where these were eight or more. Before
# that, all faults are in tables: the last ones are on their way for a table or two.
test_late_tables()
{
	local n left

	gate "$exact" pages:4000 pauses
	begin tables -d 0.05 -e page-faults/period=1,name=each/u -n -E 1000
	echo >go
	until [ "$(samples_of tables each)" -ge 4000 ] && sleeps $held; do sleep 0.02; done
	n=$(grep -c '^# top' tables)
	until [ "$(grep -c '^# top' tables)" -gt $((n + 5)) ]; do sleep 0.02; done
	kill -STOP "${tops[0]}"
	sleep 0.6
	n=$(grep -c '^# top' tables)
	kill -CONT "${tops[0]}"
	until [ "$(grep -c '^# top' tables)" -gt $((n + 3)) ]; do sleep 0.02; done
	kill -9 $held
	wait "${tops[0]}"
	wait $held 2>/dev/null
	tops=()
	left=$(awk -v n=$((n + 3)) '/^# top/ { tables++ } tables == n && /^ +[0-9.]+%/ { sum += $2 } END { print sum + 0 }' tables)
	check "of 4000 faults $left are left in the third table behind a long one" test "$left" -lt 100
}

test_modes()
{
	need_paranoid 1
	gate "$exact" pages:20000 spins:300
	begin kernel -d 3600 -e cpu-clock -U -E 100
	begin user -d 3600 -e cpu-clock -K -E 100
	finish
	has "-U: the kernel" '\[k\] ' "$(<kernel)"
	has_not "-U: no user space" '%.*\[\.\] ' "$(<kernel)"
	has "-K: user space" '\[\.\] ' "$(<user)"
	has_not "-K: no kernel" '%.*\[k\] ' "$(<user)"
	check "percentages are of the rest" awk '/^ +[0-9.]+%/ { n += $1 } END { exit !(n > 99 && n < 101) }' user
}

# The rows of the last table: the held process may have had its first faults before it was sampled, or behind that.
rows_of() { awk '/^# top: / { n = 0 } /^ .*%/ { n++ } END { print n + 0 }' "$1"; }

test_rows()
{
	gate "$exact" pages:3000 spins:100
	begin two -d 3600 -e page-faults/period=1,name=each/u -E 2 -n
	finish
	same "-E 2" 2 "$(rows_of two)"
	gate "$exact" pages:3000 spins:100
	begin often -d 3600 -e page-faults/period=1,name=each/u -E 1000 -f 500 -n
	finish
	same "-f 500" 1 "$(rows_of often)"
	gate "$exact" pages:3000 spins:100
	begin levels -d 3600 -e page-faults/period=1,name=each/u -s comm,dso --hierarchy -E 1
	finish
	has "hierarchy" '^ +[0-9.]+% +exact' "$(<levels)"
}

# The kernel's code that it maps into each process is in no file, and has names all the same.
test_vdso()
{
	gate "$exact" clocks:500
	begin tables -d 3600 -e cpu-clock:u -E 100
	finish
	grep -q '%.*\[vdso\] ' tables || skip "needs a clock that is read in the vdso"
	has "its function" '% +\[vdso\] +\[\.\] __(vdso|kernel)_clock_gettime' "$(<tables)"
	has_not "no address is left" '% +\[vdso\] +\[\.\] 0x' "$(<tables)"
	has_not "nothing is missing" 'vdso' "$(<tables.said)"
}

test_hostile_names()
{
	local bad=$'\e]0;x\a\e[31m'

	gate "$exact" "name:1:$bad" pages:2000
	begin tables -d 3600 -e page-faults/period=1,name=each/u -s comm -E 100
	finish
	has "printable" '\\x1b\]0;x' "$(<tables)"
	has_not "no escape sequences" $'\e' "$(<tables)"
}

test_threads_and_users()
{
	gate "$exact" threads:2 pages:1000
	target=-t begin tables -d 3600 -e page-faults/period=1/u -s pid
	finish
	has "threads in the line above" "^# top: .*, thread $held$" "$(<tables)"
}

test_signals()
{
	local sig want

	for want in INT:0 TERM:143 HUP:129; do
		sig=${want%:*}
		: >tables
		gate "$exact" pauses
		begin tables -e cpu-clock:u -d 0.05
		until grep -q '^# top' tables; do sleep 0.02; done
		# A shell's child in the background ignores SIGINT: top does not.
		kill -s $sig "${tops[0]}"
		wait "${tops[0]}"
		same "SIG$sig: status" "${want#*:}" $?
		kill -9 $held
		wait $held 2>/dev/null
		tops=()
		has_not "SIG$sig: no complaint" 'cannot|fail' "$(<tables.said)"
	done
}

test_closed_pipe()
{
	gate "$exact" pauses
	"$PSTAT" top -p $held -e cpu-clock:u -d 0.05 -q 2>said </dev/null | head -n 1 >first
	same "its status" 0 "${PIPESTATUS[0]}"
	has "the first line" '^# top: ' "$(<first)"
	same "nothing is said" '' "$(<said)"
	kill -9 $held
	wait $held 2>/dev/null
	[ -c /dev/full ] || skip "needs /dev/full"
	gate "$exact" pauses
	"$PSTAT" top -p $held -e cpu-clock:u -q >/dev/full 2>said </dev/null
	same "no room: its status" 125 $?
	has "no room: the reason" 'standard output: cannot write: No space' "$(<said)"
	kill -9 $held
	wait $held 2>/dev/null
}

test_nobody_there()
{
	"$exact" & wait $!
	fails_with 125 "process $!: there is none" "$PSTAT" top --once -p $!
}

test_all_cpus()
{
	need_paranoid 0
	"$exact" mortal spins:100000 &
	run timeout 300 "$PSTAT" top --once -e cpu-clock -E 5
	same "status" 0 "$status"
	has "says so" '^# top: .*, all CPUs$' "$out"
	has "rows" '^ +[0-9.]+%' "$out"
	run timeout 300 "$PSTAT" top --once -C 0 -e cpu-clock -s cpu -d 0.5
	kill -9 %1
	has "one CPU" '^ +100.00% +000' "$out"
	has "says which" '^# top: .*, CPU 0$' "$out"
}

# The CPU on which nothing runs is in no row, nor in what percentages are of.
test_idle_tasks()
{
	need_paranoid 0
	"$exact" mortal spins:100000 &
	run timeout 300 "$PSTAT" top --once -a -g -e cpu-clock -s pid -d 0.5
	has "-g leaves them out, and says so" '^# top: .*, without idle tasks \(-I\)$' "$out"
	has_not "no row" '^ .* 0:' "$out"
	has "there are others" '^ +[0-9.]+%.* [1-9][0-9]*:' "$out"
	run timeout 300 "$PSTAT" top --once -a -g -I -e cpu-clock -s pid
	has_not "-I" 'without idle' "$out"
	run timeout 300 "$PSTAT" top --once -a -e cpu-clock -s pid
	has_not "without -g" 'without idle' "$out"
	run timeout 300 "$PSTAT" top --once -g -p $! -e cpu-clock -s pid
	has_not "a process is not idle" 'without idle' "$out"
	kill -9 %1
}

test_time_off_the_cpu()
{
	need_paranoid 1
	"$exact" mortal sleeps:100000000 &
	# On a busy machine it may not have come to its turn before the table.
	for _ in {1..20}; do
		run timeout 60 "$PSTAT" top --once --off-cpu -p $! -s sym -E 3 --no-children
		! grep -q '^ .*%' <<<"$out" || break
	done
	same "status" 0 "$status"
	has "the default event is not there" '^# top: .*, offcpu-time each 1, process' "$out"
	has "what waited" '^ +[0-9.]+% +\[\.\] ' "$out"
	run timeout 60 "$PSTAT" top --once --off-cpu --off-cpu-thresh 1000000 -p $! -s sym
	kill -9 %1
	has_not "no wait is so long" '^ +[0-9.]+% ' "$out"
}

test_duration()
{
	run timeout 60 "$PSTAT" top --stdio -p $$ -e page-faults:u --duration 0.3
	same "status" 0 "$status"
	fails_with 129 "--duration: '0' is not a number of seconds above 0" "$PSTAT" top --duration 0 -p $$
}

# The same reason and the same help as record gives.
test_without_rights()
{
	need_restricted 1
	run "$PSTAT" record -a -e cpu-clock -o x -- true
	recorded=$err
	run "$PSTAT" top --once -e cpu-clock
	same "status" 125 "$status"
	same "as record" "$recorded" "$err"
	has "a way out" 'perf_event_paranoid' "$err"
}

# All threads of pstat run before others, and who may not ask for it is told why.
test_priority()
{
	local threads

	gate "$exact" pauses
	begin tables -r 7 -e cpu-clock:u -d 0.05
	threads=$(cat /proc/"${tops[0]}"/task/*/stat 2>/dev/null | sed 's/.*) //' | awk '{ print $38, $39 }' | sort -u)
	kill -INT "${tops[0]}"
	wait "${tops[0]}"
	status=$?
	kill -9 $held
	wait $held 2>/dev/null
	tops=()
	if grep -q 'not permitted' tables.said; then
		same "it may not: status" 125 "$status"
		has "the reason" 'realtime: cannot run with SCHED_FIFO and priority 7: ' "$(<tables.said)"
		skip "needs CAP_SYS_NICE"
	fi
	same "status" 0 "$status"
	same "priority and policy" "7 1" "$threads"
}

# perf's options that have no effect here, and those that are refused.
test_options_of_perf()
{
	gate "$exact" pages:2000
	begin tables -d 3600 -e page-faults/period=1,name=each/u -n --overwrite --num-thread-synthesize 4 \
		--proc-map-timeout 500 --no-bpf-event --source --asm-raw --demangle-kernel --objdump /none -M intel
	finish
	same "accepted" "0 " "$statuses"
	check "they change nothing: $(pages_of tables)" test "$(pages_of tables)" -ge 1900
	run "$PSTAT" top --once --stitch-lbr -d 0.1 -g -e page-faults:u -p $$
	has "--stitch-lbr, where no branch registers hold calls" "^pstat: --stitch-lbr: the recording has no call stacks" "$err"
	fails_with 125 "--sym-annotate: perf has this option, pstat does not: code is shown in the browser" "$PSTAT" top --sym-annotate main
	fails_with 125 "--dump-symtab: perf has this option, pstat does not: symbol tables are not printed" "$PSTAT" top -D
	fails_with 129 "realtime: '100' is out of range" "$PSTAT" top -r 100
	fails_with 129 '--prefix-strip goes with --prefix$' "$PSTAT" top --prefix-strip 2
}

test_no_names_are_guessed()
{
	fails_with 129 "top: 'sleep' is not an option" "$PSTAT" top sleep
	fails_with 129 "delay: '0' is not a number of seconds" "$PSTAT" top -d 0
	fails_with 129 "delay: 'soon' is not" "$PSTAT" top -d soon
	fails_with 129 "entries: '0' is out of range" "$PSTAT" top -E 0
	fails_with 129 "call graph 'nosuch': not known" "$PSTAT" top --call-graph nosuch
	fails_with 129 "bytes of stack" "$PSTAT" top --call-graph dwarf,9999999
	fails_with 125 "nosuchkey" "$PSTAT" top --once -s nosuchkey -e cpu-clock:u -p $$
	fails_with 125 "nosuchevent" "$PSTAT" top --once --switch-on nosuchevent -e cpu-clock:u -p $$
}

run_tests
