/*
 * jitdump: jit-PID.dump, which run-time compilers write with their code in it. Numbers are of the writer's
 * byte order:
 *
 *	header  u32 "JiTD" | u32 version | u32 size | u32 machine | u32 0 | u32 pid | u64 time | u64 flags (1: the
 *	        times are the CPU's counter, not CLOCK_MONOTONIC)
 *	record  u32 id | u32 size | u64 time | body
 *	 0 load  u32 pid | u32 tid | u64 vma | u64 addr | u64 code size | u64 index | name, NUL | code
 *	 1 move  u32 pid | u32 tid | u64 vma | u64 old addr | u64 new addr | u64 code size | u64 index
 *	 3 close
 *
 * Other records are passed over. Records lie in the order of time, so a later one lies over earlier ones. A file
 * that ends within a record is a program that was killed: what came before counts.
 *
 * Source: tools/perf/Documentation/jitdump-specification.txt.
 */
#include "sym/code_ranges.h"
#include "sym/code_times.h"

#include <byteswap.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	MAGIC = 0x4a695444,
	VERSION = 1,
	HEADER_BYTES = 40,
	RECORD_BYTES = 16,
	LOAD_BYTES = 40,
	MOVE_BYTES = 48,
	NAME_BYTES_MAX = 64 << 10,
	CODE_LOAD = 0,
	CODE_MOVE = 1,
	CODE_CLOSE = 3,
	ARCH_TIMESTAMP = 1,
};

struct jit_code {
	uint64_t code; /* the compiler's index */
	uint32_t latest; /* its latest range */
};

struct jitdump {
	FILE *in;
	bool swap, too_much;
	struct code_times *times; /* NULL: not wanted, or of another clock */
	uint64_t time_ns; /* of the record */
	struct code_ranges ranges;
	struct index by_code; /* of the codes below */
	struct jit_code *codes;
	size_t n_codes, cap_codes;
	char *name; /* room for one */
};

static uint32_t get_u32(const struct jitdump *dump, const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return dump->swap ? bswap_32(value) : value;
}

static uint64_t get_u64(const struct jitdump *dump, const unsigned char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return dump->swap ? bswap_64(value) : value;
}

/* false: it has been too much. */
static bool spend(struct jitdump *dump, size_t bytes)
{
	dump->too_much |= !code_ranges_spend(&dump->ranges, bytes);
	return !dump->too_much;
}

static struct jit_code *find_code(struct jitdump *dump, uint64_t code)
{
	uint64_t hash = hash_word(code);
	uint32_t i;

	if (INDEX_FIND(&dump->by_code, hash, i, dump->codes[i].code == code))
		return &dump->codes[i];
	return NULL;
}

static void note_time(struct jitdump *dump, enum code_event_kind kind, const struct code_range *range)
{
	const struct code_event event = {
		.time_ns = dump->time_ns, .start = range->start, .end = range->end, .name = range->name,
		.bytes_at = range->bytes_at, .kind = kind
	};

	if (dump->times)
		code_times_add(dump->times, &event);
}

/* The range added last is now the code's. */
static void set_latest(struct jitdump *dump, uint64_t code)
{
	struct jit_code *known = find_code(dump, code);

	if (!known) {
		VEC_GROW(dump->codes, dump->n_codes, dump->cap_codes);
		index_add(&dump->by_code, hash_word(code), (uint32_t)dump->n_codes);
		known = &dump->codes[dump->n_codes++];
		known->code = code;
	}
	known->latest = (uint32_t)(dump->ranges.n - 1);
	note_time(dump, CODE_LOADED, &dump->ranges.v[known->latest]);
}

