/* SPDX-License-Identifier: MIT */
/*
 * The names in a recording itself, from bytes that are made here: whose they are, that those of another file are
 * refused, that what is cut or leads in circles is damage and not a crash.
 */
#include "sym/embedded_names.h"

#include "elf/elf.h"
#include "elf_builder.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { TEXT_PATH = 1, TEXT_OUTER, TEXT_INNER, TEXT_FILE };
static const char texts[] = "\0/bin/x\0outer\0inner\0x.c";

/* A recording's names of one dso; rest: what is behind its identity. */
static void make_of(struct str *out, uint8_t version, const void *rest, size_t n)
{
	struct str dso = STR_INIT, body = STR_INIT;
	static const uint8_t identity[] = { 'f', 0, TEXT_PATH, 1, 2, 0xab, 0xcd, 0, 0, 0, 0, 0, 0, 0 };

	str_addn(&dso, (const char *)identity, sizeof(identity));
	str_addn(&dso, rest, n);
	put_number(&body, sizeof(texts));
	str_addn(&body, texts, sizeof(texts));
	put_number(&body, 1);
	put_number(&body, dso.len);
	str_addn(&body, dso.s, dso.len);
	str_addc(out, (char)version);
	str_addc(out, 0);
	put_number(out, body.len);
	str_addn(out, body.s, body.len);
	str_release(&dso);
	str_release(&body);
}

/* Two inlined functions in `outer`; into: what the first is in. */
static void make(struct str *out, uint8_t version, uint64_t into)
{
	const uint8_t start[] = {
		1, 0x10, 0x40, 2, TEXT_OUTER, /* a function at 0x10 */
		2, (uint8_t)into, TEXT_INNER, TEXT_FILE + 1, 7, /* inlined */
	}, second[] = { 1, TEXT_INNER, TEXT_FILE + 1, 9 }, rest[] = {
		2, 0x18, 2, 2, TEXT_FILE + 1, 24, 0x60, 1, 0, 0, 23, /* addresses: 0x18, line 12; 0x78, none */
		0, 0,
	};
	struct str bytes = STR_INIT;

	str_addn(&bytes, (const char *)start, sizeof(start));
	if (version > 1)
		str_addc(&bytes, 3);
	str_addn(&bytes, (const char *)second, sizeof(second));
	if (version > 1)
		str_addc(&bytes, 4);
	str_addn(&bytes, (const char *)rest, sizeof(rest));
	make_of(out, version, bytes.s, bytes.len);
	str_release(&bytes);
}

static char path[] = "/bin/x";

static struct dso dso_of(uint8_t last)
{
	return (struct dso){ .kind = DSO_FILE, .path = path, .name = path, .pid = -1,
			     .build_id = { .size = 2, .bytes = { 0xab, last } } };
}

static struct embedded_names *open_names(const struct str *bytes, int code)
{
	struct embedded_names *names;
	struct str err = STR_INIT;

	assert_int_equal(embedded_names_open(&names, bytes->s, bytes->len, &err), code);
	assert_int_equal(!err.len, !code);
	str_release(&err);
	return names;
}

static void frames_of(uint8_t version)
{
	struct dso dso = dso_of(0xcd);
	struct str bytes = STR_INIT, why = STR_INIT;
	struct embedded_names *names;
	struct embedded_dso *found;
	const struct embedded_addr *addr;
	struct dwarf_inline frames[8];

	make(&bytes, version, 0);
	names = open_names(&bytes, 0);
	found = embedded_names_find(names, &dso, &why);
	assert_non_null(found);
	addr = embedded_addr_find(found, 0x18);
	assert_non_null(addr);
	assert_null(embedded_addr_find(found, 0x19));
	assert_string_equal(found->functions[addr->function1 - 1].name, "outer");
	assert_int_equal(embedded_inlines(found, addr, true, frames, 8), 3);
	assert_string_equal(frames[0].name, "inner");
	assert_int_equal(frames[0].line.line, 12);
	assert_int_equal(frames[1].line.line, 9);
	assert_int_equal(frames[0].decl_line, version > 1 ? 4 : 0);
	assert_int_equal(frames[1].decl_line, version > 1 ? 3 : 0);
	assert_null(frames[2].name);
	assert_int_equal(frames[2].line.line, 7);
	assert_int_equal(embedded_inlines(found, addr, false, frames, 8), 1);
	assert_int_equal(frames[0].line.line, 12);
	/* The outermost are kept. */
	assert_int_equal(embedded_inlines(found, addr, true, frames, 2), 2);
	assert_int_equal(frames[0].line.line, 9);
	assert_int_equal(embedded_addr_find(found, 0x78)->function1, 0);
	embedded_names_free(names);
	str_release(&bytes);
	str_release(&why);
}

