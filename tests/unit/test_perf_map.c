/* SPDX-License-Identifier: MIT */
/*
 * Names of code made at run time: perf maps and jitdump files, whose they must be, what counts as a line, and
 * that of ranges that lie over one another the latest is named: compared with painting them one by one; and
 * what lay where at a time.
 */
#include "sym/jitdump.h"

#include "unit/fake_machine.h"

#include <byteswap.h>
#include <errno.h>

#include <cmocka.h>

static struct fake_machine machine;
static struct code_rules rules = CODE_RULES_INIT;
static struct symbol_table table;
static struct code_times times;
static struct jitdump *dump;
static struct str err, bytes;
static char *path;

static int set_up(void **state)
{
	(void)state;
	fake_machine_init(&machine);
	symbol_table_init(&table);
	str_init(&err);
	str_init(&bytes);
	path = xasprintf("%s/perf-7.map", machine.root);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(path);
	str_release(&err);
	str_release(&bytes);
	symbol_table_release(&table);
	code_times_release(&times);
	jitdump_free(dump);
	dump = NULL;
	fake_machine_release(&machine);
	return 0;
}

static const char *at(uint64_t addr)
{
	const struct symbol_row *row = symbol_table_find(&table, addr);

	return row ? table.names.s + row->name : "none";
}

static uint64_t read_map(const char *text)
{
	uint64_t bad_lines;

	fake_machine_file(&machine, "perf-7.map", text);
	assert_int_equal(perf_map_read(path, &rules, &table, &bad_lines, &err), 0);
	symbol_table_finish(&table);
	return bad_lines;
}

static void lines_name_ranges(void **state)
{
	(void)state;
	assert_int_equal(read_map("7f0000001000 20 LazyCompile:~main /srv/app.js:12\n"
				  "0x7f0000002000 0x10 with 0x\r\n"
				  " \t7f0000004000  0X10\ttabs\tand blanks\n"
				  "7f0000005000\t10   \tname \r\n"
				  "7F0000003000 10 capitals"),
			 0);
	assert_int_equal(table.n, 5);
	assert_string_equal(at(0x7f0000004000), "tabs\tand blanks");
	assert_string_equal(at(0x7f0000005000), "name ");
	assert_string_equal(at(0x7f0000001000), "LazyCompile:~main /srv/app.js:12");
	assert_string_equal(at(0x7f000000101f), "LazyCompile:~main /srv/app.js:12");
	assert_string_equal(at(0x7f0000001020), "none");
	assert_string_equal(at(0x7f0000002000), "with 0x");
	assert_string_equal(at(0x7f0000003001), "capitals");
}

static void garbage_is_counted(void **state)
{
	(void)state;
	assert_int_equal(read_map("hello world\n"
				  "1000\n"
				  "1000 10\n"
				  "1000 10 \n"
				  "1000 0 empty\n"
				  "ffffffffffffffff 10 wraps\n"
				  "11112222333344445 10 too_many_digits\n"
				  "\n"
				  "1000 10 good\n"),
			 7);
	assert_int_equal(table.n, 1);
	assert_string_equal(at(0x1000), "good");
}

static void a_later_line_wins(void **state)
{
	(void)state;
	read_map("1000 100 a\n1020 20 b\n1030 100 c\n1000 100 d\n1000 8 e\n");
	assert_string_equal(at(0x1000), "e");
	assert_string_equal(at(0x1008), "d");
	assert_string_equal(at(0x10ff), "d");
	assert_string_equal(at(0x1100), "c");
	assert_string_equal(at(0x112f), "c");
	assert_string_equal(at(0x1130), "none");
}

