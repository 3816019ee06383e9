/* SPDX-License-Identifier: MIT */
/*
 * usdt: probes that a program's author has put there (user statically-defined tracing): a nop, and a note in section
 * .note.stapsdt that says where it is and what to read:
 *
 *	namesz descsz type=3 "stapsdt\0" | address base semaphore "provider\0" "name\0" "-4@%edi 8@-16(%rbp)\0"
 *
 * Addresses are those of linking: .stapsdt.base tells by how much the file was moved since. A semaphore is a counter
 * in the program that the kernel holds above 0 while the probe is measured with: programs that have one do the work for
 * its arguments only then.
 *
 * Arguments are SIZE@OPERAND in the assembler's words, negative where they are signed; those that the kernel cannot
 * fetch are left out, and the others keep their numbers.
 *
 * Sources: sys/sdt.h and "UserSpaceProbeImplementation" of SystemTap; Documentation/trace/uprobetracer.rst of Linux.
 */
#include "elf/elf.h"
#include "probe/probe_internal.h"

#include <ctype.h>
#include <stdlib.h>

enum { NOTE_USDT = 3 };

/* ---- notes ---- */

void probe_usdt_begin(struct probe_file *file, struct probe_usdt_notes *notes)
{
	struct elf_file *elf = probe_file_elf(file);
	struct elf_section base;
	size_t n = 0;
	const uint8_t *bytes = elf_file_section(elf, ".note.stapsdt", &n);

	*notes = (struct probe_usdt_notes){ .address_bytes = elf->is_64 ? 8 : 4 };
	if (bytes && !elf->swapped)
		notes->at = (struct dwarf_cursor){ .at = bytes, .end = bytes + n };
	if (elf_section_named(elf, ".stapsdt.base", &base))
		notes->base = base.header.sh_addr;
}

/* Reads what a note describes; false: it is cut, or not of this kind. */
static bool read_description(const struct probe_usdt_notes *notes, struct dwarf_cursor *at, struct probe_usdt *usdt)
{
	uint64_t base, moved;

	usdt->address = cursor_number(at, notes->address_bytes);
	base = cursor_number(at, notes->address_bytes);
	usdt->semaphore = cursor_number(at, notes->address_bytes);
	usdt->provider = cursor_text(at);
	usdt->name = cursor_text(at);
	usdt->arguments = cursor_text(at);
	if (at->bad || !usdt->provider || !usdt->name || !usdt->arguments)
		return false;
	moved = notes->base && base ? notes->base - base : 0;
	usdt->address += moved;
	usdt->semaphore += usdt->semaphore ? moved : 0;
	return true;
}

bool probe_usdt_next(struct probe_usdt_notes *notes, struct probe_usdt *usdt)
{
	static const char owner[] = "stapsdt";
	struct dwarf_cursor *at = &notes->at;

	while (cursor_left(at)) {
		uint64_t name_bytes = cursor_number(at, 4), bytes = cursor_number(at, 4);
		uint64_t type = cursor_number(at, 4);
		const uint8_t *name = at->at;
		struct dwarf_cursor description;
		bool ours;

		cursor_skip(at, (name_bytes + 3) & ~UINT64_C(3));
		description = *at;
		cursor_skip(at, bytes);
		if (at->bad)
			return false;
		description.end = at->at;
		/* The last note may end without its padding. */
		cursor_skip(at, (-bytes & 3) < cursor_left(at) ? -bytes & 3 : cursor_left(at));
		ours = type == NOTE_USDT && name_bytes == sizeof(owner) && !memcmp(name, owner, sizeof(owner));
		if (ours && read_description(notes, &description, usdt))
			return true;
	}
	return false;
}

bool probe_usdt_is(const struct probe_usdt *usdt, const struct probe_point *point)
{
	return glob_match(point->provider, usdt->provider) && glob_match(point->function, usdt->name);
}

void probe_file_usdt(struct probe_file *file, struct probe_names *names)
{
	struct probe_usdt_notes notes;
	struct probe_usdt usdt;

	for (probe_usdt_begin(file, &notes); probe_usdt_next(&notes, &usdt);) {
		char *name = xasprintf("%%sdt_%s:%s", usdt.provider, usdt.name);
		bool known = false;

		for (size_t i = 0; i < names->n && !known; i++)
			known = !strcmp(names->v[i], name);
		if (known) {
			free(name);
			continue;
		}
		VEC_GROW(names->v, names->n, names->cap);
		names->v[names->n++] = name;
	}
}

/* ---- arguments ---- */

