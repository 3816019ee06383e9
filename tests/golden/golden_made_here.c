/* SPDX-License-Identifier: MIT */
/*
 * golden_made_here: recordings of which none is kept. One is of the machine that it is made on: every tracepoint of
 * its kernel, with samples whose bytes are made; what pstat and perf make of them is compared
 * (tests/cli/tracepoints_vs_perf.sh). One is too large: samples none of whose addresses was there before
 * (tests/cli/script_memory.sh).
 */
#include "golden/golden.h"

#include "unit/trace_fixture.h"

enum { ROUNDS = 3 /* of each kind of numbers */ };

static void every_tracepoint(struct golden *g)
{
	struct perf_event_attr attr = golden_attr(PERF_SAMPLE_RAW);
	struct arena arena = ARENA_INIT;
	struct kernel_formats formats;
	const char *why = kernel_formats_read(&formats), **texts;
	struct trace_format format;
	struct str raw = STR_INIT;
	uint64_t seed = 42;

	if (why)
		golden_stop(g->path, why);
	texts = xcalloc(formats.n, sizeof(*texts));
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.sample_period = 1;
	for (size_t i = 0; i < formats.n; i++) {
		uint16_t id;

		texts[i] = formats.v[i].s;
		if (!trace_format_id(formats.v[i].s, formats.v[i].len, &id))
			golden_stop(formats.names[i], "its format has no ID");
		attr.config = id;
		golden_event(g, &attr, formats.names[i]);
	}
	golden_tracing_data(&g->info, "golden", texts, formats.n);
	golden_start_app(g);
	for (size_t i = 0; i < formats.n; i++) {
		if (!trace_format_parse(&arena, formats.v[i].s, formats.v[i].len, sizeof(long), &format))
			golden_stop(formats.names[i], "its format is not understood");
		for (unsigned kind = 0; kind < ROUNDS * NUMBERS_KINDS; kind++) {
			sample_make(&format, (uint16_t)g->events.v[i]->attr.config, &seed, kind / ROUNDS, &raw);
			str_pad(&raw, '\0', (4 - raw.len % 8 + 8) % 8); /* with its length it is 8-byte aligned */
			golden_add_raw(g, i, raw.s, raw.len);
		}
		arena_reset(&arena);
	}
	str_release(&raw);
	free(texts);
	arena_release(&arena);
	kernel_formats_release(&formats);
}

enum { ADDRESS_SAMPLES = 60000, ADDRESS_FRAMES = 100, ADDRESS_STEP = 4, ROUND_SAMPLES = 1000 };
#define ADDRESS_BASE 0x100000000ULL

static void many_addresses(struct golden *g)
{
	uint64_t ip = ADDRESS_BASE, ips[ADDRESS_FRAMES];

	golden_one_event(g, PERF_SAMPLE_CALLCHAIN);
	golden_start_app(g);
	golden_map(g, PID, ADDRESS_BASE, (uint64_t)ADDRESS_SAMPLES * ADDRESS_FRAMES * ADDRESS_STEP, 0,
		   STRANGE_PATH);
	for (unsigned i = 1; i <= ADDRESS_SAMPLES; i++) {
		for (unsigned k = 0; k < ADDRESS_FRAMES; k++, ip += ADDRESS_STEP)
			ips[k] = ip;
		golden_add_chain(g, 1000, ips, ADDRESS_FRAMES);
		if (i % ROUND_SAMPLES == 0)
			golden_round(g);
	}
}

const struct golden_recording golden_made_here[] = {
	{ "many_addresses.data", many_addresses, NULL },
	{ "every_tracepoint.data", every_tracepoint, NULL },
	{ NULL, NULL, NULL },
};
