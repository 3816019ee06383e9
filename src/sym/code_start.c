/* SPDX-License-Identifier: MIT */
/*
 * code_start: whether a caller is the outermost that a program or a thread has. By the first that says so:
 *
 *	name of its function    _start, clone3, ...; of C libraries without frame pointers what calls main and the
 *	                        functions of threads, too: beyond them a program has nothing to show
 *	the file's entry        _start of a file without names
 *	the file's linker       Go's code keeps frame pointers everywhere, so its chains end where they should
 *	the code                of files without names: what becomes of main's result
 *
 * It is not known where the file can't be had, and in a C library without names.
 */
#include "sym/dso_names.h"

enum {
	ENTRY_BYTES = 64, /* of _start, at most */
	CODE_BEFORE = 6,
	CODE_BYTES = 16,
};

/* Names of functions that nobody calls, or code of a C library alone; a version or .abi0 may follow. */
static const char *const starts[] = {
	/* glibc */
	"_start", "_dl_start_user", "__libc_start_call_main", "__libc_start_main", "__libc_start_main_impl",
	"generic_start_main", "start_thread", "clone", "__clone", "clone3", "__clone3", "thread_start",
	"__start_context",
	/* musl */
	"_start_c", "_dlstart", "_dlstart_c", "libc_start_main_stage2", "start", "start_c11",
	/* Go, whose stacks of the system begin where a goroutine's is left */
	"runtime.goexit", "runtime.mstart", "runtime.rt0_go", "runtime.mcall", "runtime.systemstack",
	"runtime.morestack", "runtime.clone", "_rt0_amd64_linux", "_rt0_arm64_linux",
};

static bool is_start_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		size_t len = strlen(starts[i]);

		if (!strncmp(name, starts[i], len) && (!name[len] || name[len] == '@' || !strcmp(name + len, ".abi0")))
			return true;
	}
	return false;
}

static bool is_c_library(const struct dso *dso)
{
	static const char *const names[] = { "libc.so", "libc-", "libpthread", "ld-musl", "libc.musl" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(dso->name, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Looks for sections that Go's linker puts into each program, stripped or not. */
static bool has_go_sections(struct elf_file *file)
{
	struct str ignored = STR_INIT;
	struct elf_section section = { 0 };
	bool is = false;

	if (!elf_file_hold(file, &ignored)) {
		is = elf_section_named(file, ".note.go.buildid", &section) ||
		     elf_section_named(file, ".go.buildinfo", &section);
		elf_file_let_go(file);
	}
	str_release(&ignored);
	return is;
}

/* Returns the dso with its file, looked for once: opening it for each address would parse its headers each time. */
static const struct dso_names *with_code_file(struct symbols *symbols, const struct dso *dso)
{
	struct dso_names *names = symbols_loaded(symbols, dso);
	struct str ignored = STR_INIT;

	if (names->code_file_known)
		return names;
	names->code_file = symbols_unwind_file(symbols, dso, &ignored);
	names->made_by_go = names->code_file && has_go_sections(names->code_file);
	names->code_file_known = true;
	str_release(&ignored);
	return names;
}

/*
 * Code around a return address that only the C library's start has: x86-64, as on arm64 compilers keep frame pointers.
 * To add one: a row, from a disassembly of the library.
 */
static const struct start_code {
	uint8_t before; /* of the bytes, so many stand before the return address */
	uint8_t n;
	uint8_t bytes[CODE_BYTES], mask[CODE_BYTES];
} start_codes[] = {
	/* mov %eax,%edi; call: exit(main(...)) */
	{ 0, 3, { 0x89, 0xc7, 0xe8 }, { 0xff, 0xff, 0xff } },
	/* call *0x6xx(register): the function of a thread, in glibc's description of it */
	{ 6, 6, { 0xff, 0x90, 0, 0x06, 0, 0 }, { 0xff, 0xf8, 0, 0xff, 0xff, 0xff } },
	/* call *(register); mov %rax,%rdi; call: pthread_exit(start(...)) of musl */
	{ 2, 6, { 0xff, 0x10, 0x48, 0x89, 0xc7, 0xe8 }, { 0xff, 0xf8, 0xff, 0xff, 0xff, 0xff } },
};

static bool fits(const struct start_code *row, const uint8_t *code)
{
	for (size_t i = 0; i < row->n; i++)
		if ((code[i] & row->mask[i]) != row->bytes[i])
			return false;
	return true;
}

static bool is_start_code(struct elf_file *file, uint64_t offset)
{
	uint8_t code[CODE_BEFORE + CODE_BYTES];

	if (file->machine != EM_X86_64 || offset < CODE_BEFORE ||
	    !elf_file_read_at(file, offset - CODE_BEFORE, code, sizeof(code)))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(start_codes); i++)
		if (fits(&start_codes[i], code + CODE_BEFORE - start_codes[i].before))
			return true;
	return false;
}

static enum code_start start_of_file(struct symbols *symbols, const struct dso *dso, bool named, uint64_t addr,
				     bool is_return)
{
	const struct dso_names *names = with_code_file(symbols, dso);
	struct elf_file *file = names->code_file;
	uint64_t vaddr;

	if (!file)
		return named ? CODE_IS_CALLED : CODE_START_NOT_KNOWN;
	if (elf_file_vaddr(file, addr, &vaddr) && vaddr - file->entry < ENTRY_BYTES)
		return CODE_STARTS;
	if (names->made_by_go || (!named && is_return && is_start_code(file, addr)))
		return CODE_STARTS;
	return !named && is_c_library(dso) ? CODE_START_NOT_KNOWN : CODE_IS_CALLED;
}

enum code_start symbols_code_start(struct symbols *symbols, const struct dso *dso, uint64_t addr, bool is_return)
{
	const struct symbol *symbol;
	bool named;

	if (dso->kind != DSO_FILE) /* code made at run time is never the start, and may get its names later */
		return CODE_IS_CALLED;
	symbol = symbols_find(symbols, dso, addr - is_return);
	named = symbol && !symbol->nameless;
	if (named && is_start_name(symbol->raw))
		return CODE_STARTS;
	return start_of_file(symbols, dso, named, addr, is_return);
}
