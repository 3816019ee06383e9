#!/bin/bash
# SPDX-License-Identifier: MIT
# Each sort key and field of `pstat report` on a recording whose truth is known from its text: the golden
# recordings (tests/golden/golden_*.c says what is in each sample), and programs that know what they do.
#
# run: once
. "${0%/*}/../lib.sh"
export HOME=$tmp NO_COLOR=1
golden=$ROOT/tests/golden
names=(--symfs "$golden/symfs" --kallsyms "$golden/kallsyms")

# rows FILE OPTION...: the rows, columns separated by |, without the blanks around them.
rows()
{
	local file=$1

	shift
	run "$PSTAT" report -q -i "$file" -t '|' -g none "$@"
	{ [ -z "$out" ] || printf '%s\n' "$out"; } | sed 's/ *| */|/g; s/^ *//; s/ *$//; /^$/d'
	[ -z "$err" ] || printf 'stderr: %s\n' "$err"
	[ "$status" -eq 0 ] || echo "status $status"
}

# keyed FILE OPTION...: of a golden recording these rows, given on stdin, in any order (report_vs_perf.sh
# compares that).
keyed()
{
	local file=$1 want

	shift
	want=$(sort)
	ran=
	same "$file $*" "$want" "$(rows "$golden/$file.data" "${names[@]}" "$@" | sort)"
}

# What a word is refused for names all keys there are: each of them has a line in this file.
test_each_key_has_a_line()
{
	local key missing='' n=0

	run "$PSTAT" report -i "$golden/plain.data" -s no_such_key
	same "an unknown key: status" 129 "$status"
	for key in $(sed -n 's/^ *There are \(.*\) and .*/\1/p' <<<"$err" | tr -d ,); do
		n=$((n + 1))
		grep -Eq "^[^#]*(keyed|rows) .*[ ,]$key([ ,)]|\$)" "$ROOT/tests/cli/report_keys.sh" || missing+=" $key"
	done
	check "there are keys: $n" test "$n" -gt 50
	same "keys without a line here" "" "$missing"
}

test_tasks()
{
	keyed exec_comm -n -s comm <<-'END'
	50.00%|2|app
	40.00%|1|renamed
	10.00%|1|sh
	END
	# One number, three tasks.
	keyed tid_reuse -n -s pid,comm <<-'END'
	53.33%|1|4200001:worker|worker
	40.00%|2|4200001:sh|sh
	6.67%|1|4200001:app|app
	END
	keyed plain -s tid,tgid,cpu --no-children <<-'END'
	100.00%|4200001:app|4200001:app|001
	END
	keyed weight_struct -s symoff <<-'END'
	50.00%|[.] leaf+0x8
	50.00%|[.] spin+0x8
	END
	keyed plain -s type,typeoff,typecln --no-children <<-'END'
	100.00%|(unknown)|(unknown)|(unknown): cache-line 0
	END
	keyed plain -s comm_nodigit --no-children <<-'END'
	100.00%|app
	END
	keyed plain -s state --no-children <<-'END'
	100.00%|running
	END
	keyed plain -s socket --no-children <<-'END'
	100.00%|-001
	END
}

test_numbers_in_names()
{
	local name

	need_paranoid 2
	cp "$WORK/exact" pool12a3
	cp "$WORK/exact" pool7a12
	"$PSTAT" record -q -N -o pool -e page-faults:u -c 1 -- sh -c './pool12a3 pages:10 && ./pool7a12 pages:10' >/dev/null
	same "two names" $'pool12a3\npool7a12' "$("$PSTAT" report -q -i pool -g none -s comm -F comm | tr -d ' ' | grep pool | sort)"
	same "one row" 'pool<N>a<N>' "$("$PSTAT" report -q -i pool -g none -s comm_nodigit -F comm_nodigit | tr -d ' ' | grep pool)"
}

test_wall_clock_time()
{
	keyed threads_at_once --no-children -F overhead,latency,parallelism,comm <<-'END'
	33.33%|54.17%|1|app
	20.51%|16.67%|2|app
	20.51%|16.67%|2|worker
	15.38%|8.33%|3|app
	10.26%|4.17%|4|worker
	END
	keyed threads_at_once -s latency_children,latency,sym <<-'END'
	100.00%|0.00%|[.] main
	50.00%|50.00%|[.] spin
	33.33%|33.33%|[.] inner
	8.33%|8.33%|[.] middle
	4.17%|4.17%|[.] leaf
	4.17%|4.17%|[.] outer
	END
}

