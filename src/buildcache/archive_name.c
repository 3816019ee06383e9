/*
 * archive_name: the names of an archive's members, both ways. They are those of perf's cache, see buildcache.h, below
 * its folder; perf before 4.10 had a file where there is a folder now.
 *
 *	usr/bin/x/ABCDEF../elf  <-->  "/usr/bin/x", ABCDEF.., CACHE_ELF
 *
 * A name is taken apart from behind: the kind, the build-id, and all the rest is what it stands for, which begins with
 * a slash unless that is in brackets.
 */
#include "buildcache/archive_internal.h"

#include <stdlib.h>

enum { ID_DIGITS_MIN = 4, LEAD_DIGITS = 2 /* of a build-id, which are a folder's name */ };

static const char links_folder[] = ".build-id/";

static int digit_value(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_id(const char *hex, size_t n, struct build_id *id)
{
	*id = (struct build_id){ 0 };
	if (n < ID_DIGITS_MIN || n % 2 || n / 2 > sizeof(id->bytes))
		return false;
	for (size_t i = 0; i < n; i += 2) {
		int high = digit_value(hex[i]), low = digit_value(hex[i + 1]);

		if (high < 0 || low < 0)
			return false;
		id->bytes[i / 2] = (uint8_t)(high << 4 | low);
	}
	id->size = (uint8_t)(n / 2);
	return true;
}

/* Each of its names is one: not empty, not "." or "..". */
static bool is_clean(const char *path)
{
	for (const char *at = path;; at++) {
		size_t n = strcspn(at, "/");

		if (!n || (n <= 2 && !strncmp(at, "..", n)))
			return false;
		at += n;
		if (!*at)
			return true;
	}
}

/* "./usr/bin/x": tar(1) begins names so where it was asked for the whole folder. */
static const char *without_dot(const char *name)
{
	while (name[0] == '.' && name[1] == '/')
		name += 2 + strspn(name + 2, "/");
	return name;
}

static bool has_up(const char *name)
{
	for (const char *at = name; *at; at += strspn(at, "/")) {
		size_t n = strcspn(at, "/");

		if (n == 2 && !strncmp(at, "..", n))
			return true;
		at += n;
	}
	return false;
}

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

static enum cache_kind kind_before_folders(const char *path)
{
	return starts_with(path, "[vdso") ? CACHE_VDSO :
	       starts_with(path, "[kernel.kallsyms]") ? CACHE_KALLSYMS :
							CACHE_ELF;
}

/* path: n bytes in front of "/ID". */
static enum archive_name_result take_path(const char *path, size_t n, struct archive_name *out)
{
	out->path = xasprintf("%s%.*s", path[0] == '[' ? "" : "/", (int)n, path);
	return NAME_ENTRY;
}

enum archive_name_result archive_name_parse(const char *name, struct archive_name *out)
{
	const char *last, *before, *at;

	if (name[0] == '/' || has_up(name))
		return NAME_LEADS_OUT;
	at = without_dot(name);
	last = strrchr(at, '/');
	if (!is_clean(at) || !last || starts_with(at, links_folder))
		return NAME_OTHER;
	if (parse_id(last + 1, strlen(last + 1), &out->id)) {
		enum archive_name_result result = take_path(at, (size_t)(last - at), out);

		out->kind = kind_before_folders(out->path);
		return result;
	}
	before = memrchr(at, '/', (size_t)(last - at));
	if (!before || !parse_id(before + 1, (size_t)(last - before) - 1, &out->id))
		return NAME_OTHER;
	for (int kind = 0; kind < N_CACHE_KINDS; kind++) {
		if (strcmp(last + 1, build_cache_kind_names[kind]) != 0)
			continue;
		out->kind = (enum cache_kind)kind;
		return take_path(at, (size_t)(before - at), out);
	}
	return !strcmp(last + 1, "probes") ? NAME_PASSED : NAME_OTHER;
}

bool archive_link_fits(const char *name, const char *target)
{
	static const char up[] = "../../";
	const char *hex = without_dot(name), *last = strrchr(target, '/');
	struct build_id of_name, of_target;
	struct str digits = STR_INIT;
	bool fits;

	if (!starts_with(hex, links_folder) || !starts_with(target, up))
		return false;
	hex += strlen(links_folder);
	if (strlen(hex) <= LEAD_DIGITS || hex[LEAD_DIGITS] != '/')
		return false;
	str_addf(&digits, "%.*s%s", LEAD_DIGITS, hex, hex + LEAD_DIGITS + 1);
	fits = is_clean(target + strlen(up)) && last >= target + strlen(up) &&
	       parse_id(digits.s, digits.len, &of_name) && parse_id(last + 1, strlen(last + 1), &of_target) &&
	       build_id_same(&of_name, &of_target);
	str_release(&digits);
	return fits;
}

bool archive_name_add(struct str *out, const char *path, const struct build_id *id, enum cache_kind kind)
{
	const char *below = path + (path[0] == '/');

	if ((path[0] != '/' && path[0] != '[') || !is_clean(below) || id->size * 2 < ID_DIGITS_MIN ||
	    id->size > sizeof(id->bytes))
		return false;
	str_add(out, below);
	str_addc(out, '/');
	build_id_text(id, out);
	str_addf(out, "/%s", build_cache_kind_names[kind]);
	return true;
}

void archive_link_add(struct str *name, struct str *target, const char *path, const struct build_id *id)
{
	struct str hex = STR_INIT;

	build_id_text(id, &hex);
	str_addf(name, "%s%.*s/%s", links_folder, LEAD_DIGITS, hex.s, hex.s + LEAD_DIGITS);
	str_addf(target, "../../%s/%s", path + (path[0] == '/'), hex.s);
	str_release(&hex);
}
