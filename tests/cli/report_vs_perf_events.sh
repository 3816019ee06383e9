#!/bin/bash
# SPDX-License-Identifier: MIT
# `pstat report` and `perf report` of the same recordings, as in report_vs_perf.sh: of many programs, of the
# whole machine, of events that know what they counted, of several events, and in other layouts.
#
# run: once
. "${0%/*}/report_vs_perf.bash"

test_many_programs()
{
	need_paranoid 2
	"$PSTAT" record -q -F 10000 -e cpu-clock:u -o storm -- "$EXACT" execs:200
	alike storm "" "-s pid" "-s comm,dso" "--comms exe" "-n -s comm,dso,sym"
	"$PSTAT" record -q -F 10000 -e cpu-clock:u -o forks -- "$EXACT" forks:30 spins:2
	alike forks "" "-s pid" "-s comm,sym"
	"$PSTAT" record -q -F 10000 -e cpu-clock:u -o execs -- \
		sh -c "sh -c '\"$CALLERS\" known 100; \"$CALLERS\" chain'; \"$EXACT\" stores:30000000 name:1:other stores:30000000"
	alike execs "-s comm" "-s comm,dso" "-s pid,comm" "--comms callers,other -s comm,sym" "--time 10%-50%"
	# A shell is there for so short that it may have no sample.
	same "names by exec and by prctl" "callers exact other" \
		"$("$PSTAT" report -i execs -s comm -F comm -q 2>&1 | sed 's/ //g' | sort | sed '/^$/d; /^sh$/d' | paste -sd ' ')"
}

test_dlopen()
{
	need_paranoid 2
	build_host
	"$PSTAT" record -q -F 5000 -e cpu-clock:u -o dlopen -- ./host
	alike dlopen "" "-s dso" "-s dso,sym --dsos plugin.so,host" "-s sym,srcfile -S plugin_work"
	has "in the file that was opened" 'plugin.so +\[\.\] plugin_work' "$("$PSTAT" report -i dlopen)"
}

test_the_whole_machine()
{
	need_root
	need_first_pid_namespace
	[ "$(</proc/sys/kernel/kptr_restrict)" -lt 2 ] || skip "needs kptr_restrict below 2"
	"$PSTAT" record -q -a -F 2000 -e cpu-clock -o machine -- "$WORK/spend" 200 ls -lR /usr >/dev/null
	alike machine "-s comm" "-s dso" "-s sym --dsos [kernel.kallsyms]" "-s comm,sym --comms ls" "-s cpu,comm" \
		"--show-cpu-utilization -s comm" "--socket-filter 0 -s comm"
	# Of the kernel alone: programs of others may be gone when the second of the two looks for their names.
	perf record -q -N -a -F 2000 --kernel-callchains -e cpu-clock:k -g -o kernel -- \
		"$WORK/spend" 200 ls -lR /usr >/dev/null 2>&1
	# Return addresses: perf gives a call at a function's end, as in an idle CPU's chains, to the next one.
	close kernel "--no-children -g none -s comm,sym" "-g none -s comm,dso" "-g none -s comm,sym --comms ls"
}

test_tracepoints()
{
	need_tracefs
	need_paranoid -1
	local writes=(-c 1 -e syscalls:sys_enter_write --filter "$own_writes")

	"$PSTAT" record -q -o writes "${writes[@]}" -- "$EXACT" writes:300:$own_fd forks:2 writes:50:$own_fd
	# perf finds fields without /raw in texts that have "name=" before them; this one has "fd: ".
	alike writes "" "-s comm,trace" "-s pid,fd/raw,count/raw" "-s comm,sym -n"
	has "the descriptor and the count" "^ +100.00% +$own_fd +0$" "$("$PSTAT" report -i writes -s fd,count)"
	"$PSTAT" record -q -o chains -g "${writes[@]}" -e sched:sched_process_fork -- \
		"$EXACT" writes:300:$own_fd forks:3 writes:10:$own_fd
	alike chains --no-children "--no-skip-empty --no-children -s comm" "-s sym -g caller --no-children" "-s comm,sym -g none --no-children"
	same "each write is one sample" 330 "$("$PSTAT" report -i chains -s comm -F sample -g none -q 2>&1 |
		awk '$1 > n { n = $1 } END { print n + 0 }')"
}

test_breakpoints()
{
	need_breakpoints
	setarch -R "$PSTAT" record -q -o stores -c 1 -e "$stores" -- "$EXACT" stores:700 forks:3 stores:100
	alike stores "" "-s pid,sym -n" "-s sym --show-total-period"
	same "each store is one sample" 1000 "$("$PSTAT" report -i stores -F sample,sym -q | awk '/stores$/ { print $1 }')"
	setarch -R "$PSTAT" record -q -g -o calls -c 1 -e "mem:$called:x:u" -- "$EXACT" calls:500
	alike calls "" --no-children "-g caller,function"
}

test_events_and_groups()
{
	need_paranoid 2
	recorded events "$PSTAT" -F 5000 -e cpu-clock:u,task-clock:u,page-faults:u -g -- "$CALLERS" deep 20000
	alike events "" "--no-children -g none" "--group -g none --no-children" "--group -s sym --no-children" "--group -n -g none"
	recorded group "$PSTAT" -F 5000 -e '{cpu-clock:u,task-clock:u}' -g -- "$CALLERS" deep 20000
	alike group "--no-children -g none" "--no-group -g none" "--group -s sym --no-children"
	recorded read "$PSTAT" -F 5000 -e '{cpu-clock:u,task-clock:u}:S' -g -- "$CALLERS" deep 20000
	alike read "--no-children -g none" "--no-children -s sym -n --show-total-period -g none" "--no-group --no-children"
}

test_layouts()
{
	need_paranoid 2
	recorded packed "$PSTAT" -z -F 5000 -e cpu-clock:u -g -- "$CALLERS" deep 20000
	alike packed "" "--no-children -n"
	"$PSTAT" record -q -F 5000 -e cpu-clock:u -o - -- "$CALLERS" deep 150 >pipe
	alike - "" "-s sym -n" "-s comm,dso"
	"$PSTAT" report -i pipe >from_file
	"$PSTAT" report -i - <pipe >from_pipe
	check "a pipe in a file and a pipe" cmp from_file from_pipe
}

test_of_perf()
{
	perf_without_kernel
	need_paranoid 2
	recorded perfs perf -N -F 5000 -e cpu-clock:u -g -- "$CALLERS" deep 20000
	alike perfs "" --no-children "-s cpu -g none" "--time 10%-50%"
	perf record -q -N -F 5000 --threads -e cpu-clock:u -o readers "$CALLERS" deep 100 2 >/dev/null 2>&1
	[ -d readers ] && alike readers "" "-s pid,sym"
	# Sampled stacks: perf ends in the vdso, so only what was sampled in a function of the program.
	recorded dwarf perf -N -F 1000 --call-graph dwarf,4096 -e cpu-clock:u -- "$CALLERS" recursive 20000
	alike dwarf "--no-children -S burn" "--no-children -S burn -g caller -s sym"
}
run_tests
