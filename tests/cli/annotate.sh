#!/bin/bash
# SPDX-License-Identifier: MIT
# The code of sampled functions: beside perf annotate on the same file, instruction by instruction; lines of source
# and inlined functions of a program whose text stands here; code made at run time; code that is not to be had, that is
# no code, or whose names and sizes are somebody's choice.
#
# run: once
. "${0%/*}/beside_perf.bash"
tool=$ROOT/tests/cli/annotate.py
export HOME=$tmp NO_COLOR=1 DEBUGINFOD_URLS=
need_paranoid 2
"$PSTAT" version --build-options | grep -q '^ *capstone *\[ on  \]  [^;]*$' || skip "needs a build with capstone"

cat >"$tmp/work.c" <<'END_C'
#include <string.h>
#include <stdio.h>
static inline __attribute__((always_inline)) unsigned mix(unsigned a)
{
	a ^= a >> 3; /* MIX */
	a *= 2654435761u;
	return a ^ a >> 15;
}
__attribute__((noinline)) unsigned hot(const char *p, size_t n)
{
	unsigned h = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == 'a')
			h += mix(h + p[i]); /* CALL */
		else
			h ^= (unsigned)strlen(p + i) / (1 + i); /* strlen */
	}
	return h;
}
int main(void)
{
	static char text[4000];
	unsigned sum = 0;

	memset(text, 'a', sizeof(text) - 1);
	for (unsigned i = 0; i < sizeof(text) - 1; i += 97)
		text[i] = 'b';
	for (;;) {
		__asm__ volatile("" : : : "memory");
		sum += hot(text, sizeof(text) - 1);
		if (sum == 1)
			puts("");
	}
}
END_C
cd "$tmp" && "${CC:-cc}" -O2 -g -fno-builtin -o work work.c 2>cc_err || skip "needs a C compiler"
recorded data "$PSTAT" -F 4000 -e cpu-clock:u,task-clock:u -- ./work
recorded group.data "$PSTAT" -F 4000 -e '{cpu-clock:u,task-clock:u}' -- ./work

# ---- beside perf ----

# as_perf NAME FILE OPTION...: all functions
as_perf()
{
	local name=$1 file=$2

	shift 2
	perf annotate --stdio -f -i "$file" "$@" >perf.out 2>perf.err
	"$PSTAT" annotate -q -i "$file" "$@" >pstat.out 2>pstat.err
	check "$name" "$PYTHON" "$tool" same perf.out pstat.out
}

test_beside_perf()
{
	need_perf
	need_cmd objdump
	as_perf "two events, one after the other" ../data
	has "hot was compared" '<hot>:' "$(<pstat.out)"
	has "libc was compared" 'of libc' "$(<pstat.out)"
	as_perf "a recorded group beside each other" ../group.data
	has "two numbers in front of an instruction" '^ +[0-9.]+ +[0-9.]+ : +[0-9a-f]+:' "$(<pstat.out)"
	as_perf "--group" ../data --group
	as_perf "samples" ../data -n
	as_perf "periods" ../data --show-total-period
	as_perf "of samples" ../data --percent-type local-hits
	as_perf "of the periods of all" ../data --percent-type global-period
	as_perf "--no-source" ../data --no-source
	as_perf "one symbol" ../data -s hot
	as_perf "one file" ../data -d work
}

# A golden recording of an arm64 machine: perf needs an objdump that knows arm64.
test_arm64()
{
	cd "$ROOT/tests/golden/arm64" || exit 1
	run "$PSTAT" annotate -q -i group.data --symfs symfs burn
	has "an instruction, its shares of two events" '^ +8\.33 +8\.33 : +400894: +ldr +x1, \[sp, ' "$out"
	has "a jump within the function" ' : +4008e0: +b\.lt +400894 <burn\+0x14>$' "$out"
	run "$PSTAT" annotate -q -i fp_recursive.data --symfs symfs --stdio2 burn
	has "its arrow" $'↑ b\.lt' "$out"
	need_perf
	need_cmd aarch64-linux-gnu-objdump
	for file in *.data; do
		perf annotate --stdio -f -i "$file" --symfs "$PWD/symfs" --objdump aarch64-linux-gnu-objdump \
			>"$tmp/perf.out" 2>"$tmp/perf.err"
		"$PSTAT" annotate -q -i "$file" --symfs symfs >"$tmp/pstat.out"
		check "$file" "$PYTHON" "$tool" same "$tmp/perf.out" "$tmp/pstat.out"
	done
}

