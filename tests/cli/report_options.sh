#!/bin/bash
# SPDX-License-Identifier: MIT
# The options of `pstat report` beside the keys (report_keys.sh) and what is compared with perf
# (report_vs_perf.sh): what each shows of a recording that is known (tests/golden), and what words it refuses.
#
# run: once
. "${0%/*}/../lib.sh"
export HOME=$tmp NO_COLOR=1
golden=$ROOT/tests/golden
names=(--symfs "$golden/symfs" --kallsyms "$golden/kallsyms")
plain=$golden/plain.data

# report FILE OPTION...: to $out, $err, $status; without the header lines of --stdio.
report()
{
	local file=$1

	shift
	run "$PSTAT" report -q -i "$file" "${names[@]}" "$@"
}

# shows NAME WANTED: $out without blanks at the ends of lines, and without empty lines.
shows() { same "$1" "$2" "$(sed 's/^ *//; s/  */ /g; s/ *$//; /^$/d' <<<"$out")"; }

test_numbers()
{
	report "$plain" -n --show-total-period -g none --no-children -s dso
	shows "-n --show-total-period" "53.33% 1 8000 libwork.so
26.67% 1 4000 [kernel.kallsyms]
20.00% 2 3000 app"
	report "$plain" --percent-limit 25 -g none --no-children -s dso
	shows "--percent-limit" "53.33% libwork.so
26.67% [kernel.kallsyms]"
	report "$plain" --show-cpu-utilization -g none --no-children -s comm
	shows "--show-cpu-utilization" "100.00% 26.67% 73.33% app"
	report "$plain" -w 12,3 -g none --no-children -s dso
	same "-w" "$(printf '%s\n' '        53.33%  lib' '        26.67%  [ke' '        20.00%  app')" \
		"$(grep . <<<"$out")"
}

test_filters()
{
	local row options want

	# What is left of 15000: leaf 1000 at 1.005 s, spin 2000, vfs_read 4000 at 1.008 s, sort<int> 8000.
	while IFS='|' read -r options want; do
		# shellcheck disable=SC2086 # words
		report "$plain" --no-children -g none -s sym -F period,sym -t : $options
		same "$options" "$want" "$(sed -n 's/^ *\([0-9]*\) *:.*/\1/p' <<<"$out" | sort -n | paste -sd ' ')"
	done <<-'END'
	--dsos app|1000 2000
	-d libwork.so,[kernel.kallsyms]|4000 8000
	-S spin|2000
	-S leaf,vfs_read|1000 4000
	--symbol-filter read|4000
	-c app|1000 2000 4000 8000
	-c nobody|
	--pid 4200001|1000 2000 4000 8000
	--pid 4200002|
	--tid 4200001,5|1000 2000 4000 8000
	-C 1|1000 2000 4000 8000
	-C 0,2-5|
	--time 1.006,1.008|2000 4000
	--time ,1.0055|1000
	--time 1.0085,|8000
	--time 0%-50%|1000 2000
	--time 50%/2|4000 8000
	--time 0%-10%,90%-100%|1000 8000
	END
	echo spin >list
	report "$plain" --no-children -g none -s sym -S "file:$PWD/list"
	shows "file:LIST" "13.33% [.] spin"
	report "$plain" --no-children -g none -s sym -d app --percentage relative
	shows "--percentage relative" "66.67% [.] spin
33.33% [.] leaf"
	report "$plain" --no-children -g none -s sym -d app --percentage absolute
	shows "--percentage absolute" "13.33% [.] spin
6.67% [.] leaf"
	report "$plain" --no-children -g none -s sym vfs
	shows "a word alone is part of a function's name" "26.67% [k] vfs_read"
	# Also where no key tells functions apart: of the file's two, the one that was sampled first and the other one.
	report "$plain" --no-children -g none -s dso --symbol-filter leaf
	shows "-s dso: the first function" "6.67% app"
	report "$plain" --no-children -g none -s dso --symbol-filter spin
	shows "-s dso: the second function" "13.33% app"
	report "$plain" --no-children -g none -s comm --symbol-filter a
	shows "-s comm: two functions of four" "33.33% app"
}

