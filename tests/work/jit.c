/* SPDX-License-Identifier: MIT */
/*
 * A run-time compiler whose code is known: two functions of machine code, jit_two_thirds and jit_one_third,
 * run in turn, 2 to 1 in time. It tells profilers of them as compilers do, by its pid as it sees it:
 *
 *	jit map [PREFIX]    /tmp/perf-PID.map
 *	jit dump [PREFIX]   jit-PID.dump in $JITDUMPDIR, else where it was started; mapped, so that records name it
 *	jit again           a dump that changes, for five equally long parts, then it ends: see again()
 *	jit native          neither: it runs native_spin, which main calls through native_caller
 *	jit tree HOW        a dump of code without frame pointers, which has a place in a tree of calls: see tree()
 *
 * PREFIX stands in front of the names. Once it has told it prints "ready"; it runs until its standard input ends,
 * or its parts have.
 */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FRAME __attribute__((noinline))

enum { CODE_BYTES = 4096, ROUNDS = 1 << 20 };

#if defined(__x86_64__)
enum { MACHINE = 62 };
/* mov $ROUNDS, %ecx; 1: dec %ecx; jnz 1b; ret */
static const uint8_t loop[] = { 0xb9, 0, 0, 0x10, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };
/*
 * Two functions that call their argument, with %rbp 0 meanwhile, and their unwind tables:
 * push %rbp; xor %ebp, %ebp; [sub $32, %rsp;] call *%rdi; [add $32, %rsp;] pop %rbp; ret
 */
static const uint8_t small[] = { 0x55, 0x31, 0xed, 0xff, 0xd7, 0x5d, 0xc3 };
static const uint8_t large[] = { 0x55, 0x31, 0xed, 0x48, 0x83, 0xec, 0x20, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x20, 0x5d,
				 0xc3 };
enum { SMALL_CALL = 3, LARGE_CALL = 7 };
/* Version 1, "zR": addresses are relative, of 4 bytes; the CFA is %rsp + 8, the return address below it. */
static const uint8_t cie[] = { 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0 };
static const uint8_t small_rows[15] = { 0x41, 0x0e, 16, 0x86, 2, 0x45, 0x0e, 8, 0xc6 };
static const uint8_t large_rows[15] = { 0x41, 0x0e, 16, 0x86, 2, 0x46, 0x0e, 48, 0x46, 0x0e, 16, 0x41, 0x0e, 8, 0xc6 };
#elif defined(__aarch64__)
enum { MACHINE = 183 };
/* movz w0, #0x10, lsl #16; 1: subs w0, w0, #1; b.ne 1b; ret */
static const uint8_t loop[] = { 0x00, 0x02, 0xa0, 0x52, 0x00, 0x04, 0x00, 0x71,
				0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6 };
/*
 * Two functions that call their argument, with x29 0 meanwhile, and their unwind tables: sub sp, sp, #32 or #48;
 * stp x29, x30, [sp, #16]; mov x29, #0; blr x0; ldp x29, x30, [sp, #16]; add sp, sp, #32 or #48; ret
 */
static const uint8_t small[] = { 0xff, 0x83, 0x00, 0xd1, 0xfd, 0x7b, 0x01, 0xa9, 0x1d, 0x00, 0x80, 0xd2, 0x00, 0x00,
				 0x3f, 0xd6, 0xfd, 0x7b, 0x41, 0xa9, 0xff, 0x83, 0x00, 0x91, 0xc0, 0x03, 0x5f, 0xd6 };
static const uint8_t large[] = { 0xff, 0xc3, 0x00, 0xd1, 0xfd, 0x7b, 0x01, 0xa9, 0x1d, 0x00, 0x80, 0xd2, 0x00, 0x00,
				 0x3f, 0xd6, 0xfd, 0x7b, 0x41, 0xa9, 0xff, 0xc3, 0x00, 0x91, 0xc0, 0x03, 0x5f, 0xd6 };