# perf's own words of what it read of each function, for a recording that perf made.
test_recording_of_perf()
{
	need_perf
	need_cmd objdump
	recorded perf.data perf -F 4000 -e cpu-clock:u -- ../work # not its start, with a few samples all over ld.so
	as_perf "made by perf" perf.data
}

# ---- what stands between the instructions ----

line_of() { grep -n -m1 -F "$1" ../work.c | cut -d: -f1; }

test_source_lines()
{
	run "$PSTAT" annotate -q -i ../data hot
	same "status" 0 "$status"
	has "the function and its address" '^ *: 0{8}[0-9a-f]+ <hot>:$' "$out"
	has "a line of source, with its number" "^ *: $(line_of MIX) +a \^= a >> 3; /\* MIX \*/$" "$out"
	has "an inlined function, and from where" "^ *: mix\(\): inlined at work\.c:$(line_of CALL) into hot\(\)$" "$out"
	has "and back" '^ *: hot\(\):$' "$out"
	has "a call, named" '(call|bl)[a-z]* +[0-9a-f]+ <strlen(@plt)?>' "$out"
	has "a jump within the function" ' [0-9a-f]+ <hot\+0x[0-9a-f]+>$' "$out"
	run "$PSTAT" annotate -q -i ../data -l hot
	has "lines summed" "^ +[0-9.]+ work\.c:$(line_of MIX)$" "$out"
	has "lines beside instructions" '^ +[0-9.]+ : .* // work\.c:[0-9]+$' "$out"
	run "$PSTAT" annotate -q -i ../data --no-source hot
	has_not "--no-source" 'MIX' "$out"
	run "$PSTAT" annotate -q -i ../data --stdio2 hot
	has "arrows" $'↑' "$out"
	run "$PSTAT" annotate -q -i ../data -P -l hot
	has "full paths" " $tmp_file/work\.c:[0-9]+$" "$out"
	rm -f work.c && cp ../work.c moved.c
	run "$PSTAT" annotate -q -i ../data --prefix "$PWD/elsewhere" --prefix-strip 99 hot
	has "a source file that is not there: its place" '^ *: work\.c:[0-9]+$' "$out"
	mkdir elsewhere && cp ../work.c elsewhere/
	run "$PSTAT" annotate -q -i ../data --prefix "$PWD/elsewhere" --prefix-strip 99 hot
	has "found below the prefix" 'MIX' "$out"
}

# The sums of lines are those of their instructions.
test_sums()
{
	run "$PSTAT" annotate -q -n -i ../data -l --no-group hot
	same "of each event" "$(grep -o '([0-9]* samples' <<<"$out" | tr -dc '0-9\n')" "$(awk '
		/^Sorted/ { if (n) print s; s = 0; n++ }
		/^ +[0-9]+ :   / { s += $1 }
		END { print s }' <<<"$out")"
}

test_intel()
{
	[ "$(uname -m)" = x86_64 ] || skip "needs x86-64"
	run "$PSTAT" annotate -q -i ../data -M intel hot
	has "registers without %" 'xor +e[a-d]x, e[a-d]x$' "$out"
	has_not "none with it" '%e[a-d]x' "$out"
	run "$PSTAT" annotate -q -i ../data -M att hot
	has "with it" '%e[a-d]x' "$out"
	fails_with 129 "'bsd' is not att or intel" "$PSTAT" annotate -i ../data -M bsd
}

