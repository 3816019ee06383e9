/* SPDX-License-Identifier: MIT */
/*
 * pstat doctor: what this machine and this user can measure. The facts come from kern/, one from buildcache/ (what is
 * kept of the files that ran) and one from sym/ (what was found out about them). Here they become an aligned table or
 * one JSON object per line.
 */
#include "buildcache/buildcache.h"
#include "cmd/command.h"
#include "cmd/message.h"
#include "cmd/terminal.h"
#include "sym/sym.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct doctor_words {
	bool json;
};

const struct option_row doctor_options[] = {
	{ .kind = OPTION_GROUP, .help = "How to print" },
	{ .kind = OPTION_FLAG, .letter = 'j', .name = "json", .help = "print one JSON object per line",
	  .offset = offsetof(struct doctor_words, json) },
	{ .kind = OPTION_END },
};

static const char *const state_words[] = {
	[FACT_GOOD] = "ok",
	[FACT_LIMITED] = "limited",
	[FACT_MISSING] = "missing",
};

/* From column `at` to the end of the line; a terminal gets lines that it can show. */
static void add_rest(struct str *out, const char *text, size_t at)
{
	struct str rest = STR_INIT;

	str_add_printable(&rest, text, strlen(text));
	str_add_wrapped(out, rest.s, at, at, terminal_columns_for(STDOUT_FILENO, rest.s));
	str_addc(out, '\n');
	str_release(&rest);
}

static void add_text(struct str *out, const struct fact_list *facts)
{
	static const char to_do[] = "what to do: ";
	int width = 0;

	for (size_t i = 0; i < facts->n; i++)
		if ((int)strlen(facts->v[i].name) > width)
			width = (int)strlen(facts->v[i].name);
	for (size_t i = 0; i < facts->n; i++) {
		const struct fact *fact = &facts->v[i];

		str_addf(out, "%-*s  %-7s  ", width, fact->name, state_words[fact->state]);
		add_rest(out, fact->value, (size_t)width + 2 + 7 + 2);
		if (fact->remedy) {
			str_addf(out, "%*s  %s", width, "", to_do);
			add_rest(out, fact->remedy, (size_t)width + 2 + sizeof(to_do) - 1);
		}
	}
}

static void add_json(struct str *out, const struct fact_list *facts)
{
	for (size_t i = 0; i < facts->n; i++) {
		const struct fact *fact = &facts->v[i];

		str_add(out, "{\"name\" : ");
		str_add_json(out, fact->name);
		str_addf(out, ", \"state\" : \"%s\", \"value\" : ", state_words[fact->state]);
		str_add_json(out, fact->value);
		if (fact->remedy) {
			str_add(out, ", \"remedy\" : ");
			str_add_json(out, fact->remedy);
		}
		str_add(out, "}\n");
	}
}

/* ---- the cache ---- */

struct cache_total {
	size_t n, n_removable;
	uint64_t bytes, removable_bytes;
};

static int add_entry(void *context, const struct cache_entry *entry)
{
	struct cache_total *total = context;

	total->n++;
	total->bytes += entry->bytes;
	total->n_removable += entry->removable;
	total->removable_bytes += entry->removable ? entry->bytes : 0;
	return 0;
}

static int add_kcore(void *context, const struct cache_kcore *kcore)
{
	struct cache_total *total = context;

	total->n++;
	total->bytes += kcore->bytes;
	return 0;
}

static double megabytes(uint64_t bytes)
{
	return (double)bytes / (1024 * 1024);
}

static void describe_cache(struct build_cache *cache, struct fact *fact, struct str *err)
{
	struct cache_total total = { 0 };

	if (build_cache_each(cache, add_entry, &total, err)) {
		fact->state = FACT_LIMITED;
		fact->value = xasprintf("%s: %s", build_cache_dir(cache), err->s);
		return;
	}
	build_cache_each_kcore(cache, NULL, add_kcore, &total);
	fact->value = xasprintf("%s: %zu entr%s, %.3f MB; of recordings of pstat %zu, %.3f MB, and by default no more "
				"than %.0f MB",
				build_cache_dir(cache), total.n, total.n == 1 ? "y" : "ies", megabytes(total.bytes),
				total.n_removable, megabytes(total.removable_bytes),
				megabytes(BUILD_CACHE_BYTES_DEFAULT));
}

/* Adds, after the facts of kern/, the cache of files that ran. */
static void add_cache(struct fact_list *facts)
{
	struct fact fact = { .name = "build-id cache", .state = FACT_GOOD };
	char *place = build_cache_place(NULL);
	struct build_cache *cache = NULL;
	struct str err = STR_INIT;
	int rc = build_cache_open(&cache, NULL, 0, &err);

	if (cache) {
		describe_cache(cache, &fact, &err);
	} else if (!place) {
		fact.state = FACT_MISSING;
		fact.value = xstrdup("there is no $HOME, or perf's configuration says that there is none");
	} else if (rc) {
		fact.state = FACT_MISSING;
		fact.value = xasprintf("%s: %s", place, err.s);
		fact.remedy = xstrdup("PERF_BUILDID_DIR with a folder of your own");
	} else {
		fact.value = xasprintf("%s: nothing was kept yet", place);
	}
	VEC_GROW(facts->v, facts->n, facts->cap);
	facts->v[facts->n++] = fact;
	build_cache_close(cache);
	free(place);
	str_release(&err);
}

/* Adds, last of all, the cache of names that were found in those files. */
static void add_names_cache(struct fact_list *facts)
{
	struct fact fact = { .name = "names cache", .state = FACT_GOOD };
	struct names_cache_size size;
	struct str err = STR_INIT;
	int rc = names_cache_measure(&size, &err);

	if (!rc) {
		fact.value = xasprintf("%s: %zu entr%s, %.3f MB, and no more than %.0f MB", size.place, size.n,
				       size.n == 1 ? "y" : "ies", megabytes(size.bytes), megabytes(size.bytes_max));
	} else if (rc == -ENOENT) {
		fact.value = xasprintf("%s: nothing was kept yet", size.place);
	} else {
		fact.state = FACT_MISSING;
		fact.value = size.place ? xasprintf("%s: %s", size.place, err.s) : xstrdup(err.s);
		fact.remedy = xstrdup("XDG_CACHE_HOME with a folder of your own; or nothing: it spares time alone");
	}
	VEC_GROW(facts->v, facts->n, facts->cap);
	facts->v[facts->n++] = fact;
	free(size.place);
	str_release(&err);
}

int cmd_doctor(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct doctor_words words = { 0 };
	struct fact_list facts = { 0 };
	struct str out = STR_INIT;
	int status = command_parse(self, argc, argv, &words, NULL);

	if (status >= 0)
		return status;
	facts_collect(&facts, kern);
	add_cache(&facts);
	add_names_cache(&facts);
	(words.json ? add_json : add_text)(&out, &facts);
	status = message_stdout(&out);
	fact_list_release(&facts);
	str_release(&out);
	return status;
}
