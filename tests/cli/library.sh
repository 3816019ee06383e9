#!/bin/bash
# SPDX-License-Identifier: MIT
# libpstat as other programs use it: the examples, what happens without memory, what a fork leaves.
. "${0%/*}/../lib.sh"

# Each example by itself. Memory that is lost is seen by the sanitizers of its own build; valgrind, which begins in half a
# second and does so 45 times, sees memory that is never written as well: tests/long/library_memory.sh.
example() # NAME ARGS...: $out
{
	need_library "$@"
	local program=$LIBRARY/$1

	shift
	run "$program" "$@"
	same "status of ${program##*/}" 0 "$status"
}
clean() # NAME ARGS...
{
	[ -n "${TEST_VALGRIND:-}" ] || return 0
	local program=$LIBRARY/$1

	! grep -qa __asan_init "$program" || return 0
	need_cmd valgrind

	shift
	# A child that ends by _exit(2) has a copy of all, which a compiler may know to be of no use there.
	run valgrind -q --error-exitcode=99 --child-silent-after-fork=yes --leak-check=full \
		--errors-for-leak-kinds=definite,indirect "$program" "$@"
	# Lines that begin with -- are about system calls that it does not know, such as openat2(2).
	same "${program##*/} in valgrind" 0 "$status" &&
		same "valgrind says nothing" "" "$(grep -v "^--[0-9]*-- " <<<"$err")"
}

test_without_memory()
{
	need_library nomem
	run "$LIBRARY/nomem"
	same "every failure is -ENOMEM, and nothing is left" "0: " "$status: $(grep fails <<<"$out")"
	has "opening went through many" '^pstat_open, this thread: [0-9]{2,}$' "$out"
	has "an open handle takes no memory" '^counting: 0$' "$out"
}

test_count_loop()
{
	example count_loop 1000000
	has "the time of a loop" '^task-clock(:u)? [1-9][0-9]*$' "$out"
	has "instructions, or why not" '^instructions:u ([0-9]+|not supported: .+)$' "$out"
	clean count_loop 1000
}

test_count_loop_exactly()
{
	need_counter_unit
	example count_loop 1000000 '{instructions:u,branches:u}'
	# Some CPUs count an instruction more for each interrupt.
	local instructions branches
	instructions=$(sed -n 's/^instructions:u //p' <<<"$out") branches=$(sed -n 's/^branches:u //p' <<<"$out")
	check "two instructions a round" test "$instructions" -ge 1999000 -a "$instructions" -le 2001000
	check "one branch a round" test "$branches" -ge 999000 -a "$branches" -le 1001000
}

test_group_reasons()
{
	example group_reasons '{page-faults,minor-faults},task-clock'
	same "a group counts the same" "$(sed -n 's/^page-faults.* counted *\([0-9]*\).*/\1/p' <<<"$out")" \
		"$(sed -n 's/^minor-faults.* counted *\([0-9]*\) *with page-faults\(:u\)*$/\1/p' <<<"$out")"
	has "a clock in its unit" '^task-clock(:u)? +counted +[0-9]+ msec' "$out"
	clean group_reasons
}

# The reasons are those of pstat stat.
test_reasons()
{
	need_no_counter_unit
	example group_reasons cycles,page-faults
	local reason

	reason=$(sed -n 's/^cycles *not supported *(\(.*\))$/\1/p' <<<"$out")
	check "not supported, with the reason" test -n "$reason"
	run "$PSTAT" stat -j -e cycles true
	same "as pstat stat says it" "$reason" \
		"$("$PYTHON" -c 'import json, sys
print(json.loads(sys.argv[1].splitlines()[0])["reason"])' "$err")"
}

test_scale_check()
{
	example scale_check
	has "says what it found" '^instructions:u: ([0-9]+; |no truth to compare with: .)' "$out"
}

test_scaling()
{
	need_counter_unit
	example scale_check
	has "copies took turns" 'counted in [0-9]+\.[0-9] % of the time' "$out"
}

test_tracepoint_filter()
{
	need_tracefs
	need_paranoid -1
	example tracepoint_filter 1000
	has "each filter counts its calls" '^getppid 1000, getuid 500, all 1[5-9][0-9][0-9]$' "$out"
	has "a wrong filter is explained" "has no field 'no_such_field'" "$out"
	clean tracepoint_filter
}

test_cxx()
{
	need_library measure_set "it takes a C++ compiler"
	example measure_set
	check "JSON" "$PYTHON" -c 'import json, sys
values = {name.removesuffix(":u"): value for name, value in json.loads(sys.argv[1]).items()}
assert values["page-faults"] > 100 and values["task-clock"] > 0, values' "$out"
	clean measure_set
}

