#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat trace: the calls of programs that say which ones they make; beside strace and perf trace; from files.
#
# run: once
. "${0%/*}/../lib.sh"

need_tracefs
need_paranoid -1
work=$WORK/syscalls

# What stands behind the thread, with one blank before "=".
calls() { sed -E 's/^.{24}[^/]*\/[0-9]+ //; s/ += / = /; s/ +\.\.\.$/ .../' "$@"; }
# Lines from one getpgid() to the next.
between() { sed -n '/ getpgid(/,/ getpgid(/p' "$1"; }
no_texts=$(why_no_texts)
# Texts, and the pointers to them, in one form; descriptors without their files.
without_texts()
{
	sed -E 's/(name|buf): ("([^"\\]|\\.)*"|0x[0-9a-f]+)/\1: TEXT/; s/(fd: [0-9]+)<[^>]*>/\1/g' "$@"
}
as_known() { if [ -n "$no_texts" ]; then without_texts "$@"; else cat "$@"; fi; }

test_arguments_and_results()
{
	check "runs" "$PSTAT" trace -o lines "$work" calls
	"$PSTAT" trace -o lines "$work" calls >expected
	same "each call, its arguments, what it returned" "$(as_known expected)" "$(between lines | calls | as_known)"
	check "times and durations" grep -Eq '^ +[0-9]+\.[0-9]{3} \( *[0-9]+\.[0-9]{3} ms\): syscalls/[0-9]+ openat' lines
	same "the first one was begun before" 1 "$(grep -Ec '^ +\? \( {9}\): .*\.\.\. \[continued\]: execve\(\) += 0$' lines)"
	same "the last one does not return" "exit_group(error_code: 0) = ?" "$(tail -n 1 lines | calls)"
	run "$PSTAT" trace -o - -e getpgid "$work" calls
	same "-o -: standard output" 2 "$(grep -c ' getpgid(' <<<"$out")"
	run "$PSTAT" trace -e getpgid "$work" calls
	same "standard error" 2 "$(grep -c ' getpgid(' <<<"$err")"
	cpu=$(taskset -cp $$ | sed 's/.*[ ,-]//')
	"$PSTAT" trace -o lines --show-cpu -e getpgid taskset -c "$cpu" "$work" faults >expected
	same "--show-cpu" 2 "$(grep -Ec "^ +[0-9.]+ \\[$(printf %03d "$cpu")\\] \\( *[0-9.]+ ms\\): syscalls/[0-9]+ getpgid\\(" lines)"
	run "$PSTAT" trace -q sh -c 'exit 3'
	same "the status is the command's" 3 "$status"
}

test_beside_strace()
{
	need_cmd strace
	strace -o by_strace true 2>why || skip "needs a strace that may trace: $(head -n 1 why)"
	strace -f -o by_strace "$work" calls >/dev/null
	"$PSTAT" trace -o lines "$work" calls >/dev/null
	# Name and result; addresses differ from run to run, and strace shows flags and times of results.
	sed -nE 's/^[0-9]+ +([a-z0-9_]+)\(.*\) += (-?[0-9]+( E[A-Z]+)?|\?).*$/\1 \2/p' by_strace | grep -v '^execve ' >theirs
	calls lines | sed -nE 's/^([a-z0-9_]+)\(.*\) = (-?[0-9]+( E[A-Z]+)?|\?).*$/\1 \2/p' >ours
	for file in ours theirs; do # what the C library asks at random, and is told
		sed -i -E 's/^(fcntl|set_tid_address|brk|mmap|getrandom|futex) .*/\1/; s/^syscall_0x1f4/syscall_500/' $file
	done
	same "names and results, in order" "$(<theirs)" "$(<ours)"
}

test_selection()
{
	"$PSTAT" trace -o lines -e 'lseek,dup*' "$work" calls >/dev/null
	same "names and patterns" "dup3 lseek lseek" "$(calls lines | cut -d '(' -f 1 | sort | xargs)"
	"$PSTAT" trace -o lines -e %network "$work" calls >/dev/null
	same "a class" "socket" "$(calls lines | cut -d '(' -f 1 | xargs)"
	"$PSTAT" trace -o lines -e '!%memory,read,close,execve' "$work" calls >/dev/null
	check_not "all but these" grep -Eq ' (mmap|munmap|brk|read|close|execve)\(' lines
	check "the others" grep -Eq ' lseek\(' lines
	"$PSTAT" trace -o lines --failure -e getpgid,close,lseek "$work" calls >/dev/null
	same "--failure" "getpgid(pid: 2147483633) = -1 ESRCH (No such process)
close(fd: -1) = -1 EBADF (Bad file descriptor)
getpgid(pid: 2147483633) = -1 ESRCH (No such process)" "$(calls lines | grep -v 'lseek.*EINVAL')"
	"$PSTAT" trace -o lines --duration 0.9 -e clock_nanosleep "$work" signal
	same "--duration" 1 "$(wc -l <lines)"
	"$PSTAT" trace -o lines --duration 600000 "$work" signal
	same "--duration: none is so long" 0 "$(wc -l <lines)"
}

test_running_process()
{
	local i

	"$work" on &
	pid=$!
	# Of the call that goes on when tracing begins one half may be missing.
	"$PSTAT" trace -p $pid -o lines --max-events 5 -e getpgid
	same "--max-events" 5 "$(grep -c getpgid lines)"
	check "-p" test "$(grep -c " getpgid(pid: 2147483633) .*ESRCH" lines)" -ge 4
	"$PSTAT" trace -t $pid --no-comm -o lines --max-events 3
	has "-t, --no-comm" "ms\\): $pid getpgid\\(" "$(<lines)"
	for ((i = 0; i < 10; i++)); do "$PSTAT" trace -t $pid -o lines --max-events 3; cat lines; done >all
	same "both halves of calls are traced from the same moment on" "" "$(grep '\.\.\.$' all)"
	"$PSTAT" trace -a -o lines --max-events 3 -e getpgid
	has "-a" "syscalls/$pid getpgid\\(" "$(<lines)"
	"$PSTAT" trace -p $pid -T -o lines --max-events 1 -e getpgid
	local uptime_ms
	uptime_ms=$(awk '{ print int($1 * 1000) }' /proc/uptime)
	check "-T: a clock's time" awk -v after=1000 '{ exit !($1 > after) }' lines
	check "-T: which is not later than now" awk -v now="$uptime_ms" '{ exit !($1 < now + 60000) }' lines
	kill $pid
}

# Texts that arguments point at: hostile ones, cut ones, and pointers that nobody can read.
test_texts()
{
	[ -z "$no_texts" ] || skip "needs BPF programs: $no_texts"
	"$PSTAT" trace -o lines "$work" texts >expected
	same "texts, and pointers to none" "$(<expected)" "$(between lines | calls)"
	"$PSTAT" trace -e openat,getpgid -o lines "$work" texts >expected
	same "with a filter" "$(grep -v renameat2 expected)" "$(between lines | calls)"
	"$PSTAT" trace -j -o lines.json "$work" texts >expected
	check "each line is JSON" sh -c "'$PYTHON' '$ROOT/tests/cli/json_valid.py' <lines.json"
	same "its texts are those of the lines" "$(grep -o 'filename: .*, flags: RD' expected)" "$("$PYTHON" -c '
import json, sys
for call in map(json.loads, open(sys.argv[1])):
    if call["args"].get("flags") == "RDONLY|PATH" if "args" in call else False:
        print("filename: %s, flags: RD" % call["args"]["filename"])' lines.json)"
	"$PSTAT" trace -a -e openat -o lines cat /nonexistent/all_tasks 2>why
	check "-a" grep -q ': cat/.* openat(dfd: CWD, filename: "/nonexistent/all_tasks"' lines
	"$PSTAT" trace -e openat -o lines sh -c 'for i in 1 2 3; do cat /nonexistent/$i & cat /nonexistent/$i; wait; done' 2>why
	same "children of a task, whoever has ended before" "2 2 2" \
		"$(for i in 1 2 3; do grep -c "\"/nonexistent/$i\"" lines; done | xargs)"
	same "each path is known" 0 "$(grep -c 'filename: 0x' lines)"
}

