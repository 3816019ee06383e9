#!/bin/bash
# SPDX-License-Identifier: MIT
# Scripts in Python that were written for perf: pstat calls their functions with what perf calls them with.
#
# run: once
. "${0%/*}/../lib.sh"
golden=$ROOT/tests/golden
need_cmd python3
python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' || skip "needs Python 3.8 for pickle's protocol 5"

# perf's own are looked for nowhere else.
export PERF_EXEC_PATH=$tmp/core
mkdir -p "$PERF_EXEC_PATH/scripts/python/bin"

# script TEXT: a file of it, in $script.
script()
{
	script=$tmp/script.py
	cat >"$script"
}

perf_has_python()
{
	perf script -i "$golden/plain.data" -s "$ROOT/tests/cli/script_python.py" 2>/dev/null | grep -q '^begin'
}

runs() { run "$PSTAT" script -q -i "$golden/plain.data" "$@"; }

test_calls()
{
	script <<-'X'
		import sys
		n = 0
		def trace_begin():
		    print("begin", sys.argv[1:])
		def process_event(sample):
		    global n
		    n += 1
		    print(sample["ev_name"], sample["comm"], sample["sample"]["tid"], sample["sample"]["time"],
		          [frame["ip"] for frame in sample["callchain"]][-1])
		def trace_end():
		    print("end", n)
	X
	runs -s "$script" a -b --c
	same "status" 0 "$status"
	same "calls" "begin ['a', '-b', '--c']
cycles app 4200001 1005000000 4194432
cycles app 4200001 1006000000 4194432
cycles app 4200001 1008000000 4194432
cycles app 4200001 1009000000 4194432
end 4" "$out"
	runs -s "py:$script" -- --pid 1
	has "a language in front, and what is after -- is the script's" "begin \['--pid', '1'\]" "$out"
	check "perf's scripts ask for it" "$PSTAT" check feature -q libpython
	same "filters" "begin [] end 0" "$(runs --pid 1 -s "$script"; echo $out)"
	same "a pipe" "4" "$("$PSTAT" script -q -i - -s "$script" <"$golden/in_a_pipe.data" | sed -n 's/^end //p')"
}

# Functions are whatever can be called: methods, as flamegraph.py and gecko.py have them, and objects.
test_methods()
{
	script <<-'X'
		import functools
		class Counter:
		    n = fields = 0
		    def take(self, sample):
		        self.n += 1
		    def take_task(self, name, context, cpu, s, ns, pid, comm, callchain, *fields):
		        self.fields = len(fields)
		    def show(self, word):
		        print(word, self.n, self.fields)
		counter = Counter()
		process_event = counter.take
		golden__task = counter.take_task
		trace_end = functools.partial(counter.show, "end")
	X
	runs -s "$script"
	same "a method" "end 4 0" "$out"
	same "a method of a tracepoint" "end 0 7" "$("$PSTAT" script -q -i "$golden/tracepoints.data" -s "$script")"
}

test_tracepoints()
{
	script <<-'X'
		from perf_trace_context import *
		from Core import *
		def golden__task(event_name, context, cpu, s, ns, pid, comm, callchain, *fields):
		    print(event_name, common_pc(context), cpu, s, ns, pid, comm, callchain, fields)
	X
	run "$PSTAT" script -q -i "$golden/tracepoints.data" -s "$script"
	same "status" 0 "$status"
	has "fields" "^golden__task 0 1 1 5000000 4200001 " "$out"
	same "each" 3 "$(wc -l <<<"$out")"
	script <<-'X'
		def golden__task(*arguments):
		    pass
		def process_event(sample):
		    print("no")
		def trace_unhandled(name, *arguments):
		    print(name)
	X
	same "those that have no function of their own" "golden__bytes golden__bytes golden__free" \
		"$("$PSTAT" script -q -i "$golden/tracepoints.data" -s "$script" | xargs)"
	script <<-'X'
		def trace_unhandled(name, context, fields):
		    print(name, sorted(fields), fields.get("bytes"))
	X
	has "without the sample" "^golden__bytes \['bytes', 'common_callchain', 'common_comm', 'common_cpu', 'common_ns', 'common_pid', 'common_s', 'function'\] bytearray" \
		"$("$PSTAT" script -q -i "$golden/tracepoints.data" -s "$script")"
}

