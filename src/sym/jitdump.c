/* SPDX-License-Identifier: MIT */
/*
 * jitdump.c: see jitdump.h. Numbers are of the writer's byte order:
 *
 *	header  u32 "JiTD" | u32 version | u32 size | u32 machine | u32 0 | u32 pid | u64 time | u64 flags (1: the
 *	        times are the CPU's counter, not CLOCK_MONOTONIC)
 *	record  u32 id | u32 size | u64 time | body
 *	 0 load    u32 pid | u32 tid | u64 vma | u64 addr | u64 code size | u64 index | name, NUL | code
 *	 1 move    u32 pid | u32 tid | u64 vma | u64 old addr | u64 new addr | u64 code size | u64 index
 *	 2 lines   u64 addr | u64 n | n of: u64 addr | u32 line | u32 discriminator | file, NUL ("\xff": as before)
 *	 3 close
 *	 4 unwind  u64 bytes | u64 of these in .eh_frame_hdr | u64 mapped | .eh_frame | .eh_frame_hdr
 *
 * Lines and unwind table come before the load of the code that they are about. Other records are passed over. Records
 * lie in the order of time, so a later one lies over earlier ones. A file that ends within a record is a program that
 * was killed, or writes: what came before counts.
 *
 * An unwind table is about addresses relative to where it stands, which is after the code, at the next multiple of 8.
 *
 * Source: tools/perf/Documentation/jitdump-specification.txt; for the place of the table tools/perf/util/genelf.c.
 */
#include "sym/jitdump.h"

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
	LINES_BYTES = 16,
	LINE_BYTES = 16, /* without the name of its file */
	UNWIND_BYTES = 24,
	NAME_BYTES_MAX = 64 << 10,
	LINES_BYTES_MAX = 16 << 20, /* of one code; more are left out */
	TABLE_BYTES_MAX = 1 << 20,
	ARCH_TIMESTAMP = 1,
};

struct jit_code {
	uint64_t code; /* the compiler's index */
	uint32_t latest; /* its latest range */
};

/* A dump while it is read. */
struct jit_reading {
	struct jitdump *dump;
	FILE *in;
	uint64_t end; /* bytes of the file */
	uint64_t time_ns; /* of the record */
	struct code_times *times; /* NULL: not wanted, or of another clock */
	size_t names; /* bytes of names that are not the dump's */
	char *name; /* room for one */
};

static uint32_t get_u32(const struct jitdump *dump, const void *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return dump->swap ? bswap_32(value) : value;
}

static uint64_t get_u64(const struct jitdump *dump, const void *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return dump->swap ? bswap_64(value) : value;
}

struct jitdump *jitdump_new(const char *path, const struct code_rules *rules)
{
	struct jitdump *dump = xcalloc(1, sizeof(*dump));

	dump->path = xstrdup(path);
	dump->rules = *rules;
	dump->ranges = (struct code_ranges)CODE_RANGES_INIT;
	str_init(&dump->lines);
	dump->lines_of = UINT32_MAX;
	return dump;
}

void jitdump_free(struct jitdump *dump)
{
	if (!dump)
		return;
	free(dump->path);
	code_ranges_release(&dump->ranges);
	index_release(&dump->by_code);
	free(dump->codes);
	free(dump->pieces);
	str_release(&dump->lines);
	free(dump);
}

/* ---- codes ---- */

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

static void note_time(const struct jit_reading *reading, enum code_event_kind kind, const struct code_range *range)
{
	const struct code_event event = {
		.time_ns = reading->time_ns, .start = range->start, .end = range->end,
		.name = (uint32_t)(range->name + reading->names), .piece = range->piece, .kind = kind
	};

	if (reading->times)
		code_times_add(reading->times, &event);
}