static void random_ranges_are_as_painted(void **state)
{
	enum { PLACES = 200, RANGES = 60, ROUNDS = 200 };
	uint32_t seed = 12345;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct code_ranges ranges = CODE_RANGES_INIT;
		char painted[PLACES][16];

		memset(painted, 0, sizeof(painted));
		for (int i = 0; i < RANGES; i++) {
			uint64_t start, size;
			char name[16];

			seed = seed * 1664525 + 1013904223;
			start = 1 + (seed >> 16) % (PLACES - 1);
			seed = seed * 1664525 + 1013904223;
			size = 1 + (seed >> 16) % (i % 3 ? 10 : 80);
			snprintf(name, sizeof(name), "n%d", i);
			assert_true(code_ranges_add(&ranges, start, size, name, strlen(name)));
			for (uint64_t p = start; p < start + size && p < PLACES; p++)
				memcpy(painted[p], name, sizeof(name));
		}
		code_ranges_flatten(&ranges, &table);
		symbol_table_finish(&table);
		for (uint64_t p = 0; p < PLACES; p++)
			assert_string_equal(at(p), painted[p][0] ? painted[p] : "none");
		code_ranges_release(&ranges);
		symbol_table_release(&table);
	}
}

/* ---- whose file it is ---- */

static void the_file_of_another_user_is_refused(void **state)
{
	uint64_t bad_lines;

	(void)state;
	if (geteuid() != 0) {
		printf("# skip: only root can give files away\n");
		skip();
	}
	fake_machine_file(&machine, "perf-7.map", "1000 10 a\n");
	assert_int_equal(chown(path, 12345, 12345), 0);
	assert_int_equal(perf_map_read(path, &rules, &table, &bad_lines, &err), -EPERM);
	assert_non_null(strstr(err.s, "owned by user 12345, not by you (user 0) or root"));
	assert_int_equal(table.n, 0);
}

static void a_link_of_another_user_is_refused(void **state)
{
	char *link = xasprintf("%s/link.map", machine.root);
	uint64_t bad_lines;

	(void)state;
	fake_machine_file(&machine, "perf-7.map", "1000 10 a\n");
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(perf_map_read(link, &rules, &table, &bad_lines, &err), 0);
	if (geteuid() == 0) {
		assert_int_equal(lchown(link, 12345, 12345), 0);
		assert_int_equal(perf_map_read(link, &rules, &table, &bad_lines, &err), -EPERM);
	}
	free(link);
}

static void what_is_no_file_is_refused(void **state)
{
	uint64_t bad_lines;

	(void)state;
	assert_int_equal(perf_map_read(path, &rules, &table, &bad_lines, &err), -ENOENT);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(perf_map_read(path, &rules, &table, &bad_lines, &err), -EINVAL);
	dump = jitdump_new(path, &rules);
	assert_int_equal(jitdump_read(dump, NULL, 0, &err), -EINVAL);
}

/* ---- jitdump ---- */

static bool swapped;
static uint64_t record_ns = 2;

static void add_u32(uint32_t value)
{
	value = swapped ? bswap_32(value) : value;
	str_addn(&bytes, (const char *)&value, sizeof(value));
}

static void add_u64(uint64_t value)
{
	value = swapped ? bswap_64(value) : value;
	str_addn(&bytes, (const char *)&value, sizeof(value));
}

static void begin_dump(bool swap)
{
	swapped = swap;
	str_reset(&bytes);
	add_u32(0x4a695444);
	add_u32(1);
	add_u32(40);
	add_u32(62);
	add_u32(0);
	add_u32(7);
	add_u64(1);
	add_u64(0);
}

static void add_load(uint64_t addr, uint64_t size, uint64_t code, const char *name)
{
	add_u32(0);
	add_u32((uint32_t)(16 + 40 + strlen(name) + 1 + size));
	add_u64(record_ns);
	add_u32(7);
	add_u32(7);
	add_u64(addr);
	add_u64(addr);
	add_u64(size);
	add_u64(code);
	str_addn(&bytes, name, strlen(name) + 1);
	str_pad(&bytes, (char)0x90, size);
}

static void add_move(uint64_t from, uint64_t to, uint64_t size, uint64_t code)
{
	add_u32(1);
	add_u32(16 + 48);
	add_u64(record_ns);
	add_u32(7);
	add_u32(7);
	add_u64(to);
	add_u64(from);
	add_u64(to);
	add_u64(size);
	add_u64(code);
}

/* A record of no known number, with what is too short for a record of lines. */
static void add_other(uint32_t id)
{
	add_u32(id);
	add_u32(16 + 5);
	add_u64(3);
	str_addn(&bytes, "12345", 5);
}

