/* SPDX-License-Identifier: MIT */
/*
 * JSON as hyperfine writes it, so that what reads that reads this: as its version 2 does (schema_version 2, a
 * measurement for each run), with the lists and means of version 1 beside it. "pstat_compare" has the rest: the rows,
 * what chance has decided, how each run went, and what came of them.
 */
#include "compare/compare_formats.h"

#include <math.h>
#include <sys/utsname.h>

/* A number that reads back as the same; null: there is none. */
static void add_number(struct str *out, double value)
{
	if (isfinite(value))
		str_addf(out, "%.17g", value);
	else
		str_add(out, "null");
}

static void add_field(struct str *out, const char *name, double value)
{
	str_addf(out, ", \"%s\": ", name);
	add_number(out, value);
}

const char *const compare_kind_words[] = {
	[COMPARE_WALL] = "wall",	 [COMPARE_USER] = "user",   [COMPARE_SYSTEM] = "system",
	[COMPARE_MEMORY] = "memory", [COMPARE_EVENT] = "event", [COMPARE_METRIC] = "metric",
};

/* hyperfine's names and pstat's. To add one: a row. */
static const struct {
	enum compare_kind kind;
	const char *column, *name, *unit;
} names[] = {
	{ COMPARE_WALL, "wall", "time_wall_clock", "s" },
	{ COMPARE_USER, "user", "time_user", "s" },
	{ COMPARE_SYSTEM, "sys", "time_system", "s" },
	{ COMPARE_MEMORY, "peak memory", "memory_peak_resident", "B" },
	{ COMPARE_EVENT, "cycles:u", "cpu_cycles", "" },
	{ COMPARE_EVENT, "instructions:u", "instructions", "" },
	{ COMPARE_EVENT, "cache-misses:u", "cache_misses", "" },
	{ COMPARE_EVENT, "branch-misses:u", "branch_misses", "" },
};

static const struct {
	const char *unit, *name; /* the column's and hyperfine's */
} units[] = { { "s", "second" }, { "B", "byte" } };

/* An event that has a name of hyperfine's, but is not what that is of, says that it has no modifier. */
void compare_add_json_name(struct str *out, const struct compare_column *column)
{
	bool taken = false;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (names[i].kind == column->kind && !strcmp(names[i].column, column->name)) {
			str_add(out, names[i].name);
			return;
		}
		taken = taken || !strcmp(names[i].name, column->name);
	}
	str_addf(out, "%s%s", column->name, taken ? ":uk" : "");
}

size_t compare_add_json_column(struct compare_data *data, const char *name, const char *unit)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(names[i].name, name))
			return compare_add_column(data, names[i].kind, names[i].column, names[i].unit);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		unit = !strcmp(units[i].name, unit) ? units[i].unit : unit;
	return compare_add_column(data, COMPARE_EVENT, name, unit);
}

static void add_column_name(struct str *out, const struct compare_column *column)
{
	struct str name = STR_INIT;

	compare_add_json_name(&name, column);
	str_add_json(out, name.s);
	str_release(&name);
}

static void add_unit(struct str *out, const struct compare_column *column)
{
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(column->unit, units[i].unit))
			str_addf(out, ", \"unit\": \"%s\"", units[i].name);
}

static void add_measurement(struct str *out, const struct compare_data *data, size_t round, size_t command)
{
	const double *values = compare_values(data, round, command);

	str_addf(out, "        {\"exit_code\": %d", data->courses[round * data->n_commands + command].status);
	for (size_t i = 0; i < data->n_columns; i++) {
		if (isnan(values[i]))
			continue;
		str_add(out, ", ");
		add_column_name(out, &data->columns[i]);
		str_add(out, ": {\"value\": ");
		add_number(out, values[i]);
		add_unit(out, &data->columns[i]);
		str_addc(out, '}');
	}
	str_addc(out, '}');
}

