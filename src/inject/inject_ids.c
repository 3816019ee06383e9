/* SPDX-License-Identifier: MIT */
/*
 * inject_ids.c: build-ids of the files that samples are in, for a recording that was made without. A file is asked for
 * its build-id only if it is the one that was mapped, by its inode; the kernel, its modules and the vDSO only if the
 * kernel that runs is the recorded one. Those that are found join the recording's own list, from where a pipe gets them
 * before the first sample that needs them, and a file in its header.
 */
#include "elf/elf.h"
#include "inject/inject_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { NOTE_ALIGN = 4, HEX = 16, NOTES_MAX = 16 };

struct known_id { /* from the command line */
	struct build_id id;
	char *path;
};

enum { ASKED = 1, LISTED = 2 }; /* marks of a dso: once is enough, however many samples are in it */

struct inject_ids {
	struct inject *inject;
	struct known_id *known;
	size_t n_known, cap_known;
	uint8_t *marks; /* by dso.index */
	size_t cap_marks;
	size_t n_put; /* of the recording's list, which are in the output */
	size_t n_missing;
	struct note_list missing; /* why the first of them have none */
};

/* ---- build-ids that the command line gives ---- */

static bool hex_digit(char c, uint8_t *value)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

	*value = at ? (uint8_t)(at - digits) : 0;
	return at;
}

/* The digits before the blank; false: they are none, or not of whole bytes. */
static bool parse_build_id(const char *text, size_t len, struct build_id *id)
{
	*id = (struct build_id){ .size = (uint8_t)(len / 2) };
	if (!len || len % 2 || len / 2 > sizeof(id->bytes))
		return false;
	for (size_t i = 0; i < len; i += 2) {
		uint8_t high, low;

		if (!hex_digit(text[i], &high) || !hex_digit(text[i + 1], &low))
			return false;
		id->bytes[i / 2] = (uint8_t)(high * HEX + low);
	}
	return true;
}

static int parse_known(struct inject_ids *ids, const char *list, struct str *err)
{
	while (*list) {
		size_t len = strcspn(list, ","), digits = strcspn(list, " ,");
		const char *path = list + digits;
		struct build_id id;

		while (path < list + len && *path == ' ')
			path++;
		if (path == list + len || !parse_build_id(list, digits, &id))
			return fail(err, -EINVAL, "--known-build-ids: '%.*s' is not a build-id, a blank and a path",
				    (int)len, list);
		VEC_GROW(ids->known, ids->n_known, ids->cap_known);
		ids->known[ids->n_known++] = (struct known_id){ id, xstrndup(path, (size_t)(list + len - path)) };
		list += len + (list[len] == ',');
	}
	return 0;
}

int inject_ids_new(struct inject_ids **out, struct inject *inject, struct str *err)
{
	struct inject_ids *ids = *out = xcalloc(1, sizeof(*ids));
	const char *known = inject->options->known_build_ids;

	ids->inject = inject;
	return known ? parse_known(ids, known, err) : 0;
}

void inject_ids_free(struct inject_ids *ids)
{
	if (!ids)
		return;
	for (size_t i = 0; i < ids->n_known; i++)
		free(ids->known[i].path);
	free(ids->known);
	free(ids->marks);
	note_list_release(&ids->missing);
	free(ids);
}

static bool find_known(const struct inject_ids *ids, const struct dso *dso, struct build_id *id)
{
	for (size_t i = 0; i < ids->n_known; i++) {
		if (strcmp(ids->known[i].path, dso->path) != 0)
			continue;
		*id = ids->known[i].id;
		return true;
	}
	return false;
}

/* ---- build-ids that files have ---- */

struct mapped_search {
	const struct mapped_file *file;
	struct build_id *id;
	struct str why;
};

