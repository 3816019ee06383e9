/* SPDX-License-Identifier: MIT */
/*
 * The front of sym/ on this program's own file, whose functions and their places are known: names, ranges,
 * inlined functions, one object per function; files that are missing or replaced; code made at run time.
 */
#include "sym/sym_internal.h"

#include "elf_builder.h"
#include "unit/fake_machine.h"

#include <elf.h>
#include <utime.h>

#include <cmocka.h>

static struct fake_machine machine;
static struct info info;
static struct recording_info recording = { .info = &info };
static struct sym_options options;
static struct symbols *symbols;
static struct dso self, code;
static char self_path[4096];

/* ---- functions to be found ---- */

/* The address of the instruction itself. */
static inline __attribute__((always_inline)) uintptr_t here(void)
{
	uintptr_t address;

#if defined(__x86_64__)
	__asm__ volatile("1: lea 1b(%%rip), %0" : "=r"(address));
#else
	__asm__ volatile("adr %0, ." : "=r"(address));
#endif
	return address;
}

static inline __attribute__((always_inline)) uintptr_t inlined_into_known(int which)
{
	uintptr_t first = here(), second = here();

	return which ? first : second;
}

__attribute__((noinline)) uintptr_t known_function(int which);
extern int known_object[4];

__attribute__((noinline)) uintptr_t known_function(int which)
{
	return inlined_into_known(which);
}

/* Two places in it; the compiler must not make a copy of it for one of them. */
static uintptr_t place_in_known(int number)
{
	volatile int which = number;

	return known_function(which);
}

/* Data: in most programs its addresses are further from its offsets than those of code. */
int known_object[4] = { 1, 2, 3, 4 };

/* ---- this program as a recording has it ---- */

/* Offset in the file of an address of this process. */
static uint64_t offset_of(uintptr_t address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long long start, end, offset, found = 0;
	char line[4096];

	assert_non_null(maps);
	while (!found && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx %*s %llx", &start, &end, &offset) == 3 &&
		    address >= start && address < end)
			found = address - start + offset;
	fclose(maps);
	assert_true(found);
	return found;
}

static uint64_t start_of_known(void)
{
	return offset_of((uintptr_t)known_function);
}

static int set_up(void **state)
{
	ssize_t n = readlink("/proc/self/exe", self_path, sizeof(self_path) - 1);

	(void)state;
	assert_true(n > 0);
	self_path[n] = '\0';
	fake_machine_init(&machine);
	info_init(&info);
	options = (struct sym_options){
		.map_dir = machine.root, .buildid_dir = machine.root, .procfs = machine.procfs
	};
	self = (struct dso){ .kind = DSO_FILE, .path = self_path, .name = self_path, .pid = -1 };
	code = (struct dso){
		.index = 1, .kind = DSO_ANON, .path = self_path, .name = self_path, .pid = 7
	};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	symbols_free(symbols);
	symbols = NULL;
	info_release(&info);
	fake_machine_release(&machine);
	return 0;
}

static void begin(void)
{
	symbols_free(symbols);
	symbols = symbols_new(&options, &recording);
}

static const char *at(const struct dso *dso, uint64_t addr)
{
	const struct symbol *symbol;

	if (!symbols)
		begin();
	symbol = symbols_find(symbols, dso, addr);
	return symbol ? symbol->name : "none";
}

/* ---- a file ---- */

static void a_function_by_its_offset_in_the_file(void **state)
{
	uint64_t inside = offset_of(place_in_known(0));
	const struct symbol *symbol;

	(void)state;
	begin();
	assert_int_equal(symbols_state(symbols, &self), SYM_UNTRIED);
	assert_string_equal(at(&self, inside), "known_function");
	assert_int_equal(symbols_state(symbols, &self), SYM_FOUND);
	symbol = symbols_find(symbols, &self, inside);
	assert_int_equal(symbol->start, start_of_known());
	assert_true(symbol->end > inside);
	assert_int_equal(symbol->binding, 'g');
	assert_ptr_equal(symbol->dso, &self);
	assert_false(symbol->inlined);
	assert_ptr_equal(symbol, symbols_find(symbols, &self, symbol->start));
	assert_ptr_equal(symbol, symbols_find(symbols, &self, symbol->end - 1));
	assert_ptr_not_equal(symbol, symbols_find(symbols, &self, symbol->end));
	assert_string_equal(symbols_source(symbols, &self), self_path);
}