static void add_spread(struct str *out, const struct compare_row *row)
{
	add_field(out, "mean", row->mean);
	add_field(out, "stddev", row->n > 1 ? row->deviation : NAN);
	add_field(out, "median", row->median);
	add_field(out, "min", row->min);
	add_field(out, "max", row->max);
}

static void add_summary(struct str *out, const struct compare_data *data, const struct compare_row *rows)
{
	const char *between = "";

	str_add(out, "      \"summary\": {");
	for (size_t i = 0; i < data->n_columns; i++) {
		if (!rows[i].n)
			continue;
		str_addf(out, "%s\n        ", between);
		add_column_name(out, &data->columns[i]);
		str_addf(out, ": {\"count\": %zu", rows[i].n);
		add_unit(out, &data->columns[i]);
		add_spread(out, &rows[i]);
		str_addc(out, '}');
		between = ",";
	}
	str_add(out, "\n      }");
}

static void add_parameters(struct str *out, const struct compare_command *command)
{
	if (!command->n_parameters)
		return;
	str_add(out, ",\n      \"parameters\": {");
	for (size_t i = 0; i < command->n_parameters; i++) {
		str_add(out, i ? ", " : "");
		str_add_json(out, command->parameters[i].name);
		str_add(out, ": {\"value\": ");
		str_add_json(out, command->parameters[i].value);
		str_addc(out, '}');
	}
	str_addc(out, '}');
}

/* Adds what version 1 of hyperfine has of a command, in seconds. */
static void add_times(struct str *out, const struct compare_data *data, const struct compare_row *rows, size_t command)
{
	static const char *const means[] = { [COMPARE_USER] = "user", [COMPARE_SYSTEM] = "system" };

	for (size_t i = 0; i < data->n_columns; i++) {
		enum compare_kind kind = data->columns[i].kind;

		if (kind == COMPARE_USER || kind == COMPARE_SYSTEM)
			add_field(out, means[kind], rows[i].mean);
		if (kind != COMPARE_WALL)
			continue;
		add_spread(out, &rows[i]);
		str_add(out, ", \"times\": [");
		for (size_t round = 0; round < data->n_rounds; round++) {
			str_add(out, round ? ", " : "");
			add_number(out, compare_values(data, round, command)[i]);
		}
		str_addc(out, ']');
	}
}

static void add_result(struct str *out, const struct compare_data *data, const struct compare_result *result,
		       size_t i)
{
	const struct compare_command *command = &data->commands[i];
	const struct compare_row *rows = &result->rows[i * data->n_columns];

	str_add(out, "    {\n      \"command\": ");
	str_add_json(out, command->text);
	if (strcmp(command->name, command->text)) {
		str_add(out, ", \"name\": ");
		str_add_json(out, command->name);
	}
	add_times(out, data, rows, i);
	str_add(out, ",\n      \"exit_codes\": [");
	for (size_t round = 0; round < data->n_rounds; round++)
		str_addf(out, "%s%d", round ? ", " : "", data->courses[round * data->n_commands + i].status);
	str_add(out, "],\n      \"measurements\": [\n");
	for (size_t round = 0; round < data->n_rounds; round++) {
		add_measurement(out, data, round, i);
		str_add(out, round + 1 < data->n_rounds ? ",\n" : "\n");
	}
	str_add(out, "      ]");
	add_parameters(out, command);
	str_add(out, ",\n");
	add_summary(out, data, rows);
	str_add(out, "\n    }");
}

/* The columns in their order, by the names that --check takes. */
static void add_rows(struct str *out, const struct compare_data *data)
{
	str_add(out, "    \"rows\": [");
	for (size_t i = 0; i < data->n_columns; i++) {
		str_add(out, i ? ", {\"row\": " : "{\"row\": ");
		str_add_json(out, data->columns[i].name);
		str_add(out, ", \"unit\": ");
		str_add_json(out, data->columns[i].unit);
		str_addf(out, ", \"kind\": \"%s\"}", compare_kind_words[data->columns[i].kind]);
	}
	str_add(out, "],\n");
}