enum { SMALL_CALL = 12, LARGE_CALL = 12 };
/* Version 1, "zR": addresses are relative, of 4 bytes; the CFA is sp, the return address in x30. */
static const uint8_t cie[] = { 1, 'z', 'R', 0, 4, 0x78, 30, 1, 0x1b, 0x0c, 31, 0, 0, 0, 0, 0 };
static const uint8_t small_rows[15] = { 0x41, 0x0e, 32, 0x41, 0x9d, 2, 0x9e, 1, 0x43, 0xdd, 0xde, 0x41, 0x0e, 0 };
static const uint8_t large_rows[15] = { 0x41, 0x0e, 48, 0x41, 0x9d, 4, 0x9e, 3, 0x43, 0xdd, 0xde, 0x41, 0x0e, 0 };
#else
#error "no code for this architecture"
#endif

struct function {
	const char *name;
	uint64_t offset;
};
static const struct function functions[] = { { "jit_two_thirds", 0 }, { "jit_one_third", 256 } };
enum { FUNCTION_BYTES = 256, FUNCTIONS = 2, ELSEWHERE = 512, PART_CALLS = 300 };

static volatile uint64_t sink;

FRAME static void native_spin(void)
{
	for (int i = 0; i < ROUNDS; i++)
		sink += (uint64_t)i;
}

FRAME static void native_caller(void)
{
	native_spin();
	sink++;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint8_t *make_code(void)
{
	uint8_t *code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		die("mmap");
	for (int i = 0; i < FUNCTIONS; i++)
		memcpy(code + functions[i].offset, loop, sizeof(loop));
	memcpy(code + ELSEWHERE, loop, sizeof(loop));
	__builtin___clear_cache((char *)code, (char *)code + CODE_BYTES);
	return code;
}

static void write_map(const uint8_t *code, const char *prefix)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "w");
	if (!f)
		die(path);
	for (int i = 0; i < FUNCTIONS; i++)
		fprintf(f, "%llx %x %s%s\n",
			(unsigned long long)(uintptr_t)(code + functions[i].offset), FUNCTION_BYTES,
			prefix, functions[i].name);
	if (fclose(f))
		die(path);
}

/* Source of the layout: tools/perf/Documentation/jitdump-specification.txt. */
struct dump_header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time_ns, flags;
};
struct dump_load {
	uint32_t id, size;
	uint64_t time_ns;
	uint32_t pid, tid;
	uint64_t vma, address, code_bytes, index;
};

