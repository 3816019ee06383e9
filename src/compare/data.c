/* SPDX-License-Identifier: MIT */
/*
 * Columns and commands as they are added, and their end.
 */
#include "compare/compare.h"

#include <stdlib.h>

char *compare_printable(const char *text)
{
	struct str out = STR_INIT;

	str_add_printable(&out, text, strlen(text));
	return str_detach(&out);
}

size_t compare_add_column(struct compare_data *data, enum compare_kind kind, const char *name, const char *unit)
{
	data->columns = xreallocarray(data->columns, data->n_columns + 1, sizeof(*data->columns));
	data->columns[data->n_columns] =
		(struct compare_column){ kind, compare_printable(name), compare_printable(unit) };
	return data->n_columns++;
}

void compare_data_release(struct compare_data *data)
{
	for (size_t i = 0; i < data->n_sessions; i++)
		free(data->sessions[i].file);
	for (size_t i = 0; i < data->n_columns; i++) {
		free(data->columns[i].name);
		free(data->columns[i].unit);
	}
	for (size_t i = 0; i < data->n_commands; i++) {
		free(data->commands[i].text);
		free(data->commands[i].name);
		for (size_t k = 0; data->commands[i].argv && data->commands[i].argv[k]; k++)
			free(data->commands[i].argv[k]);
		free(data->commands[i].argv);
		for (size_t k = 0; k < data->commands[i].n_parameters; k++) {
			free(data->commands[i].parameters[k].name);
			free(data->commands[i].parameters[k].value);
		}
		free(data->commands[i].parameters);
	}
	free(data->sessions);
	free(data->columns);
	free(data->commands);
	free(data->courses);
	free(data->values);
}
