/* SPDX-License-Identifier: MIT */
/*
 * Functions that have another name on the other side. A program that was built anew has its functions under the names
 * that the compiler gave to their clones, with other versions, or in another file. What is left without a partner
 * after names were compared as they are finds one in turn by
 *
 *	1. the same file, the symbol without version and marks of clones
 *	2. the file's name without version, and such a symbol
 *	3. such a symbol in any file
 *
 * where it is the only one of its kind on either side, and the files are not the same one: within one build-id a name
 * says what it means.
 */
#include "hist/hist.h"

#include <ctype.h>
#include <stdlib.h>

const char *diff_key_text(const char *key, size_t i, size_t *len)
{
	for (; i; i--) {
		key = strchr(key, '\t');
		if (!key) {
			*len = 0;
			return "";
		}
		key++;
	}
	*len = strcspn(key, "\t");
	return key;
}

const char *diff_key_plain(const char *text, size_t *len)
{
	enum { LEVEL_LEN = 4 };

	if (*len <= LEVEL_LEN || text[0] != '[' || text[2] != ']' || text[3] != ' ')
		return text;
	*len -= LEVEL_LEN;
	return text + LEVEL_LEN;
}

/* ---- plain names ---- */

/* Marks of GCC's and LLVM's clones; numbers may follow. */
static const char *const clone_marks[] = { "isra", "constprop", "part", "cold", "llvm", "lto_priv", "specialized" };

static bool is_number(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	return len > 0;
}

static bool is_mark(const char *text, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(clone_marks); i++)
		if (strlen(clone_marks[i]) == len && !strncmp(text, clone_marks[i], len))
			return true;
	return false;
}

/* "::h0123456789abcdef": the hash of a build, as Rust's names have it. */
static bool has_rust_hash(const char *name, size_t len)
{
	if (len < 20 || strncmp(name + len - 19, "::h", 3) != 0)
		return false;
	for (size_t i = len - 16; i < len; i++)
		if (!isdigit((unsigned char)name[i]) && (name[i] < 'a' || name[i] > 'f'))
			return false;
	return true;
}

/* The last ".part" of a name; its length without it, or len. */
static size_t without_mark(const char *name, size_t len)
{
	size_t at = len, number;

	while (at > 1 && name[at - 1] != '.')
		at--;
	if (at < 2)
		return len;
	if (is_mark(name + at, len - at))
		return at - 1;
	if (!is_number(name + at, len - at))
		return len;
	number = at - 1;
	for (at = number; at > 1 && name[at - 1] != '.';)
		at--;
	return at >= 2 && is_mark(name + at, number - at) ? at - 1 : len;
}

void diff_add_plain_symbol(struct str *out, const char *name, size_t len)
{
	const char *version = memchr(name, '@', len);
	size_t before;

	if (version > name)
		len = (size_t)(version - name);
	if (has_rust_hash(name, len))
		len -= 19;
	do {
		before = len;
		len = without_mark(name, len);
	} while (len != before);
	str_addn(out, name, len);
}

void diff_add_plain_file(struct str *out, const char *name, size_t len)
{
	const char *so = memmem(name, len, ".so.", 4);

	if (so) {
		str_addn(out, name, (size_t)(so - name) + 3);
		return;
	}
	/* "-2.41", "-v3", ".1.2" */
	while (len > 1 && (isdigit((unsigned char)name[len - 1]) || name[len - 1] == '.'))
		len--;
	if (len > 2 && name[len - 1] == 'v' && strchr("-_.", name[len - 2]))
		len--;
	while (len > 1 && strchr("-_", name[len - 1]))
		len--;
	str_addn(out, name, len);
}

/* ---- partners ---- */

enum match_step { MATCH_SYMBOL, MATCH_FILE_VERSION, MATCH_ANY_FILE, MATCH_STEPS };
struct candidate { /* rows that are one name without what this step leaves out */
	struct diff_row *old, *new;
	unsigned n_old, n_new;
};
struct matcher {
	struct diff *diff;
	struct diff_event *event;
	struct text_index *names;
	struct candidate *v;
	size_t n, cap;
	struct str name;
};