# What calls read and write: cut, out of reach, in memory only later; addresses of sockets; arrays of strings.
test_buffers()
{
	[ -z "$no_texts" ] || skip "needs BPF programs: $no_texts"
	"$PSTAT" trace -o lines "$work" buffers >expected
	between lines | calls | sed -E 's/(fd: [0-9]+)<[^>]*>/\1<FILE>/' >printed
	# Between them are calls that set the stage.
	same "buffers, addresses, strings" "$(<expected)" "$(awk '
		NR == FNR { expected[NR] = $0; next } $0 == expected[at + 1] { at++; print }' expected printed)"
	"$PSTAT" trace --string-limit 3 -o lines -e write,getpgid "$work" buffers >expected
	has "--string-limit" 'write\(fd: -1, buf: "abc"\.\.\., count: 32\)' "$(<lines)"
	"$PSTAT" trace --string-limit 0 -o lines -e write,connect "$work" buffers >expected
	check_not "--string-limit 0: no buffers" grep -q 'buf: "' lines
	check "but addresses" grep -q 'uservaddr: { .family: INET, port: 258, ' lines
	"$PSTAT" trace -j -o lines.json -e connect,execve "$work" buffers >expected
	check "each line is JSON" sh -c "'$PYTHON' '$ROOT/tests/cli/json_valid.py' <lines.json"
	"$PSTAT" trace record -q --string-limit 5 -o ours.data "$work" buffers >expected
	"$PSTAT" trace -i ours.data -e write -o lines
	has "of a file" 'write\(fd: -1, buf: "abcde"\.\.\., count: 32\)' "$(<lines)"
}