static bool try_file(void *context, const char *root, const char *path)
{
	struct mapped_search *search = context;
	char *whole = xasprintf("%s%s", root, path);
	struct stat st;
	int fd;

	str_reset(&search->why);
	fd = foreign_open(whole, NULL, &st, &search->why);
	free(whole);
	if (fd < 0)
		return false;
	if (!mapped_file_is(search->file, fd, &st, NULL))
		str_add(&search->why, "it is another file now");
	else if (!elf_build_id_of_file(fd, search->id) || !search->id->size)
		str_add(&search->why, "it has no build-id");
	close(fd);
	return !search->why.len;
}

static bool ask_file(struct inject_ids *ids, const struct dso *dso, struct build_id *id, struct str *why)
{
	const char *symfs = ids->inject->options->sym.symfs, *path = dso->path;
	const struct mapped_file file = {
		.path = path, .major = dso->major, .minor = dso->minor, .inode = dso->inode, .any_device = true
	};
	struct mapped_search search = { &file, id, STR_INIT };
	bool found;

	if (!dso->inode) {
		str_add(why, "the recording does not say which file it was");
		return false;
	}
	found = try_file(&search, symfs ? symfs : "", path);
	str_addn(why, search.why.s, search.why.len);
	str_release(&search.why);
	return found;
}

static bool read_notes(const char *path, struct build_id *id, struct str *why)
{
	struct str notes = STR_INIT;
	bool found = !read_text_file(path, &notes) && elf_build_id_of_notes(notes.s, notes.len, NOTE_ALIGN, id);

	if (!found)
		str_addf(why, "%s has none that may be read", path);
	str_release(&notes);
	return found;
}

static bool ask_kernel(struct inject_ids *ids, const struct dso *dso, struct build_id *id, struct str *why)
{
	return symbols_kernel_runs(ids->inject->session.symbols, dso, why) && read_notes("/sys/kernel/notes", id, why);
}

static bool ask_module(struct inject_ids *ids, const struct dso *dso, struct build_id *id, struct str *why)
{
	char *name, *path;
	bool found;

	if (!symbols_kernel_runs(ids->inject->session.symbols, dso, why))
		return false;
	name = module_name_of(dso->path);
	path = xasprintf("/sys/module/%s/notes/.note.gnu.build-id", name);
	found = read_notes(path, id, why);
	free(path);
	free(name);
	return found;
}

static bool ask_vdso(struct inject_ids *ids, const struct dso *dso, struct build_id *id, struct str *why)
{
	int fd;
	bool found;

	if (!symbols_kernel_runs(ids->inject->session.symbols, dso, why))
		return false;
	fd = vdso_file_open();
	found = fd >= 0 && elf_build_id_of_fd(fd, id);
	if (fd >= 0)
		close(fd);
	if (!found)
		str_add(why, "this process has none");
	return found;
}

/* One row for each kind of file that can have a build-id. */
static bool (*const askers[])(struct inject_ids *ids, const struct dso *dso, struct build_id *id, struct str *why) = {
	[DSO_FILE] = ask_file,
	[DSO_VDSO] = ask_vdso,
	[DSO_KERNEL] = ask_kernel,
	[DSO_MODULE] = ask_module,
};

/* ---- the recording's list ---- */

static bool is_listed(const struct info *info, const struct dso *dso)
{
	for (size_t i = 0; i < info->build_ids.n; i++) {
		const struct info_build_id *row = &info->build_ids.v[i];

		if (row->size == dso->build_id.size && !memcmp(row->bytes, dso->build_id.bytes, row->size) &&
		    !strcmp(row->path, dso->path))
			return true;
	}
	return false;
}

static void list(struct inject_ids *ids, const struct dso *dso)
{
	struct info *info = &ids->inject->reader->info;
	const bool kernel = dso->kind == DSO_KERNEL || dso->kind == DSO_MODULE;
	struct info_build_id row = {
		.pid = -1, .misc = kernel ? MISC_KERNEL : MISC_USER, .size = dso->build_id.size
	};

	if (is_listed(info, dso))
		return;
	memcpy(row.bytes, dso->build_id.bytes, sizeof(row.bytes));
	row.path = xstrdup(dso->path);
	VEC_GROW(info->build_ids.v, info->build_ids.n, info->build_ids.cap);
	info->build_ids.v[info->build_ids.n++] = row;
}

