#!/bin/bash
# SPDX-License-Identifier: MIT
# Counters that the kernel takes away at an exec: of programs that are set-uid, have file capabilities or may not be
# read, for a user without rights. What they ran is no count of nothing, and says so; others are left as they are.
#
# run: once
. "${0%/*}/../lib.sh"

need_root
need_cmd setpriv
need_cmd setcap
need_plain_build

# Within reach of everybody, which the runner's own folder is not.
open=$(mktemp -d /tmp/taken-XXXXXX) || exit 1
trap 'rm -rf "$open"; tests_end' EXIT
chmod 777 "$open" && cd "$open" || exit 1
cp "$PSTAT" pstat && cp "$(command -v bash)" plain || exit 1
busy='i=0; while [ $i -lt 40000 ]; do i=$((i + 1)); done'
cp plain captured && setcap cap_net_bind_service+ep captured || skip "needs a file system with file capabilities"
cp plain unreadable && chmod 711 unreadable
cp plain setuid && chown 1:1 setuid && chmod 4755 setuid

# Each test has a folder of its own; this one is everybody's.
as_user() { (cd "$open" && exec setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all -- "$@"); }
# A file system that is mounted nosuid gives no rights, and takes no counters.
[ "$(as_user ./setuid -p -c 'echo $EUID')" = 1 ] || skip "needs a file system that is not nosuid"

taken() { grep -q 'the kernel closes the counters of a task that executes a program that' <<<"$1"; }

test_the_command_itself()
{
	for kind in 'captured has file capabilities' 'unreadable may not be read' 'setuid is set-uid'; do
		file=${kind%% *} why=${kind#* }
		run as_user ./pstat stat -j -e task-clock:u,page-faults:u -- ./$file -c "$busy"
		same "$file: exit status" 0 "$status"
		same "$file: no count" 2 "$(grep -c '"<not counted>".*"reason" : .*of CPU time counted' <<<"$err")"
		has "$file: why" "program that $why, such as ./$file\"" "$err"
		same "$file: it did not run all the time" 2 "$(grep -Ec '"<not counted>".*"pcnt-running" : [0-9]?[0-9]\.' <<<"$err")"
		run as_user ./pstat record -e cpu-clock:u -o data -- ./$file -c "$busy"
		has "$file: record says why" "program that $why, such as ./$file\$" "$err"
	done
}

test_in_every_format()
{
	run as_user ./pstat stat -e task-clock:u -- ./captured -c "$busy"
	has "text" '<not counted> msec task-clock:u .*ms of CPU time counted: the kernel closes' "$err"
	has "what to do" '^  run pstat as root' "$err"
	run as_user ./pstat stat -x, -e task-clock:u -- ./captured -c "$busy"
	has "CSV: no value" '^<not counted>,msec,task-clock:u,[0-9]+,[0-9]?[0-9]\.[0-9]+,' "$err"
	has "CSV: why" '^,,,,,,"?not counted: .*the kernel closes the counters' "$err"
	run as_user ./pstat stat -r 2 -e task-clock:u -- ./captured -c "$busy"
	has "repeated" '<not counted> msec task-clock:u .*CPU time counted' "$err"
}

test_a_child_in_between()
{
	run as_user ./pstat stat -j -e task-clock:u -- ./plain -c "$busy; ./captured -c '$busy; $busy'; true"
	has "at least" '"counter-value" : "[0-9.]+", .*"partial" : true' "$err"
	has "why" 'is set-uid or set-gid, has file capabilities or may not be read' "$err"
	run as_user ./pstat stat -x, -e task-clock:u -- ./plain -c "$busy; ./captured -c '$busy; $busy'; true"
	has "CSV" '^,,,,,,"?at least: .*the kernel closes' "$err"
	run as_user ./pstat record -e cpu-clock:u -o data -- ./plain -c "./captured -c '$busy; $busy'; true"
	check "record" taken "$err"
}

test_begun_later()
{
	run as_user ./pstat stat -D 1 -j -e task-clock:u -- ./plain -c "sleep 1; exec ./captured -c '$busy; $busy'"
	check "-D" taken "$err"
	run as_user ./pstat stat -i -j -e task-clock:u -- ./captured -c "$busy; $busy"
	check "-i" taken "$err"
	run as_user ./pstat stat -I 20 -j -e task-clock:u -- ./captured -c "$busy; $busy"
	check "-I" taken "$err"
}

test_root_is_not_spared_by_another_uid()
{
	cd "$open" || return
	run ./pstat stat -e task-clock -- ./captured -c "$busy"
	check_not "root has all capabilities" taken "$err"
	run ./pstat stat -e task-clock -- ./setuid -c "$busy"
	check "root becomes another user" taken "$err"
	has_cap perfmon && has "what to do" '^  count whole CPUs \(-a\)' "$err"
	return 0
}

# It execs once its counters are open, which the answer to a ping tells.
attached()
{
	local how=$1 pid here=$open
	shift
	cd "$open" || return
	mkfifo go ctl ack && chmod 666 go ctl ack
	(cd "$open" && exec setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all -- \
		./plain -c "read -r x <'$here/go'; exec ./captured -c '$busy; $busy; $busy'") &
	pid=$!
	until [[ $(readlink /proc/$pid/exe) = */plain ]]; do kill -0 $pid || return; done
	exec 8<>ctl 9<>ack
	(cd "$open" && exec setpriv --reuid 65534 --regid 65534 --clear-groups -- \
		./pstat "$@" --control "fd:8,9" "-$how" $pid) >out 2>&1 &
	echo ping >&8
	read -r -t 200 _ <&9 || fail "ping"
	echo x >go
	wait $!
	err=$(<out)
	wait $pid
	rm -f go ctl ack
}

test_a_task_that_ran()
{
	for how in p t; do
		attached $how stat -j -e task-clock:u
		check "stat -$how" taken "$err"
		attached $how record -e cpu-clock:u -o data
		check "record -$how" taken "$err"
	done
}

# What ends a task, and what comes and goes, is no loss.
test_others_are_left_alone()
{
	local forks='i=0; while [ $i -lt 300 ]; do (:); i=$((i + 1)); done'

	for command in true "$busy" "$forks" 'kill -9 $$' "$busy & exit 0" 'exec sleep 0.1' "exec ./plain -c '$busy'" \
		'x=$(head -c 20000000 /dev/zero | tr "\0" x)'; do
		for options in "" "-D 1" -i "-I 20" "-r 2"; do
			run as_user ./pstat stat $options -j -e task-clock:u,page-faults:u -- ./plain -c "$command"
			has_not "$options $command" 'CPU time counted|verified' "$err"
		done
	done
	run as_user ./pstat record -e cpu-clock:u -o data -- ./plain -c "$forks"
	check_not "record" taken "$err"
}

run_tests
