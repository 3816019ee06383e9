#!/bin/bash
# SPDX-License-Identifier: MIT
# Inlined functions and lines beside llvm-addr2line -i, for the sampled addresses of a program: the functions, the lines
# of calls, and how many there are. Each way that debug information can be packed is a program. That of binutils is no
# judge: it calls the innermost function by the name of the outermost one, and finds none in what clang makes.
#
# Here it is the ways that compilers pack it today; tests/long/inlines_vs_addr2line.sh has all, old ones too.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2
need_cmd "${CXX:-g++}"
addr2line=$(command -v llvm-addr2line || command -v llvm-addr2line-14) || skip "needs llvm-addr2line"

cat >"$tmp/a.cc" <<'C'
#include "b.h"
static volatile unsigned sink;
struct Key { unsigned a, b; bool operator<(const Key &o) const { return a < o.a || (a == o.a && b < o.b); } };
template <int N> static unsigned mix(const std::vector<Key> &keys)
{
	return std::accumulate(keys.begin(), keys.end(), 1u, [](unsigned s, const Key &k) { return s * 31 + k.a * N + k.b; });
}
template <int N> __attribute__((noinline)) unsigned work(unsigned seed)
{
	std::vector<Key> keys;
	std::map<unsigned, unsigned> seen;
	for (unsigned i = 0; i < 300; i++) {
		seed = seed * 1103515245u + 12345u;
		keys.push_back({ seed % 97, seed / 97 });
		seen[seed % 89] += twice(seed);
	}
	std::sort(keys.begin(), keys.end());
	return mix<N>(keys) + seen.size() + other(seed);
}
int main()
{
	for (unsigned i = 0; i < 6000; i++)
		sink = sink + work<1>(i) + work<2>(i) + work<3>(i);
}
C
cat >"$tmp/b.h" <<'C'
#include <algorithm>
#include <map>
#include <numeric>
#include <vector>
unsigned other(unsigned n);
static inline unsigned half(unsigned n) { return n / 2 ^ n; }
static inline unsigned twice(unsigned n) { return half(n) + half(n + 1); }
C
cat >"$tmp/b.cc" <<'C'
#include "b.h"
static volatile unsigned kept;
unsigned other(unsigned n)
{
	for (unsigned i = 0; i < 200; i++)
		kept = kept + twice(i + n);
	return kept;
}
C

cat >"$tmp/compare.py" <<'P'
"""Addresses that pstat script prints with their frames, and what addr2line -i says of each: at most 300 are compared."""
import re
import subprocess
import sys

program, recording, pstat, addr2line = sys.argv[1:5]


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode().split("\n")


def stacks():
    """{address as the file has it: [(function, FILE:LINE)], innermost first} of the program's own code."""
    segments = [[int(number, 16) for number in found.groups()] for found in (
        re.match(r"  LOAD +(0x\w+) (0x\w+) \S+ (0x\w+)", line) for line in output("readelf", "-lW", program)) if found]
    found, stack, leaf = {}, [], True
    lines = output(pstat, "script", "-i", recording, "-F", "ip,sym,srcline,dsoff", "--no-demangle")
    for line, place in zip(lines, lines[1:]):
        frame = re.match(r"\t *[0-9a-f]+ (.*?)(?: \(([^()]*)\))?$", line)
        leaf = leaf or not line
        if not frame:
            continue
        where, _, inlined = place.strip().partition(" (inlined")
        stack.append((frame.group(1), re.sub(r".*/", "", where)))
        if inlined:
            continue
        own = re.search("/" + program + r"\+0x([0-9a-f]+)$", frame.group(2) or "")
        at = own and int(own.group(1), 16) - (not leaf) # a caller is where it calls
        for offset, start, size in segments if own else ():
            if offset <= at < offset + size:
                found[at - offset + start] = stack
        stack, leaf = [], False
    return found


def said_of(addresses):
    """The same, as addr2line has it."""
    found, at = {}, None
    for line in output(addr2line, "-f", "-i", "-a", "-e", program, *(hex(addr) for addr in addresses)):
        if re.match(r"0x[0-9a-f]+$", line):
            at = found.setdefault(int(line, 16), [])
        elif line:
            at.append(line)
    return {addr: [(name, re.sub(r" \(discriminator.*|.*/", "", place)) for name, place in zip(v[::2], v[1::2])]
            for addr, v in found.items()}


def same(ours, theirs):
    # Where there is no line: ":?", ":0", or where in the file it is.
    return [o[0] for o in ours] == [t[0] for t in theirs] and all(
        o[1] == t[1] or not re.search(r":[1-9]\d*$", o[1]) and not re.search(r":[1-9]\d*$", t[1])
        for o, t in zip(ours, theirs))


ours = stacks()
addresses = sorted(addr for addr in ours if not re.search(r"^\[unknown|@plt$", ours[addr][0][0]))
addresses = addresses[::1 + len(addresses) // 300]
theirs = said_of(addresses)
wrong = [addr for addr in addresses if not same(ours[addr], theirs[addr])]
for addr in wrong[:5]:
    print("# %x: %s\n#   addr2line: %s" % (addr, ours[addr], theirs[addr]))
print("# %d compared, %d differ; %d with inlined functions" % (
    len(addresses), len(wrong), sum(len(ours[addr]) > 1 for addr in addresses)))
sys.exit(bool(wrong) or sum(len(ours[addr]) > 1 for addr in addresses) < 20)
P

same_as_addr2line() # COMPILER OPTION...
{
	need_cmd "$1"
	"$@" -no-pie -O2 -g -o app "$tmp/a.cc" "$tmp/b.cc" 2>cc_err || skip "needs a compiler with these options: $*"
	"$PSTAT" record -q -o x -e cpu-clock:u -c 200000 -g -- ./app 2>said
	check "${*:2}: the same functions and lines" "$PYTHON" "$tmp/compare.py" app x "$PSTAT" "$addr2line"
}

test_gcc_4() { same_as_addr2line g++ -gdwarf-4; }
test_gcc_5() { same_as_addr2line g++ -gdwarf-5; }
test_gcc_packed() { same_as_addr2line g++ -gz; }
test_clang_5() { same_as_addr2line clang++ -gdwarf-5; }

if [ -n "${INLINES_ALL:-}" ]; then
	test_gcc_2() { same_as_addr2line g++ -gdwarf-2 -gstrict-dwarf; }
	test_gcc_3() { same_as_addr2line g++ -gdwarf-3 -gstrict-dwarf; }
	test_gcc_types() { same_as_addr2line g++ -gdwarf-4 -fdebug-types-section; }
	test_gcc_lto() { same_as_addr2line g++ -flto=auto -flto-partition=one; }
	test_gcc_packed_as_once() { same_as_addr2line g++ -gz=zlib-gnu; }
	test_gcc_sections() { same_as_addr2line g++ -ffunction-sections -Wl,--gc-sections; }
	test_clang_4() { same_as_addr2line clang++ -gdwarf-4; }
	test_clang_types() { same_as_addr2line clang++ -gdwarf-5 -fdebug-types-section; }
fi

test_dwz()
{
	need_cmd dwz
	"${CXX:-g++}" -no-pie -O2 -g -o app "$tmp/a.cc" "$tmp/b.cc" && dwz app 2>dwz_err || skip "dwz can't: $(cat dwz_err)"
	"$PSTAT" record -q -o x -e cpu-clock:u -c 200000 -g -- ./app 2>said
	check "partial units: the same functions and lines" "$PYTHON" "$tmp/compare.py" app x "$PSTAT" "$addr2line"
}

run_tests
