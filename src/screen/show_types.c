/* SPDX-License-Identifier: MIT */
/*
 * show_types: which data the selected row's samples read or write, as a text: each type with the samples of its
 * members, as `pstat annotate --data-type` prints it, and below how many instructions have no type, and why.
 *
 * A row by type is of that type, a row by function of its code; others are of all that is shown. Types are made for
 * one text alone: what they are made of may go when the profile is fed.
 */
#include "screen/screen_internal.h"

/* Function and type that a row is of. */
struct row_subject {
	const struct symbol *symbol; /* NULL: of any function */
	const char *type; /* NULL: of any type */
};

static struct row_subject subject_of(const struct screen *screen)
{
	static const char *const keys[] = { "type", "typeoff", "typecln" };
	const struct table *table = screen->table;
	struct row_subject subject = { .symbol = annotate_around(table->session, rows_selected_symbol(screen)) };
	const struct row *row = rows_selected(screen);

	for (size_t i = 0; row && i < ARRAY_SIZE(keys) && !subject.type; i++) {
		const struct column *column = rows_key_column(table, row->entry, keys[i]);

		if (column)
			subject.type = table_key_type(table, column->key, row->entry->values[column->key_index]);
	}
	return subject;
}

static void add_subject(const struct row_subject *subject, struct str *out)
{
	str_add(out, subject->type ? subject->type : "Types of data");
	if (subject->symbol)
		str_addf(out, " in %s", subject->symbol->name);
}

/* Adds the types of one of the events that are shown beside each other. Returns how many there are. */
static size_t add_event(const struct screen *screen, const struct row_subject *subject, struct types *types,
			size_t member, struct output *output)
{
	const struct annotation_look look = { .value = ANNOTATION_PERCENT };
	const struct data_event *event = head_member(screen->table, screen->hist, member);
	const struct type_query query = {
		.event = event->index, .filters = screen->table->filters, .symbol = subject->symbol,
	};
	struct profile *profile = screen->table->profile;
	struct str name = STR_INIT;
	struct type_uses *uses;
	size_t n;

	/* An event that has had no sample so far may not be there. */
	if (event->index >= profile->n_events)
		return 0;
	uses = type_uses_new(profile, types, &query);
	if (subject->type)
		type_uses_keep(uses, subject->type);
	n = uses->n;
	data_event_add_name(event, &name);
	type_uses_print(uses, screen->hist->n_members > 1 ? name.s : NULL, &look, output);
	if (!subject->type)
		type_uses_print_states(uses, output);
	type_uses_free(uses);
	str_release(&name);
	return n;
}

/* Text of any length stays in the output. */
static int keep_text(void *context, struct str *text)
{
	(void)context, (void)text;
	return 0;
}

static void show(struct screen *screen, const struct row_subject *subject)
{
	struct types *types = types_new(screen->table->session->symbols);
	struct output output = { .text = STR_INIT, .write = keep_text };
	struct str title = STR_INIT;
	size_t n = 0;

	add_subject(subject, &title);
	for (size_t i = 0; i < screen->hist->n_members; i++)
		n += add_event(screen, subject, types, i, &output);
	if (n || !subject->type)
		text_open(screen, title.s, &output.text);
	else
		screen_say(screen, "%s is no type of data", subject->type);
	str_release(&title);
	str_release(&output.text);
	types_free(types);
}

void act_types(struct screen *screen)
{
	struct row_subject subject;
	struct str why = STR_INIT;

	if (!screen_need_table(screen))
		return;
	subject = subject_of(screen);
	if (annotate_try(&why))
		screen_say(screen, "types of data: %s", why.len ? why.s : "this pstat was built without capstone");
	else
		show(screen, &subject);
	str_release(&why);
}
