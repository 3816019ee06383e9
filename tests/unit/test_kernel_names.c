/* SPDX-License-Identifier: MIT */
/*
 * Names of kernel and modules on a machine of files: which list is believed, what a kernel that lies elsewhere
 * needs, and which reason is given where there are no names.
 */
#include "sym/sym.h"

#include "unit/fake_machine.h"

#include <dirent.h>

#include <cmocka.h>

enum { ID_BYTES = 20, KERNEL_SIZE = 0x1000000 };
#define KERNEL_START 0xffffffff81000000
#define MODULE_START 0xffffffffc0201000

static const char list[] = "ffffffff81000000 T _text\n"
			   "ffffffff81000100 T schedule\n"
			   "ffffffff81000200 T _Z1fv\n"
			   "ffffffffc0201040 t snd_read\t[snd_hda]\n"
			   "ffffffffc0201080 t snd_write\t[snd_hda]\n"
			   "ffffffffc0201010 T snd_first\t[snd_hda]\n"
			   "ffffffffc0100000 d snd_data\t[snd_hda]\n";
static const char hidden[] = "0000000000000000 T _text\n0000000000000000 t snd_read\t[snd_hda]\n";

static struct fake_machine machine;
static struct info info;
static struct recording_info recording = { .info = &info };
static struct sym_options options;
static struct symbols *symbols;
static struct dso kernel, module;
static char *cache;
static bool ahead; /* the list is read by a thread before it is asked for */

static void add_notes(uint8_t first_byte)
{
	char *path = xasprintf("%s/sys/kernel/notes", machine.root);
	const uint32_t head[3] = { 4, ID_BYTES, 3 };
	uint8_t id[ID_BYTES] = { first_byte };
	FILE *f;

	fake_machine_file(&machine, "sys/kernel/notes", "");
	f = fopen(path, "w");
	assert_non_null(f);
	fwrite(head, sizeof(head), 1, f);
	fwrite("GNU", 4, 1, f);
	fwrite(id, sizeof(id), 1, f);
	fclose(f);
	free(path);
}

static int set_up(void **state)
{
	(void)state;
	fake_machine_init(&machine);
	cache = xasprintf("%s/cache", machine.root);
	fake_machine_file(&machine, "proc/sys/kernel/osrelease", "6.1.0-test\n");
	fake_machine_file(&machine, "proc/sys/kernel/hostname", "here\n");
	fake_machine_file(&machine, "proc/sys/kernel/kptr_restrict", "1\n");
	fake_machine_file(&machine, "proc/kallsyms", list);
	options = (struct sym_options){
		.procfs = machine.procfs,
		.sysfs = machine.sysfs,
		.buildid_dir = cache,
		.ignore_vmlinux = true,
	};
	info_init(&info);
	info.os_release = xstrdup("6.1.0-test");
	info.hostname = xstrdup("here");
	kernel = (struct dso){
		.index = 0,
		.kind = DSO_KERNEL,
		.path = xstrdup("[kernel.kallsyms]"),
		.name = xstrdup("[kernel.kallsyms]"),
		.pid = -1,
		.start = KERNEL_START,
		.end = KERNEL_START + KERNEL_SIZE,
		.ref_addr = KERNEL_START,
		.ref_symbol = xstrdup("_text"),
	};
	module = (struct dso){
		.index = 1,
		.kind = DSO_MODULE,
		.path = xstrdup("/lib/modules/6.1.0-test/kernel/sound/snd-hda.ko.xz"),
		.name = xstrdup("[snd_hda]"),
		.pid = -1,
		.start = MODULE_START,
		.end = MODULE_START + 0x1000,
	};
	return 0;
}

static int set_up_ahead(void **state)
{
	ahead = true;
	return set_up(state);
}

static int tear_down(void **state)
{
	(void)state;
	ahead = false;
	symbols_free(symbols);
	symbols = NULL;
	free(kernel.path);
	free(kernel.name);
	free(kernel.ref_symbol);
	free(module.path);
	free(module.name);
	info_release(&info);
	free(cache);
	fake_machine_release(&machine);
	unsetenv("XDG_CACHE_HOME");
	return 0;
}

static const char *at(const struct dso *dso, uint64_t addr)
{
	const struct symbol *symbol;

	if (!symbols) {
		symbols = symbols_new(&options, &recording);
		if (ahead)
			symbols_expect(symbols, &kernel);
	}
	symbol = symbols_find(symbols, dso, addr);
	return symbol ? symbol->name : "none";
}

