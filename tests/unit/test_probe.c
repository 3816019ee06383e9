/* SPDX-License-Identifier: MIT */
/*
 * kprobe/ and uprobe/: terms to attr on a tree of files, functions found in ELF files, good and
 * bad, and, where the machine has uprobes, the exact number of calls of a function of this program.
 */
#include "elf_builder.h"
#include "fake_machine.h"
#include "source_case.h"

#include "elf/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct fake_machine machine;
static char self[4096]; /* the path of this program */

/* Known to the linker by its name; each call of it is one count. */
int probed_function(int i);
__attribute__((noinline)) int probed_function(int i)
{
	__asm__ volatile("" : "+r"(i));
	return i;
}

static int make_machine(void **state)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	if (n < 0)
		return -1;
	fake_machine_init(&machine);
	fake_machine_pmu(&machine, "uprobe", "type", "8\n");
	fake_machine_pmu(&machine, "uprobe", "format/retprobe", "config:0\n");
	fake_machine_pmu(&machine, "uprobe", "format/ref_ctr_offset", "config:32-63\n");
	fake_machine_pmu(&machine, "kprobe", "type", "7\n");
	fake_machine_pmu(&machine, "kprobe", "format/retprobe", "config:0\n");
	return 0;
}

static int remove_machine(void **state)
{
	(void)state;
	fake_machine_release(&machine);
	return 0;
}

/* ---- terms ---- */

static void expect_probe(const char *spec, uint32_t type, uint64_t config, const char *text,
			 uint64_t place)
{
	struct event_list list;
	struct str err = STR_INIT;
	const struct perf_event_attr *attr;

	event_list_init(&list);
	if (event_list_parse(&list, spec, &machine.host, &err))
		fail_msg("%s", err.s);
	attr = &list.v[0].attr;
	assert_int_equal(attr->type, type);
	assert_true(attr->config == config);
	assert_true(attr->config2 == place);
	if (text) {
		assert_true(attr->config1 == (uintptr_t)list.v[0].probe_path);
		assert_string_equal(list.v[0].probe_path, text);
	} else {
		assert_true(attr->config1 == 0);
	}
	event_list_release(&list);
	str_release(&err);
}

static void test_terms(void **state)
{
	(void)state;
	expect_probe("uprobe/path=/bin/sh,offset=0x100/", 8, 0, "/bin/sh", 0x100);
	expect_probe("uprobe/offset=16,retprobe,path=/bin/sh/", 8, 1, "/bin/sh", 16);
	expect_probe("uprobe/path=/bin/sh,offset=1,ref_ctr_offset=0x20/u", 8, 0x2000000000,
		     "/bin/sh", 1);
	expect_probe("kprobe/func=do_exit/", 7, 0, "do_exit", 0);
	expect_probe("kprobe/func=do_exit+0x10,retprobe=1/", 7, 1, "do_exit", 0x10);
	expect_probe("kprobe/func=do_exit+1,offset=2/", 7, 0, "do_exit", 3);
	expect_probe("kprobe/addr=0xffffffff81000000/", 7, 0, NULL, 0xffffffff81000000);
}

static const struct {
	const char *spec, *name;
} named[] = {
	{ "uprobe/path=/bin/sh,offset=0x100/", "probe_sh:0x100" },
	{ "uprobe/path=/bin/../bin/sh,offset=16,retprobe/", "probe_sh:0x10__return" },
	{ "uprobe/path=/bin/sh,offset=16,retprobe=0/u", "probe_sh:0x10:u" },
	{ "uprobe/path=/bin/sh,offset=16,name=mine/u", "mine" },
	{ "kprobe/func=do_exit/", "probe:do_exit" },
	{ "kprobe/func=do_exit,offset=0x10/", "probe:do_exit+0x10" },
	{ "kprobe/func=do_exit+4,retprobe/k", "probe:do_exit+4__return:k" },
	{ "kprobe/addr=0xffffffff81000000/", "probe:0xffffffff81000000" },
};

/* As perf calls its probes; a path is as long as it likes, and is no name. */
static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(named); i++) {
		struct event_list list;
		struct str err = STR_INIT;

		event_list_init(&list);
		if (event_list_parse(&list, named[i].spec, &machine.host, &err))
			fail_msg("%s: %s", named[i].spec, err.s);
		assert_string_equal(list.v[0].name, named[i].name);
		event_list_release(&list);
		str_release(&err);
	}
}

