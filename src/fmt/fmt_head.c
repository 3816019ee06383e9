/* SPDX-License-Identifier: MIT */
/*
 * fmt_head.c: what all formats say of an event: its name or its group's, its members, its samples and periods.
 */
#include "fmt/fmt_internal.h"

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
		note_add(&table->notes, false, NULL, "%s: only those of %s, one of several events: %s", what, name.s,
			 why);
		break;
	}
	str_release(&name);
	return chosen;
}

static void print_tree(struct table *table, const struct hist *hist, size_t member,
		       const struct stack_tree_options *options,
		       void (*print)(struct stack_tree *tree, struct output *output), struct output *output)
{
	struct stack_tree *tree = stack_tree_new(table, hist, member, options);

	print(tree, output);
	stack_tree_free(tree);
}

static size_t count_members_with_samples(const struct table *table)
{
	size_t n = 0;

	for (size_t i = 0; i < table->n_hists; i++)
		n += head_is_empty(&table->hists[i]) ? 0 : table->hists[i].n_members;
	return n;
}

void head_print_stacks(struct table *table, const char *what, const struct stack_tree_options *options,
		       void (*print)(struct stack_tree *tree, struct output *output), struct output *output)
{
	const bool each = table->question->query.folded_events, several = count_members_with_samples(table) > 1;
	const struct hist *only = each ? NULL : head_only_hist(table, what, "a stack names none");

	if (only)
		print_tree(table, only, 0, options, print, output);
	for (size_t i = 0; each && i < table->n_hists; i++) {
		const struct hist *hist = &table->hists[i];

		for (size_t member = 0; member < hist->n_members && !head_is_empty(hist); member++) {
			if (several) {
				str_add(&output->text, "# event ");
				data_event_add_name(head_member(table, hist, member), &output->text);
				str_addc(&output->text, '\n');
			}
			print_tree(table, hist, member, options, print, output);
		}
	}
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
	const struct entry_stats totals = head_totals(hist, table->question->query.percentage_relative);
	const char *slices = table->question->query.filters.time;

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

const struct hist *head_begin_pair(struct table *before, size_t i, struct table *now, bool named, size_t *n,
				   struct output *output)
{
	struct str name = STR_INIT;
	const struct hist *hist_now;

	data_event_add_name(before->hists[i].event, &name);
	hist_now = table_hist_of(now, name.s);
	if (hist_now && named && !before->question->query.quiet) {
		str_add(&output->text, (*n)++ ? "\n# Event '" : "# Event '");
		str_add_printable(&output->text, name.s, name.len);
		str_add(&output->text, "'\n#\n");
	}
	str_release(&name);
	return hist_now;
}