static void addresses_outside_have_no_name(void **state)
{
	struct frame_list frames;

	(void)state;
	assert_string_equal(at(&self, UINT64_MAX), "none");
	assert_string_equal(at(&self, (uint64_t)1 << 40), "none");
	frames = symbols_frames(symbols, &self, (uint64_t)1 << 40, SYM_LINES);
	assert_int_equal(frames.n, 1);
	assert_null(frames.v[0].symbol);
	assert_null(frames.v[0].line.file);
	assert_int_equal(symbols_state(symbols, &self), SYM_FOUND);
}

static bool has_dwarf(void)
{
	struct elf_file file;
	struct str err = STR_INIT;
	size_t bytes = 0;

	assert_int_equal(elf_file_open(&file, self_path, &err), 0);
	elf_file_section(&file, ".debug_info", &bytes);
	elf_file_close(&file);
	return bytes;
}

static void inlined_functions_are_frames(void **state)
{
	uint64_t first = offset_of(place_in_known(1)), second = offset_of(place_in_known(0));
	struct frame_list a, b;

	(void)state;
	if (!has_dwarf()) {
		printf("# skip: built without debug information\n");
		skip();
	}
	begin();
	a = symbols_frames(symbols, &self, first, SYM_LINES);
	b = symbols_frames(symbols, &self, second, SYM_LINES);
	assert_int_equal(a.n, 3);
	assert_int_equal(b.n, 3);
	assert_string_equal(a.v[0].symbol->name, "here");
	assert_string_equal(a.v[1].symbol->name, "inlined_into_known");
	assert_string_equal(a.v[2].symbol->name, "known_function");
	assert_true(a.v[0].symbol->inlined && a.v[1].symbol->inlined && !a.v[2].symbol->inlined);
	assert_ptr_equal(a.v[2].symbol, symbols_find(symbols, &self, first));
	for (size_t i = 0; i < a.n; i++) {
		assert_ptr_equal(a.v[i].symbol, b.v[i].symbol);
		assert_int_equal(a.v[i].symbol->start, a.v[2].symbol->start);
		assert_non_null(a.v[i].line.file);
		assert_non_null(strstr(a.v[i].line.file, "test_symbols.c"));
		assert_true(a.v[i].line.line);
	}
	assert_true(a.v[0].line.line < a.v[1].line.line && a.v[1].line.line < a.v[2].line.line);
	assert_ptr_equal(a.v, symbols_frames(symbols, &self, first, SYM_LINES).v);
}

static void without_inlines_there_is_one_frame(void **state)
{
	uint64_t first = offset_of(place_in_known(1)), second = offset_of(place_in_known(0));
	struct frame_list a;

	(void)state;
	options.no_inlines = true;
	begin();
	a = symbols_frames(symbols, &self, first, 0);
	assert_int_equal(a.n, 1);
	assert_ptr_equal(a.v[0].symbol, symbols_find(symbols, &self, first));
	assert_ptr_equal(a.v, symbols_frames(symbols, &self, second, 0).v);
	assert_null(a.v[0].line.file);
	a = symbols_frames(symbols, &self, first, SYM_LINES);
	assert_int_equal(a.n, 1);
	assert_true(!has_dwarf() || a.v[0].line.line);
}

static void a_missing_file_says_so(void **state)
{
	static char path[] = "/nowhere/lib\033[31m.so";
	struct str why = STR_INIT;

	(void)state;
	self.path = path;
	assert_string_equal(at(&self, 0x1000), "none");
	assert_int_equal(symbols_state(symbols, &self), SYM_NONE);
	assert_true(symbols_why(symbols, &self)[0]);
	assert_null(strchr(symbols_why(symbols, &self), '\033'));
	assert_null(symbols_source(symbols, &self));
	assert_int_equal(symbols_frames(symbols, &self, 0x1000, 0).n, 1);
	assert_null(symbols_elf_file(symbols, &self, &why));
	assert_true(why.len);
	str_release(&why);
}