test_separator()
{
	report "$golden/hostile_names.data" -t , -g none --no-children -s comm,dso,sym
	check "-t: three columns of keys in each row, as CSV" "$PYTHON" -c '
import csv, sys
rows = [r for r in csv.reader(open(sys.argv[1], encoding="utf-8"), strict=True) if r]
sys.exit(not rows or any(len(r) != 4 for r in rows))' "$tmp/.out"
	run "$PSTAT" report -i "$plain" "${names[@]}" -t '|' -g none --no-children -s dso
	has "its head" '^# Overhead\|Shared Object' "$out"
}

test_group()
{
	report "$golden/group_read.data" -s sym -n
	shows "a group's events beside each other" "71.43% 100.00% 25.00% 2 2 1 [.] leaf
28.57% 0.00% 75.00% 1 0 1 [.] spin"
	report "$golden/group_read.data" -s sym -n --no-group
	shows "--no-group" "71.43% 2 [.] leaf
28.57% 1 [.] spin
100.00% 2 [.] leaf
75.00% 1 [.] spin
25.00% 1 [.] leaf"
	report "$golden/group_read.data" -s sym -n --group-sort-idx 2
	shows "--group-sort-idx 2: the third event's numbers order the rows" "28.57% 0.00% 75.00% 1 0 1 [.] spin
71.43% 100.00% 25.00% 2 2 1 [.] leaf"
	report "$golden/group_read.data" -s sym -n --group-sort-idx 3
	shows "--group-sort-idx 3: there is none, so the first" "71.43% 100.00% 25.00% 2 2 1 [.] leaf
28.57% 0.00% 75.00% 1 0 1 [.] spin"
	report "$golden/different_sample_types.data" -s sym -F sample,sym --no-children -g none --group
	shows "--group of events that are none" "1 0 0 [.] leaf
0 0 1 [k] schedule
1 1 0 [.] spin"
	run "$PSTAT" report -i "$golden/different_sample_types.data" --group
	has "their names" "of events 'cycles, page-faults, context-switches'" "$out"
}

test_ignored_callees()
{
	report "$plain" --no-children -g none -s dso,sym --ignore-callees '^(leaf|work)$'
	shows "--ignore-callees: what they called is theirs" "53.33% libwork.so [.] work
33.33% app [.] leaf
13.33% app [.] spin"
	report "$plain" --folded --ignore-callees '^(leaf|work)$'
	same "--folded --ignore-callees" "app;main;leaf 1
app;main;middle;inner;leaf 1
app;main;spin 1
app;main;work 1" "$out"
	report "$plain" -g none -s sym --ignore-callees 'work|main'
	shows "the outermost stands" "100.00% 100.00% [.] main"
	report "$plain" -g none -s sym --no-children --ignore-callees nobody -d libwork.so
	shows "no such function" "53.33% [.] sort<int>"
}

# Stacks cut to one side, in each command that has them; the sample of leaf was taken in the kernel.
test_sides_of_stacks()
{
	local command

	report "$plain" --folded --user-stacks
	same "--user-stacks" "app;main;leaf 1
app;main;middle;inner;leaf 1
app;main;spin 1
app;main;work;sort<int> 1" "$out"
	report "$plain" --folded --kernel-stacks
	same "--kernel-stacks" "app;[user] 3
app;entry_SYSCALL_64;vfs_read 1" "$out"
	report "$plain" --user-stacks --no-children -g none -s sym -S leaf
	shows "a filter is asked about what is left" "33.33% [.] leaf"
	run "$PSTAT" script -q -i "$plain" "${names[@]}" -F ip,sym --kernel-stacks
	same "script" "2 3" "$(grep -c 'vfs_read\|entry_SYSCALL_64' <<<"$out") $(grep -c '\[user\]$' <<<"$out")"
	run "$PSTAT" export -q -i "$plain" "${names[@]}" --jsonl - --user-stacks
	same "export" "4 2" "$(wc -l <<<"$out") $(grep -c '"symbol":"leaf"' <<<"$out")"
	run "$PSTAT" diff -q "$plain" "$plain" "${names[@]}" --kernel-stacks
	has "diff" '^ *73.33% .* \[user\]$' "$out"
	for command in report script "export --jsonl -" annotate "top -p $$"; do
		# shellcheck disable=SC2086 # words
		fails_with 129 'leave nothing of a stack; give one$' "$PSTAT" $command --user-stacks --kernel-stacks
	done
}

