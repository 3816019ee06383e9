/* SPDX-License-Identifier: MIT */
/*
 * Code of a kernel, from the /proc/kcore of a machine of files or from copies of it in the cache: where its segments
 * say it is, also when the recording had the kernel elsewhere; and why there is none.
 */
#include "sym/sym.h"

#include "unit/elf_builder.h"
#include "unit/fake_machine.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmocka.h>

#define KERNEL_START 0xffffffff81000000
#define MOVED 0x2000000
enum { KERNEL_SIZE = 0x1000000, CODE_BYTES = 0x400 };

static struct fake_machine machine;
static struct info info;
static struct recording_info recording = { .info = &info };
static struct sym_options options;
static struct symbols *symbols;
static struct dso kernel;
static struct symbol_code code;
static struct str why;

static int set_up(void **state)
{
	(void)state;
	fake_machine_init(&machine);
	fake_machine_file(&machine, "proc/sys/kernel/osrelease", "6.1.0-test\n");
	fake_machine_file(&machine, "proc/sys/kernel/hostname", "here\n");
	fake_machine_file(&machine, "proc/kallsyms", "ffffffff81000000 T _text\nffffffff81000100 T schedule\n"
						      "ffffffff81000200 T last\nffffffff81000400 T _etext\n");
	options = (struct sym_options){ .procfs = machine.procfs, .sysfs = machine.sysfs, .ignore_vmlinux = true,
					.buildid_dir = machine.root };
	info_init(&info);
	info.os_release = xstrdup("6.1.0-test");
	info.hostname = xstrdup("here");
	kernel = (struct dso){
		.kind = DSO_KERNEL,
		.path = xstrdup("[kernel.kallsyms]"),
		.name = xstrdup("[kernel.kallsyms]"),
		.pid = -1,
		.start = KERNEL_START,
		.end = KERNEL_START + KERNEL_SIZE,
		.ref_addr = KERNEL_START,
		.ref_symbol = xstrdup("_text"),
	};
	symbols = NULL;
	code = (struct symbol_code){ 0 };
	str_init(&why);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	symbols_free(symbols);
	symbol_code_release(&code);
	str_release(&why);
	free(kernel.path);
	free(kernel.name);
	free(kernel.ref_symbol);
	info_release(&info);
	fake_machine_release(&machine);
	return 0;
}

/* A core file with CODE_BYTES of code, each the low byte of its address plus `more`; of it the first bytes, or all. */
static void write_kcore(const char *name, size_t cut, unsigned more)
{
	char *path = xasprintf("%s/%s", machine.root, name);
	struct built_elf built;
	struct str bytes = STR_INIT;
	uint32_t text;
	int fd;

	elf_start(&built, ET_CORE, EM_AARCH64, false, false);
	text = elf_add(&built, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, KERNEL_START);
	for (unsigned i = 0; i < CODE_BYTES; i++)
		str_addc(&built.sections[text].bytes, (char)(i + more));
	built.load = text;
	elf_finish(&built, &bytes);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write_all(fd, bytes.s, cut && cut < bytes.len ? cut : bytes.len), 0);
	close(fd);
	str_release(&bytes);
	elf_end(&built);
	free(path);
}

static void add_kcore(size_t cut)
{
	write_kcore("proc/kcore", cut, 0);
}

/* A copy in the cache, the machine's root, of the kernel with the build-id 0102..; its symbols lie so far on. */
static void add_copy(const char *moment, uint64_t moved, const char *modules, unsigned more)
{
	char *folder = xasprintf("[kernel.kcore]/0102030405060708090a0b0c0d0e0f1011121314/%s", moment);
	char *path = xasprintf("%s/kallsyms", folder), *list;
	const unsigned long long at = KERNEL_START + moved;

	list = xasprintf("%llx T _text\n%llx T schedule\n%llx T last\n%llx T _etext\n%llx t fn\t[testmod]\n", at,
			 at + 0x100, at + 0x200, at + 0x400, (unsigned long long)KERNEL_START + 0x300);
	fake_machine_file(&machine, path, list);
	free(list);
	free(path);
	path = xasprintf("%s/modules", folder);
	fake_machine_file(&machine, path, modules);
	free(path);
	path = xasprintf("%s/kcore", folder);
	write_kcore(path, 0, more);
	free(path);
	free(folder);
}