static void assert_none(const struct dso *dso, const char *why, const char *remedy)
{
	assert_string_equal(at(dso, dso->start + 0x100), "none");
	assert_int_equal(symbols_state(symbols, dso), SYM_NONE);
	assert_string_equal(symbols_why(symbols, dso), why);
	if (remedy)
		assert_string_equal(symbols_remedy(symbols, dso), remedy);
	else
		assert_null(symbols_remedy(symbols, dso));
}

static void the_running_kernel_by_its_build_id(void **state)
{
	const struct symbol *symbol;

	(void)state;
	add_notes(0xab);
	kernel.build_id = (struct build_id){ ID_BYTES, { 0xab } };
	info.os_release[0] = 'x'; /* the build-id is enough */
	assert_string_equal(at(&kernel, KERNEL_START + 0x180), "schedule");
	symbol = symbols_find(symbols, &kernel, KERNEL_START + 0x180);
	assert_int_equal(symbol->start, KERNEL_START + 0x100);
	assert_int_equal(symbol->end, KERNEL_START + 0x200);
	assert_int_equal(symbol->binding, 'g');
	assert_ptr_equal(symbol, symbols_find(symbols, &kernel, KERNEL_START + 0x101));
	assert_string_equal(at(&kernel, KERNEL_START + 0x200), "_Z1fv"); /* never demangled */
	assert_string_equal(at(&kernel, KERNEL_START - 1), "none");
	assert_int_equal(symbols_state(symbols, &kernel), SYM_FOUND);
	assert_string_equal(symbols_why(symbols, &kernel), "");
	assert_non_null(strstr(symbols_source(symbols, &kernel), "/proc/kallsyms"));
}

static void another_kernel_is_refused(void **state)
{
	(void)state;
	add_notes(0xab);
	kernel.build_id = (struct build_id){ ID_BYTES, { 0xcd } };
	assert_none(&kernel,
		    "of another kernel than the running one: the recording has build-id "
		    "cd00000000000000000000000000000000000000",
		    "-k with that kernel's vmlinux, or --kallsyms with a copy of its list");
}

static void another_release_or_host_is_refused(void **state)
{
	(void)state;
	free(info.os_release);
	info.os_release = xstrdup("5.4\033[31m");
	assert_none(&kernel,
		    "of another kernel than the running one: it was recorded on Linux 5.4\\x1b[31m",
		    "-k with that kernel's vmlinux, or --kallsyms with a copy of its list");
	symbols_free(symbols);
	symbols = NULL;
	free(info.os_release);
	info.os_release = NULL;
	free(info.hostname);
	info.hostname = xstrdup("there");
	assert_none(&kernel, "of another machine's kernel: it was recorded on there",
		    "-k with that kernel's vmlinux, or --kallsyms with a copy of its list");
}

static void the_copy_of_another_kernel_is_used(void **state)
{
	(void)state;
	add_notes(0xab);
	kernel.build_id = (struct build_id){ ID_BYTES, { 0xcd } };
	fake_machine_file(
		&machine,
		"cache/[kernel.kallsyms]/cd00000000000000000000000000000000000000/kallsyms",
		"ffffffff81000000 T _text\nffffffff81000100 T of_the_copy\n");
	assert_string_equal(at(&kernel, KERNEL_START + 0x100), "of_the_copy");
	assert_string_equal(symbols_why(symbols, &kernel), "");
}

static void hidden_addresses_name_the_setting(void **state)
{
	(void)state;
	fake_machine_file(&machine, "proc/kallsyms", hidden);
	fake_machine_file(&machine, "proc/sys/kernel/kptr_restrict", "2\n");
	assert_none(&kernel, "kernel addresses are hidden", "sysctl kernel.kptr_restrict=0");
	assert_none(&module, "kernel addresses are hidden", "sysctl kernel.kptr_restrict=0");
	assert_true(symbols_hidden(symbols, &kernel) && symbols_hidden(symbols, &module));
}

