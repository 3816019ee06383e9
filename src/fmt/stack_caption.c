/* SPDX-License-Identifier: MIT */
/*
 * The lines beside a picture of stacks. A picture is shared without its recording and without the terminal that it
 * was made in: what would be read there stands in it.
 */
#include "fmt/stack_caption.h"

/* At most so much of a command line. */
enum { COMMAND_BYTES = 400 };

static void add(struct note_list *lines, struct str *line)
{
	note_add(lines, false, NULL, "%s", line->s);
	str_reset(line);
}

static void add_title(const struct info *info, const char *what, struct str *line)
{
	size_t start;

	str_add(line, what);
	if (!info->cmdline.n)
		return;
	str_add(line, " of ");
	start = line->len;
	for (size_t i = 0; i < info->cmdline.n && line->len - start < COMMAND_BYTES; i++) {
		str_add(line, i ? " " : "");
		str_add_printable(line, info->cmdline.v[i], strlen(info->cmdline.v[i]));
	}
	if (line->len - start > COMMAND_BYTES)
		str_shorten(line, start, COMMAND_BYTES, false, "...");
}

static void add_event(const struct table *table, const struct hist *hist, struct str *line)
{
	const struct perf_event_attr *attr = &hist->event->attr;
	const struct entry_stats totals = head_totals(hist, false), shown = head_totals(hist, true);

	str_add_grouped(line, shown.n_samples);
	if (shown.n_samples != totals.n_samples) {
		str_add(line, " of ");
		str_add_grouped(line, totals.n_samples);
	}
	str_add(line, " samples of ");
	head_add_event_name(table, hist, line);
	if (attr->freq)
		str_addf(line, ", at most %llu a second and CPU", (unsigned long long)attr->sample_freq);
	else if (attr->sample_period)
		str_addf(line, ", one for each %llu", (unsigned long long)attr->sample_period);
	if (shown.period != shown.n_samples) {
		str_add(line, "; event count about ");
		str_add_grouped(line, shown.period);
	}
}

static void add_machine(const struct info *info, struct str *line)
{
	const char *texts[] = { info->hostname, info->os_release, info->arch, info->cpu_desc };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (!texts[i] || !*texts[i])
			continue;
		str_add(line, line->len ? ", " : "Recorded on ");
		str_add_printable(line, texts[i], strlen(texts[i]));
	}
}

static void add_filters(const struct query *query, struct str *line)
{
	static const char *const parts[] = { [STACK_USER] = "user", [STACK_KERNEL] = "kernel" };
	const struct filter_options *filters = &query->filters;
	const struct {
		const char *option, *text;
	} rows[] = {
		{ "comms", filters->comms },
		{ "dsos", filters->dsos },
		{ "symbols", filters->symbols },
		{ "symbol-filter", filters->symbol_filter },
		{ "pid", filters->pids },
		{ "tid", filters->tids },
		{ "cpu", filters->cpus },
		{ "socket-filter", filters->sockets },
		{ "parallelism", filters->parallelism },
		{ "time", filters->time },
		{ "switch-on", filters->switch_on },
		{ "switch-off", filters->switch_off },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!rows[i].text || !*rows[i].text)
			continue;
		str_addf(line, "%s --%s ", line->len ? "," : "Only", rows[i].option);
		str_add_printable(line, rows[i].text, strlen(rows[i].text));
	}
	if (query->session.part != STACK_WHOLE)
		str_addf(line, "%s --%s-stacks", line->len ? "," : "Only", parts[query->session.part]);
}

static void add_lost(const struct replay_counts *counts, struct str *line)
{
	if (!counts->lost_samples && !counts->lost_events) {
		str_add(line, "Lost: nothing, according to the recording");
		return;
	}
	str_add(line, "Lost: ");
	str_add_grouped(line, counts->lost_samples ? counts->lost_samples : counts->lost_events);
	str_add(line, counts->lost_samples ? " samples" : " records");
}

void stack_caption_of(struct table *table, const char *what, struct note_list *lines)
{
	const struct note_list *const notes[] = { &table->notes, &table->session->notes };
	const struct info *info = table->session->recording->info;
	struct str line = STR_INIT;

	add_title(info, what, &line);
	add(lines, &line);
	for (size_t i = 0; i < table->n_hists; i++)
		if (!head_is_empty(&table->hists[i])) {
			add_event(table, &table->hists[i], &line);
			add(lines, &line);
		}
	if (lines->n == 1)
		note_add(lines, false, NULL, "The recording has no samples");
	add_machine(info, &line);
	if (line.len)
		add(lines, &line);
	add_filters(&table->question->query, &line);
	if (line.len)
		add(lines, &line);
	add_lost(&table->session->replay.counts, &line);
	add(lines, &line);
	session_add_notes(table->session);
	for (size_t l = 0; l < ARRAY_SIZE(notes); l++)
		for (size_t i = 0; i < notes[l]->n; i++)
			if (!notes[l]->v[i].verbose)
				note_add(lines, false, NULL, "%s", notes[l]->v[i].text);
	str_release(&line);
}

void stack_caption(struct table *table, struct note_list *lines)
{
	stack_caption_of(table, "Flame graph", lines);
}