/* The bytes from one offset to another, after those that the file has. */
static void append_dump(size_t from, size_t to)
{
	FILE *f = fopen(path, "a");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes.s + from, 1, to - from, f), to - from);
	fclose(f);
}

static void write_dump(size_t n)
{
	unlink(path);
	append_dump(0, n);
}

static int read_dump(size_t n)
{
	int rc;

	write_dump(n);
	symbol_table_release(&table);
	code_times_release(&times);
	jitdump_free(dump);
	dump = jitdump_new(path, &rules);
	rc = jitdump_read(dump, &times, 0, &err);
	code_ranges_flatten(&dump->ranges, &table);
	symbol_table_finish(&table);
	return rc;
}

static void write_story(bool swap)
{
	begin_dump(swap);
	add_load(0x1000, 0x20, 1, "first");
	add_other(9);
	add_other(2);
	add_load(0x2000, 0x20, 2, "second");
	add_move(0x1000, 0x3000, 0x20, 1);
	add_move(0x2000, 0x4000, 0x20, 2);
	add_move(0x9000, 0x9100, 0x20, 99); /* of code that was never loaded */
	add_load(0x1010, 0x10, 3, "third");
}

static void loads_and_moves_of_a_dump(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		write_story(swap);
		assert_int_equal(read_dump(bytes.len), 0);
		assert_string_equal(at(0x1000), "first");
		assert_string_equal(at(0x1010), "third");
		assert_string_equal(at(0x2000), "second");
		assert_string_equal(at(0x301f), "first");
		assert_string_equal(at(0x3020), "none");
		assert_string_equal(at(0x4000), "second");
		assert_string_equal(at(0x9100), "none");
	}
}

static void a_dump_cut_anywhere_is_read(void **state)
{
	(void)state;
	write_story(false);
	for (size_t n = 0; n <= bytes.len; n++) {
		int rc = read_dump(n);

		assert_int_equal(rc, n < 40 ? -EINVAL : 0);
	}
}

static void lying_sizes_end_a_dump(void **state)
{
	(void)state;
	begin_dump(false);
	add_load(0x1000, 0x20, 1, "first");
	add_u32(0);
	add_u32(15); /* less than its own head */
	add_u64(0);
	add_load(0x2000, 0x20, 2, "second");
	assert_int_equal(read_dump(bytes.len), 0);
	assert_int_equal(table.n, 1);

	begin_dump(false);
	add_load(UINT64_MAX - 4, 0x20, 1, "wraps");
	add_load(0x2000, 0x20, 2, "");
	add_load(0x3000, 0, 2, "empty");
	assert_int_equal(read_dump(bytes.len), 0);
	assert_int_equal(table.n, 0);

	bytes.s[4] = 9;
	assert_int_equal(read_dump(bytes.len), -ENOTSUP);
	bytes.s[0] = 'x';
	assert_int_equal(read_dump(bytes.len), -EINVAL);
}

/* 40,000 moves of a code with a name of 60 KB: the name is there once, not in 2.4 GB. */
static void a_long_name_is_kept_once(void **state)
{
	enum { NAME_BYTES = 60000, MOVES = 40000 };
	char *name = xmalloc(NAME_BYTES + 1);

	(void)state;
	memset(name, 'n', NAME_BYTES);
	name[NAME_BYTES] = '\0';
	begin_dump(false);
	add_load(0x1000, 0x20, 1, name);
	for (uint64_t i = 0; i < MOVES; i++)
		add_move(0x1000 + i * 0x40, 0x1000 + (i + 1) * 0x40, 0x20, 1);
	assert_int_equal(read_dump(bytes.len), 0);
	assert_int_equal(table.n, MOVES + 1);
	assert_string_equal(at(0x1000 + 7 * 0x40), name);
	assert_string_equal(at(0x1000 + MOVES * 0x40), name);
	assert_true(table.names.len < 2 * NAME_BYTES);
	free(name);
}

/* ---- lines and unwind tables ---- */

struct dump_line {
	uint64_t addr;
	uint32_t line;
	const char *file;
};

