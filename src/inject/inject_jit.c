/* SPDX-License-Identifier: MIT */
/*
 * inject_jit.c: -j: the functions that run-time compilers put into a dump (jit-PID.dump) become ELF files beside it,
 * jitted-PID-N.so, and mappings of these at the time when the compiler made them. So the recording needs neither the
 * dump nor a reader that knows dumps. The mapping of the dump itself is left out, and so are those that
 * the process makes of anonymous memory afterwards: the compiler's room, which would cover what it has put there. Where
 * code was moved away, or all of it was given up, anonymous memory is mapped.
 *
 *	ELF header | program header | code | unwind table | build-id | symbols | their names | names | sections
 *
 * The unwind table lies at the next multiple of 8 after the code, as the compiler took it. There are no lines.
 */
#include "inject/inject_internal.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

/* Names of mappings that a compiler makes room by; the first is the kernel's. */
static const char *const rooms[] = { "//anon", "[anon:", "/memfd:" };

struct jit_dump { /* of one process */
	int32_t pid;
	struct jitdump *dump;
	struct jitdump_loads loads;
	size_t next; /* that is not written */
	char *folder;
	struct sample_id id; /* of the mapping that named it */
	uint32_t tid;
	const struct data_event *event;
	bool *made; /* by piece: its file is there */
	size_t cap_made;
};

struct inject_jit {
	struct inject *inject;
	struct jit_dump *v;
	size_t n, cap;
};

struct inject_jit *inject_jit_new(struct inject *inject)
{
	struct inject_jit *jit = xcalloc(1, sizeof(*jit));

	jit->inject = inject;
	return jit;
}

void inject_jit_free(struct inject_jit *jit)
{
	if (!jit)
		return;
	for (size_t i = 0; i < jit->n; i++) {
		jitdump_free(jit->v[i].dump);
		free(jit->v[i].loads.v);
		free(jit->v[i].folder);
		free(jit->v[i].made);
	}
	free(jit->v);
	free(jit);
}

/* ---- a function as an ELF file ---- */

enum { SECTION_TEXT = 1, SECTION_EH_FRAME, SECTION_NOTE, SECTION_SYMTAB, SECTION_STRTAB, SECTION_NAMES, SECTIONS };

enum {
	TEXT_AT = 128, /* after both headers, at a multiple of 64 */
	NOTE_ALIGN = 4,
	BUILD_ID_BYTES = 20,
};
_Static_assert(TEXT_AT >= sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr), "the headers have room in front of the code");

/* Makes it of the code and its name, so that it is the same in each run. */
static void make_build_id(const struct str *code, const char *name, uint8_t id[BUILD_ID_BYTES])
{
	const uint64_t words[] = { checksum_bytes(code->s, code->len), checksum_bytes(name, strlen(name)) };
	const uint32_t bytes = (uint32_t)code->len;

	memcpy(id, words, sizeof(words));
	memcpy(id + sizeof(words), &bytes, sizeof(bytes));
}

static void align(struct str *out, size_t multiple)
{
	str_pad(out, '\0', (multiple - out->len % multiple) % multiple);
}

/* Appends a section's bytes, and says in its header where they are. */
static void add_section(struct str *out, Elf64_Shdr *header, const void *bytes, size_t n)
{
	align(out, header->sh_addralign);
	header->sh_offset = out->len;
	header->sh_size = n;
	if (header->sh_flags & SHF_ALLOC)
		header->sh_addr = out->len;
	str_addn(out, bytes, n);
}

static void add_note(struct str *out, Elf64_Shdr *header, const struct str *code, const char *name)
{
	static const char owner[NOTE_ALIGN] = "GNU";
	struct {
		Elf64_Nhdr head;
		char owner[NOTE_ALIGN];
		uint8_t id[BUILD_ID_BYTES];
	} note = { .head = { sizeof(owner), BUILD_ID_BYTES, NT_GNU_BUILD_ID } };

	memcpy(note.owner, owner, sizeof(owner));
	make_build_id(code, name, note.id);
	add_section(out, header, &note, sizeof(note));
}

static void add_symbols(struct str *out, Elf64_Shdr headers[SECTIONS], const char *name)
{
	const Elf64_Sym symbols[] = {
		{ .st_name = 0 },
		{ .st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = SECTION_TEXT,
		  .st_value = TEXT_AT, .st_size = headers[SECTION_TEXT].sh_size },
	};
	struct str names = STR_INIT;

	str_addc(&names, '\0');
	str_addn(&names, name, strlen(name) + 1);
	add_section(out, &headers[SECTION_SYMTAB], symbols, sizeof(symbols));
	add_section(out, &headers[SECTION_STRTAB], names.s, names.len);
	str_release(&names);
}