/* The range added last is now the code's. */
static void set_latest(const struct jit_reading *reading, uint64_t code)
{
	struct jitdump *dump = reading->dump;
	struct jit_code *known = find_code(dump, code);

	if (!known) {
		VEC_GROW(dump->codes, dump->n_codes, dump->cap_codes);
		index_add(&dump->by_code, hash_word(code), (uint32_t)dump->n_codes);
		known = &dump->codes[dump->n_codes++];
		known->code = code;
	}
	known->latest = (uint32_t)(dump->ranges.n - 1);
	note_time(reading, CODE_LOADED, &dump->ranges.v[known->latest]);
}

/* ---- records; left: bytes after a record's head, all of which are there ---- */

/* The range added last is of this new piece, and what waits is about it. */
static void add_piece(struct jitdump *dump, uint64_t bytes_at)
{
	struct code_range *range = &dump->ranges.v[dump->ranges.n - 1];
	struct jit_piece piece = dump->waiting;

	piece.loaded_at = range->start;
	piece.bytes_at = bytes_at;
	if (dump->waiting_lines_of < range->start || dump->waiting_lines_of >= range->end)
		piece.lines_bytes = 0;
	range->piece = (uint32_t)dump->n_pieces;
	VEC_GROW(dump->pieces, dump->n_pieces, dump->cap_pieces);
	dump->pieces[dump->n_pieces++] = piece;
}

/* at: where in the file the record's body begins. */
static bool read_load(const struct jit_reading *reading, uint64_t at, uint64_t left)
{
	struct jitdump *dump = reading->dump;
	unsigned char body[LOAD_BYTES];
	uint64_t end = at + left, size;
	bool added;
	size_t n;

	if (left < LOAD_BYTES || fread(body, LOAD_BYTES, 1, reading->in) != 1)
		return false;
	left -= LOAD_BYTES;
	size = get_u64(dump, body + 24);
	if (size > left)
		return false;
	n = left - size < NAME_BYTES_MAX ? (size_t)(left - size) : NAME_BYTES_MAX;
	if (fread(reading->name, 1, n, reading->in) != n || !spend(dump, strnlen(reading->name, n)))
		return false;
	added = code_ranges_add(&dump->ranges, get_u64(dump, body + 16), size, reading->name, n);
	if (added) {
		/* The name may be padded, or cut above: the code is what the record ends with. */
		add_piece(dump, end - size);
		set_latest(reading, get_u64(dump, body + 32));
	}
	dump->waiting = (struct jit_piece){ 0 };
	return true;
}

static bool read_move(const struct jit_reading *reading, uint64_t at, uint64_t left)
{
	struct jitdump *dump = reading->dump;
	unsigned char body[MOVE_BYTES];
	const struct jit_code *known;
	struct code_range before;

	(void)at;
	if (left < MOVE_BYTES || fread(body, MOVE_BYTES, 1, reading->in) != 1)
		return false;
	known = find_code(dump, get_u64(dump, body + 40));
	if (!known)
		return true;
	before = dump->ranges.v[known->latest];
	if (code_ranges_add_again(&dump->ranges, get_u64(dump, body + 24), get_u64(dump, body + 32), &before)) {
		note_time(reading, CODE_MOVED_AWAY, &before);
		set_latest(reading, known->code);
	}
	return true;
}

static bool read_close(const struct jit_reading *reading, uint64_t at, uint64_t left)
{
	static const struct code_range everything = { .start = 0, .end = UINT64_MAX };

	(void)at, (void)left;
	note_time(reading, CODE_CLOSED, &everything);
	return true;
}

static bool read_lines(const struct jit_reading *reading, uint64_t at, uint64_t left)
{
	struct jitdump *dump = reading->dump;
	unsigned char body[LINES_BYTES];

	if (left < LINES_BYTES || fread(body, LINES_BYTES, 1, reading->in) != 1)
		return left < LINES_BYTES;
	left -= LINES_BYTES;
	dump->waiting.lines_at = at + LINES_BYTES;
	dump->waiting.lines_bytes = left <= LINES_BYTES_MAX ? (uint32_t)left : 0;
	dump->waiting_lines_of = get_u64(dump, body);
	return true;
}

