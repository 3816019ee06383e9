/* SPDX-License-Identifier: MIT */
/*
 * embedded_names: names that are in the recording itself: the reading of feature SYMBOLS, and what it says of an
 * address. See embedded_names.h. What each dso is, is read at once, its names when they are first asked for.
 *
 * The file is hostile: each count is checked against the bytes that so many need, each index against what was read
 * before it, so that memory is some times what the feature takes, and no chain has a loop.
 */
#include "sym/embedded_names.h"
#include "elf/elf.h"
#include "sym/code_times.h"

#include <errno.h>
#include <stdlib.h>

struct embedded_names {
	uint8_t version;
	uint8_t *bytes; /* unpacked */
	const char *texts;
	uint32_t *text_at; /* offsets in texts */
	size_t n_texts;
	struct embedded_dso *dsos;
	size_t n_dsos;
	struct index by_path;
};

/* Letters by which kinds are written. */
static const struct {
	char letter;
	uint8_t kind;
} kinds[] = {
	{ 'f', DSO_FILE }, { 'v', DSO_VDSO }, { 'k', DSO_KERNEL }, { 'm', DSO_MODULE }, { 'a', DSO_ANON },
};

char embedded_kind_letter(uint8_t kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].kind == kind)
			return kinds[i].letter;
	return '\0';
}

static int64_t cursor_signed(struct dwarf_cursor *c)
{
	uint64_t value = cursor_uleb(c);

	return (int64_t)(value >> 1 ^ -(value & 1));
}

/* How many of at least so many bytes each follow. */
static size_t cursor_count(struct dwarf_cursor *c, size_t bytes_each)
{
	uint64_t n = cursor_uleb(c);

	if (n <= cursor_left(c) / bytes_each)
		return (size_t)n;
	cursor_spoil(c);
	return 0;
}

static const char *cursor_name(struct dwarf_cursor *c, const struct embedded_names *names)
{
	uint64_t number = cursor_uleb(c);

	if (number < names->n_texts)
		return names->texts + names->text_at[number];
	c->bad = true;
	return "";
}

/* 1 + its number; NULL for 0. */
static const char *cursor_name1(struct dwarf_cursor *c, const struct embedded_names *names)
{
	uint64_t number1 = cursor_uleb(c);

	if (number1 <= names->n_texts)
		return number1 ? names->texts + names->text_at[number1 - 1] : NULL;
	c->bad = true;
	return NULL;
}

static const uint8_t *cursor_take(struct dwarf_cursor *c, size_t n)
{
	const uint8_t *at = c->at;

	cursor_skip(c, n);
	return c->bad ? NULL : at;
}

/* ---- the whole ---- */

static int unpack(struct dwarf_cursor *c, uint64_t bytes, uint8_t *to, struct str *err)
{
	struct zstd_in *in;
	const uint8_t *at = c->at;
	size_t left = cursor_left(c);
	int rc = zstd_in_new(&in, err);
	int64_t got;

	if (rc)
		return rc;
	got = zstd_in_take(in, &at, &left, to, bytes, err);
	zstd_in_free(in);
	if (got < 0)
		return (int)got;
	return (uint64_t)got == bytes && !left ? 0 : fail(err, -EINVAL, "damaged: its sizes do not match its data");
}

static int read_packed(struct embedded_names *names, struct dwarf_cursor *c, struct str *err)
{
	uint8_t version = cursor_u8(c), packing = cursor_u8(c);
	uint64_t bytes = cursor_uleb(c);
	int rc = 0;

	if (!c->bad && (!version || version > EMBEDDED_VERSION))
		return fail(err, -EPROTONOSUPPORT, "of version %u, and this pstat knows those up to %d", version,
			    EMBEDDED_VERSION);
	names->version = version;
	if (c->bad || packing > EMBEDDED_ZSTD || bytes > EMBEDDED_BYTES_MAX ||
	    bytes > EMBEDDED_RATIO_MAX * (uint64_t)cursor_left(c) + (64 << 10) ||
	    (!packing && bytes != cursor_left(c)))
		return fail(err, -EINVAL, "damaged: its beginning is invalid");
	names->bytes = xmalloc(bytes + 1);
	if (packing)
		rc = unpack(c, bytes, names->bytes, err);
	else
		memcpy(names->bytes, c->at, bytes);
	*c = (struct dwarf_cursor){ .at = names->bytes, .end = names->bytes + bytes };
	return rc;
}