/* The list has _text 0x200000 lower than the recording: all of the kernel was there. */
static void a_kernel_that_lies_elsewhere(void **state)
{
	const uint64_t moved = 0x200000;

	(void)state;
	kernel.ref_addr += moved;
	assert_string_equal(at(&kernel, KERNEL_START + moved + 0x180), "schedule");
	assert_string_equal(at(&kernel, KERNEL_START + 0x180), "none");
	assert_int_equal(symbols_find(symbols, &kernel, KERNEL_START + moved + 0x180)->start,
			 KERNEL_START + moved + 0x100);
}

static void a_list_without_the_reference_is_refused(void **state)
{
	(void)state;
	fake_machine_file(&machine, "proc/kallsyms", "ffffffff81000100 T schedule\n");
	assert_string_equal(at(&kernel, KERNEL_START + 0x180), "none");
	assert_non_null(strstr(symbols_why(symbols, &kernel),
			       "it has no _text, which holds the kernel's address"));
}

static void a_list_that_was_named_is_used(void **state)
{
	char *path = xasprintf("%s/copy", machine.root);

	(void)state;
	add_notes(0xab);
	kernel.build_id = (struct build_id){ ID_BYTES, { 0xcd } };
	fake_machine_file(&machine, "copy", list);
	options.kallsyms = path;
	assert_string_equal(at(&kernel, KERNEL_START + 0x100), "schedule");
	assert_string_equal(at(&module, MODULE_START + 0x40), "snd_read");
	free(path);
}

static void with_symfs_the_running_kernel_is_not_asked(void **state)
{
	(void)state;
	options.symfs = machine.root;
	assert_none(&kernel, "with --symfs the running kernel's names are not used",
		    "-k with that kernel's vmlinux, or --kallsyms with a copy of its list");
}

/* ---- modules ---- */

static void functions_of_a_module(void **state)
{
	(void)state;
	assert_string_equal(at(&module, MODULE_START + 0x10), "snd_first");
	assert_string_equal(at(&module, MODULE_START + 0x40), "snd_read");
	assert_string_equal(at(&module, MODULE_START + 0x7f), "snd_read");
	assert_string_equal(at(&module, MODULE_START + 0x80), "snd_write");
	assert_string_equal(at(&module, MODULE_START), "none");
	assert_string_equal(at(&kernel, MODULE_START + 0x40), "none");
}

static void a_module_by_the_name_in_brackets(void **state)
{
	(void)state;
	free(module.path);
	module.path = xstrdup("[snd_hda]");
	assert_string_equal(at(&module, MODULE_START + 0x40), "snd_read");
}

static void a_module_that_was_loaded_again(void **state)
{
	(void)state;
	module.start += 0x10000;
	module.end += 0x10000;
	assert_none(&module, "loaded at another address since the recording", NULL);
}

static void modules_by_the_list_of_modules(void **state)
{
	(void)state;
	fake_machine_file(&machine, "proc/modules",
			  "snd 1 0 - Live 0xffffffffc0300000\n"
			  "snd_hda 81920 1 - Live 0xffffffffc0202000\n");
	assert_none(&module, "loaded at another address since the recording", NULL);
}

static void a_module_that_is_gone(void **state)
{
	(void)state;
	free(module.path);
	module.path = xstrdup("[gone]");
	assert_none(&module, "not loaded any more", NULL);
}

static void what_was_read_ahead_is_what_is_used(void **state)
{
	(void)state;
	symbols = symbols_new(&options, &recording);
	symbols_expect(symbols, &module); /* nothing begins */
	symbols_expect(symbols, &kernel);
	symbols_expect(symbols, &kernel);
	/* By then the recording names another symbol: the list is read again, for that one. */
	free(kernel.ref_symbol);
	kernel.ref_symbol = xstrdup("schedule");
	kernel.ref_addr = KERNEL_START + 0x300;
	assert_string_equal(at(&kernel, KERNEL_START + 0x380), "schedule");
	symbols_expect(symbols, &kernel); /* it is known */
	assert_string_equal(at(&kernel, KERNEL_START + 0x400), "_Z1fv");
}

static void what_was_read_ahead_need_not_be_used(void **state)
{
	(void)state;
	symbols = symbols_new(&options, &recording);
	symbols_expect(symbols, &kernel);
}