# The names that a format has for its fields' values.
test_names_of_values()
{
	need_root
	need_tracefs
	# The ticks of a CPU that works have some of them.
	"$PSTAT" record -q -o softirq.data -a -e irq:softirq_entry -- "$WORK/exact" spins:300 || fail "it is recorded"
	script <<-'X'
		from Core import *
		def irq__softirq_entry(name, context, cpu, s, ns, pid, comm, callchain, vec):
		    print(vec, symbol_str(name, "vec", vec), flag_str(name, "vec", vec))
	X
	"$PSTAT" script -q -i softirq.data -F trace | sed -n 's/.*vec=\([0-9]*\) \[action=\(.*\)\].*/\1 \2 /p' >expected
	same "as its text has them" "$(<expected)" "$("$PSTAT" script -q -i softirq.data -s "$script")"
	check "some" test -s expected
}

# The same as perf's, to the last member. Recordings in which perf 6.1 names the kernel by this machine's are left out.
test_as_perf()
{
	local name all=$ROOT/tests/cli/script_python.py

	perf_has_python || skip "needs a perf that has Python"
	for name in deep_chain folder jit_code kernel_hidden long_names lost namespaces no_map out_of_order overlapping_maps \
		renamed tid_reuse weight_struct; do
		same "$name" "$(perf script -i "$golden/$name.data" -s "$all" 2>/dev/null)" \
			"$("$PSTAT" script -q -i "$golden/$name.data" -s "$all")"
	done
}

# -g: a script with functions for the recording's events. What it prints, without the samples' dictionaries.
printed()
{
	"$PSTAT" script -q -i "$1" -s "$2" | grep -v '^Sample: ' | xargs -0 echo
}

test_generated()
{
	run "$PSTAT" script -i "$golden/tracepoints.data" -g python
	same "status" 0 "$status"
	has "it is named" "^pstat: script: written to perf-script.py$" "$err"
	has "functions" "^golden__task  *1 00001.006000000  4200001 app  *comm=second, number=4294967295, small=65534, state=S, big=18446744073709551615, bits=READ [|] WRITE, path=$" \
		"$(printed "$golden/tracepoints.data" perf-script.py)"
	"$PSTAT" script -q -i - -g ./piped.py <"$golden/in_a_pipe.data" || fail "a pipe"
	same "of a pipe" 4 "$(printed "$golden/in_a_pipe.data" ./piped.py | grep -c "^cycles  *app")"
	if perf_has_python; then
		env -u PERF_EXEC_PATH perf script -i "$golden/tracepoints.data" -s perf-script.py 2>/dev/null | grep -v '^Sample: ' >perf.out
		same "perf runs it" "$(printed "$golden/tracepoints.data" perf-script.py | grep -c '^golden')" "$(grep -c '^golden' perf.out)"
	fi
	fails_with 129 "-g: 'perl' is neither python nor a file whose name ends in .py" \
		"$PSTAT" script -i "$golden/plain.data" -g perl
	fails_with 125 "no/x.py: No such file or directory" "$PSTAT" script -i "$golden/plain.data" -g no/x.py
}

# Names in a recording may be any text; what is written of them is run.
test_generated_of_hostile_names()
{
	"$PYTHON" - "$golden/tracepoints.data" hostile.data <<-'X'
		import sys
		data = open(sys.argv[1], "rb").read()
		for old, new in ((b"int number;", b"int import;"), (b"short small;", b"short state;"), (b"u8 bytes[", b"u8 9ytes["),
		                 (b"int order;", b"int print;"), (b"name: free\n", b"name: f\"e;\n")):
		    assert data.count(old) == 1 and len(old) == len(new), old
		    data = data.replace(old, new)
		open(sys.argv[2], "wb").write(data)
	X
	"$PSTAT" script -q -i hostile.data -g hostile.py || fail "it is written"
	has "Python's words" "^        common_callchain, comm, _import, state, _state, " "$(<hostile.py)"
	has "no digit in front" "^        common_callchain, function, _9ytes, perf_sample_dict" "$(<hostile.py)"
	has "the names that are printed" "^golden__task .* import=1, state=" "$(printed hostile.data hostile.py)"
	has_not "a name that is none of Python's" "^def .*free" "$(<hostile.py)"
}

