/* SPDX-License-Identifier: MIT */
/*
 * What is packed in and around ELF files: modules packed with zstd, gzip and xz, sections packed with zstd and
 * zlib; what is cut, damaged, or would become too much.
 */
#include "elf_builder.h"
#include "elf/elf.h"
#include "elf/elf_unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

enum { MIB = 1 << 20, FASTEST = 1 /* of zlib's levels */ };

static struct str plain, packed, err;
static struct elf_file file;
static char path[64];

static int set_up(void **state)
{
	(void)state;
	str_init(&plain);
	str_init(&packed);
	str_init(&err);
	file = (struct elf_file){ .fd = -1 };
	path[0] = '\0';
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	elf_file_close(&file);
	str_release(&plain);
	str_release(&packed);
	str_release(&err);
	if (path[0])
		unlink(path);
	return 0;
}

/* ---- packing ---- */

struct libzstd {
	size_t (*pack)(void *to, size_t room, const void *from, size_t n, int level);
};

static bool with_zstd(const struct str *from, struct str *to)
{
	static const struct library_symbol symbols[] = {
		{ "ZSTD_compress", offsetof(struct libzstd, pack) },
	};
	size_t room = from->len + from->len / 100 + 1000;
	struct libzstd lib;
	char *bytes;

	if (!library_load("libzstd.so.1", symbols, ARRAY_SIZE(symbols), &lib, &err))
		return false;
	bytes = xmalloc(room);
	str_addn(to, bytes, lib.pack(bytes, room, from->s, from->len, 3));
	free(bytes);
	return true;
}

struct zlib {
	unsigned long (*crc)(unsigned long crc, const void *bytes, unsigned n);
	int (*pack)(void *to, unsigned long *n, const void *from, unsigned long from_n, int level);
};

static bool zlib_load(struct zlib *lib)
{
	static const struct library_symbol symbols[] = {
		{ "crc32", offsetof(struct zlib, crc) },
		{ "compress2", offsetof(struct zlib, pack) },
	};

	return library_load("libz.so.1", symbols, ARRAY_SIZE(symbols), lib, &err);
}

static void put(struct str *to, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		str_addc(to, (char)(value >> 8 * i));
}