# recorded_reads: reads.data, samples of code that nearly only reads characters. A clock's sample often stands at the
# instruction after the one that waited: among others a read may have none.
recorded_reads()
{
	cat >reads.c <<-'END_C'
	__attribute__((noinline)) void reads(const volatile char *text)
	{
		for (unsigned i = 0; i < 100000; i++) {
			(void)text[0]; (void)text[0]; (void)text[0]; (void)text[0];
			(void)text[0]; (void)text[0]; (void)text[0]; (void)text[0];
			(void)text[0]; (void)text[0]; (void)text[0]; (void)text[0];
			(void)text[0]; (void)text[0]; (void)text[0]; (void)text[0];
		}
	}
	int main(void)
	{
		static char text[1];

		for (;;)
			reads(text);
	}
	END_C
	"${CC:-cc}" -O1 -g -o reads reads.c
	recorded reads.data "$PSTAT" -F 4000 -e cpu-clock:u,task-clock:u -- ./reads
}

# test_types.c has what is known of types; here are the words.
test_data_types()
{
	case $(uname -m) in
	x86_64 | aarch64) ;;
	*) skip "needs x86-64 or arm64" ;;
	esac
	recorded_reads
	run "$PSTAT" annotate -q -i reads.data --no-group --code-with-type reads
	has "a text is read" $'\t# data-type: char \\+0 \\(no field\\)$' "$out"
	fails_with 129 "go with --data-type" "$PSTAT" annotate -i reads.data --type-stat
	fails_with 129 "-j goes with --data-type" "$PSTAT" annotate -i reads.data -j
	fails_with 129 "leave --tui away" "$PSTAT" annotate -i reads.data --tui --code-with-type
	fails_with 125 "no_such: no sampled instruction" "$PSTAT" annotate -i reads.data --data-type=no_such --type-stat --insn-stat
	has "instructions are counted by reason" '^Annotate data type stats$' "$out"
	has "and by name" '^  Name/opcode  ' "$out"
	run "$PSTAT" annotate -q -i reads.data --data-type -j
	same "JSON: a line for each event" "cpu-clock:u task-clock:u" "$("$PYTHON" -c '
import json, sys
print(*(json.loads(line)["event"] for line in sys.stdin))' <<<"$out")"
	has "the type that is read" ' "type": "char", "offset": 0, "size": 1, "samples": [1-9]' "$out"
	# Each sample is said to be exact: then none is late, and none has the type of the read before it.
	"$PYTHON" - reads.data <<-'END_PY'
		import struct, sys
		SAMPLE, EXACT_IP = 9, 1 << 14
		data = bytearray(open(sys.argv[1], "rb").read())
		at, size = struct.unpack_from("<QQ", data, 40)
		end = at + size
		while at < end:
		    kind, misc, n = struct.unpack_from("<IHH", data, at)
		    if kind == SAMPLE:
		        struct.pack_into("<H", data, at + 4, misc | EXACT_IP)
		    at += n
		open("exact.data", "wb").write(data)
	END_PY
	run "$PSTAT" annotate -q -i exact.data --data-type -j
	same "exact samples are not late" $'"known_after_load": 0\n"known_after_load": 0' \
		"$(grep -o '"known_after_load": [0-9]*' <<<"$out")"
}

# What code without debug information writes to is told by the addresses that samples have: each page is one fault.
test_types_by_address()
{
	local all

	echo 'void fill(volatile char *at, char value) { *at = value; }' >fill.c
	cat >pages.c <<-'END_C'
	void fill(volatile char *at, char value);
	enum { N = 8, APART = 1 << 16 };
	struct page { long first; char rest[APART - sizeof(long)]; };
	struct page pages[N] __attribute__((aligned(1 << 16))) = { { .first = 1 } };
	int main(void)
	{
		static struct page own[N] __attribute__((aligned(1 << 16))); /* zeros, which the file does not have */

		for (int i = 0; i < N; i++) {
			fill((char *)&pages[i].first, i);
			fill(&own[i].rest[APART / 2], i);
		}
	}
	END_C
	"${CC:-cc}" -O1 -g0 -c fill.c && "${CC:-cc}" -O1 -g -o pages pages.c fill.o
	"$PSTAT" record -q -d -e page-faults:u -c 1 -o pages.data -- ./pages
	run "$PSTAT" annotate -q -i pages.data --data-type=page -n
	all=$(grep -E 'struct page|first|rest' <<<"$out" | tr -s ' \t' ' ')
	has "faults of global and static variables" "^Annotate type: 'struct page' .*16 samples" "$all"
	has "at the one member" '^ 8 0 0x8 long( int)? first;' "$all"
	has "and at the other" '^ 8 0x8 0xfff8 char\[\] rest;' "$all"
	run "$PSTAT" report -i pages.data -n -t ';' -s type
	has "report" '; *16 *;struct page *$' "$out"
	has "and says how they are known" 'that of the variable at their data' "$err"
}

