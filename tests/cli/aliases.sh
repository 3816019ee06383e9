#!/bin/bash
# SPDX-License-Identifier: MIT
# Several names at one address: that of today is shown, and the same one with the whole file, without its own symbol
# table, and with a debug file. And names of OCaml.
#
# run: once
. "${0%/*}/../lib.sh"

test_one_name_per_function()
{
	local tree

	need_cmd cc
	need_cmd objcopy
	need_paranoid 2
	cat >lib.c <<'END_C'
static volatile unsigned long sum;
#define BUSY for (int i = 0; i < 1000; i++) sum += (unsigned long)i
void tidy_code(void) { BUSY; }
__asm__(".symver tidy_code, tidy@@V2");
__asm__(".symver tidy_code, much_longer_name_of_then@V1");
void copy_of_then(void) { BUSY; }
__asm__(".symver copy_of_then, copy@V1");
void copy_of_today(void) { BUSY; }
__asm__(".symver copy_of_today, copy@@V2");
__attribute__((noinline)) static void local_and_longer(void) { BUSY; }
void weak(void) __attribute__((weak, alias("local_and_longer")));
__attribute__((visibility("default"))) void call_copy_of_then(void) { copy_of_then(); }
END_C
	echo 'V1 { global: much_longer_name_of_then; copy; local: *; }; V2 { global: tidy; copy; weak; call_copy_of_then; } V1;' >versions
	cat >main.c <<'END_C'
void tidy(void), copy(void), weak(void), call_copy_of_then(void);
int main(void) { for (;;) tidy(), copy(), weak(), call_copy_of_then(); }
END_C
	cc -O1 -fno-optimize-sibling-calls -Wl,--build-id -shared -fPIC -Wl,--version-script=versions -o libshop.so lib.c 2>cc_err &&
		cc -O1 -Wl,-rpath,"$PWD" -o prog main.c ./libshop.so 2>>cc_err || skip "needs a linker that knows versions"
	for tree in whole stripped debug; do
		mkdir -p "$tree$PWD"
		cp prog "$tree$PWD"
	done
	cp libshop.so "whole$PWD"
	strip -o "stripped$PWD/libshop.so" libshop.so
	objcopy --only-keep-debug libshop.so "debug$PWD/libshop.so"
	# A turn of the work is much shorter than the time between samples, and no part of it escapes them all.
	"$PSTAT" record -q -N -F 2000 -e cpu-clock:u -o data -- "$WORK/spend" 400 ./prog 2>/dev/null
	for tree in whole stripped debug; do
		# Each has a quarter of the samples; what is there once is of the library's start.
		"$PSTAT" report -q --no-cache -i data --symfs "$tree" --dsos libshop.so --percent-limit 5 -s sym -F sym 2>/dev/null |
			grep -o '\] [^ ]*' | grep -v call_copy | sort | xargs >"$tree.names"
	done
	same "those of today" "] copy ] copy_of_then ] tidy ] weak" "$(<whole.names)"
	same "a debug file" "$(<whole.names)" "$(<debug.names)"
	same "stripped: what only old programs call has its version" "] copy ] copy@V1 ] tidy ] weak" "$(<stripped.names)"
}

# As ocamlopt writes them, in a program of C.
test_names_of_ocaml()
{
	need_cmd cc
	need_paranoid 2
	cat >main.c <<'END_C'
static volatile unsigned long sum;
__attribute__((noinline)) void total(void) __asm__("camlShop.Cart__$2b$2b_81");
void total(void) { for (int i = 0; i < 50000; i++) sum += (unsigned long)i; }
int main(void) { for (;;) total(); }
END_C
	cc -O1 -o prog main.c 2>cc_err || skip "needs an assembler that knows names with \$"
	"$PSTAT" record -q -N -F 1000 -e cpu-clock:u -o data -- "$WORK/spend" 100 ./prog 2>/dev/null
	has "as people wrote them" '\] Shop\.Cart\.\+\+_81$' "$("$PSTAT" report -q --no-cache -i data --dsos prog -s sym 2>/dev/null)"
	has "--no-demangle: as they are" '\] camlShop\.Cart__\$2b\$2b_81$' \
		"$("$PSTAT" report -q --no-cache -i data --dsos prog -s sym --no-demangle 2>/dev/null)"
}

run_tests