static void a_replaced_file_is_not_used(void **state)
{
	struct str why = STR_INIT;

	(void)state;
	self.build_id = (struct build_id){ 20, { 0x12, 0x34 } };
	assert_string_equal(at(&self, start_of_known()), "none");
	assert_int_equal(symbols_state(symbols, &self), SYM_NONE);
	assert_non_null(strstr(symbols_why(symbols, &self), "replaced since the recording"));
	assert_null(symbols_elf_file(symbols, &self, &why));
	assert_string_equal(why.s, symbols_why(symbols, &self));
	str_release(&why);
}

/* As `objcopy --only-keep-debug` leaves segments: addresses, but no bytes of theirs. */
static void forget_offsets(const char *path)
{
	FILE *f = fopen(path, "r+");
	Elf64_Ehdr head;
	Elf64_Phdr segment;

	assert_non_null(f);
	assert_int_equal(fread(&head, sizeof(head), 1, f), 1);
	for (int i = 0; i < head.e_phnum; i++) {
		long place = (long)(head.e_phoff + (size_t)i * head.e_phentsize);

		assert_int_equal(fseek(f, place, SEEK_SET), 0);
		assert_int_equal(fread(&segment, sizeof(segment), 1, f), 1);
		if (segment.p_type != PT_LOAD)
			continue;
		segment.p_offset = segment.p_filesz = 0;
		assert_int_equal(fseek(f, place, SEEK_SET), 0);
		assert_int_equal(fwrite(&segment, sizeof(segment), 1, f), 1);
	}
	fclose(f);
}

/* The program itself is gone, and a file with its names and addresses is left. */
static void a_debug_file_alone_names_offsets(void **state)
{
	static char gone[] = "/nowhere/program";
	const char *dirs[2] = { machine.root, NULL };
	struct str err = STR_INIT, id = STR_INIT;
	struct elf_file file;
	char *path, *command;

	(void)state;
	assert_int_equal(elf_file_open(&file, self_path, &err), 0);
	self.build_id = file.build_id;
	elf_file_close(&file);
	if (!self.build_id.size) {
		printf("# skip: linked without a build-id\n");
		skip();
	}
	build_id_text(&self.build_id, &id);
	path = xasprintf(".build-id/%.2s/%s.debug", id.s, id.s + 2);
	fake_machine_file(&machine, path, "");
	command = xasprintf("cp '%s' '%s/%s'", self_path, machine.root, path);
	assert_int_equal(system(command), 0);
	free(command);
	command = xasprintf("%s/%s", machine.root, path);
	forget_offsets(command);
	self.path = gone;
	options.debug_dirs = dirs;
	assert_string_equal(at(&self, offset_of(place_in_known(0))), "known_function");
	assert_int_equal(symbols_find(symbols, &self, start_of_known())->start, start_of_known());
	assert_string_equal(at(&self, offset_of((uintptr_t)&known_object[2])), "known_object");
	free(path);
	free(command);
	str_release(&id);
}

/* As eu-strip -f leaves it: code without contents, the program headers as they were. */
static void a_debug_file_may_have_its_own_offsets(void **state)
{
	struct str bytes = STR_INIT;
	struct built_elf elf;
	char *path = xasprintf("%s/kept", machine.root);
	uint32_t text;
	FILE *f;

	(void)state;
	elf_start(&elf, ET_DYN, EM_X86_64, false, false);
	elf.sections[elf_add(&elf, ".init", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x5000)].nobits_bytes = 16;
	elf.load = text = elf_add(&elf, ".was_text", SHT_PROGBITS, SHF_ALLOC, 0x1000);
	str_pad(&elf.sections[text].bytes, '\0', 32);
	elf_symbol(&elf, elf_add_symbols(&elf, SHT_SYMTAB), "first", 0x1000, 16, STB_GLOBAL, STT_FUNC, text);
	elf_finish(&elf, &bytes);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes.s, 1, bytes.len, f), bytes.len);
	fclose(f);
	self.path = path;
	assert_true(elf.sections[text].offset >= 16);
	assert_string_equal(at(&self, elf.sections[text].offset), "first");
	assert_null(symbols_elf_file(symbols, &self, &bytes));
	elf_end(&elf);
	str_release(&bytes);
	free(path);
}