# 64 bytes of each function, from a page of the file; the kernel's are a page each, in a map of 64 KiB.
test_code()
{
	keyed plain -n --show-total-period -s dso,symbol <<-'END'
	100.00%|0.00%|0|0|app|[.] main
	53.33%|53.33%|1|8000|libwork.so|[.] sort<int>
	53.33%|0.00%|0|0|libwork.so|[.] work
	33.33%|6.67%|1|1000|app|[.] leaf
	26.67%|26.67%|1|4000|[kernel.kallsyms]|[k] vfs_read
	26.67%|0.00%|0|0|[kernel.kallsyms]|[k] entry_SYSCALL_64
	13.33%|13.33%|1|2000|app|[.] spin
	6.67%|0.00%|0|0|app|[.] inner
	6.67%|0.00%|0|0|app|[.] middle
	END
	keyed plain --no-children -s symbol_size,dso_size,dso <<-'END'
	53.33%|64|4096|libwork.so
	26.67%|4096|65536|[kernel.kallsyms]
	20.00%|64|4096|app
	END
	keyed plain --no-children -s addr,sym <<-'END'
	53.33%|0x7f00000000c0|[.] sort<int>
	26.67%|0xffffffff81003008|[k] vfs_read
	13.33%|0x4001c0|[.] spin
	6.67%|0x400180|[.] leaf
	END
	keyed no_map --no-children -s addr -F addr,overhead -U <<-'END'
	0x400180|100.00%
	END
}

# Samples lie a millisecond apart, from 1.005 s on; other records take milliseconds, too.
test_times()
{
	keyed plain --no-children --time-quantum 1ms -s time -F time,period <<-'END'
	1.005000|1000
	1.006000|2000
	1.008000|4000
	1.009000|8000
	END
	keyed plain --no-children -n -s time <<-'END'
	100.00%|4|1.000000
	END
	keyed plain --no-children --time-quantum 2000us --ns -s time <<-'END'
	80.00%|1.008000000
	13.33%|1.006000000
	6.67%|1.004000000
	END
}

test_parents()
{
	keyed plain --no-children -n -p '^(sort|vfs)' -s parent <<-'END'
	53.33%|1|sort<int>
	26.67%|1|vfs_read
	20.00%|2|[other]
	END
	keyed plain --no-children -p inner -x -s sym <<-'END'
	6.67%|[.] leaf|inner
	END
	fails_with 129 'parents.*callchains.*-g' "$PSTAT" report -i "$golden/cgroups.data" -s parent
	fails_with 129 'parent' "$PSTAT" report -i "$golden/plain.data" -p '(' -s parent
}

# Nine branches of two kinds of samples; one of a fourth has none.
test_branches()
{
	keyed branch_stack -n -s dso_from,dso_to <<-'END'
	66.67%|6|app|app
	11.11%|1|[unknown]|app
	11.11%|1|app|libwork.so
	11.11%|1|app|[kernel.kallsyms]
	END
	keyed branch_stack -s symbol_from,symbol_to -S spin,work <<-'END'
	44.44%|[.] spin|[.] spin
	11.11%|[.] 0x0000000000000010|[.] spin
	11.11%|[.] middle|[.] work
	END
	keyed branch_stack -F sample,mispredict -s mispredict <<-'END'
	5|N
	3|Y
	1|N/A
	END
	keyed branch_stack -F sample,in_tx,abort -s in_tx,abort <<-'END'
	6|.|.
	2|T|.
	1|T|A
	END
	keyed branch_stack -F sample,cycles -s cycles <<-'END'
	6|-
	1|300
	1|12
	1|7
	END
	keyed branch_stack -s addr_from,addr_to <<-'END'
	44.44%|[.] spin+0x18|[.] spin+0x8
	11.11%|[.] 0x0000000000000010|[.] spin+0x8
	11.11%|[.] middle+0x8|[.] work+0x0
	11.11%|[.] inner+0x8|[.] leaf+0x0
	11.11%|[.] leaf+0x8|[.] inner+0xc
	11.11%|[.] spin+0x8|[k] entry_SYSCALL_64+0x0
	END
	keyed branch_stack -s srcline_from,srcline_to --dsos libwork.so <<-'END'
	11.11%|middle+8|work+0
	END
	fails_with 129 "'mispredict' is only available for branches" \
		"$PSTAT" report -i "$golden/branch_stack.data" --no-branch-stack -s mispredict
	fails_with 129 'no branches; record them with -b' "$PSTAT" report -i "$golden/plain.data" -b
}

