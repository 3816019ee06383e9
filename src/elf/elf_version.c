/* SPDX-License-Identifier: MIT */
/*
 * elf_version: versions of exported symbols. A library may export several codes under one name, for programs that were
 * linked when an older one was current; it may keep a name for nobody but them.
 *
 *	.gnu.version     of symbol i of .dynsym: bit 15: only for programs of then | 15 bits: number
 *	.gnu.version_d   Verdef --vd_next--> Verdef ...    each with its number and, at vd_aux, its name
 *
 * Source: Linux Standard Base, "Symbol Versioning"; elf.h.
 */
#include "elf/elf.h"

#include <stdlib.h>

enum {
	OLD = 0x8000,
	NUMBER = OLD - 1,
};

static void keep_name(struct elf_versions *versions, uint16_t number, const char *name)
{
	number &= NUMBER;
	while (versions->n_names <= number) {
		VEC_GROW(versions->names, versions->n_names, versions->cap_names);
		versions->names[versions->n_names++] = NULL;
	}
	versions->names[number] = name;
}

/* Each step leads on in the section, and there are no more of them than numbers. */
static void read_names(struct elf_file *file, struct elf_versions *versions)
{
	struct elf_section section, strings;
	struct elf_data data, names;
	uint64_t at = 0;

	if (!elf_section_of_type(file, SHT_GNU_verdef, &section) || !elf_section_read(file, &section, &data) ||
	    !elf_section_at(file, section.header.sh_link, &strings) || !elf_section_read(file, &strings, &names))
		return;
	for (int i = 0; i <= NUMBER; i++) {
		Elf64_Verdef version; /* as Elf32_Verdef */
		Elf64_Verdaux name;

		if (at + sizeof(version) > data.n)
			return;
		memcpy(&version, (const char *)data.bytes + at, sizeof(version));
		if (at + version.vd_aux + sizeof(name) > data.n)
			return;
		memcpy(&name, (const char *)data.bytes + at + version.vd_aux, sizeof(name));
		keep_name(versions, version.vd_ndx, elf_text(&names, name.vda_name));
		if (!version.vd_next)
			return;
		at += version.vd_next;
	}
}

void elf_versions_read(struct elf_file *file, struct elf_versions *versions)
{
	struct elf_section section;

	*versions = (struct elf_versions){ 0 };
	if (elf_section_of_type(file, SHT_GNU_versym, &section) && elf_section_read(file, &section, &versions->numbers))
		read_names(file, versions);
}

void elf_versions_release(struct elf_versions *versions)
{
	free(versions->names);
	*versions = (struct elf_versions){ 0 };
}

const char *elf_version_old(const struct elf_versions *versions, size_t i)
{
	uint16_t number;

	if (i >= versions->numbers.n / sizeof(number))
		return NULL;
	memcpy(&number, (const char *)versions->numbers.bytes + i * sizeof(number), sizeof(number));
	return number & OLD && (number & NUMBER) < versions->n_names ? versions->names[number & NUMBER] : NULL;
}
