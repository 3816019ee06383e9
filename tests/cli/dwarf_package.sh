#!/bin/bash
# SPDX-License-Identifier: MIT
# Split DWARF in a package (.dwp) beside the program: what is told is what is told with the .dwo files. What lies in its
# place and is none is passed over: a pipe, which would wait for ever, a cut or damaged package.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2

for i in 1 2 3; do
	cat >"$tmp/part$i.cc" <<C
static volatile unsigned sink$i;
struct part$i { static __attribute__((always_inline)) unsigned inner(unsigned n) { while (n--) sink$i = sink$i * 3 / 2 + n; return n; } };
static inline __attribute__((always_inline)) unsigned middle$i(unsigned n) { return part$i::inner(n) + 1; }
__attribute__((noinline)) unsigned outer$i(unsigned n) { return middle$i(n) + middle$i(n / 2); }
C
done
cat >"$tmp/main.cc" <<'C'
unsigned outer1(unsigned), outer2(unsigned), outer3(unsigned);
int main() { return outer1(8000000) + outer2(8000000) + outer3(8000000) == 1; }
C

# What is in the stacks of the recording: functions, inlined ones, and where they were called; each once.
stacks()
{
	timeout 300 "$PSTAT" script -i x -F ip,sym,srcline 2>said |
		awk '$2 ~ /^(part|middle|outer|main)/ { name = $2; getline; print name, $2, $1 }' | sort -u
}

# packed TOOL COMPILER OPTION... (of what gcc makes in version 5 there is no tool that makes packages: llvm-dwp 14 never ends)
packed()
{
	local tool=$1 before

	need_cmd "$1" && need_cmd "$2"
	shift
	rm -f app.dwp
	"$@" -O2 -g -gsplit-dwarf -o app "$tmp"/part?.cc "$tmp/main.cc" 2>cc_err && ls ./*.dwo >/dev/null 2>&1 ||
		skip "needs a compiler with -gsplit-dwarf: $1"
	"$PSTAT" record -q -o x -e cpu-clock:u -F 2000 -g -- ./app 2>said
	before=$(stacks)
	has "with .dwo files: inlined functions" 'part1::inner \(inlined\)' "$before"
	timeout 300 "$tool" -e app -o app.dwp 2>tool_err || skip "$tool can't pack this: $(head -1 tool_err)"
	rm ./*.dwo
	same "with the package the same" "$before" "$(stacks)"
	has_not "nothing is missing" 'are missing' "$(cat said)"

	head -c 700 app.dwp >cut && mv cut app.dwp
	has_not "cut: no inlined functions" 'inlined' "$(stacks)"
	has "cut: the functions are there" 'outer2' "$(stacks)"
	rm app.dwp
	mkfifo app.dwp
	has "a pipe: the functions are there" 'outer3' "$(stacks)"
	has_not "a pipe: no inlined functions" 'inlined' "$(stacks)"
}

test_gcc_4() { packed dwp g++ -gdwarf-4; }
test_clang_4() { packed dwp clang++ -gdwarf-4; }
test_clang_5() { packed llvm-dwp clang++ -gdwarf-5; }
test_gcc_types() { packed dwp g++ -gdwarf-4 -fdebug-types-section; }

# The skeletons lie in a debug file; the package is named for the program, or for that file.
apart() # TOOL COMPILER OPTION...
{
	local tool=$1 before

	need_cmd "$1" && need_cmd "$2"
	shift
	"$@" -O2 -g -gsplit-dwarf -Wl,--build-id -o app "$tmp"/part?.cc "$tmp/main.cc" 2>cc_err &&
		ls ./*.dwo >/dev/null 2>&1 || skip "needs a compiler with -gsplit-dwarf: $1"
	"$PSTAT" record -q -o x -e cpu-clock:u -F 2000 -g -- ./app 2>said
	before=$(stacks)
	has "with .dwo files: inlined functions" 'part1::inner \(inlined\)' "$before"
	timeout 300 "$tool" -e app -o app.dwp 2>tool_err || skip "$tool can't pack this: $(head -1 tool_err)"
	rm ./*.dwo
	mkdir -p .debug
	objcopy --only-keep-debug app .debug/app.debug && strip app && (cd .debug && objcopy --add-gnu-debuglink=app.debug ../app)
	same "beside the program: the same" "$before" "$(stacks)"
	mv app.dwp .debug/app.debug.dwp
	same "beside the debug file: the same" "$before" "$(stacks)"
	cp "$(command -v true)" app.dwp
	same "another file in the place of one: the same" "$before" "$(stacks)"
	mv .debug/app.debug.dwp app.dwp
	mkdir elsewhere
	mv app app.dwp elsewhere
	ln -s elsewhere/app app
	same "beside what a link leads to: the same" "$before" "$(stacks)"
}

test_apart_gcc_4() { apart dwp g++ -gdwarf-4; }
test_apart_clang_5() { apart llvm-dwp clang++ -gdwarf-5; }

# Any byte of the index may be wrong.
test_damaged()
{
	need_cmd dwp && need_cmd g++
	g++ -O2 -g -gdwarf-4 -gsplit-dwarf -o app "$tmp"/part?.cc "$tmp/main.cc" && dwp -e app -o whole.dwp 2>/dev/null ||
		skip "needs a compiler and a packer of split DWARF"
	rm ./*.dwo app.dwp
	"$PSTAT" record -q -o x -e cpu-clock:u -F 2000 -g -- ./app 2>said
	cat >damage.py <<'P'
import os, random, re, resource, struct, subprocess, sys

whole = open("whole.dwp", "rb").read()
listed = subprocess.run(["readelf", "-SW", "whole.dwp"], stdout=subprocess.PIPE, check=True).stdout.decode()
at, size = (int(n, 16) for n in re.search(r"\.debug_cu_index +PROGBITS +\w+ (\w+) (\w+)", listed).groups())


def report(what, made):
    """Within 6 s of CPU time, of which it takes less than one."""
    with open("app.dwp", "wb") as f:
        f.write(made)
    done = subprocess.run([os.environ["PSTAT"], "report", "--stdio", "-i", "x"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (6, 6)))
    if done.returncode:
        sys.exit("%s: status %d: %s" % (what, done.returncode, done.stderr.decode()))


random.seed(1)
for i in range(40):
    made = bytearray(whole)
    for _ in range(1 + i % 3):
        made[at + random.randrange(size)] = random.choice((0, 1, 2, 127, 128, 255))
    report(i, made)
# So many sections and units that what they would take is 4 bytes, modulo 2^64; none is of a kind that is wanted.
made = bytearray(whole)
slots, = struct.unpack_from("<I", made, at + 12)
struct.pack_into("<II", made, at + 4, 4264051793, 3785343576)
table = at + 16 + 12 * slots
made[table:at + size] = bytes(at + size - table)
report("many sections", made)
P
	check "every report of 41 ends well" "$PYTHON" damage.py
}

export PSTAT
run_tests
