#!/bin/bash
# SPDX-License-Identifier: MIT
# The event language at the command line: what must be taken is taken, what must be refused is refused
# with the place in the text; perf says the same, but where a line says why not.
. "${0%/*}/vs_perf.bash"

# The list that the unit test of the parser uses. Without those that name hundreds of tracepoints: the
# kernel takes half a minute to open and close them.
accepted()
{
	"$PYTHON" - "$ROOT/tests/unit/accept_list.h" <<'END' | grep -vFx -e '*:*' -e 'syscalls:*' -e 'syscalls:*:u'
import re, sys
text = re.search(r"accepted\[\] = \{(.*?)\n\};", open(sys.argv[1]).read(), re.S).group(1)
for each in re.findall(r'((?:(?:"[^"]*"|CORE)\s*)+)(?:,|$)', text):
    print("".join(re.findall(r'"([^"]*)"', each.replace("CORE", '"cpu"'))))
END
}

# What may be said of a word of that list: this machine has no such unit, event or tracepoint.
lacking="^pstat: .*(neither a counter unit of this machine nor an event|unknown event 'event-|no tracing system)"

test_accept_list()
{
	need_cmd "$PYTHON"
	local spec refused="" n=0

	tracefs_events || lacking+="|^pstat: tracepoints: "
	is_root || lacking+="|tracefs|tracing|^pstat: cannot count .*needs "
	while IFS= read -r spec; do
		run "$PSTAT" stat -o /dev/null -e "$spec" -- true
		n=$((n + 1))
		[ "$status" -eq 0 ] || grep -Eq "$lacking" <<<"$err" || refused+="$spec: status $status: $err"$'\n'
	done < <(accepted)
	check "there is a list: $n" [ "$n" -gt 100 ]
	ran=
	same "each is taken, or its reason is what this machine lacks" "" "$refused"
}

# For each row, whether it counts; false if nothing does. The names differ in modifiers, which perf leaves
# out of some.
rows_that_count()
{
	local all

	all=$(rows "$@")
	[[ $all != "status "* ]] || return
	awk -F'|' '{ print ($1 ~ /not supported/ ? "not supported" : "counted") }' <<<"$all" | paste -sd ,
}

test_accept_list_beside_perf()
{
	need_cmd "$PYTHON"
	need_tracefs
	need_paranoid -1
	local spec differ="" theirs ours n=0

	while IFS= read -r spec; do
		[[ $spec != *'*'* ]] || continue # each tracepoint takes the kernel 40 ms
		# perf counts nothing where one of a group can't be counted, and doesn't know a few specs.
		theirs=$(rows_that_count perf -e "$spec" -- true) || continue
		ours=$(rows_that_count "$PSTAT" -e "$spec" -- true)
		n=$((n + 1))
		[ "$theirs" = "$ours" ] || differ+="$spec: perf: $theirs; pstat: $ours"$'\n'
	done < <(accepted)
	check "perf takes many of them: $n" [ "$n" -gt 40 ]
	ran=
	same "what perf takes, pstat takes, and counts the same rows of it" "" "$differ"
}

