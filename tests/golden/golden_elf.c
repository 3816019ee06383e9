/* SPDX-License-Identifier: MIT */
/*
 * golden_elf: the ELF files below symfs/ that the golden recordings' samples are in, and the kernel's names.
 *
 *	symfs/opt/golden/app, libwork.so   functions of FUNCTION_BYTES in one .text at CODE_OFFSET
 *	symfs/opt/golden/libshop...        the same with long names of C++
 *	symfs/opt/golden/strange           the same with names that no report may print as they are
 *	kallsyms                           text of the kernel and of a module
 */
#include "golden/golden.h"

#include "unit/elf_builder.h"

#include <sys/stat.h>

enum { VADDR_OF_OFFSET_0 = 0x1000 };

static const char *const app_names[APP_FUNCTIONS] = { "main", "outer", "middle", "inner",
						      "leaf", "spin",  "table" };
static const char *const lib_names[LIB_FUNCTIONS] = { "work", "_Z4sortIiEvPT_m", "compare" };
/* As g++ makes them; what stands in their brackets is far longer than a line of a terminal. */
#define STRING "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
static const char *const shop_names[SHOP_FUNCTIONS] = {
	"shop_serve",
	"_ZN4shop5StoreI" STRING "NS_4ItemEE13insert_sortedERKS6_S7_",
	"_ZNSt8_Rb_treeI" STRING "St4pairIKS5_St6vectorIN4shop4ItemESaISA_EEESt10_Select1stISD_ESt4lessIS5_E"
	"SaISD_EE22_M_emplace_hint_uniqueIJRKSt21piecewise_construct_tSt5tupleIJRS7_EESO_IJEEEEE"
	"St17_Rb_tree_iteratorISD_ESt23_Rb_tree_const_iteratorISD_EDpOT_",
	"_ZNSt6vectorIN4shop4ItemESaIS1_EE9push_backERKS1_",
	"_ZNKSt8functionIFiRK" STRING "RKSt6vectorIN4shop4ItemESaISA_EEEEclES7_SE_",
	"_ZN12_GLOBAL__N_15totalERKSt3mapI" STRING "St6vectorIN4shop4ItemESaIS9_EESt4lessIS6_E"
	"SaISt4pairIKS6_SB_EEE",
	"shop_protocol_version_2_session_callbacks_set_on_frame_received_callback",
};
static const char *const kernel_names[KERNEL_FUNCTIONS] = { "entry_SYSCALL_64", "__x64_sys_read", "vfs_read",
							    "schedule" };
/* What would move the cursor, end a field, a line or a quoted text, turn the writing round, or is no UTF-8. */
static const char *const strange_names[] = {
	"\033[2Jclear", "new\nline",	"tab\there",  "semi;colon",	 "com,ma",	"quo\"te",
	"back\\slash",	"\xff\xfe bad", "\xe2\x80\xaeturned", "<b>&amp;", "sp ace  two", "caf\xc3\xa9",
};

static void add_symbols(struct built_elf *elf, uint32_t text, const char *const *names, size_t n)
{
	uint32_t symbols = elf_add_symbols(elf, SHT_SYMTAB);

	for (size_t i = 0; i < n; i++)
		elf_symbol(elf, symbols, names[i],
			   VADDR_OF_OFFSET_0 + CODE_OFFSET + i * FUNCTION_BYTES, FUNCTION_BYTES,
			   STB_GLOBAL, strcmp(names[i], "table") ? STT_FUNC : STT_OBJECT, text);
}

static void make_elf(const char *folder, const char *path, uint8_t build_id, const char *const *names, size_t n)
{
	char *file = xasprintf("%s/symfs%s", folder, path);
	struct str bytes = STR_INIT;
	struct built_elf elf;
	uint32_t text;

	elf_start(&elf, ET_DYN, EM_X86_64, false, false);
	text = elf_add(&elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
		       VADDR_OF_OFFSET_0 + CODE_OFFSET);
	elf.load = text;
	/* The builder puts it on the next multiple of 8 behind the headers. */
	str_pad(&elf.sections[text].bytes, '\xc3', n * FUNCTION_BYTES);
	elf_build_id(&elf, build_id, BUILD_ID_BYTES);
	add_symbols(&elf, text, names, n);
	elf_finish(&elf, &bytes);
	if (elf.sections[text].offset != CODE_OFFSET)
		golden_stop(path, "the code is not at CODE_OFFSET");
	golden_write_file(file, &bytes);
	elf_end(&elf);
	str_release(&bytes);
	free(file);
}

static void make_kallsyms(const char *folder)
{
	char *file = xasprintf("%s/kallsyms", folder);
	struct str text = STR_INIT;

	str_addf(&text, "%llx T _text\n%llx T _stext\n", KERNEL_BASE, KERNEL_BASE);
	for (size_t i = 0; i < KERNEL_FUNCTIONS; i++)
		str_addf(&text, "%llx T %s\n", (unsigned long long)kernel((enum kernel_function)i) - 8,
			 kernel_names[i]);
	str_addf(&text, "%llx T _etext\n", KERNEL_BASE + 0xf000);
	str_addf(&text, "%llx t golden_poll\t[golden]\n%llx t golden_irq\t[golden]\n", MODULE_BASE + 0x100,
		 MODULE_BASE + 0x200);
	golden_write_file(file, &text);
	str_release(&text);
	free(file);
}

void golden_make_files(const char *folder)
{
	static const char *const folders[] = { "", "/symfs", "/symfs/opt", "/symfs/opt/golden" };

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		char *path = xasprintf("%s%s", folder, folders[i]);

		mkdir(path, 0755);
		free(path);
	}
	make_elf(folder, APP_PATH, APP_BUILD_ID, app_names, APP_FUNCTIONS);
	make_elf(folder, LIB_PATH, LIB_BUILD_ID, lib_names, LIB_FUNCTIONS);
	make_elf(folder, SHOP_PATH, SHOP_BUILD_ID, shop_names, SHOP_FUNCTIONS);
	make_elf(folder, STRANGE_PATH, STRANGE_BUILD_ID, strange_names, ARRAY_SIZE(strange_names));
	make_kallsyms(folder);
}