/* Sets the mark; true: it had none. */
static bool mark(struct inject_ids *ids, const struct dso *dso, uint8_t bit)
{
	bool first;

	VEC_REACH(ids->marks, ids->cap_marks, dso->index);
	first = !(ids->marks[dso->index] & bit);
	ids->marks[dso->index] |= bit;
	return first;
}

/* Fills dso->build_id, if that can be. */
static void find_id(struct inject_ids *ids, struct dso *dso)
{
	struct build_id id = { 0 };
	struct str why = STR_INIT;

	if (!mark(ids, dso, ASKED) || dso->kind >= ARRAY_SIZE(askers) || !askers[dso->kind])
		return;
	if (find_known(ids, dso, &id) || (!dso->build_id.size && askers[dso->kind](ids, dso, &id, &why)))
		dso->build_id = id;
	if (!dso->build_id.size && ids->n_missing++ < NOTES_MAX)
		note_add(&ids->missing, true, NULL, "%s: its build-id is not known: %s", dso->name, why.s);
	str_release(&why);
}

void inject_ids_want(struct inject_ids *ids, struct dso *dso)
{
	if (!dso)
		return;
	find_id(ids, dso);
	if (dso->build_id.size && mark(ids, dso, LISTED))
		list(ids, dso);
}

static void want_address(struct inject_ids *ids, const struct replay_sample *sample, uint8_t mode, uint64_t ip)
{
	struct location location;

	replay_locate(&ids->inject->session.replay, sample->thread, mode, ip, &location);
	inject_ids_want(ids, location.dso);
}

void inject_ids_sample(struct inject_ids *ids, const struct replay_sample *sample)
{
	struct session *session = &ids->inject->session;
	const struct sample *s = sample->sample;
	uint8_t mode = sample->mode;
	struct chain chain;

	if (!ids->inject->options->build_ids)
		return;
	if (s->has & PERF_SAMPLE_IP)
		want_address(ids, sample, mode, s->ip);
	for (uint64_t i = 0; i < sample->n_ips; i++)
		if (!context_mode(sample->ips[i], &mode))
			want_address(ids, sample, mode, sample->ips[i]);
	if (!(s->has & PERF_SAMPLE_STACK_USER))
		return;
	session_chain(session, sample, &chain);
	for (size_t i = 0; i < chain.n; i++)
		inject_ids_want(ids, session->locations->v[chain.v[i].location].dso);
}

bool inject_ids_map(struct inject_ids *ids, struct record_body *body, struct dso *dso)
{
	find_id(ids, dso);
	if (!dso->build_id.size)
		return false;
	body->type = RECORD_MMAP2;
	body->misc |= MISC_MMAP_BUILD_ID;
	body->mmap.build_id_size = dso->build_id.size;
	memcpy(body->mmap.build_id, dso->build_id.bytes, sizeof(body->mmap.build_id));
	return true;
}

int inject_ids_put(struct inject_ids *ids, struct str *err)
{
	struct info one = ids->inject->reader->info; /* of which the build-ids alone are looked at */
	struct str bytes = STR_INIT;
	int rc = 0;

	if (!ids->inject->writer.pipe || ids->n_put == one.build_ids.n)
		return 0;
	one.build_ids.v += ids->n_put;
	one.build_ids.n -= ids->n_put;
	ids->n_put += one.build_ids.n;
	info_set(&one, FEATURE_BUILD_ID);
	if (feature_write(FEATURE_BUILD_ID, &one, NULL, &bytes))
		rc = inject_put_bytes(ids->inject, bytes.s, bytes.len, err);
	str_release(&bytes);
	return rc;
}

void inject_ids_note(const struct inject_ids *ids, struct note_list *notes)
{
	if (!ids || !ids->n_missing)
		return;
	note_add(notes, false, NULL, "%zu of the files have no build-id that is known; -v says why", ids->n_missing);
	note_list_join(notes, &ids->missing);
}
