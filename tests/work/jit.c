/*
 * A run-time compiler whose code is known: two functions of machine code, jit_two_thirds and jit_one_third,
 * run in turn, 2 to 1 in time. It tells profilers of them as compilers do, by its pid as it sees it:
 *
 *	jit map [PREFIX]    /tmp/perf-PID.map
 *	jit dump [PREFIX]   jit-PID.dump in $JITDUMPDIR, else where it was started; mapped, so that records name it
 *	jit again           a dump that changes, for five equally long parts, then it ends: see again()
 *	jit native          neither: it runs native_spin, which main calls through native_caller
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
#elif defined(__aarch64__)
enum { MACHINE = 183 };
/* movz w0, #0x10, lsl #16; 1: subs w0, w0, #1; b.ne 1b; ret */
static const uint8_t loop[] = { 0x00, 0x02, 0xa0, 0x52, 0x00, 0x04, 0x00, 0x71,
				0xe1, 0xff, 0xff, 0x54, 0xc0, 0x03, 0x5f, 0xd6 };
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

static FILE *write_dump(const uint8_t *code, const char *prefix)
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
	for (int i = 0; i < FUNCTIONS; i++)
		write_load(f, code, &functions[i], (uint64_t)i, prefix);
	if (fflush(f))
		die(path);
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

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "native", *prefix = argc > 2 ? argv[2] : "";
	const uint8_t *code = make_code();
	int native = !strcmp(how, "native");

	if (!strcmp(how, "again")) {
		again(code, write_dump(code, prefix));
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
