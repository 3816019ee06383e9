#!/bin/bash
# SPDX-License-Identifier: MIT
# Split DWARF (-gsplit-dwarf): names and places of inlined calls lie in .dwo files, the names of source files in the
# program. What is told of a program built so is what is told of the same program with all in one file.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2

mkdir "$tmp/src"
cat >"$tmp/src/inner.h" <<'C'
struct pair { unsigned long a, b; };
static inline __attribute__((always_inline)) unsigned long inner(volatile struct pair *p, unsigned long n)
{
	while (n--)
		p->a = p->a * 6364136223846793005ul + p->b;
	return p->a;
}
C
cat >"$tmp/src/middle.h" <<'C'
#include "inner.h"
static inline __attribute__((always_inline)) unsigned long middle(volatile struct pair *p, unsigned long n)
{
	p->b = n;
	return inner(p, n) + 1;
}
C
# In C++, types are worth units of their own (-fdebug-types-section): those have a list of files in the .dwo file.
cat >"$tmp/src/app.cc" <<'C'
#include "middle.h"
struct thing { int x; struct pair p; } t;

int main()
{
	volatile struct pair p = { 1, 2 };
	return middle(&p, 30000000) + t.x == 1;
}
C

# calls_of COMPILER OPTION...: "function (where it was called)", inlined ones, each once, of samples in the loop: which
# of its lines were sampled, and whether what runs once was, is chance.
calls_of()
{
	"$1" -x c++ -O2 -g "${@:2}" -o app "$tmp/src/app.cc" -x none 2>said || return
	"$PSTAT" record -q -o x -e cpu-clock:u -F 2000 -g -- ./app 2>said
	"$PSTAT" script -i x -F ip,sym,srcline 2>said |
		awk '!NF { loop = 0 }
			$2 ~ /^(inner|middle|main)/ { f = $2; getline; if (loop) print f, $1; loop = loop || f ~ /^inner/ }' |
		sort -u | grep -v -e ':0$'
}

same_when_split() # COMPILER OPTION...
{
	local whole

	need_cmd "$1"
	whole=$(calls_of "$@") || skip "needs a C++ compiler that makes programs: $1"
	has "${*:2}: whole" 'main.* app.cc:7' "$whole"
	same "${*:2}: split" "$whole" "$(calls_of "$@" -gsplit-dwarf)"
	rm -f ./*.dwo
}

test_gcc_4() { same_when_split g++ -gdwarf-4; }
test_gcc_5() { same_when_split g++ -gdwarf-5; }
test_gcc_types() { same_when_split g++ -gdwarf-4 -fdebug-types-section; }
test_gcc_packed() { same_when_split g++ -gdwarf-5 -gz; }
test_gcc_packed_as_once() { same_when_split g++ -gdwarf-5 -gz=zlib-gnu; }
test_gcc_types_packed_as_once() { same_when_split g++ -gdwarf-4 -fdebug-types-section -gz=zlib-gnu; }
test_clang_4() { same_when_split clang++ -gdwarf-4; }
test_clang_5() { same_when_split clang++ -gdwarf-5; }
test_clang_types_4() { same_when_split clang++ -gdwarf-4 -fdebug-types-section; }
test_clang_types_5() { same_when_split clang++ -gdwarf-5 -fdebug-types-section; }

run_tests