static bool read_unwind(const struct jit_reading *reading, uint64_t at, uint64_t left)
{
	struct jitdump *dump = reading->dump;
	unsigned char body[UNWIND_BYTES];
	uint64_t bytes, header;

	if (left < UNWIND_BYTES || fread(body, UNWIND_BYTES, 1, reading->in) != 1)
		return left < UNWIND_BYTES;
	left -= UNWIND_BYTES;
	bytes = get_u64(dump, body);
	header = get_u64(dump, body + 8);
	dump->waiting.unwind_bytes = 0;
	if (bytes > left || header > bytes || bytes - header > TABLE_BYTES_MAX)
		return true;
	dump->waiting.unwind_at = at + UNWIND_BYTES;
	dump->waiting.unwind_bytes = (uint32_t)(bytes - header);
	return true;
}

/* To add a record: its number here, its layout above. false: nothing after it can be read. */
static bool (*const readers[])(const struct jit_reading *reading, uint64_t at, uint64_t left) = {
	[0] = read_load, [1] = read_move, [2] = read_lines, [3] = read_close, [4] = read_unwind,
};

/* false: the end, or what follows can't be read. */
static bool read_record(struct jit_reading *reading)
{
	struct jitdump *dump = reading->dump;
	unsigned char head[RECORD_BYTES];
	uint64_t left = reading->end > dump->next ? reading->end - dump->next : 0;
	uint32_t id, size;

	if (left < RECORD_BYTES || fread(head, RECORD_BYTES, 1, reading->in) != 1)
		return false;
	id = get_u32(dump, head);
	size = get_u32(dump, head + 4);
	if (size < RECORD_BYTES || size > left || !spend(dump, 0))
		return false;
	reading->time_ns = get_u64(dump, head + 8);
	if (id < ARRAY_SIZE(readers) && !readers[id](reading, dump->next + RECORD_BYTES, size - RECORD_BYTES))
		return false;
	dump->next += size;
	return !fseeko(reading->in, (off_t)dump->next, SEEK_SET);
}

/* ---- reading ---- */

static int read_header(struct jit_reading *reading, struct str *err)
{
	struct jitdump *dump = reading->dump;
	unsigned char head[HEADER_BYTES];
	uint32_t size;

	if (fread(head, HEADER_BYTES, 1, reading->in) != 1)
		return fail(err, -EINVAL, "%s: too short for a jitdump file", dump->path);
	dump->swap = false;
	dump->swap = get_u32(dump, head) == bswap_32(MAGIC);
	size = get_u32(dump, head + 8);
	if (get_u32(dump, head) != MAGIC || size < HEADER_BYTES)
		return fail(err, -EINVAL, "%s: not a jitdump file", dump->path);
	if (get_u32(dump, head + 4) != VERSION)
		return fail(err, -ENOTSUP, "%s: jitdump version %u is not known", dump->path,
			    get_u32(dump, head + 4));
	if (dump->rules.pid && get_u32(dump, head + 20) != (uint32_t)dump->rules.pid)
		return fail(err, -EINVAL, "%s: of process %u, by its header", dump->path,
			    get_u32(dump, head + 20));
	dump->machine = (uint16_t)get_u32(dump, head + 12);
	dump->other_clock = get_u64(dump, head + 32) & ARCH_TIMESTAMP;
	dump->next = size;
	return 0;
}

static int read_from(struct jit_reading *reading, struct str *err)
{
	struct jitdump *dump = reading->dump;
	int rc = dump->next ? 0 : read_header(reading, err);

	if (rc)
		return rc;
	if (fseeko(reading->in, (off_t)dump->next, SEEK_SET))
		return fail(err, -errno, "%s: %s", dump->path, strerror(errno));
	if (dump->other_clock)
		reading->times = NULL;
	reading->name = xmalloc(NAME_BYTES_MAX);
	while (read_record(reading))
		continue;
	free(reading->name);
	if (dump->too_much)
		fail(err, 0, "%s: it has too many records: those after its first %zu functions are left out",
		     dump->path, dump->ranges.n);
	return 0;
}