# Of those that others follow at the same time nothing is copied, as it is of those of all CPUs.
test_whose_texts()
{
	[ -z "$no_texts" ] || skip "needs BPF programs: $no_texts"
	sh -c 'while ! test -e /nonexistent/of_another; do :; done' &
	another=$!
	"$PSTAT" stat -e task-clock -p $another 2>/dev/null &
	follower=$!
	"$PSTAT" trace record -q -o ours.data sh -c 'sleep 0.5; cat /nonexistent/own & wait' 2>why
	"$PSTAT" trace record -q -a -o all.data sleep 0.1
	"$PSTAT" trace record -q -p $another -o its.data sleep 0.1
	kill -INT $follower
	kill $another
	check_not "a command's: not what another run follows" grep -q of_another ours.data
	check "but what its children do" grep -q /nonexistent/own ours.data
	check "all CPUs'" grep -q of_another all.data
	check "-p" grep -q of_another its.data
}

# Files of descriptors, by the names that the kernel has for them.
test_files_of_descriptors()
{
	[ -z "$no_texts" ] || skip "needs BPF programs: $no_texts"
	"$PSTAT" trace -o lines "$work" files >expected
	same "files of all kinds" "$(<expected)" "$(between lines | calls)"
	exec 7</dev/null 8<"$work"
	"$PSTAT" trace -e dup2,dup3 -o lines sh -c 'read x <&7; read x <&8' 2>why
	has "open before the trace began, and no call that opens is traced" \
		"dup[23]\\(oldfd: 8<$(readlink -f "$work")>, newfd: 0" "$(<lines)"
	exec 7<&- 8<&-
}

test_texts_beside_strace()
{
	[ -z "$no_texts" ] || skip "needs BPF programs: $no_texts"
	need_cmd strace
	strace -o by_strace true 2>why || skip "needs a strace that may trace: $(head -n 1 why)"
	program=(sh -c 'cat /nonexistent/a; ls -d /etc /nonexistent/b; mkdir /nonexistent/c; exec ls -d .')
	strace -f -s 9999 -o by_strace -e %file "${program[@]}" >/dev/null 2>&1
	"$PSTAT" trace -o lines -e %file "${program[@]}" >/dev/null 2>&1
	texts() { sed -nE 's/^([a-z0-9_]+)\(([^"]*)("([^"]*)").*/\1 \4/p' "$@"; }
	# The first exec was before, and processes run side by side.
	same "paths" "$(sed 's/^[0-9]* *//' by_strace | texts | tail -n +2 | sort)" "$(calls lines | texts | sort)"
	program=(sh -c 'echo some words that are longer than "thirty-two" letters; exec echo a "b c"')
	strace -f -o by_strace -e write,execve "${program[@]}" >/dev/null
	"$PSTAT" trace -o lines -e write,execve "${program[@]}" >/dev/null
	values() { sed -nE 's/^(write|execve)\([^"]*("[^0]*)(0x.* \/\* |[0-9]+\))([0-9]*).*/\1 \2\4/p' "$@"; }
	same "buffers, arguments, numbers of variables" "$(sed 's/^[0-9]* *//' by_strace | values | tail -n +2)" \
		"$(calls lines | sed -E 's/(argv|envp|count): //g' | values)"
}