# What the trees say is in tests/golden/branch_history.*: two branches to one address, of which one was predicted; their
# mean of 7 and 10 cycles; a transaction that was aborted. perf 7.2 has the same numbers.
test_history()
{
	fails_with 129 'no branches; record them with -b, and callers with -g' "$PSTAT" report -i "$golden/plain.data" \
		--branch-history
	fails_with 129 'frames of chains' "$PSTAT" report -i "$golden/branch_history.data" --branch-history -b
	# Call stacks by the branch unit are no branches that were taken on the way.
	fails_with 129 'no branches' "$PSTAT" report -i "$golden/branch_call_stack.data" --branch-history
	# Samples count once each, as without branches, and the row is the sampled function.
	ran=
	same "rows" "$(rows "$golden/branch_history.data" "${names[@]}" --no-branch-stack --no-children -n -s symbol)" \
		"$(rows "$golden/branch_history.data" "${names[@]}" --branch-history --no-children -n -s symbol)"
	run "$PSTAT" report -q -i "$golden/branch_history.data" "${names[@]}" --no-branch-stack --stdio
	has_not "chains without branches" calltrace "$out"
}

# perf report --total-cycles has the same cycles; see DIFFERENCES for what it leaves out.
test_blocks()
{
	fails_with 129 'no branches; record them with -b' "$PSTAT" report -i "$golden/plain.data" --total-cycles
	fails_with 129 'no-branch-stack leaves out' "$PSTAT" report -i "$golden/code_blocks.data" --total-cycles -b \
		--no-branch-stack
	fails_with 129 'two formats' "$PSTAT" report -i "$golden/code_blocks.data" --total-cycles -j
	run "$PSTAT" report -i "$golden/branch_call_stack.data" -b --total-cycles
	fails_with 129 'no branches' "$PSTAT" report -i "$golden/branch_call_stack.data" --total-cycles
	run "$PSTAT" report -q -i "$golden/code_blocks.data" "${names[@]}" --total-cycles -t ' ' --dsos '[kernel.kallsyms]'
	has "of some code alone" '^100.00% 60.0K 100.00% 60.0K' "$out"
}

# All bytes of spin are instructions: three runs of 17 in 10 cycles, three of 13 in 12, and one of 17 in 30, that went to
# the kernel, whose code is not there.
test_ipc()
{
	keyed code_blocks -F ipc_lbr -s ipc_lbr --symbol-filter spin <<-'END'
	1.11  [ 26.6%]
	END
	keyed branch_stack -F ipc_lbr -s ipc_lbr --symbol-filter spin <<-'END'
	-
	END
	run "$PSTAT" report -i "$golden/branch_stack.data" "${names[@]}" -s ipc_lbr --symbols spin
	has "without cycles there is none" 'ipc_lbr: the branches have no cycles' "$err"
	run "$PSTAT" report -i "$golden/code_blocks.data" "${names[@]}" -s ipc_lbr
	has "what is not known is said" 'ipc_lbr: the code of 1 of 2 functions is not known: vfs_read: ' "$err"
	run "$PSTAT" report -i "$golden/code_blocks.data" "${names[@]}" -s ipc_lbr --symbol-filter spin
	has_not "code of functions that are not shown is not read" 'ipc_lbr' "$err"
}

