/* SPDX-License-Identifier: MIT */
/*
 * feature_blobs.c: kinds of fields that carry other files' contents: build-ids, tracepoint formats, BPF
 * programs and types, symbols.
 */
#include "data/feature.h"

#include <stdlib.h>

enum { BUILD_ID_MAX = 20, BUILD_ID_ENTRY = 36 };

/*
 * A build-id's size where the entry doesn't say: 20, less the zeros at its end in fours, as older recorders
 * stored shorter ones.
 */
static uint8_t guess_size(const uint8_t *bytes)
{
	uint8_t size = BUILD_ID_MAX;

	while (size > 4 && !bytes[size - 1] && !bytes[size - 2] && !bytes[size - 3] &&
	       !bytes[size - 4])
		size -= 4;
	return size;
}

/* u32 type, u16 misc, u16 size | s32 pid | 20 bytes, size, 3 x padding | file name */
const char *build_id_entry_read(struct cursor *c, struct info *info)
{
	const uint8_t *start = c->p;
	uint16_t misc = load_u16(start + 4, c->swap), size = load_u16(start + 6, c->swap);
	const uint8_t *entry = cursor_bytes(c, size);
	struct info_build_id *id;
	uint8_t id_size;

	if (!entry || size < BUILD_ID_ENTRY)
		return "a build-id entry's size does not fit";
	id_size = misc & MISC_BUILD_ID_SIZE ? entry[12 + BUILD_ID_MAX] : guess_size(entry + 12);
	if (id_size > BUILD_ID_MAX)
		return "a build-id of more than 20 bytes";
	id = feature_next(&info->build_ids, sizeof(*id));
	id->misc = misc;
	id->size = id_size;
	id->pid = (int32_t)load_u32(entry + 8, c->swap);
	memcpy(id->bytes, entry + 12, BUILD_ID_MAX);
	id->path = xstrndup((const char *)entry + BUILD_ID_ENTRY, size - BUILD_ID_ENTRY);
	return NULL;
}

FEATURE_READ(build_ids)
{
	while (!r->why && cursor_left(&r->c) >= BUILD_ID_ENTRY)
		r->why = build_id_entry_read(&r->c, r->info);
}

/* The name has a multiple of 64 bytes, as perf's, and four more: perf 7 takes no record that is no multiple of 8. */
FEATURE_WRITE(build_ids)
{
	for (size_t i = 0; i < t->info->build_ids.n; i++) {
		const struct info_build_id *id = &t->info->build_ids.v[i];
		size_t len = strnlen(id->path, UINT16_MAX - BUILD_ID_ENTRY - 128);
		size_t name_bytes = round_up(len + 1, 64) + 4;

		put_u32(t->out, RECORD_HEADER_BUILD_ID);
		put_u16(t->out, id->misc | MISC_BUILD_ID_SIZE);
		put_u16(t->out, (uint16_t)(BUILD_ID_ENTRY + name_bytes));
		put_u32(t->out, (uint32_t)id->pid);
		str_addn(t->out, (const char *)id->bytes, BUILD_ID_MAX);
		str_addc(t->out, (char)id->size);
		str_pad(t->out, '\0', 3);
		str_addn(t->out, id->path, len);
		str_pad(t->out, '\0', name_bytes - len);
	}
}

/* ---- bytes as they are: all that are left; n is where struct info has how many ---- */
static size_t *rest_size(const struct info *info, const struct feature_field *f)
{
	return (size_t *)(uintptr_t)((const char *)info + f->n);
}

FEATURE_READ(rest)
{
	size_t n = cursor_left(&r->c);

	*rest_size(r->info, f) = n;
	*(uint8_t **)at = memcpy(xmalloc(n), r->c.p, n);
}

FEATURE_WRITE(rest)
{
	str_addn(t->out, *(char *const *)at, *rest_size(t->info, f));
}

FEATURE_PRINT(rest)
{
	str_addf(t->out, "%zu", *rest_size(t->info, f));
}

FEATURE_RELEASE(rest)
{
	free(*(uint8_t **)at);
	*(uint8_t **)at = NULL;
	*rest_size(info, f) = 0;
}

/* ---- bytes with their number in front ---- */
static void blob_take(struct info_blob *blob, struct cursor *c, uint64_t size)
{
	const uint8_t *p = cursor_bytes(c, size);

	if (!p)
		return;
	blob->size = (uint32_t)size;
	blob->bytes = memcpy(xmalloc(size), p, size);
}

FEATURE_READ(blob)
{
	blob_take(at, &r->c, cursor_u32(&r->c));
}

FEATURE_WRITE(blob)
{
	const struct info_blob *blob = at;

	put_u32(t->out, blob->size);
	str_addn(t->out, (const char *)blob->bytes, blob->size);
}

FEATURE_RELEASE(blob)
{
	struct info_blob *blob = at;

	free(blob->bytes);
	blob->bytes = NULL;
}

/* BPF_PROG_INFO, per program: u32 bytes of info, u32 bytes of arrays, u64 which arrays, info, arrays */
FEATURE_READ(program)
{
	struct info_blob *prog = at;
	uint32_t data_size;

	prog->id = cursor_u32(&r->c);
	data_size = cursor_u32(&r->c);
	prog->arrays = cursor_u64(&r->c);
	if ((uint64_t)prog->id + data_size > UINT32_MAX)
		r->why = "a program is too large";
	else
		blob_take(prog, &r->c, (uint64_t)prog->id + data_size);
}

FEATURE_WRITE(program)
{
	const struct info_blob *prog = at;

	put_u32(t->out, prog->id);
	put_u32(t->out, prog->size - prog->id);
	put_u64(t->out, prog->arrays);
	str_addn(t->out, (const char *)prog->bytes, prog->size);
}

FEATURE_PRINT(program)
{
	const struct info_blob *prog = at;

	/* struct bpf_prog_info begins with its type and its id */
	if (prog->id >= 8)
		str_addf(t->out, "# bpf_prog_info of id %u\n", load_u32(prog->bytes + 4, false));
}

const struct feature_kind feature_build_ids = { build_ids_read, build_ids_write, NULL,
						feature_list_release };
const struct feature_kind feature_rest = { rest_read, rest_write, rest_print, rest_release };
const struct feature_kind feature_program = { program_read, program_write, program_print,
					      blob_release };
const struct feature_kind feature_blob = { blob_read, blob_write, NULL, blob_release };