/* From the folder that the path is relative to, as a shell would find it. */
static void test_relative_path(void **state)
{
	char *here = getcwd(NULL, 0), *slash = strrchr(self, '/');
	char *spec = xasprintf("uprobe/path=./%s,func=probed_function/", slash + 1);
	char *folder = xstrndup(self, (size_t)(slash - self));
	char *relative = xasprintf("./%s", slash + 1);
	struct elf_function function;
	struct str err = STR_INIT;
	struct near_name near;

	(void)state;
	near_init(&near, "", 0);
	assert_int_equal(elf_find_function(self, "probed_function", &function, &near, &err), 0);
	assert_int_equal(chdir(folder), 0);
	expect_probe(spec, 8, 0, relative, function.offset);
	assert_int_equal(chdir(here), 0);
	free(here);
	free(spec);
	free(folder);
	free(relative);
	str_release(&err);
}

static void test_refused(void **state)
{
	const struct host_paths *host = &machine.host;

	(void)state;
	expect_error("uprobe/func=main/", host, -EINVAL, "uprobe needs the file");
	expect_error("uprobe/path=/bin/sh/", host, -EINVAL, "needs the place in the file");
	expect_error("uprobe//", host, -EINVAL, "uprobe needs the file");
	expect_error("uprobe/path=/nonexistent,offset=1/", host, -ENOENT, "/nonexistent: ");
	expect_error("uprobe/path=/bin/sh,addr=1/", host, -EINVAL, "unknown term 'addr'");
	expect_error("uprobe/path=/bin/sh,offst=1/", host, -EINVAL, "did you mean 'offset'?");
	expect_error("uprobe/path=/bin/sh,offset=x/", host, -EINVAL, "offset needs a number");
	expect_error("uprobe/path=/bin/sh,offset=1,retprobe=2/", host, -EINVAL, "at most 1");
	expect_error("kprobe/path=/bin/sh,func=x/", host, -EINVAL, "unknown term 'path'");
	expect_error("kprobe//", host, -EINVAL, "either func=NAME or addr=N");
	expect_error("kprobe/func=x,addr=1/", host, -EINVAL, "either func=NAME or addr=N");
	expect_error("kprobe/addr=1,offset=1/", host, -EINVAL, "belongs to a function");
	expect_error("kprobe/func=+1/", host, -EINVAL, "name is missing");
	expect_error("kprobe/func/", host, -EINVAL, "func needs a value");
}

static void test_pmus_that_the_kernel_lacks(void **state)
{
	const struct host_paths nowhere = { "/nonexistent", "/proc", "/nonexistent", NULL };
	struct fake_machine bare;

	(void)state;
	expect_error("uprobe/path=/bin/sh,offset=1/", &nowhere, -ENOENT,
		     "'uprobe' cannot be looked for: /nonexistent/bus/event_source/devices: No such file or directory");
	fake_machine_init(&bare);
	fake_machine_pmu(&bare, "software", "type", "1\n");
	expect_error("kprobe/func=x/", &bare.host, -ENOENT, "this kernel has no kprobes");
	expect_error("uprobe/path=/bin/sh,offset=1/", &bare.host, -ENOENT, "this kernel has no uprobes");
	fake_machine_release(&bare);
}

static void test_copies_own_their_text(void **state)
{
	struct event_list list, copy;
	struct str err = STR_INIT;

	(void)state;
	event_list_init(&list);
	assert_int_equal(event_list_parse(&list, "kprobe/func=do_exit/", &machine.host, &err), 0);
	event_list_copy(&copy, &list);
	event_list_release(&list);
	assert_true(copy.v[0].attr.config1 == (uintptr_t)copy.v[0].probe_path);
	assert_string_equal(copy.v[0].probe_path, "do_exit");
	event_list_release(&copy);
	str_release(&err);
}

/* ---- functions in files ---- */

static int find(const char *path, const char *name, struct elf_function *function, struct str *err)
{
	struct near_name near;

	str_reset(err);
	near_init(&near, name, strlen(name));
	return elf_find_function(path, name, function, &near, err);
}

