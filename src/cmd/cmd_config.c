/* SPDX-License-Identifier: MIT */
/*
 * pstat config: prints what the configuration says, and sets values in perf's file, whose other lines stay as they are.
 */
#include "cmd/config.h"
#include "cmd/message.h"

#include <errno.h>
#include <stdlib.h>

enum { EXIT_NOT_SET = 1 };

struct config_options {
	bool list, system, user;
};

#define FIELD(name) .offset = offsetof(struct config_options, name)

const struct option_row config_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to print or to set" },
	{ OPTION_FLAG, 'l', "list", NULL, "print all values", FIELD(list) },
	{ OPTION_FLAG, 0, "user", NULL, "use the user's file of perf only: ~/.perfconfig", FIELD(user) },
	{ OPTION_FLAG, 0, "system", NULL, "use the machine's file only: /etc/perfconfig", FIELD(system) },
	{ .kind = OPTION_END },
};

/* ---- printing ---- */

struct config_print {
	const char *path;
	const char *key; /* NULL: all */
	struct str out;
	struct note_list notes;
	bool any;
};

/* Adds a note on a key that is not used. */
static void add_unused(struct config_print *print, const char *key, unsigned line)
{
	enum config_key kind = config_key_kind(key);
	struct str near = STR_INIT;

	if (kind == CONFIG_KEY_KNOWN)
		return;
	if (kind == CONFIG_KEY_UNKNOWN)
		config_add_near(&near, key);
	note_add(&print->notes, false, NULL, "%s:%u: '%s' means nothing to pstat%s", print->path, line, key, near.s);
	str_release(&near);
}

static void print_value(void *context, const char *key, const char *value, unsigned line)
{
	struct config_print *print = context;

	if (print->key && strcmp(print->key, key) != 0)
		return;
	print->any = true;
	str_add_printable(&print->out, key, strlen(key));
	str_addc(&print->out, '=');
	str_add_printable(&print->out, value, strlen(value));
	str_addc(&print->out, '\n');
	add_unused(print, key, line);
}

static void print_damage(void *context, unsigned line, const char *why)
{
	struct config_print *print = context;

	note_add(&print->notes, false, NULL, "%s:%u: the line is not used: %s", print->path, line, why);
}

/* A file that is not there says nothing. */
static int print_file(struct config_print *print, const char *path)
{
	const struct config_reader reader = { .value = print_value, .damage = print_damage, .context = print };
	struct str why = STR_INIT;
	int rc;

	print->path = path;
	rc = config_read(path, &reader, &why);
	if (rc && rc != -ENOENT && rc != -ENOTDIR)
		message_error("%s: %s", path, why.s);
	else
		rc = 0;
	str_release(&why);
	return rc ? EXIT_PSTAT_FAILED : 0;
}

/* The files that count, in the order of being read; the caller frees. How many. */
static size_t choose_files(const struct config_options *options, struct config_path paths[CONFIG_FILES_MAX])
{
	size_t n = 0;

	if (!options->system && !options->user)
		return config_paths(paths);
	if (options->system)
		paths[n++] = (struct config_path){ .path = xstrdup(CONFIG_SYSTEM_PATH) };
	if (options->user)
		paths[n++] = (struct config_path){ .path = config_user_path() };
	return n;
}

/* key NULL: all values. */
static int print_values(const struct config_options *options, const char *key)
{
	struct config_print print = { .key = key, .out = STR_INIT };
	struct config_path paths[CONFIG_FILES_MAX];
	size_t n = choose_files(options, paths);
	int status = 0, printed;

	for (size_t i = 0; i < n; i++) {
		if (paths[i].path && print_file(&print, paths[i].path))
			status = EXIT_PSTAT_FAILED;
		free(paths[i].path);
	}
	printed = message_stdout(&print.out);
	message_notes(&print.notes, 0, false);
	note_list_release(&print.notes);
	str_release(&print.out);
	if (key && !print.any && !status)
		status = EXIT_NOT_SET;
	return printed ? printed : status;
}