static void frames_come_back(void **state)
{
	(void)state;
	frames_of(EMBEDDED_VERSION);
}

/* The first version did not say where a function begins. */
static void frames_of_the_first_version(void **state)
{
	(void)state;
	frames_of(1);
}

static void another_files_are_refused(void **state)
{
	struct dso dso = dso_of(0xce);
	struct str bytes = STR_INIT, why = STR_INIT;
	struct embedded_names *names;

	(void)state;
	make(&bytes, EMBEDDED_VERSION, 0);
	names = open_names(&bytes, 0);
	assert_null(embedded_names_find(names, &dso, &why));
	assert_non_null(strstr(why.s, "its build-id was abcd, the recording has abce"));
	str_reset(&why);
	dso.kind = DSO_VDSO; /* it has nothing of that: nothing is to be said */
	assert_null(embedded_names_find(names, &dso, &why));
	assert_int_equal(why.len, 0);
	dso = dso_of(0xcd);
	dso.start += 0x1000;
	assert_null(embedded_names_find(names, &dso, &why));
	assert_string_equal(why.s, "for another load address");
	embedded_names_free(names);
	str_release(&bytes);
	str_release(&why);
}

static void circles_and_other_versions_are_refused(void **state)
{
	struct dso dso = dso_of(0xcd);
	struct str bytes = STR_INIT, why = STR_INIT;
	struct embedded_names *names;

	(void)state;
	make(&bytes, EMBEDDED_VERSION, 1); /* inlined into itself */
	names = open_names(&bytes, 0);
	assert_null(embedded_names_find(names, &dso, &why));
	assert_string_equal(why.s, "damaged");
	embedded_names_free(names);
	str_reset(&bytes);
	make(&bytes, EMBEDDED_VERSION + 1, 0);
	open_names(&bytes, -EPROTONOSUPPORT);
	str_reset(&bytes);
	make(&bytes, 0, 0);
	open_names(&bytes, -EPROTONOSUPPORT);
	str_release(&bytes);
	str_release(&why);
}

/* The dso of a recording that has nothing but `rest`, also where that is damaged: then why says so. */
static struct embedded_dso *find_of(struct embedded_names **names, const struct str *rest, struct str *why)
{
	struct dso dso = dso_of(0xcd);
	struct str bytes = STR_INIT;
	struct embedded_dso *found;

	str_reset(why);
	make_of(&bytes, EMBEDDED_VERSION, rest->s, rest->len);
	*names = open_names(&bytes, 0);
	found = embedded_names_find(*names, &dso, why);
	assert_int_equal(!found, why->len > 0);
	str_release(&bytes);
	return found;
}

/* Each address in the innermost one costs so many steps. */
static void a_bottomless_pit_is_refused(void **state)
{
	struct str why = STR_INIT;

	(void)state;
	for (size_t depth = EMBEDDED_DEPTH_MAX; depth <= EMBEDDED_DEPTH_MAX + 1; depth++) {
		struct str rest = STR_INIT;
		struct embedded_names *names;

		put_number(&rest, 0);
		put_number(&rest, depth);
		for (size_t i = 0; i < depth; i++) {
			put_number(&rest, i); /* in the one before */
			put_number(&rest, TEXT_INNER);
			str_addn(&rest, "\0", 2);
		}
		str_addn(&rest, "\0\0", 3);
		if (find_of(&names, &rest, &why))
			assert_int_equal(depth, EMBEDDED_DEPTH_MAX);
		else
			assert_string_equal(why.s, "damaged");
		embedded_names_free(names);
		str_release(&rest);
	}
	str_release(&why);
}

/* ---- images ---- */

struct made_piece {
	uint64_t skip, n;
};