/* The row's key as this step sees it; false: it has no function that has a name. */
static bool make_name(struct matcher *m, const struct diff_row *row, enum match_step step)
{
	bool named = false;

	str_reset(&m->name);
	for (size_t i = 0; i < m->diff->n_keys; i++) {
		const char *key = m->diff->keys[i]->name;
		size_t len;
		const char *text = diff_key_text(row->key, i, &len), *name;
		size_t name_len = len;

		name = diff_key_plain(text, &name_len);
		/* "0x12", "[app+0x12]": an address. */
		if (!strcmp(key, "symbol") && name != text && name[0] != '[' && strncmp(name, "0x", 2) != 0) {
			named = true;
			str_addn(&m->name, text, len - name_len);
			diff_add_plain_symbol(&m->name, name, name_len);
		} else if (!strcmp(key, "dso") && step == MATCH_FILE_VERSION) {
			diff_add_plain_file(&m->name, text, len);
		} else if (strcmp(key, "dso") != 0 || step != MATCH_ANY_FILE) {
			str_addn(&m->name, text, len);
		}
		str_addc(&m->name, '\t');
	}
	return named;
}

static bool is_old(const struct diff_row *row, size_t n_sides)
{
	for (size_t i = 1; i < n_sides; i++)
		if (row->cells[i].found)
			return false;
	return row->cells[0].found;
}

static struct candidate *candidate_of(struct matcher *m)
{
	uint32_t number = texts_intern(m->names, m->name.s, m->name.len);

	if (number == m->n) {
		VEC_GROW(m->v, m->n, m->cap);
		m->v[m->n++] = (struct candidate){ .n_old = 0 };
	}
	return &m->v[number];
}

static void find_candidates(struct matcher *m, enum match_step step)
{
	for (size_t i = 0; i < m->event->n; i++) {
		struct diff_row *row = m->event->rows[i];
		struct candidate *candidate;

		if (!row || !make_name(m, row, step))
			continue;
		candidate = candidate_of(m);
		if (is_old(row, m->diff->n_sides)) {
			candidate->old = row;
			candidate->n_old++;
		} else if (!row->cells[0].found) {
			candidate->new = row;
			candidate->n_new++;
		}
	}
}

static bool same_file(const struct matcher *m, const struct candidate *candidate)
{
	const struct build_id *a = &candidate->old->build_ids[0], *b = &candidate->new->build_ids[1];

	if (a->size && b->size)
		return build_id_same(a, b);
	for (size_t i = 0; i < m->diff->n_keys; i++) {
		size_t n_old, n_new;
		const char *old = diff_key_text(candidate->old->key, i, &n_old);
		const char *new = diff_key_text(candidate->new->key, i, &n_new);

		if (!strcmp(m->diff->keys[i]->name, "dso"))
			return n_old == n_new && !memcmp(old, new, n_old);
	}
	return true;
}

/* The new row gets what the old one has of the baseline. */
static void join(struct matcher *m, const struct candidate *candidate)
{
	struct diff_row *old = candidate->old, *new = candidate->new;

	new->was = old->key;
	old->key = NULL;
	new->cells[0] = old->cells[0];
	new->build_ids[0] = old->build_ids[0];
	for (size_t i = 0; i < m->diff->sides[0].n; i++)
		new->runs[i] = old->runs[i];
	m->event->rows[old->number] = NULL;
	diff_row_free(old);
}

static void run_step(struct matcher *m, enum match_step step)
{
	m->names = texts_new();
	m->n = 0;
	find_candidates(m, step);
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i].n_old == 1 && m->v[i].n_new == 1 && !same_file(m, &m->v[i]))
			join(m, &m->v[i]);
	texts_free(m->names);
}

void diff_rows_match(struct diff *diff, struct diff_event *event)
{
	struct matcher m = { .diff = diff, .event = event, .name = STR_INIT };
	size_t n = 0;

	for (enum match_step step = 0; step < MATCH_STEPS; step++)
		run_step(&m, step);
	for (size_t i = 0; i < event->n; i++)
		if (event->rows[i])
			event->rows[n++] = event->rows[i];
	event->n = n;
	free(m.v);
	str_release(&m.name);
}