static void make_elf(struct str *out, uint16_t machine, const struct str *code, const struct str *eh_frame,
		     const char *name)
{
	static const char names[] = "\0.text\0.eh_frame\0.note.gnu.build-id\0.symtab\0.strtab\0.shstrtab";
	Elf64_Shdr headers[SECTIONS] = {
		[SECTION_TEXT] = { .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				   .sh_addralign = 16 },
		[SECTION_EH_FRAME] = { .sh_name = 7, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC,
				       .sh_addralign = 8 },
		[SECTION_NOTE] = { .sh_name = 17, .sh_type = SHT_NOTE, .sh_addralign = NOTE_ALIGN },
		[SECTION_SYMTAB] = { .sh_name = 36, .sh_type = SHT_SYMTAB, .sh_addralign = 8,
				     .sh_link = SECTION_STRTAB, .sh_info = 1, .sh_entsize = sizeof(Elf64_Sym) },
		[SECTION_STRTAB] = { .sh_name = 44, .sh_type = SHT_STRTAB, .sh_addralign = 1 },
		[SECTION_NAMES] = { .sh_name = 52, .sh_type = SHT_STRTAB, .sh_addralign = 1 },
	};
	Elf64_Ehdr head = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = machine, .e_version = EV_CURRENT,
		.e_phoff = sizeof(Elf64_Ehdr), .e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = SECTIONS, .e_shstrndx = SECTION_NAMES,
	};
	Elf64_Phdr segment = { .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = TEXT_AT, .p_vaddr = TEXT_AT,
			       .p_paddr = TEXT_AT, .p_align = TEXT_AT };

	str_pad(out, '\0', TEXT_AT);
	add_section(out, &headers[SECTION_TEXT], code->s, code->len);
	add_section(out, &headers[SECTION_EH_FRAME], eh_frame->s ? eh_frame->s : "", eh_frame->len);
	segment.p_filesz = segment.p_memsz = out->len - TEXT_AT;
	add_note(out, &headers[SECTION_NOTE], code, name);
	add_symbols(out, headers, name);
	add_section(out, &headers[SECTION_NAMES], names, sizeof(names));
	align(out, sizeof(uint64_t));
	head.e_shoff = out->len;
	str_addn(out, (const char *)headers, sizeof(headers));
	memcpy(out->s, &head, sizeof(head));
	memcpy(out->s + sizeof(head), &segment, sizeof(segment));
}

/* Writes the file of a piece, once. 0, or a negative errno with a sentence. */
static int make_file(struct jit_dump *of, const struct jitdump_load *load, const char *path, struct str *err)
{
	struct str code = STR_INIT, eh_frame = STR_INIT, elf = STR_INIT, why = STR_INIT;
	int rc = 0;

	if (load->piece >= of->cap_made) {
		size_t cap = load->piece * 2 + 64;

		of->made = xreallocarray(of->made, cap, sizeof(*of->made));
		memset(of->made + of->cap_made, 0, (cap - of->cap_made) * sizeof(*of->made));
		of->cap_made = cap;
	}
	if (of->made[load->piece])
		return 0;
	of->made[load->piece] = true;
	if (!jitdump_bytes(of->dump, load, &code)) {
		rc = fail(err, -EIO, "%s: the dump ends before the code", path);
	} else {
		jitdump_unwind(of->dump, load->piece, &eh_frame);
		make_elf(&elf, jitdump_machine(of->dump), &code, &eh_frame, load->name);
		rc = destination_write_whole(path, &elf, &why);
		if (rc)
			fail(err, rc, "%s: %s", path, why.s);
	}
	str_release(&code);
	str_release(&eh_frame);
	str_release(&elf);
	str_release(&why);
	return rc;
}

/* ---- mappings ---- */

/* The mapping of this place, so far of anonymous memory. */
static void begin_map(struct record_body *body, const struct jit_dump *of, const struct jitdump_load *load)
{
	*body = (struct record_body){ .type = RECORD_MMAP2, .misc = MISC_USER, .event = of->event, .id = of->id };
	body->id.time_ns = load->time_ns;
	body->mmap.pid = (uint32_t)of->pid;
	body->mmap.tid = of->tid;
	body->mmap.start = load->start;
	body->mmap.len = load->end - load->start;
	body->mmap.prot = PROT_READ | PROT_EXEC;
	body->mmap.flags = MAP_PRIVATE;
	body->mmap.path = rooms[0];
}