# Counts that were stored at intervals: each is what was counted since the one before.
test_counts()
{
	need_paranoid 2
	script <<-'X'
		def print_count(*arguments):
		    print(*arguments)
		globals()["stat__task-clock_u"] = print_count
		def stat__interval(time):
		    print("interval", time)
	X
	"$PSTAT" stat record -o counts.data -I 10 -e task-clock:u -- "$WORK/exact" spins:100 2>/dev/null || fail "it is recorded"
	"$PSTAT" stat report -i counts.data -x '|' 2>&1 |
		sed -n 's/^ *\([0-9]*\)\.\([0-9]*\)|.*|task-clock:u|\([0-9]*\)|.*/\1\2 \3/p' | sed 's/^0*//' >expected
	"$PSTAT" script -q -i counts.data -s "$script" >called
	check "several rounds" test "$(wc -l <expected)" -gt 1
	same "counts" "$(<expected)" "$(awk '$1 != "interval" { print $3, $5 }' called)"
	same "each round ends" "$(cut -d ' ' -f 1 expected)" "$(awk '$1 == "interval" { print $2 }' called)"
	same "of all threads in one" "-1 -1" "$(awk '$1 != "interval" { print $1, $2 }' called | sort -u)"
	"$PSTAT" script -i counts.data | awk '$7 == "task-clock:u" { print $6, $4 - last; last = $4 }' >text
	same "text has them as they are stored" "$(<expected)" "$(<text)"
	if perf_has_python; then
		same "as perf" "$(perf script -i counts.data -s "$script" 2>/dev/null)" "$(<called)"
	fi
}

# A record of a decoder that met something wrong, behind the others.
test_trace_errors()
{
	"$PYTHON" - "$golden/plain.data" errors.data <<-'X'
		import struct, sys
		data = bytearray(open(sys.argv[1], "rb").read())
		start, size = struct.unpack_from("<QQ", data, 40)
		error = struct.pack("<IHHIIiiiIQQ64s", 72, 2, 112, 1, 5, 0, 77, -1, 1, 2 ** 63, 1009000001, b"wrong\x1b[2J")
		end = start + size
		data[end:end] = error
		struct.pack_into("<Q", data, 48, size + len(error))
		for i in range(sum(bin(byte).count("1") for byte in data[72:104])):
		    at = end + len(error) + 16 * i
		    struct.pack_into("<Q", data, at, struct.unpack_from("<Q", data, at)[0] + len(error))
		open(sys.argv[2], "wb").write(data)
	X
	script <<<'def auxtrace_error(*arguments): print(*arguments)'
	same "an error" '1 5 0 77 -1 9223372036854775808 1009000001 wrong\x1b[2J 2 0 -1' \
		"$("$PSTAT" script -q -i errors.data -s "$script")"
}

# What a script asks perf_trace_context besides.
test_context()
{
	script <<-'X'
		from perf_trace_context import *
		print(perf_set_itrace_options(perf_script_context, "i1us"), perf_set_itrace_options(perf_script_context, "b"))
		print([perf_config_get(name) for name in ("report.children", "report.none", "--list", "report.children=true")])
	X
	printf '[report]\n\tchildren = false\n' >configuration
	run env PERF_CONFIG="$PWD/configuration" "$PSTAT" script -q -i "$golden/plain.data" -s "$script"
	same "answers" "0 1
['false', None, None, None]" "$out"
	same "nothing is set" 1 "$(grep -c children configuration)"
}

test_named_scripts()
{
	local bin=$PERF_EXEC_PATH/scripts/python/bin

	printf 'import sys\ndef trace_end():\n    print("named", sys.argv[1:])\n' >"$PERF_EXEC_PATH/scripts/python/named.py"
	printf '#!/bin/bash\n# description: does little\n# args: [word]\nperf script -q "$@" -s "$PERF_EXEC_PATH"/scripts/python/named.py w\n' \
		>"$bin/named-report"
	echo 'perf record -e dummy "$@"' >"$bin/named-record"
	same "the list" "List of available trace scripts:
  named [word]                         does little" "$("$PSTAT" script -l)"
	run "$PSTAT" script -q -i "$golden/plain.data" -s named x
	same "-s NAME" "named ['x']" "$out"
	run "$PSTAT" script report named -i "$golden/plain.data"
	same "report NAME" "named ['w']" "$out"
	run "$PSTAT" script record named -q -o recorded -- true
	same "record NAME" 0 "$status"
	check "it recorded" test -s recorded
	has "NAME" "^named \['w'\]$" "$("$PSTAT" script named true 2>/dev/null)"
	fails_with 129 "'no_such' is neither an option nor a script" "$PSTAT" script no_such
	fails_with 129 "the name of a script follows" "$PSTAT" script report
	rm -rf "$PERF_EXEC_PATH/scripts"
	same "none" "" "$("$PSTAT" script -l)"
}

