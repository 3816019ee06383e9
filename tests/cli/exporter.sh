#!/bin/bash
# SPDX-License-Identifier: MIT
# pstat exporter: metrics over HTTP and in files, to those who read them: Prometheus' own checker, its server,
# node_exporter and the parser of Python's client, where they are installed. What needs a certain kernel or client is
# in tests/unit/test_exporter.c and test_http.c.
# run: once
. "${0%/*}/../lib.sh"

# start OPTION...: in the background, with $url of its metrics.
start()
{
	"$PSTAT" exporter --listen 127.0.0.1:0 "$@" 2>listening &
	pid=$!
	until url=$(sed -n 's/^pstat: metrics are at //p' listening) && [ -n "$url" ]; do
		kill -0 $pid 2>/dev/null || { fail "it starts" "$(cat listening)"; exit 1; }
		sleep 0.02
	done
}

stop()
{
	kill -TERM $pid
	wait $pid
	same "a signal is no failure" 0 $?
}

get() { "$PYTHON" "$ROOT/tests/cli/exporter.py" get "$url" "$@"; }

test_scrapes()
{
	need_paranoid 0
	start -A -e page-faults,context-switches
	get >first
	has "a metric per CPU" '^pstat_event_total\{event="page-faults",mode="all",cpu="0"\} [0-9]+$' "$(cat first)"
	has "text" '^# content-type: text/plain; version=0.0.4; charset=utf-8$' "$(cat first)"
	get 'application/openmetrics-text; version=1.0.0' >open
	has "OpenMetrics" '^# content-type: application/openmetrics-text; version=1.0.0; charset=utf-8$' "$(cat open)"
	same "and its end" "# EOF" "$(tail -n 1 open)"
	# A scrape reads the counters: what was done since the one before is there, without a tick in between.
	check "no sum falls, and faults are there at once" "$PYTHON" "$ROOT/tests/cli/exporter.py" faults "$url"
	stop
}

test_once()
{
	need_paranoid 0
	fails_with 129 'duration_time: it is measured for a command' "$PSTAT" exporter --openmetrics - -e faults,duration_time
	run "$PSTAT" exporter --openmetrics - --interval 100ms -e page-faults
	same "status" 0 "$status"
	has "the sum of all CPUs" '^pstat_event_total\{event="page-faults",mode="all"\} [0-9]+$' "$out"
	same "the end" "# EOF" "$(printf '%s\n' "$out" | tail -n 1)"
}

test_files()
{
	need_paranoid 0
	run "$PSTAT" exporter --textfile x.prom --openmetrics x.om --interval 100ms --duration 300ms -e page-faults
	same "status" 0 "$status"
	has "text" '^# TYPE pstat_event_total counter$' "$(cat x.prom)"
	has "OpenMetrics" '^# TYPE pstat_event counter$' "$(cat x.om)"
	same "nothing else is left" "x.om x.prom" "$(ls | paste -sd' ')"
	fails_with 125 'nowhere/x.prom: .*No such file' "$PSTAT" exporter --textfile nowhere/x.prom -e page-faults
}

test_cgroup()
{
	need_root
	need_paranoid 0
	make_cgroup
	start --for-each-cgroup "$in" -e page-faults --interval 100ms
	(echo $BASHPID >"$cgroup/in/cgroup.procs" && "$WORK/exact" pages:2000) ||
		{ stop; skip "needs a cgroup that takes processes"; }
	get >there
	has "its faults" "^pstat_event_total\\{event=\"page-faults\",mode=\"all\",cgroup=\"$in\"\\} [0-9]{4,}$" "$(cat there)"
	check "it is removed" rmdir "$cgroup/in"
	until get >gone && ! grep -q cgroup= gone; do sleep 0.05; done
	pass "and its metrics are"
	mkdir "$cgroup/in"
	until get >again && grep -q 'enabled.*cgroup=' again; do sleep 0.05; done
	pass "one of that name is counted when it comes"
	stop
}

test_contradictions()
{
	fails_with 129 'no place for the metrics' "$PSTAT" exporter
	fails_with 129 'the other places would be left' "$PSTAT" exporter --openmetrics - --textfile x
	fails_with 129 'give one way to add up' "$PSTAT" exporter --openmetrics - -A --per-socket
	fails_with 129 'a value per CPU' "$PSTAT" exporter --openmetrics - --names node --per-socket
	fails_with 129 'give one of them' "$PSTAT" exporter --openmetrics - -e faults -G a --for-each-cgroup b
	fails_with 129 'at least 100ms' "$PSTAT" exporter --openmetrics - --interval 10ms
	fails_with 129 'is not a numeric address' "$PSTAT" exporter --listen example.org:9101
	need_paranoid 0
	fails_with 129 'are 3 series, and --max-series allows 2' "$PSTAT" exporter --openmetrics - -e faults --max-series 2
}

test_promtool()
{
	need_cmd promtool
	need_paranoid 0
	"$PSTAT" exporter --textfile x.prom --duration 200ms -A -e page-faults,cpu-clock,cycles || fail "it runs"
	promtool check metrics <x.prom >told 2>&1
	same "promtool has nothing to say" "0 " "$? $(cat told)"
}

test_python_parser()
{
	local python

	need_paranoid 0
	for python in python3 /usr/bin/python3 ''; do
		[ -z "$python" ] || ! "$python" -c 'import prometheus_client' 2>/dev/null || break
	done
	[ -n "$python" ] || skip "needs python3-prometheus-client, which is not installed"
	"$PSTAT" exporter --openmetrics x.om --textfile x.prom --duration 200ms -A \
		-e page-faults,cpu-clock,cycles || fail "it runs"
	check "its parsers take both" "$python" "$ROOT/tests/cli/exporter.py" parse x.om x.prom
}

test_node_exporter()
{
	need_cmd prometheus-node-exporter
	need_paranoid 0
	mkdir textfiles
	"$PSTAT" exporter --textfile textfiles/x.prom --duration 200ms -A --names node -e page-faults || fail "it runs"
	check "node_exporter passes it on" "$PYTHON" "$ROOT/tests/cli/exporter.py" node textfiles
}

test_prometheus()
{
	need_cmd prometheus
	need_paranoid 0
	start -A -e page-faults,cpu-clock
	check "Prometheus scrapes it" "$PYTHON" "$ROOT/tests/cli/exporter.py" prometheus "$url"
	stop
}
run_tests