static void add_lines(uint64_t code_addr, const struct dump_line *lines, size_t n)
{
	size_t size = 16 + 16;

	for (size_t i = 0; i < n; i++)
		size += 16 + strlen(lines[i].file) + 1;
	add_u32(2);
	add_u32((uint32_t)size);
	add_u64(record_ns);
	add_u64(code_addr);
	add_u64(n);
	for (size_t i = 0; i < n; i++) {
		add_u64(lines[i].addr);
		add_u32(lines[i].line);
		add_u32(0);
		str_addn(&bytes, lines[i].file, strlen(lines[i].file) + 1);
	}
}

/* header: how many of the bytes are of .eh_frame_hdr; said: how many there are, by the record. */
static void add_unwind(const char *tables, uint64_t n, uint64_t header, uint64_t said)
{
	add_u32(4);
	add_u32((uint32_t)(16 + 24 + n));
	add_u64(record_ns);
	add_u64(said);
	add_u64(header);
	add_u64(0);
	str_addn(&bytes, tables, n);
}

/* "FILE:LINE" of an address, by the latest code there; "none". */
static const char *line_at(uint64_t addr)
{
	const struct code_range *range = code_ranges_find(&dump->ranges, addr);
	static char text[64];
	struct source_line line;

	if (!range || !jitdump_line(dump, range, addr, &line))
		return "none";
	snprintf(text, sizeof(text), "%s:%u", line.file ? line.file : "?", line.line);
	return text;
}

static const char *unwind_at(uint64_t addr)
{
	static struct str table_bytes;
	struct code_piece piece;

	str_reset(&table_bytes);
	if (!jitdump_piece(dump, addr, &piece))
		return "no code";
	return jitdump_unwind(dump, piece.number, &table_bytes) ? table_bytes.s : "none";
}

static void write_tables(bool swap)
{
	static const struct dump_line lines[] = {
		{ 0x1000, 10, "a.src" }, { 0x1008, 12, "\xff" }, { 0x1010, 7, "b.src" }, { 0x1010, 8, "\xff" },
		{ 0x1004, 11, "a.src" }, /* not in order */
	};

	begin_dump(swap);
	add_lines(0x1000, lines, ARRAY_SIZE(lines));
	add_unwind("rowsHDR", 7, 3, 7);
	add_load(0x1000, 0x20, 1, "first");
	add_load(0x2000, 0x20, 2, "without");
	add_unwind("liesHDR", 7, 8, 7);
	add_lines(0x1000, lines, 1); /* of other code than what is loaded next */
	add_load(0x3000, 0x20, 3, "lies");
	add_unwind("long", 4, 0, 5);
	add_load(0x4000, 0x20, 4, "long");
	add_move(0x1000, 0x5000, 0x20, 1);
}

static void tables_are_of_the_code_that_comes_next(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct code_piece piece;

		write_tables(swap);
		assert_int_equal(read_dump(bytes.len), 0);
		assert_string_equal(line_at(0x1000), "a.src:10");
		assert_string_equal(line_at(0x1003), "a.src:10");
		assert_string_equal(line_at(0x1007), "a.src:11");
		assert_string_equal(line_at(0x100f), "a.src:12");
		assert_string_equal(line_at(0x101f), "b.src:8");
		assert_string_equal(line_at(0x1020), "none");
		assert_string_equal(line_at(0x2000), "none");
		assert_string_equal(line_at(0x3000), "none");
		assert_string_equal(line_at(0x5008), "a.src:12");
		assert_string_equal(unwind_at(0x1010), "rows");
		assert_string_equal(unwind_at(0x2000), "none");
		assert_string_equal(unwind_at(0x3000), "none");
		assert_string_equal(unwind_at(0x4000), "none");
		assert_string_equal(unwind_at(0x5010), "rows");
		assert_string_equal(unwind_at(0x6000), "no code");
		assert_true(jitdump_piece(dump, 0x5010, &piece));
		assert_int_equal(piece.start, 0x5000);
		assert_int_equal(piece.loaded_at, 0x1000);
	}
}

