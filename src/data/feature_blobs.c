/*
 * feature_blobs.c: features that carry other files' contents: build-ids, tracepoint formats, trace data
 * indexes, BPF programs and types.
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
	id = VEC_NEXT(info->build_ids);
	id->misc = misc;
	id->size = id_size;
	id->pid = (int32_t)load_u32(entry + 8, c->swap);
	memcpy(id->bytes, entry + 12, BUILD_ID_MAX);
	id->path = xstrndup((const char *)entry + BUILD_ID_ENTRY, size - BUILD_ID_ENTRY);
	return NULL;
}

FEATURE_READ(build_ids)
{
	const char *why = NULL;

	FEATURE_UNUSED;
	while (!why && cursor_left(c) >= BUILD_ID_ENTRY)
		why = build_id_entry_read(c, info);
	return why;
}

FEATURE_WRITE(build_ids)
{
	FEATURE_UNUSED;
	for (size_t i = 0; i < info->build_ids.n; i++) {
		const struct info_build_id *id = &info->build_ids.v[i];
		size_t len = strnlen(id->path, UINT16_MAX - BUILD_ID_ENTRY - 64);
		size_t name_bytes = round_up(len + 1, 64);

		put_u32(out, RECORD_HEADER_BUILD_ID);
		put_u16(out, id->misc | MISC_BUILD_ID_SIZE);
		put_u16(out, (uint16_t)(BUILD_ID_ENTRY + name_bytes));
		put_u32(out, (uint32_t)id->pid);
		str_addn(out, (const char *)id->bytes, BUILD_ID_MAX);
		str_addc(out, (char)id->size);
		str_pad(out, '\0', 3);
		str_addn(out, id->path, len);
		str_pad(out, '\0', name_bytes - len);
	}
}

FEATURE_PRINT(build_ids)
{
	FEATURE_UNUSED;
	(void)out; /* a command of their own prints them */
}

FEATURE_RELEASE(build_ids)
{
	(void)row;
	for (size_t i = 0; i < info->build_ids.n; i++)
		free(info->build_ids.v[i].path);
	VEC_RELEASE(info->build_ids);
}

FEATURE_READ(tracing_data)
{
	FEATURE_UNUSED;
	info->tracing_data_size = cursor_left(c);
	info->tracing_data = xmalloc(info->tracing_data_size);
	memcpy(info->tracing_data, c->p, info->tracing_data_size);
	return NULL;
}

FEATURE_WRITE(tracing_data)
{
	FEATURE_UNUSED;
	str_addn(out, (const char *)info->tracing_data, info->tracing_data_size);
}

FEATURE_PRINT(tracing_data)
{
	FEATURE_UNUSED;
	(void)out; /* perf's header says nothing of it either */
}

FEATURE_RELEASE(tracing_data)
{
	(void)row;
	free(info->tracing_data);
	info->tracing_data = NULL;
	info->tracing_data_size = 0;
}

FEATURE_READ(auxtrace)
{
	uint64_t n = cursor_u64(c);

	FEATURE_UNUSED;
	if (n > cursor_left(c) / 16)
		return "its index is cut off";
	for (uint64_t i = 0; i < n; i++) {
		struct info_section *section = VEC_NEXT(info->auxtrace);

		section->offset = cursor_u64(c);
		section->size = cursor_u64(c);
	}
	return NULL;
}

FEATURE_WRITE(auxtrace)
{
	FEATURE_UNUSED;
	put_u64(out, info->auxtrace.n);
	for (size_t i = 0; i < info->auxtrace.n; i++) {
		put_u64(out, info->auxtrace.v[i].offset);
		put_u64(out, info->auxtrace.v[i].size);
	}
}

FEATURE_PRINT(auxtrace)
{
	FEATURE_UNUSED;
	str_add(out, "# contains AUX area data (e.g. instruction trace)\n");
}

FEATURE_RELEASE(auxtrace)
{
	(void)row;
	VEC_RELEASE(info->auxtrace);
}

static void blob_bytes(struct info_blob *blob, struct cursor *c, uint64_t size)
{
	const uint8_t *p = cursor_bytes(c, size);

	if (!p)
		return;
	blob->size = (uint32_t)size;
	blob->bytes = xmalloc(size);
	memcpy(blob->bytes, p, size);
}

/* n | per program: u32 bytes of info, u32 bytes of arrays, u64 which arrays, info, arrays */
FEATURE_READ(bpf_progs)
{
	uint32_t n = cursor_u32(c);

	FEATURE_UNUSED;
	for (uint32_t i = 0; i < n && !c->bad; i++) {
		struct info_blob *prog = VEC_NEXT(info->bpf_progs);
		uint32_t data_size;

		prog->id = cursor_u32(c);
		data_size = cursor_u32(c);
		prog->arrays = cursor_u64(c);
		if ((uint64_t)prog->id + data_size > UINT32_MAX)
			return "a program is too large";
		blob_bytes(prog, c, (uint64_t)prog->id + data_size);
	}
	return NULL;
}

FEATURE_WRITE(bpf_progs)
{
	FEATURE_UNUSED;
	put_u32(out, (uint32_t)info->bpf_progs.n);
	for (size_t i = 0; i < info->bpf_progs.n; i++) {
		const struct info_blob *prog = &info->bpf_progs.v[i];

		put_u32(out, prog->id);
		put_u32(out, prog->size - prog->id);
		put_u64(out, prog->arrays);
		str_addn(out, (const char *)prog->bytes, prog->size);
	}
}

FEATURE_PRINT(bpf_progs)
{
	FEATURE_UNUSED;
	for (size_t i = 0; i < info->bpf_progs.n; i++) {
		const struct info_blob *prog = &info->bpf_progs.v[i];

		/* struct bpf_prog_info begins with its type and its id */
		if (prog->id >= 8)
			str_addf(out, "# bpf_prog_info of id %u\n",
				 load_u32(prog->bytes + 4, false));
	}
}

static void blobs_release(struct info_blob *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(v[i].bytes);
}

FEATURE_RELEASE(bpf_progs)
{
	(void)row;
	blobs_release(info->bpf_progs.v, info->bpf_progs.n);
	VEC_RELEASE(info->bpf_progs);
}

/* n | per type blob: u32 id, u32 bytes, bytes */
FEATURE_READ(btfs)
{
	uint32_t n = cursor_u32(c);

	FEATURE_UNUSED;
	for (uint32_t i = 0; i < n && !c->bad; i++) {
		struct info_blob *btf = VEC_NEXT(info->btfs);

		btf->id = cursor_u32(c);
		blob_bytes(btf, c, cursor_u32(c));
	}
	return NULL;
}

FEATURE_WRITE(btfs)
{
	FEATURE_UNUSED;
	put_u32(out, (uint32_t)info->btfs.n);
	for (size_t i = 0; i < info->btfs.n; i++) {
		put_u32(out, info->btfs.v[i].id);
		put_u32(out, info->btfs.v[i].size);
		str_addn(out, (const char *)info->btfs.v[i].bytes, info->btfs.v[i].size);
	}
}

FEATURE_PRINT(btfs)
{
	FEATURE_UNUSED;
	for (size_t i = 0; i < info->btfs.n; i++)
		str_addf(out, "# btf info of id %u\n", info->btfs.v[i].id);
}

FEATURE_RELEASE(btfs)
{
	(void)row;
	blobs_release(info->btfs.v, info->btfs.n);
	VEC_RELEASE(info->btfs);
}
