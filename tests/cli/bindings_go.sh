#!/bin/bash
# libpstat from Go: the package's own tests and its examples, built by tests/bindings/build where Go is installed.
# rights: test_go test_examples
. "${0%/*}/../lib.sh"

bindings=$LIBRARY/bindings
export LD_LIBRARY_PATH=$bindings

need_go()
{
	need_library bindings/libpstat.so.0
	[ ! -e "$bindings/go.skip" ] || skip "$(<"$bindings/go.skip")"
}

test_go()
{
	need_go
	run timeout 300 "$bindings/go.test" -test.v
	same "status" 0 "$status"
	# A reason stands above the line that says which test it is of.
	points_of "$(awk '/^--- PASS/ { print "ok - " $3 }
		/^--- SKIP/ { print "skip - " $3 " # " why }
		/^--- FAIL/ { print "not ok - " $3 ": " why }
		/^    / { sub("^ *[a-z_]*[.]go:[0-9]*: ", ""); why = $0 }' <<<"$out")"
}

example() # NAME ARGS...: $out
{
	need_go
	run timeout 300 "$bindings/go.$1" "${@:2}"
	same "status of $1" 0 "$status"
}

. "$ROOT/tests/bindings/examples.bash"
test_examples()
{
	check_measure_function
	check_watch_process
	check_page_faults
}
test_trace_getpid() { check_trace_getpid; }
run_tests
