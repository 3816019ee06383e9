/* SPDX-License-Identifier: MIT */
/* config: rows of keys, and the words that a command gets for them. */
#include "cmd/config.h"

#include "cmd/message.h"

#include <errno.h>
#include <stdlib.h>

enum { KEY_SHOWN_MAX = 80 };

const struct config_row config_rows[] = {
	{ "buildid.dir", NULL, CONFIG_CACHE, "buildid-dir", "the build-id cache" },
	{ "buildid.dir", "archive", CONFIG_CACHE, "buildid-dir", "the build-id cache" },
	{ "buildid.dir", "buildid-cache", CONFIG_CACHE, "buildid-dir", "the build-id cache" },
	{ "call-graph.record-mode", "record", CONFIG_VARIABLE, "PSTAT_CALL_GRAPH", "what -g means: fp, dwarf, ..." },
	{ "call-graph.order", "report", CONFIG_VALUE, "call-graph", "caller or callee" },
	{ "call-graph.print-type", "report", CONFIG_VALUE, "call-graph", "graph, fractal, flat, folded or none" },
	{ "call-graph.sort-key", "report", CONFIG_VALUE, "call-graph", "function or address" },
	{ "call-graph.threshold", "report", CONFIG_VALUE, "call-graph", "the least percentage of a branch" },
	{ "record.call-graph", "record", CONFIG_VARIABLE, "PSTAT_CALL_GRAPH", "what -g means: fp, dwarf, ..." },
	{ "record.build-id", "record", CONFIG_WORDS,
	  "cache= no-cache=no-buildid-cache skip=no-buildid mmap=buildid-mmap", "cache, no-cache, skip or mmap" },
	{ "report.children", "report", CONFIG_BOOL, "children", "sums over called functions" },
	{ "report.group", "report", CONFIG_BOOL, "group", "events of a group side by side" },
	{ "report.percent-limit", "report", CONFIG_VALUE, "percent-limit", "the least percentage of a row" },
	{ "report.skip-empty", "report", CONFIG_BOOL, "skip-empty", "no table of events without samples" },
	{ "report.sort_order", "report", CONFIG_VALUE, "sort", "the keys of a row" },
	{ "top.children", "top", CONFIG_BOOL, "children", "sums over called functions" },
	{ "annotate.disassembler_style", "annotate", CONFIG_VALUE, "disassembler-style", "att or intel" },
	{ "annotate.hide_src_code", "annotate", CONFIG_NO_BOOL, "source", "no lines of source" },
	{ "diff.compute", "diff", CONFIG_VALUE, "compute", "how rows are compared" },
	{ "diff.order", "diff", CONFIG_VALUE, "order", "the column that rows are sorted by" },
	{ "pager.annotate", "annotate", CONFIG_PAGER, NULL, "false: no pager" },
	{ "pager.diff", "diff", CONFIG_PAGER, NULL, "false: no pager" },
	{ "pager.report", "report", CONFIG_PAGER, NULL, "false: no pager" },
	{ "pager.script", "script", CONFIG_PAGER, NULL, "false: no pager" },
	{ .key = NULL },
};

/* perf's other keys, so that they are not taken for mistakes; patterns stand for sections without a row. */
static const char *const perf_keys[] = {
	"addr2line.*", "alias.*", "annotate.addr2line", "annotate.demangle", "annotate.demangle_kernel",
	"annotate.disassemblers", "annotate.jump_arrows", "annotate.objdump", "annotate.offset_level",
	"annotate.show_linenr", "annotate.show_nr_jumps", "annotate.show_nr_samples", "annotate.show_total_period",
	"annotate.use_offset", "auxtrace.*", "bpf.*", "buildid-cache.*", "call-graph.dump-size",
	"call-graph.print-limit", "color.*", "colors.*", "convert.*", "core.*", "daemon.*", "ftrace.*", "gtk.*",
	"help.*", "hist.*", "intel-pt.*", "itrace.*", "kmem.*", "llvm.*", "man.*", "pager.*", "record.aio",
	"record.debuginfod", "report.queue-size", "samples.*", "scripts.*", "session-*", "stat.*", "top.call-graph",
	"trace.*", "tui.*", "ui.*",
};

