/*
 * One profile, many questions: the cells of a profile answer all that they can tell; for the rest the recording is
 * read again, by what the question needs.
 */
#include "hist/fold_internal.h"
#include "hist/keys_internal.h"

#include <errno.h>
#include <stdlib.h>

/* What no cell says was asked when the profile was read, or nobody asked. */
static bool same_samples(const struct filter_options *read, const struct filter_options *asked)
{
	return text_same(read->time, asked->time) && text_same(read->switch_on, asked->switch_on) &&
	       text_same(read->switch_off, asked->switch_off) && read->switches_shown == asked->switches_shown;
}

/* The texts of tracepoints are made for the keys of one table. */
static bool same_texts(const struct table *table)
{
	const struct table *first = table_of_profile(table->profile);

	return first && text_same(first->sort_text.s, table->sort_text.s) &&
	       text_same(first->options.fields, table->options.fields) &&
	       first->options.raw_trace == table->options.raw_trace;
}

/* Can the profile's cells tell it? */
static bool cells_answer(const struct table *table)
{
	const struct profile_options *read = &table->profile->options;
	const struct profile_shape *kept = &table->profile->shape, *asked = &table->private->shape;

	/* Before its events are known a profile has nothing, and what it will keep is not decided. */
	if (!table->profile->decided)
		return true;
	return !(asked->facts & ~kept->facts) && asked->by_function >= kept->by_function &&
	       asked->branches == kept->branches && asked->weights == kept->weights &&
	       same_samples(&read->filters, &table->options.filters) &&
	       (!(asked->facts & FACT(TRACE)) || same_texts(table)) &&
	       (!(asked->facts & FACT(TIME)) || table->options.time_quantum_ns == read->time_quantum_ns) &&
	       table->options.threads_counted <= read->threads_counted;
}

uint64_t table_filter_facts(const struct filter_options *filters)
{
	uint64_t facts = 0;

	if (filters->comms)
		facts |= FACT(COMM);
	if (filters->pids)
		facts |= FACT(PID);
	if (filters->tids)
		facts |= FACT(TID);
	if (filters->cpus || filters->sockets)
		facts |= FACT(CPU) | FACT(MISC);
	if (filters->kernel_hidden || filters->user_hidden)
		facts |= FACT(MISC);
	return facts;
}

/* A table whose cells are those of a profile that has more; -EAGAIN: they cannot tell it. */
static int ask_cells(struct table *table, struct profile *profile, struct str *err)
{
	struct filter_options filters = table->options.filters;
	int code;

	table->profile = profile;
	table->session = &profile->session;
	table->notes = &table->own_notes;
	table->cells_unfiltered = true;
	if (!(table->options.needs & NEED_STACKS))
		filters.symbol_filter = NULL;
	filters.time = filters.switch_on = filters.switch_off = NULL;
	code = filters_new(&table->filters, &filters, table->session, err);
	if (!code)
		code = table_decide(table, err);
	table->private->shape.facts |= table_filter_facts(&filters);
	return code ? code : cells_answer(table) ? 0 : -EAGAIN;
}

/* The same from the file itself, by what the question needs. */
static int ask_file(struct table *table, const struct profile *profile, struct str *err)
{
	struct reader *reader;
	int code;

	if (!profile->session.reader)
		return fail(err, -ESPIPE, "it is still being recorded and can't be read again: store it in a file");
	reader = xcalloc(1, sizeof(*reader));
	table->reader_owned = reader;
	table->options.session = profile->options.session;
	code = reader_open_again(reader, profile->session.reader, err);
	if (!code)
		code = table_own_profile(table, reader, err);
	return code ? code : table_run(table, NULL, NULL, err);
}

int table_of_cells(struct table **table, struct profile *profile, const struct query *options, struct str *err)
{
	int code;

	*table = table_alloc(options);
	code = ask_cells(*table, profile, err);
	if (!code)
		table_fold(*table);
	return table_or_none(table, code);
}

int table_make(struct table **table, struct profile *profile, const struct query *options, struct str *err)
{
	int code = table_of_cells(table, profile, options, err);

	if (code != -EAGAIN)
		return code;
	*table = table_alloc(options);
	return table_or_none(table, ask_file(*table, profile, err));
}