/* The bytes at the offset found are the bytes of the function in memory. */
static void test_function_of_this_program(void **state)
{
	struct elf_function function;
	struct str err = STR_INIT;
	unsigned char bytes[16];
	size_t n = sizeof(bytes);
	int fd = open(self, O_RDONLY | O_CLOEXEC);

	(void)state;
	if (find(self, "probed_function", &function, &err))
		fail_msg("%s", err.s);
	assert_true(function.size_bytes > 0);
	if (n > function.size_bytes)
		n = function.size_bytes;
	assert_int_equal(pread(fd, bytes, n, (off_t)function.offset), n);
	assert_memory_equal(bytes, (void *)(uintptr_t)probed_function, n);
	assert_int_equal(find(self, "probed_functio", &function, &err), -ENOENT);
	assert_non_null(strstr(err.s, "has no function 'probed_functio'"));
	close(fd);
	str_release(&err);
}

/* A library whose functions are 16 bytes each, one of them without a name that people know. */
static void build_functions(struct str *bytes, uint64_t *text_at)
{
	static const struct {
		const char *name;
		int binding, type;
	} symbols[] = {
		{ "copy@V1", STB_GLOBAL, STT_FUNC },		{ "copy@@V2", STB_GLOBAL, STT_FUNC },
		{ "label", STB_LOCAL, STT_NOTYPE },		{ "both", STB_GLOBAL, STT_NOTYPE },
		{ "both", STB_LOCAL, STT_FUNC },		{ "_ZNK2ns3Box3sumEi", STB_GLOBAL, STT_FUNC },
		{ "_ZNK2ns3Box3sumEi.cold", STB_LOCAL, STT_FUNC }, { "_ZL5shoutPKc", STB_LOCAL, STT_FUNC },
		{ "_Z5twicei", STB_GLOBAL, STT_FUNC },		{ "_Z5twiced", STB_WEAK, STT_FUNC },
		{ "_ZSt4sortv", STB_GLOBAL, STT_FUNC },		{ "chosen", STB_GLOBAL, STT_GNU_IFUNC },
		{ "chosen@V1", STB_GLOBAL, STT_FUNC },		{ "data", STB_GLOBAL, STT_OBJECT },
	};
	struct built_elf elf;
	uint32_t text, table;

	elf_start(&elf, ET_DYN, EM_X86_64, false, false);
	elf.load = text = elf_add(&elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000);
	str_pad(&elf.sections[text].bytes, '\x90', 16 * ARRAY_SIZE(symbols));
	table = elf_add_symbols(&elf, SHT_SYMTAB);
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++)
		elf_symbol(&elf, table, symbols[i].name, 0x1000 + 16 * i, 16, symbols[i].binding, symbols[i].type,
			   text);
	elf_finish(&elf, bytes);
	*text_at = elf.sections[text].offset;
	elf_end(&elf);
}

static void test_which_function(void **state)
{
	static const struct {
		const char *name;
		int place; /* of it among the functions; -1: none */
		const char *why;
	} rows[] = {
		{ "copy", 1, NULL },
		{ "copy@V1", 0, NULL },
		{ "label", 2, NULL },
		{ "both", 4, NULL },
		{ "ns::Box::sum", 5, NULL },
		{ "_ZNK2ns3Box3sumEi", 5, NULL },
		{ "shout", 7, NULL },
		{ "std::sort", 10, NULL },
		{ "twice", -1, "has several functions 'twice': name one of _Z5twicei, _Z5twiced" },
		{ "chosen", -1, "has several versions of 'chosen', and one is chosen when a program starts" },
		{ "data", -1, "has no function 'data'" },
		{ "ns::", -1, "has no function 'ns::'" },
		{ "::sum", -1, "has no function '::sum'" },
		{ "Box::sum", -1, "has no function 'Box::sum'" },
		{ "shou", -1, "has no function 'shou'" },
		{ "a b", -1, "has no function 'a b'" },
	};
	struct str bytes = STR_INIT;
	char path[] = "/tmp/pstat-test-XXXXXX";
	int fd = mkstemp(path);
	uint64_t text_at;

	(void)state;
	assert_true(fd >= 0);
	build_functions(&bytes, &text_at);
	assert_int_equal(write(fd, bytes.s, bytes.len), bytes.len);
	close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct elf_function function = { 0 };
		struct str err = STR_INIT;
		int rc = find(path, rows[i].name, &function, &err);

		if (rows[i].place >= 0) {
			assert_int_equal(rc, 0);
			assert_int_equal(function.offset, text_at + 16 * (uint64_t)rows[i].place);
		} else {
			assert_true(rc < 0);
			assert_non_null(strstr(err.s, rows[i].why));
		}
		str_release(&err);
	}
	unlink(path);
	str_release(&bytes);
}