/* A file of so many bytes with these pieces, of letters; each ends with one. */
static struct embedded_dso *find_image(struct embedded_names **names, uint64_t bytes, const struct made_piece *pieces,
				       size_t n, struct str *why)
{
	struct embedded_dso *found;
	struct str rest = STR_INIT;

	str_addn(&rest, "\0\0\0", 4);
	put_number(&rest, n);
	put_number(&rest, bytes);
	for (size_t i = 0; i < n; i++) {
		put_number(&rest, pieces[i].skip);
		put_number(&rest, pieces[i].n);
		str_pad(&rest, (char)('a' + i), pieces[i].n);
	}
	found = find_of(names, &rest, why);
	str_release(&rest);
	return found;
}

static void pieces_are_within_the_file(void **state)
{
	static const struct {
		struct made_piece pieces[2];
		bool damaged;
	} cases[] = {
		{ { { 90, 10 }, { 0, 0 } }, false }, { { { 90, 11 }, { 0, 0 } }, true },
		{ { { 101, 0 }, { 0, 0 } }, true },  { { { 90, 10 }, { 1, 0 } }, true },
		{ { { 90, 9 }, { 0, 2 } }, true },   { { { 90, 9 }, { 1, 0 } }, false },
	};
	struct str why = STR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct embedded_names *names;

		assert_int_equal(!find_image(&names, 100, cases[i].pieces, 2, &why), cases[i].damaged);
		assert_string_equal(why.s, cases[i].damaged ? "damaged" : "");
		embedded_names_free(names);
	}
	str_release(&why);
}

/* On pages 0, 1 and 2, and 5: that the file has a gigabyte costs nothing. */
static void an_image_takes_no_more_than_it_may(void **state)
{
	static const struct made_piece pieces[] = { { 4000, 96 + 4096 + 1 }, { 4 * 4096 - 1000, 7 } };
	const uint64_t bytes = 1 << 30;
	struct str why = STR_INIT;
	char letters[2];

	(void)state;
	for (uint64_t most = 3; most <= 5; most++) {
		struct embedded_names *names;
		struct embedded_dso *found = find_image(&names, bytes, pieces, ARRAY_SIZE(pieces), &why);
		uint64_t left = most;
		const char *image = embedded_image_path(found, &left, &why);
		struct stat st;
		int fd;

		assert_int_equal(!image, most < 4);
		assert_int_equal(!image, why.len > 0);
		assert_ptr_equal(embedded_image_path(found, &left, &why), image); /* once */
		if (image) {
			fd = open(image, O_RDONLY | O_CLOEXEC);
			assert_true(fd >= 0 && !fstat(fd, &st));
			assert_int_equal(st.st_size, bytes);
			assert_int_equal(pread(fd, letters, 2, 4000 + 96 + 4096), 2);
			assert_memory_equal(letters, "a", 2);
			close(fd);
			assert_int_equal(left, most - 4);
		}
		embedded_names_free(names);
	}
	str_release(&why);
}

/* ---- .debug_frame ---- */

enum { CIE_BYTES = 16, FDE_BYTES = 24, CIE2_AT = CIE_BYTES + 2 * FDE_BYTES };
enum { FRAME_BYTES = CIE2_AT + CIE_BYTES + FDE_BYTES };

static void put_cie(struct str *out, uint8_t version)
{
	const uint8_t cie[CIE_BYTES] = { 12, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, version, 0, 1, 0x78, 16 };

	str_addn(out, (const char *)cie, sizeof(cie));
}

static void put_fde(struct str *out, uint32_t cie, uint64_t start, uint64_t size)
{
	const uint32_t head[2] = { FDE_BYTES - 4, cie };
	const uint64_t range[2] = { start, size };

	str_addn(out, (const char *)head, sizeof(head));
	str_addn(out, (const char *)range, sizeof(range));
}

