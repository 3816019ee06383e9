/* SPDX-License-Identifier: MIT */
/*
 * Wall-clock time: how many threads ran when a sample was taken, as SWITCH and EXIT records tell, and what parts of
 * the time rows have by it. The shares are known, for the records are made here.
 */
#include "ask_fixture.h"
#include "session_fixture.h"

enum { ALONE = 42, SECOND = 43, THIRD = 44 }; /* threads of process 42 */

struct made_latency {
	struct made_recording recording;
	struct reader reader;
	struct profile *profile;
	struct str err;
	uint64_t now_ns;
};

static void begin(struct made_latency *m, bool switches)
{
	memset(m, 0, sizeof(*m));
	str_init(&m->err);
	session_recording(&m->recording, 0, 0);
	m->recording.events.v[0]->attr.context_switch = switches;
	recording_comm(&m->recording, ++m->now_ns, ALONE, ALONE, true, "alone");
}

/* A thread with a CPU, or without it any more. */
static void switched(struct made_latency *m, int tid, bool in)
{
	struct record_body body = recording_body(RECORD_SWITCH, ALONE, tid, ++m->now_ns);

	body.misc = in ? 0 : MISC_SWITCH_OUT;
	recording_add(&m->recording, &body);
}

static void started(struct made_latency *m, int tid, const char *comm)
{
	recording_fork(&m->recording, ++m->now_ns, ALONE, tid, ALONE, ALONE);
	recording_comm(&m->recording, ++m->now_ns, ALONE, tid, false, comm);
	switched(m, tid, true);
}

static void sampled(struct made_latency *m, int tid, uint64_t period)
{
	struct record_body body = fix_sample(101, ++m->now_ns);

	body.sample.tid = (uint32_t)tid;
	body.sample.period = period;
	body.sample.cpu = tid == ALONE ? 0 : 1;
	recording_add(&m->recording, &body);
}

static void end(struct made_latency *m)
{
	profile_free(m->profile);
	reader_close(&m->reader);
	str_release(&m->err);
	recording_release(&m->recording);
}

static void open_recording(struct made_latency *m)
{
	struct str bytes;

	recording_bytes(&m->recording, false, &bytes);
	if (reader_open_fd(&m->reader, fix_memory_file(bytes.s, bytes.len), "recording", &m->err))
		fail_msg("%s", m->err.s);
	str_release(&bytes);
}

static void add_cell(struct table *table, const struct entry *entry, const struct column *column, struct str *out)
{
	if (column->kind == COLUMN_NUMBER)
		str_addf(out, "%.2f ", entry_percent(table, &table->hists[0], entry, column->field, 0));
	else
		column->key->text(table, entry->values[column->key_index], out);
	if (column->kind == COLUMN_KEY)
		str_addc(out, ' ');
}

/* Heads of columns, then rows: "Overhead Latency Command: 50.00 66.67 alone; ". */
static void add_table(struct table *table, struct str *out)
{
	const struct hist *hist = &table->hists[0];

	for (size_t i = 0; i < table->n_columns; i++)
		str_addf(out, "%s%s", i ? " " : "",
			 table->columns[i].field ? table->columns[i].field->header : table->columns[i].key->header);
	str_add(out, ": ");
	for (size_t i = 0; i < hist->n; i++) {
		for (size_t c = 0; c < table->n_columns; c++)
			add_cell(table, hist->entries[i], &table->columns[c], out);
		out->s[out->len - 1] = ';';
		str_addc(out, ' ');
	}
}

static struct query query_of(const char *sort)
{
	return (struct query){ .sort = sort, .no_chains = true };
}

/* The recording, read for this query, has these rows. */
static void answers(struct made_latency *m, const struct query *query, const char *expected)
{
	struct str shown = STR_INIT;
	struct asked asked;

	open_recording(m);
	if (asked_alone(&asked, query, &m->reader, &m->err))
		fail_msg("%s", m->err.s);
	add_table(asked.table, &shown);
	assert_string_equal(shown.s, expected);
	asked_release(&asked);
	reader_close(&m->reader);
	memset(&m->reader, 0, sizeof(m->reader));
	str_release(&shown);
}

