/* SPDX-License-Identifier: MIT */
/*
 * Names that Android's simpleperf has put into a recording, in both of its forms, made here by hand: whose they are,
 * where they lie, that the user's own files come first, and that what is cut or lies is no crash.
 */
#include "elf/elf.h"
#include "sym/sym.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { FILE_FEATURE = 128, FILE2_FEATURE = 132, KERNEL = 0, MODULE = 1, ELF = 2, DEX = 3 };

static struct info info;
static struct recording_info recording = { .info = &info };
static struct sym_options options;
static struct symbols *symbols;
static struct str feature;

static int set_up(void **state)
{
	(void)state;
	info_init(&info);
	str_init(&feature);
	options = (struct sym_options){ .buildid_dir = "/nowhere", .procfs = "/nowhere", .sysfs = "/nowhere" };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	symbols_free(symbols);
	symbols = NULL;
	str_release(&feature);
	info_release(&info);
	return 0;
}

/* ---- the two forms ---- */

static void put(struct str *out, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		str_addc(out, (char)(value >> 8 * i));
}

static void put_varint(struct str *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		str_addc(out, (char)(value | 0x80));
	str_addc(out, (char)value);
}

static void put_field(struct str *out, unsigned number, uint64_t value)
{
	put_varint(out, number << 3);
	put_varint(out, value);
}

static void put_bytes(struct str *out, unsigned number, const char *bytes, size_t n)
{
	put_varint(out, number << 3 | 2);
	put_varint(out, n);
	str_addn(out, bytes, n);
}

static const struct made_symbol {
	uint64_t vaddr, bytes;
	const char *name;
} made[] = { { 0x5010, 0x20, "first" }, { 0x5030, 0x10, "_ZN1a1bEv" }, { 0x5080, 8, "last" } };

/* An entry with the symbols above; min_at UINT64_MAX: it has none. */
static void add_struct(const char *path, uint32_t type, uint64_t min_vaddr, uint64_t min_at)
{
	struct str entry = STR_INIT;

	str_addn(&entry, path, strlen(path) + 1);
	put(&entry, type, 4);
	put(&entry, min_vaddr, 8);
	put(&entry, ARRAY_SIZE(made), 4);
	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		put(&entry, made[i].vaddr, 8);
		put(&entry, made[i].bytes, 4);
		str_addn(&entry, made[i].name, strlen(made[i].name) + 1);
	}
	if (min_at != UINT64_MAX)
		put(&entry, min_at, 8);
	put(&feature, entry.len, 4);
	str_addn(&feature, entry.s, entry.len);
	str_release(&entry);
}

static void add_message(const char *path, uint32_t type, uint64_t min_vaddr, uint64_t min_at)
{
	struct str entry = STR_INIT, inner = STR_INIT;

	put_bytes(&entry, 1, path, strlen(path));
	put_field(&entry, 2, type);
	put_field(&entry, 3, min_vaddr);
	put_field(&entry, 99, 1); /* of a later version */
	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		str_reset(&inner);
		put_field(&inner, 1, made[i].vaddr);
		put_field(&inner, 2, made[i].bytes);
		put_bytes(&inner, 3, made[i].name, strlen(made[i].name));
		put_bytes(&entry, 4, inner.s, inner.len);
	}
	str_reset(&inner);
	put_field(&inner, 1, min_at);
	if (min_at != UINT64_MAX)
		put_bytes(&entry, type == MODULE ? 7 : 6, inner.s, inner.len);
	put(&feature, entry.len, 4);
	str_addn(&feature, entry.s, entry.len);
	str_release(&entry);
	str_release(&inner);
}

/* The recording has the first n bytes of the feature. */
static void begin(unsigned id, size_t n)
{
	symbols_free(symbols);
	info_release(&info);
	info_init(&info);
	VEC_GROW(info.raw.v, info.raw.n, info.raw.cap);
	info.raw.v[info.raw.n] = (struct info_raw){ id, xmalloc(n ? n : 1), n };
	memcpy(info.raw.v[info.raw.n++].bytes, feature.s, n);
	symbols = symbols_new(&options, &recording);
}

static const char *name_at(const struct dso *dso, uint64_t addr)
{
	const struct symbol *symbol = symbols_find(symbols, dso, addr);

	return symbol ? symbol->name : "none";
}

static char elf_path[] = "/data/app/base.apk!/lib/arm64/libgame.so", dex_path[] = "/data/app/base.vdex";
static char module_path[] = "/vendor/lib/modules/wlan.ko", kernel_path[] = "[kernel.kallsyms]";
static char other_path[] = "/data/x";
static const struct dso elf_dso = { .index = 0, .kind = DSO_FILE, .path = elf_path, .name = elf_path, .pid = -1,
				    .code = { 1, 0x70000000, 0x70010000, 0x3000 } };