static void the_file_of_a_dso(void **state)
{
	struct elf_file *found;
	struct str why = STR_INIT;

	(void)state;
	begin();
	found = symbols_elf_file(symbols, &self, &why);
	assert_non_null(found);
	assert_string_equal(found->path, self_path);
	assert_ptr_equal(symbols_elf_file(symbols, &self, &why), found);
	assert_int_equal(symbols_state(symbols, &self), SYM_UNTRIED);
	str_release(&why);
}

static void below_symfs_are_all_files(void **state)
{
	(void)state;
	options.symfs = machine.root;
	assert_string_equal(at(&self, start_of_known()), "none");
	assert_int_equal(symbols_state(symbols, &self), SYM_NONE);
}

/* A kernel whose ELF file this program plays, loaded 0x40000000 higher than it is linked for. */
static void a_vmlinux_that_was_moved(void **state)
{
	const uint64_t moved = 0x40000000;
	static char ref_symbol[] = "known_function", kernel[] = "[kernel.kallsyms]";
	struct str err = STR_INIT;
	struct elf_file file;
	uint64_t vaddr;

	(void)state;
	assert_int_equal(elf_file_open(&file, self_path, &err), 0);
	assert_true(elf_file_vaddr(&file, start_of_known(), &vaddr));
	elf_file_close(&file);
	self.kind = DSO_KERNEL;
	self.path = self.name = kernel;
	self.ref_symbol = ref_symbol;
	self.ref_addr = vaddr + moved;
	options.vmlinux = self_path;
	assert_string_equal(at(&self, vaddr + moved), "known_function");
	assert_int_equal(symbols_find(symbols, &self, vaddr + moved)->start, vaddr + moved);
	assert_string_equal(symbols_source(symbols, &self), self_path);
}

/* ---- code without a file ---- */

static void a_bpf_program_is_its_own_symbol(void **state)
{
	static char name[] = "bpf_prog_6deef7357e7b4530_x\n";

	(void)state;
	code.kind = DSO_BPF;
	code.path = name;
	code.start = 0xffffffffc0001000;
	code.end = 0xffffffffc0001040;
	assert_string_equal(at(&code, code.start), "bpf_prog_6deef7357e7b4530_x\\x0a");
	assert_string_equal(at(&code, code.end - 1), "bpf_prog_6deef7357e7b4530_x\\x0a");
	assert_string_equal(at(&code, code.end), "none");
}

static void code_made_at_run_time(void **state)
{
	(void)state;
	fake_machine_file(&machine, "perf-7.map",
			  "1000 100 jit\033]0;x\a\nnonsense\n2000 10 _Z1fv\n");
	assert_string_equal(at(&code, 0x1080), "jit\\x1b]0;x\\x07");
	assert_string_equal(at(&code, 0x2000), "_Z1fv"); /* as in perf, not demangled */
	assert_string_equal(at(&code, 0x3000), "none");
	assert_int_equal(symbols_find(symbols, &code, 0x1080)->start, 0x1000);
	assert_non_null(
		strstr(symbols_why(symbols, &code), "1 of its lines are not START SIZE NAME"));
}

/* A .dll is no ELF file; the process that maps it names code in it by its own addresses. */
static void code_in_a_file_that_is_not_elf(void **state)
{
	char *path = xasprintf("%s/some.dll", machine.root);
	struct dso dll = { .kind = DSO_FILE, .path = path, .name = path, .index = 2, .pid = -1,
			   .code = { .pid = 7, .start = 0x700000, .end = 0x710000, .pgoff = 0x2000 } };
	const struct symbol *symbol;

	(void)state;
	fake_machine_file(&machine, "some.dll", "MZ..");
	fake_machine_file(&machine, "perf-7.map", "700100 20 Sum\n800000 20 elsewhere\n");
	begin();
	symbol = symbols_find(symbols, &dll, 0x2110);
	assert_non_null(symbol);
	assert_string_equal(symbol->name, "Sum");
	assert_int_equal(symbol->start, 0x2100);
	assert_int_equal(symbol->end, 0x2120);
	assert_int_equal(symbols_state(symbols, &dll), SYM_FOUND);
	assert_string_equal(symbols_why(symbols, &dll), "");
	assert_null(symbols_find(symbols, &dll, 0x2200));
	assert_null(symbols_find(symbols, &dll, 0x102000)); /* outside of the mapping */
	free(path);
}