# Seven accesses; a row is worth their weights, at least one each: 1340 in all.
test_memory()
{
	keyed mem_samples --mem-mode -F period,local_weight,mem -s local_weight,mem <<-'END'
	900|900|Remote RAM (1 hop) hit
	400|400|L3 miss
	30|30|LFB/MAB hit
	7|7|L1 hit
	1|0|L1 hit
	1|0|N/A
	1|1|N/A
	END
	keyed mem_samples --mem-mode -s snoop,tlb,locked,blocked --percent-limit 0.5 <<-'END'
	67.16%|Miss|Walker hit|No|N/A
	29.85%|HitM|L2 miss|Yes|N/A
	2.24%|None|L1 hit|No|N/A
	0.52%|None|L1 or L2 hit|No|N/A
	END
	keyed mem_samples --mem-mode -F period,symbol_daddr,dso_daddr -s symbol_daddr,dso_daddr <<-'END'
	900|[.] 0x0000000012345678|[unknown]
	430|[.] table+0x8|app
	7|[.] 0x00000000006002f8|app
	1|[k] 0xffff888000001000|[unknown]
	1|[.] 0000000000000000|[unknown]
	1|[.] middle+0x8|app
	END
	keyed mem_samples --mem-mode -F period,symbol_iaddr -s symbol_iaddr <<-'END'
	1337|[.] leaf
	2|[.] spin
	1|[k] vfs_read
	END
	keyed mem_samples --mem-mode -s dcacheline,phys_daddr,data_page_size \
		--percent-limit 1 <<-'END'
	67.16%|[.] 0x0000000012345640|[.] 0x0000000100000678|1024M
	29.85%|[.] table+0x8|[.] 0x0000000100000200|2M
	2.24%|[.] table+0x8|[.] 0x0000000100000200|4K
	END
	fails_with 129 "'mem' is only available for memory samples, with --mem-mode" \
		"$PSTAT" report -i "$golden/mem_samples.data" -s mem
}

# Columns of what occurs: of 340, the sum of the weights 10 to 23 of leaf, and 54 and 55 of spin.
test_answers()
{
	keyed mem_answers --mem-mode -F op,sym <<-'END'
	9.4%  10.0%   4.7%  15.6%  11.2%  17.1%|[.] leaf
	0.0%   0.0%  15.9%  16.2%   0.0%   0.0%|[.] spin
	END
	keyed mem_answers --mem-mode -F cache,sym -S leaf <<-'END'
	3.2%   3.5%   3.8%   4.1%   6.5%   4.4%  42.4%|[.] leaf
	END
	# Answers of samples that filters leave out have no column.
	keyed mem_answers --mem-mode -F memory,sym -S spin <<-'END'
	15.9%  16.2%|[.] spin
	END
	keyed mem_samples --mem-mode -F sample,snoop,sym -s sym --percent-limit 0.1 <<-'END'
	4|29.9%  67.2%   2.8%|[.] leaf
	2|0.0%   0.0%   0.1%|[.] spin
	END
	keyed mem_samples --mem-mode -F dtlb -s sym --percent-limit 0.1 <<-'END'
	2.2%   0.5%  29.9%  67.2%|[.] leaf
	0.0%   0.0%   0.0%   0.1%|[.] spin
	END
	fails_with 129 "'op' is only available for memory samples, with --mem-mode" \
		"$PSTAT" report -i "$golden/mem_answers.data" -F op
}

# Children map the same ten pages, each for itself: perf, too, tells their lines apart. Their stacks' lines may be the
# first of a page as well, by chance: these are not touched in this function.
test_private_lines()
{
	local rows

	"$PSTAT" record -q -e page-faults:u -c 1 -d -o forks -- "$WORK/exact" forks:3 pages:10
	rows=$("$PSTAT" report -i forks --mem-mode -F sample,dcacheline -s dcacheline -S pages --stdio 2>&1 |
		grep -o '^ *1  *\[.\] 0x[0-9a-f]*000 *$' | sort | uniq -c | awk '$1 == 3' | wc -l)
	same "lines that three processes have" 10 "$rows"
}

