#!/bin/bash
# SPDX-License-Identifier: MIT
# Names of processes that still live, in containers and out of them: programs below their own root, maps and
# dumps of code made at run time under the pid that the process has in its namespace, beside perf where it can;
# and what a hostile process puts there. The work is tests/work/jit.c, whose code is known: jit_two_thirds and
# jit_one_third. It runs until it is told to end, after the report.
#
# rights: test_a_program_below_its_own_tmp test_a_map_in_a_container test_dumps test_a_pid_that_is_used_again
. "${0%/*}/../lib.sh"
export HOME=$tmp NO_COLOR=1 PERF_BUILDID_DIR=/dev/null
unset JITDUMPDIR
JIT=$WORK/jit

# find_pid COMM: $pid, the process of that name that reads ctl.
find_pid()
{
	local p

	for p in /proc/[0-9]*; do
		[ "$p/fd/0" -ef ctl ] && [ "$(<"$p/comm")" = "$1" ] && pid=${p#/proc/}
	done 2>/dev/null
}

# start COMM COMMAND...: runs it until stop; $pid is the process called COMM among those that it becomes.
start()
{
	local comm=$1 i

	shift
	rm -f ctl ready
	mkfifo ctl
	beside=()
	"$@" <ctl >ready 2>started &
	starter=$!
	exec {hold}>ctl
	pid=
	for ((i = 0; i < 2400; i++)); do
		[ ! -s ready ] || find_pid "$comm" # by that name only after its exec
		[ -z "$pid" ] || break
		kill -0 $starter 2>/dev/null || break
		sleep 0.05
	done
	if [ -z "$pid" ]; then
		stop
		fail "the work runs: $*" "$(<started)"
		exit 1
	fi
	for ((i = pid; i > 1 && i != starter; i = $(ps -o ppid= -p $i || echo 0))); do
		beside+=("$i")
	done
}

# Of the processes of a container, which have the work's root, some end after the one that was started.
stop()
{
	local process

	exec {hold}>&-
	wait $starter 2>/dev/null
	for process in "${beside[@]}"; do
		while grep -q '^State:.[^ZX]' "/proc/$process/status" 2>/dev/null; do
			sleep 0.01
		done
	done
}

# sample FILE OPTION...: at least 250 ms of the process's time. No file is kept: what there is now has to do. Samples
# come several times in a turn of the work, which takes about 1 ms: else they could hit the same place of each.
sample()
{
	local file=$1

	shift
	run "$PSTAT" record -N -q -o "$file" -F 4000 -e cpu-clock:u "$@" -p "$pid" -- "$used" "$pid" 250
	[ "$status" = 0 ] || fail "record" "$err"
}

# report FILE OPTION...: $out has "PERCENT NAME" lines.
report()
{
	local file=$1

	shift
	run "$PSTAT" report --no-children -g none -s symbol -i "$file" "$@"
	out=$(sed -n 's/^ *\([0-9.]*\)%  *\[[.k]\] /\1 /p' <<<"$out")
}
perf_report()
{
	perf report -q --stdio --no-children -g none -s symbol "$@" 2>/dev/null |
		sed -n 's/^ *\([0-9.]*\)%  *\[[.k]\] /\1 /p'
}

share() { awk -v name="$1" '$2 == name { share = int($1) } END { print share + 0 }' <<<"$out"; }

# takes NAME LOW HIGH FUNCTION: its share of the samples, in percent.
takes()
{
	local got

	got=$(share "$4")
	[ "$got" -ge "$2" ] && [ "$got" -le "$3" ] && { pass "$1"; return; }
	fail "$1" "$4 has $got %, not $2 to $3
$out
$err"
}

# known NAME [PREFIX]: both functions of the compiler are there, 2 to 1.
known()
{
	takes "$1: the one that takes two thirds" 45 90 "${2-}jit_two_thirds"
	takes "$1: the other" 10 55 "${2-}jit_one_third"
}

unknown() { has_not "$1" 'jit_|native_' "$out"; }

# beside_perf NAME FILE: perf has the same functions.
beside_perf()
{
	command -v perf >/dev/null || return 0
	is_root || return 0 # perf enters namespaces, for which it needs rights
	same "$1: as perf" "$(perf_report -i "$2" | awk '$1 >= 5 { print $2 }' | sort)" \
		"$(awk '$1 >= 5 { print $2 }' <<<"$out" | sort)"
}

need_bwrap()
{
	need_cmd bwrap
	bwrap --dev-bind / / true 2>/dev/null || skip "needs bwrap, which may not make namespaces here"
}
need_unshare()
{
	need_root
	unshare -m true 2>/dev/null || skip "needs unshare, which may not make namespaces here"
}
user() { setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"; }
# A folder that every user may write to.
open_folder()
{
	mkdir -p "$1"
	chmod 777 "$1"
	chmod 755 "$tmp" .
}

# ---- files ----

test_a_program_below_its_own_tmp()
{
	need_bwrap
	start app bwrap --dev-bind / / --tmpfs /tmp --ro-bind "$JIT" /tmp/app /tmp/app native
	sample x
	has "record read its build-id" ' /tmp/app$' "$("$PSTAT" buildid-list -i x)"
	report x
	takes "its function" 90 100 native_spin
	beside_perf "its function" x
	run "$PSTAT" report -q --no-children -g none -s dso,srcline -i x
	has "its lines" 'app  *jit\.c:[0-9]+' "$out"
	sample d -F 1000 --call-graph dwarf,raw,8192
	run "$PSTAT" report -q --no-children -g caller -s dso -i d
	has "unwound through the file" 'native_caller' "$out"
	has "to its beginning" '[- ]main$' "$out"
	sample no_id --no-buildid
	report no_id
	takes "without a build-id: by its inode" 90 100 native_spin
	stop
	report x
	unknown "when it has ended"
	has "said, with what helps" 'app .*no such file' "$err"
	has "what helps" 'while its process lives' "$err"
}

test_another_file_at_the_path_here()
{
	need_bwrap
	mkdir bin
	cp "$WORK/exact" bin/app
	start app bwrap --dev-bind / / --tmpfs "$PWD/bin" --ro-bind "$JIT" "$PWD/bin/app" "$PWD/bin/app" native
	sample x
	sample no_id --no-buildid
	for file in x no_id; do
		report $file
		takes "$file: the one that runs" 90 100 native_spin
	done
	# The process lives, but what it sees there is no more what ran.
	stop
	report x
	has_not "the file here is another" ' app .* [a-z_]*$' "$(sed 's/ 0x[0-9a-f]*$//' <<<"$out")"
	has "said" 'replaced since the recording' "$err"
}

test_a_file_that_was_replaced()
{
	need_bwrap
	start app bwrap --dev-bind / / --tmpfs /tmp --ro-bind "$JIT" /tmp/jit \
		sh -c 'cp /tmp/jit /tmp/app && exec /tmp/app native'
	sample x
	sample no_id --no-buildid
	cp "$WORK/callers" "/proc/$pid/root/tmp/new"
	mv "/proc/$pid/root/tmp/new" "/proc/$pid/root/tmp/app"
	for file in x no_id; do
		report $file -d app
		has_not "$file: no names of the other one" '[0-9] [a-z_]' "$(grep -v ' 0x' <<<"$out")"
		has "$file: said" 'app .*it is not, or no more, what was recorded, neither below /proc/[0-9]+/root nor here' "$err"
	done
	stop
}

# Two programs under one path, in a container each: whose samples are whose is told by the inode.
test_two_containers()
{
	local first first_hold first_starter

	need_bwrap
	start app bwrap --dev-bind / / --tmpfs /tmp --ro-bind "$JIT" /tmp/app /tmp/app native
	first=$pid first_hold=$hold first_starter=$starter
	start app bwrap --dev-bind / / --tmpfs /tmp --ro-bind "$WORK/callers" /tmp/app \
		sh -c 'echo ready; exec /tmp/app known 1000000'
	for ids in --no-buildid --buildid-all; do
		run "$PSTAT" record -q -o x -F 1000 -e cpu-clock:u "$ids" -p "$first,$pid" -- \
			sh -c "'$used' $first 250; '$used' $pid 250"
		run "$PSTAT" report --no-children -g none -s pid,symbol -i x
		has "$ids the first" "%  *$first:app  *\[\.\] native_spin" "$out"
		has "$ids the second" "%  *$pid:app  *\[\.\] burn\$" "$(sed 's/ *$//' <<<"$out")"
		has_not "$ids no names of the other" "$first:app  *\[\.\] (burn|known)|$pid:app  *\[\.\] native" "$out"
	done
	kill "$pid"
	stop
	hold=$first_hold starter=$first_starter
	stop
}

test_a_mount_namespace_and_relatives()
{
	need_unshare
	mkdir bin
	# The process that runs in the folder is a child of one that lives on, and its name is known by that one.
	cat >inside <<-END
		mount -t tmpfs none "$PWD/bin" && cp "$JIT" "$PWD/bin/app" || exit 1
		"$PWD/bin/app" native <&0 &
		child=\$!
		wait
		exec sleep 1000
	END
	start app unshare -m bash inside
	parent=$(awk '$1 == "PPid:" { print $2 }' "/proc/$pid/status")
	run "$PSTAT" record -N -q -o x -F 1000 -e cpu-clock:u -p "$parent,$pid" -- "$used" "$pid" 250
	report x
	takes "its function" 90 100 native_spin
	kill "$pid"
	while [ -e "/proc/$pid" ]; do sleep 0.05; done
	report x
	takes "through its parent's root, when it has ended" 90 100 native_spin
	kill "$parent"
	stop
	report x
	unknown "when both have"
}

# ---- maps ----

test_a_map_in_a_container()
{
	need_bwrap
	start jit bwrap --dev-bind / / --unshare-pid --proc /proc --tmpfs /tmp --ro-bind "$JIT" /tmp/jit /tmp/jit map
	rm -f "/tmp/perf-$pid.map" # of an earlier process that had its number here
	has_not "it has another pid there" "^NSpid:.*	$pid$" "$(<"/proc/$pid/status")"
	sample x
	report x
	known "below its root"
	beside_perf "below its root" x
	stop
	report x
	unknown "when it has ended"
	has "said" "there is no /tmp/perf-$pid\\.map" "$err"
}

test_a_map_by_the_pid_in_the_namespace()
{
	need_unshare
	# No /tmp of its own: the map lies here, under the number that the process knows. (perf has no names then.) That is
	# a number which nobody has here, as others may write maps meanwhile.
	rm -f "/tmp/perf-$$.map"
	start jit unshare -p -f bash -c 'echo $(($1 - 1)) >/proc/sys/kernel/ns_last_pid; "${@:2}" <&0 & wait' - $$ "$JIT" map
	inner=$(awk '$1 == "NSpid:" { print $NF }' "/proc/$pid/status")
	sample x
	report x
	known "here, by its own number"
	# What was there before the process began is of another one.
	touch -d '2020-01-01' "/tmp/perf-$inner.map"
	report x
	unknown "an older map"
	has "said" "perf-$inner\\.map: of an earlier process" "$err"
	stop
	rm -f "/tmp/perf-$inner.map"
}

test_whose_map()
{
	need_root
	need_cmd setpriv
	start jit user "$JIT" map
	map=/tmp/perf-$pid.map
	sample x
	report x
	known "of the process's user, for root"
	beside_perf "of the process's user, for root" x
	chown 12345 "$map"
	report x
	unknown "of somebody else"
	has "said, with all users" "$map: owned by user 12345, not by you \\(user 0\\) or root, nor by the process's user \\(65534\\)" "$err"
	has "what helps" '-f, if it is to be trusted' "$err"
	report x -f
	known "-f"
	report x --force
	known "--force"
	run "$PSTAT" script -f -i x -F ip,sym
	has "script -f" jit_two_thirds "$out"
	chown 0 "$map"
	report x
	known "of root"
	chown 65534 "$map"
	stop
	report x
	unknown "when the process has ended, its user is not known"
	has "said" "$map: owned by user 65534, not by you \\(user 0\\) or root" "$err"
	report x -f
	known "-f then"
	rm -f "$map"
}

test_node()
{
	need_bwrap
	need_cmd node
	cat >f.js <<-'END'
		function known_by_its_name(n) { let s = 0; for (let i = 0; i < n; i++) s += i * i % 7; return s; }
		let sum = 0;
		// The one becomes part of the other when it has been called often.
		function round_known_by_its_name()
		{
			for (let i = 0; i < 20; i++) sum += known_by_its_name(100000);
			setImmediate(round_known_by_its_name);
		}
		process.stdin.on('close', () => process.exit()).resume();
		round_known_by_its_name();
		console.log('ready');
	END
	start node bwrap --dev-bind / / --unshare-pid --proc /proc --tmpfs /tmp --ro-bind "$PWD/f.js" /tmp/f.js \
		"$(command -v node)" --perf-basic-prof /tmp/f.js
	sample x
	report x
	has "a function of node" 'known_by_its_name' "$out"
	stop
}

# ---- dumps ----

dump_is_read() # NAME
{
	sample "$1"
	report "$1"
	known "$1"
}

test_dumps()
{
	start jit "$JIT" dump
	dump_is_read "where it was started"
	if command -v perf >/dev/null; then
		# By the clock that the dump has, which perf needs to put both together.
		run perf record -q -k mono -e cpu-clock:u -F 4000 -o p -p "$pid" -- "$used" "$pid" 250
		report p
		known "a recording of perf, without an inject step"
		perf inject -j -i p -o pj 2>/dev/null
		same "as perf with one" "$(perf_report -i pj | awk '$1 >= 5 { print $2 }' | sort)" \
			"$(awk '$1 >= 5 { print $2 }' <<<"$out" | sort)"
	fi
	stop
	report "where it was started"
	known "when it has ended"
	mkdir dir
	JITDUMPDIR=$PWD/dir start jit "$JIT" dump
	dump_is_read "in \$JITDUMPDIR"
	# Another file at the path is not the one that was mapped.
	cp dir/jit-"$pid".dump copy && rm dir/jit-"$pid".dump && cp copy dir/jit-"$pid".dump
	report "in \$JITDUMPDIR"
	unknown "a copy at its path"
	has "said" 'not the file that was mapped' "$err"
	stop
}

# samples_of FILE FUNCTION [OPTION...]: samples in all functions of that name.
samples_of()
{
	"$PSTAT" report -q --no-children -g none -F sample,sym -t : -i "$1" "${@:3}" 2>said |
		awk -F ': *' -v name="[.] $2" '{ sub(/ *$/, "", $2) } index($2, name) == 1 { n += $1 } END { print n + 0 }'
}

# One address after the other's: jit_two_thirds, jit_second, jit_third, and in the end what nobody told of.
test_a_dump_that_changes()
{
	local all name low high n

	run "$PSTAT" record -q -k monotonic -e cpu-clock:u -F 4000 -g -o x -- "$JIT" again
	same "recorded" 0 "$status"
	all=$(samples_of x "")
	# Bounds are wide: a CPU of which others use the other half takes twice as long for a part.
	while read -r name low high; do
		n=$(samples_of x "$name")
		check "$name: $n of $all samples, $low to $high %" test $((n * 100)) -gt $((all * low)) -a \
			$((n * 100)) -lt $((all * high))
		same "$name: in stacks" "$n" \
			"$("$PSTAT" report --folded -i x 2>said | awk -v name=";$name" 'index($0, name) { n += $NF } END { print n + 0 }')"
		same "$name: in script" "$n" "$("$PSTAT" script -G -F ip,sym -i x 2>said | grep -c " $name")"
	done <<-'END'
	jit_two_thirds 8 40
	jit_second 22 65
	jit_third 8 40
	END
	if command -v perf >/dev/null; then
		# perf goes on after the end.
		perf inject -j -i x -o injected 2>/dev/null
		same "as perf after its inject step" "$(samples_of injected jit_two_thirds) $(samples_of injected jit_second)" \
			"$(samples_of x jit_two_thirds) $(samples_of x jit_second)"
	fi
	# Another clock says nothing of when: each address is its last function's.
	run "$PSTAT" record -q -e cpu-clock:u -F 4000 -o other -- "$JIT" again
	same "by another clock: what was replaced" 0 "$(samples_of other jit_two_thirds)"
}

test_a_dump_in_a_container()
{
	need_bwrap
	start jit bwrap --dev-bind / / --unshare-pid --proc /proc --tmpfs /tmp --dir /tmp/dumps --setenv JITDUMPDIR /tmp/dumps \
		--ro-bind "$JIT" /tmp/jit /tmp/jit dump
	dump_is_read "in a container"
	stop
	report "in a container"
	unknown "when it has ended"
}

# ---- hostile ones ----

test_links_out_of_the_root()
{
	need_bwrap
	# Below the container's root the path is a link to what has names here.
	mkdir secret
	start jit bwrap --dev-bind / / --unshare-pid --proc /proc --tmpfs /tmp --ro-bind "$JIT" /tmp/jit /tmp/jit none
	sample x
	inner=$(awk '$1 == "NSpid:" { print $NF }' "/proc/$pid/status")
	start=$(awk '/rwxp/ { print $1; exit }' "/proc/$pid/maps")
	echo "${start%-*} 1000 secret_of_the_host" >secret/map
	ln -s "$PWD/secret/map" "/proc/$pid/root/tmp/perf-$inner.map"
	report x
	has_not "a link out of the root" secret "$out"
	rm "/proc/$pid/root/tmp/perf-$inner.map"
	ln -s "../../../../../../../..$PWD/secret/map" "/proc/$pid/root/tmp/perf-$inner.map"
	report x -f
	has_not "a link upwards, with -f" secret "$out"
	rm "/proc/$pid/root/tmp/perf-$inner.map"
	# Within the root a link could be read, but a compiler makes none.
	echo "${start%-*} 1000 behind_a_link" >"/proc/$pid/root/tmp/there"
	ln -s /tmp/there "/proc/$pid/root/tmp/perf-$inner.map"
	report x
	has_not "a link within" behind "$out"
	rm "/proc/$pid/root/tmp/perf-$inner.map"
	mv "/proc/$pid/root/tmp/there" "/proc/$pid/root/tmp/perf-$inner.map"
	report x
	has "the file itself" behind_a_link "$out"
	stop
}

test_a_program_that_is_a_link_out_of_the_root()
{
	need_bwrap
	start app bwrap --dev-bind / / --tmpfs /tmp --ro-bind "$JIT" /tmp/app /tmp/app native
	sample x --no-buildid
	report x --symfs "/proc/$pid/root"
	takes "--symfs with its root" 90 100 native_spin
	stop
	# In another container the path is a link to a program that is here, and not there.
	cp "$JIT" "$tmp/outside"
	start jit bwrap --dev-bind / / --tmpfs /tmp --symlink "$tmp/outside" /tmp/app --ro-bind "$JIT" /tmp/jit /tmp/jit none
	check "the link can be followed from here" test -f "/proc/$pid/root/tmp/app"
	report x --symfs "/proc/$pid/root"
	unknown "it leads nowhere"
	stop
}

test_no_files()
{
	need_bwrap
	start jit bwrap --dev-bind / / --unshare-pid --proc /proc --tmpfs /tmp --ro-bind "$JIT" /tmp/jit /tmp/jit none
	sample x
	map=/proc/$pid/root/tmp/perf-$(awk '$1 == "NSpid:" { print $NF }' "/proc/$pid/status").map
	mkfifo "$map"
	run timeout 300 "$PSTAT" report -i x -s symbol
	same "a FIFO: not waited for" 0 "$status"
	has "said" 'perf-[0-9]+\.map: not a regular file' "$err"
	rm "$map"
	mkdir "$map"
	report x
	has "a folder: said" 'perf-[0-9]+\.map: not a regular file' "$err"
	rmdir "$map"
	truncate -s 5G "$map" 2>/dev/null || truncate -s 3G "$map"
	run timeout 300 "$PSTAT" report -i x -s symbol
	same "a map of 5 GB: status" 0 "$status"
	has "said" 'perf-[0-9]+\.map: [0-9]+ bytes, more than the limit of [0-9]+' "$err"
	rm "$map"
	if is_root && mknod "$map" c 1 5; then
		report x
		has "a device: said" 'perf-[0-9]+\.map: not a regular file' "$err"
		rm "$map"
	fi
	# As many names as there is room for work; those that come first are read.
	start=$(awk '/rwxp/ { print $1; exit }' "/proc/$pid/maps")
	{
		echo "${start%-*} 1000 the_first"
		yes "1 1 n" | head -n 4500000
	} >"$map"
	run timeout 300 "$PSTAT" report --no-children -g none -i x -s symbol
	has "too many names: the first" the_first "$out"
	has "too many names: said" 'too many names' "$err"
	stop
}

test_a_pid_that_is_used_again()
{
	need_unshare
	mkdir work
	cat >inside <<-'END'
		# The same addresses, another program: only who has the pid, and since when, tells them apart.
		mount -t proc none /proc || exit 1
		mkfifo ctl
		# Its map is in the /tmp of all: this number nobody else has there who writes one.
		rm -f /tmp/perf-$NUMBER.map
		echo $((NUMBER - 1)) >/proc/sys/kernel/ns_last_pid
		setarch -R "$JIT" map first_ <ctl >ready &
		pid=$!
		trap 'rm -f /tmp/perf-$pid.map' EXIT
		exec 9>ctl
		until [ -s ready ]; do sleep 0.05; done
		"$PSTAT" record -q -o x -F 1000 -e cpu-clock:u -p $pid -- "$USED" $pid 250
		"$PSTAT" report -q -g none -s symbol -i x >first
		exec 9>&-
		wait $pid
		"$PSTAT" report -q -g none -s symbol -i x >gone
		rm ready
		exec 8<>ctl
		for i in 1 2 3 4 5 6 7 8 9 10; do
			echo $((pid - 1)) >/proc/sys/kernel/ns_last_pid
			setarch -R "$JIT" map second_ <&8 >ready &
			[ $! = $pid ] && break
			kill $!
		done
		[ $! = $pid ] || exit 2
		until [ -s ready ]; do sleep 0.05; done
		"$PSTAT" report -g none -s symbol -i x >second 2>second.err
		"$PSTAT" record -q -o y -F 1000 -e cpu-clock:u -p $pid -- "$USED" $pid 250
		"$PSTAT" report -q -g none -s symbol -i y >third
		kill $pid
	END
	run env JIT="$JIT" PSTAT="$PSTAT" USED="$used" NUMBER=$$ unshare -p -m -f bash inside
	[ "$status" = 2 ] && skip "needs a pid to be used again, and others came between"
	same "status" 0 "$status"
	has "the process itself" first_jit_two_thirds "$(<first)"
	has "gone, its map is there" first_jit_two_thirds "$(<gone)"
	has_not "another process has its pid and writes its map: no names of that one" second_ "$(<second)"
	has "said" 'of a later process' "$(<second.err)"
	has "its own recording has them" second_jit_two_thirds "$(<third)"
}

run_tests
