/* SPDX-License-Identifier: MIT */
/*
 * texts.c: what arguments point at, and the files of descriptors, as a BPF program has copied it while the thread was
 * in the kernel: a sample for each, of an event of its own, in the order of time before the sample of the call's begin.
 * A text that was read only when the call ended comes before the sample of its end. Its raw data, in the byte order of
 * the file:
 *
 *   bytes 0 to 7   the argument: an address, or a descriptor
 *         8 to 11  number of the call
 *         12       index of the argument
 *         13       0: a text, read when the call began; 1: when it ended; 2: the file of a descriptor; 3: bytes, read
 *                  when the call began; 4: when it ended; 5: strings; 6: a number of pointers; 7: buffers, read
 *                  when the call began; 8: when it ended; 9, 10: a message, likewise
 *         14 to 15 length of the text; greater than SYSCALL_TEXT_MAX: it goes on, and that many of it are there
 *         16 to 23 of a file: number of the inode
 *         24 to 27 magic number of the filesystem (statfs(2))
 *         28       1: the file has no name any more
 *         29       1: all names, bytes or strings are there
 *         32 ...   the text, and what fills up the sample; strings, each with NUL; of a file its names, each with NUL,
 *                  from its own to that below the root
 *
 * A text belongs to the call of its thread that has the same number, and the same value of that argument; others are
 * forgotten. So a text whose call was lost is never another call's.
 */
#include "syscall/syscall.h"

#include <inttypes.h>

enum { HEAD_BYTES = 32 };

bool syscall_event_has_texts(const struct data_event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE && event->attr.config == PERF_COUNT_SW_BPF_OUTPUT &&
	       event->name && !strcmp(event->name, SYSCALL_TEXTS_EVENT);
}

bool syscall_text_read(struct syscall_text *text, const uint8_t *raw, size_t n, bool swap)
{
	size_t len;

	if (n < HEAD_BYTES || raw[12] >= SYSCALL_ARGS || raw[13] >= TEXT_KINDS)
		return false;
	len = (size_t)syscall_load(raw + 14, 2, swap);
	*text = (struct syscall_text){
		.address = syscall_load(raw, 8, swap),
		.number = (uint32_t)syscall_load(raw + 8, 4, swap),
		.argument = raw[12],
		.kind = raw[13],
		.goes_on = len > SYSCALL_TEXT_MAX || (raw[13] > TEXT_FILE && !raw[29]),
		.bytes = (const char *)raw + HEAD_BYTES,
		.len = len > SYSCALL_TEXT_MAX ? SYSCALL_TEXT_MAX : len,
		.inode = syscall_load(raw + 16, 8, swap),
		.filesystem = (uint32_t)syscall_load(raw + 24, 4, swap),
		.deleted = raw[28],
		.whole = raw[29],
	};
	return text->len <= n - HEAD_BYTES;
}

/* ---- paths of files ---- */

/* Files without a path, by their filesystem: linux/magic.h, and fs/pipe.c. */
static const struct unnamed_files {
	uint32_t filesystem;
	const char *name;
	bool has_inode;
} unnamed_files[] = {
	{ 0x50495045, "pipe:", true },
	{ 0x534f434b, "socket:", true },
	{ 0x09041934, "anon_inode:", false }, /* the name of its kind follows */
};

static const struct unnamed_files *find_unnamed(uint32_t filesystem)
{
	for (size_t i = 0; i < ARRAY_SIZE(unnamed_files); i++)
		if (unnamed_files[i].filesystem == filesystem)
			return &unnamed_files[i];
	return NULL;
}

/* Adds the names the other way round: "/usr/lib", "...b/c" where those before are not known. */
static void add_path(struct str *out, const struct syscall_text *file)
{
	size_t end = file->len;

	if (!file->whole)
		str_add(out, "...");
	else if (!end)
		str_addc(out, '/');
	while (end) {
		size_t start = end - 1;

		while (start && file->bytes[start - 1])
			start--;
		str_addc(out, '/');
		str_addn(out, file->bytes + start, end - start - !file->bytes[end - 1]);
		end = start;
	}
	if (file->deleted)
		str_add(out, " (deleted)");
}

static void add_file(struct str *out, const struct syscall_text *file)
{
	const struct unnamed_files *unnamed = find_unnamed(file->filesystem);

	if (!unnamed) {
		add_path(out, file);
		return;
	}
	str_add(out, unnamed->name);
	if (unnamed->has_inode)
		str_addf(out, "[%" PRIu64 "]", file->inode);
	else
		str_addn(out, file->bytes, strnlen(file->bytes, file->len));
}

/* ---- texts of a call ---- */

void syscall_texts_put(struct syscall_texts *texts, const struct syscall_text *text)
{
	struct syscall_text *to = &texts->v[text->argument];

	if (texts->number != text->number || texts->known >> text->argument & 1)
		syscall_texts_clear(texts);
	texts->number = text->number;
	texts->known |= 1u << text->argument;
	*to = *text;
	texts->at[text->argument] = texts->bytes.len;
	if (text->kind == TEXT_FILE)
		add_file(&texts->bytes, text);
	else
		str_addn(&texts->bytes, text->bytes, text->len);
	to->len = texts->bytes.len - texts->at[text->argument];
	to->bytes = NULL;
}

void syscall_texts_clear(struct syscall_texts *texts)
{
	texts->known = 0;
	str_reset(&texts->bytes);
}

bool syscall_texts_find(const struct syscall_texts *texts, int64_t number, size_t argument, uint64_t address,
			struct syscall_text *text)
{
	if (!(texts->known >> argument & 1) || texts->number != number || texts->v[argument].address != address)
		return false;
	*text = texts->v[argument];
	text->bytes = texts->bytes.s + texts->at[argument];
	return true;
}