enum config_key config_key_kind(const char *key)
{
	for (const struct config_row *row = config_rows; row->key; row++)
		if (!strcmp(row->key, key))
			return CONFIG_KEY_KNOWN;
	for (size_t i = 0; i < ARRAY_SIZE(perf_keys); i++)
		if (glob_match(perf_keys[i], key))
			return CONFIG_KEY_PERF;
	return CONFIG_KEY_UNKNOWN;
}

void config_add_near(struct str *out, const char *key)
{
	struct near_name near;

	near_init(&near, key, strlen(key));
	for (const struct config_row *row = config_rows; row->key; row++)
		near_consider(&near, row->key);
	if (near_best(&near))
		str_addf(out, "; is '%s' meant?", near_best(&near));
}

static char *own_path(void)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (config && *config == '/')
		return xasprintf("%s/pstat/config", config);
	return home && *home ? xasprintf("%s/.config/pstat/config", home) : NULL;
}

size_t config_paths(struct config_path paths[CONFIG_FILES_MAX])
{
	const char *named = getenv("PERF_CONFIG");
	bool alone = named && *named;
	size_t n = 0;

	if (!alone)
		paths[n++] = (struct config_path){ .path = xstrdup(CONFIG_SYSTEM_PATH) };
	paths[n++] = (struct config_path){ .path = config_user_path() };
	if (!alone)
		paths[n++] = (struct config_path){ .path = own_path(), .own = true };
	return n;
}

/* ---- one value ---- */

/* Lines of one kind in one file: the first one has a note, the others are counted. */
struct config_faults {
	struct str first;
	unsigned others;
};

struct config_search {
	struct config_words *words;
	const struct command *command;
	const struct config_path *file;
	struct config_faults damaged, unknown; /* of this file */
	struct note_list notes;
};

static void add(struct config_words *words, char *text)
{
	VEC_GROW(words->texts, words->n, words->cap);
	words->texts[words->n++] = text;
}

/* The words that git takes for false. */
static bool is_false(const char *value)
{
	static const char *const words[] = { "false", "no", "off", "0", "" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcasecmp(words[i], value))
			return true;
	return false;
}

/* The option of the row's word, which is `len` long; NULL: there is no such word. */
static const char *option_of_word(const char *words, const char *word, size_t *len)
{
	size_t n = strlen(word);

	for (const char *at = words; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
		if (strncmp(at, word, n) != 0 || at[n] != '=')
			continue;
		*len = strcspn(at + n + 1, " ");
		return at + n + 1;
	}
	return NULL;
}

/* False: the value is none of the row's. */
static bool use(struct config_words *words, const struct config_row *row, const char *value)
{
	const char *option, *no = is_false(value) == (row->form == CONFIG_BOOL) ? "no-" : "";
	size_t len;

	switch (row->form) {
	case CONFIG_VALUE:
		add(words, xasprintf("--%s=%s", row->option, value));
		return *value;
	case CONFIG_BOOL:
	case CONFIG_NO_BOOL:
		add(words, xasprintf("--%s%s", no, row->option));
		return true;
	case CONFIG_WORDS:
		option = option_of_word(row->option, value, &len);
		if (option && len)
			add(words, xasprintf("--%.*s", (int)len, option));
		return option;
	case CONFIG_VARIABLE:
		setenv(row->option, value, 0);
		return true;
	case CONFIG_PAGER:
		if (is_false(value))
			setenv("PSTAT_PAGER", "cat", 1);
		return true;
	case CONFIG_CACHE:
		break;
	}
	return true;
}

/* Starts the sentence on a faulty line; false: another one of the file has it. */
static bool is_first(struct config_faults *faults, const struct config_search *search, unsigned line)
{
	if (faults->first.len) {
		faults->others++;
		return false;
	}
	str_addf(&faults->first, "%s:%u: ", search->file->path, line);
	return true;
}

