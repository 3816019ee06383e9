/* SPDX-License-Identifier: MIT */
/*
 * load_jansson: results that were written as JSON, read again by jansson, a library that is loaded when it is needed.
 * A file of pstat's becomes what it was written from, to the last digit; one of hyperfine's, of version 2 or of 1 with
 * its lists, has commands, but no rounds.
 *
 * A file is whole in memory, and so are its numbers: VALUES_MAX is their limit.
 */
#include "compare/compare_formats.h"

#include <dlfcn.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LIBJANSSON "libjansson.so.4"

enum { VALUES_MAX = 1 << 26, COLUMNS_MAX = 1000 };

#define JANSSON_FUNCTIONS(FN)                                                                                          \
	FN(json_loadf) FN(json_delete) FN(json_object_get) FN(json_object_iter) FN(json_object_iter_next)              \
	FN(json_object_iter_key) FN(json_object_iter_value) FN(json_array_size) FN(json_array_get)                     \
	FN(json_string_value) FN(json_integer_value) FN(json_number_value)

static struct {
#define MEMBER(name) __typeof__(name) *name;
	JANSSON_FUNCTIONS(MEMBER)
#undef MEMBER
} lib;

int compare_load_try(struct str *err)
{
	static const struct library_symbol symbols[] = {
#define ROW(name) { #name, offsetof(__typeof__(lib), name) },
		JANSSON_FUNCTIONS(ROW)
#undef ROW
	};

	if (!lib.json_delete && !library_load(LIBJANSSON, symbols, ARRAY_SIZE(symbols), &lib, err))
		return -ENOENT;
	return 0;
}

/* ---- values, whatever is there ---- */

static const char *text_at(const json_t *object, const char *key)
{
	return lib.json_string_value(lib.json_object_get(object, key)); /* NULL: no text */
}

static double number_at(const json_t *object, const char *key)
{
	const json_t *value = lib.json_object_get(object, key);

	return json_is_number(value) ? lib.json_number_value(value) : NAN;
}

/* A count from 0 to most; 0: there is none. */
static size_t count_at(const json_t *object, const char *key, size_t most)
{
	json_int_t value = lib.json_integer_value(lib.json_object_get(object, key));

	return value > 0 && (uint64_t)value <= most ? (size_t)value : 0;
}

/* ---- a file becomes a session ---- */

struct loaded_file {
	json_t *root;
	const json_t *results; /* array */
	const json_t *own; /* what pstat has added; NULL: hyperfine has written it */
	size_t first; /* command */
};

/* The runs of a result: measurements, or the times of version 1. */
static const json_t *runs_of(const json_t *result)
{
	const json_t *runs = lib.json_object_get(result, "measurements");

	return json_is_array(runs) ? runs : lib.json_object_get(result, "times");
}

static int open_file(const char *path, struct loaded_file *file, struct str *err)
{
	FILE *stream = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char *name = compare_printable(path);
	json_error_t why;
	int rc = stream ? 0 : fail(err, -errno, "%s: %s", name, strerror(errno));

	file->root = stream ? lib.json_loadf(stream, 0, &why) : NULL;
	file->results = lib.json_object_get(file->root, "results");
	file->own = lib.json_object_get(file->root, "pstat_compare");
	if (stream && !file->root)
		rc = ferror(stream) ? fail(err, -EIO, "%s: %s", name, strerror(errno)) :
				      fail(err, -EINVAL, "%s: line %d is no JSON: %s", name, why.line, why.text);
	else if (stream && (!json_is_array(file->results) || !lib.json_array_size(file->results)))
		rc = fail(err, -EINVAL,
			  "%s: it has no results\n--load reads what --export-json has written, or hyperfine", name);
	if (stream && stream != stdin)
		fclose(stream);
	free(name);
	return rc;
}

static void add_parameters(const json_t *object, struct compare_command *command)
{
	json_t *parameters = lib.json_object_get(object, "parameters");

	for (void *at = lib.json_object_iter(parameters); at; at = lib.json_object_iter_next(parameters, at)) {
		const json_t *value = lib.json_object_iter_value(at);
		const char *own = lib.json_string_value(value), *text = own ? own : text_at(value, "value");

		command->parameters = xreallocarray(command->parameters, command->n_parameters + 1,
						    sizeof(*command->parameters));
		command->parameters[command->n_parameters++] = (struct compare_parameter){
			compare_printable(lib.json_object_iter_key(at)), compare_printable(text ? text : "")
		};
	}
}

/* Names of commands of several files begin with the file's. */
static void add_command(struct compare_data *data, const json_t *result, bool one_of_several)
{
	const char *text = text_at(result, "command"), *name = text_at(result, "name");
	struct compare_command *command;
	size_t session = data->n_sessions - 1;
	char *own;

	data->commands = xreallocarray(data->commands, data->n_commands + 1, sizeof(*data->commands));
	command = &data->commands[data->n_commands++];
	*command = (struct compare_command){ .text = compare_printable(text ? text : "?"), .session = session };
	own = name ? compare_printable(name) : xstrdup(command->text);
	command->name = one_of_several ? xasprintf("%s: %s", data->sessions[session].file, own) : xstrdup(own);
	free(own);
	add_parameters(result, command);
}