/* Each kernel's list is millions of bytes: a recording that names ever more kernels gets no more lists read. */
static void one_recording_has_few_kernels(void **state)
{
	enum { KERNELS_MAX = 32 };
	struct dso many[KERNELS_MAX + 1];

	(void)state;
	for (uint32_t i = 0; i <= KERNELS_MAX; i++) {
		many[i] = kernel;
		many[i].index = i;
	}
	for (uint32_t i = 0; i < KERNELS_MAX; i++)
		assert_string_equal(at(&many[i], KERNEL_START + 0x180), "schedule");
	assert_none(&many[KERNELS_MAX], "the recording names more than 32 kernels: no more lists of symbols are read",
		    NULL);
}

/* ---- kept for the next time ---- */

#define BOOT_ID "0a0b0c0d-0102-0304-0506-0708090a0b0c\n"
enum { FILLERS = 60 }; /* so that a list's beginning is not all of it */

static void long_list(const char *first, const char *rest)
{
	struct str text = STR_INIT;

	str_add(&text, first);
	for (unsigned i = 0; i < FILLERS; i++)
		str_addf(&text, "%llx t filler_%u\n", (unsigned long long)KERNEL_START + 0x1000 + 0x100 * i, i);
	str_add(&text, rest);
	fake_machine_file(&machine, "proc/kallsyms", text.s);
	str_release(&text);
}

static void keep_answers(void)
{
	char *home = xasprintf("%s/kept", machine.root);

	assert_int_equal(mkdir(home, 0700), 0);
	setenv("XDG_CACHE_HOME", home, 1);
	free(home);
	add_notes(7);
	fake_machine_file(&machine, "proc/sys/kernel/random/boot_id", BOOT_ID);
	options.keep_answers = true;
	long_list("ffffffff81000000 T _text\nffffffff81000100 T schedule\n", "ffffffff81010000 T at_the_end\n");
}

/* What is to be kept is written. */
static void end_run(void)
{
	symbols_free(symbols);
	symbols = NULL;
}

static const char *at_anew(uint64_t addr)
{
	end_run();
	return at(&kernel, addr);
}

/* The one file in the cache; the caller frees. */
static char *kept_path(void)
{
	char *path = NULL, *folder = xasprintf("%s/kept/pstat", machine.root);
	DIR *dir = opendir(folder);
	const struct dirent *row;

	assert_non_null(dir);
	while ((row = readdir(dir)) != NULL) {
		if (row->d_name[0] == '.')
			continue;
		assert_null(path);
		path = xasprintf("%s/%s", folder, row->d_name);
	}
	closedir(dir);
	free(folder);
	assert_non_null(path);
	return path;
}

static void read_kept(const char *path, struct str *bytes)
{
	FILE *f = fopen(path, "r");
	char piece[4096];
	size_t n;

	assert_non_null(f);
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
		str_addn(bytes, piece, n);
	fclose(f);
}