/* Alone for 2,000; then two threads beside each other, 1,000 each: of 3,000 of wall-clock time 2,000 and 1,000. */
static void one_then_two(struct made_latency *m)
{
	begin(m, true);
	sampled(m, ALONE, 1000);
	sampled(m, ALONE, 1000);
	started(m, SECOND, "second");
	sampled(m, ALONE, 1000);
	sampled(m, SECOND, 1000);
}

static void shares_are_known(void **state)
{
	struct made_latency m;
	struct query query = query_of("comm");

	(void)state;
	one_then_two(&m);
	answers(&m, &query, "Overhead Latency Command: 75.00 83.33 alone; 25.00 16.67 second; ");
	query.sort = "parallelism";
	answers(&m, &query, "Overhead Latency Parallelism: 50.00 66.67 1; 50.00 33.33 2; ");
	query.sort = "latency,parallelism,comm";
	answers(&m, &query, "Latency Parallelism Command: 66.67 1 alone; 16.67 2 alone; 16.67 2 second; ");
	query.sort = "comm,latency";
	answers(&m, &query, "Latency Command: 83.33 alone; 16.67 second; ");
	query.sort = "overhead,comm";
	answers(&m, &query, "Overhead Command: 75.00 alone; 25.00 second; ");
	query.fields = "latency,comm";
	query.sort = NULL;
	answers(&m, &query, "Latency Command: 83.33 alone; 16.67 second; ");
	end(&m);
}

/* Much CPU time of few seconds goes behind little of many. */
static void latency_orders(void **state)
{
	struct made_latency m;
	struct query query = query_of("comm");

	(void)state;
	begin(&m, true);
	sampled(&m, ALONE, 3000);
	started(&m, SECOND, "second");
	sampled(&m, SECOND, 4000);
	answers(&m, &query, "Overhead Latency Command: 57.14 40.00 second; 42.86 60.00 alone; ");
	query.latency = true;
	answers(&m, &query, "Latency Overhead Command: 60.00 42.86 alone; 40.00 57.14 second; ");
	query.latency = false;
	query.latency_off = true;
	answers(&m, &query, "Overhead Command: 57.14 second; 42.86 alone; ");
	end(&m);
}

/* A thread that ends leaves its CPU without a SWITCH; more that leave than came leave the sampled one. */
static void ends_and_excess(void **state)
{
	struct made_latency m;
	struct query query = query_of("parallelism");

	(void)state;
	begin(&m, true);
	m.recording.info.cpus_available = 3;
	info_set(&m.recording.info, FEATURE_NRCPUS);
	started(&m, SECOND, "second");
	started(&m, THIRD, "third");
	sampled(&m, ALONE, 3000);
	recording_exit(&m.recording, ++m.now_ns, ALONE, THIRD);
	sampled(&m, ALONE, 2000);
	for (int i = 0; i < 5; i++)
		switched(&m, SECOND, false);
	sampled(&m, ALONE, 1000);
	answers(&m, &query, "Overhead Latency Parallelism: 50.00 33.33 3; 33.33 33.33 2; 16.67 33.33 1; ");
	/* The machine has no more than three CPUs. */
	for (int i = 0; i < 20; i++)
		switched(&m, SECOND, true);
	sampled(&m, ALONE, 3000);
	answers(&m, &query, "Overhead Latency Parallelism: 66.67 50.00 3; 22.22 25.00 2; 11.11 25.00 1; ");
	end(&m);
}

static void filters_by_parallelism(void **state)
{
	struct made_latency m;
	struct query query = query_of("comm");
	struct asked asked;

	(void)state;
	one_then_two(&m);
	query.filters.parallelism = "2";
	answers(&m, &query, "Overhead Latency Command: 25.00 16.67 alone; 25.00 16.67 second; ");
	query.percentage_relative = true;
	answers(&m, &query, "Overhead Latency Command: 50.00 50.00 alone; 50.00 50.00 second; ");
	query.filters.parallelism = "1-8";
	answers(&m, &query, "Overhead Latency Command: 75.00 83.33 alone; 25.00 16.67 second; ");
	query.filters.parallelism = "0-2";
	open_recording(&m);
	assert_int_equal(asked_open(&asked, &query, &m.reader, &m.err), -EINVAL);
	assert_string_equal(m.err.s, "--parallelism: '0-2': at least one thread runs when a sample is taken");
	asked_release(&asked);
	end(&m);
}