test_vectors_beside_strace()
{
	[ -z "$no_texts" ] || skip "needs BPF programs: $no_texts"
	need_cmd strace
	calls=readv,writev,pwritev,sendmsg,recvmsg
	strace -o by_strace -e $calls "$work" buffers >expected 2>why || skip "needs a strace that may trace: $(head -n 1 why)"
	"$PSTAT" trace -o lines -e $calls "$work" buffers >expected
	each_buffer() { grep -oE '^[a-z]+\(|base(=|: )"[^"]*"(\.\.\.)?, [a-z_]*len(=|: )[0-9]+' | sed -E 's/(=|: |iov_)//g'; }
	same "buffers of arrays and messages" "$(each_buffer <by_strace)" "$(calls lines | each_buffer)"
	check "which are some" [ "$(each_buffer <by_strace | grep -c '^base')" -ge 40 ]
	each_name() { sed -nE 's/.*name(=|: )\{.*port(=htons\(|: )([0-9]+).*addr(=inet_addr\("|: )([0-9.]+).*/\3 \5/p'; }
	same "addresses of messages" "$(each_name <by_strace)" "$(each_name <lines)"
}

# A thread of a process that ends is told of, whichever way the kernel ends its call.
test_ends_inside_a_call()
{
	"$PSTAT" trace -o lines "$work" killed >tid
	has "its call" "syscalls/$(<tid) read\\(fd: [0-9]+(<pipe:\\[[0-9]+\\]>)?, buf: 0x[0-9a-f]+, count: 1\\) +(= -1 ERESTARTSYS .*|\\.\\.\\.)\$" \
		"$(<lines)"
}

test_signals()
{
	"$PSTAT" trace -o lines -e %signal,clock_nanosleep "$work" signal
	same "what a signal does" "rt_sigaction(sig: USR1) = 0
tgkill(sig: USR1) = 0
rt_sigreturn() = 0
clock_nanosleep(which_clock: MONOTONIC) = -1 ERESTART_RESTARTBLOCK (Interrupted by signal)
rt_sigreturn() = -1 EINTR (Interrupted system call)" \
		"$(calls lines | grep -A 99 rt_sigaction | grep -v rt_sigprocmask |
			sed -E 's/, (act|flags): [^)]*\)/)/; s/tgid.*sig:/sig:/')"
}

test_summary()
{
	run "$PSTAT" trace -s --errno-summary --hist "$work" calls
	has "its thread" '^ syscalls \([0-9]+\), [0-9]+ calls, 100\.0%$' "$err"
	has "calls and errors" '^   faccessat +2 +1 ' "$err"
	has "each error" '^ +ESRCH: 2$' "$err"
	has "how long" '^   getpgid: 2 durations$' "$err"
	has "what never returns has no duration" '^   exit_group +1 +0 +- +-' "$err"
	check_not "no lines" grep -q 'ms): ' <<<"$err"
	run "$PSTAT" trace -S --max-summary 1 --summary-mode total -e getpgid,lseek "$work" calls
	same "-S: lines" 4 "$(grep -c 'ms): ' <<<"$err")"
	same "-S: one row of one table" 1 "$(grep -Ec '^   (getpgid|lseek) +2 ' <<<"$err")"
	has "-S: of all" '^ all 1 thread, 4 calls$' "$err"
}

# Tables again and again: each call is in one of them.
test_intervals()
{
	local program=(sh -c '"$0" many 100; sleep 0.5; "$0" many 50' "$work")
	all_calls() { awk '/^ syscalls /{ own = 1 } /^ (sh|sleep|all) /{ own = 0 } own && $1 == "getppid" { n += $2 } END { print n }' "$@"; }

	"$PSTAT" trace -I 200 -e getppid -o tables "${program[@]}"
	check "several tables" [ "$(grep -c '^# [0-9.]* to [0-9.]* s$' tables)" -ge 3 ]
	same "the first" "# 0.000 to 0.200 s" "$(head -n 1 tables)"
	[ "$(grep -c LOST tables)" != 0 ] || same "each call is in one" 150 "$(all_calls tables)"
	"$PSTAT" trace record -q -o ours.data "${program[@]}"
	"$PSTAT" trace -s -i ours.data -e getppid -o sums
	"$PSTAT" trace -I 200 -i ours.data -e getppid -o tables
	same "of a file" "$(all_calls sums)" "$(all_calls tables)"
	check "also there in parts" [ "$(grep -c '^# ' tables)" -ge 2 ]
	"$PSTAT" trace -I 200 -j -i ours.data -e getppid -o tables.json
	check "each line is JSON" sh -c "'$PYTHON' '$ROOT/tests/cli/json_valid.py' <tables.json"
	same "as JSON" '{"begin":0.000,"end":0.200}' "$(head -n 1 tables.json)"
	"$PYTHON" "$ROOT/tests/cli/on_screen.py" 120 2 "$PSTAT" trace -I 200 --interval-clear -i ours.data >screen
	same "--interval-clear: once for each table" "$(grep -ao $'\033\[H\033\[2J# ' screen | wc -l)" \
		"$("$PSTAT" trace -I 200 -o - -i ours.data | grep -c '^# ')"
	check "what the screen has room for" [ "$(wc -l <screen)" -lt $((24 * $(grep -ac '# [0-9.]* to' screen))) ]
	check_not "elsewhere nothing is cleared" grep -aq $'\033' tables
	fails_with 129 "it needs -I" "$PSTAT" trace --interval-clear true
}