/* ---- setting ---- */

struct config_change {
	const char *section, *name, *value;
	size_t section_bytes, name_bytes;
	struct str out;
	bool within, done;
};

static void add_setting(struct config_change *change)
{
	const bool quoted = strpbrk(change->value, "#;\"\\ \t");

	str_addf(&change->out, "\t%.*s = %s", (int)change->name_bytes, change->name, quoted ? "\"" : "");
	for (const char *at = change->value; *at; at++)
		str_addf(&change->out, "%s%c", *at == '"' || *at == '\\' ? "\\" : "", *at);
	str_add(&change->out, quoted ? "\"\n" : "\n");
	change->done = true;
}

static bool line_begins(const char *line, const char *word, size_t n, const char *ends)
{
	line += strspn(line, " \t");
	return !strncasecmp(line, word, n) && (!line[n] || strchr(ends, line[n]));
}

/* Copies a line, or writes the setting in its place; at the end of its section it is added. */
static void change_line(struct config_change *change, const char *line)
{
	const char *at = line + strspn(line, " \t");

	if (*at == '[') {
		if (change->within && !change->done)
			add_setting(change);
		change->within = line_begins(at + 1, change->section, change->section_bytes, "]");
	} else if (change->within && line_begins(line, change->name, change->name_bytes, " \t=")) {
		if (!change->done)
			add_setting(change);
		return;
	}
	str_addf(&change->out, "%s\n", line);
}

static int write_change(struct config_change *change, const char *path)
{
	struct str text = STR_INIT, err = STR_INIT;
	int rc = read_text_file(path, &text);
	char *copy = xstrdup(text.s), *rest = copy, *line;

	while (*copy && (line = strsep(&rest, "\n")))
		if (*line || rest)
			change_line(change, line);
	if (!change->done && !change->within)
		str_addf(&change->out, "[%.*s]\n", (int)change->section_bytes, change->section);
	if (!change->done)
		add_setting(change);
	if (rc && rc != -ENOENT)
		fail(&err, rc, "%s", strerror(-rc));
	else
		rc = destination_write_whole(path, &change->out, &err);
	if (rc)
		message_error("%s: %s", path, err.s);
	free(copy);
	str_release(&text);
	str_release(&err);
	return rc ? EXIT_PSTAT_FAILED : 0;
}

/* "section.name=value" */
static int set_value(const struct config_options *options, const char *word)
{
	const char *equals = strchr(word, '='), *dot = equals;
	struct config_change change = { .section = word, .value = equals + 1, .out = STR_INIT };
	char *path = options->system ? xstrdup(CONFIG_SYSTEM_PATH) : config_user_path();
	int status;

	while (dot > word && *dot != '.')
		dot--;
	change.section_bytes = (size_t)(dot - word);
	change.name = dot + 1;
	change.name_bytes = (size_t)(equals - change.name);
	if (dot == word || equals == change.name || strpbrk(word, "\n]["))
		status = bad_usage("config: '%s' is not SECTION.NAME=VALUE", word);
	else if (!path)
		status = bad_usage("config: HOME is not set");
	else
		status = write_change(&change, path);
	free(path);
	str_release(&change.out);
	return status;
}

int cmd_config(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct config_options options = { .list = false };
	int first, status = command_parse(self, argc, argv, &options, &first);

	(void)kern;
	if (status >= 0)
		return status;
	if (options.system && options.user)
		return bad_usage("config: --system and --user: one of them");
	if (options.list && first < argc)
		return bad_usage("config: -l prints all values: '%s' is one too many", argv[first]);
	if (options.list || first == argc)
		return print_values(&options, NULL);
	for (status = 0; first < argc && !status; first++)
		status = strchr(argv[first], '=') ? set_value(&options, argv[first]) :
						    print_values(&options, argv[first]);
	return status;
}
