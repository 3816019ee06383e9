#!/bin/bash
# SPDX-License-Identifier: MIT
# Program files on a file system whose program takes requests and does not answer them, as FUSE's may: who records or
# reads ends all the same, and says which files did not come. What answers is read as ever.
#
# run: once
. "${0%/*}/../lib.sh"
need_mount
need_paranoid 0
[ -w /dev/fuse ] || skip "needs /dev/fuse"
[ -x "$WORK/stuck_fs" ] || skip "needs the test program stuck_fs"
mkdir "$tmp/mounted"
"${own_mounts[@]}" "$WORK/stuck_fs" read "$tmp/mounted" "$WORK/callers" "$tmp/none" true 2>"$tmp/why" ||
	skip "needs a FUSE mount: $(cat "$tmp/why")"
MOST_S=300 # only what hangs takes so long; a helper's patience is 10 s, and half as long for each file that follows
record="-q -e cpu-clock:u -F 2000"
missing='^pstat: the build-ids? of [0-9]+ files? (is|are) missing: (its|their) file system did not answer: .*/mounted/app(,|$)'

# stuck WHAT SCRIPT: runs the script in a folder of its own, where mounted/app is callers and `touch sign` makes the
# file system stick; its output is in ./WHAT.said.
stuck()
{
	rm -rf "$1" && mkdir -p "$1/mounted"
	(cd "$1" && "${own_mounts[@]}" "$WORK/stuck_fs" "$1" "$PWD/mounted" "${file:-$WORK/callers}" "$PWD/sign" \
		bash -c "$2") >"$1.said" 2>&1
}

test_answers()
{
	stuck never "'$PSTAT' record -N $record -o x -- mounted/app known 200 && '$PSTAT' report -i x -g none -s dso,symbol"
	has "symbols of a program on FUSE" '^ .* app +\[\.\] burn' "$(cat never.said)"
	has_not "no doubts" 'answer' "$(cat never.said)"
}

# Files that are held open are read by a helper, too: those of ordinary folders, the vDSO, and the copies of what
# is on FUSE, which are no younger than their file.
test_stacks()
{
	stuck never "
		for app in '$WORK/callers' mounted/app; do
			'$PSTAT' record -N -e cpu-clock:u -F 1000 --call-graph dwarf -o x -- \$app known 100
			'$PSTAT' report -i x --folded | grep -c -m 1 'main;known;two_thirds;burn'
			'$PSTAT' record -N -q -e cpu-clock:u -F 1000 --call-graph dwarf,raw -o x -- \$app known 100
			'$PSTAT' report -i x --folded | grep -c -m 1 'main;known;two_thirds;burn'
		done"
	# But for a few of its start, whose stack has no page yet.
	same "all stacks are complete" 2 "$(sed -nE 's/.* ([0-9]+) stacks unwound: ([0-9]+) complete.*/\1 \2/p' never.said |
		awk '$1 > 20 && $2 >= $1 - 5' | wc -l)"
	same "each way has the chain" 4 "$(grep -c '^1$' never.said)"
	has_not "no doubts" 'answer|reach' "$(cat never.said)"
}

# Reading hangs at each step. No recorder has kept anything: not there, nor in other tests, nor of all CPUs, where others may
# run the same program.
start_reports()
{
	local what

	head -c 3000000 /dev/zero | cat "$WORK/callers" - >long
	chmod +x long
	for what in lookup open read tail; do
		file=$PWD/long stuck $what "
			'$PSTAT' record -N $record -o x -- mounted/app known 200 || exit 90
			touch sign
			timeout -s KILL $MOST_S '$PSTAT' report -i x -g none -s dso,symbol
			echo status \$?" &
	done
}

see_reports()
{
	local what

	for what in lookup open read tail; do
		has "$what: it ends well" '^status 0$' "$(cat $what.said)"
		has "$what: the samples are there" '^ .* app +\[\.\] 0x' "$(cat $what.said)"
		has "$what: the reason" '^pstat: no symbols: .*/app \(.* its file system does not answer\)' "$(cat $what.said)"
	done
}