# Calls of programs that move into a cgroup before they begin.
test_cgroups()
{
	make_cgroup
	local both='(echo $BASHPID >"$1/in/cgroup.procs" && exec "$2" many 100) &&
		(echo $BASHPID >"$1/out/cgroup.procs" && exec "$2" many 50)'

	"$PSTAT" trace -e getppid --summary-mode cgroup -o sums bash -c "$both" both "$cgroup" "$work" ||
		skip "needs a cgroup that takes processes"
	counts() { awk '/^ cgroup /{ path = $2; sub(/,$/, "", path) } $1 == "getppid" { print path, $2 }' "$@" | grep pstat_test; }
	same "each cgroup" "/$in 100
/$out 50" "$(counts sums)"
	has "the head of a table" "^ cgroup /$in, 100 calls, [0-9.]+%\$" "$(<sums)"
	has "the sum" "^ all [0-9]+ cgroups, 1[5-9][0-9] calls\$" "$(<sums)"
	"$PSTAT" trace record -q --all-cgroups -o ours.data bash -c "$both" both "$cgroup" "$work"
	"$PSTAT" trace -i ours.data -e getppid --summary-mode cgroup -o sums
	same "of a file" "/$in 100
/$out 50" "$(counts sums)"
	"$PSTAT" trace -j -i ours.data -e getppid --summary-mode cgroup -o sums.json
	has "as JSON" "{\"cgroup\":\"/$out\",\"cgroup_id\":[0-9]+,\"call\":\"getppid\",\"calls\":50," "$(<sums.json)"
	"$PSTAT" trace record -q -o ours.data true
	fails_with 125 "the samples do not have their cgroup" "$PSTAT" trace -i ours.data --summary-mode cgroup
	[ -z "$no_texts" ] || return 0
	# The kernel may have another hierarchy for perf events, whose cgroups no program can be told.
	sh -c 'echo $$ >"$0/in/cgroup.procs" && while ! test -e /nonexistent/inside; do :; done' "$cgroup" &
	inside=$!
	sh -c 'while ! test -e /nonexistent/outside; do :; done' &
	outside=$!
	for _ in {1..100}; do
		grep -q . "$cgroup/in/cgroup.procs" && break
		sleep 0.1
	done
	"$PSTAT" trace record -G "$in" -o ours.data sleep 0.3 2>why
	kill $inside $outside
	wait $inside $outside 2>/dev/null
	check_not "-G: nothing of others is copied" grep -q /nonexistent/outside ours.data
	grep -q "what pointers point at is not known" why || check "of its tasks" grep -q /nonexistent/inside ours.data
}