/* Of a profile that others ask, cells tell it: the same rows, and what is of one CPU alone. */
static void cells_tell_it(void **state)
{
	static const struct query all = { .sort = "comm,parallelism", .no_chains = true };
	struct made_latency m;
	struct query query = query_of("comm");
	struct profile_options options;
	struct question *question;
	struct str shown = STR_INIT;
	struct asked asked;

	(void)state;
	one_then_two(&m);
	open_recording(&m);
	assert_int_equal(question_make(&question, &all, &m.reader.recording, &m.err), 0);
	options = question_profile(question, PROFILE_FOR_OTHERS);
	assert_int_equal(profile_new(&m.profile, &options, &m.reader, &m.err), 0);
	assert_int_equal(profile_read(m.profile, NULL, NULL, &m.err), 0);
	query.filters.parallelism = "2";
	assert_int_equal(asked_of(&asked, m.profile, &query, NULL, &m.err), 0);
	add_table(asked.table, &shown);
	assert_string_equal(shown.s, "Overhead Latency Command: 25.00 16.67 alone; 25.00 16.67 second; ");
	asked_release(&asked);
	/* The second thread's CPU had nothing but what ran beside another thread. */
	query.filters = (struct filter_options){ .cpus = "1" };
	str_reset(&shown);
	assert_int_equal(asked_of(&asked, m.profile, &query, NULL, &m.err), 0);
	add_table(asked.table, &shown);
	assert_string_equal(shown.s, "Overhead Latency Command: 100.00 100.00 second; ");
	asked_release(&asked);
	str_release(&shown);
	question_free(question);
	end(&m);
}

/* n samples alone and one beside another thread, with nearly all of the time. */
static void nearly_alone(struct made_latency *m, int n)
{
	begin(m, true);
	for (int i = 0; i < n; i++)
		sampled(m, ALONE, 1);
	started(m, SECOND, "able");
	sampled(m, SECOND, 99);
}

static void shown_where_it_tells_more(void **state)
{
	struct made_latency m;
	struct query query = query_of("comm");

	(void)state;
	nearly_alone(&m, 98);
	answers(&m, &query, "Overhead Latency Command: 50.25 33.56 able; 49.75 66.44 alone; ");
	end(&m);
	/* 99 samples of 100 are of a thread alone. Two equal rows are then in the order of their keys. */
	nearly_alone(&m, 99);
	answers(&m, &query, "Overhead Command: 50.00 able; 50.00 alone; ");
	query.filters.parallelism = "2";
	answers(&m, &query, "Overhead Command: 50.00 able; ");
	query.filters.parallelism = NULL;
	query.latency = true;
	answers(&m, &query, "Latency Overhead Command: 66.67 50.00 alone; 33.33 50.00 able; ");
	query.latency = false;
	query.sort = "latency,comm";
	answers(&m, &query, "Latency Command: 66.67 alone; 33.33 able; ");
	end(&m);
}

static void refused(struct made_latency *m, const struct query *query, const char *what)
{
	char *expected = xasprintf("%s: the recording does not have the number of threads that ran at once; record it "
				   "with --latency", what);
	struct asked asked;

	open_recording(m);
	str_reset(&m->err);
	assert_int_equal(asked_open(&asked, query, &m->reader, &m->err), -EINVAL);
	assert_string_equal(m->err.s, expected);
	asked_release(&asked);
	reader_close(&m->reader);
	memset(&m->reader, 0, sizeof(m->reader));
	free(expected);
}

static void refused_without_switches(void **state)
{
	struct made_latency m;
	struct query query = query_of("comm");

	(void)state;
	begin(&m, false);
	sampled(&m, ALONE, 1000);
	answers(&m, &query, "Overhead Command: 100.00 alone; ");
	query.latency = true;
	refused(&m, &query, "--latency");
	query = query_of("parallelism");
	refused(&m, &query, "key parallelism");
	query = query_of("comm,latency_children");
	refused(&m, &query, "key latency");
	query = query_of("comm");
	query.filters.parallelism = "1";
	refused(&m, &query, "--parallelism");
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_known),	      cmocka_unit_test(latency_orders),
		cmocka_unit_test(ends_and_excess),	      cmocka_unit_test(filters_by_parallelism),
		cmocka_unit_test(cells_tell_it),	      cmocka_unit_test(shown_where_it_tells_more),
		cmocka_unit_test(refused_without_switches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