/* "%edi", "%r8d", "x0", "w0", "sp" -> "%di", "%r8", "%x0", "%x0", "%sp"; false: the kernel has no such register. */
static bool add_x86(const char *name, size_t n, struct str *out)
{
	static const char *const names[] = { "ax", "bx", "cx", "dx", "si", "di", "bp", "sp" };
	char *end;
	unsigned long number;

	if (n > 1 && name[0] == 'r' && isdigit((unsigned char)name[1])) {
		number = strtoul(name + 1, &end, 10);
		if (number < 8 || number > 15 || end + 1 < name + n || (end < name + n && !strchr("dwb", *end)))
			return false;
		str_addf(out, "%%r%lu", number);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		bool wide = n == 3 && strchr("re", name[0]) && !strncmp(name + 1, names[i], 2);
		bool word = n == 2 && !strncmp(name, names[i], 2);
		bool byte = i < 4 ? n == 2 && name[0] == names[i][0] && name[1] == 'l' :
				    n == 3 && !strncmp(name, names[i], 2) && name[2] == 'l';

		if (wide || word || byte) {
			str_addf(out, "%%%s", names[i]);
			return true;
		}
	}
	return false;
}

static bool add_arm64(const char *name, size_t n, struct str *out)
{
	char *end;
	unsigned long number;

	if (n == 2 && !strncmp(name, "sp", n)) {
		str_add(out, "%sp");
		return true;
	}
	if (n < 2 || !strchr("xw", name[0]) || !isdigit((unsigned char)name[1]))
		return false;
	number = strtoul(name + 1, &end, 10);
	if (end != name + n || number > 30)
		return false;
	str_addf(out, "%%x%lu", number);
	return true;
}

/* "$5", "%edi", "-16(%rbp)" of x86-64. */
static bool add_operand_x86(const char *text, size_t n, struct str *out)
{
	char *end;
	long long offset;

	if (n > 1 && text[0] == '%')
		return add_x86(text + 1, n - 1, out);
	offset = strtoll(text + (text[0] == '$'), &end, 0);
	if (text[0] == '$') {
		str_addf(out, "\\%lld", offset);
		return n > 1 && end == text + n;
	}
	/* The kernel computes no address from a symbol or an index. */
	if (n < 4 || end > text + n - 4 || strncmp(end, "(%", 2) != 0 || text[n - 1] != ')')
		return false;
	str_addf(out, "%+lld(", offset);
	if (!add_x86(end + 2, (size_t)(text + n - 1 - (end + 2)), out))
		return false;
	str_addc(out, ')');
	return true;
}

/* "5", "x0", "[sp, 16]" of arm64. */
static bool add_operand_arm64(const char *text, size_t n, struct str *out)
{
	struct str reg = STR_INIT;
	char *end;
	long long offset = 0;
	size_t len;
	bool good;

	if (text[0] != '[') {
		offset = strtoll(text, &end, 0);
		if (n && end == text + n) {
			str_addf(out, "\\%lld", offset);
			return true;
		}
		return add_arm64(text, n, out);
	}
	if (n < 3 || text[n - 1] != ']')
		return false;
	len = strcspn(text + 1, ",]");
	good = add_arm64(text + 1, len, &reg);
	if (text[1 + len] == ',') {
		offset = strtoll(text + 1 + len + 1, &end, 0);
		good &= *end == ']';
	}
	str_addf(out, "%+lld(%s)", offset, reg.s);
	str_release(&reg);
	return good;
}

/* "-4@%edi" -> "%di:s32". */
static bool add_argument(uint16_t machine, const char *text, size_t n, struct str *out)
{
	char *at;
	long size = strtol(text, &at, 10);
	const char *operand = at + 1;

	if (*at != '@' || operand >= text + n || (size != 1 && size != 2 && size != 4 && size != 8 && size != -1 &&
						  size != -2 && size != -4 && size != -8))
		return false;
	if (!(machine == EM_X86_64  ? add_operand_x86(operand, n - (size_t)(operand - text), out) :
	      machine == EM_AARCH64 ? add_operand_arm64(operand, n - (size_t)(operand - text), out) :
				      false))
		return false;
	str_addf(out, ":%c%ld", size < 0 ? 's' : 'u', labs(size) * 8);
	return true;
}

/* The length of the first argument: blanks within brackets do not end it. */
static size_t argument_length(const char *text)
{
	size_t n = 0;
	bool inside = false;

	for (; text[n] && (inside || text[n] != ' '); n++)
		inside = text[n] == '[' || (inside && text[n] != ']');
	return n;
}

size_t probe_usdt_arguments(uint16_t machine, const char *arguments, struct str *out)
{
	size_t n_left_out = 0;

	for (unsigned number = 1; *arguments; number++) {
		size_t n = argument_length(arguments);
		struct str fetch = STR_INIT;

		if (n && add_argument(machine, arguments, n, &fetch))
			str_addf(out, " arg%u=%s", number, fetch.s);
		else if (n)
			n_left_out++;
		else
			number--;
		arguments += n + (arguments[n] == ' ');
		str_release(&fetch);
	}
	return n_left_out;
}
