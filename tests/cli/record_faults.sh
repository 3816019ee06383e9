#!/bin/bash
# SPDX-License-Identifier: MIT
# Whatever goes wrong while recording: what was recorded until then can be read by pstat and by perf, and
# what is missing is a number.
#
# run: alone without rights
# run: once
# Rings of one user without rights share a budget of locked memory: what another test of the same user holds is missing here.
. "${0%/*}/recorded.bash"
perf_without_kernel

# A program that would run for long, and doesn't outlive pstat.
endless=("$exact" mortal spins:20000)

can_be_read() # NAME FILE
{
	check "$1: pstat evlist" "$PSTAT" evlist -i "$2"
	check "$1: pstat script -D" "$PSTAT" script -D -i "$2"
	! command -v perf >/dev/null || check "$1: perf script" perf script -i "$2"
}

# What was said is what is there.
is_told() # NAME FILE
{
	can_be_read "$1" "$2"
	same "$1: the samples that are in the file" "$(stats "$2" SAMPLE)" "$(said samples)"
}

# in_mount OPTIONS COMMAND...: with a tmpfs on ./m that goes away with the command.
in_mount()
{
	local options=$1

	shift
	mkdir -p m
	run "${own_mounts[@]}" bash -c 'mount -t tmpfs -o "$0" none m && "$@"
		status=$?; cp m/x . 2>/dev/null; exit $status' "$options" "$@"
}

# ---- the place of the file ----

test_the_disk_is_full()
{
	need_mount
	in_mount size=1m "$PSTAT" record -o m/x -e cpu-clock -F 10000 -g -m 64K -- "${endless[@]}"
	same "status" 125 "$status"
	has "the reason" '^pstat: m/x: No space left on device$' "$err"
	is_told "what fits" x
	check "it is most of the room" test "$(stats x SAMPLE)" -gt 2000
	has "the rest is a number" '[1-9][0-9]* not written' "$err"
}

test_the_disk_is_full_at_once()
{
	need_mount
	in_mount size=4k bash -c 'echo >m/other; "$@"' - "$PSTAT" record -o m/x -e cpu-clock -- echo ran
	same "status" 125 "$status"
	has "the reason" '^pstat: m/x: No space left on device$' "$err"
	same "the command was not begun" "" "$out"
}

# One piece is more than all the room there is: samples have it before the features at the end.
test_little_room()
{
	local kib

	need_mount
	for kib in 32 64 200; do
		in_mount size=${kib}k "$PSTAT" record -o m/x -e cpu-clock -F 10000 -g -- "$exact" spins:500
		same "$kib KiB: status" 125 "$status"
		has "$kib KiB: the reason" '^pstat: m/x: No space left on device$' "$err"
		is_told "$kib KiB: what fits" x
		check "$kib KiB: the room is used" test "$(stat -c %s x)" -gt $((kib * 1024 - 8192))
		check "$kib KiB: by samples" test "$(stats x SAMPLE)" -gt $((kib - 20))
		has "$kib KiB: the rest is a number" '[1-9][0-9]* not written' "$err"
	done
}

# The same of packed records, which are packed again, fewer of them. The library may be missing.
test_little_room_packed()
{
	local kib

	need_mount
	"$PSTAT" record -z -q -o x -e cpu-clock -- true 2>err || skip "$(cat err)"
	for kib in 16 32; do
		in_mount size=${kib}k "$PSTAT" record -z -o m/x -c 1 -e page-faults -- "$exact" pages:20000
		same "$kib KiB: status" 125 "$status"
		is_told "$kib KiB: what fits" x
		same "$kib KiB: in perf" "$(stats x SAMPLE)" "$(in_perf x)"
		check "$kib KiB: the room is used" test "$(stat -c %s x)" -gt $((kib * 1024 - 4096))
		has "$kib KiB: the rest is a number" '[1-9][0-9]* not written' "$err"
	done
}

test_a_limit_of_file_size()
{
	need_paranoid 2
	run bash -c 'ulimit -f 300; exec "$@"' - "$PSTAT" record -o x -e cpu-clock -F 10000 -g -m 64K -- \
		"${endless[@]}"
	same "status" 125 "$status"
	has "the reason" '^pstat: x: File too large$' "$err"
	is_told "what fits" x
	check "the room is used" test "$(stat -c %s x)" -gt $((300 * 1024 - 4096))
	"$PSTAT" record -z -q -o x -e cpu-clock -- true 2>err || skip "$(cat err)"
	run bash -c 'ulimit -f 32; exec "$@"' - "$PSTAT" record -z -o x -c 1 -e page-faults -- "$exact" pages:20000
	same "packed: status" 125 "$status"
	is_told "packed: what fits" x
	same "packed: in perf" "$(stats x SAMPLE)" "$(in_perf x)"
	check "packed: the room is used" test "$(stat -c %s x)" -gt $((32 * 1024 - 4096))
}

