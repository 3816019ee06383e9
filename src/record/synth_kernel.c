/* SPDX-License-Identifier: MIT */
/*
 * synth_kernel.c: the kernel and its modules -> MMAP records.
 *
 * kallsyms is megabytes of text that the kernel makes while it is read, so only its beginning is: _text
 * stands there. How long the text is stands in iomem, where root may read it; else kallsyms is read on
 * to _etext.
 *
 * Source: proc(5) kallsyms, modules, iomem; modules.dep(5).
 */
#include "record/synth.h"

#include "record/line_reader.h"
#include "space/space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#define MODULES_DIR "/lib/modules"

/* Opens a file below procfs; -errno where it cannot be opened. */
static int open_proc(struct line_reader *reader, const struct kern *kern, const char *name)
{
	char *path = xasprintf("%s/%s", kern->host.procfs, name);
	int rc = line_reader_open(reader, AT_FDCWD, path);

	free(path);
	return rc;
}

/* The first n words of a line, ended in place; false: there are fewer. */
static bool split(char *line, char *words[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		line += strspn(line, " \t");
		if (!*line)
			return false;
		words[i] = line;
		line += strcspn(line, " \t");
		if (*line)
			*line++ = '\0';
	}
	return true;
}

/* ---- the kernel ---- */

struct text_range {
	uint64_t start, len;
	const char *symbol; /* at start */
};

/* Bytes of the kernel's code; 0: not known, or not told to this user. */
static uint64_t text_bytes(struct line_reader *reader, const struct kern *kern)
{
	uint64_t first = 0, last = 0, bytes = 0;
	char *line;

	if (open_proc(reader, kern, "iomem"))
		return 0;
	while (!bytes && (line = line_reader_next(reader)) != NULL) {
		char *at = line + strspn(line, " "), *dash, *end;

		dash = strchr(at, '-');
		end = dash ? strstr(dash, " : ") : NULL;
		if (!end || strcmp(end, " : Kernel code"))
			continue;
		*dash = *end = '\0';
		if (!parse_u64(at, 16, &first) && !parse_u64(dash + 1, 16, &last) && last > first)
			bytes = last - first + 1;
		break;
	}
	line_reader_close(reader);
	return bytes;
}

static void take_symbol(struct text_range *text, uint64_t address, const char *name)
{
	if (!strcmp(name, "_text") || (!text->start && !strcmp(name, "_stext"))) {
		text->start = address;
		text->symbol = !strcmp(name, "_text") ? "_text" : "_stext";
	} else if (text->start && !text->len && !strcmp(name, "_etext") && address > text->start) {
		text->len = address - text->start;
	}
}

/*
 * _text and _stext are neighbours, usually at one address, in either order: the symbols of a few more
 * addresses are looked at after the first of them.
 */
static void find_text(struct line_reader *reader, const struct kern *kern, struct text_range *text)
{
	unsigned more = 16;
	char *line;

	if (open_proc(reader, kern, "kallsyms"))
		return;
	while ((!text->start || !text->len || more) && (line = line_reader_next(reader)) != NULL) {
		char *words[3];
		uint64_t address;

		if (!split(line, words, ARRAY_SIZE(words)) || parse_u64(words[0], 16, &address))
			continue;
		/* Addresses are hidden: the rest need not be made. */
		if (!address && (!strcmp(words[2], "_text") || !strcmp(words[2], "_stext")))
			break;
		take_symbol(text, address, words[2]);
		more -= text->start && more;
	}
	line_reader_close(reader);
}

static int put_kernel(struct line_reader *reader, const struct kern *kern, synth_fn fn, void *data)
{
	struct record_body body = { .type = RECORD_MMAP, .misc = MISC_KERNEL };
	struct text_range text = { .len = text_bytes(reader, kern) };
	char *name;
	int rc;

	find_text(reader, kern, &text);
	if (!text.start || !text.len)
		return 0;
	name = xasprintf("[kernel.kallsyms]%s", text.symbol);
	body.mmap = (struct record_mmap){
		.pid = UINT32_MAX,
		.start = text.start,
		.len = text.len,
		.pgoff = text.start,
		.path = name,
	};
	rc = fn(data, &body);
	free(name);
	return rc;
}

