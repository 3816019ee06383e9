/*
 * fmt_head.c: the comment lines of --stdio: about the recording, about each event, and the heads of the
 * columns. perf ends its report with a tip of the day; pstat does not.
 */
#include "fmt/fmt_internal.h"

/* perf's sentence, or one that fits a terminal where that does not. */
static void add_header_hint(const struct table *table, struct output *output)
{
	static const char hint[] = "# To display the perf.data header info, please use "
				   "--header/--header-only options.";
	bool long_one = !fmt_fits(table, output) || output->columns >= sizeof(hint) - 1;

	str_add(&output->text, long_one ? hint : "# --header shows what the recording says of itself.");
	str_add(&output->text, "\n#\n");
}

void head_add_start(struct table *table, struct output *output)
{
	struct str *out = &output->text;

	if (table->options.quiet)
		return;
	if (!table->options.header_shown)
		add_header_hint(table, output);
	str_add(out, table->elided.s);
	str_addf(out, "#\n# Total Lost Samples: %llu\n#\n",
		 (unsigned long long)table->session->replay.counts.lost_samples);
}

static const struct events *events_of(const struct table *table)
{
	return table->session->recording->events;
}

/* --group makes one of all events where the recording has no groups. */
static bool is_forced_group(const struct hist *hist)
{
	return hist->event->n_members != hist->n_members;
}

const struct data_event *head_member(const struct table *table, const struct hist *hist,
				     size_t member)
{
	const struct events *events = events_of(table);

	if (hist->n_members == 1)
		return hist->event;
	for (size_t i = 0; i < events->n; i++) {
		const struct data_event *event = events->v[i];

		if (!is_forced_group(hist) && event->leader != hist->event->index)
			continue;
		if (!member--)
			return event;
	}
	return hist->event;
}

void head_add_event_name(const struct table *table, const struct hist *hist, struct str *out)
{
	const char *name = hist->event->group_name;
	bool is_group = hist->n_members > 1 && !is_forced_group(hist);

	if (is_group) {
		if (name)
			str_add_printable(out, name, strlen(name));
		else
			str_add(out, "anon group");
		str_add(out, " { ");
	}
	for (size_t i = 0; i < hist->n_members; i++) {
		if (i)
			str_add(out, ", ");
		data_event_add_name(head_member(table, hist, i), out);
	}
	if (is_group)
		str_add(out, " }");
}

struct entry_stats head_totals(const struct hist *hist, bool shown)
{
	struct entry_stats sum = shown ? hist->shown : hist->totals;
	const struct entry_stats *members = shown ? hist->member_shown : hist->member_totals;

	for (size_t i = 1; members && i < hist->n_members; i++) {
		sum.n_samples += members[i].n_samples;
		sum.period += members[i].period;
	}
	return sum;
}

bool head_is_empty(const struct hist *hist)
{
	return !head_totals(hist, false).n_samples;
}

const struct hist *head_only_hist(struct table *table, const char *what, const char *why)
{
	const struct hist *chosen = NULL;
	struct str name = STR_INIT;

	for (size_t i = 0; i < table->n_hists; i++) {
		const struct hist *hist = &table->hists[i];

		if (head_is_empty(hist))
			continue;
		if (!chosen && hist->n_members == 1) {
			chosen = hist;
			continue;
		}
		chosen = chosen ? chosen : hist;
		data_event_add_name(chosen->event, &name);
		note_add(table->notes, false, NULL, "%s: only those of %s, one of several events: %s", what, name.s,
			 why);
		break;
	}
	str_release(&name);
	return chosen;
}

/* "59K", "51 ": cut down, not rounded, as perf has it. */
static void add_short_count(struct str *out, uint64_t value)
{
	static const char units[] = " KMG";
	size_t unit = 0;

	while (value > 1000 && units[unit + 1]) {
		value /= 1000;
		unit++;
	}
	str_addf(out, "%llu%c", (unsigned long long)value, units[unit]);
}

void head_add_samples(const struct table *table, const struct hist *hist, struct str *out)
{
	const struct entry_stats totals = head_totals(hist, table->options.percentage_relative);
	const char *slices = table->options.filters.time;

	str_add(out, "Samples: ");
	add_short_count(out, totals.n_samples);
	/* perf says so of a group's leader also where it stands alone (--no-group). */
	str_addf(out, " of event%s '", hist->n_members > 1 || hist->event->n_members > 1 ? "s" : "");
	head_add_event_name(table, hist, out);
	str_addc(out, '\'');
	if (slices) {
		str_add(out, " (time slices: ");
		str_add_printable(out, slices, strlen(slices));
		str_addc(out, ')');
	}
}

static void add_event(struct table *table, const struct hist *hist, struct str *out)
{
	const struct entry_stats totals = head_totals(hist, table->options.percentage_relative);

	str_add(out, "# ");
	head_add_samples(table, hist, out);
	if (table->options.mem_mode)
		str_addf(out, "\n# Total weight : %llu\n# Sort order   : %s\n",
			 (unsigned long long)totals.period, table->sort_text.s);
	else
		str_addf(out, "\n# Event count (approx.): %llu\n",
			 (unsigned long long)totals.period);
	if (table->options.filters.sockets && *table->options.filters.sockets)
		str_addf(out, "# Processor Socket: %s\n", table->options.filters.sockets);
	str_add(out, "#\n");
}

static void add_column_heads(struct table *table, const struct hist *hist, struct output *output)
{
	const char *between = fmt_between(table);
	struct str *out = &output->text;
	size_t start;

	str_add(out, "# ");
	for (size_t i = 0; i < table->n_columns; i++) {
		str_add(out, i ? between : "");
		fmt_add_head(table, hist, &table->columns[i], out);
	}
	str_addc(out, '\n');
	if (table->options.separator)
		return;
	start = out->len;
	str_add(out, "# ");
	for (size_t i = 0; i < table->n_columns; i++) {
		str_add(out, i ? between : "");
		str_pad(out, '.', fmt_width(table, hist, &table->columns[i]));
	}
	fmt_fit_line(table, output, start);
	str_add(out, "\n#\n");
}

void head_add(struct table *table, const struct hist *hist, struct output *output)
{
	if (table->options.quiet)
		return;
	add_event(table, hist, &output->text);
	if (table->options.view == VIEW_HIERARCHY)
		hierarchy_add_head(table, hist, output);
	else
		add_column_heads(table, hist, output);
}