/* What is kept for 0x1004, which something else covers, and 0x3000. */
static void keep_of(const struct str *frames, bool covered[2], struct str *out)
{
	static const uint64_t addrs[] = { 0x1004, 0x3000 };
	struct str bytes = STR_INIT, err = STR_INIT;
	struct built_elf elf;
	struct elf_file file;

	elf_start(&elf, ET_DYN, EM_X86_64, false, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	elf_add(&elf, ".debug_frame", SHT_PROGBITS, 0, 0);
	str_addn(&elf.sections[1].bytes, frames->s, frames->len);
	elf_finish(&elf, &bytes);
	if (elf_file_open_memory(&file, bytes.s, bytes.len, "x", &err))
		fail_msg("%s", err.s);
	str_reset(out);
	embedded_frames_keep(&file, addrs, covered, 2, out);
	elf_file_close(&file);
	elf_end(&elf);
	str_release(&bytes);
	str_release(&err);
}

static void make_frames(struct str *out)
{
	put_cie(out, 3);
	put_fde(out, 0, 0x1000, 0x10);
	put_fde(out, 0, 0x2000, 0x10);
	put_cie(out, 1);
	put_fde(out, CIE2_AT, 0x2ff0, 0x11);
	assert_int_equal(out->len, FRAME_BYTES);
}

static void entries_of_what_nothing_covers_are_kept(void **state)
{
	struct str frames = STR_INIT, expected = STR_INIT, kept = STR_INIT;
	bool covered[2] = { true, false };

	(void)state;
	make_frames(&frames);
	put_cie(&expected, 1);
	put_fde(&expected, 0, 0x2ff0, 0x11);
	keep_of(&frames, covered, &kept);
	assert_int_equal(kept.len, expected.len);
	assert_memory_equal(kept.s, expected.s, expected.len);
	assert_true(covered[0] && covered[1]);
	keep_of(&frames, covered, &kept);
	assert_int_equal(kept.len, 0);
	str_release(&frames);
	str_release(&expected);
	str_release(&kept);
}

/* An FDE whose CIE comes later, is none, or is one that nobody knows; and whatever else damage makes. */
static void damaged_frames_are_no_crash(void **state)
{
	static const uint8_t others[] = { 0, 1, 4, 0x7f, 0x80, 0xff };
	struct str frames = STR_INIT, kept = STR_INIT;

	(void)state;
	make_frames(&frames);
	for (size_t i = 0; i < FRAME_BYTES; i++) {
		for (size_t k = 0; k < ARRAY_SIZE(others); k++) {
			bool covered[2] = { false, false };
			char was = frames.s[i];

			frames.s[i] = (char)others[k];
			keep_of(&frames, covered, &kept);
			frames.s[i] = was;
			assert_true(kept.len <= FRAME_BYTES);
			assert_int_equal(kept.len > 0, covered[0] || covered[1]);
		}
	}
	for (size_t i = CIE2_AT; i < CIE2_AT + CIE_BYTES; i += 8) { /* no CIE, version 2 */
		bool covered[2] = { true, false };

		frames.s[i == CIE2_AT ? i + 4 : i] = 2;
		keep_of(&frames, covered, &kept);
		assert_int_equal(kept.len, 0);
	}
	str_release(&frames);
	str_release(&kept);
}

/* Each length, and each byte as another one: an error, or what can be asked. */
static void damage_is_no_crash(void **state)
{
	struct dso dso = dso_of(0xcd);
	struct str bytes = STR_INIT, why = STR_INIT, err = STR_INIT;
	struct embedded_names *names;

	(void)state;
	make(&bytes, EMBEDDED_VERSION, 0);
	for (size_t n = 0; n < bytes.len; n++) {
		assert_true(embedded_names_open(&names, bytes.s, n, &err) < 0);
		assert_null(names);
	}
	for (size_t i = 0; i < bytes.len; i++) {
		char was = bytes.s[i];

		bytes.s[i] = (char)0xff;
		if (!embedded_names_open(&names, bytes.s, bytes.len, &err))
			embedded_names_find(names, &dso, &why);
		embedded_names_free(names);
		bytes.s[i] = was;
	}
	str_release(&bytes);
	str_release(&why);
	str_release(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_come_back),
		cmocka_unit_test(frames_of_the_first_version),
		cmocka_unit_test(another_files_are_refused),
		cmocka_unit_test(circles_and_other_versions_are_refused),
		cmocka_unit_test(a_bottomless_pit_is_refused),
		cmocka_unit_test(pieces_are_within_the_file),
		cmocka_unit_test(an_image_takes_no_more_than_it_may),
		cmocka_unit_test(entries_of_what_nothing_covers_are_kept),
		cmocka_unit_test(damaged_frames_are_no_crash),
		cmocka_unit_test(damage_is_no_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