/* ---- modules ---- */

struct loaded_module {
	char *name, *path; /* path NULL: modules.dep does not know it */
	uint64_t start, len;
};
struct loaded_modules {
	struct loaded_module *v;
	size_t n, cap;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct loaded_module *)a)->name, ((const struct loaded_module *)b)->name);
}

/* "ext4 1032192 3 mbcache,jbd2, Live 0xffffffffc0401000 (OE)" */
static void read_modules(struct line_reader *reader, const struct kern *kern,
			 struct loaded_modules *modules)
{
	char *line;

	if (open_proc(reader, kern, "modules"))
		return;
	while ((line = line_reader_next(reader)) != NULL) {
		struct loaded_module module = { 0 };
		char *words[6];

		if (!split(line, words, ARRAY_SIZE(words)) ||
		    parse_u64(words[1], 10, &module.len) || strncmp(words[5], "0x", 2) ||
		    parse_u64(words[5] + 2, 16, &module.start) || !module.start)
			continue;
		module.name = xstrdup(words[0]);
		VEC_GROW(modules->v, modules->n, modules->cap);
		modules->v[modules->n++] = module;
	}
	line_reader_close(reader);
	if (modules->n)
		qsort(modules->v, modules->n, sizeof(*modules->v), by_name);
}

/* "kernel/fs/ext4/jbd2-x.ko.xz" -> the module jbd2_x, or NULL. */
static struct loaded_module *module_of_file(const struct loaded_modules *modules, const char *file)
{
	struct loaded_module key = { .name = module_name_of(file) };
	struct loaded_module *found = bsearch(&key, modules->v, modules->n, sizeof(*modules->v), by_name);

	free(key.name);
	return found;
}

static void find_files(struct line_reader *reader, const struct kern *kern, struct loaded_modules *modules)
{
	char *path = xasprintf("%s/sys/kernel/osrelease", kern->host.procfs), *dep, *line;
	struct str release = STR_INIT;

	dep = read_line_file(path, &release) ? NULL :
	      xasprintf(MODULES_DIR "/%s/modules.dep", release.s);
	if (dep && !line_reader_open(reader, AT_FDCWD, dep)) {
		while ((line = line_reader_next(reader)) != NULL) {
			struct loaded_module *module;

			line[strcspn(line, ":")] = '\0';
			module = module_of_file(modules, line);
			if (module && !module->path)
				module->path = *line == '/' ? xstrdup(line) :
					       xasprintf(MODULES_DIR "/%s/%s", release.s, line);
		}
		line_reader_close(reader);
	}
	free(dep);
	free(path);
	str_release(&release);
}

static int put_module(const struct loaded_module *module, synth_fn fn, void *data)
{
	struct record_body body = { .type = RECORD_MMAP, .misc = MISC_KERNEL };
	char *bare = xasprintf("[%s]", module->name);
	int rc;

	body.mmap = (struct record_mmap){
		.pid = UINT32_MAX,
		.start = module->start,
		.len = module->len,
		.path = module->path ? module->path : bare,
	};
	rc = fn(data, &body);
	free(bare);
	return rc;
}

static int put_modules(struct line_reader *reader, const struct kern *kern, synth_fn fn, void *data)
{
	struct loaded_modules modules = { 0 };
	int rc = 0;

	read_modules(reader, kern, &modules);
	if (modules.n)
		find_files(reader, kern, &modules);
	for (size_t i = 0; i < modules.n; i++) {
		if (!rc)
			rc = put_module(&modules.v[i], fn, data);
		free(modules.v[i].name);
		free(modules.v[i].path);
	}
	free(modules.v);
	return rc;
}

int synth_kernel(const struct kern *kern, synth_fn fn, void *data)
{
	struct line_reader *reader = xmalloc(sizeof(*reader));
	int rc;

	rc = put_kernel(reader, kern, fn, data);
	if (!rc)
		rc = put_modules(reader, kern, fn, data);
	free(reader);
	return rc;
}