test_json()
{
	"$PSTAT" trace -j -o lines.json "$work" calls >expected
	check "each line is JSON" sh -c "'$PYTHON' '$ROOT/tests/cli/json_valid.py' <lines.json"
	"$PYTHON" - lines.json >by_json <<-'END'
		import json, sys
		inside = False
		for call in map(json.loads, open(sys.argv[1])):
		    if inside or call["call"] == "getpgid":
		        print("%s(%s) = %s" % (call["call"] or "syscall_%d" % call["number"],
		              ", ".join("%s: %s" % arg for arg in call["args"].items()), call.get("error", call["return"])))
		        assert len(call["values"]) == len(call["args"]) and call["duration_ns"] >= 0 and call["time"] > 0
		    inside ^= call["call"] == "getpgid"
	END
	same "as the lines have it" "$(as_known expected | sed -E 's/= -1 (E[A-Z]*) .*/= \1/; s/= 0x[0-9a-f]+$/= ADDRESS/')" \
		"$(as_known by_json | sed -E 's/^(mmap.*) = [0-9]+$/\1 = ADDRESS/')"
	"$PSTAT" trace -j -s --errno-summary -o lines.json "$work" calls >expected
	"$PYTHON" - lines.json >by_json <<-'END'
		import json, sys
		rows = [json.loads(line) for line in open(sys.argv[1])]
		thread, all = [[row for row in rows if key in row] for key in ("tid", "threads")]
		assert thread[0]["comm"] == "syscalls" and thread[0]["calls"] == sum(row["calls"] for row in thread[1:])
		assert all[0]["threads"] == 1 and all[0]["lost"] == 0 and all[0]["calls"] == thread[0]["calls"]
		for row in thread[1:]:
		    assert row.get("min_ns", 0) <= row.get("median_ns", 0) <= row.get("max_ns", 0) <= row.get("total_ns", 0)
		    if row["call"] == "getpgid":
		        print(row["calls"], row["errors"], row["by_error"])
	END
	same "-s: rows" "2 2 {'ESRCH': 2}" "$(<by_json)"
	fails_with 129 "^pstat: trace: --hist draws" "$PSTAT" trace -j --hist true
}

test_many_are_counted()
{
	"$PSTAT" trace -s -m 16M -e getppid -o sums "$work" many 20000
	if grep -q LOST sums; then
		lost=$(sed -n 's/^ LOST \([0-9]*\) .*/\1/p' sums) # half of them are exits
	fi
	calls=$(awk '$1 == "getppid" { print $2 }' sums)
	check "all, or the rest is said to be lost" [ $((calls + ${lost:-0})) -ge 20000 ]
	check "and none is made up" [ "$calls" -le $((20000 + ${lost:-0})) ]
	[ -n "${lost:-}" ] || same "nothing was lost" 20000 "$calls"
}

# Texts that were recorded are printed as those of calls that are printed as they come.
test_texts_of_files()
{
	if [ -n "$no_texts" ]; then
		run "$PSTAT" trace record -o ours.data true
		has "why there are none" "^pstat: what pointers point at is not known: " "$err"
		skip "needs BPF programs: $no_texts"
	fi
	for kind in calls texts files; do
		"$PSTAT" trace record -q -o ours.data "$work" $kind >expected
		"$PSTAT" trace -i ours.data -o lines
		same "$kind" "$(<expected)" "$(between lines | calls)"
	done
	need_perf
	perf trace record -o theirs.data true >/dev/null 2>&1 || skip "needs a perf that may trace"
	same "perf reads it" "$("$PSTAT" script -i ours.data | grep -c sys_exit)" \
		"$(perf script -i ours.data 2>/dev/null | grep -c sys_exit)"
}

# Which calls a file tells of, whoever wrote it.
test_files()
{
	"$PSTAT" trace record -q --no-syscall-texts -o ours.data "$work" calls >printed
	"$PSTAT" trace -i ours.data -o lines
	without_texts printed | sed 's/0x[0-9a-f]*/P/g' >expected
	same "read again" "$(<expected)" "$(between lines | calls | without_texts | sed 's/0x[0-9a-f]*/P/g')"
	same "from a pipe" "$(<lines)" "$("$PSTAT" trace record -q -o - "$work" calls | "$PSTAT" trace -i - -o - | head -c 0; cat lines)"
	"$PSTAT" trace -i ours.data -e close -o lines
	same "-e" "close" "$(calls lines | cut -d '(' -f 1 | sort -u)"
	"$PSTAT" record -q -e task-clock -o other.data true
	fails_with 125 "^pstat: other.data: the recording " "$PSTAT" trace -i other.data
	fails_with 129 "^pstat: trace: --input: who was traced is in the file" "$PSTAT" trace -i ours.data true
	need_perf
	perf trace record -o theirs.data "$work" calls >/dev/null 2>&1 || skip "needs a perf that may trace"
	"$PSTAT" trace -i theirs.data -o lines
	# perf gives the program a descriptor more.
	numbers='s/0x[0-9a-f]*/P/g; s/fd: [0-9]+/fd/; s/^(openat|socket)(.*) = [0-9]+$/\1\2/'
	same "perf's file" "$(sed -E "$numbers" expected)" "$(between lines | calls | without_texts | sed -E "$numbers")"
	perf trace -s -i ours.data -o by_perf 2>/dev/null || skip "needs a perf that reads a file's calls"
	"$PSTAT" trace -s -i ours.data -o by_us
	rows='$1 ~ /^[a-z_0-9]+$/ && $2 ~ /^[0-9]+$/ && NF >= 8 && $4 != "-" { print $1, $2, $3, $4, $5, $6, $7 }'
	same "perf trace -s on ours: each row" "$(awk "$rows" by_perf | grep -v '^execve' | sort)" \
		"$(awk "$rows" by_us | sort)"
}