/* left: bytes of the record behind its head; end: where in the file it ends, the code last. */
static bool read_load(struct jitdump *dump, uint64_t left, uint64_t end)
{
	unsigned char body[LOAD_BYTES];
	uint64_t size;
	size_t n;

	if (left < LOAD_BYTES || fread(body, LOAD_BYTES, 1, dump->in) != 1)
		return false;
	left -= LOAD_BYTES;
	size = get_u64(dump, body + 24);
	if (size > left)
		return false;
	n = left - size < NAME_BYTES_MAX ? (size_t)(left - size) : NAME_BYTES_MAX;
	if (fread(dump->name, 1, n, dump->in) != n || !spend(dump, strnlen(dump->name, n)))
		return false;
	if (!code_ranges_add(&dump->ranges, get_u64(dump, body + 16), size, dump->name, n))
		return true;
	/* The name may be padded, or cut above: the code is what the record ends with. */
	dump->ranges.v[dump->ranges.n - 1].bytes_at = end - size;
	set_latest(dump, get_u64(dump, body + 32));
	return true;
}

static bool read_move(struct jitdump *dump, uint64_t left)
{
	unsigned char body[MOVE_BYTES];
	const struct jit_code *known;
	struct code_ranges *ranges = &dump->ranges;
	struct code_range before;

	if (left < MOVE_BYTES || fread(body, MOVE_BYTES, 1, dump->in) != 1)
		return false;
	known = find_code(dump, get_u64(dump, body + 40));
	if (!known)
		return true;
	before = ranges->v[known->latest];
	if (code_ranges_add_again(ranges, get_u64(dump, body + 24), get_u64(dump, body + 32), &before)) {
		note_time(dump, CODE_MOVED_AWAY, &before);
		set_latest(dump, known->code);
	}
	return true;
}

/* false: the end, or what follows can't be read. */
static bool read_record(struct jitdump *dump)
{
	static const struct code_range everything = { .start = 0, .end = UINT64_MAX };
	unsigned char head[RECORD_BYTES];
	off_t start = ftello(dump->in);
	uint32_t id, size;
	bool good = true;

	if (start < 0 || fread(head, RECORD_BYTES, 1, dump->in) != 1 || !spend(dump, 0))
		return false;
	id = get_u32(dump, head);
	size = get_u32(dump, head + 4);
	if (size < RECORD_BYTES)
		return false;
	dump->time_ns = get_u64(dump, head + 8);
	if (id == CODE_LOAD)
		good = read_load(dump, size - RECORD_BYTES, (uint64_t)start + size);
	else if (id == CODE_MOVE)
		good = read_move(dump, size - RECORD_BYTES);
	else if (id == CODE_CLOSE)
		note_time(dump, CODE_CLOSED, &everything);
	return good && !fseeko(dump->in, start + (off_t)size, SEEK_SET);
}

static int read_header(struct jitdump *dump, const char *path, int32_t pid, unsigned char head[HEADER_BYTES],
		       struct str *err)
{
	uint32_t size;

	if (fread(head, HEADER_BYTES, 1, dump->in) != 1)
		return fail(err, -EINVAL, "%s: too short for a jitdump file", path);
	dump->swap = get_u32(dump, head) == bswap_32(MAGIC);
	size = get_u32(dump, head + 8);
	if (get_u32(dump, head) != MAGIC || size < HEADER_BYTES)
		return fail(err, -EINVAL, "%s: not a jitdump file", path);
	if (get_u32(dump, head + 4) != VERSION)
		return fail(err, -ENOTSUP, "%s: jitdump version %u is not known", path,
			    get_u32(dump, head + 4));
	if (pid && get_u32(dump, head + 20) != (uint32_t)pid)
		return fail(err, -EINVAL, "%s: of process %u, by its header", path,
			    get_u32(dump, head + 20));
	if (get_u64(dump, head + 32) & ARCH_TIMESTAMP)
		dump->times = NULL;
	if (fseeko(dump->in, (off_t)size, SEEK_SET))
		return fail(err, -errno, "%s: %s", path, strerror(errno));
	return 0;
}