int jitdump_read(struct jitdump *dump, struct code_times *times, size_t names, struct str *err)
{
	struct jit_reading reading = { .dump = dump, .times = times, .names = names };
	struct stat st;
	int rc, fd = code_file_open(dump->path, &dump->rules, 0, &st, err);

	if (fd < 0)
		return fd;
	reading.in = fdopen(fd, "r");
	if (!reading.in) {
		rc = fail(err, -errno, "%s: %s", dump->path, strerror(errno));
		close(fd);
		return rc;
	}
	reading.end = dump->looked_at = (uint64_t)st.st_size;
	if (!dump->next)
		dump->ranges.work_left = dump->rules.work_left;
	rc = read_from(&reading, err);
	dump->rules.work_left = dump->ranges.work_left;
	fclose(reading.in);
	return rc;
}

/* ---- what was put down about a piece ---- */

/* Up to n bytes of the dump from an offset on; how many, or a negative errno with a sentence. */
static ssize_t read_bytes(struct jitdump *dump, uint64_t at, void *bytes, size_t n, struct str *err)
{
	struct stat st;
	int fd = code_file_open(dump->path, &dump->rules, 0, &st, err);
	ssize_t got;

	if (fd < 0)
		return fd;
	got = pread(fd, bytes, n, (off_t)at);
	if (got < 0)
		got = fail(err, -errno, "%s: %s", dump->path, strerror(errno));
	close(fd);
	return got;
}

/* All n bytes, appended to out; false: they are not there. */
static bool append_bytes(struct jitdump *dump, uint64_t at, size_t n, struct str *out)
{
	struct str ignored = STR_INIT;
	char *bytes = xmalloc(n + 1);
	bool good = n && read_bytes(dump, at, bytes, n, &ignored) == (ssize_t)n;

	if (good)
		str_addn(out, bytes, n);
	free(bytes);
	str_release(&ignored);
	return good;
}

int jitdump_code(struct jitdump *dump, const struct code_range *range, uint64_t addr, struct symbol_code *out,
		 struct str *err)
{
	uint64_t left = range->end - addr, at = dump->pieces[range->piece].bytes_at + (addr - range->start);
	ssize_t n = read_bytes(dump, at, out->bytes, left < out->n ? (size_t)left : out->n, err);

	if (n < 0)
		return (int)n;
	out->n = (size_t)n;
	out->machine = dump->machine;
	return n ? 0 : fail(err, -ENODATA, "%s: it ends before the code", dump->path);
}

bool jitdump_unwind(struct jitdump *dump, uint64_t piece, struct str *eh_frame)
{
	return piece < dump->n_pieces &&
	       append_bytes(dump, dump->pieces[piece].unwind_at, dump->pieces[piece].unwind_bytes, eh_frame);
}

struct code_piece jitdump_piece_of(const struct jitdump *dump, const struct code_range *range)
{
	return (struct code_piece){ .start = range->start, .end = range->end, .number = range->piece,
				    .loaded_at = dump->pieces[range->piece].loaded_at };
}

/* Finds the line with the highest address up to addr; of several with one address the last. */
static bool find_line(const struct jitdump *dump, uint64_t addr, struct source_line *line)
{
	static const char as_before[] = "\xff";
	const char *at = dump->lines.s, *end = at + dump->lines.len, *file = NULL, *nul;
	uint64_t best = 0;
	bool found = false;

	for (; end - at > LINE_BYTES && (nul = memchr(at + LINE_BYTES, '\0', (size_t)(end - at - LINE_BYTES)));
	     at = nul + 1) {
		uint64_t start = get_u64(dump, at);

		if (strcmp(at + LINE_BYTES, as_before) != 0)
			file = at + LINE_BYTES;
		if (start > addr || (found && start < best))
			continue;
		found = true;
		best = start;
		*line = (struct source_line){ file, get_u32(dump, at + 8) };
	}
	return found;
}