static void of_recorded_id(struct dso *dso)
{
	dso->build_id.size = 20;
	for (uint8_t i = 0; i < dso->build_id.size; i++)
		dso->build_id.bytes[i] = (uint8_t)(i + 1);
}

static int read_code(uint64_t addr, size_t n)
{
	symbols = symbols_new(&options, &recording);
	assert_non_null(symbols_find(symbols, &kernel, addr));
	return symbols_code(symbols, &kernel, addr, 0, n, &code, &why);
}

static void the_kernels_code(void **state)
{
	(void)state;
	add_kcore(0);
	if (read_code(KERNEL_START + 0x110, 16))
		fail_msg("%s", why.s);
	assert_int_equal(code.n, 16);
	assert_int_equal(code.bytes[0], 0x10);
	assert_int_equal(code.bytes[15], 0x1f);
	assert_int_equal(code.shown, KERNEL_START + 0x110);
	assert_int_equal(code.machine, EM_AARCH64);
	assert_non_null(strstr(code.from, "/proc/kcore"));
}

/* It has moved since it was recorded. */
static void a_kernel_that_lay_elsewhere(void **state)
{
	(void)state;
	add_kcore(0);
	kernel.start += MOVED;
	kernel.end += MOVED;
	kernel.ref_addr += MOVED;
	if (read_code(KERNEL_START + MOVED + 0x120, 8))
		fail_msg("%s", why.s);
	assert_int_equal(code.bytes[0], 0x20);
	assert_int_equal(code.shown, KERNEL_START + 0x120);
}

static void as_many_bytes_as_there_are(void **state)
{
	(void)state;
	add_kcore(0);
	if (read_code(KERNEL_START + CODE_BYTES - 4, 100))
		fail_msg("%s", why.s);
	assert_int_equal(code.n, 4);
}

static void expect_reason(const char *text)
{
	assert_int_not_equal(read_code(KERNEL_START + 0x110, 16), 0);
	if (!strstr(why.s, text))
		fail_msg("%s", why.s);
	assert_null(code.bytes);
	assert_null(code.from);
}

static void no_kcore(void **state)
{
	(void)state;
	expect_reason("/proc/kcore does not exist; -k with that kernel's vmlinux has the code too");
}

static void a_kcore_that_is_cut(void **state)
{
	static const size_t cuts[] = { 1, 63, 64, 100, 120 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cuts); i++) {
		add_kcore(cuts[i]);
		expect_reason("/proc/kcore does not have it");
		symbols_free(symbols);
		symbols = NULL;
		str_reset(&why);
	}
}

static void a_kcore_that_is_none(void **state)
{
	(void)state;
	fake_machine_file(&machine, "proc/kcore", "This is no core file, but as long as the head of one is.....\n\n\n");
	expect_reason("/proc/kcore does not have it");
}

static void another_kernel_than_the_running_one(void **state)
{
	(void)state;
	add_kcore(0);
	free(info.os_release);
	info.os_release = xstrdup("5.10.0-other");
	symbols = symbols_new(&options, &recording);
	assert_int_not_equal(symbols_code(symbols, &kernel, KERNEL_START + 0x110, 0, 16, &code, &why), 0);
	assert_non_null(strstr(why.s, "-k with that kernel's vmlinux"));
}

/* ---- copies ---- */

#define TESTMOD "testmod 4096 0 - Live 0xffffffff81000300\n"

static void expect_copy(uint64_t addr, unsigned first, const char *moment)
{
	if (read_code(addr, 8))
		fail_msg("%s", why.s);
	assert_int_equal(code.bytes[0], first);
	assert_non_null(strstr(code.from, moment));
	assert_non_null(strstr(code.from, "/[kernel.kcore]/"));
}

static void another_kernel(void)
{
	free(info.os_release);
	info.os_release = xstrdup("5.10.0-other");
	of_recorded_id(&kernel);
}