static void read_texts(struct embedded_names *names, struct dwarf_cursor *c)
{
	uint64_t bytes = cursor_uleb(c);
	size_t n = 0;

	names->texts = (const char *)c->at;
	cursor_skip(c, bytes);
	if (c->bad || bytes >= UINT32_MAX || (bytes && names->texts[bytes - 1])) {
		cursor_spoil(c);
		return;
	}
	for (size_t i = 0; i < bytes; i++)
		n += !names->texts[i];
	names->text_at = xcalloc(n + 1, sizeof(*names->text_at));
	for (size_t at = 0; at < bytes; at += strlen(names->texts + at) + 1)
		names->text_at[names->n_texts++] = (uint32_t)at;
}

static uint64_t hash_of(uint8_t kind, const char *path, int32_t pid)
{
	/* All code of a process that is in no file is one dso. */
	const uint64_t words[] = { kind, (uint32_t)pid, kind == DSO_ANON ? 0 : hash_bytes(path, strlen(path)) };

	return hash_words(words, ARRAY_SIZE(words));
}

static void read_dso(struct embedded_names *names, struct dwarf_cursor *c, struct embedded_dso *dso)
{
	char letter = (char)cursor_u8(c);
	size_t i = 0;

	while (i < ARRAY_SIZE(kinds) && kinds[i].letter != letter)
		i++;
	dso->image_fd = -1;
	dso->flags = cursor_u8(c);
	c->bad |= i == ARRAY_SIZE(kinds) || (dso->flags & ~EMBEDDED_DSO_FLAGS);
	dso->kind = i < ARRAY_SIZE(kinds) ? kinds[i].kind : DSO_OTHER;
	dso->path = cursor_name(c, names);
	dso->pid = (int32_t)cursor_signed(c);
	dso->build_id.size = cursor_u8(c);
	if (dso->build_id.size > sizeof(dso->build_id.bytes) || dso->build_id.size > cursor_left(c)) {
		dso->build_id.size = 0;
		cursor_spoil(c);
	}
	if (dso->build_id.size)
		memcpy(dso->build_id.bytes, c->at, dso->build_id.size);
	cursor_skip(c, dso->build_id.size);
	dso->major = cursor_uleb(c);
	dso->minor = cursor_uleb(c);
	dso->inode = cursor_uleb(c);
	dso->generation = cursor_uleb(c);
	dso->start = cursor_uleb(c);
	dso->source = cursor_name(c, names);
	dso->why = cursor_name(c, names);
	dso->body = c->at;
	dso->end = c->end;
}

enum { DSO_BYTES_MIN = 14 };

static void read_dsos(struct embedded_names *names, struct dwarf_cursor *c)
{
	size_t n = cursor_count(c, DSO_BYTES_MIN);

	names->dsos = xcalloc(n + 1, sizeof(*names->dsos));
	for (size_t i = 0; i < n && !c->bad; i++) {
		struct embedded_dso *dso = &names->dsos[i];
		uint64_t bytes = cursor_uleb(c);
		struct dwarf_cursor own = *c;

		cursor_skip(c, bytes);
		own.end = c->at;
		if (c->bad)
			break;
		read_dso(names, &own, dso);
		c->bad |= own.bad;
		index_add(&names->by_path, hash_of(dso->kind, dso->path, dso->pid), (uint32_t)i);
		names->n_dsos++;
	}
}