test_weights()
{
	keyed weight_struct -F sample,local_weight,local_ins_lat,sym -s local_weight,local_ins_lat,sym <<-'END'
	1|13|203|[.] spin
	1|12|202|[.] spin
	1|11|201|[.] leaf
	1|10|200|[.] leaf
	END
	keyed weight_struct -F weight,ins_lat,comm -s weight,ins_lat,comm -S leaf <<-'END'
	11|201|app
	10|200|app
	END
	keyed weight_struct -s local_retire_lat,retire_lat <<-'END'
	25.00%|6|6
	25.00%|5|5
	25.00%|4|4
	25.00%|3|3
	END
	# Means of 14 and of 2 samples; the greater sum is first.
	keyed mem_answers -F weight1,weight2,weight3,sym <<-'END'
	16.5|206.5|6.5|[.] leaf
	54.5|214.5|14.5|[.] spin
	END
	same "the greater sum is first" "16.5 54.5" "$(rows "$golden/mem_answers.data" "${names[@]}" -F weight1,sym |
		cut -d '|' -f 1 | paste -sd ' ')"
	keyed weight_struct -s simd <<-'END'
	100.00%|
	END
	# Of PowerPC: left out elsewhere, as perf does; the words are known all the same.
	keyed weight_struct -s comm,local_p_stage_cyc,p_stage_cyc <<-'END'
	100.00%|app
	END
	keyed mem_samples -s transaction,code_page_size -F sample,transaction,code_page_size <<-'END'
	6||4K
	1|EL SYNC CON|4K
	END
}

test_cgroups()
{
	keyed cgroups -F period,cgroup -s cgroup <<-'END'
	16000|unknown
	8000|/user.slice
	4000|/system.slice/app.service
	2000|/
	1000|N/A
	END
	keyed namespaces -F sample,cgroup_id,sym -s cgroup_id,sym <<-'END'
	1|4/0xf0000006|[.] leaf
	1|4/0xf0000006|[.] spin
	1|0/0x0|[.] spin
	END
}

# 1000 in user mode, 2000 in a guest's kernel, 4000 in a guest's program, 8000 in the hypervisor.
test_modes()
{
	keyed guest_kernel -F period,overhead,overhead_us,overhead_guest_sys,overhead_guest_us,comm <<-'END'
	15000|100.00%|6.67%|13.33%|26.67%|app
	END
	keyed plain --no-children -F sample,overhead,overhead_sys,overhead_us,comm <<-'END'
	4|100.00%|26.67%|73.33%|app
	END
	keyed plain -F overhead_children,overhead,sym --percent-limit 20 <<-'END'
	100.00%|0.00%|[.] main
	53.33%|53.33%|[.] sort<int>
	53.33%|0.00%|[.] work
	33.33%|6.67%|[.] leaf
	26.67%|26.67%|[k] vfs_read
	26.67%|0.00%|[k] entry_SYSCALL_64
	END
	keyed plain --no-children -F overhead_children,overhead,sym -S leaf <<-'END'
	N/A|6.67%|[.] leaf
	END
}

# Each page that `pages` touches is one fault, at one line of exact.c.
test_source_lines()
{
	local line

	need_paranoid 2
	"$PSTAT" record -q -e page-faults:u -c 1 -o faults -- "$WORK/exact" pages:70 2>said ||
		fail "page faults are recorded" "$(<said)"
	line=$(grep -nF 'area)[(size_t)i * page_bytes] = 1' "$ROOT/tests/work/exact.c" | cut -d : -f 1)
	ran=
	same "srcline" "70|exact.c:$line" "$(rows faults -F sample,srcline -S pages)"
	same "srcfile" "70|exact.c" "$(rows faults -s srcfile -F sample,srcfile -S pages)"
	has "srcfile with its folders" '^70\|.*/tests/work/exact.c$' \
		"$(rows faults --full-source-path -s srcfile -F sample,srcfile -S pages)"
	has "overhead,sample,period and code" '^[0-9.]+%\|70\|70\|exact\|\[\.\] pages$' \
		"$(rows faults -F overhead,sample,period,comm,sym)"
}

test_tracepoints()
{
	need_tracefs
	need_paranoid -1
	"$PSTAT" record -q -e sched:sched_process_fork -o forks -- "$WORK/exact" name:1:parent forks:3 2>said ||
		fail "forks are recorded" "$(<said)"
	ran=
	same "trace" "3 comm=parent child_comm=parent" "$(rows forks -s trace -F sample,trace |
		sed 's/^\([0-9]*\)|\(comm=[^ ]*\) pid=[0-9]* \(child_comm=[^ ]*\) child_pid=[0-9]*$/\1 \2 \3/' |
		awk '{ n += $1; text = $2 " " $3 } END { print n, text }')"
	same "a field" "3|parent" "$(rows forks -s parent_comm -F sample,parent_comm)"
	same "trace is the default" "$(rows forks -s trace)" "$(rows forks)"
}
run_tests
