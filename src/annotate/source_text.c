/* SPDX-License-Identifier: MIT */
/*
 * source_text.c: see source_text.h. Each file is read once, in one piece, when its first line is asked for; one that is
 * not there is remembered as well.
 *
 * The name is what DWARF says, so anybody's: only regular files up to 16 MiB are read, and what is shown of them
 * is a line at a time, made printable and cut at 512 bytes.
 */
#include "annotate/source_text.h"

#include <stdlib.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 16 << 20, LINE_BYTES_MAX = 512, TAB_COLUMNS = 8 };

struct source_file {
	char *name;
	char *bytes; /* NULL: it can't be read */
	uint32_t *starts; /* of each line; one more: the end */
	size_t n_lines, cap_lines;
	const char **texts; /* by line, those that were asked for */
};
struct source_texts {
	const struct source_options *options;
	struct source_file *files;
	size_t n, cap;
	struct index by_name;
	struct arena arena;
};

struct source_texts *source_texts_new(const struct source_options *options)
{
	struct source_texts *texts = xcalloc(1, sizeof(*texts));

	texts->options = options;
	return texts;
}

void source_texts_free(struct source_texts *texts)
{
	if (!texts)
		return;
	for (size_t i = 0; i < texts->n; i++) {
		free(texts->files[i].name);
		free(texts->files[i].bytes);
		free(texts->files[i].starts);
		free(texts->files[i].texts);
	}
	free(texts->files);
	index_release(&texts->by_name);
	arena_release(&texts->arena);
	free(texts);
}

/* ---- reading a file ---- */

/* Reads as many bytes as there are, at most the file's size when it was opened; NULL: it can't be read. */
static char *read_file(const char *path, size_t *n)
{
	const struct foreign_options options = { .bytes_max = FILE_BYTES_MAX };
	struct str ignored = STR_INIT;
	struct stat st;
	char *bytes = NULL;
	ssize_t got = 1;
	int fd = foreign_open(path, &options, &st, &ignored);

	*n = 0;
	str_release(&ignored);
	if (fd < 0)
		return NULL;
	bytes = xmalloc((size_t)st.st_size + 1);
	while (*n < (size_t)st.st_size && got > 0) {
		got = read(fd, bytes + *n, (size_t)st.st_size - *n);
		*n += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	return bytes;
}

/* An absolute name without the first `strip` folders, behind the prefix. */
static void add_moved(struct str *out, const struct source_options *options, const char *name)
{
	const char *rest = name;

	for (unsigned i = 0; i < options->prefix_strip && rest; i++)
		rest = strchr(rest + 1, '/');
	str_add(out, options->prefix);
	str_add(out, rest ? rest : strrchr(name, '/'));
}

static char *read_named(const struct source_options *options, const char *name, size_t *n)
{
	struct str path = STR_INIT;
	char *bytes = NULL;

	if (options->prefix && name[0] == '/') {
		add_moved(&path, options, name);
		name = path.s;
	}
	if (options->symfs && options->symfs[0] && name[0] == '/') {
		struct str below = STR_INIT;

		str_addf(&below, "%s%s", options->symfs, name);
		bytes = read_file(below.s, n);
		str_release(&below);
	}
	if (!bytes)
		bytes = read_file(name, n);
	str_release(&path);
	return bytes;
}

static void find_lines(struct source_file *file, size_t n)
{
	size_t at = 0;

	while (at <= n) {
		const char *end = at < n ? memchr(file->bytes + at, '\n', n - at) : NULL;

		VEC_GROW(file->starts, file->n_lines, file->cap_lines);
		file->starts[file->n_lines++] = (uint32_t)at;
		at = at < n ? (end ? (size_t)(end - file->bytes) + 1 : n) : n + 1;
	}
	file->n_lines--;
	file->texts = xcalloc(file->n_lines + 1, sizeof(*file->texts));
}

static struct source_file *file_named(struct source_texts *texts, const char *name)
{
	uint64_t hash = hash_bytes(name, strlen(name));
	struct source_file *file;
	uint32_t i;
	size_t n;

	if (INDEX_FIND(&texts->by_name, hash, i, !strcmp(texts->files[i].name, name)))
		return &texts->files[i];
	VEC_GROW(texts->files, texts->n, texts->cap);
	index_add(&texts->by_name, hash, (uint32_t)texts->n);
	file = &texts->files[texts->n++];
	*file = (struct source_file){ .name = xstrdup(name) };
	file->bytes = read_named(texts->options, name, &n);
	if (file->bytes)
		find_lines(file, n);
	return file;
}

/* ---- lines ---- */

static void add_blanks_for_tabs(struct str *out, const char *bytes, size_t n)
{
	size_t column = 0;

	for (size_t i = 0; i < n; i++) {
		size_t width = bytes[i] == '\t' ? TAB_COLUMNS - column % TAB_COLUMNS : 1;

		if (bytes[i] == '\t')
			str_pad(out, ' ', width);
		else
			str_addc(out, bytes[i]);
		column += width;
	}
}

static const char *line_text(struct source_texts *texts, const struct source_file *file, size_t line)
{
	const char *start = file->bytes + file->starts[line];
	size_t n = file->starts[line + 1] - file->starts[line];
	struct str wide = STR_INIT, text = STR_INIT;
	const char *kept;

	n = strnlen(start, n < LINE_BYTES_MAX ? n : LINE_BYTES_MAX);
	while (n && (start[n - 1] == '\n' || start[n - 1] == '\r'))
		n--;
	add_blanks_for_tabs(&wide, start, n);
	str_add_printable(&text, wide.s, wide.len);
	kept = arena_strndup(&texts->arena, text.s, text.len);
	str_release(&wide);
	str_release(&text);
	return kept;
}

const char *source_text(struct source_texts *texts, const char *file, unsigned line)
{
	struct source_file *found = file_named(texts, file);

	if (!found->bytes || !line || line > found->n_lines)
		return NULL;
	if (!found->texts[line - 1])
		found->texts[line - 1] = line_text(texts, found, line - 1);
	return found->texts[line - 1];
}
