#!/bin/bash
# SPDX-License-Identifier: MIT
# Older kernels, played by work/old_kernel: what they refuse costs no more than what pstat-kernels(7) says.
#
# run: once
. "${0%/*}/../lib.sh"
on() { "$WORK/old_kernel" "$@"; }
need_old_kernels()
{
	on 4.9 true || skip "needs seccomp filters that ask another process: $(on 4.9 true 2>&1)"
}

# before SINCE: the version before. That of 6.0 is between 5 and 6.
before() { printf '%s.%d' "${1%.*}" $((${1#*.} - 1)); }

test_counting()
{
	local version

	need_old_kernels
	for version in 4.9 5.4; do
		run on $version "$PSTAT" stat -x, -e '{page-faults:u,task-clock:u}' -- true
		same "$version: status" 0 "$status"
		has "$version: a command" '^[1-9][0-9]*,,page-faults:u,' "$err"
		run on $version "$PSTAT" compare -r 10 -e page-faults:u true true
		same "$version: two commands" 0 "$status"
	done
}

test_recording()
{
	local version how

	need_old_kernels
	for version in 4.9 4.19 5.10; do
		for how in fp dwarf; do
			run on $version "$PSTAT" record -e page-faults:u -c 1 --call-graph $how -o $how -- "$WORK/callers" known 1
			same "$version, $how: status" 0 "$status"
			has "$version, $how: samples" ' [1-9][0-9]* samples' "$err"
			run on $version "$PSTAT" report --stdio -q -g none -i $how
			has "$version, $how: a report" '%  callers' "$out"
		done
	done
	run on 4.9 "$PSTAT" record -v -e page-faults:u -c 1 -o v -- true
	has "symbols" 'symbols of generated kernel code: this kernel does not report them \(5.1 and later do\)' "$err"
	has "losses" 'lost samples of each event: this kernel does not report them \(6.0 and later do\)' "$err"
	run on 4.9 "$PSTAT" profile -e page-faults:u -c 1 -f -- "$WORK/callers" known 1
	has "a profile" '^callers;' "$out"
}

# A child of fork finds no records in its parent's sampler, and says so.
test_library()
{
	need_old_kernels
	run on 4.9 "$LIBRARY/samples"
	same "nothing is wrong" "" "$(grep '^not ok' <<<"$out")"
	has "it sampled" '^ok - in a child of fork: ' "$out"
}

# Their end is seen without a descriptor for them: of a process, and of a thread.
test_task()
{
	local version option process pstat

	need_old_kernels
	mkfifo until ctl ack
	while read -r version option; do
		cat until &
		process=$!
		exec 7>until 8<>ctl 9<>ack
		on $version "$PSTAT" stat -x, -o out -D -1 --control fifo:ctl,ack -e page-faults:u $option $process 7>&- &
		pstat=$!
		echo enable >&8
		read -r -t 60 <&9
		exec 7>&-
		wait $pstat
		same "$version, $option: status" 0 $?
		has "$version, $option: it was counted" '^[0-9]+,,page-faults:u,' "$(<out)"
	done <<-'END'
		4.9	-p
		6.8	-t
	END
}

# Since, what it is called, and the words of record that want it. Without it the recording is made, or it is refused.
test_features()
{
	local since what words refused

	need_old_kernels
	while IFS=$'\t' read -r refused since what words; do
		# shellcheck disable=SC2086 # words
		run on "$(before $since)" "$PSTAT" record -v -N -e page-faults:u -c 1 $words -o data -- true
		if [ "$refused" = refused ]; then
			check "$what: refused" test "$status" -ne 0
			has "$what: with the reason" "this kernel does not report $what \($since and later do\)" "$err"
		else
			same "$what: recorded without" 0 "$status"
			has "$what: which is said" "$what: this kernel does not report them \($since and later do\)" "$err"
		fi
		# shellcheck disable=SC2086 # words
		run on "$since" "$PSTAT" record -v -N -e page-faults:u -c 1 $words -o data -- true
		has_not "$what: $since has it" "$what" "$err"
	done <<-'END'
		without	4.12	namespaces of tasks	--namespaces
		refused	4.14	physical addresses	--phys-data
		without	5.1	symbols of generated kernel code	-g
		without	5.1	loads of BPF programs	-g
		refused	5.7	cgroups	--all-cgroups
		refused	5.11	page sizes of data addresses	--data-page-size
		refused	5.11	page sizes of code addresses	--code-page-size
		without	5.12	build-ids of mapped files	--buildid-mmap
		without	5.12	weights in three parts	-W
		without	6.0	lost samples of each event	-g
	END
}

test_other_refusals()
{
	need_old_kernels
	run on 5.12 "$PSTAT" stat -e cgroup-switches,page-faults:u -- true
	has "an event" 'cgroup-switches +# +this kernel does not have the event' "$err"
	run on 4.12 "$PSTAT" stat -v -x, -e '{page-faults:u,minor-faults:u}' -- true
	has "a group" '^[1-9][0-9]*,,minor-faults:u,' "$err"
	has "of children" 'its group is read event by event: this kernel has no group reads for children' "$err"
	run on 4.13 "$PSTAT" stat -v -x, -e '{page-faults:u,minor-faults:u}' -- true
	has_not "since 4.13" 'event by event' "$err"
}
# A kernel that takes the program may be too old to hand over what it counts.
test_bpf()
{
	local why version what

	need_old_kernels
	why=$("$PSTAT" profile --engine bpf --off-cpu -f -- true 2>&1 >/dev/null | sed -n 's/.*samples are read from rings: //p')
	[ -z "$why" ] || skip "needs BPF: $why"
	while IFS=$'\t' read -r version why; do
		run on "$version" "$PSTAT" profile --engine bpf -e page-faults -c 1 -f -- "$WORK/callers" known 1
		has "$version: rings, and why" "samples are read from rings: $why" "$err"
		has "$version: stacks" '^callers;.* [1-9][0-9]*$' "$out"
	done <<-'END'
		4.9	the kernel does not take the BPF program \(Linux 5.6 or later should\)
		5.5	this kernel does not hand over many counts at once \(Linux 5.6 or later does\)
	END
	run on 5.6 "$PSTAT" profile --engine bpf -e page-faults -c 1 -f -- "$WORK/callers" known 1
	has "5.6: counted in the kernel" 'BPF: [1-9][0-9]* runs of the program' "$err"
	run on 5.17 "$PSTAT" profile --engine bpf --off-cpu -f -- "$WORK/callers" known 1
	has "5.17: waits, and why" 'from rings: this kernel does not report how a thread leaves a CPU \(Linux 5.18' "$err"
	run on 5.18 "$PSTAT" profile --engine bpf --off-cpu -f -- sleep 0.05
	has "5.18: waits counted in the kernel" 'BPF: [1-9][0-9]* runs of the program' "$err"
}

test_bpf_programs_of_events()
{
	need_old_kernels
	need_tracefs
	need_root
	need_library small
	run "$LIBRARY/small" bpf_programs
	case $out in "skip: "*) skip "${out#skip: }" ;; esac
	run on 4.15 "$LIBRARY/small" bpf_programs
	has "they are not known" 'pstat_bpf_programs\(counters, 0, ids, 2\) == 0' "$out$err"
	run on 4.16 "$LIBRARY/small" bpf_programs
	same "4.16 tells them" ok "$out"
}

# Before 5.8 there is CAP_SYS_ADMIN alone.
test_capability()
{
	need_root
	need_cap sys_admin
	need_cmd setpriv
	run setpriv --bounding-set -cap_38 --inh-caps -cap_38 "$PSTAT" stat -x, -e context-switches -a -- true
	has "all CPUs are counted" '^[1-9][0-9]*,,context-switches,' "$err"
	run setpriv --bounding-set -cap_38 --inh-caps -cap_38 "$PSTAT" doctor
	has_not "without CAP_PERFMON" '^user .*CAP_PERFMON' "$out"
	has "which is no limit" '^paranoid level +ok' "$out"
}

# The PMUs of probes are folders in /sys.
test_probe_events()
{
	need_mount
	mkdir bare
	for unit in uprobe kprobe; do
		[ ! -d /sys/bus/event_source/devices/$unit ] || echo "mount --bind bare /sys/bus/event_source/devices/$unit"
	done >hide
	for unit in uprobe/path=/bin/sh,func=main/ kprobe/func=vfs_read/; do
		run "${own_mounts[@]}" sh -c '. ./hide && exec "$@"' sh "$PSTAT" stat -e "$unit" -- true
		check "$unit: refused" test "$status" -ne 0
		has "$unit: with the reason" "this kernel has no ${unit%%/*}s" "$err"
	done
}
run_tests
