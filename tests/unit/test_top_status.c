/* SPDX-License-Identifier: MIT */
/*
 * The line above top's tables: what is lost in the kernel, what for want of room or time, and what each event is.
 */
#include "replay_fixture.h"

#include "cmd/top_status.h"
#include "record/live_source.h"

enum { LEAST_BYTES = 512 << 10, SAMPLES = 20000 };

static void losses_of_all_kinds(void **state)
{
	const struct live_options options = { .bytes_max = LEAST_BYTES, .samples_left_out = true };
	struct made_recording made;
	struct session session = { .replay.counts = { .lost_events = 3, .lost_samples = 5, .throttles = 7 } };
	struct top_status status = { .session = &session };
	struct str err = STR_INIT, text = STR_INIT, expected = STR_INIT;
	struct live_source *live;
	struct record_sink *sink;

	(void)state;
	recording_init(&made);
	fix_info(&made.info);
	for (unsigned i = 0; i < SAMPLES; i++)
		recording_sample(&made, 10 + i, PID, PID, 0x10000);
	live = live_source_new(&options, &made.events, &made.info, &err);
	assert_non_null(live);
	status.live = live;
	top_status_add_losses(&status, &text);
	assert_string_equal(text.s, "lost 3, missed 5, throttled 7");
	/* Nobody reads them. */
	sink = live_source_sink(live);
	assert_int_equal(sink->take(sink, made.records.s, made.records.len, &err), 0);
	assert_true(live_source_left_out(live) > 0);
	str_reset(&text);
	top_status_add_losses(&status, &text);
	str_addf(&expected, "lost 3, missed %llu, throttled 7", 5 + (unsigned long long)live_source_left_out(live));
	assert_string_equal(text.s, expected.s);
	live_source_free(live);
	recording_release(&made);
	str_release(&expected);
	str_release(&text);
	str_release(&err);
}

/* What must be seen on any terminal comes first: behind the keys and a word, with numbers that have grown. */
static void what_is_seen_on_80_columns(void **state)
{
	static const char before[] = "? help  q quit  top: stopped (f), ";
	static const char first[] = "lost 1234567, missed 1234567, own CPU 123.4%, ";
	const struct live_options options = { .bytes_max = LEAST_BYTES, .samples_left_out = true };
	struct record_plan plan = { .target.all_cpus = true };
	struct made_recording made;
	struct recording_info recording = { .events = &made.events };
	struct session session = { .recording = &recording,
				   .replay.counts = { .lost_events = 1234567, .lost_samples = 1234567 } };
	struct top_status status = { .session = &session, .plan = &plan, .own_pct = 123.4, .samples_per_s = 9999 };
	struct str err = STR_INIT, text = STR_INIT;
	struct live_source *live;

	(void)state;
	recording_init(&made);
	fix_info(&made.info);
	live = live_source_new(&options, &made.events, &made.info, &err);
	assert_non_null(live);
	status.live = live;
	top_status_add(&status, &text);
	assert_true(!strncmp(text.s, first, strlen(first)));
	assert_true(strlen(before) + strlen(first) <= 80);
	assert_non_null(strstr(text.s, ", 9999 samples/s, throttled 0, "));
	assert_non_null(strstr(text.s, ", all CPUs"));
	live_source_free(live);
	recording_release(&made);
	str_release(&text);
	str_release(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(losses_of_all_kinds),
		cmocka_unit_test(what_is_seen_on_80_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
