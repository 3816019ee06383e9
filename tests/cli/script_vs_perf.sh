#!/bin/bash
# SPDX-License-Identifier: MIT
# `pstat script` and `perf script` on the same recordings print the same lines, blank for blank: fields,
# frames, filters, records between the samples. What pstat does otherwise by intent is listed in
# script_vs_perf.py. And where a program knows what it does, the lines say it.
#
# run: once
. "${0%/*}/beside_perf.bash"

tool=$ROOT/tests/cli/script_vs_perf.py
recorded_ms=100
# Where no kernel is sampled: perf reads all of /proc/kallsyms each time.
export KALLSYMS=$tmp/kallsyms
echo 'ffffffff81000000 T _text' >"$KALLSYMS"

# FILE OPTIONS...
alike() { verdicts "$1" "$tool" "$@"; }
refused() { REFUSED=1 alike "$@"; }

fields=("" "-F comm,tid,ip,sym,dso" "-F ip,sym" "-F ip" "-F ip,sym,symoff" "-F ip,dso" "-F comm,tid" "-F period"
	"-F event,trace" "-F comm,pid,tid,cpu,time,event,trace,ip,sym,symoff,dso" "-F +pid" "-F +pid,-tid"
	"-F -comm" "-F -period,-cpu" "-F -dso" "-F -time,-event" "-F -ip" "-F +misc" "-F +flags"
	"-F sw:comm,tid,time" "-F sw:+pid" "-F trace:comm" "-F sw:comm,ip,sym -F sw:+tid" "-F ip,sym,srcline"
	"--full-source-path -F +srcline")
layout=(-G "--max-stack 3" "--stop-bt leaf,level5" "--stop-bt deep -F ip,sym" "-G --ns" --ns "-G --reltime" "-G --deltatime" "--ns --deltatime -G" "--reltime --ns -G")
filters=("-c callers" "-c callers,x" "--dsos callers" "-S burn" "-S burn,leaf" "--time 10%-50%"
	"--time 40%/2" "--time 10%/3,50%/2" "-S burn,leaf -G" "-G --time 0%-30%,50%-90%")
records=(--show-mmap-events --show-task-events --show-lost-events "--show-mmap-events -F +misc,+pid -G"
	"--show-task-events -F +misc -G")

