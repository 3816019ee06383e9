#!/bin/bash
# SPDX-License-Identifier: MIT
# The code of samples in `pstat script`: the instructions between branches are those that were executed, by a program
# that was stepped; each instruction is what objdump has at its address; lines of source are those of the file.
# script_vs_perf.sh compares the layout with perf's. Also what annotate and diff make of these branches.
#
# run: once
. "${0%/*}/beside_perf.bash"
need_capstone

build()
{
	[ "$(uname -m)" = x86_64 ] || skip "needs x86-64, which stepped.py can step"
	command -v objdump >/dev/null || skip "needs objdump"
	cat >stepped.c <<-'END'
	static volatile long sum;
	__attribute__((noinline)) static long leaf(long n)
	{
		long odd = 0;

		for (long i = 0; i < n; i++)
			odd += i & 1 ? i : 1;
		return odd;
	}
	__attribute__((noinline)) static void middle(long n)
	{
		if (n & 1)
			sum += leaf(n);
		else
			sum -= leaf(n + 1);
	}
	void _start(void)
	{
		for (long i = 0;; i++)
			middle(i % 5);
	}
	END
	"${CC:-cc}" -O1 -g -static -nostdlib -o stepped stepped.c 2>cc_err || skip "needs a C compiler that links static programs"
	"$PYTHON" "$ROOT/tests/cli/stepped.py" stepped.data executed "$PWD/stepped" 2>step_err
	case $? in
	0) ;;
	77) skip "needs to trace a process" ;;
	*) fail "the program is stepped" "$(<step_err)" ;;
	esac
	"$PSTAT" script -i stepped.data "$@" 2>err
}

# The addresses of each sample's instructions on a line.
addresses() { awk '/^ +[0-9a-f]+ *$/ { if (n++) print line; line = "" } /^\t0/ { sub(/^0+/, "", $1); line = line (line == "" ? "" : " ") $1 } END { print line }'; }

test_blocks()
{
	build -F ip,brstackinsn >blocks
	same "no complaint" "" "$(<err)"
	# A stack ends at the sample, or at a jump that is taken and not yet in it.
	addresses <blocks >mine
	same "as many samples" "$(wc -l <executed)" "$(wc -l <mine)"
	check "what was executed" cmp executed mine
	same "each block has as many cycles as instructions" "1.00 IPC" "$(sed -n 's/.*] //p' blocks | sort -u)"
	"$PSTAT" script -i stepped.data -F ip,brstackinsn --max-blocks 2 | addresses >last
	same "--max-blocks: the branch before them, and the last" "$(wc -l <executed)" \
		"$(paste -d'\n' last mine | awk 'NR % 2 { last = $0; next } substr($0, length($0) - length(last) + 1) == last { n++ } END { print n }')"
	check "which is less" test "$(wc -c <last)" -lt "$(wc -c <mine)"
}

# Bytes, length and mnemonic at each sampled address. objdump's letter for the operands' size may be missing.
test_instructions()
{
	build -F ip,insnlen,insn >instructions
	objdump -d --no-show-raw-insn stepped | sed 's/xchg *%ax,%ax/nop/' | sed -n 's/^ *\([0-9a-f]*\):\t\([a-z0-9]*\).*/\1 \2/p' | sort -u >names
	objdump -d --insn-width=15 stepped | sed -n 's/^ *\([0-9a-f]*\):\t\([0-9a-f ]*[0-9a-f]\).*/\1 \2/p' | sort -u >bytes
	awk '{ n = NF - 4; line = $1; for (i = 5; i <= NF; i++) line = line " " $i; print line; if (n != $3) print "ilen", $3, "of", n }' \
		instructions | sort -u >mine
	same "bytes that objdump does not have" "" "$(comm -13 bytes mine)"
	check "several" test "$(wc -l <mine)" -gt 5
	"$PSTAT" script -i stepped.data -F ip,disasm | sed 's/^ *\([0-9a-f]*\)\t\t\([a-z]*\).*/\1 \2/' | sort -u |
		join names - | awk '$3 != $2 && $3 !~ "^" $2 "[bwlq]$" && $2 !~ "^" $3 "[bwlq]$"' >others
	same "other names than objdump's" "" "$(<others)"
	"$PSTAT" script -i stepped.data -F ip,brstackdisasm >disassembled
	has "a call has its function" $'\tcallq? leaf\+0x0 \[0x[0-9a-f]+\] +\t#' "$(<disassembled)"
	same "the same lines" "$(addresses <disassembled)" "$("$PSTAT" script -i stepped.data -F ip,brstackinsn | addresses)"
	"$PSTAT" script -j -F +insn,+disasm -i stepped.data >json
	same "in JSON" "$(sort -u <mine | cut -d' ' -f2- | tr -d ' ' | sort -u)" \
		"$(sed -n 's/.*"insn":"\([0-9a-f]*\)".*/\1/p' json | sort -u)"
	check "which is valid" "$PYTHON" -c 'import json, sys; [json.loads(line)["disasm"] for line in open("json")]'
}

