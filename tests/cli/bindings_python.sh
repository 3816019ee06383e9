#!/bin/bash
# SPDX-License-Identifier: MIT
# libpstat from Python: the module's own tests, its structs beside the header's, how it is installed, its examples.
# rights: test_python test_examples
. "${0%/*}/../lib.sh"

. "$ROOT/tests/bindings/examples.bash"

export PSTAT_LIBRARY=$bindings/libpstat.so.0 PYTHONPATH=$bindings/python PYTHONDONTWRITEBYTECODE=1

need_python()
{
	need_library bindings/libpstat.so.0
	"$PYTHON" -c 'import ctypes' 2>/dev/null || skip "needs a Python with ctypes"
}

test_python()
{
	need_python
	run timeout 300 "$PYTHON" "$ROOT/tests/cli/bindings_python.py"
	same "runs to its end" 0 "$status"
	points_of "$out"
}

# A struct that the header has changed since would be read at wrong places.
test_layout()
{
	need_python
	run "$PYTHON" "$ROOT/tests/cli/bindings_python.py" layout
	printf '%s\n' "$out" >layout.c
	check "the header has all structs and fields of the module" "$CC" -I"$ROOT/src/count" -o layout layout.c
	run ./layout
	same "they lie where the header has them" compared "$out"
}

test_without_the_library()
{
	need_python
	PSTAT_LIBRARY=$PWD/nothing.so fails_with 1 'ImportError: libpstat: .*nothing.so.*: install it .*PSTAT_LIBRARY' \
		"$PYTHON" -c 'import pstat'
}

# Without network, and without any package that builds others.
test_pip()
{
	need_python
	python3 -m venv --without-pip venv 2>/dev/null || skip "needs Python's venv"
	python3 -m pip --version >/dev/null 2>&1 || skip "needs pip, which is not installed"
	unset PYTHONPATH
	run python3 -m pip --python venv/bin/python install --no-index --disable-pip-version-check -q "$bindings/python"
	case $err in *"no such option"*) skip "needs a pip that has --python" ;; esac
	same "status" 0 "$status"
	run venv/bin/python -c 'import pstat; print(pstat.__file__, pstat.version() == pstat.__version__)'
	has "the module is there, and of the library's version" '^/.*/venv/.*/pstat.py True$' "$out"
}

test_manual()
{
	local n

	need_python
	manual_examples python py
	for n in 1 2; do
		run "$PYTHON" manual_$n.py
		same "status of example $n" 0 "$status"
		has "example $n counts" "$([ $n = 1 ] && echo '^page-faults(:u)? [0-9]+ counted' || echo '^0x[0-9a-f]+ touched 0x')" "$out"
	done
	check "there are two" test ! -e manual_3.py
}

example() # NAME ARGS...: $out
{
	need_python
	run timeout 300 "$PYTHON" "$bindings/python/examples/$1.py" "${@:2}"
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