/* Puts the function's file into the mapping. 0, or a negative errno with a sentence. */
static int map_file(struct record_body *body, struct jit_dump *of, const struct jitdump_load *load, const char *path,
		    struct str *err)
{
	struct stat st;
	int rc = make_file(of, load, path, err);

	if (!rc && stat(path, &st))
		rc = fail(err, -errno, "%s: %s", path, strerror(errno));
	if (rc)
		return rc;
	body->mmap.pgoff = TEXT_AT;
	body->mmap.major = major(st.st_dev);
	body->mmap.minor = minor(st.st_dev);
	body->mmap.inode = st.st_ino;
	body->mmap.path = path;
	return 0;
}

static int put_load(struct inject_jit *jit, struct jit_dump *of, const struct jitdump_load *load, struct str *err)
{
	char *path = xasprintf("%sjitted-%d-%llu.so", of->folder, of->pid, (unsigned long long)load->piece);
	struct record_body body;
	int rc = 0;

	begin_map(&body, of, load);
	if (load->name)
		rc = map_file(&body, of, load, path, err);
	if (!rc)
		rc = inject_put(jit->inject, &body, of->event, err);
	free(path);
	return rc;
}

int inject_jit_until(struct inject_jit *jit, uint64_t time_ns, struct str *err)
{
	int rc = 0;

	for (size_t i = 0; i < jit->n; i++) {
		struct jit_dump *of = &jit->v[i];

		while (!rc && of->next < of->loads.n && of->loads.v[of->next].time_ns <= time_ns)
			rc = put_load(jit, of, &of->loads.v[of->next++], err);
	}
	return rc;
}

static int by_time(const void *a, const void *b)
{
	const struct jitdump_load *x = a, *y = b;

	return x->time_ns != y->time_ns ? (x->time_ns < y->time_ns ? -1 : 1) : 0;
}

static bool has_dump_clock(const struct inject *inject)
{
	const struct perf_event_attr *attr = &inject->written.v[0]->attr;

	return attr->use_clockid && attr->clockid == CLOCK_MONOTONIC;
}

static int take_dump(struct inject_jit *jit, const struct record_body *body, struct str *err)
{
	const struct sym_options *sym = &jit->inject->options->sym;
	const char *slash = strrchr(body->mmap.path, '/');
	struct jit_dump *of;
	struct str why = STR_INIT;
	struct jitdump_loads loads = { .n = 0 };
	struct jitdump *dump;

	if (!has_dump_clock(jit->inject))
		return fail(err, -EINVAL, "-j: %s has times of CLOCK_MONOTONIC; record with -k mono", body->mmap.path);
	dump = jitdump_loads(body->mmap.path, body->misc & MISC_MMAP_BUILD_ID ? 0 : body->mmap.inode, sym->force,
			     &loads, &why);
	if (!dump) {
		note_add(&jit->inject->result->notes, false, NULL, "%s", why.s);
		str_release(&why);
		return 0;
	}
	str_release(&why);
	qsort(loads.v, loads.n, sizeof(*loads.v), by_time);
	VEC_GROW(jit->v, jit->n, jit->cap);
	of = &jit->v[jit->n++];
	*of = (struct jit_dump){ .pid = (int32_t)body->mmap.pid, .tid = body->mmap.tid, .dump = dump, .loads = loads,
				 .id = body->id };
	of->event = body->event ? body->event : jit->inject->written.v[0];
	of->folder = slash ? xstrndup(body->mmap.path, (size_t)(slash - body->mmap.path) + 1) : xstrdup("");
	return 1;
}

static const struct jit_dump *dump_of(const struct inject_jit *jit, uint32_t pid)
{
	for (size_t i = jit->n; i-- > 0;)
		if (jit->v[i].pid == (int32_t)pid)
			return &jit->v[i];
	return NULL;
}

int inject_jit_map(struct inject_jit *jit, const struct record_body *body, struct str *err)
{
	const char *path = body->mmap.path;

	if (jit_dump_pid(path) >= 0)
		return dump_of(jit, body->mmap.pid) ? 1 : take_dump(jit, body, err);
	for (size_t i = 0; i < ARRAY_SIZE(rooms) && dump_of(jit, body->mmap.pid); i++)
		if (!strncmp(path, rooms[i], strlen(rooms[i])))
			return 1;
	return 0;
}