# Nobody waits for a helper that is left behind: not a pipe that it had, not the parent.
start_pipe()
{
	mkdir pipe && cd pipe && stuck read "
		'$PSTAT' record -N $record -o x -- mounted/app known 200 || exit 90
		touch sign
		timeout -s KILL $MOST_S bash -c \"said=\\\$('$PSTAT' report -i x -g none | cat); echo status \\\$?\"" &
}

start_record()
{
	mkdir record && cd record && stuck open "
		mounted/app known 60000 & app=\$!
		until grep -q mounted/app /proc/\$app/maps; do sleep 0.01; done
		touch sign
		timeout -s KILL $MOST_S '$PSTAT' record -N -e cpu-clock -F 500 -a -o x -- sh -c 'i=0; while [ \$i -lt 100000 ]; do i=\$((i + 1)); done'
		echo status \$?
		kill \$app
		rm sign
		'$PSTAT' report -i x -g none -s comm" &
}

see_record()
{
	has "record: it ends well" '^status 0$' "$1"
	has "record: the file that did not come is told" "$missing" "$1"
	has "record: the recording is whole: the program" '% +app' "$1"
	has "record: the recording is whole: the command" '% +sh' "$1"
	has_not "record: and complete" 'did not finish|missing' "$(grep -v -e build-id -e 'names missing' <<<"$1")"
}

# All at once, as each waits.
test_stuck()
{
	start_reports
	start_pipe
	start_record
	wait
	see_reports
	has "what reads from a pipe ends too" '^status 0$' "$(cat pipe/read.said)"
	see_record "$(cat record/open.said)"
}

# While a program of another mount namespace is recorded, its file system sticks: the rings are emptied all the same.
# They have room for about a second, the recording takes some more.
test_the_recording_goes_on()
{
	local waited=0

	stuck open "'$PYTHON' '$ROOT/tests/cli/map_again.py' mounted/app" &
	until [ -e open/ready ]; do
		kill -0 $! 2>/dev/null && [ $((waited += 1)) -lt 600 ] || { fail "the program runs" "$(cat open.said)"; return; }
		sleep 0.1
	done
	cd open
	run timeout -s KILL $MOST_S "$PSTAT" record -e cpu-clock -F 2500 -m 512K -g -a -o x -- \
		sh -c "touch go; until [ -e mapped ]; do sleep 0.01; done; '$WORK/callers' deep 3000"
	touch stop
	wait
	same "it ends well, and at all" 0 "$status"
	# On a busy machine a few may be; of a ring that nobody empties it is most.
	check "hardly a sample is lost: $(grep -o '[0-9]* samples, .* lost' <<<"$err")" \
		awk -v said="$err" 'BEGIN { if (!match(said, /[0-9]+ samples, [^\n]*[0-9] lost/)) exit 1
			n = split(substr(said, RSTART, RLENGTH), word, " "); exit !(word[n - 1] * 10 < word[1]) }'
	has "the file that did not come is told" "$missing" "$err"
	has "the build-ids of others are there" ' /.*/callers$' "$("$PSTAT" buildid-list -i x)"
}

# Who runs the file system decides about what is too large to be copied.
test_large()
{
	need_uprobes
	cp "$WORK/callers" large
	truncate -s 300M large
	export STUCK_FS_USER=65534
	file=$PWD/large stuck never "'$PSTAT' stat -e uprobe/path=mounted/app,func=main/ true"
	has "of another user" 'mounted/app: 314572800 bytes, more than the 268435456' "$(cat never.said)"
	export STUCK_FS_USER=0
	file=$PWD/large stuck never "'$PSTAT' stat -e uprobe/path=mounted/app,func=main/ true"
	has "of root" '^ +0 +main|main' "$(cat never.said)"
	has_not "of root: not refused" 'more than' "$(cat never.said)"
	file=$PWD/large stuck never "'$WORK/old_kernel' 5.7 '$PSTAT' stat -e uprobe/path=mounted/app,func=main/ true"
	has "of root, where a mount has no number" 'mounted/app: 314572800 bytes|filters of system calls' "$(cat never.said)"
}

run_tests