/* Whatever was there when it was looked at before, in the end it is as if all had been read at once. */
static void a_dump_is_read_while_it_grows(void **state)
{
	static const size_t steps[] = { 1, 2, 7, 16, 41, 99 };

	(void)state;
	write_tables(false);
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		size_t n_ranges = 0, to;

		jitdump_free(dump);
		dump = jitdump_follow(path, CODE_WORK_FILE);
		write_dump(0);
		for (size_t n = 0; n < bytes.len; n = to) {
			to = n + steps[i] < bytes.len ? n + steps[i] : bytes.len;
			append_dump(n, to);
			jitdump_update(dump);
			assert_true(dump->ranges.n >= n_ranges && dump->next <= (to > 40 ? to : 40));
			n_ranges = dump->ranges.n;
		}
		assert_int_equal(jitdump_update(dump), 0);
		assert_int_equal(dump->next, bytes.len);
		assert_string_equal(unwind_at(0x1010), "rows");
		assert_string_equal(line_at(0x5008), "a.src:12");
		assert_string_equal(unwind_at(0x4000), "none");
	}
	/* What was read is gone; nothing more is. */
	unlink(path);
	assert_int_equal(jitdump_update(dump), 0);
	assert_string_equal(unwind_at(0x1010), "none");
}

static void the_work_on_a_dump_ends(void **state)
{
	(void)state;
	begin_dump(false);
	for (uint64_t i = 0; i < 100; i++)
		add_load(0x1000 + i * 0x40, 0x20, i, "code");
	write_dump(bytes.len);
	dump = jitdump_follow(path, 2000);
	assert_in_range(jitdump_update(dump), 1900, 2000);
	assert_in_range(dump->ranges.n, 10, 20);
	assert_int_equal(jitdump_update(dump), 0);
}

/* ---- by time ---- */

static void add_close(void)
{
	add_u32(3);
	add_u32(16);
	add_u64(record_ns);
}

static const char *at_time(uint64_t addr, uint64_t time_ns)
{
	uint32_t code = code_times_find(&times, addr, time_ns);

	if (!code)
		return "none";
	return code == SYM_CODE_GONE ? "gone" : times.names + times.v[code - 1].name;
}

static void what_lay_there_at_the_time(void **state)
{
	static const struct {
		uint64_t addr, time_ns;
		const char *name;
	} rows[] = {
		/* What is there before its record is of it. */
		{ 0x1000, 5, "a" },      { 0x1000, 10, "a" },     { 0x1080, 19, "a" },    { 0x1080, 20, "b" },
		{ 0x10ff, 29, "b" },     { 0x107f, 29, "a" },     { 0x117f, 5, "b" },     { 0x0fff, 20, "none" },
		{ 0x1180, 20, "none" },  { 0x1080, 30, "gone" },  { 0x117f, 99, "gone" }, { 0x107f, 30, "a" },
		{ 0x3000, 30, "b" },     { 0x3000, 29, "b" },     { 0x1080, 40, "a" },    { 0x2fff, 40, "none" },
		/* Its place had been taken when the move was told. */
		{ 0x5000, 43, "x" },     { 0x5000, 45, "y" },     { 0x6000, 45, "x" },
		/* The compiler ends, and another one begins. */
		{ 0x1000, 50, "gone" },  { 0x3000, 59, "gone" },  { 0x1000, 60, "c" },    { 0x1010, 60, "gone" },
	};

	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		begin_dump(swap);
		record_ns = 10, add_load(0x1000, 0x100, 1, "a");
		record_ns = 20, add_load(0x1080, 0x100, 2, "b");
		record_ns = 30, add_move(0x1080, 0x3000, 0x100, 2);
		record_ns = 40, add_load(0x1000, 0x100, 4, "a");
		record_ns = 43, add_load(0x5000, 0x10, 5, "x");
		record_ns = 44, add_load(0x5000, 0x10, 6, "y");
		record_ns = 45, add_move(0x5000, 0x6000, 0x10, 5);
		record_ns = 50, add_close();
		record_ns = 60, add_load(0x1000, 0x10, 1, "c");
		record_ns = 2;
		assert_int_equal(read_dump(bytes.len), 0);
		assert_true(code_times_finish(&times, table.names.s));
		for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
			assert_string_equal(at_time(rows[i].addr, rows[i].time_ns), rows[i].name);
		/* Told again, it is the same code. */
		assert_int_equal(code_times_find(&times, 0x1000, 10), code_times_find(&times, 0x1000, 40));
		assert_int_equal(code_times_epoch(&times, 9), 0);
		assert_int_equal(code_times_epoch(&times, 10), 1);
		assert_int_equal(code_times_epoch(&times, 30), 4);
		assert_int_equal(code_times_epoch(&times, UINT64_MAX), times.n);
	}
}