# What is wrong with a script: how it ended is how pstat ends, and nothing stays behind.
test_bad_scripts()
{
	local text

	fails_with 129 "'$tmp/none.py': No such file or directory" "$PSTAT" script -i "$golden/plain.data" -s "$tmp/none.py"
	fails_with 129 "scripts in Perl are not run" "$PSTAT" script -i "$golden/plain.data" -s x.pl
	script <<<'this is no Python'
	runs -s "$script"
	same "not Python: status" 1 "$status"
	has "not Python" "SyntaxError.*pstat: script: it ended with status 1" "$(tr '\n' ' ' <<<"$err")"
	script <<<'raise SystemExit(3)'
	runs -s "$script"
	same "ends at once" 3 "$status"
	printf 'def process_event(sample):\n    raise ValueError("wrong")\n' >"$script"
	runs -s "$script"
	same "an error in a function: status" 1 "$status"
	has "an error in a function" "File \"$script\", line 2, in process_event.*ValueError: wrong" "$(tr '\n' ' ' <<<"$err")"
	has_not "nothing of ours" '"<string>"' "$err"
	printf 'import os\ndef process_event(sample):\n    os._exit(0)\n' >"$script"
	runs -s "$script"
	same "enough is seen" "0 " "$status $err"
	printf 'import os, signal\ndef process_event(sample):\n    os.kill(os.getpid(), signal.SIGKILL)\n' >"$script"
	runs -s "$script"
	same "killed: status" 137 "$status"
	has "killed" "^pstat: script: killed by signal 9 \(Killed\)$" "$err"
	printf 'import os\nos.write(1, b"\\0\\xff\\n")\nos.close(2)\ndef trace_end():\n    os.fork()\n' >"$script"
	runs -s "$script"
	same "garbage on its own output, and a fork" 0 "$status"
	mkdir empty
	run env PATH="$PWD/empty" "$PSTAT" script -i "$golden/plain.data" -s "$script"
	same "no Python: status" 125 "$status"
	has "no Python" "^pstat: script: python3: No such file or directory$" "$err"
	head -c 3000 "$golden/plain.data" >cut.data
	printf 'def trace_end():\n    print("end")\n' >"$script"
	run "$PSTAT" script -i cut.data -s "$script"
	has "a cut recording" "^end$" "$out"
	# Names as hostile as can be: none ends a call, and none is a terminal's control sequence.
	run "$PSTAT" script -q -i "$golden/hostile_names.data" -s "$ROOT/tests/cli/script_python.py"
	same "hostile names: status" 0 "$status"
	has "hostile names" "^end$" "$out"
	has_not "no control characters" "$(printf '\033')" "$out"
}

# Signals and processes: Ctrl-C ends the calls, and nothing outlives pstat but what the script has made for itself.
test_ends()
{
	"$PYTHON" "$ROOT/tests/cli/odd_recording.py" many.data threads
	run "$PYTHON" "$ROOT/tests/cli/script_python_ends.py" "$PSTAT" many.data
	same "all ways" "pstat: script: it ended with status 5" "$err"
	same "ends" "Ctrl-C: 0, some are called, then trace_end
Ctrl-C at a call that does not end: -2, no Python
killed: -9, no Python
terminated: -15, no Python
a fork that stays: 5" "$out"
}

# bad WHAT STATUS LINES: a script of these lines ends so; lines of a call have four blanks in front.
bad()
{
	local what=$1 expected=$2

	shift 2
	printf '%s\n' "import os, sys" "$@" "def trace_end(): print('end')" >"$script"
	run timeout 60 "$PSTAT" script -q -i many.data -s "$script"
	same "$what: status" "$expected" "$status"
}

