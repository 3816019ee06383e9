/* SPDX-License-Identifier: MIT */
/*
 * The ELF files of a session: each is opened once, descriptors come and go, what was replaced is refused, bytes are
 * read in pages; views of them are mapped where nobody else can change the file.
 */
#include "elf_builder.h"
#include "elf/elf.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { MANY = 300 };

static char root[64], path[96];
static struct elf_files *files;
static struct str err;

static const char *in_root(unsigned number)
{
	snprintf(path, sizeof(path), "%s/file%u", root, number);
	return path;
}

static int set_up(void **state)
{
	(void)state;
	str_init(&err);
	snprintf(root, sizeof(root), "/tmp/test_elf_files.XXXXXX");
	files = elf_files_new();
	return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	elf_files_free(files);
	str_release(&err);
	for (unsigned i = 0; i < MANY; i++)
		unlink(in_root(i));
	return rmdir(root);
}

/* A file whose text is its number again and again. */
static void make(unsigned number, size_t text_bytes)
{
	struct built_elf elf;
	struct str bytes = STR_INIT;
	uint32_t text, symbols;
	int fd;

	elf_start(&elf, ET_DYN, EM_X86_64, false, false);
	text = elf_add(&elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000);
	str_pad(&elf.sections[text].bytes, (char)number, text_bytes);
	elf.load = text;
	elf_build_id(&elf, (uint8_t)(number + 1), 20);
	symbols = elf_add_symbols(&elf, SHT_SYMTAB);
	elf_symbol(&elf, symbols, "function", 0x1000, 8, STB_GLOBAL, STT_FUNC, text);
	elf_finish(&elf, &bytes);
	elf_end(&elf);
	fd = open(in_root(number), O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, bytes.s, bytes.len), 0);
	close(fd);
	str_release(&bytes);
}

static struct elf_file *open_held(unsigned number)
{
	struct elf_file *file;

	assert_int_equal(elf_files_open(files, in_root(number), &file, &err), 0);
	return file;
}

static unsigned descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void a_file_is_opened_once(void **state)
{
	struct elf_section section;
	struct elf_file *first, *second;
	int fd;

	(void)state;
	make(0, 64);
	first = open_held(0);
	fd = first->fd;
	second = open_held(0);
	assert_ptr_equal(first, second);
	elf_file_let_go(second);
	assert_true(elf_section_named(first, ".symtab", &section)); /* it is still held */
	elf_file_let_go(first);
	second = open_held(0);
	assert_ptr_equal(first, second);
	assert_int_equal(second->fd, fd);
	assert_true(elf_section_named(second, ".symtab", &section));
	assert_int_equal(second->build_id.bytes[0], 1);
	elf_file_let_go(second);
}

static void descriptors_come_and_go(void **state)
{
	unsigned before = descriptors();
	struct elf_file *held, *all[MANY];
	struct elf_section section;

	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		make(i, 64);
	held = open_held(0);
	for (unsigned i = 1; i < MANY; i++)
		elf_file_let_go(all[i] = open_held(i));
	assert_in_range(descriptors() - before, 1, 130);
	assert_true(held->fd >= 0); /* also when it was used longest ago */
	assert_true(elf_section_named(held, ".symtab", &section));
	elf_file_let_go(held);
	for (unsigned i = 1; i < MANY; i++) {
		uint8_t byte = 0;

		assert_ptr_equal(open_held(i), all[i]);
		assert_true(elf_section_named(all[i], ".symtab", &section));
		elf_file_let_go(all[i]);
		assert_true(elf_file_read_at(all[i], all[i]->segments[0].offset, &byte, 1));
		assert_int_equal(byte, (uint8_t)i);
	}
	assert_in_range(descriptors() - before, 1, 130);
}

static void what_was_replaced_is_refused(void **state)
{
	struct elf_file *file;

	(void)state;
	for (unsigned i = 0; i < MANY; i++) {
		make(i, 64);
		elf_file_let_go(file = open_held(i)); /* the first ones are closed again */
	}
	assert_int_equal(unlink(in_root(0)), 0);
	make(0, 128);
	assert_int_equal(elf_files_open(files, in_root(0), &file, &err), -ESTALE);
	assert_string_equal(err.s, "replaced while it was read");
	str_reset(&err);
	assert_int_equal(unlink(in_root(1)), 0);
	assert_int_equal(elf_files_open(files, in_root(1), &file, &err), -ENOENT);
}