/* Bit 0 of the flags: the times are a counter's, which nobody here can read. */
static void times_of_another_clock_are_none(void **state)
{
	(void)state;
	write_story(false);
	bytes.s[32] = 1;
	assert_int_equal(read_dump(bytes.len), 0);
	assert_string_equal(at(0x1010), "third");
	assert_int_equal(times.n, 0);
	assert_false(code_times_finish(&times, table.names.s));
}

/* The last event there up to the time, else the first one to come, found one after the other. */
static const char *by_looking(const struct code_event *events, size_t n, uint64_t addr, uint64_t time_ns)
{
	static const char *const names[] = { "0", "1", "2", "3" };
	const struct code_event *found = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct code_event *event = &events[i];

		if (addr < event->start || addr >= event->end)
			continue;
		if (event->time_ns <= time_ns ? !found || event->time_ns >= found->time_ns : !found)
			found = event;
		else if (found->time_ns > time_ns && event->time_ns < found->time_ns)
			found = event;
	}
	if (!found)
		return "none";
	if (found->kind == CODE_CLOSED)
		return found->time_ns <= time_ns ? "gone" : "none";
	return names[found->name / 2];
}

static void random_events_are_as_looked_up(void **state)
{
	enum { EVENTS = 40, ADDRESSES = 32, TIMES = 30 };
	uint32_t random = 1;

	(void)state;
	for (int round = 0; round < 50; round++) {
		struct code_event events[EVENTS];

		code_times_release(&times);
		for (size_t i = 0; i < EVENTS; i++) {
			random = random * 1103515245 + 12345;
			events[i] = (struct code_event){ .time_ns = random >> 8 & 31,
							 .start = random >> 13 & 15,
							 .name = (random >> 24 & 3) * 2,
							 .kind = random >> 28 ? CODE_LOADED : CODE_CLOSED };
			events[i].end = events[i].start + 1 + (random >> 17 & 15);
			code_times_add(&times, &events[i]);
		}
		assert_true(code_times_finish(&times, "0\0" "1\0" "2\0" "3"));
		for (uint64_t addr = 0; addr < ADDRESSES; addr++)
			for (uint64_t time_ns = 0; time_ns < TIMES; time_ns++)
				assert_string_equal(at_time(addr, time_ns), by_looking(events, EVENTS, addr, time_ns));
	}
}

/* Ranges within ranges would be in the lists of dozens of nodes each: then all is as without times. */
static void too_many_events_are_none(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 700000; i++)
		code_times_add(&times, &(struct code_event){ .time_ns = i, .start = i, .end = (1 << 30) - i });
	assert_false(code_times_finish(&times, "n"));
	assert_int_equal(code_times_find(&times, 1000, 1000), 0);
	for (uint64_t i = 0; i < 1 << 21; i++)
		code_times_add(&times, &(struct code_event){ .time_ns = i, .start = i, .end = i + 1 });
	assert_in_range(times.n, 1 << 20, (1 << 20) + 1);
	assert_false(code_times_finish(&times, "n"));
	assert_int_equal(times.n, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(lines_name_ranges),
		TEST(garbage_is_counted),
		TEST(a_later_line_wins),
		TEST(random_ranges_are_as_painted),
		TEST(the_file_of_another_user_is_refused),
		TEST(a_link_of_another_user_is_refused),
		TEST(what_is_no_file_is_refused),
		TEST(loads_and_moves_of_a_dump),
		TEST(a_dump_cut_anywhere_is_read),
		TEST(lying_sizes_end_a_dump),
		TEST(tables_are_of_the_code_that_comes_next),
		TEST(a_dump_is_read_while_it_grows),
		TEST(the_work_on_a_dump_ends),
		TEST(a_long_name_is_kept_once),
		TEST(what_lay_there_at_the_time),
		TEST(times_of_another_clock_are_none),
		TEST(random_events_are_as_looked_up),
		TEST(too_many_events_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
