#!/bin/bash
# SPDX-License-Identifier: MIT
# Stacks that are unwound while they are recorded (--call-graph dwarf): the chains in the file are those that report
# makes of the same stacks, and the true ones; perf reads them; each has its end told.
#
# run: once
. "${0%/*}/../lib.sh"
need_paranoid 2
need_cmd "${CC:-cc}"

# Each of 60 stores to a page that was never touched is a page fault, in `touch_one`, below so many calls of `down`.
write_program()
{
	cat >deep.c <<'C'
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#define APART __attribute__((noinline, noclone))
static char *room;
static long page, at;
static volatile int sink;
APART void touch_one(void) { room[at++ * page] = 1; sink++; }
APART void down(int depth)
{
	volatile char pad[200];

	pad[0] = (char)depth;
	if (depth)
		down(depth - 1);
	else
		touch_one();
	sink += pad[0];
}
APART void work(void)
{
	for (int i = 0; i < 60; i++)
		down(i % 20);
}
int main(int argc, char **argv)
{
	page = sysconf(_SC_PAGESIZE);
	room = mmap(NULL, (size_t)page * 64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(room, (size_t)page * 64, MADV_NOHUGEPAGE);
	work();
	if (argc > 1)
		close(open(argv[1], O_RDONLY));
	return 0;
}
C
	"${CC:-cc}" -O1 -fomit-frame-pointer -fno-optimize-sibling-calls "$@" -o deep deep.c 2>cc_err ||
		fail "compiles" "$(<cc_err)"
}

# recorded_until N COMMAND...: into ./x. COMMAND ends by reading the FIFO ./go, which is opened when so many samples of
# `touch_one` are in the file. What a shell and its commands do at once is more than a late reader finds in rings of
# the usual size.
recorded_until()
{
	local wanted=$1 room=()

	shift
	[ "$(id -u)" -ne 0 ] || room=(-m 32M)
	rm -f go x && mkfifo go
	"$PSTAT" record -N -o x "${room[@]}" "${faults[@]}" --call-graph dwarf -- "$@" 2>said >/dev/null &
	recorder=$!
	for ((i = 0; i < 600; i++)); do
		[ "$("$PSTAT" script -i x -F ip,sym 2>/dev/null | grep -cw touch_one)" -ge "$wanted" ] && break
		[ -d /proc/$recorder ] || break
		sleep 0.1
	done
	exec 9<>go
	wait $recorder
	status=$?
	exec 9>&-
	err=$(<said)
}

# The true stacks, outermost first, as --folded has them, with a count each.
true_stacks()
{
	for i in {0..19}; do
		printf '%s' 'work;'
		for ((d = 0; d <= i; d++)); do printf 'down;'; done
		echo 'touch_one 3'
	done | sort
}

faults=(-e page-faults:u -c 1)
on_cpu=() # words before pstat: taskset -c N

# record_deep NAME OPTION...
record_deep()
{
	local name=$1

	shift
	run "${on_cpu[@]}" "$PSTAT" record -N -o "$name" "${faults[@]}" "$@" -- ./deep
	same "$name: status" 0 "$status"
	has "$name: nothing is lost" ", 0 lost," "$err"
}

# our_stacks FILE, perf_stacks FILE: those that end in touch_one, from `work` on.
our_stacks()
{
	"$PSTAT" script -i "$1" -F ip,sym 2>/dev/null | folded_of
}
perf_stacks() { perf script -i "$1" -F ip,sym 2>/dev/null | folded_of; }
folded_of()
{
	awk 'NF { stack = $2 (stack == "" ? "" : ";" stack) } !NF && stack != "" { print stack; stack = "" }
		END { if (stack != "") print stack }' | grep ';touch_one$' | sed 's/.*;work;/work;/' | sort | uniq -c |
		awk '{ print $2, $1 }' | sort
}

# said WORD: the number before it in what the recorder said.
said() { printf '%s\n' "$err" | sed -n "s/.*[^0-9]\([0-9][0-9]*\) $1\([ ,:;(].*\)\{0,1\}$/\1/p" | tail -n 1; }

# The kernel copies no stack whose page is not there: the first one's, and on a machine short of memory others'.
nearly_all_are_complete()
{
	local uncopied

	uncopied=$(sed -n 's/.*(\([0-9]*\) without any copy.*/\1/p' <<<"$err")
	check "nearly all are complete: $(grep 'stacks unwound' <<<"$err")" \
		[ $(($(said complete) + ${uncopied:-0} + 4)) -ge "$(said "stacks unwound")" ]
}

test_chains_are_true()
{
	write_program
	record_deep live --call-graph dwarf
	same "as they were" "$(true_stacks)" "$(our_stacks live)"
	check "each is counted: $(said "stacks unwound")" [ "$(said "stacks unwound")" -ge 60 ]
	nearly_all_are_complete
	same "how they ended" "$(said "stacks unwound")" $(($(said complete) + $(said cut) + $(said broken)))
	record_deep raw --call-graph dwarf,raw
	same "raw: as report unwinds them" "$(our_stacks raw)" "$(our_stacks live)"
	has_not "raw: nothing is unwound" unwound "$err"
	check "small ($(stat -c %s live) of $(stat -c %s raw) bytes)" [ $(($(stat -c %s live) * 15)) -lt "$(stat -c %s raw)" ]
	if command -v perf >/dev/null; then
		same "perf reads the same" "$(true_stacks)" "$(perf_stacks live)"
	else
		point ok "perf reads the same" "needs perf"
	fi
}

test_what_the_file_holds()
{
	write_program
	record_deep live --call-graph dwarf,16384
	run "$PSTAT" evlist -v -i live
	has "chains" 'CALLCHAIN' "$out"
	has_not "neither registers nor stacks" 'REGS_USER|STACK_USER|exclude_callchain_user|sample_regs_user' "$out"
	has "what they were made of" 'sample_stack_user: 16384' "$out"
	record_deep regs --call-graph dwarf --user-regs=ip,sp
	run "$PSTAT" script -i regs -F ip,sym,uregs
	has "registers that were asked for" 'ABI:2' "$out"
	same "and no others" 0 "$(printf '%s\n' "$out" | grep -c ' BX:\| x1:')"
	same "with their chains" "$(true_stacks)" "$(our_stacks regs)"
}

# Ways to a file. Without times nobody knows in which order records of two CPUs' rings are, a program's maps and its
# samples among them: it stays on one CPU then.
test_ways()
{
	local one

	write_program
	truth=$(true_stacks)
	one=$(taskset -cp $$) one=${one##* } one=${one%%[,-]*}
	for options in "-z" "--threads=cpu" "-m 4M" "--per-thread --no-inherit" "--overwrite" "--tail-synthesize" \
		"--no-timestamp" "--switch-output=100G"; do
		on_cpu=()
		[ "$options" != --no-timestamp ] || on_cpu=(taskset -c "$one")
		# shellcheck disable=SC2086
		record_deep "way" --call-graph dwarf $options
		[ -e way ] || mv way.2* way
		same "$options" "$truth" "$(our_stacks way)"
		rm -f way
	done
	on_cpu=()
	"$PSTAT" record -N -q -o - "${faults[@]}" --call-graph dwarf -- ./deep >piped 2>said
	same "through a pipe" "$truth" "$(our_stacks piped)"
	run "$PSTAT" record -q -o kept "${faults[@]}" --call-graph dwarf --buildid-dir cache --symbols-in-file -- ./deep
	same "with symbols in it" "$truth" "$(our_stacks kept)"
}

# begin_recorder NAME OPTION...: of the held process; returns when it records, which it says by the FIFO NAME.ack.
begin_recorder()
{
	local name=$1 said

	shift
	mkfifo "$name.control" "$name.ack"
	"$PSTAT" record -q -o "$name" -p $held --control "fifo:$name.control,$name.ack" "$@" &
	exec 7<>"$name.control" 8<>"$name.ack"
	echo ping >&7
	read -r said <&8
	exec 7>&- 8>&-
	same "$name records" ack "$said"
}

# The other recorder's events have build-ids in their maps, these have not; the kernel marks both, which the file does
# not show. Both record this program alone: else perf's recordings of other tests would have these marks meanwhile, at
# which perf aborts.
test_beside_build_ids()
{
	local held

	write_program
	mkfifo go
	bash -c 'read -r <"$1"; exec ./deep' gate "$PWD/go" &
	held=$!
	begin_recorder live -N "${faults[@]}" --call-graph dwarf
	begin_recorder beside -e cpu-clock:u --buildid-mmap
	echo >go
	wait
	same "as they were" "$(true_stacks)" "$(our_stacks live)"
	! command -v perf >/dev/null || check "perf reads it" perf script -i live
}

test_ends_are_told()
{
	write_program
	record_deep short --call-graph dwarf,1024
	check "cut: $(said cut)" [ "$(said cut)" -gt 5 ]
	has "what to do" 'larger copies .--call-graph dwarf,65528.' "$err"
	run "$PSTAT" report -g none -i short
	has "report says so, too" 'stacks are incomplete .*the copy of the stack was too short' "$err"
	has "and what to do" '--call-graph dwarf,SIZE' "$err"
	record_deep limited --call-graph dwarf --max-stack 5
	check "limited: $(said "with more frames")" [ "$(said "with more frames")" -gt 5 ]
	run "$PSTAT" report -g none -i limited
	has "limited: report says so" 'more frames than are shown' "$err"
	! command -v perf >/dev/null || check "perf reads it" perf script -i short
}

# A caller is never where no code is: the chain ends before it, however it was recorded. Code that was made meanwhile is
# code; and of what ran before nobody knows all maps.
test_no_code()
{
	local what how ends

	cat >stray.c <<'C'
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#define APART __attribute__((noinline, noclone))
static volatile long sink;
static long data[8];
APART void burn(void)
{
	struct timespec t;

	do {
		for (long i = 0; i < 20000; i++)
			sink += i;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	} while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < 60);
}
/* Meanwhile its caller is at another address. */
APART void below(void *address)
{
	void *volatile *frame = __builtin_frame_address(0), *caller = frame[1];

	frame[1] = address;
	burn();
	frame[1] = caller;
}
static void *code(int prot)
{
	char *page = mmap(NULL, 4096, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(page, 4096, PROT_READ | PROT_EXEC);
	return page + 16;
}
int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	below(!strcmp(what, "number") ? (void *)0x1234 : !strcmp(what, "kernel") ? (void *)-4096 :
	      !strcmp(what, "heap") ? malloc(100) : !strcmp(what, "data") ? data : !strcmp(what, "stack") ? &argc :
	      code(!strcmp(what, "made") ? PROT_READ | PROT_WRITE : PROT_READ | PROT_EXEC));
	return 0;
}
C
	"${CC:-cc}" -O1 -fno-omit-frame-pointer -o stray stray.c || fail "compiles"
	for how in fp dwarf dwarf,raw; do
		ends="stacks .*a caller's address is not in any code"
		[ $how != fp ] || ends='user callchains do not reach the start'
		for what in number kernel heap data stack; do
			"$PSTAT" record -N -q -F 2000 -e cpu-clock:u --call-graph $how -o x -- ./stray $what >said 2>&1
			run "$PSTAT" report -i x --folded
			has "$how, $what: it ends there" '^stray;below;burn ' "$out"
			has "$how, $what: as report says" "$ends" "$err"
		done
		for what in mapped made; do
			"$PSTAT" record -N -q -F 2000 -e cpu-clock:u --call-graph $how -o x -- ./stray $what >said 2>&1
			run "$PSTAT" report -i x --folded
			has "$how, $what: it goes on" '^stray;.*;\[JIT\] tid [0-9]+;below;burn ' "$out"
			# By frame pointers a few samples of the program's start may lead anywhere.
			has_not "$how, $what: nothing is missing" '[0-9]{2,}\.[0-9] %.*(any code|do not reach)' "$err"
		done
	done
	run "$PSTAT" record -N -F 2000 -e cpu-clock:u --call-graph dwarf -o x -- ./stray number
	has "record says so, too" 'broken \([0-9]+ where there is no code' "$err"
	"$PSTAT" record -N -q -F 2000 -e cpu-clock:u -g --no-inherit -o x -- ./stray data >said 2>&1
	has "where maps may be missing it goes on" '^stray;.*;\[unknown\];below;burn ' "$("$PSTAT" report -i x --folded)"
	"$PSTAT" record -N -q -F 2000 -e cpu-clock:u -g -o x -- ./stray data >said 2>&1
	has "script has what was recorded" '\[unknown\]' "$("$PSTAT" script -i x)"
}

# What a kernel event interrupts: the kernel's frames, then the user's.
test_kernel_part()
{
	need_root
	need_tracefs
	cat >ask.c <<'C'
#include <unistd.h>
#include <sys/syscall.h>
__attribute__((noinline, noclone)) long ask(void) { return syscall(SYS_getppid) + 1; }
int main(void)
{
	long sum = 0;

	for (int i = 0; i < 50; i++)
		sum += ask();
	return sum == 0;
}
C
	"${CC:-cc}" -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -o ask ask.c 2>cc_err || fail "compiles"
	run "$PSTAT" record -N -o x -e syscalls:sys_enter_getppid --call-graph dwarf -- ./ask
	same "status" 0 "$status"
	run "$PSTAT" script -i x -F ip,sym
	same "user frames behind the kernel's" 50 "$(printf '%s\n' "$out" | grep -cw ask)"
	same "and main" 50 "$(printf '%s\n' "$out" | grep -cw main)"
}

# A library that comes, goes, and is deleted while it is mapped.
test_deleted_library()
{
	need_root
	cat >plug.c <<'C'
extern void (*called)(void);
__attribute__((noinline, noclone)) void plugged(void) { called(); __asm__ volatile(""); }
C
	cat >host.c <<'C'
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
static char *room;
static long page, at;
static volatile int sink;
__attribute__((noinline, noclone)) void touch_one(void) { room[at++ * page] = 1; sink++; }
void (*called)(void) = touch_one;
int main(int argc, char **argv)
{
	void *plug = dlopen(argv[1], RTLD_NOW);
	void (*plugged)(void) = plug ? (void (*)(void))dlsym(plug, "plugged") : NULL;

	page = sysconf(_SC_PAGESIZE);
	room = mmap(NULL, (size_t)page * 64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(room, (size_t)page * 64, MADV_NOHUGEPAGE);
	unlink(argv[1]);
	for (int i = 0; i < 30; i++)
		plugged();
	if (argc > 2)
		close(open(argv[2], O_RDONLY));
	return 0;
}
C
	"${CC:-cc}" -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -shared -fPIC -o plug.so plug.c 2>cc_err &&
		"${CC:-cc}" -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -rdynamic -o host host.c -ldl 2>cc_err ||
		fail "compiles" "$(<cc_err)"
	recorded_until 30 ./host ./plug.so go
	same "status" 0 "$status"
	has "nothing is lost" ", 0 lost," "$err"
	run "$PSTAT" script -i x -F ip,sym
	same "callers of a deleted library" 30 \
		"$(printf '%s\n' "$out" | awk '$2 == "touch_one" { n = 3 } n && n-- && $2 == "main" { found++ } END { print found + 0 }')"
}

# A file that is nowhere but in the mount namespace of its process, and gone when that ends.
test_mount_namespace()
{
	need_mount
	write_program
	mkdir inside
	mv deep inside.deep
	cat >within <<-'SH'
		mount -t tmpfs none inside && cp inside.deep inside/deep && exec inside/deep go
	SH
	recorded_until 60 "${own_mounts[@]}" bash within
	same "status" 0 "$status"
	has "nothing is lost" ", 0 lost," "$err"
	check_not "it is gone" [ -e inside/deep ]
	cp inside.deep inside/deep
	same "all stacks are whole" "$(true_stacks)" "$(our_stacks x)"
}

# Where nothing says where callers are, the sample is there with what is known.
test_no_tables()
{
	write_program -fno-asynchronous-unwind-tables -fno-unwind-tables
	record_deep bare --call-graph dwarf
	check "broken: $(said broken)" [ "$(said broken)" -ge 60 ]
	has "why" '[0-9]+ broken \([0-9]+ in code without tables\)' "$err"
	run "$PSTAT" script -i bare -F ip,sym
	same "none is lost" 60 \
		"$(printf '%s\n' "$out" | awk 'first && $2 == "touch_one" { n++ } { first = !NF } END { print n + 0 }')"
	run "$PSTAT" report -g none -i bare
	has "report tells it" 'code without unwind tables or frame pointers' "$err"
}

# Where frame pointers are all there is, a chain whose next frame is not in the copy is cut, not broken, and marked as a
# guess all the same.
test_frame_pointers_beyond_the_copy()
{
	write_program -O0 -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-omit-frame-pointer
	for kind in dwarf,1024 dwarf,raw,1024; do
		record_deep "short" --call-graph "$kind"
		if [ "$kind" = dwarf,1024 ]; then
			check "cut: $(said cut)" [ "$(said cut)" -ge 40 ]
			check "not broken: $(said broken)" [ "$(said broken)" -le 5 ]
			check "guesses: $(said "by frame pointers in part")" [ "$(said "by frame pointers in part")" -ge 60 ]
			has "what to do" 'larger copies .--call-graph dwarf,65528.' "$err"
		fi
		run "$PSTAT" report -g none -i short
		has "$kind: report: why" '\([0-9.]* %: the copy of the stack was too short' "$err"
		has "$kind: report: what to do" 'record more of it: --call-graph dwarf,SIZE' "$err"
		has "$kind: report: guesses" '(4|5|6|7|8|9|10)[0-9]+\.[0-9] % of [0-9]+ stacks have callers found by frame pointers' "$err"
	done
	record_deep long --call-graph dwarf,16384
	same "longer copies: all stacks are whole" "$(true_stacks)" "$(our_stacks long)"
	check "longer copies: cut: $(said cut)" [ "$(said cut)" -le 5 ]
}

# A stack may lie in the program's own data. The file knows only what was there at first: what is not in the copy is not
# taken from there, and no chain that ends in such zeros is a whole one.
test_stack_in_data()
{
	write_program
	sed -i 's/^int main(int argc.*/#include <ucontext.h>\nstatic ucontext_t here, there;\nstatic char stack[1 << 20] = { 1 };\n&/
		s/^\twork();/\tgetcontext(\&there);\n\tthere.uc_stack.ss_sp = stack;\n\tthere.uc_stack.ss_size = sizeof(stack);\n\tthere.uc_link = \&here;\n\tmakecontext(\&there, work, 0);\n\tswapcontext(\&here, \&there);/' deep.c
	"${CC:-cc}" -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -o deep deep.c 2>cc_err || skip "needs coroutines of the C library"
	record_deep short --call-graph dwarf,1024
	check "cut: $(said cut)" [ "$(said cut)" -ge 40 ]
	record_deep long --call-graph dwarf,16384
	same "longer copies: all stacks are whole" "$(true_stacks)" "$(our_stacks long)"
	check "and complete, where glibc made them: $(said complete)" [ "$(said complete)" -ge 60 ]
}

# What a handler interrupted has another stack, of which nothing is copied: larger copies don't help. As far away as
# the kernel chose, and so near that the distance alone could be a copy that was too short.
test_handler_on_its_own_stack()
{
	local where

	for where in NULL '(char *)__builtin_frame_address(0) - (512 << 20)'; do
		write_program
		sed -i 's/^int main(int argc.*/#include <signal.h>\nstatic void handle(int number) { (void)number; work(); }\n&/
			s/^\twork();/\tstack_t own = { .ss_sp = mmap('"$where"', 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), .ss_size = 1 << 20 };\n\tstruct sigaction how = { .sa_handler = handle, .sa_flags = SA_ONSTACK };\n\tsigaltstack(\&own, 0);\n\tsigaction(SIGUSR1, \&how, 0);\n\traise(SIGUSR1);/' deep.c
		"${CC:-cc}" -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -o deep deep.c || fail "compiles"
		record_deep own --call-graph dwarf,16384
		same "$where: the handler's part is whole" "$(true_stacks)" "$(our_stacks own)"
		has "$where: it is told" 'cut .([0-9] without any copy, )?[6-9][0-9] below signal handlers with stacks of their own' "$err"
		has_not "$where: nothing helps" '^  larger copies' "$err"
		run "$PSTAT" report -g none -i own
		has "$where: report tells it" 'a signal handler had a stack of its own, and the other one was not copied' "$err"
		has_not "$where: and nothing to do" 'record more' "$err"
	done
}

# The first code of a process without tables: its callers are those that frame pointers tell, and it has none itself.
# What lies close behind it is no outermost function.
test_first_code()
{
	[ "$(uname -m)" = x86_64 ] || skip "needs x86-64"
	cat >first.c <<'C'
__asm__(".globl _start\n_start: xor %ebp,%ebp\n\tcall outer\n\tmov $60,%eax\n\txor %edi,%edi\n\tsyscall\n"
	"outer: push %rbp\n\tmov %rsp,%rbp\n\tcall inner\n\tpop %rbp\n\tret\n"
	"inner: push %rbp\n\tmov %rsp,%rbp\n\tlea room(%rip),%rax\n\tmov $60,%ecx\n"
	"1: movb $1,(%rax)\n\tadd $4096,%rax\n\tdec %ecx\n\tjnz 1b\n\tpop %rbp\n\tret\n"
	".bss\n.balign 4096\nroom: .zero 4096*64\n.text\n");
C
	"${CC:-cc}" -nostdlib -static -o deep first.c 2>cc_err || skip "needs static programs without a C library"
	record_deep first --call-graph dwarf
	check "complete: $(said complete)" [ "$(said complete)" -ge 60 ]
	check "as guesses: $(said "by frame pointers in part")" [ "$(said "by frame pointers in part")" -ge 60 ]
	run "$PSTAT" script -i first -F ip,sym
	same "inner, outer, _start" 60 "$(awk '{ print $2 }' <<<"$out" | tr '\n' ' ' |
		grep -o 'inner outer _start ' | wc -l)"
}

# A program that is written over where it lies has the same inode, and other tables: by which nothing is unwound that was
# sampled before. A file's time is that of the kernel's last tick, of which there are 100 a second or more. Neither has
# a build-id: with one, the names of both would hang on when the recorder has read it.
test_written_in_place()
{
	write_program -Wl,--build-id=none
	cp deep before
	sed -i 's/pad\[200\]/pad[1000]/' deep.c
	"${CC:-cc}" -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -Wl,--build-id=none -o behind deep.c ||
		fail "compiles"
	same "their functions are at the same places" "$(nm before | grep ' T ')" "$(nm behind | grep ' T ')"
	cat >both <<-'SH'
		cat before >deep && ./deep && sleep 0.02 && cat behind >deep && ./deep
	SH
	run "$PSTAT" record -N -o both.data -m 32M "${faults[@]}" --call-graph dwarf,32768 -- sh both
	[ "$(id -u)" -eq 0 ] || run "$PSTAT" record -N -o both.data "${faults[@]}" --call-graph dwarf,32768 -- sh both
	same "both programs run" 0 "$status"
	same "no stack is a wrong one" "$(true_stacks | sed 's/ [0-9]*$//')" "$(our_stacks both.data | sed 's/ [0-9]*$//')"
	check "those of the second are there" [ "$(our_stacks both.data | awk '$2 < 3' | wc -l)" -eq 0 ]
	run "$PSTAT" script -i both.data -F ip,sym
	same "none is lost" 120 "$(awk 'first && $2 == "touch_one" { n++ } { first = !NF } END { print n + 0 }' <<<"$out")"
}

# take_debug FILE: the tables of ./deep, and all else that is for debuggers, go to FILE; ./whole is what it was.
take_debug()
{
	cp deep whole
	objcopy --only-keep-debug deep "$1" && strip deep && [ "$(readelf -S deep | grep -c debug_frame)" -eq 0 ] ||
		fail "debug information is taken out"
}

bare=(-g -fno-asynchronous-unwind-tables -fno-unwind-tables)

# Tables that are in a debug file alone, which the file's link leads to.
test_debug_link()
{
	need_cmd objcopy
	for id in none sha1; do
		write_program "${bare[@]}" -Wl,--build-id=$id
		take_debug deep.debug
		objcopy --add-gnu-debuglink=deep.debug deep
		rm -rf .debug
		record_deep beside --call-graph dwarf
		same "beside it, build-id $id" "$(true_stacks)" "$(our_stacks beside)"
		nearly_all_are_complete
		record_deep raw --call-graph dwarf,raw
		same "as report unwinds them" "$(our_stacks raw)" "$(our_stacks beside)"
		# The link is to a file of the file's own name.
		mkdir .debug
		mv deep.debug .debug/deep
		cp whole deep && strip deep && (cd .debug && objcopy --add-gnu-debuglink=deep ../deep)
		record_deep below --call-graph dwarf
		same "in a folder below, build-id $id" "$(true_stacks)" "$(our_stacks below)"
	done
}

# The same, packed as GNU's tools once did it: .zdebug_frame.
test_debug_link_packed_as_once()
{
	need_cmd objcopy
	write_program "${bare[@]}" -gz=zlib-gnu
	has "it is packed" 'zdebug_frame' "$(readelf -SW deep)"
	record_deep within --call-graph dwarf
	same "in the file itself" "$(true_stacks)" "$(our_stacks within)"
	take_debug deep.debug
	objcopy --add-gnu-debuglink=deep.debug deep
	record_deep beside --call-graph dwarf
	same "beside it" "$(true_stacks)" "$(our_stacks beside)"
	record_deep raw --call-graph dwarf,raw
	same "as report unwinds them" "$(our_stacks raw)" "$(our_stacks beside)"
}

# By its build-id in a folder that only the process has, or only the recorder.
test_debug_build_id()
{
	need_mount
	need_cmd objcopy
	[ -d /usr/lib/debug ] || skip "needs /usr/lib/debug"
	write_program "${bare[@]}" -Wl,--build-id=sha1
	take_debug tables
	id=$(readelf -n deep | sed -n 's/.*Build ID: //p')
	cat >within <<-SH
		mount -t tmpfs none /usr/lib/debug && mkdir -p /usr/lib/debug/.build-id/${id:0:2} &&
			cp tables /usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug && exec "\$@"
	SH
	recorded_until 60 "${own_mounts[@]}" bash within ./deep go
	same "status" 0 "$status"
	mv deep stripped && cp whole deep
	same "the process's folder" "$(true_stacks)" "$(our_stacks x)"
	mv stripped deep
	run "${own_mounts[@]}" bash within "$PSTAT" record -N -o x "${faults[@]}" --call-graph dwarf -- ./deep
	same "status" 0 "$status"
	cp whole deep
	same "the recorder's folder" "$(true_stacks)" "$(our_stacks x)"
}

# A debug file of another build would lead anywhere: it is as if it were not there.
test_debug_file_of_another_build()
{
	need_cmd objcopy
	for id in none sha1; do
		write_program "${bare[@]}" -Wl,--build-id=$id
		take_debug deep.debug
		objcopy --add-gnu-debuglink=deep.debug deep
		cp deep linked
		rm deep.debug
		record_deep without --call-graph dwarf
		broken=$(said broken)
		check "none there, build-id $id: $broken are broken" [ "$broken" -ge 60 ]
		sed -i 's/pad\[200\]/pad[600]/' deep.c
		"${CC:-cc}" -O1 -fomit-frame-pointer -fno-optimize-sibling-calls "${bare[@]}" -Wl,--build-id=$id \
			-o deep deep.c 2>cc_err || fail "compiles" "$(<cc_err)"
		objcopy --only-keep-debug deep deep.debug
		mv linked deep
		record_deep other --call-graph dwarf
		# What breaks in the C library at the start depends on which of its pages are there.
		check "one of another build: as many: $(said broken)" [ $((($(said broken) - broken) / 20)) -eq 0 ]
		has "why" '[0-9]+ broken \([0-9]+ in code without tables\)' "$err"
		run "$PSTAT" report -g none -i other
		has "report tells it" 'code without unwind tables or frame pointers' "$err"
		cp whole deep
		same "the same stacks" "$(our_stacks without)" "$(our_stacks other)"
	done
}

# A process that runs until it is killed, in $pid: `spin` below `around`.
begin_spin()
{
	cat >spin.c <<'C'
__attribute__((noinline, noclone)) void spin(void) { for (volatile long i = 0; i < 1000000; i++) ; }
__attribute__((noinline, noclone)) void around(void) { spin(); __asm__ volatile(""); }
int main(void) { for (;;) around(); }
C
	"${CC:-cc}" -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -o spin spin.c 2>cc_err || fail "compiles"
	./spin &
	pid=$!
	until [[ $(readlink /proc/$pid/exe) = */spin ]]; do kill -0 $pid || return; done
}

# What is in the file when the recorder is killed is good.
test_killed()
{
	begin_spin
	"$PSTAT" record -N -q -o x -e cpu-clock:u -F 2000 --call-graph dwarf -p $pid 2>said &
	recorder=$!
	for ((i = 0; i < 600; i++)); do
		[ "$("$PSTAT" script -i x -F ip,sym 2>/dev/null | grep -c spin)" -gt 200 ] && break
		sleep 0.1
	done
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	kill $pid
	run "$PSTAT" script -i x -F ip,sym
	same "it can be read" 0 "$status"
	n=$(printf '%s\n' "$out" | grep -cw spin)
	check "samples: $n" [ "$n" -gt 200 ]
	check "each in its place" [ "$(printf '%s\n' "$out" | grep -cw around)" -ge "$n" ]
}

test_top()
{
	begin_spin
	"$PSTAT" top -p $pid -d 1 -e cpu-clock:u --call-graph dwarf >tables 2>said </dev/null &
	top=$!
	for ((i = 0; i < 600; i++)); do
		grep -q around tables && break
		sleep 0.1
	done
	kill -INT $top
	wait $top
	kill $pid
	has "the caller is below the function" '-around$' "$(<tables)"
}

run_tests
