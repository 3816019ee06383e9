/* SPDX-License-Identifier: MIT */
/*
 * questions RECORDING: how long a profile that was read once takes to answer, in ms a question: other keys, a filter, a
 * zoom, callers, stacks. The first answer also looks for names; what is told is what each takes when names are there.
 */
#include "fmt/fmt.h"

#include <stdio.h>
#include <stdlib.h>

static const struct asked {
	const char *what, *format;
	struct query query;
} questions[] = {
#define CHAINS .chain = { .kind = CHAIN_GRAPH, .min_percent = 0.5, .order = CHAIN_CALLER }
	{ "children, with trees", "stdio", { .children = -1, CHAINS } },
	{ "no children", "stdio", { .children = 0, CHAINS } },
	{ "by file", "stdio", { .children = 0, .sort = "dso" } },
	{ "by thread and CPU", "stdio", { .children = 0, .sort = "tid,cpu" } },
	{ "one command", "stdio", { .children = 0, .sort = "sym", .filters = { .comms = "callers" } } },
	{ "one function", "stdio", { .children = -1, CHAINS, .filters = { .symbol_filter = "one_third" } } },
	{ "folded", "folded", { .children = 0 } },
};

static _Noreturn void stop(const struct str *err)
{
	fprintf(stderr, "questions: %s\n", err->s);
	exit(1);
}

static double ask(struct profile *profile, const struct asked *asked)
{
	const struct report_format *format = report_format_find(asked->format);
	struct query query = asked->query;
	struct output output = { .text = STR_INIT };
	struct str err = STR_INIT;
	struct question *question;
	struct table *table;
	uint64_t begin_ns = now_ns();

	query.needs = format->needs;
	if (question_make(&question, &query, profile->session.recording, &err) ||
	    table_make(&table, profile, question, NULL, &err))
		stop(&err);
	format->print(table, &output);
	table_free(table);
	question_free(question);
	str_release(&output.text);
	return (double)(now_ns() - begin_ns) / 1e6;
}

int main(int argc, char **argv)
{
	struct profile_options options;
	struct question *question;
	struct profile *profile;
	struct reader reader;
	struct str err = STR_INIT;
	size_t n_cells = 0;
	uint64_t begin_ns = now_ns();

	if (argc != 2 || reader_open(&reader, argv[1], &err) ||
	    question_make(&question, &questions[0].query, &reader.recording, &err))
		stop(&err);
	options = question_profile(question, PROFILE_FOR_OTHERS);
	if (profile_new(&profile, &options, &reader, &err) || profile_read(profile, NULL, NULL, &err))
		stop(&err);
	question_free(question);
	for (size_t i = 0; i < profile->n_events; i++)
		n_cells += profile->events[i]->cells.n;
	printf("%-30s %8.1f ms  %llu samples, %zu cells\n", "reading all", (double)(now_ns() - begin_ns) / 1e6,
	       (unsigned long long)profile->session.replay.counts.samples, n_cells);
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		double first = ask(profile, &questions[i]), best = first;

		for (int again = 0; again < 5; again++) {
			double took = ask(profile, &questions[i]);

			best = took < best ? took : best;
		}
		printf("%-30s %8.1f ms  %8.1f ms the first time\n", questions[i].what, best, first);
	}
	profile_free(profile);
	reader_close(&reader);
	return 0;
}
