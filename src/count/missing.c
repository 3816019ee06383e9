/* SPDX-License-Identifier: MIT */
/*
 * Why a value is missing, or less than the truth: from what is known of its cells, and, where they
 * were open and never ran, from the machine.
 */
#include "count/aggregation.h"

/* A counter that saw less than a hundredth of the CPU time has no count of the program: it is not shown as one. */
enum { NEXT_TO_NOTHING = 100 };

static bool was_removed_early(const struct count_sum *sum)
{
	return sum->cells_removed && sum->enabled_ns < sum->missed_ns / NEXT_TO_NOTHING;
}

enum count_state count_state(const struct aggr_value *value, const struct count_sum *sum)
{
	if (sum->running_ns && !was_removed_early(sum))
		return COUNT_OK;
	if (value->is_open || sum->cells || !value->n_unsupported)
		return COUNT_NOT_COUNTED;
	return COUNT_NOT_SUPPORTED;
}

static const char *unsupported_reason(const struct aggregation *agg, size_t row)
{
	for (size_t i = 0; i < agg->events->n; i++)
		if (agg->row_of[i] == row && agg->counted[i].state == COUNTER_NOT_SUPPORTED &&
		    agg->counted[i].reason)
			return agg->counted[i].reason;
	return "";
}

/* The machine may have to open counters to find out. */
static const char *ask_machine(struct aggregation *agg, size_t row, const struct count_sum *sum)
{
	const struct cell_layout *layout = agg->layout;
	struct never_ran_answer *answer = &layout->never_ran[row];
	struct reading idle = {
		.enabled_ns = sum->enabled_ns + sum->elsewhere_ns,
		.state = sum->cells_lost_pin ? READING_LOST_PIN : READING_OK,
	};
	bool enabled = idle.enabled_ns;

	if (answer->asked[enabled] || !layout->backend->never_ran_reason)
		return answer->text[enabled];
	answer->asked[enabled] = true;
	for (size_t i = 0; i < agg->events->n && !answer->text[enabled]; i++)
		if (agg->row_of[i] == row && agg->counted[i].state == COUNTER_OPEN)
			answer->text[enabled] = layout->backend->never_ran_reason(layout->data, i, &idle);
	return answer->text[enabled];
}

static const char *never_ran_reason(struct aggregation *agg, size_t row, const struct count_sum *sum)
{
	const struct counted_event *first = &agg->counted[agg->rows[row].first];
	const char *asked;

	if (first->state == COUNTER_LEFT_OUT)
		return "its pass was not run";
	if (first->event->fact_unknown)
		return "this machine does not say";
	if (first->event->kind != EVENT_KERNEL)
		return "known once a command has ended";
	if (!sum->cells)
		return agg->layout->backend->unread;
	if (sum->cells_failed && agg->rows[row].read_err)
		return strerror(agg->rows[row].read_err);
	if (sum->cells_stopped)
		return "the CPU went offline";
	asked = ask_machine(agg, row, sum);
	if (asked)
		return asked;
	if (sum->enabled_ns)
		return "it never got a counter";
	if (sum->elsewhere_ns)
		return "the task never ran on its type of core";
	return event_never_enabled(first->event, first->cpus->n);
}

enum { N_OF_CELLS = 5 };

/* "1 of 4 counters never ran, 1 could not be opened" */
static void partial_reason(const struct count_sum *sum, unsigned n_unsupported, struct str *text)
{
	const struct {
		unsigned n;
		const char *what;
	} parts[] = {
		{ sum->cells_never_ran, "never ran" },
		{ sum->cells_lost_pin, "lost the pin" },
		{ sum->cells_stopped, "stopped when the CPU went offline" },
		{ sum->cells_failed, "could not be read" },
		{ n_unsupported, "could not be opened" },
		{ sum->cells_left_tasks, "without the children and new threads that ran: -a counts them" },
		{ sum->cells_unseen, "not scaled: nothing is counted on the other cores" },
		{ sum->cells_gaps, "not scaled: no counter saw all of its core's time" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (!parts[i].n)
			continue;
		if (text->len)
			str_addf(text, ", %u %s", parts[i].n, parts[i].what);
		else if (sum->cells + n_unsupported > 1 || i < N_OF_CELLS)
			str_addf(text, "%u of %u counters %s", parts[i].n, sum->cells + n_unsupported,
				 parts[i].what);
		else
			str_add(text, parts[i].what);
	}
}

/* "0.01 of 90.12 ms of CPU time counted: the kernel ..." */
static void removed_reason(const struct aggregation *agg, const struct count_sum *sum, struct str *text)
{
	const struct count_backend *backend = agg->layout->backend;
	const char *why = backend->removed_reason ? backend->removed_reason(agg->layout->data) : NULL;
	double counted_ms = (double)(sum->enabled_ns + sum->elsewhere_ns) / 1e6;

	str_addf(text, "%s%.2f of %.2f ms of CPU time counted", text->len ? ", " : "", counted_ms,
		 counted_ms + (double)sum->missed_ns / 1e6);
	if (why)
		str_addf(text, ": %s", why);
}

bool aggregation_reason(struct aggregation *agg, size_t row, const struct aggr_value *value,
			const struct count_sum *sum, struct str *text)
{
	str_reset(text);
	switch (count_state(value, sum)) {
	case COUNT_OK:
		partial_reason(sum, value->n_unsupported, text);
		if (sum->cells_removed)
			removed_reason(agg, sum, text);
		break;
	case COUNT_NOT_COUNTED:
		if (sum->cells_removed)
			removed_reason(agg, sum, text);
		else
			str_add(text, never_ran_reason(agg, row, sum));
		break;
	case COUNT_NOT_SUPPORTED:
		str_add(text, unsupported_reason(agg, row));
		break;
	}
	if (text->len || !sum->cells_unverified)
		return text->len;
	str_add(text, "no other event measures how long it ran");
	return false;
}