struct dump_move {
	uint32_t id, size;
	uint64_t time_ns;
	uint32_t pid, tid;
	uint64_t vma, from, to, code_bytes, index;
};
struct dump_close {
	uint32_t id, size;
	uint64_t time_ns;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void write_load(FILE *f, const uint8_t *code, const struct function *function, uint64_t index,
		       const char *prefix)
{
	const uint8_t *at = code + function->offset;
	size_t name_bytes = strlen(prefix) + strlen(function->name) + 1;
	struct dump_load load = { .size = (uint32_t)(sizeof(load) + name_bytes + FUNCTION_BYTES),
				  .time_ns = now_ns(),
				  .pid = (uint32_t)getpid(),
				  .tid = (uint32_t)getpid(),
				  .vma = (uintptr_t)at,
				  .address = (uintptr_t)at,
				  .code_bytes = FUNCTION_BYTES,
				  .index = index };

	fwrite(&load, sizeof(load), 1, f);
	fprintf(f, "%s%s%c", prefix, function->name, 0);
	fwrite(at, FUNCTION_BYTES, 1, f);
}

/* A dump without functions. */
static FILE *begin_dump(void)
{
	const struct dump_header header = { .magic = 0x4a695444,
					    .version = 1,
					    .size = sizeof(header),
					    .machine = MACHINE,
					    .pid = (uint32_t)getpid(),
					    .time_ns = now_ns() };
	const char *dir = getenv("JITDUMPDIR");
	char path[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/jit-%d.dump", dir ? dir : ".", (int)getpid());
	f = fopen(path, "w+");
	if (!f)
		die(path);
	fwrite(&header, sizeof(header), 1, f);
	fflush(f);
	/* Not to be read: this is how a recording learns the path. */
	if (mmap(NULL, CODE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0) == MAP_FAILED)
		die("mmap");
	return f;
}

static FILE *write_dump(const uint8_t *code, const char *prefix)
{
	FILE *f = begin_dump();

	for (int i = 0; i < FUNCTIONS; i++)
		write_load(f, code, &functions[i], (uint64_t)i, prefix);
	if (fflush(f))
		die("dump");
	return f;
}

static void call(const uint8_t *code, const struct function *function)
{
	void (*entry)(void);
	const uint8_t *at = code + function->offset;

	memcpy(&entry, &at, sizeof(entry));
	entry();
}

static void call_for_a_part(const uint8_t *code, const struct function *function)
{
	for (int i = 0; i < PART_CALLS; i++)
		call(code, function);
}

/*
 * What is at one address in turn: jit_two_thirds; jit_second; jit_third, while jit_second is elsewhere. When both
 * have run, the compiler has ended, and what runs for the last part is nobody's.
 */
static void again(const uint8_t *code, FILE *f)
{
	static const struct function second = { "jit_second", 0 }, third = { "jit_third", 0 },
				     moved = { "jit_second", ELSEWHERE };
	struct dump_move move = { .id = 1, .size = sizeof(move), .pid = (uint32_t)getpid(), .tid = (uint32_t)getpid() };
	struct dump_close close = { .id = 3, .size = sizeof(close) };

	call_for_a_part(code, &functions[0]);
	write_load(f, code, &second, 2, "");
	call_for_a_part(code, &second);
	move.time_ns = now_ns();
	move.from = (uintptr_t)code;
	move.vma = move.to = (uintptr_t)(code + ELSEWHERE);
	move.code_bytes = FUNCTION_BYTES;
	move.index = 2;
	fwrite(&move, sizeof(move), 1, f);
	write_load(f, code, &third, 3, "");
	call_for_a_part(code, &moved);
	call_for_a_part(code, &third);
	close.time_ns = now_ns();
	fwrite(&close, sizeof(close), 1, f);
	call_for_a_part(code, &third);
	if (fclose(f))
		die("dump");
}

static int goes_on(void)
{
	struct pollfd in = { .fd = 0, .events = POLLIN };

	return !poll(&in, 1, 0);
}

/* ---- a tree of calls ---- */

struct dump_lines {
	uint32_t id, size;
	uint64_t time_ns, address, n;
};
struct dump_line {
	uint64_t address;
	uint32_t line, discriminator;
	char file[12];
} __attribute__((packed));
struct dump_unwind {
	uint32_t id, size;
	uint64_t time_ns, bytes, header_bytes, mapped_bytes;
	struct {
		uint32_t cie_bytes, cie_id;
		uint8_t cie[sizeof(cie)];
		uint32_t fde_bytes, fde_cie;
		int32_t start; /* from here to the code */
		uint32_t code_bytes;
		uint8_t augmentation, rows[15];
		uint32_t end, header[5];
	} __attribute__((packed)) tables;
};

/* Lines 10, 11 of the call, and 12. */
static void write_lines(FILE *f, const uint8_t *at, uint64_t call_at)
{
	const struct dump_lines lines = { 2, sizeof(lines) + 3 * sizeof(struct dump_line), now_ns(), (uintptr_t)at, 3 };
	const struct dump_line line[3] = { { (uintptr_t)at, 10, 0, "handler.src" },
					   { (uintptr_t)at + call_at, 11, 0, "handler.src" },
					   { (uintptr_t)at + call_at + 4, 12, 0, "handler.src" } };

	fwrite(&lines, sizeof(lines), 1, f);
	fwrite(line, sizeof(line), 1, f);
}

static void write_unwind(FILE *f, const uint8_t rows[15])
{
	struct dump_unwind unwind = { .id = 4, .size = sizeof(unwind), .time_ns = now_ns(),
				      .bytes = sizeof(unwind.tables), .header_bytes = sizeof(unwind.tables.header),
				      .mapped_bytes = sizeof(unwind.tables),
				      .tables = { .cie_bytes = 4 + sizeof(cie), .fde_bytes = 28, .fde_cie = 28,
						  .start = -(FUNCTION_BYTES + 8 + (int)sizeof(cie) + 8),
						  .code_bytes = FUNCTION_BYTES } };

	memcpy(unwind.tables.cie, cie, sizeof(cie));
	memcpy(unwind.tables.rows, rows, sizeof(unwind.tables.rows));
	fwrite(&unwind, sizeof(unwind), 1, f);
}

enum { TREE_CALLS = 20 };
static char *untouched;

/* Stores to a page that was not touched before: one page fault each, which is here. */
FRAME static void touch_one(void)
{
	*untouched = 1;
	untouched += sysconf(_SC_PAGESIZE);
	sink++;
}

FRAME static void grow_tree(const uint8_t *code)
{
	void (*entry)(void (*callee)(void));

	memcpy(&entry, &code, sizeof(entry));
	for (int i = 0; i < TREE_CALLS; i++)
		entry(touch_one);
	sink++;
}

/*
 * main > tree > grow_tree > jit_small > touch_one, 20 times. HOW its dump is: "tables": with lines and unwind table;
 * "bare": without; "late": with, when standard input ends after all has run; "again": with, and then jit_large is in
 * the same place.
 */
FRAME static void tree(uint8_t *code, const char *how)
{
	static const struct function first = { "jit_small", 0 }, second = { "jit_large", 0 };
	size_t bytes = 4 * TREE_CALLS * (size_t)sysconf(_SC_PAGESIZE);
	FILE *f = begin_dump();

	untouched = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (untouched == MAP_FAILED || setvbuf(f, NULL, _IOFBF, 1 << 20))
		die("tree");
	madvise(untouched, bytes, MADV_NOHUGEPAGE);
	memcpy(code, small, sizeof(small));
	__builtin___clear_cache((char *)code, (char *)code + sizeof(small));
	if (strcmp(how, "bare") != 0) {
		write_lines(f, code, SMALL_CALL);
		write_unwind(f, small_rows);
	}
	write_load(f, code, &first, 0, "");
	if (strcmp(how, "late") != 0)
		fflush(f);
	grow_tree(code);
	if (!strcmp(how, "again")) {
		memcpy(code, large, sizeof(large));
		__builtin___clear_cache((char *)code, (char *)code + sizeof(large));
		write_lines(f, code, LARGE_CALL);
		write_unwind(f, large_rows);
		write_load(f, code, &second, 1, "");
		fflush(f);
		grow_tree(code);
	}
	while (!strcmp(how, "late") && goes_on())
		poll(NULL, 0, 10);
	if (fclose(f))
		die("dump");
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "native", *prefix = argc > 2 ? argv[2] : "";
	uint8_t *code = make_code();
	int native = !strcmp(how, "native");

	if (!strcmp(how, "again")) {
		again(code, write_dump(code, prefix));
		return 0;
	}

	if (!strcmp(how, "tree")) {
		tree(code, prefix);
		return 0;
	}
	if (!strcmp(how, "map"))
		write_map(code, prefix);
	else if (!strcmp(how, "dump"))
		write_dump(code, prefix);
	puts("ready");
	fflush(stdout);
	while (goes_on()) {
		if (native) {
			native_caller();
			continue;
		}
		call(code, &functions[0]);
		call(code, &functions[0]);
		call(code, &functions[1]);
	}
	return 0;
}
