#!/bin/bash
# SPDX-License-Identifier: MIT
# The static file (make static), copied alone into an empty root, where it counts, records, reports, annotates, draws,
# traces and compares as anywhere. What it misses there (/proc, /sys, /dev/null, /etc/passwd) it names.
#
# run: once
. "${0%/*}/../lib.sh"

static=${BUILD:-}/static/pstat
[ -n "${BUILD:-}" ] && [ -x "$static" ] || skip "needs the static file, which is not built here: make static says why"
root=$tmp/root
chmod 755 "$tmp"
mkdir -m 755 "$root" "$root/dev" "$root/proc" "$root/sys" && mkdir -m 777 "$root/out" && cp "$static" "$root/pstat" || exit 1
cat >"$tmp/inlined.c" <<-'END_C'
	static volatile unsigned long sink;
	static inline __attribute__((always_inline)) void inner(unsigned long n) { for (unsigned long i = 0; i < n; i++) sink += i; }
	__attribute__((noinline)) void outer(unsigned long n) { inner(n); }
	int main(void) { for (int i = 0; i < 20; i++) outer(5000000); return 0; }
END_C
"${CC:-cc}" -static -O1 -g -fno-omit-frame-pointer -o "$root/inlined" "$tmp/inlined.c" 2>"$tmp/cc_err" ||
	skip "needs a compiler that makes static programs: $(head -n 1 "$tmp/cc_err")"

# within MOUNTS COMMAND...: runs it below the root, with nothing of the environment. MOUNTS: "proc sys null read_only", or
# some. A program, as others start it, too.
cat >"$tmp/within" <<-'END_SH'
	#!/bin/sh
	# within ROOT MOUNTS USER COMMAND...: called in a mount namespace of its own.
	set -e
	cd "$1"
	for what in $2; do
		case $what in
		proc) mount -t proc none proc ;;
		sys) mount --rbind /sys sys ;;
		null) : >dev/null && mount --bind /dev/null dev/null ;;
		read_only) mount --bind . . && mount -o remount,bind,ro . && cd "$1" ;;
		esac
	done
	[ "$3" = / ] || user=--userspec=$3
	shift 3
	exec env -i PATH=/ TERM="$TERM" "$(command -v chroot)" ${user-} . "$@"
END_SH
chmod +x "$tmp/within"
within() { TERM=${TERM:-xterm} "${own_mounts[@]}" "$tmp/within" "$root" "$1" "${as_user:-/}" "${@:2}"; }

test_one_file()
{
	same "it needs no other file" "" "$(readelf -d "$static" | grep NEEDED; readelf -l "$static" | grep INTERP)"
	has "it is at fixed addresses" 'Type: +EXEC' "$(readelf -h "$static")"
	run "$static" version --build-options
	same "status" 0 "$status"
	same "it has what the other has, but for what it leaves out" \
		"$( (echo libdebuginfod; echo libsqlite3; echo libunwind; "$PSTAT" version --build-options |
			sed -n 's/^ *\([^ ]*\) *\[ OFF \].*/\1/p') | sort -u)" \
		"$(sed -n 's/^ *\([^ ]*\) *\[ OFF \].*/\1/p' <<<"$out" | sort)"
	has_not "and all of it can be used" 'not usable' "$out"
	run "$static" export --sqlite x.db -i "$ROOT/tests/golden/plain.data"
	has "a database is refused with the reason" 'built without libsqlite3' "$err"
	run "$static" report --stdio -q -g none -i "$ROOT/tests/golden/plain.data"
	same "the report of a recording is that of the other" "$("$PSTAT" report --stdio -q -g none \
		-i "$ROOT/tests/golden/plain.data" 2>/dev/null)" "$out"
}

test_empty_root()
{
	need_mount
	run within "" /pstat stat -x, -e page-faults,task-clock -- /inlined
	same "it counts" 0 "$status"
	has "page faults" '^[1-9][0-9]*,,page-faults,' "$err"
	run within "" /pstat record -N -e cpu-clock:u --call-graph dwarf -o /out/data -- /inlined
	same "it records" 0 "$status"
	has "it unwinds" ' [1-9][0-9]{2,} complete' "$err"
	has_not "by files that it finds without /proc" 'out of reach' "$err"
	run within "" /pstat report --stdio -i /out/data
	has "it reports, with names" '%  inlined +inlined +\[\.\] outer' "$out"
	has "and those that were inlined" 'inner \(inlined\)' "$out"
	run within "" /pstat script -i /out/data
	has "it prints samples" '	 *[0-9a-f]+ outer\+0x[0-9a-f]+ \(/inlined\)' "$out"
	run within "" /pstat report -q --flamegraph=/out/x.html -i /out/data
	has "it draws" 'outer' "$(cat "$root/out/x.html")"
	run within "" /pstat annotate --stdio -i /out/data outer
	has "it shows instructions" '^ +[0-9.]+ :? +[0-9a-f]+: +[a-z]+' "$out"
	run within "" /pstat archive -i /out/data -o /out/data.tar.xz
	same "it packs what the recording needs" 0 "$status"
	run within "" /pstat record -q -N -e cpu-clock:u -g -z -o /out/packed -- /inlined
	has "frame pointers, packed with zstd" ' outer' "$(within "" /pstat report --stdio -q -i /out/packed 2>&1)"
}

