#!/bin/bash
# SPDX-License-Identifier: MIT
# What is counted for a cgroup, and the column with its name.
#
# run: alone
# run: once
# While tasks of other cgroups run on the CPU, Linux (6.18 seen) now and then adds the time since the last
# cgroup event there to the time enabled, and not to the time running: a count then looks as if it had
# shared its counter, and is scaled.
. "${0%/*}/vs_perf.bash"
need_root
need_tracefs
need_cmd "$PYTHON"

test_cgroups()
{
	make_cgroup
	local p event=syscalls:sys_enter_write

	for p in perf "$PSTAT"; do
		waiting 1 wait writes:20 forks:2 writes:5
		echo $pid >"$cgroup/in/cgroup.procs" || skip "needs a cgroup that takes processes"
		ran=
		same "-G, ${p##*/}" "30|$event|$in <not counted>|$event|$out" "$(rows "$p" -a -e $event -G "$in" -e $event -G "$out" \
			-- "$release" $pid | cut -d '|' -f 1,3,4 | paste -sd ' ')"
		waiting 1 wait writes:20
		echo $pid >"$cgroup/out/cgroup.procs"
		same "-G, several names, ${p##*/}" "<not counted>|$event|$in 20|$event|$out" "$(rows "$p" -a -e $event,$event -G "$in,$out" \
			-- "$release" $pid | cut -d '|' -f 1,3,4 | paste -sd ' ')"
		waiting 1 wait writes:20
		echo $pid >"$cgroup/out/cgroup.procs"
		same "--for-each-cgroup, ${p##*/}" \
			"<not counted>|$event|$in <not counted>|dummy|$in 20|$event|$out 0|dummy|$out" \
			"$(rows "$p" -a -e $event,dummy --for-each-cgroup "$in,$out" -- "$release" $pid |
				cut -d '|' -f 1,3,4 | paste -sd ' ')"
	done
	fails_with 125 "no such cgroup|cgroup" "$PSTAT" stat -a -e dummy -G no/such/cgroup -- true
}

# Regular expressions, basic ones, that match anywhere in the path below the root; each cgroup once.
test_patterns()
{
	local patterns name=pstat_test_$$ got

	make_cgroup
	for patterns in "^$name" "^$name/" "$name/.*" "$name/in$" "${name}$" "$name/[io]" "$name/in\\|$name/out" \
		"$name/out*,$name/i." "^$name/in,^$name$" "$name,$name.in"; do
		case $patterns in
		*[][{}\(\)\|*+?^$]*) ;;
		*) continue ;; # names
		esac
		got=$(names_of perf "$patterns")
		same "--for-each-cgroup '$patterns'" "$(sort <<<"$got")" "$(names_of "$PSTAT" "$patterns")"
		check "'$patterns' is some" test -n "$got"
	done
	same "by name" "$name $name/in $name/out" "$(names_of "$PSTAT" "^$name" | xargs)"
	fails_with 129 "no cgroup matches 'no_such_$$\.\*' below " "$PSTAT" stat -a -e dummy --for-each-cgroup "no_such_$$.*" true
	fails_with 129 "no cgroup matches '\^$name\|x' below " "$PSTAT" stat -a -e dummy --for-each-cgroup "^$name|x" true
	fails_with 129 "'\[' is not a regular expression: " "$PSTAT" stat -a -e dummy --for-each-cgroup "^$name,[" true
	fails_with 129 "an empty name" "$PSTAT" stat -a -e dummy --for-each-cgroup "^$name,," true
}

names_of() # PROGRAM PATTERNS
{
	"$1" stat -x, -a -e dummy --for-each-cgroup "$2" true 2>&1 | cut -d, -f4
}

test_cgroup_column()
{
	whole_cpus
	awk '$3 == "cgroup" && $4 ~ /perf_event/ || $3 == "cgroup2" { n++ } END { exit !n }' /proc/mounts ||
		skip "needs a mounted cgroup hierarchy with perf events"
	alike "-G" -a -e dummy -G / -- "${work[@]}"
	alike "-G -A" -a -A -e dummy -G / -- "${work[@]}"
	alike "--for-each-cgroup" -a -e dummy --for-each-cgroup / -- "${work[@]}"
	formats="csv json" alike "-G --per-core" -a --per-core -e dummy -G / -- "${work[@]}"
	work+=(sleeps:600)
	formats="csv json" alike "-G -I" -a -I 20000 -e dummy -G / -- "${work[@]}"
}

run_tests