static const struct dso dex_dso = { .index = 1, .kind = DSO_FILE, .path = dex_path, .name = dex_path, .pid = -1 };
static const struct dso module_dso = { .index = 2, .kind = DSO_MODULE, .path = module_path, .name = module_path,
				       .pid = -1, .start = 0xffffffc000000000, .end = 0xffffffc000100000 };
static const struct dso kernel_dso = { .index = 3, .kind = DSO_KERNEL, .path = kernel_path, .name = kernel_path,
				       .pid = -1 };
static const struct dso other_dso = { .index = 4, .kind = DSO_FILE, .path = other_path, .name = other_path, .pid = -1 };

static const struct form {
	unsigned id;
	void (*add)(const char *path, uint32_t type, uint64_t min_vaddr, uint64_t min_at);
} forms[] = { { FILE_FEATURE, add_struct }, { FILE2_FEATURE, add_message } };

static void add_all(const struct form *form)
{
	str_reset(&feature);
	form->add(elf_path, ELF, 0x5000, 0x4000);
	form->add(dex_path, DEX, 0, UINT64_MAX);
	form->add(module_path, MODULE, 0x5000, 0x100);
	form->add(kernel_path, KERNEL, 0, UINT64_MAX);
}

static void names_are_where_they_were(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		add_all(&forms[i]);
		begin(forms[i].id, feature.len);
		assert_string_equal(name_at(&elf_dso, 0x4010), "first");
		assert_string_equal(name_at(&elf_dso, 0x402f), "first");
		assert_string_equal(name_at(&elf_dso, 0x4030), "a::b");
		assert_string_equal(name_at(&elf_dso, 0x4040), "none");
		assert_string_equal(name_at(&elf_dso, 0x5010), "none");
		assert_string_equal(symbols_why(symbols, &elf_dso), "");
		assert_non_null(strstr(symbols_source(symbols, &elf_dso), "simpleperf"));
		assert_string_equal(name_at(&dex_dso, 0x5087), "last");
		assert_string_equal(name_at(&module_dso, 0xffffffc000000110), "first");
		assert_string_equal(name_at(&kernel_dso, 0x5010), "first");
		assert_string_equal(name_at(&other_dso, 0x4010), "none");
		assert_string_equal(symbols_why(symbols, &other_dso), "no such file");
	}
}

/* Old ones do not say where in the file the code lay: it is what was mapped first. */
static void old_entries_count_from_the_mapping(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		str_reset(&feature);
		forms[i].add(elf_path, ELF, 0x5000, UINT64_MAX);
		begin(forms[i].id, feature.len);
		assert_string_equal(name_at(&elf_dso, 0x3010), "first");
	}
}

/* Who says where files are wants these; where they are not, the recording's are there. */
static void the_users_files_come_first(void **state)
{
	(void)state;
	add_all(&forms[0]);
	options.symfs = "/nowhere";
	begin(FILE_FEATURE, feature.len);
	assert_string_equal(name_at(&elf_dso, 0x4010), "first");
	assert_string_equal(symbols_why(symbols, &elf_dso), "");
	options.not_recorded = true;
	begin(FILE_FEATURE, feature.len);
	assert_string_equal(name_at(&elf_dso, 0x4010), "none");
}

/* Of an entry that is cut nothing is taken, and all before it. */
static void cut_anywhere(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		size_t first;

		str_reset(&feature);
		forms[i].add(elf_path, ELF, 0x5000, 0x4000);
		first = feature.len;
		add_all(&forms[i]);
		for (size_t n = 0; n < feature.len; n++) {
			begin(forms[i].id, n);
			assert_string_equal(name_at(&elf_dso, 0x4010), n < first ? "none" : "first");
		}
	}
}

/* Each byte is another one: what it says may be wrong, and is not looked at beyond the feature's end. */
static void bytes_that_lie(void **state)
{
	static const uint8_t lies[] = { 0, 0x7f, 0x80, 0xff };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		add_all(&forms[i]);
		for (size_t n = 0; n < 240; n++)
			for (size_t k = 0; k < ARRAY_SIZE(lies); k++) {
				char was = feature.s[n];

				feature.s[n] = (char)lies[k];
				begin(forms[i].id, feature.len);
				name_at(&elf_dso, 0x4010);
				name_at(&dex_dso, 0x5010);
				feature.s[n] = was;
			}
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(names_are_where_they_were),
		TEST(old_entries_count_from_the_mapping),
		TEST(the_users_files_come_first),
		TEST(cut_anywhere),
		TEST(bytes_that_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