# Rows by type are the same in every format, and diff's.
test_rows_by_type()
{
	case $(uname -m) in
	x86_64 | aarch64) ;;
	*) skip "needs x86-64 or arm64" ;;
	esac
	recorded_reads
	run "$PSTAT" report -q -i reads.data -j -s type,typeoff
	rows=$(sed -n 's/^{"samples": \([0-9]*\), .*"type": "\([^"]*\)", "typeoff": "\([^"]*\)"}.*/\2;\3;\1/p' <<<"$out" | sort)
	has "a text is read" '^char;char \+0 \(no field\);[1-9][0-9]*$' "$rows"
	run "$PSTAT" report -q -i reads.data --stdio -n -t ';' -s type,typeoff
	same "separated" "$rows" "$(sed -n 's/ *; */;/g; s/^[^;]*;\([0-9]*\);\([^;]*;[^;]*[^ ;]\) *$/\2;\1/p' <<<"$out" | sort)"
	run "$PSTAT" diff -q -j -s type,typeoff reads.data reads.data
	same "diff" "$rows" "$(sed -n '
		s/, "level": "[^"]*", "sides": \[{"found": true, "samples": \([0-9]*\),.*/;\1/
		s/^{"type": "\([^"]*\)", "typeoff": "\([^"]*\)";/\1;\2;/p' <<<"$out" | sort)"
}

# types_of COMPILER OPTION...: what the instructions of `walk` touch, whose variables move from register to register.
types_of()
{
	rm -f ./*.dwo walk walk.data
	"$1" -O2 "${@:2}" -o walk walk.c || return
	recorded walk.data "$PSTAT" -F 4000 -e cpu-clock:u -- ./walk
	"$PSTAT" annotate -q -i walk.data --code-with-type walk | grep -o '[0-9a-f]*: .*# data-type.*'
}

same_types_when_split() # COMPILER OPTION...
{
	local whole

	case $(uname -m) in
	x86_64 | aarch64) ;;
	*) skip "needs x86-64 or arm64" ;;
	esac
	command -v "$1" >/dev/null || skip "needs $1"
	cat >walk.c <<-'END_C'
	#include <stdlib.h>
	struct node { struct node *next; long key; char rest[48]; };
	volatile long out;
	__attribute__((noinline)) long walk(struct node *node, long n)
	{
		long sum = 0;

		for (struct node *at = node; at && n--; at = at->next) {
			sum += at->key;
			out = sum;
		}
		return sum;
	}
	int main(void)
	{
		enum { N = 1 << 10 };
		struct node *v = calloc(N, sizeof(*v));

		for (unsigned i = 0; i < N; i++)
			v[i].next = &v[(i * 403u + 1) % N], v[i].key = i;
		for (;;)
			walk(v, N);
	}
	END_C
	whole=$(types_of "$@")
	has "$*: a member" 'struct node \+0x8 \(key\)$' "$whole"
	has "$*: another" 'struct node \+0 \(next\)$' "$whole"
	same "$*: split" "$whole" "$(types_of "$@" -gsplit-dwarf)"
	command -v "${dwp:-dwp}" >/dev/null || return
	rm -f walk.data
	"${dwp:-dwp}" -e walk -o walk.dwp 2>/dev/null || return
	rm -f ./*.dwo
	recorded walk.data "$PSTAT" -F 4000 -e cpu-clock:u -- ./walk
	same "$*: in a package" "$whole" \
		"$("$PSTAT" annotate -q -i walk.data --code-with-type walk | grep -o '[0-9a-f]*: .*# data-type.*')"
	rm walk.dwp
}

test_split_types_gcc_4() { same_types_when_split gcc -gdwarf-4; }
test_split_types_gcc_5() { dwp=llvm-dwp same_types_when_split gcc -gdwarf-5; }
test_split_types_clang_4() { same_types_when_split clang -gdwarf-4; }
test_split_types_clang_5() { dwp=llvm-dwp same_types_when_split clang -gdwarf-5 -gz; }

# ---- what is not to be had ----

test_unknown_names()
{
	fails_with 125 "no samples in a function 'hto'" "$PSTAT" annotate -i ../data hto
	has "what may be meant" 'did you mean hot\?' "$err"
	fails_with 125 "no samples in a function 'mix'; it was inlined into hot" "$PSTAT" annotate -i ../data mix
	fails_with 129 "one function at a time" "$PSTAT" annotate -i ../data hot main
	fails_with 129 "one of them" "$PSTAT" annotate -i ../data -s hot main
}

test_replaced_file()
{
	cp ../work own && recorded own.data "$PSTAT" -F 1000 -e cpu-clock:u -- ./own
	mv own away
	rm -rf "$HOME/.debug" # where the recorder put a copy
	run "$PSTAT" annotate -i own.data -d own
	same "nothing is made up" "" "$out"
	"${CC:-cc}" -O1 -Wl,--build-id -o own ../work.c
	run "$PSTAT" annotate -i own.data -d own
	has_not "nor of another file" '<hot>' "$out"
	has "which is told" 'own' "$err"
}

test_kernel()
{
	need_paranoid 1
	recorded kernel.data "$PSTAT" -F 4000 -e cpu-clock -- dd if=/dev/zero of=/dev/null bs=1M count=20000
	"$PSTAT" report -q -i kernel.data -s symbol 2>/dev/null | grep -q '\[k\] [a-z]' || skip "needs names of the kernel"
	if [ -r /proc/kcore ]; then
		run "$PSTAT" annotate -i kernel.data -d '[kernel.kallsyms]'
		has "instructions" '^ +[0-9.]+ : +ffff[0-9a-f]+:' "$out"
	else
		fails_with 125 "of \[kernel\.kallsyms\]: /proc/kcore " \
			"$PSTAT" annotate -i kernel.data -d '[kernel.kallsyms]'
		has "what to do" "-k with that kernel's vmlinux" "$err"
		name=$("$PSTAT" report -q -i kernel.data -s symbol 2>/dev/null | awk '$2 == "[k]" { print $3; exit }')
		fails_with 125 "^pstat: $name of \[kernel\.kallsyms\]: " "$PSTAT" annotate -i kernel.data "$name"
		run "$PSTAT" annotate --skip-missing -i kernel.data -d '[kernel.kallsyms]'
		same "--skip-missing" "0 " "$status $(grep kcore <<<"$err")"
	fi
}

# ---- code made at run time ----

# jit KIND: samples of tests/work/jit.c, which lives until the function ends.
jit()
{
	local i pid

	mkfifo ctl
	"$WORK/jit" "$1" <ctl >ready 2>jit.err &
	pid=$!
	exec {hold}>ctl
	for ((i = 0; i < 2400; i++)); do [ -s ready ] && break; sleep 0.05; done
	"$PSTAT" record -q -o jit.data -F 2000 -e cpu-clock:u -p $pid -- "$used" $pid 300 2>record.err
	"$PSTAT" annotate -i jit.data "${@:2}" >jit.out 2>jit.said
	status=$?
	exec {hold}>&-
	wait $pid
	out=$(<jit.out) err=$(<jit.said)
	rm -f "/tmp/perf-$pid.map"
}

test_jit_dump()
{
	[ "$(uname -m)" = x86_64 ] || skip "needs x86-64"
	export JITDUMPDIR=$PWD
	jit dump jit_two_thirds
	same "status" 0 "$status"
	same "the code, from the dump" "movl jmp-free" \
		"$(grep -q 'movl *\$0x100000, %ecx' <<<"$out" && echo "movl jmp-free")"
	has "its loop" '^ +[0-9.]+ : +[0-9a-f]+: +jne +[0-9a-f]+ <jit_two_thirds\+0x5>$' "$out"
	has "and its end" 'retq' "$out"
	same "all samples are at the loop's two instructions" 1 "$(awk '
		/^ +[0-9.]+ :   / { sum += $1 } END { print (sum > 99 && sum < 101) }' <<<"$out")"
}

test_jit_map()
{
	jit map jit_two_thirds
	same "status" 125 "$status"
	has "why" 'jit_two_thirds of .*: its compiler wrote only names \(/tmp/perf-[0-9]+\.map\)' "$err"
}

# ---- cycles of branches ----

# cycles_of FILE FUNCTION: the head's columns, the averages, and instructions with cycles
cycles_of()
{
	"$PSTAT" annotate -q -i "$ROOT/tests/golden/$1.data" --symfs "$ROOT/tests/golden/symfs" \
		--kallsyms "$ROOT/tests/golden/kallsyms" --stdio2 "$2" |
		sed -n 's/ |\t.*//p; s/^ *: \(Average\)/\1/p; s/^\( *[0-9.]* .\{6\} *[0-9]* :.*\):.*/\1/p' |
		grep -vE '^ *([0-9.]+ +)?:'
}

# Every byte of spin is an instruction. Three runs of 17 take 10 cycles each, three of 13 take 12, and one of 17 takes 30:
# 107 instructions in 96 cycles, 13.7 cycles a run; they went over 17 of the 64. leaf was called, and took 2500 cycles.
test_cycles()
{
	same "three kinds of runs" " Percent   IPC Cycle
Average IPC: 1.11, IPC Coverage: 26.6%
    0.00  1.11    13 :   11d0" "$(cycles_of code_blocks spin)"
	same "a start that is not known" " Percent   IPC Cycle
    0.00        2500 :   1188" "$(cycles_of code_blocks leaf)"
	# Twice 17 instructions in 15 cycles and 13 in 24.
	same "two kinds" " Percent   IPC Cycle
Average IPC: 0.77, IPC Coverage: 26.6%
    0.00  0.77    19 :   11d0" "$(cycles_of code_blocks_later spin)"
	same "branches without cycles" " Percent" "$(cycles_of branch_stack spin)"
	run "$PSTAT" annotate -q -i "$ROOT/tests/golden/code_blocks.data" --symfs "$ROOT/tests/golden/symfs" --stdio spin
	has_not "--stdio has perf's columns" 'IPC' "$out"
}

# ---- what is hostile ----

# hostile NAME ASSEMBLY: a program whose function "spin" is this; recorded into NAME.data
hostile()
{
	cat >"$1.s" <<-END
		.text
		.globl main
		main: jmp spin
		$2
		.section .note.GNU-stack,"",@progbits
	END
	"${CC:-cc}" -g -o "$1" "$1.s" 2>cc_err || { fail "$1 is made" "$(<cc_err)"; return; }
	recorded "$1.data" "$PSTAT" -F 1000 -e cpu-clock:u -- "./$1"
}

# annotated NAME: within its time, and without an error of its own.
annotated()
{
	run timeout 300 "$PSTAT" annotate -l -i "$1.data"
	case $status in
	0 | 125) pass "$1: ends" ;;
	*) fail "$1: ends" "status $status: $err" ;;
	esac
}

