/*
 * JSON as hyperfine 2 writes it (schema_version 2), so that what reads that reads this, and beside it "pstat_compare":
 * what chance has decided, each number of each run, and what came of them.
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

/* hyperfine's names and pstat's. To add one: a row. */
static const struct {
	enum compare_kind kind;
	const char *column; /* of events */
	const char *name, *unit;
} names[] = {
	{ COMPARE_WALL, NULL, "time_wall_clock", "second" },
	{ COMPARE_USER, NULL, "time_user", "second" },
	{ COMPARE_SYSTEM, NULL, "time_system", "second" },
	{ COMPARE_MEMORY, NULL, "memory_peak_resident", "byte" },
	{ COMPARE_EVENT, "cycles:u", "cpu_cycles", NULL },
	{ COMPARE_EVENT, "instructions:u", "instructions", NULL },
	{ COMPARE_EVENT, "cache-misses:u", "cache_misses", NULL },
	{ COMPARE_EVENT, "branch-misses:u", "branch_misses", NULL },
};

/* The row of names[] that has the column; ARRAY_SIZE(names): it is pstat's own. */
static size_t known_name(const struct compare_column *column)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(names) && (names[i].kind != column->kind ||
					 (names[i].column && strcmp(names[i].column, column->name))))
		i++;
	return i;
}

static void add_column_name(struct str *out, const struct compare_column *column)
{
	size_t i = known_name(column);

	str_add_json(out, i < ARRAY_SIZE(names) ? names[i].name : column->name);
}

static void add_unit(struct str *out, const struct compare_column *column)
{
	if (!strcmp(column->unit, "s"))
		str_add(out, ", \"unit\": \"second\"");
	else if (!strcmp(column->unit, "B"))
		str_add(out, ", \"unit\": \"byte\"");
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
		add_field(out, "mean", rows[i].mean);
		add_field(out, "stddev", rows[i].n > 1 ? rows[i].deviation : NAN);
		add_field(out, "median", rows[i].median);
		add_field(out, "min", rows[i].min);
		add_field(out, "max", rows[i].max);
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

static void add_result(struct str *out, const struct compare_data *data, const struct compare_result *result,
		       size_t command)
{
	str_add(out, "    {\n      \"command\": ");
	str_add_json(out, data->commands[command].name);
	str_add(out, ",\n      \"measurements\": [\n");
	for (size_t round = 0; round < data->n_rounds; round++) {
		add_measurement(out, data, round, command);
		str_add(out, round + 1 < data->n_rounds ? ",\n" : "\n");
	}
	str_add(out, "      ]");
	add_parameters(out, &data->commands[command]);
	str_add(out, ",\n");
	add_summary(out, data, &result->rows[command * data->n_columns]);
	str_add(out, "\n    }");
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

		if (!row->n_pairs)
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
	str_add(out, "{\n  \"schema_version\": 2,\n");
	add_machine(out);
	str_add(out, "  \"primary_metric\": \"time_wall_clock\",\n  \"results\": [\n");
	for (size_t command = 0; command < data->n_commands; command++) {
		add_result(out, data, result, command);
		str_add(out, command + 1 < data->n_commands ? ",\n" : "\n");
	}
	str_addf(out, "  ],\n  \"pstat_compare\": {\n    \"seed\": %llu,\n    \"reference\": %zu,\n",
		 (unsigned long long)data->seed, question->reference);
	str_addf(out, "    \"alpha\": %.17g,\n    \"threshold\": %.17g,\n", question->alpha, question->threshold);
	str_addf(out, "    \"warm_up_rounds\": %zu,\n    \"rounds_left_out\": %zu,\n    \"interrupted\": %s,\n",
		 data->n_warm_up, data->n_failed, data->interrupted ? "true" : "false");
	add_runs(out, data);
	add_comparisons(out, data, result);
	add_notes(out, &result->notes);
	str_add(out, "  }\n}\n");
}

const struct compare_format compare_format_json = { print };