test_what_is_missing_is_said()
{
	need_mount
	run within "" /pstat stat -a -e page-faults -- /inlined
	has "the CPUs" '^pstat: /sys/devices/system/cpu/online: .*; /proc/stat names no CPU either' "$err"
	run within "" /pstat stat -e page-faults -p 1
	has "processes" '^pstat: process 1: it cannot be looked for: /proc is not mounted' "$err"
	run within "" /pstat top --uid nobody --once
	has "users" "^pstat: user 'nobody': /etc/passwd: No such file" "$err"
	for unit in uprobe/path=/inlined,func=outer/ msr/tsc/; do
		run within "" /pstat stat -e "$unit" -- /inlined
		has "units: $unit" "^pstat: '[a-z]*' cannot be looked for: /sys/bus/event_source/devices: No such file" "$err"
	done
	run within "" /pstat compare /inlined /inlined
	has "the place of output" '^pstat: /dev/null: No such file' "$err"
	run within "" /pstat doctor
	has "rights that cannot be known" '^user +limited +not known: /proc/self/status cannot be read' "$out"
	run within "sys" /pstat stat -x, -a -e page-faults -- /inlined
	has "with /sys alone all CPUs are counted" '^[1-9][0-9]*,,page-faults,' "$err"
	run within "proc" /pstat profile --engine bpf -e page-faults -c 1 -f -- /inlined
	has "without /sys BPF says what it needs" 'samples are read from rings: (.*/sys/devices/system/cpu/possible|pstat runs in a PID namespace)' "$err"
	same "and goes on" 0 "$status"
}

test_root_of_a_container()
{
	local all="proc sys null"

	need_mount
	run within "$all" /pstat profile --engine bpf -e page-faults -c 1 -f -- /inlined
	same "it profiles" 0 "$status"
	has "stacks" '^inlined;.* [1-9][0-9]*$' "$out"
	has "by BPF, or it says why not" 'BPF: [1-9][0-9]* runs of the program|samples are read from rings: ' "$err"
	run within "$all" /pstat compare -r 10 "/pstat --version" "/pstat version"
	same "it compares" 0 "$status"
	run within "$all" /pstat top --once -d 0.1
	same "it looks at all that runs" 0 "$status"
	mkdir -p "$root/etc"
	echo someone:x:12345:12345::/: >"$root/etc/passwd"
	run within "$all" /pstat record -q -N -o /out/of_user -e page-faults -u someone -- /inlined
	has_not "users are in /etc/passwd" 'passwd' "$err"
	run within "$all" /pstat record -q -N -o /out/of_user -e page-faults -u no_one -- /inlined
	has "and nowhere else" "^pstat: user 'no_one': /etc/passwd has none of this name" "$err"
	rm -r "$root/etc"
}

test_tracepoints()
{
	local all="proc sys null"

	need_mount
	need_tracefs
	run within "$all" /pstat trace -e brk -- /inlined
	has "it traces" '^ .* inlined/[0-9]+ brk\(brk: ' "$err$out"
	run within "$all" /pstat sched record -q -o /out/sched -- /inlined
	same "it records switches" 0 "$status"
	run within "" /pstat sched latency -i /out/sched
	has "and reads them" '^ +inlined:' "$out"
	need_uprobes
	run within "$all" /pstat stat -x, -e probe:/inlined:outer -- /inlined
	has "it counts calls" '^20,,probe_inlined:outer,' "$err"
	run within "" /pstat probe -x /inlined -V outer
	has "and finds variables" '(long unsigned int|unsigned long)	n$' "$out"
}

test_read_only()
{
	need_mount
	run within "proc sys null read_only" /pstat stat -x, -e page-faults -- /inlined
	has "it counts" '^[1-9][0-9]*,,page-faults,' "$err"
	within "proc sys null read_only" /pstat record -q -N -e cpu-clock:u -g -o - -- /inlined 2>err |
		within "proc sys null read_only" /pstat report --stdio -q -i - >out 2>>err
	has "a recording goes through a pipe" ' outer' "$(cat out err)"
	run within "proc sys null read_only" /pstat record -q -N -o /out/x -- /inlined
	has "what cannot be written is said" '^pstat: /out/x: .*Read-only file system' "$err"
}

test_user()
{
	local as_user=65534:65534

	need_mount
	run within "" /pstat stat -x, -e page-faults:u -- /inlined
	has "it counts, in an empty root" '^[1-9][0-9]*,,page-faults:u,' "$err"
	run within "proc" /pstat record -q -N -e cpu-clock:u --call-graph dwarf -o /out/theirs -- /inlined
	has "it records" ' outer' "$(within "proc" /pstat report --stdio -q -i /out/theirs 2>&1)"
}

# Descriptions of common terminals are in the program.
test_terminal()
{
	local type

	need_mount
	within "" /pstat record -q -N -e cpu-clock:u -g -o /out/shown -- /inlined 2>/dev/null
	for type in xterm-256color screen tmux linux vt100; do
		TERM=$type run "$PYTHON" "$ROOT/tests/cli/pty_screen.py" 24 100 "until outer" "keys q" end -- \
			"${own_mounts[@]}" "$tmp/within" "$root" "" / /pstat report -i /out/shown
		has "it is browsed on $type" '^status 0$' "$out"
	done
	TERM=unheard_of run "$PYTHON" "$ROOT/tests/cli/pty_screen.py" 24 100 end show -- "${own_mounts[@]}" \
		sh -c 'exec "$@" 2>&1' sh "$tmp/within" "$root" "" / /pstat report --tui -q -g none -i /out/shown
	has "on others it is printed" '%  inlined' "$out"
	has "with the reason" "terminfo does not know the terminal 'unheard_of'" "$out"
}

test_bare_folder()
{
	mkdir bare && cp "$static" "$root/inlined" bare && cd bare || exit 1
	run env -i ./pstat stat -x, -e page-faults:u -- ./inlined
	has "it counts" '^[1-9][0-9]*,,page-faults:u,' "$err"
	run env -i ./pstat record -q -N -e cpu-clock:u --call-graph dwarf -o data -- ./inlined
	run env -i ./pstat report --stdio -q -i data
	has "it records and reports" ' outer' "$out"
}
run_tests