/* The recorded kernel runs, and its /proc/kcore can't be read. */
static void a_copy_of_the_running_kernel(void **state)
{
	(void)state;
	of_recorded_id(&kernel);
	add_copy("2026112220263432", 0, "", 3);
	expect_copy(KERNEL_START + 0x110, 0x13, "2026112220263432");
	assert_int_equal(code.shown, KERNEL_START + 0x110);
	assert_int_equal(code.machine, EM_AARCH64);
}

/* What can be read of the running one comes first. */
static void the_running_kernel_before_its_copy(void **state)
{
	(void)state;
	of_recorded_id(&kernel);
	add_kcore(0);
	add_copy("2026112220263432", 0, "", 3);
	assert_int_equal(read_code(KERNEL_START + 0x110, 8), 0);
	assert_int_equal(code.bytes[0], 0x10);
}

/* Names and code are both from the newest copy of where the kernel lay. */
static void of_copies_the_one_where_it_lay(void **state)
{
	(void)state;
	another_kernel();
	add_copy("2026112220263431", 0, "", 1);
	add_copy("2026112220263432", 0, "", 2);
	add_copy("2026112220263433", MOVED, "", 3);
	expect_copy(KERNEL_START + 0x110, 0x12, "2026112220263432");
	assert_string_equal(symbols_find(symbols, &kernel, KERNEL_START + 0x110)->name, "schedule");
}

/* There is no copy of where it lay: its code moved as a whole. */
static void a_copy_of_another_boot(void **state)
{
	(void)state;
	another_kernel();
	add_copy("2026112220263432", 0, "", 2);
	kernel.start += MOVED;
	kernel.end += MOVED;
	kernel.ref_addr += MOVED;
	expect_copy(KERNEL_START + MOVED + 0x110, 0x12, "2026112220263432");
	assert_int_equal(code.shown, KERNEL_START + 0x110);
	assert_string_equal(symbols_find(symbols, &kernel, KERNEL_START + MOVED + 0x110)->name, "schedule");
}

static void a_module_where_it_was_loaded(void **state)
{
	char *name = kernel.path;

	(void)state;
	another_kernel();
	kernel.kind = DSO_MODULE;
	kernel.build_id.size = 0;
	kernel.path = xstrdup("[testmod]");
	kernel.start = KERNEL_START + 0x300;
	kernel.end = KERNEL_START + 0x400;
	free(name);
	/* The recording knows the kernel's build-id, the module has one of its own. */
	info.build_ids.v = xcalloc(1, sizeof(*info.build_ids.v));
	info.build_ids.n = info.build_ids.cap = 1;
	info.build_ids.v[0] = (struct info_build_id){ .pid = -1, .misc = MISC_KERNEL, .size = 20,
						      .path = xstrdup("[kernel.kallsyms]") };
	for (uint8_t i = 0; i < 20; i++)
		info.build_ids.v[0].bytes[i] = (uint8_t)(i + 1);
	add_copy("2026112220263431", 0, TESTMOD, 1);
	add_copy("2026112220263432", 0, "testmod 4096 0 - Live 0xffffffff81000200\n", 2);
	expect_copy(KERNEL_START + 0x310, 0x11, "2026112220263431");
	assert_string_equal(symbols_find(symbols, &kernel, KERNEL_START + 0x310)->name, "fn");
}

static void no_copy_that_fits(void **state)
{
	(void)state;
	another_kernel();
	kernel.build_id.bytes[3] ^= 1;
	add_copy("2026112220263432", 0, "", 2);
	symbols = symbols_new(&options, &recording);
	assert_int_not_equal(symbols_code(symbols, &kernel, KERNEL_START + 0x110, 0, 16, &code, &why), 0);
	assert_non_null(strstr(why.s, "-k with that kernel's vmlinux"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_kernels_code, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_kernel_that_lay_elsewhere, set_up, tear_down),
		cmocka_unit_test_setup_teardown(as_many_bytes_as_there_are, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_kcore, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_kcore_that_is_cut, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_kcore_that_is_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_kernel_than_the_running_one, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_copy_of_the_running_kernel, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_running_kernel_before_its_copy, set_up, tear_down),
		cmocka_unit_test_setup_teardown(of_copies_the_one_where_it_lay, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_copy_of_another_boot, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_module_where_it_was_loaded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_copy_that_fits, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