int embedded_names_open(struct embedded_names **opened, const void *bytes, size_t n, struct str *err)
{
	struct embedded_names *names = xcalloc(1, sizeof(*names));
	struct dwarf_cursor c = { .at = bytes, .end = (const uint8_t *)bytes + n };
	int rc = read_packed(names, &c, err);

	*opened = NULL;
	if (!rc) {
		read_texts(names, &c);
		if (!c.bad)
			read_dsos(names, &c);
		if (c.bad)
			rc = fail(err, -EINVAL, "damaged: it ends too early");
	}
	if (rc)
		embedded_names_free(names);
	else
		*opened = names;
	return rc;
}

static void release(struct embedded_dso *dso)
{
	embedded_image_close(dso);
	free(dso->functions);
	free(dso->inlines);
	free(dso->addrs);
	free(dso->aliases);
	free(dso->events);
	free(dso->pieces);
}

void embedded_names_free(struct embedded_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->n_dsos; i++)
		release(&names->dsos[i]);
	free(names->dsos);
	free(names->text_at);
	free(names->bytes);
	index_release(&names->by_path);
	free(names);
}

const struct embedded_dso *embedded_names_at(const struct embedded_names *names, size_t i)
{
	return i < names->n_dsos ? &names->dsos[i] : NULL;
}

const char *embedded_names_texts(const struct embedded_names *names)
{
	return names->texts;
}

/* ---- a dso's names ---- */

enum { FUNCTION_BYTES_MIN = 4, INLINE_BYTES_MIN = 4, ADDR_BYTES_MIN = 5, EVENT_BYTES_MIN = 5, PIECE_BYTES_MIN = 2 };

static void read_functions(const struct embedded_names *names, struct embedded_dso *dso, struct dwarf_cursor *c)
{
	size_t n = cursor_count(c, FUNCTION_BYTES_MIN);
	uint64_t start = 0;

	dso->functions = xcalloc(n + 1, sizeof(*dso->functions));
	for (; dso->n_functions < n && !c->bad; dso->n_functions++) {
		struct embedded_function *function = &dso->functions[dso->n_functions];
		uint64_t step = cursor_uleb(c), size = cursor_uleb(c);

		c->bad |= step > UINT64_MAX - start;
		start += step;
		c->bad |= size > UINT64_MAX - start;
		function->start = start;
		function->end = start + size;
		function->kind = cursor_u8(c);
		c->bad |= function->kind & ~EMBEDDED_KINDS;
		function->name = cursor_name(c, names);
		function->alias = (uint32_t)dso->n_aliases;
		if (function->kind & EMBEDDED_ALIASES)
			function->n_aliases = (uint32_t)cursor_count(c, 1);
		for (uint32_t i = 0; i < function->n_aliases; i++) {
			VEC_GROW(dso->aliases, dso->n_aliases, dso->cap_aliases);
			dso->aliases[dso->n_aliases++] = cursor_name(c, names);
		}
	}
}

static void read_inlines(const struct embedded_names *names, struct embedded_dso *dso, struct dwarf_cursor *c)
{
	size_t n = cursor_count(c, INLINE_BYTES_MIN);

	dso->inlines = xcalloc(n + 1, sizeof(*dso->inlines));
	for (; dso->n_inlines < n && !c->bad; dso->n_inlines++) {
		struct embedded_inline *node = &dso->inlines[dso->n_inlines];
		uint64_t into1 = cursor_uleb(c);

		c->bad |= into1 > dso->n_inlines; /* only earlier ones: no loop */
		node->into1 = c->bad ? 0 : (uint32_t)into1;
		node->depth = node->into1 ? dso->inlines[node->into1 - 1].depth + 1 : 1;
		c->bad |= node->depth > EMBEDDED_DEPTH_MAX; /* each address of it costs so many steps */
		node->name = cursor_name(c, names);
		node->call.file = cursor_name1(c, names);
		node->call.line = (unsigned)cursor_uleb(c);
		node->decl_line = names->version > 1 ? (uint32_t)cursor_uleb(c) : 0;
	}
}

