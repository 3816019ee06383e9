#!/bin/bash
# SPDX-License-Identifier: MIT
# libpstat from Go: the package's own tests and its examples, built by tests/bindings/build where Go is installed.
# rights: test_go test_examples
. "${0%/*}/../lib.sh"

. "$ROOT/tests/bindings/examples.bash"

test_go()
{
	need_built go
	run timeout 300 "$bindings/go.test" -test.v
	same "status" 0 "$status"
	# A reason stands above the line that says which test it is of.
	points_of "$(awk '/^--- PASS/ { print "ok - " $3 }
		/^--- SKIP/ { print "skip - " $3 " # " why }
		/^--- FAIL/ { print "not ok - " $3 ": " why }
		/^    / { sub("^ *[a-z_]*[.]go:[0-9]*: ", ""); why = $0 }' <<<"$out")"
}

build_manual_example()
{
	export PKG_CONFIG_PATH=$BUILD/library/uninstalled GOCACHE=${GOCACHE:-$BUILD/library/go-cache}
	export GOFLAGS=-buildvcs=false GOPROXY=off GOTOOLCHAIN=local
	go mod init example &&
		go mod edit -require=pstat@v0.1.0 -replace=pstat="$ROOT/src/bindings/go" &&
		go build -o example .
}

test_manual()
{
	need_built go
	manual_examples go go
	check "it is built as the page says" build_manual_example
	run ./example
	same "status" 0 "$status"
	has "it counts" '^page-faults(:u)? [0-9]+ counted' "$out"
}

example() # NAME ARGS...: $out
{
	need_built go
	run timeout 300 "$bindings/go.$1" "${@:2}"
	same "status of $1" 0 "$status"
}

test_examples()
{
	check_measure_function
	check_watch_process
	check_page_faults
}
test_trace_getpid() { check_trace_getpid; }
run_tests