test_empty_events()
{
	run "$PSTAT" report -i "$plain" "${names[@]}" -C 0
	has_not "an event without samples is left out" "of event" "$out"
	run "$PSTAT" report -i "$plain" "${names[@]}" -C 0 --no-skip-empty
	has "--no-skip-empty" "^# Samples: 0 +of event 'cycles'$" "$out"
	run "$PSTAT" report -i "$plain" "${names[@]}" -C 0 -j --no-skip-empty
	has "-j --no-skip-empty" '"name": "cycles", "samples": 0' "$out"
}

test_sockets()
{
	local socket cpu

	need_paranoid 2
	need_cmd taskset
	cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//') # one, so that it does not move to another socket
	taskset -c "$cpu" "$PSTAT" record -q -F 2000 --sample-cpu -e cpu-clock:u -o here -- "$WORK/callers" known 50
	socket=$("$PSTAT" report -q -i here -s socket -F socket 2>/dev/null | tr -dc '0-9')
	report here -s comm --socket-filter "$socket"
	shows "--socket-filter: all are on this machine's" "100.00% callers"
	report here -s comm --socket-filter $((10#$socket + 1))
	shows "none is on the next one" ""
	run "$PSTAT" report -i here --socket-filter "$socket"
	has "the head says so" "^# Processor Socket: $socket$" "$out"
	refused "no topology in the header" "the recording's header does not say which socket a CPU is in" \
		"$plain" --socket-filter 0
}

test_raw_trace()
{
	report "$golden/tracepoints.data" -s trace --raw-trace
	has "--raw-trace: numbers as they are" ' state=7 big=0 bits=12 ' "$out"
	has "an array's bytes" 'bytes=ARRAY\[01, 02, fe, ff' "$out"
	report "$golden/tracepoints.data" -s trace
	has "without: as the kernel words them" ' state=0x7 bits=0xc ' "$out"
}

test_header()
{
	run "$PSTAT" report -i "$plain" --header-only
	has "--header-only: the host" '^# hostname : golden$' "$out"
	has_not "--header-only: no samples" Overhead "$out"
	run "$PSTAT" report -i "$plain" "${names[@]}" --header -g none
	has "--header" '^# hostname : golden$' "$out"
	has "--header: the rows, too" 'sort<int>$' "$out"
	has_not "--header: no word about --header" 'To display the perf.data header' "$out"
	run "$PSTAT" report -i "$plain" -I
	has "-I" '^# hostname : golden$' "$out"
	run "$PSTAT" report -i "$plain" "${names[@]}"
	has "without: a word about it" 'To display the perf.data header' "$out"
}

test_listings()
{
	run "$PSTAT" report -i "$plain" --stats
	has "--stats: samples" '^ +SAMPLE events: +4 ' "$out"
	has "--stats: of the event" '^cycles stats:$' "$out"
	run "$PSTAT" report -i "$plain" --tasks
	has "--tasks: the process" '^ +4200001 +4200001 +-1 \|app$' "$out"
	has "--tasks: its child" '^ +4200002 +4200002 +4200001 \| app$' "$out"
	run "$PSTAT" report -i "$plain" --mmaps
	has "--mmaps" '^ +400000-401000 r-xp 00000000 .* /opt/golden/app$' "$out"
	run "$PSTAT" report -i "$plain" -D
	same "-D: each sample" 4 "$(grep -c ' PERF_RECORD_SAMPLE(' <<<"$out")"
	run "$PSTAT" report -v -i "$plain" "${names[@]}" --no-children -g none -s dso,sym
	has "-v: addresses and paths" '^ +53.33% +/opt/golden/libwork.so +0xc0 +\[\.\] void sort<int>\(int\*, unsigned long\)$' "$out"
}

test_hierarchy()
{
	report "$plain" --hierarchy -g none -s comm,dso
	shows "--hierarchy" "100.00% app
53.33% libwork.so
26.67% [kernel.kallsyms]
20.00% app"
	report "$plain" --hierarchy -g none -s '{comm,dso},cpu'
	shows "keys in braces share a level" "53.33% app libwork.so
53.33% 001
26.67% app [kernel.kallsyms]
26.67% 001
20.00% app app
20.00% 001"
}

test_threads()
{
	local rows

	need_paranoid 2
	"$PSTAT" record -q -s -e page-faults:u -c 1 -o threads -- "$WORK/exact" threads:2 pages:40 2>said ||
		fail "threads are recorded" "$(<said)"
	run "$PSTAT" report -i threads -T -g none
	rows=$(sed -n '/^# *PID *TID/,$p' <<<"$out")
	has "-T: the event's name" '^# +PID +TID +page-faults:u$' "$rows"
	check "-T: a row for each thread that faulted 40 times" test 2 -le \
		"$(awk '!/^#/ && $3 >= 40' <<<"$rows" | wc -l)"
	run "$PSTAT" report -i threads -g none
	has_not "only with -T" 'PID +TID' "$out"
}

test_standard_input()
{
	run "$PSTAT" report -i "$plain" "${names[@]}"
	same "-i -: a file, and a pipe" "$out" \
		"$(cat "$golden/in_a_pipe.data" | "$PSTAT" report -i - "${names[@]}" 2>/dev/null)"
}

test_chains()
{
	report "$plain" --call-graph=caller --no-children -s dso -d libwork.so
	shows "--call-graph" "53.33% libwork.so
|
---main
work
sort<int>"
	report "$plain" -G --no-children -s dso -d libwork.so
	has "-G: callers first" '^ +---main$' "$out"
	run "$PSTAT" report -i "$golden/different_sample_types.data" "${names[@]}" --no-children -s sym --show-ref-call-graph
	same "--show-ref-call-graph: the chains of spin's row, not of schedule's, which the event with chains has not" \
		"# Samples: 1 of event 'page-faults', show reference callgraph
100.00% [.] spin
|
---main
# Samples: 1 of event 'context-switches', show reference callgraph
100.00% [k] schedule" "$(sed -n '/page-faults/,$p' <<<"$out" | sed 's/^ *//; s/  */ /g; s/ *$//; /^$/d' |
			grep -E '^(# Samples|[^#])')"
	has "the event with chains is as ever" "^# Samples: 2  of event 'cycles'\$" "$out"
	report "$plain" --no-call-graph -n
	has_not "--no-call-graph" '---' "$out"
	run "$PSTAT" report -i "$golden/cgroups.data" "${names[@]}" -g
	same "-g without chains: status" 0 "$status"
	has "-g without chains: the table" '100.00% +app' "$out"
	has "-g without chains: a note" 'call-graph: the recording has no callchains' "$err"
	run "$PSTAT" report -i "$golden/cgroups.data" "${names[@]}" -g none
	same "no note for -g none" "" "$err"
	run "$PSTAT" report -i "$plain" "${names[@]}" -g caller,branch
	has "-g branch: a note" 'call-graph branch: chains are shown without their branches' "$err"
	run "$PSTAT" report -i "$plain" "${names[@]}" --stdio -f -m -M intel
	same "accepted without effect" "0 " "$status $err"
}

# The lines of flamegraph.pl: frames, a blank, a number; marks only where asked for.
test_folded()
{
	report "$plain" --folded
	same "--folded" "app;main;leaf;entry_SYSCALL_64;vfs_read 1
app;main;middle;inner;leaf 1
app;main;spin 1
app;main;work;sort<int> 1" "$out"
	report "$plain" --folded -a
	has "-a: kernel frames are marked" '^app;main;leaf;entry_SYSCALL_64_\[k\];vfs_read_\[k\] 1$' "$out"
	report "$plain" --folded --delimiter
	has "--delimiter" '^app;main;leaf;-;entry_SYSCALL_64;vfs_read 1$' "$out"
	report "$plain" --folded -S spin,leaf
	same "filters hold" "app;main;middle;inner;leaf 1
app;main;spin 1" "$out"
	report "$golden/hostile_names.data" --folded
	has_not "no line is broken by a name" '^([^;]*|.*[^0-9])$' "$out"
}

# The numbers of the JSON document are the table's.
test_json()
{
	for options in "--no-children -g none" "-g none" "-g none -s comm,cpu" "-n --show-total-period -g none -s pid"; do
		# shellcheck disable=SC2086 # words
		report "$plain" -t '|' $options
		cp "$tmp/.out" table
		# shellcheck disable=SC2086 # words
		report "$plain" -j $options
		"$PYTHON" - "$tmp/.out" table >json_said 2>&1 <<-'END'
		import json, re, sys
		document = json.load(open(sys.argv[1], encoding="utf-8"))
		rows = []
		for entry in document["events"][0]["entries"]:
		    row = []
		    for name, value in entry["columns"].items():
		        text = "%.2f%%" % value if name.startswith("overhead") else str(value)
		        row.append("[%s] %s" % (entry["level"], text) if name == "symbol" else text)
		    rows.append(row)
		table = [[c.strip() for c in line.split("|")] for line in open(sys.argv[2]) if line.strip()]
		table = [[re.sub(r"^0+(?=\d+$)", "", c) for c in row] for row in table]
		print(rows, table, sep="\n")
		sys.exit(rows != table or not rows)
		END
		same "-j and the table: $options" "" "$([ $? = 0 ] || cat json_said)"
	done
	report "$golden/hostile_names.data" -j
	check "names with anything in them" "$PYTHON" -c 'import json, sys; json.load(open(sys.argv[1]))' "$tmp/.out"
	report "$plain" -F overhead_children,sym --no-children -g none -j
	has "what is not known is null" '"overhead_children": null' "$out"
}

# on_terminal COMMAND...: its output on a terminal of its own, without \r.
on_terminal()
{
	"$PYTHON" -c '
import os, pty, sys
def read(fd):
    return os.read(fd, 65536)
status = pty.spawn(sys.argv[1:], read, lambda fd: b"")
sys.exit(os.waitstatus_to_exitcode(status) if hasattr(os, "waitstatus_to_exitcode") else status >> 8)' \
		"$@" </dev/null | tr -d '\r'
}

test_pager()
{
	printf '#!/bin/sh\necho paged\nexec cat\n' >page
	chmod +x page
	has "PSTAT_PAGER" '^paged' "$(PSTAT_PAGER=$PWD/page on_terminal "$PSTAT" report --stdio -i "$plain")"
	has "PAGER" '^paged' "$(PAGER=$PWD/page on_terminal "$PSTAT" report --stdio -i "$plain")"
	has_not "PSTAT_PAGER comes first" paged "$(PAGER=$PWD/page PSTAT_PAGER=cat on_terminal "$PSTAT" report --stdio -i "$plain")"
	has_not "--no-pager" paged "$(PSTAT_PAGER=$PWD/page on_terminal "$PSTAT" report --stdio --no-pager -i "$plain")"
	has_not "not in a pipe" paged "$(PSTAT_PAGER=$PWD/page "$PSTAT" report -i "$plain" 2>&1)"
	same "a pager that ends early is no error" "" "$(PSTAT_PAGER=true on_terminal "$PSTAT" report --stdio -q -i "$plain")"
}

test_colors()
{
	local escape=$'\033\\['

	has "--color always" "${escape}31m" "$("$PSTAT" report -q --color always -i "$plain")"
	has "--stdio-color always" "${escape}31m" "$("$PSTAT" report -q --stdio-color always -i "$plain")"
	has_not "none in a pipe" "$escape" "$(NO_COLOR='' "$PSTAT" report -q -i "$plain")"
	has "on a terminal" "${escape}31m" "$(NO_COLOR='' TERM=xterm PSTAT_PAGER=cat on_terminal "$PSTAT" report --stdio -q -i "$plain")"
	has_not "NO_COLOR" "$escape" "$(NO_COLOR=1 TERM=xterm PSTAT_PAGER=cat on_terminal "$PSTAT" report --stdio -q -i "$plain")"
	has_not "--color never" "$escape" \
		"$(NO_COLOR='' TERM=xterm PSTAT_PAGER=cat on_terminal "$PSTAT" report --stdio -q --color never -i "$plain")"
	has_not "none in -t" "$escape" "$("$PSTAT" report -q --color always -t , -i "$plain" -g none)"
}

# One sentence that names the option and what it takes; nothing on standard output.
# Files by their names alone, in one folder; where they are not, names are missing.
test_symfs_flat()
{
	local rows

	mkdir flat
	cp "$golden"/symfs/opt/golden/* flat
	rows=$("$PSTAT" report -q -i "$plain" "${names[@]}")
	has "functions have names" ' leaf' "$rows"
	same "flat" "$rows" "$("$PSTAT" report -q -i "$plain" "${names[@]}" --symfs "$PWD/flat,flat")"
	same "hierarchy" "$rows" "$("$PSTAT" report -q -i "$plain" "${names[@]}" --symfs "$golden/symfs,hierarchy")"
	has_not "not below the folder" ' leaf' "$("$PSTAT" report -q -i "$plain" "${names[@]}" --symfs "$golden/symfs,flat")"
	has_not "not in it" ' leaf' "$("$PSTAT" report -q -i "$plain" "${names[@]}" --symfs flat)"
}

test_refused()
{
	local options want

	while IFS='|' read -r options want; do
		# shellcheck disable=SC2086 # words
		fails_with 129 "^pstat: $want" "$PSTAT" report -i "$plain" $options
		same "$options: nothing on stdout, at most two lines on stderr" "0 yes" \
			"${#out} $([ "$(wc -l <<<"$err")" -le 2 ] && echo yes)"
	done <<-'END'
	-s symbl|--sort: 'symbl' is not a key; is 'symbol' meant\?$
	-F sample,bar|--fields: 'bar' is not a key$
	-s ipc_null|--sort: 'ipc_null' is not available: .*ipc_lbr$
	-s +|--sort: nothing follows
	--time 1.006|--time: '1.006': .*START,STOP$
	--time 1,x|--time: 'x': is not a time in seconds
	--time a%/b|--time: 'a%/b': .*such as 10%/2$
	--time 50%/9|--time: '50%/9': is not a part of the recording
	-C 1-x|--cpu: '1-x' is not a number or a range such as 0-3$
	--pid a|--pid: 'a' is not a number
	--tid 1,a|--tid: 'a' is not a number
	-g foo|call graph 'foo': not known$
	-g graph,1,2,3|call graph '3': a third number has no meaning$
	-g 101|call graph '101': .*from 0 to 100$
	--percent-limit 200|--percent-limit: '200' is not a number from 0 to 100$
	--percentage x|--percentage: 'x' is not relative or absolute$
	--color x|--color: 'x' is not always, never or auto$
	--time-quantum 1|--time-quantum: '1' is not a time such as
	--max-stack 0|--max-stack: '0' is out of range
	-w 9,a|--column-widths: '9,a' is not a list of numbers
	-c file:/no/list|--comms: can't read '/no/list': No such file
	-k /no/vmlinux|--vmlinux: '/no/vmlinux': No such file or directory$
	--kallsyms /|--kallsyms: '/': Is a directory$
	--symfs /no/root|--symfs: '/no/root': No such file or directory$
	--symfs /no/root,flat|--symfs: '/no/root': No such file or directory$
	--prefix-strip 2|--prefix-strip goes with --prefix$
	--debug-dir / --debug-dir /no|--debug-dir: '/no': No such file or directory$
	--buildid-dir /dev/null|--buildid-dir: '/dev/null': Not a directory$
	--folded -j|--folded and --json are two formats
	--header -j|--header goes before a table
	-t|--field-separator: an argument is missing
	--no-such-option|--no-such-option: there is no such option$
	other words|report: 'other' is not an option; the recording is named with -i$
	END
	same "known words stand in the second line" "There are graph, fractal, flat, folded, none;" \
		"$("$PSTAT" report -i "$plain" -g foo 2>&1 | sed -n '2s/^ *\(There are [^;]*;\).*/\1/p')"
	fails_with 125 'no.such.file: No such file or directory' "$PSTAT" report -i no.such.file
}
run_tests