test_no_instructions()
{
	[ "$(uname -m)" = x86_64 ] || skip "needs x86-64"
	head -c 5000 /dev/urandom >bytes
	# No instruction that begins in the bytes reaches over 16 more: the last three stand for themselves.
	hostile garbage '.type spin,@function; spin: jmp spin; .incbin "bytes"; .skip 16, 0x90; .byte 6,7,0x62; .size spin, .-spin'
	annotated garbage
	has "the instruction that was sampled" '^ +100\.00 : +[0-9a-f]+: +jmp ' "$out"
	has "bytes that are none" ': +\.byte +0x06$' "$out"
	same "no byte is lost" "$(awk '/^ +[0-9.]+ :   / { n++ } END { print (n > 1000) }' <<<"$out")" 1
}

test_sizes()
{
	[ "$(uname -m)" = x86_64 ] || skip "needs x86-64"
	hostile nothing '.type spin,@function; spin: jmp spin; .size spin, 0'
	annotated nothing
	has "a size of 0 goes up to the next symbol" '^ +100\.00 : +[0-9a-f]+: +jmp ' "$out"
	hostile huge '.type spin,@function; spin: jmp spin; .size spin, 104857600'
	annotated huge
	has "a size of 100 MB" '^ +100\.00 : +[0-9a-f]+: +jmp ' "$out"
	has "what there is of it" ': [0-9]+ bytes of 104857600 are shown: its file has no more$' "$out"
	# 3 MB on each side, of instructions of 8 bytes: nopl 0(%rax,%rax)
	hostile long '.type spin,@function; spin: jmp 1f; .fill 393216, 8, 0x841f0f; 1: inc %eax; jmp 1b
		.fill 393216, 8, 0x841f0f; .size spin, .-spin'
	annotated long
	has "of 6 MB the part that was sampled" ': 1048576 bytes of [0-9]+ are shown, those with most samples$' "$out"
	same "all samples are there" 1 "$(awk '/^ +[0-9.]+ :   / { sum += $1 } END { print (sum > 99 && sum < 101) }' <<<"$out")"
}