# A block has as many cycles as instructions: the columns are a mark for each instruction, IPC and cycles of a run.
test_cycles_beside_code()
{
	local function

	build -F ip >/dev/null
	for function in leaf middle; do
		"$PSTAT" annotate -q --no-source --stdio2 -i stepped.data "$function" >"$function"
		has "$function: on average" 'Average IPC: 1.00, IPC Coverage: [1-9]' "$(<"$function")"
		same "$function: each block" 1.00 \
			"$(awk -F ' : ' '/^ *[0-9]/ && split($1, numbers, " ") == 3 { print numbers[2] }' "$function" | sort -u)"
	done
}

# The places of chains are lines of the source, and the lines are those of the functions.
test_lines_of_streams()
{
	build -F ip >/dev/null
	"$PSTAT" diff --stream stepped.data stepped.data >streams
	check "there are some" grep -q '^hot chain pair 2:' streams
	same "in functions with lines" "" "$(awk -F '\t' '/^ / && !/cycles:|---/ && $1 !~ /^ *[a-z_]+ stepped.c:[0-9]+$/' streams)"
	same "lines of leaf" "6 7 9" "$(sed -n 's/.*\t *leaf stepped.c://p' streams | sort -nu | paste -sd ' ')"
	same "beside themselves" "" "$(awk -F '\t' '/^ / && !/---/ && $1 != $2' streams)"
	has_not "none is alone" '^hot chain [0-9]' "$(<streams)"
}

test_source()
{
	local number text

	build -F ip,srcline,srccode >lines
	grep '^|' lines | sort -u >shown
	check "there are some" test "$(wc -l <shown)" -gt 3
	while read -r number text; do
		same "line ${number#|}" "$(sed -n "${number#|}p" stepped.c | sed 's/^[[:blank:]]*//')" "$text"
	done <shown
	same "none twice in a row" "" "$(grep '^|' lines | uniq -d)"
}

# No code, no text; and code of another build is none.
test_no_code()
{
	build -F ip,insn >with
	"${CC:-cc}" -O1 -static -nostdlib -Wl,--build-id=0x1234 -o other stepped.c
	mkdir -p "below$PWD"
	same "a file that is gone" "$(awk '{ print $1 }' with)" \
		"$("$PSTAT" script --symfs below -i stepped.data -F ip,insn 2>/dev/null | tr -d ' ')"
	same "between branches" "$(wc -l <executed)" \
		"$("$PSTAT" script --symfs below -i stepped.data -F ip,brstackinsn 2>/dev/null | grep -c .)"
	fails_with 129 'brstackinsn: the samples of cycles.* have no BRANCH_STACK|does not have all branches' "$PSTAT" script \
		-F +brstackinsn -i "$ROOT/tests/golden/plain.data"
	fails_with 129 "brstackinsn: the recording does not have all branches taken
.*record with -b" "$PSTAT" script -F +brstackinsn -i "$ROOT/tests/golden/branch_call_stack.data"
}

# A script in Python that asks for the code of a sample gets the same.
test_asked_by_python()
{
	build -F ip,insn | sed -n 's/^ *\([0-9a-f]* insn: .*[^ ]\) *$/\1/p' | sort -u >expected
	cat >asked.py <<-'X'
		from perf_trace_context import *

		def process_event(sample):
		    file, line, text = perf_sample_srccode(perf_script_context)
		    if perf_sample_srcline(perf_script_context) != (file, line):
		        print("another line")
		    if text is not None and text.strip() != open(file).read().splitlines()[line - 1].strip():
		        print("another text")
		    print("%x insn: %s" % (sample["sample"]["ip"], perf_sample_insn(perf_script_context).hex(" ")))
	X
	same "instructions" "$(<expected)" "$("$PSTAT" script -q -i stepped.data -s asked.py | sort -u)"
	check "some" test -s expected
	printf 'from perf_trace_context import *\ndef process_event(sample):\n    print(perf_sample_insn(0), perf_sample_srccode(0))\n' >asked.py
	same "code that no file has" "None (None, 0, None)" \
		"$("$PSTAT" script -q -i "$ROOT/tests/golden/plain.data" -s asked.py | sort -u)"
}
run_tests