static void test_function_in_a_spec(void **state)
{
	struct elf_function function;
	struct str err = STR_INIT;
	char *spec = xasprintf("uprobe/path=%s,func=probed_function+1/", self);
	char *wrong = xasprintf("uprobe/path=%s,func=probed_functoin/", self);
	char *beyond = xasprintf("uprobe/path=%s,func=probed_function+0x10000/", self);

	(void)state;
	assert_int_equal(find(self, "probed_function", &function, &err), 0);
	expect_probe(spec, 8, 0, self, function.offset + 1);
	expect_error(wrong, &machine.host, -ENOENT, "did you mean 'func=probed_function'?");
	expect_error(beyond, &machine.host, -EINVAL, "+0x10000 is outside");
	free(spec);
	free(wrong);
	free(beyond);
	str_release(&err);
}

/*
 * Each byte of the header changed in turn, and the file cut: an error or an answer, never a crash.
 */
static void test_damaged_files(void **state)
{
	enum { KEPT_BYTES = 1 << 16 };
	struct str file = STR_INIT, err = STR_INIT;
	struct elf_function function;
	char *path = xasprintf("%s/damaged", machine.root);
	static const size_t cuts[] = { 0, 3, 16, 63, 64, 100, 1000, 5000 };

	(void)state;
	assert_int_equal(read_text_file(self, &file), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cuts); i++) {
		int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

		assert_int_equal(write_all(fd, file.s, cuts[i]), 0);
		close(fd);
		assert_true(find(path, "probed_function", &function, &err) < 0);
		assert_true(err.len > 0);
	}
	for (size_t at = 0; at < sizeof(Elf64_Ehdr); at++) {
		size_t kept = file.len < KEPT_BYTES ? file.len : KEPT_BYTES;
		int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		char was = file.s[at];

		file.s[at] = (char)0xff;
		assert_int_equal(write_all(fd, file.s, kept), 0);
		file.s[at] = was;
		close(fd);
		find(path, "probed_function", &function, &err);
	}
	assert_int_equal(find("/dev/null", "x", &function, &err), -EINVAL);
	assert_int_equal(find("/nonexistent", "x", &function, &err), -ENOENT);
	str_release(&file);
	str_release(&err);
	free(path);
}

/* ---- counting ---- */

static void count_calls(const char *terms)
{
	enum { CALLS = 4321 };
	const struct host_paths host = { "/sys", "/proc", "/sys/kernel/tracing", NULL };
	char *spec = xasprintf("uprobe/path=%s,func=probed_function%s/u", self, terms);
	struct event_list list;
	struct str err = STR_INIT;
	struct perf_event_attr attr;
	uint64_t count = 0;
	int fd;

	event_list_init(&list);
	if (event_list_parse(&list, spec, &host, &err)) {
		if (strstr(err.s, "has no uprobes"))
			skip_because("this kernel has no uprobes");
		fail_msg("%s", err.s);
	}
	attr = list.v[0].attr;
	attr.size = sizeof(attr);
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		skip_because("uprobes cannot be opened: %s", strerror(errno));
	for (int i = 0; i < CALLS; i++)
		probed_function(i);
	assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
	close(fd);
	assert_int_equal(count, CALLS);
	event_list_release(&list);
	str_release(&err);
	free(spec);
}

static void test_counts_calls(void **state)
{
	(void)state;
	count_calls("");
}

static void test_counts_returns(void **state)
{
	(void)state;
	count_calls(",retprobe");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_terms),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_relative_path),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_pmus_that_the_kernel_lacks),
		cmocka_unit_test(test_copies_own_their_text),
		cmocka_unit_test(test_function_of_this_program),
		cmocka_unit_test(test_which_function),
		cmocka_unit_test(test_function_in_a_spec),
		cmocka_unit_test(test_damaged_files),
		cmocka_unit_test(test_counts_calls),
		cmocka_unit_test(test_counts_returns),
	};

	return cmocka_run_group_tests(tests, make_machine, remove_machine);
}
