/* SPDX-License-Identifier: MIT */
/*
 * The names of --comms, --dsos and --symbols: a set of texts, from the command line or from a file with
 * one a line.
 */
#include "util/util.h"

#include <errno.h>
#include <stdlib.h>

static void add_name(struct name_set *set, const char *name, size_t len)
{
	uint64_t hash = hash_bytes(name, len);

	if (!len)
		return;
	VEC_GROW(set->at, set->n, set->cap);
	set->at[set->n] = set->bytes.len;
	str_addn(&set->bytes, name, len);
	str_addc(&set->bytes, '\0');
	index_add(&set->ix, hash, (uint32_t)set->n++);
}

static int add_file(struct name_set *set, const char *option, const char *path, struct str *err)
{
	struct str text = STR_INIT;
	int code = read_text_file(path, &text);

	if (code < 0) {
		str_release(&text);
		return fail(err, -EINVAL, "%s: can't read '%s': %s", option, path, strerror(-code));
	}
	for (const char *line = text.s; *line;) {
		size_t len = strcspn(line, "\n"), used = len;

		if (used && line[used - 1] == '\r')
			used--;
		add_name(set, line, used);
		line += len + (line[len] == '\n');
	}
	str_release(&text);
	return 0;
}

/* Is it a name that would be a file of names? With as many backslashes before it as there may be. */
static bool is_like_file(const char *name)
{
	return !strncmp(name + strspn(name, "\\"), "file:", 5);
}

static const char *unquoted(const char *part)
{
	return part + (part[0] == '\\' && is_like_file(part));
}

static int add_part(struct name_set *set, const char *option, const char *part, struct str *err)
{
	if (!strncmp(part, "file://", 7))
		return add_file(set, option, part + 7, err);
	if (!strncmp(part, "file:", 5))
		return add_file(set, option, part + 5, err);
	part = unquoted(part);
	add_name(set, part, strlen(part));
	return 0;
}

/* Takes one name, up to a comma that no backslash stands before; returns what is after it. */
static const char *take_part(const char *text, struct str *part)
{
	str_reset(part);
	for (; *text && *text != ','; text++) {
		if (text[0] == '\\' && text[1] == ',')
			text++;
		str_addc(part, *text);
	}
	return text + (*text == ',');
}

int name_set_parse(struct name_set *set, const char *option, const char *text, struct str *err)
{
	struct str part = STR_INIT;
	int code = 0;

	*set = (struct name_set){ .bytes = STR_INIT };
	while (*text && !code) {
		text = take_part(text, &part);
		code = add_part(set, option, part.s, err);
	}
	str_release(&part);
	return code;
}

void name_set_quote(const char *name, struct str *out)
{
	if (is_like_file(name))
		str_addc(out, '\\');
	for (; *name; name++) {
		if (*name == ',')
			str_addc(out, '\\');
		str_addc(out, *name);
	}
}

const char *name_set_only(const char *text)
{
	return strchr(text, ',') || !strncmp(text, "file:", 5) ? NULL : unquoted(text);
}

void name_set_release(struct name_set *set)
{
	str_release(&set->bytes);
	free(set->at);
	index_release(&set->ix);
	*set = (struct name_set){ .bytes = STR_INIT };
}

bool name_set_has(const struct name_set *set, const char *name)
{
	uint64_t hash = hash_bytes(name, strlen(name));
	uint32_t i;

	if (INDEX_FIND(&set->ix, hash, i, !strcmp(set->bytes.s + set->at[i], name)))
		return true;
	return false;
}
