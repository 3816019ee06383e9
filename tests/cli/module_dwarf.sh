#!/bin/bash
# SPDX-License-Identifier: MIT
# Inlined functions and lines of kernel modules, which nobody has linked: a recording of a module that was never
# loaded here, with a file of it below --symfs: as it is, packed, stripped with its debug file, of another build.
#
# run: once
. "${0%/*}/../lib.sh"
need_cmd "${CC:-cc}"
need_cmd strip
golden=$ROOT/tests/golden
path=/lib/modules/6.1.0-golden/kernel/golden.ko
ko=$tmp/tree$path

# The samples lie 8 bytes into functions at 0x100 and 0x200 of the module.
cat >"$tmp/golden.c" <<'C'
static inline __attribute__((always_inline)) void poll_once(void)
{
	__asm__ volatile(".balign 32\n\t.skip 64"); /* line 3 */
}
__attribute__((aligned(256))) void golden_init(void) { __asm__ volatile(".skip 16"); }
__attribute__((aligned(256))) void golden_poll(void)
{
	poll_once(); /* line 8 */
}
__attribute__((aligned(256))) void golden_irq(void)
{
	__asm__ volatile(".skip 64"); /* line 12 */
}
C
cd "$tmp" && mkdir -p "${ko%/*}" names
"${CC:-cc}" -c -O1 -g -fno-pic -fcf-protection=none -o golden.o golden.c 2>cc_err ||
	"${CC:-cc}" -c -O1 -g -o golden.o golden.c 2>>cc_err || skip "needs a C compiler"
ld -r --build-id -o golden.ko golden.o 2>>cc_err || skip "needs ld"
grep -v golden "$golden/kallsyms" >names/without
export HOME=$tmp DEBUGINFOD_URLS=

# lines WITH-KALLSYMS OPTION...: frames in the module, with their lines
lines()
{
	"$PSTAT" script -i "$golden/kernel_and_module.data" --symfs "$tmp/tree" --kallsyms "$1" \
		-F ip,sym,srcline "${@:2}" 2>said | grep -A 2 'golden_\|poll_once'
}

# as_expected WHAT KALLSYMS
as_expected()
{
	lines "$2" >frames
	has "$1: the inlined function" ' poll_once$' "$(cat frames)"
	has "$1: its line" 'golden\.c:[3-4] \(inlined\)$' "$(cat frames)"
	has "$1: the line of its call" 'golden\.c:8$' "$(cat frames)"
	has "$1: the line of a function without one" 'golden\.c:12$' "$(cat frames)"
}

cp golden.ko "$ko"
as_expected "names of the kernel's list" "$golden/kallsyms"
as_expected "names of the file" names/without
has "in report, too" 'poll_once' "$("$PSTAT" report -i "$golden/kernel_and_module.data" --symfs tree \
	--kallsyms "$golden/kallsyms" -g caller 2>&1)"

for packer in zstd xz gzip; do
	[ -n "$(command -v $packer)" ] || { point ok "packed with $packer" "needs $packer"; continue; }
	$packer -c <golden.ko >"$ko"
	if lines names/without | grep -q . || ! grep -q "lib$packer\|liblzma" said; then
		as_expected "packed with $packer" names/without
	else
		point ok "packed with $packer" "needs the library of $packer"
	fi
done

if objcopy --compress-debug-sections=zstd golden.ko "$ko" 2>/dev/null; then
	as_expected "sections packed with zstd" names/without
else
	point ok "sections packed with zstd" "needs binutils 2.40 with zstd"
fi
objcopy --compress-debug-sections=zlib golden.ko "$ko" && as_expected "sections packed with zlib" names/without

strip -g -o "$ko" golden.ko
has_not "stripped: no inlined function" 'poll_once' "$(lines "$golden/kallsyms")"
mkdir -p "tree/usr/lib/debug${path%/*}"
objcopy --only-keep-debug golden.ko "tree/usr/lib/debug$path.debug"
as_expected "with its debug file" "$golden/kallsyms"
rm -r tree/usr

echo 'void golden_poll(void) { }' >other.c
"${CC:-cc}" -c -g -o other.o other.c && ld -r -o "$ko" other.o
has_not "where the file has nothing, nothing is made up" 'poll_once' "$(lines "$golden/kallsyms")"
done_testing