static void add_runs(struct str *out, const struct compare_data *data)
{
	str_add(out, "    \"runs\": [");
	for (size_t i = 0; i < data->n_rounds * data->n_commands; i++)
		str_addf(out,
			 "%s\n      {\"round\": %zu, \"command\": %zu, \"position\": %u, \"padding\": %u, "
			 "\"status\": %d}",
			 i ? "," : "", i / data->n_commands, i % data->n_commands, data->courses[i].position,
			 data->courses[i].padding, data->courses[i].status);
	str_add(out, "\n    ],\n");
}

static void add_comparisons(struct str *out, const struct compare_data *data, const struct compare_result *result)
{
	const char *between = "";

	str_add(out, "    \"comparisons\": [");
	for (size_t i = 0; i < data->n_commands * data->n_columns; i++) {
		const struct compare_row *row = &result->rows[i];

		if (!row->compared)
			continue;
		str_addf(out, "%s\n      {\"command\": %zu, \"row\": ", between, i / data->n_columns);
		str_add_json(out, data->columns[i % data->n_columns].name);
		str_addf(out, ", \"n\": %zu, \"absolute\": %s", row->n_pairs, row->absolute ? "true" : "false");
		add_field(out, "change", row->change);
		add_field(out, "low", row->low);
		add_field(out, "high", row->high);
		add_field(out, "p", row->p);
		str_addf(out, ", \"outliers\": %zu, \"verdict\": \"%s\"", row->n_outliers,
			 compare_verdict_words[row->verdict]);
		if (row->rounds_needed)
			str_addf(out, ", \"rounds_needed\": %zu", row->rounds_needed);
		str_addc(out, '}');
		between = ",";
	}
	str_add(out, "\n    ],\n");
}

static void add_notes(struct str *out, const struct note_list *notes)
{
	str_add(out, "    \"notes\": [");
	for (size_t i = 0; i < notes->n; i++) {
		str_add(out, i ? ", " : "");
		str_add_json(out, notes->v[i].text);
	}
	str_add(out, "]\n");
}

static void add_machine(struct str *out)
{
	struct utsname name;

	str_add(out, "  \"metadata\": {\"pstat_version\": \"" PSTAT_VERSION "\", \"platform\": {\"os\": \"Linux\"");
	if (!uname(&name)) {
		str_add(out, ", \"architecture\": ");
		str_add_json(out, name.machine);
	}
	str_add(out, "}},\n");
}

static void print(struct str *out, const struct compare_data *data, const struct compare_result *result,
		  const struct compare_question *question)
{
	const struct compare_session *session = &data->sessions[0];

	str_add(out, "{\n  \"schema_version\": 2,\n");
	add_machine(out);
	str_add(out, "  \"primary_metric\": \"time_wall_clock\",\n  \"results\": [\n");
	for (size_t command = 0; command < data->n_commands; command++) {
		add_result(out, data, result, command);
		str_add(out, command + 1 < data->n_commands ? ",\n" : "\n");
	}
	str_addf(out, "  ],\n  \"pstat_compare\": {\n    \"seed\": %llu,\n    \"reference\": %zu,\n",
		 (unsigned long long)session->seed, question->reference);
	str_addf(out, "    \"alpha\": %.17g,\n    \"threshold\": %.17g,\n", question->alpha, question->threshold);
	str_addf(out, "    \"warm_up_rounds\": %zu,\n    \"rounds_left_out\": %zu,\n    \"interrupted\": %s,\n",
		 session->n_warm_up, session->n_failed, session->interrupted ? "true" : "false");
	add_rows(out, data);
	add_runs(out, data);
	add_comparisons(out, data, result);
	add_notes(out, &result->notes);
	str_add(out, "  }\n}\n");
}

const struct compare_format compare_format_json = { print };