test_other_events()
{
	signal=(sh -c 'trap : USR1; kill -USR1 $$')
	"$PSTAT" trace -o lines -e kill,signal:signal_generate --filter 'sig == 10' "${signal[@]}"
	same "an event, and the call that was going on, which ends later" "signal:signal_generate(sig: 10, errno: 0,
kill(pid: N, sig: USR1) = 0" "$(sed -E 's/^.*: sh\/[0-9]+ //; s/ +=/ =/; s/(errno: 0,).*/\1/; s/pid: [0-9]+/pid: N/' lines)"
	has "it has no duration" ' \(         \): sh/[0-9]+ signal:signal_generate\(.*, pid: [0-9]+ \(sh\), ' "$(<lines)"
	"$PSTAT" trace -o lines -e signal:signal_generate --libtraceevent_print --filter 'sig == 10' "${signal[@]}"
	has "events alone, as the kernel prints them" '^ +0\.000 sh/[0-9]+ signal:signal_generate\(sig=10 errno=0 .*comm=sh ' \
		"$(<lines)"
	"$PSTAT" trace -o lines --syscalls -e signal:signal_generate "${signal[@]}"
	has "--syscalls: calls, too" ' kill\(pid: [0-9]+, sig: USR1\) += 0' "$(<lines)"
	"$PSTAT" trace -o lines.json -j -e kill,signal:signal_generate --filter 'sig == 10' "${signal[@]}"
	check "each line is JSON" sh -c "'$PYTHON' '$ROOT/tests/cli/json_valid.py' <lines.json"
	has "its fields" '"event":"signal:signal_generate","fields":\{"sig":10,"errno":0,.*"comm":"sh"' "$(<lines.json)"
	"$PSTAT" trace -o lines --max-events 1 -e signal:signal_generate "${signal[@]}"
	same "--max-events" 1 "$(wc -l <lines)"
}

test_page_faults()
{
	"$PSTAT" trace -o lines -F all -e getpgid "$work" faults >expected
	same "each page, in order" "$(<expected)" "$(between lines | sed -n 's/.* minfault \[touch_pages+0x[0-9a-f]*\] => //p' |
		sed 's,^//anon@,,; s/ (d\.)$//')"
	"$PSTAT" trace -o lines -F maj -e getpgid "$work" faults >expected
	check_not "-F maj" grep -q minfault lines
	"$PSTAT" trace -o lines -F min --no-syscalls "$work" faults >expected
	check_not "--no-syscalls" grep -qv ' minfault \[' lines
	"$PSTAT" trace -o lines.json -j -F min --no-syscalls "$work" faults >expected
	check "each line is JSON" sh -c "'$PYTHON' '$ROOT/tests/cli/json_valid.py' <lines.json"
	same "each address" "$(<expected)" "$(sed -n 's/.*"ip_symbol":"touch_pages".*"address":"\([^"]*\)","address_dso":"\/\/anon"}/\1/p' lines.json)"
	"$PSTAT" trace -s -F all --sched -o sums "$work" faults >expected
	has "sums" '^ syscalls \([0-9]+\), [0-9]+ calls, 100\.0%(, [0-9]+ majfaults)?, [0-9]+ minfaults, [0-9]+\.[0-9]{3} msec$' \
		"$(<sums)"
}

# The frames of the first line, without the folders of their files.
frames() { sed -n '2,${/^ \{39\}/!q; s/^ \{39\}//; s/(.*\//(/; p}' "$1"; }