static void read_addrs(const struct embedded_names *names, struct embedded_dso *dso, struct dwarf_cursor *c)
{
	size_t n = cursor_count(c, ADDR_BYTES_MIN);
	uint64_t addr = 0, function1 = 0, line = 0;

	dso->addrs = xcalloc(n + 1, sizeof(*dso->addrs));
	for (; dso->n_addrs < n && !c->bad; dso->n_addrs++) {
		struct embedded_addr *to = &dso->addrs[dso->n_addrs];
		uint64_t step = cursor_uleb(c), inline1;

		c->bad |= step > UINT64_MAX - addr;
		addr += step;
		function1 += (uint64_t)cursor_signed(c);
		inline1 = cursor_uleb(c);
		c->bad |= function1 > dso->n_functions || inline1 > dso->n_inlines;
		to->addr = addr;
		to->function1 = (uint32_t)function1;
		to->inline1 = (uint32_t)inline1;
		to->line.file = cursor_name1(c, names);
		line += (uint64_t)cursor_signed(c);
		to->line.line = (unsigned)line;
	}
}

static void read_events(const struct embedded_names *names, struct embedded_dso *dso, struct dwarf_cursor *c)
{
	size_t n = cursor_count(c, EVENT_BYTES_MIN);
	uint64_t time_ns = 0, start = 0;

	dso->events = xcalloc(n + 1, sizeof(*dso->events));
	for (; dso->n_events < n && !c->bad; dso->n_events++) {
		struct code_event *event = &dso->events[dso->n_events];
		uint64_t size, number;
		uint8_t kind;

		time_ns += cursor_uleb(c);
		kind = cursor_u8(c);
		start += (uint64_t)cursor_signed(c);
		size = cursor_uleb(c);
		c->bad |= kind > CODE_CLOSED || !size || size > UINT64_MAX - start;
		*event = (struct code_event){ .time_ns = time_ns, .start = start, .end = start + size };
		event->kind = kind <= CODE_CLOSED ? (enum code_event_kind)kind : CODE_CLOSED;
		number = cursor_uleb(c);
		c->bad |= number >= names->n_texts;
		event->name = c->bad ? 0 : names->text_at[number];
	}
}

static void read_image(struct embedded_dso *dso, struct dwarf_cursor *c)
{
	size_t n = cursor_count(c, PIECE_BYTES_MIN);
	uint64_t at = 0;

	if (!n)
		return;
	dso->image_bytes = cursor_uleb(c);
	dso->pieces = xcalloc(n, sizeof(*dso->pieces));
	for (; dso->n_pieces < n && !c->bad; dso->n_pieces++) {
		struct embedded_piece *piece = &dso->pieces[dso->n_pieces];
		uint64_t step = cursor_uleb(c), bytes = cursor_uleb(c);

		c->bad |= step > dso->image_bytes - at;
		at += step;
		c->bad |= bytes > dso->image_bytes - at;
		piece->offset = at;
		piece->n = (size_t)bytes;
		piece->bytes = cursor_take(c, (size_t)bytes);
		at += bytes;
	}
}

static void read_body(const struct embedded_names *names, struct embedded_dso *dso)
{
	struct dwarf_cursor c = { .at = dso->body, .end = dso->end };

	read_functions(names, dso, &c);
	read_inlines(names, dso, &c);
	read_addrs(names, dso, &c);
	read_events(names, dso, &c);
	read_image(dso, &c);
	dso->body = NULL;
	dso->damaged = c.bad || cursor_left(&c);
}

/* ---- which ---- */

static bool same_inode(const struct embedded_dso *recorded, const struct dso *dso)
{
	if (!recorded->inode || !dso->inode)
		return true;
	return recorded->inode == dso->inode && recorded->major == dso->major && recorded->minor == dso->minor &&
	       (!recorded->generation || !dso->generation || recorded->generation == dso->generation);
}