test_exception()
{
	need_library measure_exception "it takes a C++ compiler"
	example measure_exception
	same "nothing is left" "exceptions came through: yes
descriptors left open: 0
still counting: no
and counts again: yes" "$out"
	clean measure_exception
}

test_versions_agree()
{
	example uses version
	same "as pstat says it" "$("$PSTAT" --version | sed 's/.* //')" "$out"
}

# What programs of tests/library check by themselves: they print ok, or what does not hold.
use() # WORD [PROGRAM]
{
	local program=${2:-uses} about=()

	has_sanitizers && about=(about)
	example "$program" "$1" "${about[@]}"
	case $out in "skip: "*) skip "${out#skip: }" ;; esac
	same "$program $1" ok "$out"
	clean "$program" "$1" about
	same "$program $1, also then" ok "$out"
}
test_attrs() { use attr; }
test_enabled_when_opened() { use enabled; }
test_fork() { use fork; }
test_structs_of_other_ages() { use structs; }
test_threads() { use threads; }
test_cells() { use cells; }
test_differences() { use differences; }
test_readings_of_other_counters() { use strangers; }
test_json() { use json; }
test_locale()
{
	need_library uses
	comma_locale
	run env LC_ALL=$comma_locale "$LIBRARY/uses" locale
	same "a comma in the locale is a point in JSON" ok "$out"
}
test_inherit() { use inherit; }
test_contradictions() { use contradictions; }
test_ids() { use ids; }
test_names() { use names; }
test_period() { use period; }
test_bpf() { use bpf; }
test_track() { use track traps; }
test_nothing_is_open() { use nothing_open traps; }
test_waiting() { use waiting traps; }
test_ended() { use ended traps; }
test_words_of_sampling() { use words traps; }
test_limits() { use limits traps; }
test_inherit_of_one_event() { use inherit_word traps; }
test_measure_with_options() { use measure small; }
test_targets_of_descriptors() { use targets small; }
test_one_cpu() { use one_cpu small; }
test_json_with_details() { use json small; }
test_known_events() { use known small; }
test_rates_of_events() { use rates small; }
# Not in valgrind, which takes the number that this ioctl(2) wants for an address.
test_pause_and_refresh()
{
	example small pause
	same "small pause" ok "$out"
}
test_cgroup_by_path()
{
	need_root
	CGROUP_MOUNT=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ "$CGROUP_MOUNT" ] || skip "needs cgroup v2, mounted"
	! grep -q ' cgroup [^ ]*perf_event' /proc/mounts || skip "perf events follow cgroup v1 here"
	export CGROUP_MOUNT
	use cgroup_path small
}
test_fields_of_tracepoints()
{
	need_tracefs
	need_root
	use fields small
}
test_bpf_programs()
{
	need_tracefs
	need_root
	use bpf_programs small
}
test_names_of_own_functions() { use own names; }
test_names_that_are_not_known() { use no-name names; }
test_names_of_what_was_mapped_later() { use mapped-later names; }
test_names_of_a_replaced_file() { use replaced names; }
test_names_of_other_processes() { use others names; }
test_names_of_the_kernel() { use kernel names; }
# Not in valgrind, which runs a copy of the code, where no probe is.
test_probe_by_function()
{
	need_uprobes
	example names probe
	case $out in "skip: "*) skip "${out#skip: }" ;; esac
	same "names probe" ok "$out"
}
test_names_in_hostile_files()
{
	SMALL_PROGRAM=$WORK/spend example names hostile
	same "names hostile" ok "$out"
}
test_sentences() { use sentences traps; }
test_bpf_of_a_tracepoint()
{
	need_tracefs
	need_root
	use bpf_tracepoint traps
}
test_cgroup()
{
	need_root
	make_cgroup
	export CGROUP_FOLDER=$cgroup/in CGROUP_IN=$in CGROUP_OUT=$out
	use cgroup
}

# The example of libpstat(3), as it stands there.
test_manual()
{
	need_library
	need_plain_build
	local built=${BUILD:-}/library

	[ -e "$built/libpstat.a" ] && [ -r "$built/libpstat.a" ] || skip "needs the library, which this user cannot read"
	sed -n '/^\.SH EXAMPLE/,/^\.SH CONV/p' "$ROOT/man/libpstat.3" | sed -n '/^\.EX/,/^\.EE/p' |
		sed -e '/^\.E[XE]/d' -e 's/\\-/-/g' -e 's/\\e/\\/g' >example.c
	check "it is strict C" "$CC" -std=c99 -pedantic -Wall -Wextra -Werror -I"$built/include" -o example example.c \
		"$built/libpstat.a"
	run ./example
	same "status" 0 "$status"
	has "it counts" '^page-faults(:u)?: [0-9]+, counted' "$out"
	has "it says why not, too" '^cycles: [0-9]+, (counted|scaled|not supported: .+)' "$out"
}
run_tests