test_names()
{
	[ "$(uname -m)" = x86_64 ] || skip "needs x86-64"
	mkfifo fifo.c
	printf '.globl "e\033[31m\\nvil"\n.type "e\033[31m\\nvil",@function\n' >names
	hostile name "$(<names)"'
		.file 1 "fifo.c"
		.file 2 "/dev/zero"
		.file 3 "'$'e\033[2J''.c"
		spin: .loc 1 1; nop
		"e'$'\033''[31m\nvil": .loc 1 1; nop; .loc 2 7; nop; .loc 3 2000000000; inc %eax; .loc 2 1; jmp spin
		.size "e'$'\033''[31m\nvil", .-"e'$'\033''[31m\nvil"'
	[ -e name.data ] || return
	annotated name
	has_not "no escape sequence comes through" $'\033' "$out$err"
}

# Not one byte of the file that is not somebody's choice: with a build-id it would not be read.
test_mutants()
{
	"${CC:-cc}" -O2 -g -fno-builtin -Wl,--build-id=none -o whole ../work.c 2>cc_err || skip "needs a C compiler"
	cp whole mutant
	recorded mutant.data "$PSTAT" -F 500 -e cpu-clock:u -- ./mutant
	cat >mutate.py <<-'END_PY'
		import random, sys
		data = bytearray(open("whole", "rb").read())
		r = random.Random(int(sys.argv[1]))
		for _ in range(r.choice((3, 30, 300))):
		    data[r.randrange(len(data))] = r.choice((0, 255, r.randrange(256)))
		open("mutant", "wb").write(data[:r.choice((len(data), r.randrange(len(data))))])
	END_PY
	for seed in {1..40}; do
		"$PYTHON" mutate.py "$seed"
		run timeout 300 "$PSTAT" annotate -l -i mutant.data
		case $status in
		0 | 125) ;;
		*) fail "seed $seed" "status $status: $err"; return ;;
		esac
	done
	pass "forty mutants of a program are shown or refused"
}

test_cut_recordings()
{
	size=$(stat -c %s ../data)
	for part in {0..20}; do
		head -c $((size * part / 20)) ../data >cut.data
		run timeout 300 "$PSTAT" annotate -i cut.data
		case $status in
		0 | 125) ;;
		*) fail "cut at $part of 20" "status $status: $err"; return ;;
		esac
	done
	pass "cut anywhere"
	same "the whole has no complaint" 0 "$status"
}
run_tests
