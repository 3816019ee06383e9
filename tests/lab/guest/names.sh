# SPDX-License-Identifier: MIT
# One CPU: the names of what this machine's counter unit counts and does not; breakpoints; who may.
. /lab/truth.sh

test_unit()
{
	events=armv8_pmuv3/event=0x11/u,armv8_pmuv3/inst_retired/u,armv8_pmuv3/cpu_cycles/u,r8:u,r11:u
	exactly "armv8_pmuv3/event=0x11/u" $cycles armv8_pmuv3/event=0x11/u -e $events -- "$loop" $loops
	exactly "armv8_pmuv3/inst_retired/u" $instructions armv8_pmuv3/inst_retired/u -e $events -- "$loop" $loops
	exactly "r8:u" $instructions r8:u -e $events -- "$loop" $loops
	exactly "r11:u" $cycles r11:u -e $events -- "$loop" $loops
	by_pstat -e armv8_pmuv3/instructions/u,armv8_pmuv3/cycles,name=mine/u -- "$loop" $loops
	same "a general name on the unit" $instructions "$(value armv8_pmuv3/instructions/u)"
	same "with a name of its own" $cycles "$(value mine)"
	fails_with 129 "inst_retired" "$PSTAT" stat -e armv8_pmuv3/inst_retire/ -- true
	fails_with 129 "format|event" "$PSTAT" stat -e armv8_pmuv3/nosuch=1/ -- true
}

test_refused()
{
	run "$PSTAT" stat -e L1-dcache-loads,LLC-misses,branches,cache-misses,cycles:I,instructions:u -- "$loop" $loops
	for name in L1-dcache-loads LLC-misses branches cache-misses; do
		has "$name" "<not supported> +$name +# +this counter unit does not have the event" "$err"
	done
	has "idle time" "<not supported> +cycles:I +# +the unit cannot leave out idle time" "$err"
	has "what can be counted is" " $(printf "%'d" $instructions | tr -d ,) *instructions:u|instructions:u" "$err"
	by_pstat -e L1-dcache-loads,instructions:u -- "$loop" $loops
	same "CSV" "<not supported>" "$(value L1-dcache-loads)"
	same "the other" $instructions "$(value instructions:u)"
	# The emulated unit takes these numbers: one never runs, one counts nothing.
	run "$PSTAT" stat -e r1e:u,r3:u -- "$loop" $loops
	has "never got a counter" "<not counted> +r1e:u +# +[a-z]" "$err"
	has "none is not 'not counted'" "^ +0 +r3:u" "$err"
}

test_list()
{
	run "$PSTAT" list hw
	has "cycles count" "^cpu-cycles or cycles .*\(counts\)" "$out"
	has "instructions count" "^instructions .*\(counts\)" "$out"
	has "branches do not" "^branch-instructions .*\(no: this counter unit does not have the event\)" "$out"
	same "two of all" 2 "$(printf '%s\n' "$out" | grep -c '(counts)')"
	run "$PSTAT" list cache
	same "no cache event counts" 0 "$(printf '%s\n' "$out" | grep -c '(counts)')"
	run "$PSTAT" list pmu
	has "the unit's own" "armv8_pmuv3/inst_retired/" "$out"
	run "$PSTAT" list --counters
	has "seven counters" "^armv8_pmuv3 +7 free: 6 for any event, 1 for cycles" "$out"
	run "$PSTAT" list --counters -j
	has "in JSON" '"counter-unit" : "armv8_pmuv3", "free-counters" : 6, "own-counters" : \["cycles"\]' "$out"
}

test_doctor()
{
	run "$PSTAT" doctor
	has "unit" "^core counter unit +ok +armv8_pmuv3, 7 counters free: 6 for any event, 1 for cycles" "$out"
	has "paranoid" "^paranoid level +ok +3, which does not limit this user" "$out"
	has "breakpoints" "^hardware breakpoints +ok +4 free" "$out"
}

test_breakpoints()
{
	events=mem:$cell:w:u,mem:$cell:r:u,mem:$cell:rw:u,mem:$called:x:u
	exactly "stores (mem:ADDR:w)" 700 mem:$cell:w:u -e $events -- "$WORK/hits" 700
	exactly "loads (mem:ADDR:r)" 700 mem:$cell:r:u -e $events -- "$WORK/hits" 700
	exactly "both (mem:ADDR:rw)" 1400 mem:$cell:rw:u -e $events -- "$WORK/hits" 700
	exactly "calls (mem:ADDR:x)" 700 mem:$called:x:u -e $events -- "$WORK/hits" 700
	run "$PSTAT" stat -e "$(times 6 "mem:$cell:w:u")" -- "$WORK/hits" 700
	has "more than there are" "^ <not supported>: all hardware breakpoints are in use$" "$err"
	same "the others hit" 4 "$(printf '%s\n' "$err" | grep -c '^ *700 ')"
}

as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups -- "$@"; }
test_unprivileged()
{
	same "what Debian sets" 3 "$(</proc/sys/kernel/perf_event_paranoid)"
	run as_nobody "$PSTAT" stat -e cycles:u,instructions:u -- "$loop" $loops
	same "status" 125 $status
	has "the reason" "needs perf_event_paranoid 2 or CAP_PERFMON" "$err"
	has "one remedy" "^  sudo sysctl kernel.perf_event_paranoid=2" "$err"
	run as_nobody "$PSTAT" doctor
	has "doctor says so" "^paranoid level +(missing|limited)" "$out"
	echo 2 >/proc/sys/kernel/perf_event_paranoid
	run as_nobody "$PSTAT" stat -x, -e cycles,instructions -- "$loop" $loops
	row "instructions by a user without rights, level 2" $instructions "$(value instructions:u)" -
	same "user mode only, and its name says so" $instructions "$(value instructions:u)"
	run as_nobody "$PSTAT" stat -e cycles,instructions -- "$loop" $loops
	has "one line says why" "events marked :u count user mode only" "$err"
	run as_nobody "$PSTAT" stat -a -e cycles -- true
	same "not all CPUs" 125 $status
	has "why" "needs perf_event_paranoid 0 or CAP_PERFMON" "$err"
	echo 3 >/proc/sys/kernel/perf_event_paranoid
}

run_tests