/* zlib's two bytes in front and four behind go, gzip's come. */
static bool with_gzip(const struct str *from, struct str *to)
{
	unsigned long n = from->len + from->len / 100 + 1000;
	char *zlib_bytes = xmalloc(n);
	struct zlib lib;

	if (!zlib_load(&lib)) {
		free(zlib_bytes);
		return false;
	}
	assert_int_equal(lib.pack(zlib_bytes, &n, from->s, from->len, FASTEST), 0);
	str_addn(to, "\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
	str_addn(to, zlib_bytes + 2, n - 6);
	put(to, lib.crc(0, from->s, (unsigned)from->len), 4);
	put(to, from->len, 4);
	free(zlib_bytes);
	return true;
}

static const struct packer {
	const char *name;
	bool (*pack)(const struct str *from, struct str *to);
} packers[] = {
	{ "zstd", with_zstd },
	{ "gzip", with_gzip },
};

/* ---- modules ---- */

static void make_module(struct str *out)
{
	struct built_elf elf;
	uint32_t text, symbols;

	elf_start(&elf, ET_REL, EM_X86_64, false, false);
	text = elf_add(&elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0);
	str_pad(&elf.sections[text].bytes, '\x90', 64);
	elf_build_id(&elf, 0x10, 20);
	symbols = elf_add_symbols(&elf, SHT_SYMTAB);
	elf_symbol(&elf, symbols, "module_function", 0, 8, STB_GLOBAL, STT_FUNC, text);
	elf_finish(&elf, out);
	elf_end(&elf);
}

static int open_bytes(const char *bytes, size_t n)
{
	int fd;

	elf_file_close(&file);
	str_reset(&err);
	if (path[0])
		unlink(path);
	snprintf(path, sizeof(path), "/tmp/test_elf_unpack.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, bytes, n), 0);
	close(fd);
	return elf_file_open(&file, path, &err);
}

static void packed_modules_are_read(void **state)
{
	(void)state;
	make_module(&plain);
	for (size_t i = 0; i < ARRAY_SIZE(packers); i++) {
		struct elf_section section;

		str_reset(&packed);
		if (!packers[i].pack(&plain, &packed)) {
			print_message("# skip: %s\n", err.s);
			skip();
		}
		assert_int_equal(open_bytes(packed.s, packed.len), 0);
		assert_true(file.relocatable);
		assert_int_equal(file.build_id.size, 20);
		assert_true(elf_section_named(&file, ".symtab", &section));
	}
}

static void packed_modules_that_are_cut_are_told(void **state)
{
	(void)state;
	make_module(&plain);
	for (size_t i = 0; i < ARRAY_SIZE(packers); i++) {
		char *why = xasprintf("its %s data is cut or damaged", packers[i].name);

		str_reset(&packed);
		if (!packers[i].pack(&plain, &packed))
			skip();
		for (size_t n = 6; n < packed.len - 8; n += 13) {
			assert_int_equal(open_bytes(packed.s, n), -EINVAL);
			assert_string_equal(err.s, why);
		}
		free(why);
	}
}

static void packed_modules_become_so_much_and_no_more(void **state)
{
	(void)state;
	str_pad(&plain, '\0', 272 * MIB);
	for (size_t i = 0; i < ARRAY_SIZE(packers); i++) {
		str_reset(&packed);
		if (!packers[i].pack(&plain, &packed))
			skip();
		assert_true(packed.len < 2 * MIB);
		assert_int_equal(open_bytes(packed.s, packed.len), -EFBIG);
		assert_string_equal(err.s, "it unpacks to more than 256 MiB");
	}
}

/* ---- sections ---- */

static void open_section(uint32_t type, uint64_t bytes)
{
	struct built_elf elf;
	struct str *section;

	elf_start(&elf, ET_DYN, EM_X86_64, false, false);
	section = &elf.sections[elf_add(&elf, ".debug_x", SHT_PROGBITS, SHF_COMPRESSED, 0)].bytes;
	put(section, type, 4);
	put(section, 0, 4);
	put(section, bytes, 8);
	put(section, 1, 8);
	str_addn(section, packed.s, packed.len);
	elf_finish(&elf, &plain);
	elf_end(&elf);
	assert_int_equal(open_bytes(plain.s, plain.len), 0);
}

static void sections_packed_with_zstd_are_read(void **state)
{
	const char *text;
	size_t n = 0;

	(void)state;
	str_add(&plain, "hello, hello, hello, hello");
	if (!with_zstd(&plain, &packed))
		skip();
	str_reset(&plain);
	open_section(ELFCOMPRESS_ZSTD, 26);
	for (int i = 0; i < 2; i++) { /* the second time out of what was kept */
		text = elf_file_section(&file, ".debug_x", &n);
		assert_non_null(text);
		assert_int_equal(n, 26);
		assert_memory_equal(text, "hello, hello, hello, hello", 26);
	}
	str_reset(&plain);
	open_section(ELFCOMPRESS_ZSTD, 27);
	assert_null(elf_file_section(&file, ".debug_x", &n));
	packed.len -= 10;
	str_reset(&plain);
	open_section(ELFCOMPRESS_ZSTD, 26);
	assert_null(elf_file_section(&file, ".debug_x", &n));
}

static bool with_zlib(const struct str *from, struct str *to)
{
	unsigned long n = from->len + from->len / 100 + 1000;
	char *bytes = xmalloc(n);
	struct zlib lib;
	bool loaded = zlib_load(&lib);

	if (loaded) {
		assert_int_equal(lib.pack(bytes, &n, from->s, from->len, FASTEST), 0);
		str_addn(to, bytes, n);
	}
	free(bytes);
	return loaded;
}

/* A section packed in GNU's old way, behind another one of its name; what it says that it becomes. */
static void open_gnu_section(uint64_t bytes)
{
	struct built_elf elf;
	struct str *section;

	elf_start(&elf, ET_DYN, EM_X86_64, false, false);
	elf_add(&elf, ".zdebug_other", SHT_PROGBITS, 0, 0);
	for (int i = 0; i < 2; i++) {
		section = &elf.sections[elf_add(&elf, ".zdebug_x", SHT_PROGBITS, 0, 0)].bytes;
		str_add(section, "ZLIB");
		for (int k = 0; k < 8; k++)
			str_addc(section, (char)(bytes >> 8 * (7 - k)));
		str_addn(section, packed.s, packed.len);
	}
	str_reset(&plain);
	elf_finish(&elf, &plain);
	elf_end(&elf);
	assert_int_equal(open_bytes(plain.s, plain.len), 0);
}

static void pack_hello(void)
{
	str_add(&plain, "hello, hello, hello, hello");
	if (!with_zlib(&plain, &packed))
		skip();
}

static void sections_packed_as_once_are_read(void **state)
{
	const char *text;
	size_t n = 0;

	(void)state;
	pack_hello();
	open_gnu_section(26);
	for (int i = 0; i < 2; i++) {
		text = elf_file_section(&file, ".debug_x", &n);
		assert_non_null(text);
		assert_int_equal(n, 26);
		assert_memory_equal(text, "hello, hello, hello, hello", 26);
	}
	assert_non_null(elf_file_section(&file, ".zdebug_x", &n));
	assert_null(elf_file_section(&file, ".debug_other", &n));
	assert_null(elf_file_section(&file, ".debug_", &n));
	open_gnu_section(27);
	assert_null(elf_file_section(&file, ".debug_x", &n));
	open_gnu_section((uint64_t)1 << 63);
	assert_null(elf_file_section(&file, ".debug_x", &n));
	packed.len -= 10;
	open_gnu_section(26);
	assert_null(elf_file_section(&file, ".debug_x", &n));
}

/* Parts that were packed and then put together. */
static void several_streams_are_read(void **state)
{
	size_t n = 0, once;
	const char *text;

	(void)state;
	pack_hello();
	once = packed.len;
	str_addn(&packed, packed.s, once);
	open_gnu_section(52);
	text = elf_file_section(&file, ".debug_x", &n);
	assert_non_null(text);
	assert_int_equal(n, 52);
	assert_memory_equal(text, "hello, hello, hello, hellohello, hello, hello, hello", 52);
}

static bool is_x(const char *name)
{
	return !strcmp(name, ".debug_x");
}

/* Each under the name it would have had; the file keeps its own. */
static void views_unpack_what_is_packed_as_once(void **state)
{
	struct elf_section section = { 0 };
	struct elf_file view;
	size_t n, n_found = 0;
	uint8_t *bytes;

	(void)state;
	pack_hello();
	open_gnu_section(26);
	assert_int_equal(elf_view_open(&view, &file, is_x, &err), 0);
	while (elf_section_next(&view, &section)) {
		assert_string_not_equal(section.name, ".zdebug_x");
		if (!strcmp(section.name, ".debug_other"))
			assert_null(elf_view_bytes(&view, &section, &n));
		if (strcmp(section.name, ".debug_x"))
			continue;
		n_found++;
		assert_int_equal(section.header.sh_size, 26);
		bytes = elf_view_bytes(&view, &section, &n);
		assert_non_null(bytes);
		assert_int_equal(n, 26);
		assert_memory_equal(bytes, "hello, hello, hello, hello", 26);
	}
	elf_file_close(&view);
	assert_int_equal(n_found, 2);
	assert_true(elf_section_named(&file, ".debug_x", &section));
	assert_string_equal(section.name, ".zdebug_x");
	open_gnu_section((uint64_t)80 * MIB);
	assert_int_equal(elf_view_open(&view, &file, is_x, &err), -EFBIG);
	packed.len -= 10;
	open_gnu_section(26);
	assert_int_equal(elf_view_open(&view, &file, is_x, &err), 0);
	assert_true(elf_section_named(&view, ".debug_x", &section));
	assert_null(elf_view_bytes(&view, &section, &n));
	elf_file_close(&view);
}

/* zlib makes a thousandth of zeros. */
static void sections_become_so_much_and_no_more(void **state)
{
	static const struct {
		size_t bytes;
		bool read;
	} rows[] = { { 60 * MIB, true }, { 80 * MIB, false } };
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned long room = 2 * MIB;
		char *bytes = xmalloc(room);
		struct zlib lib;

		if (!zlib_load(&lib)) {
			free(bytes);
			skip();
		}
		str_reset(&plain);
		str_pad(&plain, '\0', rows[i].bytes);
		assert_int_equal(lib.pack(bytes, &room, plain.s, plain.len, FASTEST), 0);
		str_reset(&packed);
		str_addn(&packed, bytes, room);
		free(bytes);
		str_reset(&plain);
		open_section(ELFCOMPRESS_ZLIB, rows[i].bytes);
		assert_int_equal(elf_file_section(&file, ".debug_x", &n) != NULL, rows[i].read);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(packed_modules_are_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(packed_modules_that_are_cut_are_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(packed_modules_become_so_much_and_no_more, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sections_packed_with_zstd_are_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sections_packed_as_once_are_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(several_streams_are_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(views_unpack_what_is_packed_as_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sections_become_so_much_and_no_more, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