test_a_deep_program()
{
	local cpu cpus ip

	need_paranoid 2
	recorded deep "$PSTAT" -F 4000 -e cpu-clock:u -g -- "$CALLERS" deep 20000
	cpu=$("$PSTAT" script -i deep -F cpu | tr -dc '0-9\n' | head -1)
	cpus=0,1
	[ $((10#$cpu)) -le 1 ] || cpus=0,$((10#$cpu))
	alike deep "${fields[@]}" "${layout[@]}" "${filters[@]}" "-C $cpus" "${records[@]}"
	# Where a function begins its address stands for all of it.
	ip=$("$PSTAT" script -i deep -G -F ip,sym,symoff | awk '!/^ *7f|\+0x0$/ { print $1 }' | sort | sed -n '2p')
	alike deep "-S 0x$ip" "-S 0x$ip --addr-range 4" "-S 0x$ip,level3 --addr-range 1000" "-L -G" "-L -F +pid"
	refused deep "-F none" "-F +addr" "-F srcline" "-F +weight" "-F +iregs" "-F comm,+tid" "-F x:comm" \
		"--time nonsense" "-F symoff,ip"
	alike deep "-F +tod -G" # record says which clock it was by itself
	recorded plain "$PSTAT" -F 4000 -e cpu-clock:u -- "$CALLERS" deep 20000
	alike plain "${fields[@]:0:20}" "--ns" "-S burn" "--dsos callers" --show-kernel-path --show-round-events
	check "there are rounds" grep -q '^PERF_RECORD_FINISHED_ROUND$' \
		<("$PSTAT" script -i plain --show-round-events)
	if "$PSTAT" version --build-options | grep -q '^ *capstone *\[ on  \]  [^;]*$'; then
		alike plain "-F ip,insn" "-F +insnlen,+insn" "-F +srccode" "-F ip,sym,srcline,srccode,insn -S burn" --insn-trace --call-trace \
			--call-ret-trace
		alike deep "-F ip,insn"
		# perf hands the bytes to a program that has these words for them.
		same "--xed" "$("$PSTAT" script -i plain -F ip,disasm)" "$("$PSTAT" script -i plain -F ip,insn --xed)"
		same "--xed without bytes" "$("$PSTAT" script -i plain -F ip)" "$("$PSTAT" script -i plain -F ip --xed=-64)"
	fi
	has "nothing is left" "^pstat: nothing is left by --comms .none.: there are callers.*pstat: nothing is left by --tid .1.$" \
		"$({ "$PSTAT" script -i deep -c none; "$PSTAT" script -i deep --tid 1; } 2>&1 | paste -sd " ")"
}

# Chains: the addresses that were recorded, as perf 7 has them; and where they lie in the files, as dsoff or in perfs
# before 7 in place of the addresses.
test_addresses_in_chains()
{
	need_paranoid 2
	recorded addresses "$PSTAT" -F 4000 -e cpu-clock:u -g -- "$CALLERS" deep 20000
	"$PSTAT" script -i addresses --no-inline -F ip,sym,dso,dsoff | grep '(/' >mine
	check "there are some" grep -q 'leaf (/.*+0x' mine
	perf script -i addresses --no-inline -F ip,sym,dso 2>/dev/null | grep '(/' >perfs
	if grep -q '^[^/]*[0-9a-f]\{9\} leaf' perfs; then
		same "addresses as perf has them" "$(awk '{ print $1 }' perfs)" "$(awk '{ print $1 }' mine)"
	else
		same "offsets as perf has them" "$(awk '{ print $1 }' perfs)" "$(sed 's/.*+0x//; s/)$//' mine)"
	fi
	same "the kernel's words" "$("$PSTAT" script -D -i addresses | sed -n 's/^\.\.\.\.\. *[0-9]*: 0*\([0-9a-f]*\).*/\1/p' |
		grep -v '^f' | sort -u)" "$("$PSTAT" script -i addresses --no-inline -F ip | grep . | tr -d ' \t' | sort -u)"
	run "$PSTAT" script -i addresses --no-inline -F comm,ip,dsoff
	has "dsoff brings the file" "^[[:blank:]]*[0-9a-f]+ \(/.*/callers\+0x[0-9a-f]+\)$" "$out"
	run "$PSTAT" script -G -i addresses -F ip,sym,dsoff
	has "also without chains" "^ *[0-9a-f]+ (burn|leaf|level[0-9]+) \(/.*/callers\+0x[0-9a-f]+\) *$" "$out"
	fails_with 129 'dsoff: it is printed after an address' "$PSTAT" script -i addresses -F comm,dsoff
}

test_threads()
{
	local tid cpu

	need_paranoid 2
	recorded threads "$PSTAT" -F 4000 -e cpu-clock:u -g -- "$CALLERS" deep 20000 4
	tid=$("$PSTAT" script -i threads -F tid | sort -n | sed '/^ *$/d' | tail -1)
	cpu=$("$PSTAT" script -i threads -F cpu | tr -dc '0-9\n' | head -1)
	alike threads "" "-F +pid" "--tid ${tid// /}" "-C $((10#$cpu))" "-F pid,tid,cpu,time" "--show-task-events" "-S burn -G"
	recorded recursive "$PSTAT" -F 4000 -e cpu-clock:u -g -- "$CALLERS" recursive 20000
	alike recursive "" "--max-stack 5"
}

test_many_programs()
{
	need_paranoid 2
	# Programs that do next to nothing may have no sample: each name that is asked for has work.
	"$PSTAT" record -q -F 10000 -e cpu-clock:u -o storm -- "$EXACT" execs:100 spins:10
	alike storm "" "-F +pid,+misc" "--show-task-events" "--show-mmap-events" "-c exe" "-c exact" "--time 10%-50%"
	"$PSTAT" record -q -F 10000 -e cpu-clock:u -o forks -- "$EXACT" forks:30 spins:2
	alike forks "" "-F +pid" "--show-task-events -F +pid,+misc"
	"$PSTAT" record -q -F 10000 -e cpu-clock:u -o chain -- \
		sh -c "sh -c '\"$CALLERS\" known 20; \"$CALLERS\" chain'; \"$EXACT\" name:1:other stores:100000 name:1:sh spins:20"
	alike chain "" "--show-task-events --show-mmap-events" "-c callers,other" "-c sh"
}

test_dlopen()
{
	need_paranoid 2
	build_host
	"$PSTAT" record -q -F 4000 -e cpu-clock:u -o dlopen -- ./host
	alike dlopen "" "-S plugin_work" "--dsos host,plugin.so -F ip,sym,srcline" --show-mmap-events
	has "in the file that was opened" 'plugin_work\+0x[0-9a-f]+ \(/.*/plugin\.so\)$' "$("$PSTAT" script -i dlopen)"
}

# A handler returns to a place where nobody called.
test_a_signal()
{
	need_paranoid 2
	cat >alarm.c <<-'END'
	#include <signal.h>
	#include <sys/time.h>
	#include <time.h>
	volatile long sum;
	void spin(long n) { for (long i = 0; i < n; i++) sum += i; }
	void handler(int number) { spin(1000000); sum += number; }
	int main(void)
	{
		struct itimerval every = { { 0, 4000 }, { 0, 4000 } };
		signal(SIGPROF, handler);
		setitimer(ITIMER_PROF, &every, 0);
		while (clock() < 20 * CLOCKS_PER_SEC) {
			spin(100000);
			sum++;
		}
		return 0;
	}
	END
	"${CC:-cc}" -O0 -fno-omit-frame-pointer -o alarm alarm.c 2>cc_err || skip "needs a C compiler"
	recorded signal "$PSTAT" -F 4000 -e cpu-clock:u -g -- ./alarm
	alike signal ""
	has "the handler is there" ' handler\+0x' "$("$PSTAT" script -i signal)"
}

test_the_whole_machine()
{
	local all=(--show-switch-events --show-task-events --show-mmap-events --show-namespace-events
		--show-cgroup-events --show-lost-events)

	need_root
	need_first_pid_namespace
	[ "$(</proc/sys/kernel/kptr_restrict)" -lt 2 ] || skip "needs kptr_restrict below 2"
	KALLSYMS=
	perf record -q -a -F 2000 -e cpu-clock --namespaces --switch-events --all-cgroups -o machine -- \
		"$EXACT" execs:30 spins:20 >/dev/null 2>&1
	# Records of BPF programs, which others may load at any time, are printed in pstat's own form; perf prints them with
	# changes of code, too.
	"$PSTAT" script -i machine --show-bpf-events | grep -q -e PERF_RECORD_KSYMBOL -e PERF_RECORD_BPF_EVENT ||
		all+=(--show-bpf-events --show-text-poke-events)
	# Of other programs names come from files that may change meanwhile: their addresses are compared.
	alike machine "-c exact" "-F -sym,-symoff" "-F +misc,+pid,-sym,-symoff" "${all[@]/%/ -F -sym,-symoff}" \
		"--show-switch-events --show-task-events -F +misc,+pid,-sym,-symoff"
	"$PSTAT" record -q -a -F 2000 -e cpu-clock -g -o kernel -- "$EXACT" execs:100
	alike kernel "-c exact" "-c exact --dsos [kernel.kallsyms]" "-c exact -F ip,sym"
}

test_tracepoints()
{
	local writes=(-c 1 -e syscalls:sys_enter_write --filter "$own_writes")
	local tracepoints=(-e sched:sched_process_fork -e sched:sched_process_exit -e sched:sched_switch
		-e sched:sched_process_exec)

	need_tracefs
	need_paranoid -1
	KALLSYMS=
	"$PSTAT" record -q -o writes "${writes[@]}" "${tracepoints[@]}" -- "$EXACT" writes:30:$own_fd forks:2 execs:3
	alike writes "" "-F trace" "-F comm,trace" "-F trace:time,event,trace" "-F +pid" "-F -trace" "-F event,trace -G" \
		"-F event,ip,sym" "-c exact" "--ns -F +misc"
	same "each write is one line" 30 "$("$PSTAT" script -i writes -F event,trace |
		grep -c "^syscalls:sys_enter_write: fd: 0x0*$(printf %x "$own_fd"), buf: 0x[0-9a-f]*, count: 0x0*$")"
	"$PSTAT" record -q -g -o chains "${writes[@]}" "${tracepoints[@]}" -- "$EXACT" writes:30:$own_fd forks:3
	alike chains "" "-F comm,trace" "-F trace:event,trace,ip,sym" "-F comm,tid,time,event,trace,ip,sym,symoff,dso" \
		"--max-stack 2" "-G"
	has "+field does not take the chain away" 'sys_.*write|write\+0x' "$("$PSTAT" script -i chains -F +pid)"
	perf record -q -c 1 -o perfs "${tracepoints[@]}" -e 'syscalls:sys_enter_execve,syscalls:sys_exit_execve' -- \
		"$EXACT" execs:5 forks:3 >/dev/null 2>&1
	alike perfs "" "-F comm,pid,trace" "-F trace:trace"
}

test_breakpoints()
{
	need_breakpoints
	setarch -R "$PSTAT" record -q -d -o stores -c 1 -e "$stores" -- "$EXACT" stores:50 forks:3 stores:10
	alike stores "" "-F +addr" "-F comm,addr" "-F +pid,+period"
	setarch -R "$PSTAT" record -q -g -o calls -c 1 -e "mem:$called:x:u" -- "$EXACT" calls:50
	alike calls "" "-F ip,sym" -G
}

test_events_and_groups()
{
	local event

	need_paranoid 2
	recorded events "$PSTAT" -F 3000 -e cpu-clock:u,task-clock:u,page-faults:u -g -- "$CALLERS" deep 20000
	alike events "" -G "-F event,period" "-F +pid"
	# Without names, which the two have differently for some addresses that a sample may be at.
	local dumped=(script --kallsyms "$KALLSYMS" --no-inline -G --per-event-dump -F comm,tid,cpu,time,event,period,ip,dso -i events)
	mkdir perfs_dumps own_dumps
	(cd perfs_dumps && ln -s ../events && perf "${dumped[@]}") >said 2>&1
	(cd own_dumps && ln -s ../events && "$PSTAT" "${dumped[@]}") >own 2>&1
	same "a file for each event" "$(ls perfs_dumps)" "$(ls own_dumps)"
	same "three" 3 "$(ls own_dumps | grep -c '^events\..*:u\.dump$')"
	for event in cpu-clock task-clock page-faults; do
		check "$event: the same samples" cmp {perfs,own}_dumps/"events.$event:u.dump"
		same "$event: their number" "$(sed -n "s/.* \(events\.$event:u\.dump\) (\([0-9]* samples\)) .*/pstat: \1: \2/p" said)" \
			"$(grep "$event" own)"
	done
	recorded group "$PSTAT" -F 3000 -e '{cpu-clock:u,task-clock:u}' -g -- "$CALLERS" deep 20000
	alike group "" -G
	recorded read "$PSTAT" -F 3000 -e '{cpu-clock:u,task-clock:u}:S' -g -- "$CALLERS" deep 20000
	alike read "" -G "-F event,period" "--time 10%-50%" "-G --deltatime"
}

# A pipe says late or never which kernel's the vdso is; perf takes its own.
no_vdso() { ! "$PSTAT" script -i pipe -F ip,dso 2>/dev/null | grep -q '\[vdso' || skip "a sample is in the vdso"; }

test_layouts()
{
	perf_without_kernel
	need_paranoid 2
	recorded packed "$PSTAT" -z -F 4000 -e cpu-clock:u -g -- "$CALLERS" deep 20000
	alike packed "" "-G --ns"
	"$PSTAT" record -q -F 4000 -e cpu-clock:u -g -o - -- "$CALLERS" deep 100 >pipe
	no_vdso
	alike - "" "-F +pid" -G "--show-task-events -G" "-S burn" "-S burn -F comm,tid,ip,sym,srcline"
	"$PSTAT" script --header -i pipe >from_file
	"$PSTAT" script --header -i - <pipe >from_pipe
	check "a pipe in a file and a pipe" cmp from_file from_pipe
	has "its header comes first" '^# cmdline : .*record' "$(sed '/^[^#]/,$d' from_pipe)"
	has_not "and once" '^#' "$(sed '1,/^[^#]/d' from_pipe)"
	# One after the other, on either CPU: of samples at the same nanosecond in two files either may be the first.
	perf record -q -F 5000 --threads -e cpu-clock:u -o readers sh -c "for i in 1 2 3; do
		for cpu in 0 1; do taskset -c \$cpu '$CALLERS' deep 20; done; done" >/dev/null 2>&1
	[ -d readers ] && alike readers "" "-F +pid"
}

# Rarely perf writes a build-id into a pipe that is longer than perf takes: it then ends by a signal.
test_pipe_of_perf()
{
	need_paranoid 2
	perf record -q -F 4000 -e cpu-clock:u -g -o - "$CALLERS" deep 100 >pipe 2>/dev/null
	no_vdso
	perf script -i - <pipe >/dev/null 2>&1 || skip "perf cannot read what it wrote: status $?"
	alike - "" "-F +pid"
}

test_of_perf()
{
	perf_without_kernel
	need_paranoid 2
	recorded perfs perf -F 4000 -e cpu-clock:u -g -k CLOCK_MONOTONIC -- "$CALLERS" deep 20000
	alike perfs "" "-F +tod -G" "-F tod,time,comm --ns" "--time 10%-50%"
	recorded registers perf -F 2000 -e cpu-clock:u --intr-regs=AX,SP,IP --user-regs=BX,BP -- "$CALLERS" deep 20000
	alike registers "" "-F +iregs" "-F +uregs" "-F iregs,uregs" "-F ip,sym,iregs"
	has_cap sys_admin && recorded memory perf -F 2000 -e cpu-clock:u -d -W --phys-data --data-page-size \
		--code-page-size -- "$CALLERS" deep 20000
	[ ! -e memory ] || alike memory "" "-F +addr,+phys_addr" "-F +data_src,+weight" "-F +data_page_size,+code_page_size" \
		"-F addr,ip,sym"
	perf record -q -e page-faults:u -c 1 -d -o faults "$EXACT" pages:100 >/dev/null 2>&1 ||
		skip "perf record ended with $?"
	alike faults "" "-F +addr" "-F ip,sym,addr,dso" "-F addr,sym,symoff,dso" "-F addr,sym" "-F comm,addr"
}

# Sampled stacks: perf ends in the vdso, so only what was sampled in a function of the program.
test_sampled_stacks()
{
	perf_without_kernel
	need_paranoid 2
	recorded dwarf perf -F 1000 --call-graph dwarf,4096 -e cpu-clock:u -- "$CALLERS" recursive 20000
	alike dwarf "-S burn" "-S burn -F ip,sym" "-S burn --max-stack 5" -G
}

# Machines without such units: recordings that were made by hand. Lines are found in their small programs.
test_golden()
{
	local names="--symfs symfs --kallsyms kallsyms" branches memory

	KALLSYMS=
	cp -r "$ROOT/tests/golden" golden && cd golden || skip "needs tests/golden"
	chmod -R u+w .
	golden()
	{
		local recording=$1

		shift
		alike "$recording.data" "${@/#/$names }"
	}
	branches=("" "-F +brstack" "-F brstack" "-F brstack,dso" "-F ip,sym,brstack" "-F +brstacksym" "-F brstacksym,dso"
		"-F comm,brstack,dso")
	golden branch_stack "${branches[@]}"
	"$PSTAT" version --build-options | grep -q '^ *capstone *\[ on  \]  [^;]*$' &&
		golden branch_stack "-F +brstackinsn" "-F ip,sym,brstackinsnlen" "-F ip,brstackinsn --max-blocks 1"
	golden branch_call_stack "${branches[@]}" "-G"
	memory=("" "-F data_src" "-F +data_src,+weight,+addr" "-F +phys_addr,+weight" "-F data_page_size,code_page_size"
		"-F addr,ip,sym" "-F comm,weight,data_src,phys_addr" "-F +misc,-addr")
	golden mem_samples "${memory[@]}"
	golden weight_struct "" "-F +weight,+ins_lat" "-F ins_lat,weight"
	for recording in big_endian cgroups compressed cut_stacks different_sample_types folder group_read in_a_pipe \
		ip_zero_in_chain kernel_and_module lost no_map out_of_order overlapping_maps plain text_poke tid_reuse; do
		golden $recording "" "-F +pid,+misc"
	done
	golden deep_chain "" "--max-stack 5"
	golden plain "-F sw:comm" "-F hw:comm,tid" "-F hw:-ip" "--time 1.006,1.008" "--pid 4200001" "--tid 4200001"
	golden namespaces "" --show-namespace-events
	golden cgroups --show-cgroup-events
}
run_tests
