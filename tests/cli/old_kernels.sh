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

# Its end is seen without a descriptor for it.
test_process()
{
	local process pstat

	need_old_kernels
	mkfifo until ctl ack
	cat until &
	process=$!
	exec 7>until 8<>ctl 9<>ack
	on 4.9 "$PSTAT" stat -x, -o out -D -1 --control fifo:ctl,ack -e page-faults:u -p $process 7>&- &
	pstat=$!
	echo enable >&8
	read -r -t 60 <&9
	exec 7>&-
	wait $pstat
	same "status" 0 $?
	has "it was counted" '^[0-9]+,,page-faults:u,' "$(<out)"
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
run_tests