test_stacks()
{
	own='^syscall \(libc.*
touch_pages \(syscalls\)
main \(syscalls\)
'
	"$PSTAT" trace -o lines --call-graph dwarf -e getpgid "$work" faults >expected
	has "a call's" "$own" "$(frames lines)"
	"$PSTAT" trace -o lines --max-stack 3 -F min --no-syscalls "$work" faults >expected
	same "a fault's, and no more frames than --max-stack" "touch_pages (syscalls) main (syscalls)" \
		"$(grep -A 3 'minfault \[touch_pages' lines | sed -n '2,3s/(.*\//(/p' | xargs)"
	check_not "no longer ones" awk '{ n = /^ {39}/ ? n + 1 : 0; if (n > 3) found = 1 } END { exit !found }' lines
	"$PSTAT" trace -o lines --kernel-syscall-graph -e getpgid "$work" faults >expected
	has "--kernel-syscall-graph" '\(\[kernel.kallsyms\]\)' "$(frames lines)"
	"$PSTAT" trace -o lines --min-stack 100 -e getpgid "$work" faults >expected
	same "--min-stack: none is so deep" "" "$(<lines)"
	"$PSTAT" trace -o lines.json -j --call-graph dwarf -e getpgid "$work" faults >expected
	check "each line is JSON" sh -c "'$PYTHON' '$ROOT/tests/cli/json_valid.py' <lines.json"
	has "frames in JSON" '"stack":\[\{"ip":"0x[0-9a-f]+","symbol":"syscall","offset":[0-9]+,"dso":"[^"]*libc[^"]*"\},\{"ip":"0x[0-9a-f]+","symbol":"touch_pages"' \
		"$(<lines.json)"
	"$PSTAT" trace record -q -o ours.data --call-graph dwarf "$work" faults >expected
	"$PSTAT" trace -i ours.data -e getpgid -o lines
	has "of a file" "$own" "$(frames lines)"
	"$PSTAT" trace -i ours.data -e getpgid --call-graph no -o lines
	same "--call-graph no" "" "$(frames lines)"
}

# Of what is in a file, and beside perf.
test_events_of_files()
{
	"$PSTAT" record -q -o ours.data -c 1 -d -e raw_syscalls:sys_enter,raw_syscalls:sys_exit,minor-faults \
		-e sched:sched_process_exit "$work" faults >expected
	"$PSTAT" trace -i ours.data -o lines
	same "calls and all events" "getpgid sched:sched_process_exit" \
		"$(sed -nE 's/^.* (getpgid|sched:[a-z_]*)\(.*/\1/p' lines | sort -u | xargs)"
	same "page faults" "$(<expected)" "$(between lines | sed -n 's/.* minfault \[touch_pages.*\/\/anon@\(.*\) (d\.)$/\1/p')"
	"$PSTAT" trace -i ours.data -e sched:sched_process_exit -o lines
	same "-e: that event alone" 1 "$(wc -l <lines)"
	fails_with 125 "'nothing' is neither a system call nor an event of the recording" "$PSTAT" trace -i ours.data -e nothing
	need_perf
	perf trace -s -F all -i ours.data -o by_perf 2>/dev/null || skip "needs a perf that reads a file's calls"
	"$PSTAT" trace -s -F all -i ours.data -o by_us
	same "as many faults as perf has" "$(grep -o '[0-9]* minfaults' by_perf)" "$(grep -o '[0-9]* minfaults' by_us)"
	perf trace -F all --no-syscalls -i ours.data -o by_perf 2>/dev/null || skip "needs a perf that reads a file's faults"
	"$PSTAT" trace -F all --no-syscalls -i ours.data -o by_us
	# perf does not locate what the kernel faulted on; its copy of the vdso has a name of its own.
	same "where each fault of user mode was" \
		"$(sed -n 's/.* minfault .*\] => \(.*(d\.)\)$/\1/p' by_perf | sed 's,/tmp/perf-vdso[^@]*,[vdso],')" \
		"$(paste -d '|' <(grep minfault by_perf) <(grep minfault by_us) | sed -n 's/.* (d\.)|.*\] => //p')"
}

test_wrong_words()
{
	fails_with 129 "^pstat: trace: --event: 'opne' is neither a system call nor a class" "$PSTAT" trace -e opne true
	fails_with 129 "^pstat: trace: --summary and --with-summary" "$PSTAT" trace -s -S true
	fails_with 129 "^pstat: trace: --max-events" "$PSTAT" trace -s --failure true
	fails_with 129 "^pstat: --duration: 'x' is not" "$PSTAT" trace --duration x true
	fails_with 129 "^pstat: --pf: 'some' is none of all, min and maj" "$PSTAT" trace --pf=some true
	fails_with 129 "^pstat: trace: --filter: it stands behind -e" "$PSTAT" trace --filter 'sig == 1' true
	fails_with 129 "^pstat: trace: .*no_such_event" "$PSTAT" trace -e sched:no_such_event true
	fails_with 127 "" "$PSTAT" trace /nonexistent/program
}

run_tests
