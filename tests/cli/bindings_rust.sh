#!/bin/bash
# SPDX-License-Identifier: MIT
# libpstat from Rust: pstat-sys beside the header, the wrapper's tests and its examples, built by tests/bindings/build where
# Rust is installed.
# rights: test_rust test_examples
. "${0%/*}/../lib.sh"

. "$ROOT/tests/bindings/examples.bash"

test_rust()
{
	need_built rust
	run timeout 300 "$bindings/rust.test" --test-threads 1 --nocapture
	same "status" 0 "$status"
	# A test that is skipped says why between its name and its "ok".
	points_of "$(awk '/^test .* \.\.\. / { name = $2 }
		/skip: / { why = $0; sub(".*skip: ", "", why) }
		/^test .*ok$|^ok$/ { print why == "" ? "ok - " name : "skip - " name " # " why; why = "" }
		/FAILED$/ && name != "" { print "not ok - " name; name = "" }' <<<"$out")"
}

# Needs no Rust.
test_header()
{
	"$PYTHON" "$ROOT/src/bindings/rust/pstat-sys/generate.py" "$ROOT/src/count/libpstat.h" >now.rs
	check "pstat-sys is made of libpstat.h as it is: generate.py libpstat.h >src/lib.rs" \
		diff -u "$ROOT/src/bindings/rust/pstat-sys/src/lib.rs" now.rs
}

test_cargo()
{
	need_built rust
	need_cmd cargo
	HOME=$user_home cargo --version >/dev/null 2>&1 || skip "needs a cargo that works"
	cp -r "$ROOT/src/bindings/rust" .
	export PKG_CONFIG_PATH=$BUILD/library/uninstalled
	HOME=$user_home run timeout 300 cargo test --offline --manifest-path rust/Cargo.toml --no-run
	same "status of cargo" 0 "$status"
}

test_manual()
{
	need_built rust
	manual_examples rust rs
	HOME=$user_home check "it is built" rustc --edition 2021 -D warnings -L "$bindings" -L native="$BUILD/library" \
		--extern pstat -o example manual_1.rs
	run ./example
	same "status" 0 "$status"
	has "it counts" '^page-faults(:u)? Some\([0-9.]+\) counted' "$out"
}

example() # NAME ARGS...: $out
{
	need_built rust
	run timeout 300 "$bindings/rust.$1" "${@:2}"
	same "status of $1" 0 "$status"
}

test_examples()
{
	check_measure_function
	check_watch_process
}
run_tests