/* The column that the key is of, looked for from *next on, where the one after it is then; n_columns: none. */
static size_t find_column(const struct compare_data *data, const char *key, size_t *next)
{
	struct str name = STR_INIT;
	size_t found = data->n_columns;

	for (size_t i = 0; i < data->n_columns && found == data->n_columns; i++) {
		size_t column = (*next + i) % data->n_columns;

		str_reset(&name);
		compare_add_json_name(&name, &data->columns[column]);
		if (!strcmp(name.s, key))
			found = column;
	}
	*next = found + 1;
	str_release(&name);
	return found;
}

static bool has_row(const struct compare_data *data, enum compare_kind kind, const char *name)
{
	for (size_t i = 0; i < data->n_columns; i++)
		if (data->columns[i].kind == kind && !strcmp(data->columns[i].name, name))
			return true;
	return false;
}

/* Adds the rows as they were, where pstat has written the file. */
static void add_rows(struct compare_data *data, const struct loaded_file *file)
{
	const json_t *rows = lib.json_object_get(file->own, "rows");

	for (size_t i = 0; i < lib.json_array_size(rows); i++) {
		const json_t *row = lib.json_array_get(rows, i);
		const char *name = text_at(row, "row"), *unit = text_at(row, "unit"), *kind = text_at(row, "kind");
		size_t known = 0;

		while (kind && known <= COMPARE_METRIC && strcmp(compare_kind_words[known], kind))
			known++;
		if (name && unit && kind && known <= COMPARE_METRIC && data->n_columns < COLUMNS_MAX &&
		    !has_row(data, (enum compare_kind)known, name))
			compare_add_column(data, (enum compare_kind)known, name, unit);
	}
}

static const struct {
	const char *list, *key, *unit;
} lists[] = { /* of version 1: what they are in version 2 */
	{ "times", "time_wall_clock", "second" },
	{ "memory_usage_byte", "memory_peak_resident", "byte" },
};

static void add_key(struct compare_data *data, const char *key, const char *unit, size_t *next)
{
	if (find_column(data, key, next) == data->n_columns && data->n_columns < COLUMNS_MAX)
		compare_add_json_column(data, key, unit ? unit : "");
}

/* Adds what a result's runs have besides. */
static void add_columns(struct compare_data *data, const json_t *result)
{
	const json_t *runs = lib.json_object_get(result, "measurements");
	size_t next = 0;

	for (size_t i = 0; i < lib.json_array_size(runs); i++) {
		json_t *run = lib.json_array_get(runs, i);

		for (void *at = lib.json_object_iter(run); at; at = lib.json_object_iter_next(run, at)) {
			const json_t *number = lib.json_object_iter_value(at);

			if (json_is_object(number))
				add_key(data, lib.json_object_iter_key(at), text_at(number, "unit"), &next);
		}
	}
	for (size_t i = 0; !runs && i < ARRAY_SIZE(lists); i++)
		if (json_is_array(lib.json_object_get(result, lists[i].list)))
			add_key(data, lists[i].key, lists[i].unit, &next);
}

static void add_session(struct compare_data *data, struct loaded_file *file, const char *path, bool one_of_several)
{
	struct compare_session *session;

	data->sessions = xreallocarray(data->sessions, data->n_sessions + 1, sizeof(*data->sessions));
	session = &data->sessions[data->n_sessions++];
	*session = (struct compare_session){
		.file = compare_printable(path),
		.by_chance = file->own,
		.seed = (uint64_t)lib.json_integer_value(lib.json_object_get(file->own, "seed")),
		.n_warm_up = count_at(file->own, "warm_up_rounds", INT_MAX),
		.n_failed = count_at(file->own, "rounds_left_out", INT_MAX),
		.interrupted = json_is_true(lib.json_object_get(file->own, "interrupted")),
	};
	file->first = data->n_commands;
	add_rows(data, file);
	for (size_t i = 0; i < lib.json_array_size(file->results); i++) {
		const json_t *result = lib.json_array_get(file->results, i);
		size_t n = lib.json_array_size(runs_of(result));

		session->n_rounds = n > session->n_rounds ? n : session->n_rounds;
		add_command(data, result, one_of_several);
		add_columns(data, result);
	}
	data->n_rounds = session->n_rounds > data->n_rounds ? session->n_rounds : data->n_rounds;
}

/* ---- numbers ---- */