static void a_map_without_the_file_leaves_the_reason(void **state)
{
	char *path = xasprintf("%s/some.dll", machine.root);
	struct dso dll = { .kind = DSO_FILE, .path = path, .name = path, .index = 2, .pid = -1,
			   .code = { .pid = 7, .start = 0x700000, .end = 0x710000, .pgoff = 0x2000 } };

	(void)state;
	fake_machine_file(&machine, "some.dll", "MZ..");
	fake_machine_file(&machine, "perf-7.map", "800000 20 elsewhere\n");
	begin();
	assert_null(symbols_find(symbols, &dll, 0x2110));
	assert_int_equal(symbols_state(symbols, &dll), SYM_NONE);
	assert_string_equal(symbols_why(symbols, &dll), "not an ELF file");
	free(path);
}

static void code_that_nobody_names(void **state)
{
	(void)state;
	assert_string_equal(at(&code, 0x1000), "none");
	assert_int_equal(symbols_state(symbols, &code), SYM_NONE);
	assert_non_null(strstr(symbols_why(symbols, &code), "there is no "));
	assert_non_null(symbols_remedy(symbols, &code));
}

static void set_time(const char *name, time_t seconds)
{
	char *path = xasprintf("%s/%s", machine.root, name);
	struct utimbuf times = { seconds, seconds };

	assert_int_equal(utime(path, &times), 0);
	free(path);
}

static void the_newer_of_map_and_dump_is_read(void **state)
{
	(void)state;
	fake_machine_file(&machine, "perf-7.map", "1000 100 of_the_map\n");
	fake_machine_file(&machine, "jit-7.dump", "not a dump");
	set_time("perf-7.map", 2000);
	set_time("jit-7.dump", 1000);
	assert_string_equal(at(&code, 0x1000), "of_the_map");
	assert_string_equal(symbols_why(symbols, &code), "");
	/* The newer one is broken: the other one is read, and that is said. */
	set_time("jit-7.dump", 3000);
	begin();
	assert_string_equal(at(&code, 0x1000), "of_the_map");
	assert_non_null(
		strstr(symbols_why(symbols, &code), "jit-7.dump: too short for a jitdump file"));
}

static void the_map_of_another_user_is_refused(void **state)
{
	char *path = xasprintf("%s/perf-7.map", machine.root);

	(void)state;
	fake_machine_file(&machine, "perf-7.map", "1000 100 a\n");
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 12345, 12345), 0);
		assert_string_equal(at(&code, 0x1000), "none");
		assert_int_equal(symbols_state(symbols, &code), SYM_NONE);
		assert_non_null(
			strstr(symbols_why(symbols, &code), "owned by user 12345, not by you"));
	}
	free(path);
}

static void what_has_no_code(void **state)
{
	static const enum dso_kind kinds[] = { DSO_OTHER, DSO_GUEST_KERNEL, DSO_GUEST_MODULE };

	(void)state;
	begin();
	for (uint32_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct dso dso = {
			.index = i, .kind = kinds[i], .path = self_path, .name = self_path
		};

		assert_string_equal(at(&dso, 0x1000), "none");
		assert_int_equal(symbols_state(symbols, &dso), SYM_NONE);
		assert_true(symbols_why(symbols, &dso)[0]);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_function_by_its_offset_in_the_file),
		TEST(addresses_outside_have_no_name),
		TEST(inlined_functions_are_frames),
		TEST(without_inlines_there_is_one_frame),
		TEST(a_missing_file_says_so),
		TEST(a_replaced_file_is_not_used),
		TEST(a_debug_file_alone_names_offsets),
		TEST(a_debug_file_may_have_its_own_offsets),
		TEST(the_file_of_a_dso),
		TEST(below_symfs_are_all_files),
		TEST(a_vmlinux_that_was_moved),
		TEST(a_bpf_program_is_its_own_symbol),
		TEST(code_made_at_run_time),
		TEST(code_in_a_file_that_is_not_elf),
		TEST(a_map_without_the_file_leaves_the_reason),
		TEST(code_that_nobody_names),
		TEST(the_newer_of_map_and_dump_is_read),
		TEST(the_map_of_another_user_is_refused),
		TEST(what_has_no_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
