#!/bin/bash
# SPDX-License-Identifier: MIT
# The text of `pstat script` for the tools that fold stacks (stackcollapse-perf.pl, inferno and their like):
# read their way (script_folds.py), it gives the stacks that perf's text gives, and those of `report --folded`.
# And `script -j` says what the text says.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2

CALLERS=$WORK/callers EXACT=$WORK/exact
tool=$ROOT/tests/cli/script_folds.py
export PYTHONDONTWRITEBYTECODE=1

fold() { EVENT=${EVENT-} "$PYTHON" "$tool" fold; }
# Of recordings of commands, all of whose maps are known.
fold_code() { EVENT=${EVENT-} "$PYTHON" "$tool" fold-code; }

# Blanks in a command's name are _ to the tools; --folded leaves them as they are.
no_blanks() { sed -E ':a; s/^([^;]*) ([^;]*;)/\1_\2/; ta'; }

# folds FILE [OPTION...]: some stacks, the same by all three.
folds()
{
	local file=$1 stacks

	shift
	# --no-bounds: perf's way with functions that have no name.
	stacks=$("$PSTAT" script --no-inline --no-bounds -i "$file" "$@" | fold_code)
	has "$file: stacks" '^[^ ;]+(;[^;]+)+ [0-9]+$' "$stacks"
	same "$file: report --folded" "$stacks" \
		"$("$PSTAT" report --no-inline --no-bounds --folded -i "$file" "$@" 2>/dev/null | no_blanks | sort)"
	perf version >/dev/null 2>&1 || return 0
	# Names of vdsos: see script_vs_perf.py.
	same "$file: perf's text" "$(perf script --no-inline -i "$file" "$@" 2>/dev/null | fold_code | no_vdso)" \
		"$(no_vdso <<<"$stacks")"
}
no_vdso() { sed 's/;__vdso_[a-z_]*/;[[vdso]]/g' | awk '{ n[$1] += $2 } END { for (s in n) print s, n[s] }' | sort; }

# says_the_same FILE [OPTION...]: -j and the text.
says_the_same()
{
	local file=$1

	shift
	"$PSTAT" script -i "$file" "$@" >text 2>said
	"$PSTAT" script -j -i "$file" "$@" >lines 2>said
	check "$file: -j ${*/#/, }" "$PYTHON" "$tool" json text lines
}

record() { "$PSTAT" record -q "$@" >said 2>&1 || fail "recording $*" "$(<said)"; }

test_deep()
{
	record -F 4000 -e cpu-clock:u -g -o deep -- "$CALLERS" deep 100
	folds deep -S burn,leaf
	says_the_same deep
	record -F 4000 -e cpu-clock:u -g -o known -- "$CALLERS" known 60
	folds known -S burn
	# Hardly any: before burn has its frame the function that called it is not in the chain.
	same "what calls burn" "callers;…;known;one_third;burn callers;…;known;two_thirds;burn" \
		"$("$PSTAT" script -i known -S burn | fold | awk '$NF > 5 { sub(/ [0-9]+$/, ""); print }' |
			sed 's/;.*;known;/;…;known;/' | sort -u | paste -sd ' ')"
	same "tools read each sample" "$("$PSTAT" script -i deep -F comm | wc -l)" \
		"$("$PSTAT" script -i deep | "$PYTHON" "$tool" check)"
}

test_threads()
{
	record -F 4000 -e cpu-clock:u -g -o threads -- "$CALLERS" deep 40 3
	folds threads -S burn
	says_the_same threads --max-stack 4
}

# Tools fold the event they meet first; --folded the recording's first.
test_events()
{
	record -F 4000 -e cpu-clock:u,task-clock:u -g -o events -- "$CALLERS" deep 60
	EVENT=cpu-clock:u folds events -S burn
	says_the_same events
	record -F 4000 -e '{cpu-clock:u,task-clock:u}:S' -g -o read -- "$CALLERS" deep 60
	EVENT=cpu-clock:u folds read -S burn
	says_the_same read
}

# A name with blanks, brackets or a digit behind it must not look like a pid.
test_names_of_commands()
{
	ln -s "$CALLERS" "a 7 (b) c"
	record -F 4000 -e cpu-clock:u -g -o names -- "./a 7 (b) c" deep 40
	folds names -S burn
	has "the name is whole" '^a_7_\(b\)_c;' "$("$PSTAT" script -i names -S burn | fold)"
}

test_the_kernel()
{
	need_paranoid 1
	[ "$(</proc/sys/kernel/kptr_restrict)" -lt 2 ] || skip "needs kptr_restrict below 2"
	record -F 4000 -e cpu-clock -g -o kernel -- "$EXACT" execs:30
	same "report --folded" "$("$PSTAT" script --no-inline -i kernel | fold_code)" \
		"$("$PSTAT" report --no-inline --folded -i kernel 2>/dev/null | sort)"
	has "from user to kernel" ';entry_SYSCALL_64|;asm_exc_page_fault|;el0t_64' "$("$PSTAT" script -i kernel | fold)"
	says_the_same kernel
}

# Frames of inlined functions have the address of the call, and are callers of nothing but what is inlined there.
# The frame's address makes the compiler give outer() a frame, without which its caller is not in the chain.
test_inlined_functions()
{
	local outer=';main;outer;middle;inner '

	cat >inlined.c <<-'END'
	#include <time.h>
	volatile long sum;
	static inline __attribute__((always_inline)) void inner(long n) { for (long i = 0; i < n; i++) sum += i; }
	static inline __attribute__((always_inline)) void middle(long n) { inner(n); sum++; }
	__attribute__((noinline)) void outer(long n)
	{
		void *volatile frame = __builtin_frame_address(0);
		middle(n);
		sum += frame != 0;
	}
	int main(void)
	{
		while (clock() < CLOCKS_PER_SEC / 20) {
			outer(100000);
			sum++;
		}
		return 0;
	}
	END
	"${CC:-cc}" -O1 -g -fno-omit-frame-pointer -o inlined inlined.c 2>said || skip "needs a C compiler"
	record -F 4000 -e cpu-clock:u -g -o inlines -- ./inlined
	run "$PSTAT" script -i inlines -S outer
	has "inlined twice" $'^\t +[0-9a-f]+ inner \\(inlined\\)$' "$out"
	# Hardly any: before outer has its frame main is not in the chain.
	same "one stack" "$outer" "$(fold <<<"$out"$'\n' | awk '/;inner / && $NF > 5' | grep -o ';main;.*;inner ' | sort -u)"
	says_the_same inlines
}

# Code made at run time is known to the tools by the name of its map.
test_code_made_at_run_time()
{
	[ -r "$ROOT/tests/golden/jit_code.data" ] || skip "needs tests/golden"
	run "$PSTAT" script -i "$ROOT/tests/golden/jit_code.data"
	has "its file" ' \(/tmp/perf-[0-9]+\.map\)$' "$out"
}
run_tests