static void bytes_are_read_across_pages(void **state)
{
	enum { TEXT_BYTES = 100000 };
	uint8_t *bytes = xmalloc(TEXT_BYTES);
	struct elf_file *file;
	uint64_t offset;

	(void)state;
	make(7, TEXT_BYTES);
	elf_file_let_go(file = open_held(7));
	offset = file->segments[0].offset;
	memset(bytes, 0, TEXT_BYTES);
	assert_true(elf_file_read_at(file, offset, bytes, TEXT_BYTES));
	for (size_t i = 0; i < TEXT_BYTES; i++)
		assert_int_equal(bytes[i], 7);
	assert_true(elf_file_read_at(file, (uint64_t)file->stat.st_size - 1, bytes, 1));
	assert_false(elf_file_read_at(file, (uint64_t)file->stat.st_size - 1, bytes, 2));
	assert_false(elf_file_read_at(file, UINT64_MAX, bytes, 2));
	assert_false(elf_file_read_at(file, UINT64_MAX - 1, bytes, SIZE_MAX));
	assert_true(elf_file_read_at(file, (uint64_t)file->stat.st_size, bytes, 0));
	free(bytes);
}

static void without_a_session_a_file_goes_when_it_is_let_go(void **state)
{
	unsigned before = descriptors();
	struct elf_file *file;

	(void)state;
	make(0, 64);
	assert_int_equal(elf_files_open(NULL, in_root(0), &file, &err), 0);
	assert_int_equal(descriptors(), before + 1);
	elf_file_let_go(file);
	assert_int_equal(descriptors(), before);
}

static bool is_any(const char *section)
{
	(void)section;
	return true;
}

/* The view of file 7 and the bytes of its text. */
static const uint8_t *view_text(struct elf_file *view, size_t *n)
{
	struct elf_section section;
	struct elf_file *file;
	const uint8_t *bytes;

	assert_int_equal(elf_files_open(files, in_root(7), &file, &err), 0);
	assert_int_equal(elf_view_open(view, file, is_any, &err), 0);
	assert_true(elf_section_named(view, ".text", &section));
	bytes = elf_view_bytes(view, &section, n);
	assert_non_null(bytes);
	elf_view_done(view);
	elf_file_let_go(file);
	return bytes;
}

static void what_a_mapped_file_loses_is_zeros(void **state)
{
	struct elf_file view;
	const uint8_t *bytes;
	size_t n;

	(void)state;
	make(7, 1 << 18);
	bytes = view_text(&view, &n);
	assert_non_null(view.mapped);
	assert_int_equal(n, 1 << 18);
	assert_int_equal(bytes[n - 1], 7);
	elf_view_forget(bytes, n);
	assert_int_equal(bytes[0], 7);
	assert_int_equal(bytes[n - 1], 7);
	elf_view_forget(bytes, n);
	assert_int_equal(truncate(in_root(7), 1 << 16), 0);
	assert_int_equal(bytes[0], 7);
	assert_int_equal(bytes[n - 1], 0);
	assert_int_equal(bytes[n / 2], 0);
	elf_file_close(&view);
}

static void what_others_can_change_is_not_mapped(void **state)
{
	static const mode_t modes[] = { 0666, 0646, 0664 };
	struct elf_file view;
	const uint8_t *bytes;
	size_t n;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		make(7, 1 << 18);
		assert_int_equal(chmod(in_root(7), modes[i]), 0);
		bytes = view_text(&view, &n);
		assert_null(view.mapped);
		assert_int_equal(truncate(in_root(7), 1 << 16), 0);
		assert_int_equal(bytes[n - 1], 7);
		elf_file_close(&view);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_is_opened_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(descriptors_come_and_go, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_replaced_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(bytes_are_read_across_pages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_a_session_a_file_goes_when_it_is_let_go, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_a_mapped_file_loses_is_zeros, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_others_can_change_is_not_mapped, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