static void write_kept(const char *path, const char *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* With its checksum, see names_cache.h. */
static void seal(struct str *entry)
{
	uint64_t checksum = checksum_bytes(entry->s + 16, entry->len - 16);

	memcpy(entry->s + 8, &checksum, sizeof(checksum));
}

/* The run ends; a name in the list that it kept is another, which is shown where the list is used. */
static void rename_kept(void)
{
	struct str bytes = STR_INIT;
	char *path, *name;

	end_run();
	path = kept_path();
	read_kept(path, &bytes);
	name = memmem(bytes.s, bytes.len, "at_the_end", strlen("at_the_end"));
	assert_non_null(name);
	memcpy(name, "as_is_kept", strlen("as_is_kept"));
	seal(&bytes);
	write_kept(path, bytes.s, bytes.len);
	str_release(&bytes);
	free(path);
}

static void a_list_that_was_read_is_kept(void **state)
{
	(void)state;
	keep_answers();
	assert_string_equal(at(&kernel, KERNEL_START + 0x10001), "at_the_end");
	rename_kept();
	assert_string_equal(at_anew(KERNEL_START + 0x10001), "as_is_kept");
	assert_string_equal(at_anew(KERNEL_START + 0x101), "schedule");
	assert_string_equal(symbols_source(symbols, &kernel) + strlen(machine.procfs), "/kallsyms");
	/* Recorded where it had been moved to. */
	kernel.ref_addr += 0x200000;
	assert_string_equal(at_anew(KERNEL_START + 0x210001), "as_is_kept");
	/* Another symbol is asked for: there is none of it yet, and it is an entry of its own. */
	free(kernel.ref_symbol);
	kernel.ref_symbol = xstrdup("schedule");
	kernel.ref_addr = KERNEL_START + 0x100;
	assert_string_equal(at_anew(KERNEL_START + 0x10001), "at_the_end");
	options.keep_answers = false;
	assert_string_equal(at_anew(KERNEL_START + 0x10001), "at_the_end");
}

static void a_list_that_was_kept_is_of_one_start(void **state)
{
	(void)state;
	keep_answers();
	assert_string_equal(at(&kernel, KERNEL_START + 0x10001), "at_the_end");
	rename_kept();
	fake_machine_file(&machine, "proc/sys/kernel/random/boot_id", "f" BOOT_ID);
	assert_string_equal(at_anew(KERNEL_START + 0x10001), "at_the_end");
	/* That took the place of the one before. */
	free(kept_path());
	fake_machine_file(&machine, "proc/sys/kernel/random/boot_id", BOOT_ID);
	assert_string_equal(at_anew(KERNEL_START + 0x10001), "at_the_end");
	rename_kept();
	assert_string_equal(at_anew(KERNEL_START + 0x10001), "as_is_kept");
	/* A list that begins otherwise. */
	long_list("ffffffff81000000 T _text\nffffffff81000200 T schedule\n", "ffffffff81010000 T at_the_end\n");
	assert_string_equal(at_anew(KERNEL_START + 0x10001), "at_the_end");
	rename_kept();
	/* Who may not see addresses sees none that another could. */
	fake_machine_file(&machine, "proc/kallsyms", hidden);
	assert_none(&kernel, "kernel addresses are hidden", "sysctl kernel.kptr_restrict=0");
}

/*
 * Each byte another, and each length: it is not used. With a checksum that is right all the same names may be wrong or
 * missing, and all that is looked at is in the file.
 */
static void whatever_was_kept_is_in_bounds(void **state)
{
	enum { CHECKED_FROM = 16 };
	struct str bytes = STR_INIT;
	char *path, change;

	(void)state;
	keep_answers();
	at(&kernel, KERNEL_START + 0x101);
	end_run();
	path = kept_path();
	read_kept(path, &bytes);
	for (size_t i = 0; i < bytes.len; i++) {
		change = (char)(i % 2 ? 0xff : 0x40);
		bytes.s[i] ^= change;
		write_kept(path, bytes.s, bytes.len);
		assert_string_equal(at_anew(KERNEL_START + 0x10001), "at_the_end");
		end_run();
		seal(&bytes);
		write_kept(path, bytes.s, bytes.len);
		for (unsigned page = 0; page < 18; page++)
			assert_true(strlen(at(&kernel, KERNEL_START + 0x1000 * page + 0x101)) < bytes.len);
		/* The last name is to end. */
		if (i < CHECKED_FROM || i + 1 == bytes.len)
			assert_string_equal(at(&kernel, KERNEL_START + 0x10001), "at_the_end");
		bytes.s[i] ^= change;
		seal(&bytes);
	}
	for (size_t n = 0; n < bytes.len; n++) {
		write_kept(path, bytes.s, n);
		assert_string_equal(at_anew(KERNEL_START + 0x10001), "at_the_end");
	}
	str_release(&bytes);
	free(path);
}

int main(void)
{
#define BOTH(name)                                                      \
	cmocka_unit_test_setup_teardown(name, set_up_ahead, tear_down), \
		cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		BOTH(the_running_kernel_by_its_build_id),
		BOTH(another_kernel_is_refused),
		BOTH(another_release_or_host_is_refused),
		BOTH(the_copy_of_another_kernel_is_used),
		BOTH(hidden_addresses_name_the_setting),
		BOTH(a_kernel_that_lies_elsewhere),
		BOTH(a_list_without_the_reference_is_refused),
		BOTH(a_list_that_was_named_is_used),
		BOTH(with_symfs_the_running_kernel_is_not_asked),
		TEST(one_recording_has_few_kernels),
		TEST(functions_of_a_module),
		TEST(a_module_by_the_name_in_brackets),
		TEST(a_module_that_was_loaded_again),
		TEST(modules_by_the_list_of_modules),
		TEST(a_module_that_is_gone),
		TEST(what_was_read_ahead_is_what_is_used),
		TEST(what_was_read_ahead_need_not_be_used),
		BOTH(a_list_that_was_read_is_kept),
		BOTH(a_list_that_was_kept_is_of_one_start),
		TEST(whatever_was_kept_is_in_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
