/* SPDX-License-Identifier: MIT */
/*
 * sample_order: an event's samples one after the other. What samples were of is a cell, as in the profile itself; the
 * rest is two records of a spill, so that memory grows with what is distinct:
 *
 *	begin of the time that it stands for, number of its cell | end, 1: it reaches back to the sample before it
 */
#include "profile/session_internal.h"

#include <stdlib.h>

struct sample_order *sample_order_new(void)
{
	struct sample_order *order = xcalloc(1, sizeof(*order));

	cells_init(&order->cells, SAMPLE_ORDER_FACTS);
	return order;
}

void sample_order_free(struct sample_order *order)
{
	if (!order)
		return;
	cells_release(&order->cells);
	spill_row_release(&order->row);
	free(order);
}

/*
 * The time before its end that a sample stands for: what its period says, of clocks and waits, or what was asked of the
 * kernel. False: nobody says.
 */
static bool known_length(const struct sample_share *share, uint64_t *ns)
{
	const struct data_event *event = share->event;

	if (event_is_cpu_time(event) || event_is_wall_clock(event) || event_has_waits(event))
		*ns = share->period;
	else if (event->attr.freq && event->attr.sample_freq && !event_has_wakers(event))
		*ns = NS_PER_S / event->attr.sample_freq;
	else
		return false;
	return true;
}

int sample_order_add(struct sample_order *order, struct sample_spill *spill, const uint64_t *facts,
		     const struct replay_sample *sample, const struct sample_share *share, struct str *err)
{
	static const struct cell_values none;
	const uint64_t end_ns = sample->sample->time_ns;
	uint64_t ns = 0;
	const bool known = known_length(share, &ns);
	struct spill_record record = { .time = end_ns - (ns < end_ns ? ns : end_ns) };
	int code;

	if (!(sample->sample->has & PERF_SAMPLE_TIME))
		return 0;
	record.word = cells_add(&order->cells, facts, &none);
	code = spill_add(spill, &order->row, &record, err);
	if (code)
		return code;
	record.time = end_ns;
	record.word = !known;
	return spill_add(spill, &order->row, &record, err);
}

int sample_order_next(struct spill_reader *reader, struct ordered_sample *sample, struct str *err)
{
	struct spill_record record;
	int code = spill_next(reader, &record, err);

	if (code <= 0)
		return code;
	sample->cell = (uint32_t)record.word;
	sample->begin_ns = record.time;
	code = spill_next(reader, &record, err);
	sample->end_ns = record.time;
	sample->reaches_back = record.word;
	return code;
}