# Spec, the caret's column from 0, the reason; "perf takes it" where perf 6.1 does.
refused()
{
	grep -v '^#' <<'END'
cycles:z | 7 | unknown modifier 'z'
{faults,cs}:z | 12 | unknown modifier 'z'
cycles:uu | 8 | 'u' stands here twice
cycles:pppp | 10 | more than three 'p'
faults:up:u | 7 | after one colon
nosuchevent | 0 | unknown event 'nosuchevent'
page-fault | 0 | unknown event | page-faults
faults,cpu-cycels | 7 | unknown event | cpu-cycles
L1-dcache-nonsense | 0 | unknown event | L1-dcache
nosuch/config=1/ | 0 | neither a counter unit
sched:sched_swich | 6 | unknown tracepoint | sched:sched_switch
nosuch:event | 0 | unknown tracepoint
*:nosuch* | 0 | no tracepoint matches
software/config=1,bogus=2/ | 18 | unknown term 'bogus' | valid terms: config, .*period
software/config=abc/ | 16 | needs a number
software/config=1,config=0x1ffffffffffffffff/ | 25 | too big, at most 18446744073709551615
cycles/time=2/ | 12 | 0 or 1
cycles/name/ | 7 | needs a text
cycles/period=100,freq=100/ | 18 | exclude each other
mem:xyz | 4 | not an address
mem:0x1ffffffffffffffff | 4 | more than 64 bits
mem:0:q | 6 | 'q'
# perf rounds some lengths, and takes 4 for others
mem:0/3 | 6 | 1, 2, 4 or 8 bytes | | perf takes it
1:zz | 2 | needs a number
99999999999:1 | 0 | too big | | perf takes it
rzz | 0 | unknown event
{} | 0 | group is empty
# perf closes what is open at the end of the text
{faults | 0 | not closed | | perf takes it
{faults,cs | 0 | not closed | | perf takes it
faults/name='x/ | 12 | not closed | | perf takes it
faults} | 6 | closes no group
{faults,{cs}} | 8 | inside a group
a{faults}b | 9 | ',' is missing
software/config=1 | 8 | not closed
faults, | 6 | ends with a comma
,faults | 0 | missing before ','
faults,,cs | 7 | missing before ','
: | 0 | missing before ':'
uprobe/func=x/ | 0 | needs the file
uprobe/path=/nonexistent,func=x/ | 12 | No such file
END
}

test_reject_list()
{
	local spec column why hint perf_takes bad n=0

	while IFS='|' read -r spec column why hint perf_takes; do
		spec=${spec% } column=${column// /} why=${why# } why=${why% } hint=${hint# } hint=${hint% }
		tracefs_events || [[ $spec != *sched* && $spec != nosuch:* && $spec != '*:'* ]] || continue
		[ -e /sys/bus/event_source/devices/uprobe ] || [[ $spec != uprobe* ]] || continue
		n=$((n + 1))
		run "$PSTAT" stat -e "$spec" -- touch ran
		bad=
		[ "$status" -eq 129 ] || bad+="status $status; "
		[ ! -e ran ] || bad+="the command ran; "
		[ -z "$out" ] || bad+="something is on stdout; "
		grep -Eq "^pstat: .*$why" <<<"$err" || bad+="the reason is missing; "
		grep -Eq -e "$hint" <<<"$err" || bad+="the hint is missing; "
		grep -Fxq "  $spec" <<<"$err" || bad+="the spec is missing; "
		grep -Fxq "$(printf '%*s^' $((column + 2)) '')" <<<"$err" || bad+="the caret is elsewhere; "
		if ! perf stat -o /dev/null -e "$spec" -- true >/dev/null 2>&1; then
			[ -z "$perf_takes" ] || bad+="perf refuses it too; "
		elif [ -z "$perf_takes" ]; then
			bad+="perf takes it; "
		fi
		same "refused: $spec" "" "$bad"
	done < <(refused)
	check "there is a list: $n" [ "$n" -gt 30 ]
}

test_empty_list()
{
	fails_with 129 '^pstat: the event list is empty' "$PSTAT" stat -e '' -- true
	fails_with 129 '^pstat: the event list is empty' "$PSTAT" stat -e ' ' -- true
}

test_long_and_odd_text()
{
	run "$PSTAT" stat -e "$(printf 'faults,%.0s' {1..3000})" -- true
	same "refused: a comma after 3000 events" "129 pstat: the list ends with a comma" "$status ${err%%$'\n'*}"
	run "$PSTAT" stat -e "$(printf 'x%.0s' {1..100000})" -- true
	same "refused: a word of 100000 letters" 129 "$status"
	check "in a message that can be read" [ ${#err} -lt 1000 ]
	run "$PSTAT" stat -e "$(printf '{%.0s' {1..10000})" -- true
	same "refused: groups in groups" "129 pstat: a group cannot be inside a group" "$status ${err%%$'\n'*}"
	run "$PSTAT" stat -e $'fau\001lts\033[2J\377' -- true
	same "refused: control characters" 129 "$status"
	same "and none of them is printed" "" "$(tr -d '\n\040-\176' <<<"$err" | od -An -c)"
}
run_tests
