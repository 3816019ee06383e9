/*
 * The closing lines. Each loss is a number, also when it is 0: nobody should have to guess whether the
 * recording is whole.
 */
#include "cmd/record_summary.h"

#include <inttypes.h>

static void add_bytes(struct str *out, uint64_t bytes)
{
	str_addf(out, "%.3f MB", (double)bytes / (1024 * 1024));
}

static void add_plural(struct str *out, uint64_t n, const char *what)
{
	str_addf(out, "%" PRIu64 " %s%s", n, what, n == 1 ? "" : "s");
}

static void add_rate(struct str *out, const struct record_event_totals *event)
{
	if (event->asked_hz > 0 && event->running_ns)
		str_addf(out, ", %.0f of %.0f Hz", event->achieved_hz, event->asked_hz);
}

static void add_losses(struct str *out, uint64_t lost, uint64_t throttled)
{
	str_addf(out, ", %" PRIu64 " lost, %" PRIu64 " throttled", lost, throttled);
}

static size_t n_sampled(const struct record_totals *totals)
{
	size_t n = 0;

	for (size_t i = 0; i < totals->n_events; i++)
		n += !totals->events[i].tracking;
	return n;
}

static void add_events(struct str *out, const struct record_totals *totals)
{
	size_t n_silent = 0;

	for (size_t i = 0; i < totals->n_events; i++) {
		const struct record_event_totals *event = &totals->events[i];

		if (event->tracking)
			continue;
		if (!event->samples && !event->lost && !event->throttled) {
			n_silent++;
			continue;
		}
		str_add(out, "[   ");
		str_add_printable(out, event->name, strlen(event->name));
		str_add(out, ": ");
		add_plural(out, event->samples, "sample");
		add_rate(out, event);
		add_losses(out, event->lost, event->throttled);
		str_add(out, " ]\n");
	}
	if (n_silent) {
		str_add(out, "[   ");
		add_plural(out, n_silent, "event");
		str_add(out, " without samples ]\n");
	}
}

void record_progress_add(struct str *out, const struct record_totals *totals)
{
	str_addf(out, "\r[ pstat record: %" PRIu64 " s, ", totals->elapsed_ns / 1000000000);
	add_plural(out, totals->samples, "sample");
	str_add(out, ", ");
	add_bytes(out, totals->bytes);
	if (totals->lost)
		str_addf(out, ", %" PRIu64 " lost", totals->lost);
	str_add(out, " ]\033[K");
}

/* One in a hundred; single ones come with any program. */
static bool is_worth_a_word(uint64_t n, const struct chain_totals *chains)
{
	return n > chains->n / 100;
}

/* How the chains of all stacks that were unwound ended, and what to do about what ended early most often. */
static void add_chains(struct str *out, const struct record_totals *totals)
{
	const struct chain_totals *chains = &totals->chains;

	if (!chains->n)
		return;
	str_add(out, "  ");
	add_plural(out, chains->n, "stack");
	str_addf(out, " unwound: %" PRIu64 " complete, %" PRIu64 " cut, %" PRIu64 " broken", chains->complete,
		 chains->cut + chains->no_copy, chains->broken + chains->no_info);
	if (chains->no_info)
		str_addf(out, " (%" PRIu64 " for want of files or tables)", chains->no_info);
	if (chains->limit)
		str_addf(out, ", %" PRIu64 " with more frames than asked for", chains->limit);
	if (chains->guessed)
		str_addf(out, "; %" PRIu64 " by frame pointers in part", chains->guessed);
	str_addc(out, '\n');
	if (is_worth_a_word(chains->cut, chains) && chains->cut >= chains->no_info)
		str_add(out, "  larger copies (--call-graph dwarf,65528) cut fewer stacks\n");
	else if (is_worth_a_word(chains->no_info, chains))
		str_add(out, "  files that are out of reach need a user who may read them, code without tables needs "
			     "frame pointers\n");
}

void record_summary_add(struct str *out, const struct record_totals *totals)
{
	size_t n = n_sampled(totals);

	str_add(out, "[ pstat record: wrote ");
	add_bytes(out, totals->bytes);
	str_add(out, " to ");
	str_add_printable(out, totals->path, strlen(totals->path));
	if (totals->files > 1)
		str_addf(out, " and %u more", totals->files - 1);
	str_add(out, ": ");
	add_plural(out, totals->samples, "sample");
	for (size_t i = 0; n == 1 && i < totals->n_events; i++) {
		if (!totals->events[i].tracking)
			add_rate(out, &totals->events[i]);
	}
	add_losses(out, totals->lost, totals->throttled);
	if (totals->not_written)
		str_addf(out, ", %" PRIu64 " not written", totals->not_written);
	if (totals->cut)
		str_addf(out, ", %" PRIu64 " without their stack", totals->cut);
	str_add(out, " ]\n");
	if (n > 1)
		add_events(out, totals);
	add_chains(out, totals);
	if (totals->dropped || totals->cut)
		str_addf(out, "  %" PRIu64 " dropped, %" PRIu64 " cut: what takes the records was too slow; "
			 "--buffer-size bridges longer pauses\n", totals->dropped, totals->cut);
	if (totals->lost > totals->dropped)
		str_add(out, "  larger rings (-m 4M), a lower rate (-F) or shorter callchains lose less\n");
}
