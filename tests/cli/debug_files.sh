#!/bin/bash
# SPDX-License-Identifier: MIT
# Debug files where a program is looked for: their segments lie elsewhere than those that were mapped, and are empty.
# All time is spent in one of 100 functions, so that a shift of any size gives the name of another one, or none.
#
# run: once
. "${0%/*}/../lib.sh"

# Makes prog.c.
program()
{
	local i

	{
		echo 'static volatile unsigned long sink;'
		for i in {100..199}; do
			echo "__attribute__((noinline)) void fn_$i(void)" \
				"{ $([[ $i = 150 ]] && echo 'for (int i = 0; i < 100000; i++) sink += i;') sink ^= sink << 3; sink *= $i; }"
		done
		echo "void (*const all[])(void) = {$(printf ' fn_%d,' {100..199})};"
		echo 'int main(void) { for (;;) all[50](); }'
	} >prog.c
}

# built OPTION...: prog, and samples of it in data
built()
{
	need_cmd cc
	need_cmd objcopy
	need_paranoid 2
	program
	cc -O1 -g -Wl,--build-id "$@" -o prog prog.c 2>cc_err || return 1
	rm -f data
	"$PSTAT" record -q -N -F 1000 -e cpu-clock:u -o data -- "$WORK/spend" 100 ./prog 2>/dev/null
	[[ -s data ]]
}

# The functions that report names. main() calls them, and may have a sample.
named()
{
	"$PSTAT" report --no-cache -i data -s symbol --dsos prog --percent-limit 5 "$@" 2>said |
		grep -o 'fn_[0-9]*\|\[prog[^]]*\]\|0x[0-9a-f]*' | sort -u | xargs
}

test_in_the_programs_place()
{
	local options

	for options in "" "-static" "-fuse-ld=lld" "-Wl,-z,noseparate-code,-z,max-page-size=0x200000"; do
		built $options || continue
		rm -rf sym
		mkdir -p "sym$PWD"
		objcopy --only-keep-debug prog "sym$PWD/prog" 2>/dev/null || continue
		same "linked with '$options'" fn_150 "$(named --symfs sym)"
		has "what lies there is said" 'prog .*: a debug file without code is in its place' "$(<said)"
	done
	has "lines, too" 'prog\.c:52$' "$("$PSTAT" report --no-cache -i data -q -s srcline --dsos prog --symfs sym 2>/dev/null)"
	run "$PSTAT" annotate -i data --symfs sym fn_150
	has "no zeros are disassembled" 'fn_150 of prog: a debug file without code is in its place' "$err"
	same "nothing else is shown" "" "$out"
}

test_in_the_cache()
{
	export HOME=$PWD
	built || skip "needs a compiler"
	objcopy --only-keep-debug prog prog.debug
	strip prog
	same "stripped" "[prog]" "$(named | sed 's/+0x[0-9a-f]*//')"
	run "$PSTAT" buildid-cache -a "$PWD/prog.debug"
	same "added as a debug file" debug "$(find .debug -type f -printf '%f\n')"
	same "beside the program" fn_150 "$(named)"
	mv prog gone
	same "alone" fn_150 "$(named)"
	"$PSTAT" buildid-cache -a "$PWD/gone"
	same "the program comes beside it" "debug elf" "$(find .debug -type f -printf '%f\n' | sort | xargs)"
	has "whose code is used" '[0-9.]+ .*(add|ldr|mov)' "$("$PSTAT" annotate -i data fn_150 2>&1)"
	# As perf keeps it.
	find .debug -name elf -exec cp prog.debug {} \;
	find .debug -name debug -delete
	same "kept as a program, alone" fn_150 "$(named)"
	mv gone prog
	same "kept as a program, beside it" fn_150 "$(named)"
}

run_tests