static int open_dump(struct jitdump *dump, const char *path, const struct code_rules *rules, struct str *err)
{
	struct stat st;
	int rc, fd = code_file_open(path, rules, 0, &st, err);

	if (fd < 0)
		return fd;
	dump->in = fdopen(fd, "r");
	if (dump->in)
		return 0;
	rc = fail(err, -errno, "%s: %s", path, strerror(errno));
	close(fd);
	return rc;
}

/* All of its records, into dump->ranges; closes it. */
static int read_dump(struct jitdump *dump, const char *path, struct code_rules *rules, struct str *err)
{
	unsigned char head[HEADER_BYTES];
	int rc;

	dump->name = xmalloc(NAME_BYTES_MAX);
	dump->ranges.work_left = rules->work_left;
	rc = read_header(dump, path, rules->pid, head, err);
	while (!rc && read_record(dump))
		continue;
	if (dump->too_much)
		fail(err, 0, "%s: it has too many records: those behind its first %zu functions are left out",
		     path, dump->ranges.n);
	rules->work_left = dump->ranges.work_left;
	fclose(dump->in);
	return rc;
}

static void forget_dump(struct jitdump *dump)
{
	code_ranges_release(&dump->ranges);
	index_release(&dump->by_code);
	free(dump->codes);
	free(dump->name);
}

/* The names of the ranges will be in the table's, behind what is there by now. */
static void shift_names(struct code_times *times, size_t by)
{
	for (size_t i = 0; i < times->n; i++)
		times->v[i].name += (uint32_t)by;
}

int jitdump_read(const char *path, struct code_rules *rules, struct symbol_table *table,
		 struct code_times *times, struct str *err)
{
	struct jitdump dump = { .ranges = CODE_RANGES_INIT, .times = times };
	int rc = open_dump(&dump, path, rules, err);

	if (rc)
		return rc;
	rc = read_dump(&dump, path, rules, err);
	if (dump.times)
		shift_names(dump.times, table->names.len);
	code_ranges_flatten(&dump.ranges, table);
	if (dump.times && !table->n) /* nothing was added, the names neither */
		code_times_release(dump.times);
	forget_dump(&dump);
	return rc;
}

bool jitdump_place(const char *path, struct code_rules *rules, uint64_t addr, struct dump_place *place,
		   struct str *err)
{
	struct jitdump dump = { .ranges = CODE_RANGES_INIT };
	const struct code_range *range = NULL;

	if (open_dump(&dump, path, rules, err))
		return false;
	if (!read_dump(&dump, path, rules, err))
		for (size_t i = dump.ranges.n; i-- && !range;)
			if (addr >= dump.ranges.v[i].start && addr < dump.ranges.v[i].end)
				range = &dump.ranges.v[i];
	if (range)
		*place = (struct dump_place){ range->start, range->end, range->bytes_at };
	forget_dump(&dump);
	return range;
}

int jitdump_code(const char *path, const struct code_rules *rules, const struct dump_place *place, uint64_t addr,
		 struct symbol_code *out, struct str *err)
{
	struct jitdump dump = { .ranges = CODE_RANGES_INIT };
	uint64_t left = place->end - addr, at = place->bytes_at + (addr - place->start);
	unsigned char head[HEADER_BYTES];
	int rc = open_dump(&dump, path, rules, err);

	if (rc)
		return rc;
	rc = read_header(&dump, path, rules->pid, head, err);
	if (!rc && fseeko(dump.in, (off_t)at, SEEK_SET))
		rc = fail(err, -errno, "%s: %s", path, strerror(errno));
	if (!rc) {
		out->n = fread(out->bytes, 1, left < out->n ? (size_t)left : out->n, dump.in);
		out->machine = (uint16_t)get_u32(&dump, head + 12);
	}
	if (!rc && !out->n)
		rc = fail(err, -ENODATA, "%s: it ends before the code", path);
	fclose(dump.in);
	forget_dump(&dump);
	return rc;
}
