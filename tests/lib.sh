# SPDX-License-Identifier: MIT
# For tests/cli/*.sh and tests/lint/*: results as TAP, requirements, a folder that goes away.
#
#	#!/bin/bash
#	. "${0%/*}/../lib.sh"
#
#	test_counts_page_faults()
#	{
#		need_paranoid 2                    # else: skipped with that reason
#		run "$PSTAT" stat -x, -e page-faults -- true
#		same "exit status" 0 "$status"
#		has "one row" "^[0-9]+,,page-faults" "$err"
#	}
#	run_tests
#
# run_tests runs each test_* function in a process of its own, in the order of the file; in the pass without rights of
# tests/run ($TEST_WITHOUT_RIGHTS) of a file whose head has "# rights: test_x test_y" these alone. Short files
# may do without functions: checks at top level, done_testing (or run_tests) at the end; a need_*
# at top level skips the rest of the file.
#
# Given by the runner: $PSTAT the program, $PSTAT_FAKE the same on a scripted kernel, $WORK the folder of
# the programs made from tests/work/*.c, $LIBRARY of those of
# tests/library and tests/examples, $ROOT the repository. $tmp is an empty folder of this test file; $HOME another
# one in it, "home".

set -u
export LC_ALL=C
: "${ROOT:=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}"
: "${PSTAT:=$ROOT/pstat}"
: "${PSTAT_FAKE:=$ROOT/pstat-fake}"
: "${WORK:=$ROOT/work}"
: "${LIBRARY:=$ROOT/library}"
: "${PYTHON:=python3}"
command -v "$PYTHON" >/dev/null || PYTHON=python3 # the runner's may be out of this user's reach
tmp=$(mktemp -d "${TMPDIR:-/tmp}/test-XXXXXX") || exit 1
# What programs keep in a home folder, such as copies of what they recorded, is not put into the user's: each test file
# begins with an empty one. $user_home: the user's own, for tools that are installed there.
user_home=${USER_HOME:-${HOME:-}}
export HOME=$tmp/home
mkdir -m 755 "$HOME" || exit 1
unset PERF_BUILDID_DIR XDG_CACHE_HOME
tests_main_pid=$BASHPID
tests_name=${0##*/}
echo 0 >"$tmp/.count"
status=0 out='' err=''
used=$ROOT/tests/cli/used # $used PID MS: until the process has used the CPU for so long

tests_end()
{
	local exit_status=$?
	[ "$BASHPID" = "$tests_main_pid" ] || return
	if [ -e "$tmp/.done" ]; then
		echo "1..$(<"$tmp/.count")"
	else
		echo "# $tests_name ended before done_testing or run_tests (status $exit_status)"
	fi
	rm -rf "$tmp"
}
trap tests_end EXIT

# ---- results ----

# point ok|"not ok" NAME [# SKIP reason]
point()
{
	local n=$(($(<"$tmp/.count") + 1))

	echo $n >"$tmp/.count"
	echo "$1 $n - ${test_now:+$test_now: }${2//#/\\#}${3:+ # SKIP $3}"
	[ "$1" = ok ]
}

pass() { point ok "$1"; }

# fail NAME [explanation, any number of lines]
fail()
{
	point "not ok" "$1"
	[ $# -lt 2 ] || printf '%s\n' "$2" | sed 's/^/# /'
	return 1
}

# Ends the test function, or at top level the file, as skipped.
skip()
{
	point ok "${2:-requirements}" "$1"
	[ "$BASHPID" = "$tests_main_pid" ] && touch "$tmp/.done"
	exit 0
}

done_testing()
{
	touch "$tmp/.done"
	exit 0
}

# took BEGUN TICKS NAME: prints for TEST_TIMES what a test function took, see tests/run.
took()
{
	awk -v t="$1" -v now="$EPOCHREALTIME" -v ticks=$(($(used_ticks) - $2)) -v name="$3" \
		'BEGIN { printf "# took %.1f s, CPU %.1f s: %s\n", now - t, ticks / 100, name }'
}

# The CPU time of this test file, and of all that it has waited for.
used_ticks() { awk '{ print $14 + $15 + $16 + $17 }' /proc/$tests_main_pid/stat; }

# Runs the functions test_*, in the order of the file.
run_tests()
{
	local before begun ticks status_now only=

	[ -z "${TEST_WITHOUT_RIGHTS:-}" ] || only=$(sed -n '1,30s/^# rights: //p' "$0")
	shopt -s extdebug # declare -F then tells the line
	for test_now in $(declare -F | awk '$3 ~ /^test_/ { print $3 }' | while read -r name; do
		declare -F "$name"; done | sort -k2,2n | awk '{ print $1 }'); do
		[ -z "$only" ] || [[ " $only " = *" $test_now "* ]] || continue
		before=$(<"$tmp/.count") begun=$EPOCHREALTIME
		[ -z "${TEST_TIMES:-}" ] || ticks=$(used_ticks)
		shopt -u extdebug
		(
			name=$test_now
			test_now=${test_now#test_}
			mkdir -p "$tmp/$name"
			tmp_file=$tmp
			cd "$tmp/$name" || exit 1
			"$name"
			: >"$tmp_file/.ended"
			[ "$(<"$tmp_file/.count")" -gt "$before" ] || fail "checks something" "no check ran"
		)
		status_now=$?
		[ -z "${TEST_TIMES:-}" ] || took "$begun" "$ticks" "$test_now"
		# One that skips ends with 0.
		[ -e "$tmp/.ended" ] || [ $status_now -eq 0 ] || fail "runs to its end" "status $status_now"
		rm -f "$tmp/.ended"
	done
	done_testing
}

# ---- checks ----

# run CMD...: $status, $out (stdout), $err (stderr); the runs' texts are shown when a check fails.
run()
{
	ran="$*"
	"$@" >"$tmp/.out" 2>"$tmp/.err" </dev/null
	status=$?
	{
		out=$(<"$tmp/.out")
		err=$(<"$tmp/.err")
	} 2>/dev/null # bash leaves zero bytes out, and says so
	return 0
}

# check NAME CMD...: passes when CMD exits with 0.
check()
{
	local name=$1 text

	shift
	if text=$("$@" 2>&1 </dev/null); then
		pass "$name"
	else
		fail "$name" "status $? of: $*
$text"
	fi
}

# check_not NAME CMD...: passes when CMD exits with 1 to 124 (a crash or a missing program is no success).
check_not()
{
	local name=$1 text got

	shift
	text=$("$@" 2>&1 </dev/null)
	got=$?
	if [ $got -gt 0 ] && [ $got -lt 125 ]; then
		pass "$name"
	else
		fail "$name" "status $got of: $*
$text"
	fi
}

# same NAME EXPECTED ACTUAL
same()
{
	[ "$2" = "$3" ] && { pass "$1"; return; }
	fail "$1" "$(diff -u --label expected --label actual <(printf '%s\n' "$2") <(printf '%s\n' "$3"))
${ran:+last run: $ran
status $status
stderr: $(head -c 2000 "$tmp/.err" 2>/dev/null)}"
}

# has NAME REGEX TEXT: some line matches the extended regular expression.
has()
{
	printf '%s\n' "$3" | grep -Eq -e "$2" && { pass "$1"; return; }
	fail "$1" "no line matches: $2
in:
$3
${ran:+last run: $ran (status $status)}"
}

# has_not NAME REGEX TEXT
has_not()
{
	printf '%s\n' "$3" | grep -Eq -e "$2" || { pass "$1"; return; }
	fail "$1" "a line matches: $2
in:
$3"
}

# $headless: a browser that runs without a screen.
browser_without_screen()
{
	local name

	for name in chromium-headless-shell chromium chromium-browser google-chrome; do
		command -v "$name" >/dev/null && headless=$name && return
	done
	skip "needs a browser without a screen (chromium-headless-shell), which is not installed"
}

# in_browser FILE NAME [OPTION...]: what the page says of itself in its title, "ok ..." or "not ok ...", and on the console.
in_browser()
{
	timeout 300 "$headless" --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/browser" \
		--virtual-time-budget=5000 --enable-logging=stderr "${@:3}" --dump-dom "file://$PWD/$1" >dom 2>console
	sed -n '/<title>ok/,/<\/title>/p; /<title>not ok/,/<\/title>/p' dom | sed 's/<[^>]*>//g' >seen
	has "the browser: $2: something was done" '^ok' "$(<seen)"
	has_not "the browser: $2: all as it should be" '^not ok' "$(<seen)"
	has_not "the browser's console: $2" 'CONSOLE.*(rror|Refused|violat)' "$(<console)"
}

# fails_with STATUS REGEX CMD...: the exit status, a line on stderr that matches, and no crash.
fails_with()
{
	local want=$1 regex=$2 name

	shift 2
	run "$@"
	name="${*/#"$PSTAT"/pstat}: $want, $regex"
	name=${name//$'\n'/ }
	if [ "$status" -ne "$want" ]; then
		fail "$name" "status $status, expected $want
stderr: $err"
	elif ! printf '%s\n' "$err" | grep -Eq -e "$regex"; then
		fail "$name" "no line of stderr matches: $regex
stderr: $err"
	else
		pass "$name"
	fi
}

# points_of TEXT: each line "ok - NAME", "not ok - NAME" or "skip - NAME # WHY" that a program printed as a result.
points_of()
{
	local line

	while IFS= read -r line; do
		case $line in
		"ok - "*) pass "${line#*- }" ;;
		"not ok - "*) fail "${line#*- }" ;;
		"skip - "*)
			line=${line#*- }
			point ok "${line% # *}" "${line##* # }"
			;;
		*) fail "a line that is no result: $line" ;;
		esac
	done <<<"$1"
}

# ---- requirements: each skips with its reason ----

is_root() { [ "$(id -u)" -eq 0 ]; }
paranoid_level() { cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo 2; }

# The bits of linux/capability.h that tests ask for.
declare -A cap_bits=([kill]=5 [net_admin]=12 [sys_ptrace]=19 [sys_admin]=21 [sys_nice]=23
	[sys_resource]=24 [syslog]=34 [perfmon]=38 [bpf]=39 [checkpoint_restore]=40)
has_cap()
{
	local mask

	mask=$(awk '$1 == "CapEff:" { print $2 }' /proc/self/status)
	[ $(((16#$mask >> cap_bits[$1]) & 1)) -eq 1 ]
}

has_counter_unit()
{
	local unit

	for unit in /sys/bus/event_source/devices/{cpu,cpu_*,armv[789]*,arm_*core*,*_pmuv3*}; do
		[ -e "$unit/type" ] && return 0
	done
	return 1
}

tracefs_events()
{
	local root

	for root in /sys/kernel/tracing /sys/kernel/debug/tracing; do
		[ -r "$root/events/sched/sched_switch/id" ] && return 0
	done
	return 1
}

need_root() { is_root || skip "needs root"; }
need_unprivileged() { is_root && skip "needs a user without rights"; return 0; }
# Where they never fire pstat takes none.
need_breakpoints() { "$WORK/breakpoints" || skip "needs hardware breakpoints that count"; }
# What perf_event_paranoid N allows: by that level or a lower one, or by capability.
need_paranoid()
{
	[ "$(paranoid_level)" -le "$1" ] || has_cap perfmon || has_cap sys_admin ||
		skip "needs perf_event_paranoid $1 or CAP_PERFMON"
}
# perf_event_paranoid forbids what level N forbids: it is N or higher, and the user has no capability.
need_restricted()
{
	[ "$(paranoid_level)" -ge "$1" ] && ! has_cap perfmon && ! has_cap sys_admin ||
		skip "needs perf_event_paranoid $1 or more and no CAP_PERFMON"
}
need_cap() { has_cap "$1" || skip "needs CAP_${1^^}"; }
need_cmd() { command -v "$1" >/dev/null || skip "needs $1, which is not installed"; }
need_perf() { command -v perf >/dev/null && perf version >/dev/null 2>&1 || skip "needs perf (linux-perf)"; }
need_libsqlite3()
{
	"$PSTAT" version --build-options | grep -q '^ *libsqlite3 *\[ on *\] *[^;]*$' ||
		skip "needs libsqlite3, which this pstat is without, or which is not installed"
}

need_jansson()
{
	"$PSTAT" version --build-options | grep -q '^ *jansson *\[ on *\] *[^;]*$' ||
		skip "needs jansson, which this pstat is without, or which is not installed"
}

need_libarchive()
{
	"$PSTAT" version --build-options | grep -q '^ *libarchive *\[ on *\] *[^;]*$' ||
		skip "needs libarchive, which this pstat is without, or which is not installed"
}
need_tracefs() { tracefs_events || skip "needs tracefs, mounted and readable by this user"; }
# Why pstat trace cannot print what pointers point at; nothing: it can.
why_no_texts()
{
	"$PSTAT" trace -e openat -o /dev/null true 2>&1 | sed -n 's/^pstat: what pointers point at is not known: //p'
}
need_bpf_texts()
{
	local why

	why=$(why_no_texts)
	[ -z "$why" ] || skip "needs BPF programs: $why"
}
need_no_tracefs() { tracefs_events && skip "needs tracefs to be out of reach"; return 0; }
need_counter_unit() { has_counter_unit || skip "needs a CPU counter unit"; }
need_no_counter_unit() { has_counter_unit && skip "needs a machine without CPU counter unit"; return 0; }
need_uprobes()
{
	[ -e /sys/bus/event_source/devices/uprobe/type ] || skip "needs uprobes in the kernel"
	has_cap perfmon || has_cap sys_admin || skip "needs CAP_PERFMON for uprobes"
}
# "${own_mounts[@]}" COMMAND...: in a mount namespace of its own; what COMMAND mounts goes away with it. In a chroot
# whose root is no mount point nothing can be made private, and where no mount is shared nothing need be.
own_mounts=(unshare -m)
grep -q ' shared:' /proc/self/mountinfo || own_mounts+=(--propagation unchanged)
need_mount()
{
	need_root
	"${own_mounts[@]}" mount -t tmpfs none "$tmp" 2>/dev/null || skip "needs the right to mount"
}
# In another one all tasks outside have the pid 0, and what is recorded of one is taken for another's. The
# kernel's number for the first never changes.
in_first_pid_namespace() { [ "$(readlink /proc/self/ns/pid)" = 'pid:[4026531836]' ]; }
need_first_pid_namespace() { in_first_pid_namespace || skip "needs the pid namespace that has all tasks"; }
# From here on perf finds no names of the kernel, where this user can hide them from it: for tests that look at programs alone.
# It asks the kernel to print all its 100,000 names, mostly three times in a run, which is 0.15 s of the 0.2 s of CPU time.
perf_without_kernel()
{
	local perf bin=$tmp/perf_without_kernel

	is_root && perf=$(command -v perf) || return 0
	"${own_mounts[@]}" mount --bind /dev/null /proc/kallsyms 2>/dev/null || return 0
	mkdir -p "$bin"
	cat >"$bin/perf" <<-END
	#!/bin/sh
	exec ${own_mounts[*]} sh -c 'mount --bind /dev/null /proc/kallsyms && exec "\$@"' - "$perf" "\$@"
	END
	chmod 755 "$bin/perf"
	PATH=$bin:$PATH
}
need_cpus() { [ "$(nproc)" -ge "$1" ] || skip "needs $1 CPUs"; }
# Counts and memory of a program with sanitizers are not its own.
has_sanitizers() { grep -qa -e __asan_init -e __ubsan_handle "$PSTAT"; }
need_plain_build()
{
	has_sanitizers && skip "needs a build without sanitizers"
	return 0
}
need_library() { [ -x "$LIBRARY/${1:-nomem}" ] || skip "needs ${1:-the library}, which is not built${2:+: $2}"; }
# Sets comma_locale: one whose numbers have a decimal comma. Without Unicode it is made in a third of the time.
comma_locale()
{
	comma_locale=$(locale -a 2>/dev/null | grep -i '^de_DE.utf-\?8$' | head -n 1)
	[ ! "$comma_locale" ] || return 0
	need_cmd localedef
	comma_locale=de_DE.ISO-8859-1
	export LOCPATH=$PWD/locales
	mkdir "$LOCPATH"
	localedef -i de_DE -f ISO-8859-1 "$LOCPATH/$comma_locale" >/dev/null 2>&1 ||
		skip "needs a locale with a decimal comma, or what makes it (package locales)"
}

need_fake() { [ -x "$PSTAT_FAKE" ] || skip "needs pstat-fake, which is not built"; }

# Sets cgroup, a folder below the hierarchy that knows perf events (its own in v1, any in v2), with the folders in and
# out below it, whose names for -G are $in and $out. All of them go with the test.
make_cgroup()
{
	local mount name=pstat_test_$$

	mount=$(awk '$3 == "cgroup" && $4 ~ /perf_event/ { print $2; exit }' /proc/mounts)
	[ "$mount" ] || mount=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ "$mount" ] || skip "needs a mounted cgroup hierarchy with perf events"
	cgroup=$mount/$name
	mkdir "$cgroup" 2>/dev/null && mkdir "$cgroup/in" "$cgroup/out" || skip "needs leave to make a cgroup"
	trap 'rmdir "$cgroup/in" "$cgroup/out" "$cgroup"' EXIT
	in=$name/in out=$name/out
}