static void take_damage(void *context, unsigned line, const char *why)
{
	struct config_search *search = context;

	if (is_first(&search->damaged, search, line))
		str_addf(&search->damaged.first, "the line is not used: %s", why);
}

/* A key without a row: perf's keys that mean nothing here may stand in perf's files. */
static void take_other(struct config_search *search, const char *key, unsigned line)
{
	enum config_key kind = config_key_kind(key);

	if (kind == CONFIG_KEY_KNOWN || (kind == CONFIG_KEY_PERF && !search->file->own))
		return;
	if (!is_first(&search->unknown, search, line))
		return;
	str_addf(&search->unknown.first, "'%.*s' %s", KEY_SHOWN_MAX, key,
		 kind == CONFIG_KEY_PERF ? "is perf's and means nothing to pstat" : "is no key");
	config_add_near(&search->unknown.first, key);
}

static void take_value(void *context, const char *key, const char *value, unsigned line)
{
	struct config_search *search = context;
	const char *path = search->file->path;

	take_other(search, key, line);
	for (const struct config_row *row = config_rows; row->key; row++) {
		if (strcmp(row->key, key) != 0 || !row->command || strcmp(row->command, search->command->name) != 0 ||
		    row->form == CONFIG_CACHE)
			continue;
		if (use(search->words, row, value))
			note_add(&search->notes, false, NULL, "%s: %s = %s", path, key, value);
		else
			note_add(&search->notes, false, NULL, "%s:%u: %s = %s is not used: it is %s", path, line, key,
				 value, row->help);
	}
}

/* ---- all of them ---- */

static bool has_rows(const struct command *command)
{
	for (const struct config_row *row = config_rows; row->key; row++)
		if (row->command && !strcmp(row->command, command->name))
			return true;
	return false;
}

static void add_faults(struct note_list *notes, struct config_faults *faults)
{
	char *others = NULL;

	if (faults->others)
		others = xasprintf("%u more like it: 'pstat config -l' names all", faults->others);
	if (faults->first.len)
		note_add(notes, false, others, "%s", faults->first.s);
	free(others);
	str_release(&faults->first);
	*faults = (struct config_faults){ .first = STR_INIT };
}

static void read_file(struct config_search *search, const struct config_path *file)
{
	const struct config_reader reader = { .value = take_value, .damage = take_damage, .context = search };
	struct str why = STR_INIT;
	int rc;

	search->file = file;
	rc = config_read(file->path, &reader, &why);
	if (rc && rc != -ENOENT && rc != -ENOTDIR)
		note_add(&search->notes, false, NULL, "%s is not used: %s", file->path, why.s);
	add_faults(&search->notes, &search->damaged);
	add_faults(&search->notes, &search->unknown);
	str_release(&why);
}

void config_words_find(struct config_words *words, const struct command *command, int *argc, char ***argv)
{
	struct config_search search = { .words = words, .command = command, .damaged.first = STR_INIT,
					.unknown.first = STR_INIT };
	struct config_path paths[CONFIG_FILES_MAX];
	size_t n = has_rows(command) ? config_paths(paths) : 0;

	for (size_t i = 0; i < n; i++) {
		if (paths[i].path)
			read_file(&search, &paths[i]);
		free(paths[i].path);
	}
	message_notes(&search.notes, 0, false);
	note_list_release(&search.notes);
	if (!words->n)
		return;
	words->argv = xcalloc((size_t)*argc + words->n + 1, sizeof(*words->argv));
	words->argv[0] = (*argv)[0];
	memcpy(words->argv + 1, words->texts, words->n * sizeof(*words->argv));
	memcpy(words->argv + 1 + words->n, *argv + 1, ((size_t)*argc - 1) * sizeof(*words->argv));
	*argv = words->argv;
	*argc += (int)words->n;
}

void config_words_release(struct config_words *words)
{
	for (size_t i = 0; i < words->n; i++)
		free(words->texts[i]);
	free(words->texts);
	free(words->argv);
	*words = (struct config_words){ 0 };
}
