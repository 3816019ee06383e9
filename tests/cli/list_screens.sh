#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat list on a terminal: by source, each reason said once, lines that fit; near names for what there is not. In a
# pipe: a line for each event, as before.
#
# run: once
. "${0%/*}/../lib.sh"
export PSTAT_PAGER=cat
unset COLUMNS

# screen COLUMNS COMMAND...: sets $out to what the command shows on such a terminal.
screen() { run timeout 300 "$PYTHON" "$ROOT/tests/cli/on_screen.py" "$1" 12 "${@:2}"; }

test_groups()
{
	screen 80 "$PSTAT" list
	same "status" 0 "$status"
	printf '%s\n' "$out" >all
	for head in 'Hardware events \(hw\)' 'Events of the kernel \(sw\)' 'Hardware cache events \(cache\)' \
		'Times of the measurement, and the machine \(tool\)' 'Metrics \(metric\)'; do
		same "$head" 1 "$(grep -cE "^$head" all)"
	done
	check "software events below their head" awk '/^Events of the kernel/ { n = NR } /^- page-faults or faults |^  page-faults or faults / { m = NR } END { exit !(n && m > n && m < n + 9) }' all
	has_not "the head has the topic" '\[(hw|sw|cache|tool|metric)\]' "$out"
	# A reason for all of a group stands in its head only; blank lines part groups.
	same "a reason is said once for a group" "" \
		"$(awk 'BEGIN { RS = "" } /^[^\n]*not here/ && /\n[^\n]*\(no: / { print $1, $2, $3 }' all)"
	same "every event is there" "" "$("$PSTAT" list --names sw cache tool metric |
		while read -r name; do grep -qF -- "$name" all || echo "$name"; done)"
}

test_lines_fit()
{
	for columns in 80 60; do
		screen "$columns" "$PSTAT" list hw sw cache tool raw breakpoint metric
		same "$columns columns: longer lines" "" "$(awk -v n="$columns" 'length($0) > n' <<<"$out")"
	done
	screen 80 "$PSTAT" list branch-load-misses
	has "a description goes on below its beginning" '^[- ] branch-load-misses  ' "$out"
	screen 0 "$PSTAT" list sw
	has "a terminal that does not know its width" '^[- ] cpu-clock' "$out"
}

# What this user may not read is a group that says why.
test_not_readable()
{
	local nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all --inh-caps=-all --)

	need_root
	need_cmd setpriv
	need_tracefs
	"${nobody[@]}" test -r /sys/kernel/tracing/events && skip "all users may read tracefs"
	cp "$PSTAT" ./pstat
	chmod 711 "$tmp"
	"${nobody[@]}" ./pstat version >/dev/null 2>&1 || skip "that user cannot reach the program"
	screen 80 "${nobody[@]}" ./pstat list
	same "status" 0 "$status"
	same "tracepoints are one group" 1 "$(grep -cE '\(tracepoint\): not here: ' <<<"$out")"
	has "with a remedy" '^  run as root' "$out"
}

test_in_a_pipe()
{
	run "$PSTAT" list sw tool
	same "a line an event" "$("$PSTAT" list --json sw tool | grep -c EventName)" "$(wc -l <<<"$out")"
	has_not "no heads" '^[A-Z]' "$out"
	has "a line that says all" '^page-faults or faults +\[sw\] page faults, minor and major$' "$out"
	run "$PSTAT" list 'page-faul*'
	has "a pattern" '^page-faults or faults +\[sw\]' "$out"
	screen 80 "$PSTAT" list --names sw
	has "--names on a terminal" '^cpu-clock$' "$out"
	screen 80 "$PSTAT" list --json sw
	has "--json on a terminal" '^\{"EventName" : "cpu-clock", .*"topic" : "sw", "name" : "cpu-clock"' "$out"
}

# One array, as perf's, with perf's keys; also an empty one. Options may stand behind the words, but not behind --.
test_json()
{
	"$PSTAT" list sw -j metric >both
	"$PSTAT" list -j --counters >counters
	"$PSTAT" list -j nosuchevent >none 2>/dev/null
	check "arrays" "$PYTHON" -c '
import json, sys
both, counters, none = (json.load(open(name)) for name in ("both", "counters", "none"))
assert none == [] and isinstance(counters, list) and all("counter-unit" in row for row in counters), (none, counters)
names = [row["name"] for row in both]
assert names == [row.get("EventName", row.get("MetricName")) for row in both], both
alias = {row["EventAlias"]: row["name"] for row in both if "EventAlias" in row}
assert names == [name for name in sys.argv[1].split("\n") if name not in alias], (names, sys.argv)
assert alias["faults"] == "page-faults" and alias["insn_per_cycle"] == "ipc" and {row["topic"] for row in both} == {"sw", "metric"}, both
assert all(row["BriefDescription"] and row.get("EventType", "Software event") == "Software event" for row in both), both
' "$("$PSTAT" list sw metric --names)"
	fails_with 125 "there is no topic, event or metric '-j'" "$PSTAT" list sw -- -j
}

test_pager()
{
	printf '#!/bin/sh\necho "paged LESS=$LESS"\ncat\n' >page
	chmod +x page
	unset LESS
	export PSTAT_PAGER=$PWD/page
	screen 80 "$PSTAT" list sw
	has "on a terminal" '^paged LESS=FRSX$' "$out"
	screen 80 "$PSTAT" list --no-pager sw
	has_not "--no-pager" paged "$out"
	has_not "in a pipe" paged "$("$PSTAT" list sw)"
	PSTAT_PAGER=true screen 80 "$PSTAT" list
	same "a pager that ends early is no error" "0 " "$status $out"
}

# Other tables of text, likewise; but commands stay whole, to be copied.
test_doctor()
{
	screen 70 "$PSTAT" doctor
	# A path is one word, and as long as it is.
	same "longer lines have a command" "" "$(awk 'length($0) > 70 && !/sudo / && index($0, ENVIRON["HOME"] "/.") == 0' <<<"$out")"
	same "its lines begin as in a file" "$("$PSTAT" doctor | cut -c1-20 | grep '^[a-z]')" \
		"$(cut -c1-20 <<<"$out" | grep '^[a-z]')"
}

test_near_names()
{
	while read -r word near; do
		run "$PSTAT" list "$word"
		same "$word: status" 125 "$status"
		has "$word" "no topic, event or metric '" "$err"
		has "$word" "^  did you mean .*\\b$near\\b.*\\?$" "$err"
	done <<-'END'
	cahce cache
	cyclse cycles
	cyclse* cycles
	cache-mises cache-misses
	pagefaults page-faults
	LCC-* LLC-loads
	migratoins migrations
	END
	fails_with 125 "'nosuch:event'" "$PSTAT" list nosuch:event
	has "nothing is near" "^  'pstat list tracepoint' shows all names$" "$err"
	fails_with 125 "'qqqqqqqq'" "$PSTAT" list qqqqqqqq
	has "nothing is near" "^  'pstat list' shows all names$" "$err"
	need_tracefs
	for word in 'sched:sched_swich' 'sched:sched_swich*' nosuch:sched_switch sched:swich 'sched_swtch*' shed:sched_switch; do
		fails_with 125 "no topic" "$PSTAT" list "$word"
		has "$word" '^  did you mean .*sched:sched_switch' "$err"
	done
}
run_tests