test_the_reader_of_a_pipe_goes()
{
	need_paranoid 2
	"$PSTAT" record -o - -e cpu-clock -F 10000 -m 64K -- "${endless[@]}" 2>err | head -c 100000 >/dev/null
	same "status" 125 "${PIPESTATUS[0]}"
	has "the reason" '^pstat: standard output: Broken pipe$' "$(cat err)"
	has "what nobody took is a number" '[1-9][0-9]* not written' "$(cat err)"
	"$PSTAT" record -o /dev/full -e cpu-clock -- true 2>err
	same "/dev/full: status" 125 $?
	has "/dev/full: the reason" '^pstat: /dev/full: No space left on device$' "$(cat err)"
}

test_a_command_that_prints_into_the_pipe()
{
	need_paranoid 2
	"$PSTAT" record -q -o - -e cpu-clock -- sh -c 'echo first; echo second >&2' >x 2>err
	same "its output comes beside it" $'first\nsecond' "$(cat err)"
	can_be_read "the pipe" x
}

test_a_place_where_nothing_can_be_written()
{
	need_paranoid 2
	mkdir folder
	touch folder/other
	for place in /proc/x nowhere/x x/; do
		run "$PSTAT" record -o $place -e cpu-clock -- echo ran
		same "$place: status" 125 "$status"
		has "$place: the reason" "^pstat: $place: " "$err"
		same "$place: the command was not begun" "" "$out"
	done
	fails_with 125 '^pstat: folder: Is a directory$' "$PSTAT" record -o folder -e cpu-clock -- true
	same "a folder stays where it is" "folder/other" "$(echo folder*/*)"
	same "nothing is left behind" folder "$(echo *)"
	need_mount
	in_mount ro,size=1m "$PSTAT" record -o m/x -e cpu-clock -- echo ran
	same "read-only: status" 125 "$status"
	has "read-only: the reason" '^pstat: m/x: cannot be created: Read-only file system$' "$err"
}

test_a_link_planted_by_another_user()
{
	need_root
	command -v setpriv >/dev/null || skip "needs setpriv"
	chmod 755 "$tmp" .
	mkdir open
	chmod 1777 open
	echo precious >victim
	setpriv --reuid 65534 --regid 65534 --clear-groups ln -s "$PWD/victim" open/perf.data
	run "$PSTAT" record -o open/perf.data -e cpu-clock -- true
	same "status" 0 "$status"
	same "what it points to" precious "$(cat victim)"
	check_not "the recording is no link" test -L open/perf.data
	is_told "the recording" open/perf.data
}

test_a_fifo_planted_by_another_user()
{
	need_root
	need_cmd setpriv
	chmod 755 "$tmp" .
	mkdir open
	chmod 1777 open
	setpriv --reuid 65534 --regid 65534 --clear-groups mkfifo open/perf.data open/out open/ctl
	timeout 300 cat open/perf.data >taken &
	reader=$!
	run timeout 300 "$PSTAT" record -o open/perf.data -e cpu-clock -- touch ran
	same "record: status" 125 "$status"
	has "record: the reason" "^pstat: open/perf.data: a FIFO of user 65534, not yours or root's" "$err"
	run timeout 300 "$PSTAT" stat -o open/out -e page-faults -- touch ran
	same "stat -o: status" 125 "$status"
	has "stat -o: the reason" "^pstat: open/out: cannot be opened for writing: a FIFO of user 65534" "$err"
	run timeout 300 "$PSTAT" stat --control fifo:open/ctl -e page-faults -- touch ran
	same "--control: status" 129 "$status"
	has "--control: the reason" "^pstat: --control: cannot open 'open/ctl': a FIFO of user 65534" "$err"
	check_not "the command was not begun" test -e ran
	kill $reader
	same "nobody took anything" 0 "$(stat -c %s taken)"
}