static int make_room(struct compare_data *data, struct str *err)
{
	size_t cells = data->n_commands * (data->n_columns + 1);

	if (data->n_columns == COLUMNS_MAX || data->n_rounds > VALUES_MAX / cells)
		return fail(err, -E2BIG, "--load: %zu rounds of %zu commands with %zu rows are too many",
			    data->n_rounds, data->n_commands, data->n_columns);
	data->courses = xcalloc(data->n_rounds * data->n_commands + 1, sizeof(*data->courses));
	data->values = xcalloc(data->n_rounds * data->n_commands * data->n_columns + 1, sizeof(*data->values));
	for (size_t i = 0; i < data->n_rounds * data->n_commands * data->n_columns; i++)
		data->values[i] = NAN;
	return 0;
}

static void fill_run(struct compare_data *data, size_t round, size_t command, json_t *run)
{
	double *values = compare_values(data, round, command);
	size_t next = 0;

	data->courses[round * data->n_commands + command].status = (int)count_at(run, "exit_code", INT_MAX);
	for (void *at = lib.json_object_iter(run); at; at = lib.json_object_iter_next(run, at)) {
		size_t column = find_column(data, lib.json_object_iter_key(at), &next);

		if (column < data->n_columns)
			values[column] = number_at(lib.json_object_iter_value(at), "value");
	}
}

static void fill_lists(struct compare_data *data, size_t command, const json_t *result)
{
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const json_t *list = lib.json_object_get(result, lists[i].list);
		size_t next = 0, column = find_column(data, lists[i].key, &next);

		for (size_t run = 0; run < data->n_rounds && column < data->n_columns; run++) {
			const json_t *value = lib.json_array_get(list, run);

			if (json_is_number(value))
				compare_values(data, run, command)[column] = lib.json_number_value(value);
		}
	}
}

/* Fills in how each run went, where pstat has written that. */
static void fill_courses(struct compare_data *data, const struct loaded_file *file)
{
	const json_t *runs = lib.json_object_get(file->own, "runs");
	size_t n_commands = lib.json_array_size(file->results);

	for (size_t i = 0; i < lib.json_array_size(runs); i++) {
		const json_t *run = lib.json_array_get(runs, i);
		size_t round = count_at(run, "round", data->n_rounds), command = count_at(run, "command", n_commands);
		struct compare_course *course;

		if (round >= data->n_rounds || command >= n_commands)
			continue;
		course = &data->courses[round * data->n_commands + file->first + command];
		course->position = (unsigned)count_at(run, "position", n_commands);
		course->padding = (unsigned)count_at(run, "padding", COMPARE_PADDING_MAX);
	}
}

static void fill(struct compare_data *data, const struct loaded_file *file)
{
	for (size_t i = 0; i < lib.json_array_size(file->results); i++) {
		const json_t *result = lib.json_array_get(file->results, i);
		const json_t *runs = lib.json_object_get(result, "measurements");

		for (size_t round = 0; round < lib.json_array_size(runs); round++)
			fill_run(data, round, file->first + i, lib.json_array_get(runs, round));
		if (!runs)
			fill_lists(data, file->first + i, result);
	}
	fill_courses(data, file);
}

/* ---- all of it ---- */

static void add_notes(const struct loaded_file *file, const char *before, struct note_list *notes)
{
	const json_t *list = lib.json_object_get(file->own, "notes");

	for (size_t i = 0; i < lib.json_array_size(list); i++) {
		const char *text = lib.json_string_value(lib.json_array_get(list, i));
		struct str line = STR_INIT;

		str_add_printable(&line, text ? text : "", text ? strlen(text) : 0);
		if (line.len)
			note_add(notes, false, NULL, "%s%s%s", before, *before ? ": " : "", line.s);
		str_release(&line);
	}
}

static void complete_question(const struct compare_data *data, const struct loaded_file *file,
			      struct compare_question *question)
{
	double alpha = number_at(file->own, "alpha"), threshold = number_at(file->own, "threshold");

	if (isnan(question->alpha))
		question->alpha = alpha > 0 && alpha < 1 ? alpha : COMPARE_ALPHA;
	if (isnan(question->threshold))
		question->threshold = threshold >= 0 && threshold < 1 ? threshold : COMPARE_THRESHOLD;
	question->reference = count_at(file->own, "reference", data->n_commands - 1);
}

int compare_load(char *const *paths, size_t n, struct compare_data *data, struct compare_question *question,
		 struct note_list *notes, struct str *err)
{
	struct loaded_file *files = xcalloc(n, sizeof(*files));
	int rc = compare_load_try(err);

	for (size_t i = 0; i < n && !rc; i++) {
		rc = open_file(paths[i], &files[i], err);
		if (!rc)
			add_session(data, &files[i], paths[i], n > 1);
	}
	if (!rc)
		rc = make_room(data, err);
	for (size_t i = 0; i < n && !rc; i++) {
		fill(data, &files[i]);
		add_notes(&files[i], n > 1 ? data->sessions[i].file : "", notes);
	}
	if (!rc)
		complete_question(data, &files[0], question);
	for (size_t i = 0; i < n; i++)
		if (files[i].root)
			lib.json_delete(files[i].root);
	free(files);
	return rc;
}