bool jitdump_line(struct jitdump *dump, const struct code_range *range, uint64_t addr, struct source_line *line)
{
	const struct jit_piece *piece = &dump->pieces[range->piece];

	if (!piece->lines_bytes)
		return false;
	if (dump->lines_of != range->piece) {
		str_reset(&dump->lines);
		dump->lines_of = range->piece;
		append_bytes(dump, piece->lines_at, piece->lines_bytes, &dump->lines);
	}
	return find_line(dump, addr - range->start + piece->loaded_at, line);
}

/* ---- while it grows ---- */

struct jitdump *jitdump_follow(const char *path, uint64_t work)
{
	return jitdump_new(path, &(struct code_rules){ .anyone = true, .work_left = work });
}

uint64_t jitdump_update(struct jitdump *dump)
{
	uint64_t work = dump->rules.work_left;
	struct str ignored = STR_INIT;
	struct stat st;

	if (!dump->too_much && !stat(dump->path, &st) && (uint64_t)st.st_size != dump->looked_at)
		jitdump_read(dump, NULL, 0, &ignored);
	str_release(&ignored);
	return work - dump->rules.work_left;
}

bool jitdump_piece(const struct jitdump *dump, uint64_t addr, struct code_piece *piece)
{
	const struct code_range *range = code_ranges_find(&dump->ranges, addr);

	if (range)
		*piece = jitdump_piece_of(dump, range);
	return range;
}

/* ---- all of it, one function after the other ---- */

static void add_load(struct jitdump_loads *loads, const struct jitdump_load *load)
{
	VEC_GROW(loads->v, loads->n, loads->cap);
	loads->v[loads->n++] = *load;
}

/* Events into loads; at the end of the compiler all code goes that came since an earlier end. */
static void take_events(const struct jitdump *dump, const struct code_times *times, struct jitdump_loads *loads)
{
	size_t since = 0;

	for (size_t i = 0; i < times->n; i++) {
		const struct code_event *event = &times->v[i];
		struct jitdump_load load = { event->time_ns, event->start, event->end, NULL, event->piece };
		const size_t n = loads->n;

		switch (event->kind) {
		case CODE_LOADED:
			load.name = dump->ranges.names.s + event->name;
			add_load(loads, &load);
			break;
		case CODE_MOVED_AWAY:
			add_load(loads, &load);
			break;
		case CODE_CLOSED:
			for (; since < n; since++) {
				load.start = loads->v[since].start;
				load.end = loads->v[since].end;
				if (loads->v[since].name)
					add_load(loads, &load);
			}
			since = loads->n;
		}
	}
}

struct jitdump *jitdump_loads(const char *path, uint64_t inode, bool anyone, struct jitdump_loads *loads,
			      struct str *err)
{
	const struct code_rules rules = {
		.anyone = anyone, .mapped = { .inode = inode, .any_device = true }, .work_left = CODE_WORK_FILE
	};
	struct jitdump *dump = jitdump_new(path, &rules);
	struct code_times times = { .n = 0 };
	int rc = jitdump_read(dump, &times, 0, err);

	if (!rc && dump->other_clock)
		rc = fail(err, -ENOTSUP, "%s: its times are of the CPU's counter, not of CLOCK_MONOTONIC", path);
	if (!rc)
		take_events(dump, &times, loads);
	code_times_release(&times);
	if (!rc)
		return dump;
	jitdump_free(dump);
	return NULL;
}

bool jitdump_bytes(struct jitdump *dump, const struct jitdump_load *load, struct str *code)
{
	return append_bytes(dump, dump->pieces[load->piece].bytes_at, load->end - load->start, code);
}

uint16_t jitdump_machine(const struct jitdump *dump)
{
	return dump->machine;
}