test_a_link_planted_for_the_counts()
{
	need_root
	need_cmd setpriv
	chmod 755 "$tmp" .
	mkdir open
	chmod 1777 open
	echo precious >victim
	setpriv --reuid 65534 --regid 65534 --clear-groups ln -s "$PWD/victim" open/out
	for more in "" --append; do
		run "$PSTAT" stat -o open/out $more -e page-faults -- true
		same "stat -o $more: status" 125 "$status"
		has "stat -o $more: the reason" "open/out: .*a link of user 65534, not yours or root's" "$err"
	done
	same "what it points to" precious "$(cat victim)"
}

# until_held PID SIGNAL: until pstat runs as this process and blocks or catches the signal, or has ended.
until_held()
{
	local bit=$(($(kill -l "$2") - 1)) held

	while kill -0 "$1" 2>/dev/null; do
		sleep 0.01
		[ "/proc/$1/exe" -ef "$PSTAT" ] || continue
		for held in $(sed -n 's/^Sig\(Blk\|Cgt\):[[:space:]]*//p' "/proc/$1/status"); do
			((16#$held >> bit & 1)) && return
		done
	done
}

# INT, TERM and HUP are masked while pstat measures; a place that nobody reads must not need KILL.
test_a_fifo_without_reader()
{
	need_paranoid 2
	mkfifo x
	for signal in TERM INT HUP; do
		# A job of this shell would ignore INT.
		env --default-signal=INT "$PSTAT" record -o x -e cpu-clock -- touch ran 2>said &
		pid=$!
		until_held "$pid" $signal
		kill -$signal "$pid"
		wait "$pid"
		same "$signal: status" 125 $?
		has "$signal: the reason" '^pstat: x: no reader opened it before the signal$' "$(<said)"
	done
	check_not "the command was not begun" test -e ran
	"$PSTAT" record -q -o x -e cpu-clock -- true &
	cat x >taken
	wait $!
	same "a reader that comes later: status" 0 $?
	can_be_read "what it took" taken
}

test_the_previous_recording()
{
	need_paranoid 2
	umask 0
	echo first >x
	chmod 644 x
	run "$PSTAT" record -o x -e cpu-clock -- true
	same "it is kept" first "$(cat x.old)"
	same "the new one is for its owner only" 600 "$(stat -c %a x)"
	run "$PSTAT" record -o x -e no-such-event -- true
	same "no such event: kept" first "$(cat x.old)"
	run "$PSTAT" record -o x -e cpu-clock -- /nowhere/program
	same "no such program: status" 127 "$status"
	same "no such program: kept" first "$(cat x.old)"
	run "$PSTAT" record -o x -e cpu-clock -p 999999999 -- true
	same "no such process: kept" first "$(cat x.old)"
	can_be_read "and the newer one" x
	same "nothing else is left behind" "x x.old" "$(echo *)"
}

# ---- ends ----

test_the_target_is_killed()
{
	need_paranoid 2
	run "$PSTAT" record -o x -e cpu-clock -- sh -c 'kill -9 $$'
	same "the command: status" 137 "$status"
	is_told "the command" x
	"$exact" pauses &
	target=$!
	disown
	"$PSTAT" record -o y -e page-faults -p $target 2>err &
	pid=$!
	until [ -e y ]; do sleep 0.01; done
	kill -9 $target
	wait $pid
	same "a process: status" 0 $?
	err=$(cat err)
	is_told "a process" y
}

# spoilt NAME COMMAND...: the command is run when x has samples; then the recording goes on and ends. How many of them
# fit into the rings is up to the machine.
spoilt()
{
	local name=$1

	shift
	"$PSTAT" record -o x -e page-faults -c 1 -m 8K -- sh -c 'until [ -e go ]; do "$1" pages:2000; done; "$1" pages:20000' \
		- "$exact" >/dev/null 2>err &
	pid=$!
	until [ "$(stat -c %s x 2>/dev/null || echo 0)" -gt 500000 ]; do sleep 0.02; done
	"$@"
	touch go
	wait $pid
	status=$?
	err=$(cat err)
	rm -f go
	same "$name: status" 125 "$status"
}

test_the_file_is_cut_meanwhile()
{
	need_paranoid 2
	spoilt "to nothing" truncate -s 0 x
	has "to nothing: the reason" '^pstat: x: it was cut while it was being written: samples are missing$' "$err"
	rm -f x
	spoilt "by half" truncate -s 200000 x
	has "by half: the reason" '^pstat: x: it was cut while it was being written: samples are missing$' "$err"
	check "what is left can be read" "$PSTAT" script -D -i x
}

test_the_file_is_moved_meanwhile()
{
	need_paranoid 2
	spoilt "moved" mv x y
	has "moved: the reason" '^pstat: x: it was moved while it was being written: the recording has another name$' "$err"
	is_told "moved: the recording" y
	spoilt "removed" rm x
	has "removed: the reason" '^pstat: x: it was removed while it was being written: the recording is lost$' "$err"
	spoilt "replaced" cp --remove-destination /etc/passwd x
	has "replaced: the reason" 'x: it was removed while it was being written: the recording is lost$' "$err"
	same "replaced: by what" "$(cat /etc/passwd)" "$(cat x)"
}

test_the_file_is_large_enough()
{
	need_paranoid 2
	run "$PSTAT" record -o x --max-size 300K -e cpu-clock -F 10000 -g -- "${endless[@]}"
	same "status" 0 "$status"
	is_told "the recording" x
	check "its size: at least" test "$(stat -c %s x)" -ge 307200
	check "its size: not much more" test "$(stat -c %s x)" -le 400000
}

test_several_files()
{
	local sum=0 file

	need_paranoid 2
	run "$PSTAT" record -o x --switch-output=100K -e cpu-clock -F 10000 -g -- "$exact" spins:400
	same "status" 0 "$status"
	check "there are several" test "$(ls x.* | wc -l)" -ge 2
	for file in x.*; do
		can_be_read "one of them" "$file"
		sum=$((sum + $(stats "$file" SAMPLE)))
	done
	same "no sample is lost between them" "$(said samples)" $sum
	rm x.*
	run "$PSTAT" record -o x --switch-output=50K --switch-max-files 2 -e cpu-clock -F 10000 -g -- \
		"$exact" spins:400
	same "the last two are kept" 2 "$(ls x.* | wc -l)"
}

# ---- limits ----

# A command for sh: its parent sleeps, all threads of it. Until the first has been told, others run on.
parent_sleeps='kill -STOP $PPID
	for task in /proc/$PPID/task/*; do
		until read -r _ _ state _ <$task/stat && [ "$state" = T ]; do :; done
	done'

# Faults are counted one by one: those that have no room are as many as are missing.
test_a_ring_is_overrun()
{
	need_paranoid 2
	# pstat sleeps while the ring is overrun: on some machines it keeps up.
	run "$PSTAT" record -o x -m 4K -c 1 -e page-faults:u -- sh -c \
		"$parent_sleeps"'; "$0" pages:50000; kill -CONT $PPID; exec "$0" pages:50000' "$exact"
	can_be_read "a tiny ring" x
	check "some are lost" test "$(said lost)" -gt 0
	check "none is forgotten" test $(($(said samples) + $(said lost))) -ge 100000
	check "none is counted twice" test $(($(said samples) + $(said lost))) -le 101000
	same "the file says so too" "$(said lost)" "$("$PSTAT" report --stats -i x |
		awk '/lost samples events:/ { print $4 }')"
	# Whenever it is read: so many have room in 512 KiB, which is the default where little may be locked.
	run "$PSTAT" record -o x -c 1 -e page-faults:u -- "$exact" pages:8000
	same "the default ring" 0 "$(said lost)"
}

# Losses go into the file also when samples have no room in it any more.
test_a_ring_is_overrun_and_the_file_is_full()
{
	need_paranoid 2
	# pstat sleeps while the ring is overrun.
	run "$PSTAT" record -o x --max-size 300K -m 4K -c 1 -e page-faults:u -- sh -c \
		"$parent_sleeps"'; "$0" pages:5000; kill -CONT $PPID; exec "$0" pages:100000' "$exact"
	check "the file is full" test "$(stat -c %s x)" -gt $((300 * 1024 - 4096))
	can_be_read "a tiny ring" x
	check "many are lost" test "$(said lost)" -gt 4000
	same "the file says so too" "$(said lost)" "$("$PSTAT" report --stats -i x |
		awk '/lost samples events:/ { print $4 }')"
	same "and how many there are" "$(said samples)" "$(stats x SAMPLE)"
}

test_file_descriptors()
{
	local many=cpu-clock,task-clock,page-faults,minor-faults,major-faults,cpu-migrations,context-switches

	need_paranoid 2
	run bash -c 'ulimit -n 12; exec "$@"' - "$PSTAT" record -o x -e $many -- true
	same "the hard limit: status" 125 "$status"
	has "the hard limit: the reason" '[0-9]+ file descriptors are needed, the limit is 12$' "$err"
	check_not "the hard limit: no file" test -e x
	run bash -c 'ulimit -Sn 12; exec "$@"' - "$PSTAT" record -o x -e $many -- true
	same "the soft limit: status" 0 "$status"
	is_told "the soft limit" x
}

# ---- targets ----

test_a_target_that_forks_and_execs_all_the_time()
{
	need_paranoid 2
	run "$PSTAT" record -o x -F 10000 -e cpu-clock -- "$exact" execs:300
	same "nothing is lost" 0 "$(said lost)"
	same "FORK, EXIT and COMM of each" "301 301 302" \
		"$(stats x FORK) $(stats x EXIT) $(stats x COMM)"
	is_told "the recording" x
}

# As many as this user may have.
most_threads()
{
	local n=10000

	until [ $n -le 100 ] || "$exact" threads:$n sleeps:1 2>/dev/null; do n=$((n / 2)); done
	echo $n
}

# rings_of PID: how many rings it has, and how many MiB they are in all.
rings_of()
{
	"$PYTHON" - "/proc/$1/maps" <<-'END'
	import sys
	sizes = [[int(end, 16) for end in line.split()[0].split("-")] for line in open(sys.argv[1]) if "perf_event" in line]
	print(len(sizes), sum(end - begin for begin, end in sizes) >> 20)
	END
}

# Each has a ring of its own: 200 at 2 MiB would be 400 MiB.
test_rings_of_many_threads()
{
	local n mib

	need_paranoid 2
	"$exact" threads:200 pauses &
	target=$!
	until [ "$(ls /proc/$target/task | wc -l)" = 201 ]; do sleep 0.05; done
	"$PSTAT" record -q --per-thread -e cpu-clock:u -p $target -o x 2>err &
	pstat=$!
	n=0
	until [ "$n" = 201 ] || ! kill -0 $pstat 2>/dev/null; do read -r n mib < <(rings_of $pstat); done
	kill -INT $pstat
	wait $pstat
	kill -KILL $target
	wait $target 2>/dev/null
	same "each has one" 201 "$n"
	check "all together: $mib MiB" test "$mib" -le 65
	can_be_read "the recording" x
}

test_very_many_threads()
{
	local n

	need_paranoid 2
	n=$(most_threads)
	run "$PSTAT" record -o x -e cpu-clock -- "$exact" threads:$n sleeps:1
	same "nothing is lost" 0 "$(said lost)"
	same "$n that come and go: FORK and EXIT" "$((n + 1)) $((n + 1))" "$(stats x FORK) $(stats x EXIT)"
	is_told "$n that come and go" x
}

test_very_many_threads_that_are_there()
{
	local most n

	need_paranoid 2
	n=$(most_threads)
	most=$((($(ulimit -Hn) - 100) / $(getconf _NPROCESSORS_CONF)))
	[ $n -le $most ] || n=$most
	"$exact" threads:$n pauses &
	target=$!
	disown
	until [ "$(ls /proc/$target/task | wc -l)" -gt $n ]; do sleep 0.05; done
	run "$PSTAT" record -o x -e cpu-clock -p $target -- true
	kill -9 $target
	same "$n: status" 0 "$status"
	same "$n: each has its name" $((n + 1)) "$(stats x COMM)"
	is_told "$n" x
}

# More ids than one record of a pipe has room for.
test_very_many_threads_in_a_pipe()
{
	local n=4300

	need_paranoid 2
	[ "$(most_threads)" -ge $n ] || skip "needs $n threads"
	[ "$(ulimit -Hn)" -gt $((2 * n * $(getconf _NPROCESSORS_CONF) + 100)) ] || skip "needs a higher limit of open files"
	"$exact" threads:$n pauses &
	target=$!
	disown
	until [ "$(ls /proc/$target/task | wc -l)" -gt $n ]; do sleep 0.05; done
	run bash -c '"$@" >x' - "$PSTAT" record -q -o - -e cpu-clock,page-faults -p $target -- true
	kill -9 $target
	same "status" 0 "$status"
	can_be_read "the pipe" x
	"$PSTAT" script -D -i x >records 2>err
	check "several records have the ids" test "$(grep -c HEADER_ATTR records)" -gt 2
	same "two events" $'cpu-clock\npage-faults' "$("$PSTAT" evlist -i x 2>&1 | sed 's/:u$//')"
}

run_tests
