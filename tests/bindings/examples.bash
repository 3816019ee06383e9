# SPDX-License-Identifier: MIT
# The examples of pstat-bindings(7), and what the examples of all languages print, for tests/cli/bindings_*.sh:
# `example NAME ARGS...` runs one, into $out.
bindings=$LIBRARY/bindings

# need_built LANGUAGE: what tests/bindings/build made for it, or the reason why it did not.
need_built()
{
	need_library bindings/libpstat.so.0
	[ ! -e "$bindings/$1.skip" ] || skip "$(<"$bindings/$1.skip")"
	export LD_LIBRARY_PATH=$bindings
}

# manual_examples LANGUAGE SUFFIX: manual_1.SUFFIX, manual_2.SUFFIX ...
manual_examples()
{
	awk -v mark="example: $1" -v suffix="$2" '$0 == ".\\\" " mark { file = "manual_" ++n "." suffix; next }
		$0 == ".EE" { file = "" }
		file != "" { gsub(/\\-/, "-"); gsub(/\\e/, "\\"); print >file }' "$ROOT/man/pstat-bindings.7"
}

check_measure_function()
{
	example measure_function
	has "a count" '^page-faults(:u)? +[1-9][0-9]* *$' "$out"
	has "a count, or why there is none" '^cycles(:u)? +([0-9.e+]+ *$|not (supported|counted): .)' "$out"
	has "what the function returned" '^sum 499999500000$' "$out"
	example measure_function minor-faults
	same "other events" "minor-faults sum" "$(awk '{ sub(":u", "", $1); print $1 }' <<<"$out" | paste -sd ' ')"
}

# A process that waits as long as it is watched.
check_watch_process()
{
	local pid

	sleep 1000 &
	pid=$!
	example watch_process "$pid" 2 10
	kill $pid
	same "JSON, a line for each interval" "2 True" "$("$PYTHON" -c 'import json, sys
lines = [{name.split(":")[0]: value for name, value in json.loads(line).items()} for line in sys.stdin]
print(len(lines), all({"page-faults", "cycles"} <= set(line) for line in lines))' <<<"$out")"
}

check_page_faults()
{
	example page_faults true
	has "faults in a library" '^ *[1-9][0-9]*  /.*\.so' "$out"
	same "none was lost" "0  lost" "$(tail -n 1 <<<"$out" | sed 's/^ *//')"
}

check_trace_getpid()
{
	need_tracefs
	need_paranoid -1
	[ -e /sys/kernel/tracing/events/syscalls/sys_enter_getpid ] || skip "needs tracepoints of system calls"
	example trace_getpid
	same "each call once" "$(seq 10 | paste -sd ' ')" "$(awk '$1 == "getpid" { print $2 }' <<<"$out" | paste -sd ' ')"
}