static bool is_of(const struct embedded_dso *recorded, const struct dso *dso)
{
	return recorded->kind == dso->kind && recorded->pid == dso->pid &&
	       (dso->kind == DSO_ANON || !strcmp(recorded->path, dso->path));
}

static bool is_stale(const struct embedded_dso *recorded, const struct dso *dso, struct str *why)
{
	bool both = recorded->build_id.size && dso->build_id.size;

	if (both ? !build_id_same(&recorded->build_id, &dso->build_id) : !same_inode(recorded, dso)) {
		str_reset(why);
		if (!both) {
			str_add(why, "of another file");
			return true;
		}
		str_add(why, "of another file: its build-id was ");
		build_id_brief(&recorded->build_id, why);
		str_add(why, ", the recording has ");
		build_id_brief(&dso->build_id, why);
		return true;
	}
	if (recorded->start == dso->start)
		return false;
	str_reset(why);
	str_add(why, "for another load address");
	return true;
}

struct embedded_dso *embedded_names_find(struct embedded_names *names, const struct dso *dso, struct str *why)
{
	uint64_t hash = hash_of((uint8_t)dso->kind, dso->path, dso->pid);
	struct embedded_dso *found = NULL;
	uint32_t i;

	for (size_t at = index_first(&names->by_path, hash);
	     !found && index_next(&names->by_path, hash, &at, &i);)
		if (is_of(&names->dsos[i], dso) && !is_stale(&names->dsos[i], dso, why))
			found = &names->dsos[i];
	if (!found)
		return NULL;
	str_reset(why);
	if (found->body)
		read_body(names, found);
	if (!found->damaged)
		return found;
	str_add(why, "damaged");
	return NULL;
}

/* ---- answers: binary searches, as addresses and functions ascend; a walk from an inlined function outwards ---- */

const struct embedded_addr *embedded_addr_find(const struct embedded_dso *dso, uint64_t addr)
{
	size_t at = BISECT(i, 0, dso->n_addrs, dso->addrs[i].addr < addr);

	return at < dso->n_addrs && dso->addrs[at].addr == addr ? &dso->addrs[at] : NULL;
}

uint32_t embedded_function_at(const struct embedded_dso *dso, uint64_t start, bool nameless)
{
	size_t at = BISECT(i, 0, dso->n_functions, dso->functions[i].start < start);

	for (; at < dso->n_functions && dso->functions[at].start == start; at++)
		if (!!(dso->functions[at].kind & EMBEDDED_NAMELESS) == nameless)
			return (uint32_t)at + 1;
	return 0;
}

const struct embedded_function *embedded_aliases(const struct embedded_dso *dso, uint64_t start, bool nameless)
{
	uint32_t function1 = dso ? embedded_function_at(dso, start, nameless) : 0;
	const struct embedded_function *function = function1 ? &dso->functions[function1 - 1] : NULL;

	return function && function->n_aliases ? function : NULL;
}

size_t embedded_inlines(const struct embedded_dso *dso, const struct embedded_addr *addr, bool inlined,
			struct dwarf_inline *out, size_t max)
{
	struct source_line line = addr->line;
	uint32_t depth = inlined && addr->inline1 ? dso->inlines[addr->inline1 - 1].depth : 0;
	size_t n = 0;

	for (uint32_t i1 = addr->inline1; depth && i1; i1 = dso->inlines[i1 - 1].into1) {
		if (depth-- < max) /* the function itself comes last */
			out[n++] = (struct dwarf_inline){ dso->inlines[i1 - 1].name, line,
							  dso->inlines[i1 - 1].decl_line };
		line = dso->inlines[i1 - 1].call;
	}
	if (n || line.file || line.line)
		out[n++] = (struct dwarf_inline){ NULL, line, 0 };
	return n;
}