# What a script does to descriptors that it has not opened; pstat's are far above those that are commonly tried.
test_descriptors()
{
	local lost="pstat: script: $PWD/odd.py: it has read, closed or replaced a descriptor that is pstat's: there are no more calls"
	local each='for fd in range(512, 520):' script=$PWD/odd.py

	"$PYTHON" "$ROOT/tests/cli/odd_recording.py" many.data threads
	bad "some closed" 0 "os.closerange(3, 100)" "def process_event(sample): pass"
	same "some closed" "end" "$out"
	bad "its input closed" 0 "os.close(0)" "def process_event(sample): open('/dev/null')"
	same "its input closed" "end" "$out"
	# Python's own status where it cannot write what it has to say: 1, or 120.
	printf 'import os\ndef process_event(sample): os.closerange(0, 1 << 16)\n' >"$script"
	run timeout 60 "$PSTAT" script -q -i many.data -s "$script"
	check "all closed: status $status" test "$status" -eq 1 -o "$status" -eq 120
	same "all closed" "pstat: script: it ended with status $status" "$err"
	bad "ours closed" 1 "def process_event(sample): os.closerange(3, 1 << 16)"
	same "ours closed" "$lost
pstat: script: it ended with status 1" "$err"
	same "nothing of the calls is printed" "" "$out"
	bad "ours replaced" 1 "def trace_begin():" "    os.closerange(3, 1 << 16)" \
		"    while os.open('/dev/zero', os.O_RDONLY) < 520: pass" "def process_event(sample): pass"
	has "ours replaced" "$lost" "$err"
	for eat in 1 777 'os.fstat(fd).st_size + 77777'; do
		bad "$eat bytes read" 1 "def trace_begin():" "    $each" "        try: os.read(fd, $eat)" \
			"        except OSError: pass" "def process_event(sample): pass"
		has "$eat bytes read" "$lost" "$err"
	done
	# All that there is, to the end: it is no end of the calls.
	bad "all read" 1 "def process_event(sample):" "    $each" "        try:" "            while os.read(fd, 77777): pass" \
		"        except OSError: pass"
	has "all read" "$lost" "$err"
	# Lines like those that name its functions, before these.
	for text in 'b"evil 1\n"' 'b"0 evil 1\n\n"' 'b"1 evil 1\n"' 'b"x" * 1000000' 'b"\0"'; do
		bad "$text written" 1 "$each" "    try: os.write(fd, $text)" "    except OSError: pass" \
			"def process_event(sample): pass"
		has "$text written" "^pstat: script: it ended with status 1$" "$err"
	done
}

# A process that a script makes has no calls, and says so where it waits for them.
test_forks()
{
	local script=$PWD/odd.py gets_none="pstat: script: $PWD/odd.py: a process that it has made gets no calls"

	"$PYTHON" "$ROOT/tests/cli/odd_recording.py" many.data threads
	# The pipe is at its end when all processes are.
	for place in "if os.fork(): os._exit(5)" "def process_event(sample):
    if os.fork(): os._exit(5)"; do
		printf 'import os\n%s\ndef trace_end(): print("end")\n' "$place" >"$script"
		same "a script goes on in another process" "5
$gets_none
pstat: script: it ended with status 5" "$({ "$PSTAT" script -q -i many.data -s "$script"; echo $?; } 2>&1 | sort)"
	done
	bad "a process that works and ends" 0 "n = 0" "def process_event(sample):" "    global n" "    n += 1" \
		"    if n == 1 and not os.fork(): os._exit(0)"
	same "a process that works and ends" "end" "$out$err"
}

test_odd_scripts()
{
	local script=$PWD/odd.py

	{ echo 'def trace_end(): print(len(text))'; printf 'text = "%05000000d"\n' 0; } >"$script"
	runs -s "$script"
	same "a script of 5 MB" "0 5000000" "$status $out"
	printf 'globals()["stat__a b\\n9"] = globals()["no\\nfunction 1"] = lambda *arguments: None\ndef trace_end(): print("end")\n' >"$script"
	runs -s "$script"
	same "names of functions that are none" "0 end" "$status $out"
	printf 'globals().update({1: print, "a\\udc80": print, "a" * 5000: print})\ndef trace_end(): print("end")\n' >"$script"
	runs -s "$script"
	same "names that are none" "0 end" "$status $out"
	run "$PSTAT" script -q -i "$golden/plain.data" -s "$script" -F no_such
	same "nothing is called: status" 129 "$status"
	has_not "nothing is called" "descriptor" "$err"
}

cd "$tmp" || exit 1
run_tests
