/* SPDX-License-Identifier: MIT */
/*
 * The exporter's sums and what it writes, on a kernel and a machine that the tests play.
 */
#include "fake_sys.h"
#include "fake_machine.h"
#include "exporter/exporter_internal.h"

#include <fcntl.h>

enum { CPUS = 4, TURNS = 24, COUNTERS = 4, READS = 10000 };

static struct fake_machine machine;
static struct kern kern;
static struct note_list notes;

static int begin(void **state)
{
	(void)state;
	fake_reset();
	fake_machine_init(&machine);
	if (!fake_machine_load(&machine, "plain"))
		return -1;
	kern = (struct kern){ &fake_ops, machine.host };
	return 0;
}

static int end(void **state)
{
	(void)state;
	note_list_release(&notes);
	fake_machine_release(&machine);
	return 0;
}

/* ---- the kernel: what each descriptor has counted ---- */

static struct {
	uint64_t value, enabled_ns, running_ns;
} counted[FAKE_CALLS];

/* Value and both times, as a lone counter is read. */
static ssize_t read_counted(int fd, uint64_t *words, size_t bytes)
{
	size_t at = (size_t)(fd - FAKE_FD);

	assert_true(bytes >= 3 * sizeof(*words));
	words[0] = counted[at].value;
	words[1] = counted[at].enabled_ns;
	words[2] = counted[at].running_ns;
	return 3 * sizeof(*words);
}

/* All that is open runs: so many events, each second one a second. */
static void run_all(uint64_t events)
{
	for (size_t i = 0; i < fake.n; i++) {
		if (!fake.open[i])
			continue;
		counted[i].value += events;
		counted[i].enabled_ns += NS_PER_S;
		counted[i].running_ns += NS_PER_S;
	}
}

static const struct event_list *parse(const char *events)
{
	static struct event_list list;
	struct str err = STR_INIT;

	event_list_release(&list);
	assert_int_equal(event_list_parse(&list, events, &machine.host, &err), 0);
	str_release(&err);
	return &list;
}

static struct exporter_plan plan_of(const char *events, enum aggr_mode aggr)
{
	memset(counted, 0, sizeof(counted));
	fake.read = read_counted;
	return (struct exporter_plan){
		.kern = &kern, .events = parse(events), .aggr = aggr, .max_series = 10000, .notes = &notes,
	};
}

static struct exporter *open_exporter(const struct exporter_plan *plan)
{
	struct exporter *exporter;
	struct str err = STR_INIT;
	int rc = exporter_open(&exporter, plan, &err);

	if (rc)
		fail_msg("%s", err.s);
	str_release(&err);
	return exporter;
}

static void refused(const struct exporter_plan *plan, int code, const char *words)
{
	struct exporter *exporter;
	struct str err = STR_INIT;

	assert_int_equal(exporter_open(&exporter, plan, &err), code);
	assert_null(exporter);
	if (!strstr(err.s, words))
		fail_msg("no '%s' in: %s", words, err.s);
	assert_int_equal(fake.n_open, 0);
	str_release(&err);
}

/* The lines of a metric, without those that begin with #. */
static void lines_of(const struct exporter *exporter, const char *metric, struct str *lines)
{
	struct str text = STR_INIT;
	char *rest, *line;

	str_reset(lines);
	exporter_write(exporter, EXPOSITION_TEXT, &text);
	for (rest = text.s; (line = strsep(&rest, "\n"));)
		if (!strncmp(line, metric, strlen(metric)) && strchr("{ ", line[strlen(metric)]) && *line)
			str_addf(lines, "%s\n", line);
	str_release(&text);
}

static void has_lines(const struct exporter *exporter, const char *metric, const char *wanted)
{
	struct str lines = STR_INIT;

	lines_of(exporter, metric, &lines);
	assert_string_equal(lines.s, wanted);
	str_release(&lines);
}

/* ---- sums ---- */

static uint64_t random_state = 88172645463325252u;

static uint64_t any_number(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

/*
 * A second in which four of the 24 events, any four, run for some part of it, and others not at all. Each counts two or
 * three events a microsecond; the sum of that is its truth.
 */
static void let_take_turns(uint64_t *truth)
{
	for (size_t i = 0; i < TURNS; i++) {
		uint64_t rate = 2000 + any_number(1000); /* per millisecond */
		bool runs = any_number(TURNS) < COUNTERS;
		uint64_t running_ms = runs ? 1 + any_number(1000) : 0;

		truth[i] += rate * 1000;
		counted[i].value += rate * running_ms;
		counted[i].enabled_ns += NS_PER_S;
		counted[i].running_ns += running_ms * NS_PER_MS;
	}
}

static uint64_t falls(uint64_t now, uint64_t *before)
{
	bool fell = now < *before;

	*before = now;
	return fell;
}

static void test_sums_never_fall(void **state)
{
	uint64_t truth[TURNS] = { 0 }, sums[TURNS] = { 0 }, wholes[TURNS] = { 0 }, n_fell = 0, n_whole_fell = 0;
	struct str events = STR_INIT;
	struct exporter_plan plan;
	struct exporter *exporter;

	(void)state;
	fake_machine_file(&machine, "sys/devices/system/cpu/online", "0\n");
	for (size_t i = 0; i < TURNS; i++)
		str_addf(&events, "%sr%zx", i ? "," : "", 0x100 + i);
	plan = plan_of(events.s, AGGR_TOTAL);
	exporter = open_exporter(&plan);
	assert_int_equal(fake.n, TURNS);
	for (size_t read = 0; read < READS; read++) {
		let_take_turns(truth);
		if (read % 2)
			exporter_read(exporter);
		else
			exporter_tick(exporter);
		for (size_t i = 0; i < TURNS; i++) {
			const struct aggr_value *value = aggregation_value(exporter->scopes[0]->counts, i, 0);

			n_fell += falls(value->summed.value, &sums[i]);
			n_whole_fell += falls(value->total.value, &wholes[i]);
		}
	}
	assert_int_equal(n_fell, 0);
	/* What is scaled for the whole time does fall: the same readings show it. */
	assert_true(n_whole_fell > 0);
	for (size_t i = 0; i < TURNS; i++)
		assert_true(llabs((long long)sums[i] - (long long)truth[i]) < (long long)(truth[i] / 100));
	exporter_close(exporter);
	assert_int_equal(fake.n_open, 0);
	str_release(&events);
}

/* What stat -I prints of each interval, added up, is what the exporter has. */
static void test_same_as_intervals(void **state)
{
	struct exporter_plan plan;
	struct exporter *exporter;
	uint64_t intervals = 0;

	(void)state;
	fake_machine_file(&machine, "sys/devices/system/cpu/online", "0\n");
	plan = plan_of("cycles", AGGR_TOTAL);
	exporter = open_exporter(&plan);
	for (size_t read = 0; read < READS; read++) {
		uint64_t running_ms = 1 + any_number(1000);

		counted[0].value += any_number(1000000);
		counted[0].enabled_ns += NS_PER_S;
		counted[0].running_ns += running_ms * NS_PER_MS;
		exporter_read(exporter);
		intervals += aggregation_value(exporter->scopes[0]->counts, 0, 0)->delta.value;
	}
	assert_int_equal(aggregation_value(exporter->scopes[0]->counts, 0, 0)->summed.value, intervals);
	exporter_close(exporter);
}

/* Time without a counter is carried to the next read in which there was one. */
static void test_time_is_carried(void **state)
{
	struct exporter_plan plan;
	struct exporter *exporter;

	(void)state;
	fake_machine_file(&machine, "sys/devices/system/cpu/online", "0\n");
	plan = plan_of("cycles", AGGR_TOTAL);
	exporter = open_exporter(&plan);
	counted[0].enabled_ns = NS_PER_S;
	exporter_read(exporter);
	has_lines(exporter, "pstat_event_total", "");
	has_lines(exporter, "pstat_event_enabled_seconds_total",
		  "pstat_event_enabled_seconds_total{event=\"cycles\",mode=\"all\"} 1.000000000\n");
	counted[0].enabled_ns += NS_PER_S;
	counted[0].running_ns = NS_PER_S / 2;
	counted[0].value = 100;
	exporter_read(exporter);
	has_lines(exporter, "pstat_event_total", "pstat_event_total{event=\"cycles\",mode=\"all\"} 400\n");
	has_lines(exporter, "pstat_event_running_seconds_total",
		  "pstat_event_running_seconds_total{event=\"cycles\",mode=\"all\"} 0.500000000\n");
	exporter_close(exporter);
}

/* ---- CPUs ---- */

static void test_cpu_goes_and_comes(void **state)
{
	struct exporter_plan plan = plan_of("faults", AGGR_CPU);
	struct exporter *exporter = open_exporter(&plan);

	(void)state;
	run_all(10);
	exporter_tick(exporter);
	fake_machine_file(&machine, "sys/devices/system/cpu/online", "0-2\n");
	run_all(10);
	counted[3].value = 10;
	counted[3].enabled_ns = counted[3].running_ns = NS_PER_S;
	exporter_tick(exporter);
	assert_int_equal(fake.n, CPUS);
	has_lines(exporter, "pstat_event_total",
		  "pstat_event_total{event=\"faults\",mode=\"all\",cpu=\"0\"} 20\n"
		  "pstat_event_total{event=\"faults\",mode=\"all\",cpu=\"1\"} 20\n"
		  "pstat_event_total{event=\"faults\",mode=\"all\",cpu=\"2\"} 20\n"
		  "pstat_event_total{event=\"faults\",mode=\"all\",cpu=\"3\"} 10\n");
	/* Back again: all is opened anew, from 0, and the sums go on. */
	fake_machine_file(&machine, "sys/devices/system/cpu/online", "0-3\n");
	exporter_tick(exporter);
	assert_int_equal(fake.n, 2 * CPUS);
	assert_int_equal(fake.n_open, CPUS);
	run_all(5);
	exporter_tick(exporter);
	has_lines(exporter, "pstat_event_total",
		  "pstat_event_total{event=\"faults\",mode=\"all\",cpu=\"0\"} 25\n"
		  "pstat_event_total{event=\"faults\",mode=\"all\",cpu=\"1\"} 25\n"
		  "pstat_event_total{event=\"faults\",mode=\"all\",cpu=\"2\"} 25\n"
		  "pstat_event_total{event=\"faults\",mode=\"all\",cpu=\"3\"} 15\n");
	exporter_close(exporter);
}

/* A CPU that went and came between two ticks: its counter stands still, although it is online. */
static void test_cpu_between_ticks(void **state)
{
	struct exporter_plan plan = plan_of("faults", AGGR_CPU);
	struct exporter *exporter = open_exporter(&plan);

	(void)state;
	run_all(10);
	exporter_tick(exporter);
	run_all(10);
	counted[1].value = 10;
	counted[1].enabled_ns = counted[1].running_ns = NS_PER_S;
	exporter_read(exporter); /* a scrape does not judge */
	assert_int_equal(fake.n, CPUS);
	exporter_tick(exporter);
	assert_int_equal(fake.n, 2 * CPUS);
	exporter_tick(exporter); /* all stand still: that is no CPU's doing */
	assert_int_equal(fake.n, 2 * CPUS);
	run_all(1);
	exporter_tick(exporter);
	exporter_tick(exporter);
	assert_int_equal(fake.n, 2 * CPUS);
	has_lines(exporter, "pstat_event_total",
		  "pstat_event_total{event=\"faults\",mode=\"all\",cpu=\"0\"} 21\n"
		  "pstat_event_total{event=\"faults\",mode=\"all\",cpu=\"1\"} 11\n"
		  "pstat_event_total{event=\"faults\",mode=\"all\",cpu=\"2\"} 21\n"
		  "pstat_event_total{event=\"faults\",mode=\"all\",cpu=\"3\"} 21\n");
	exporter_close(exporter);
}

/* ---- cgroups ---- */

static void make_cgroups(void)
{
	char *line = xasprintf("cgroup2 %s/cg cgroup2 rw 0 0\n", machine.root);

	fake_machine_file(&machine, "proc/mounts", line);
	fake_machine_file(&machine, "cg/web/cgroup.procs", "");
	fake_machine_file(&machine, "cg/db/cgroup.procs", "");
	free(line);
}

static void remove_cgroup(const char *name)
{
	char *folder = xasprintf("%s/cg/%s", machine.root, name);

	fake_machine_remove(folder);
	free(folder);
}

static void test_cgroups_come_and_go(void **state)
{
	struct exporter_plan plan = plan_of("faults", AGGR_TOTAL);
	struct exporter *exporter;

	(void)state;
	make_cgroups();
	plan.each_cgroup = "web,db,later";
	exporter = open_exporter(&plan);
	assert_int_equal(fake.n_open, 2 * CPUS);
	assert_int_equal(notes.n, 1);
	run_all(10);
	exporter_tick(exporter);
	has_lines(exporter, "pstat_event_total",
		  "pstat_event_total{event=\"faults\",mode=\"all\",cgroup=\"web\"} 40\n"
		  "pstat_event_total{event=\"faults\",mode=\"all\",cgroup=\"db\"} 40\n");
	remove_cgroup("web");
	exporter_tick(exporter);
	has_lines(exporter, "pstat_event_total", "pstat_event_total{event=\"faults\",mode=\"all\",cgroup=\"db\"} 40\n");
	has_lines(exporter, "pstat_event_enabled_seconds_total",
		  "pstat_event_enabled_seconds_total{event=\"faults\",mode=\"all\",cgroup=\"db\"} 4.000000000\n");
	assert_int_equal(fake.n_open, CPUS);
	fake_machine_file(&machine, "cg/later/cgroup.procs", "");
	exporter_tick(exporter);
	run_all(1);
	exporter_tick(exporter);
	has_lines(exporter, "pstat_event_total",
		  "pstat_event_total{event=\"faults\",mode=\"all\",cgroup=\"db\"} 44\n"
		  "pstat_event_total{event=\"faults\",mode=\"all\",cgroup=\"later\"} 4\n");
	exporter_close(exporter);
	assert_int_equal(fake.n_open, 0);
}

/* A pattern takes in what comes, as far as --max-series goes; what was there before goes on. */
static void test_cgroups_beyond_the_limit(void **state)
{
	struct exporter_plan plan = plan_of("faults", AGGR_CPU);
	struct exporter *exporter;

	(void)state;
	make_cgroups();
	plan.each_cgroup = "^[a-z]*$";
	plan.max_series = 2 * CPUS * 3;
	exporter = open_exporter(&plan);
	assert_int_equal(exporter->n_scopes, 2);
	fake_machine_file(&machine, "cg/third/cgroup.procs", "");
	run_all(1);
	exporter_tick(exporter);
	assert_int_equal(exporter->n_scopes, 2);
	has_lines(exporter, "pstat_reads_failed_total",
		  "pstat_reads_failed_total{reason=\"read\"} 0\npstat_reads_failed_total{reason=\"pin\"} 0\n"
		  "pstat_reads_failed_total{reason=\"open\"} 1\n");
	exporter_close(exporter);
}

/* ---- what is refused before anything is opened ---- */

static void test_series_by_product(void **state)
{
	struct exporter_plan plan = plan_of("faults,cs,cycles", AGGR_CPU);

	(void)state;
	plan.max_series = 35;
	refused(&plan, -E2BIG, "3 events x 4 CPUs x 3 metrics are 36 series, and --max-series allows 35");
	plan.max_series = 8;
	plan.aggr = AGGR_SOCKET;
	refused(&plan, -E2BIG, "3 events x 1 sockets x 3 metrics are 9 series, and --max-series allows 8");
	make_cgroups();
	plan.each_cgroup = "web,db";
	plan.aggr = AGGR_TOTAL;
	plan.max_series = 17;
	refused(&plan, -E2BIG, "3 events in 2 cgroups x 3 metrics are 18 series, and --max-series allows 17");
	assert_int_equal(fake.n, 0);
}

static void test_too_few_files(void **state)
{
	struct exporter_plan plan = plan_of("faults,cs,cycles", AGGR_CPU);
	struct exporter *exporter;

	(void)state;
	fake.limit = (struct rlimit){ 10, 75 };
	refused(&plan, -EMFILE, "76 file descriptors are needed, the hard limit is 75");
	assert_int_equal(fake.n, 0);
	fake.limit = (struct rlimit){ 10, 76 };
	exporter = open_exporter(&plan);
	assert_int_equal(fake.limit.rlim_cur, 76);
	exporter_close(exporter);
}

static void test_events_that_are_no_metric(void **state)
{
	struct exporter_plan plan = plan_of("duration_time", AGGR_TOTAL);

	(void)state;
	refused(&plan, -EINVAL, "duration_time: it is measured for a command");
	plan = plan_of("cycles:u,cycles,cycles:ku,cycles", AGGR_TOTAL);
	refused(&plan, -EINVAL, "two events have the labels event=\"cycles\" and mode=\"all\"");
	fake_machine_pmu(&machine, "power", "type", "21\n");
	fake_machine_pmu(&machine, "power", "cpumask", "0\n");
	fake_machine_pmu(&machine, "power", "events/heat", "event=0x1\n");
	fake_machine_pmu(&machine, "power", "events/heat.snapshot", "1\n");
	fake_machine_pmu(&machine, "power", "format/event", "config:0-7\n");
	plan = plan_of("power/heat/", AGGR_TOTAL);
	refused(&plan, -EINVAL, "power/heat/: it is a level");
	assert_int_equal(fake.n, 0);
}

/* ---- labels and numbers ---- */

static int refuse_cycles(const struct fake_call *call)
{
	return call->attr.type == PERF_TYPE_HARDWARE ? -ENOENT : 0;
}

static void test_labels(void **state)
{
	struct exporter_plan plan;
	struct exporter *exporter;
	struct str lines = STR_INIT;

	(void)state;
	fake_machine_pmu(&machine, "power", "type", "21\n");
	fake_machine_pmu(&machine, "power", "cpumask", "0\n");
	fake_machine_pmu(&machine, "power", "events/energy-pkg", "event=0x2\n");
	fake_machine_pmu(&machine, "power", "events/energy-pkg.scale", "0.5\n");
	fake_machine_pmu(&machine, "power", "events/energy-pkg.unit", "Joules\n");
	fake_machine_pmu(&machine, "power", "format/event", "config:0-7\n");
	plan = plan_of("cycles,r1c0:u,r1c0:k,r1c0,cpu-clock,sched:sched_switch,power/energy-pkg/,"
		       "cpu/event=0x3c,name=\"a\\b\"/", AGGR_TOTAL);
	fake.answer = refuse_cycles;
	exporter = open_exporter(&plan);
	run_all(1000000001);
	exporter_read(exporter);
	lines_of(exporter, "pstat_event_total", &lines);
	assert_non_null(strstr(lines.s, "{event=\"r1c0\",mode=\"user\"} 4000000004\n"));
	assert_non_null(strstr(lines.s, "{event=\"r1c0\",mode=\"kernel\"} 4000000004\n"));
	assert_non_null(strstr(lines.s, "{event=\"r1c0\",mode=\"all\"} 4000000004\n"));
	assert_non_null(strstr(lines.s, "{event=\"sched:sched_switch\",mode=\"all\"} 4000000004\n"));
	assert_null(strstr(lines.s, "cycles"));
	assert_null(strstr(lines.s, "energy"));
	has_lines(exporter, "pstat_event_seconds_total",
		  "pstat_event_seconds_total{event=\"cpu-clock\",mode=\"all\"} 4.000000004\n");
	has_lines(exporter, "pstat_event_joules_total",
		  "pstat_event_joules_total{event=\"power/energy-pkg/\",mode=\"all\"} 500000000.5\n");
	lines_of(exporter, "pstat_event_supported", &lines);
	assert_non_null(strstr(lines.s, "{event=\"r1c0\",reason=\"\"} 1\n"));
	assert_null(strstr(strstr(lines.s, "r1c0") + 1, "r1c0"));
	assert_non_null(strstr(lines.s, "{event=\"cycles\",reason=\""));
	assert_int_equal(strncmp(strchr(strstr(lines.s, "\"cycles\""), '}'), "} 0\n", 4), 0);
	exporter_close(exporter);
	str_release(&lines);
}

static void test_names_are_escaped(void **state)
{
	struct exporter_plan plan = plan_of("faults", AGGR_TOTAL);
	struct exporter *exporter;

	(void)state;
	make_cgroups();
	fake_machine_file(&machine, "cg/a\"b\\c\n/cgroup.procs", "");
	plan.each_cgroup = "a\"b\\c\n";
	exporter = open_exporter(&plan);
	run_all(1);
	exporter_read(exporter);
	has_lines(exporter, "pstat_event_total",
		  "pstat_event_total{event=\"faults\",mode=\"all\",cgroup=\"a\\\"b\\\\c\\\\x0a\"} 4\n");
	exporter_close(exporter);
}

static void test_node_names(void **state)
{
	struct exporter_plan plan = plan_of("cs,cycles:u,cycles:k,L1-dcache-loads", AGGR_CPU);
	struct exporter *exporter;

	(void)state;
	fake_machine_file(&machine, "sys/devices/system/cpu/online", "0-1\n");
	plan.node_names = true;
	exporter = open_exporter(&plan);
	run_all(7);
	exporter_read(exporter);
	has_lines(exporter, "node_perf_context_switches_total", "node_perf_context_switches_total{cpu=\"0\"} 7\n"
								"node_perf_context_switches_total{cpu=\"1\"} 7\n");
	has_lines(exporter, "node_perf_cache_l1d_read_hits_total",
		  "node_perf_cache_l1d_read_hits_total{cpu=\"0\"} 7\n"
		  "node_perf_cache_l1d_read_hits_total{cpu=\"1\"} 7\n");
	/* A name stands for one event; a second one keeps its own. */
	has_lines(exporter, "node_perf_cpucycles_total", "node_perf_cpucycles_total{cpu=\"0\"} 7\n"
							 "node_perf_cpucycles_total{cpu=\"1\"} 7\n");
	has_lines(exporter, "pstat_event_total", "pstat_event_total{event=\"cycles\",mode=\"kernel\",cpu=\"0\"} 7\n"
						 "pstat_event_total{event=\"cycles\",mode=\"kernel\",cpu=\"1\"} 7\n");
	exporter_close(exporter);
}

/* Each name of node_exporter is an event that parses to the code that the name stands for. */
static void test_node_events(void **state)
{
	struct str list = STR_INIT;
	const struct event_list *events;

	(void)state;
	node_names_events(&list);
	events = parse(list.s);
	for (size_t i = 0; i < events->n; i++) {
		assert_non_null(node_names[i].name);
		assert_ptr_equal(node_name_of(&events->v[i].attr), &node_names[i]);
	}
	assert_null(node_names[events->n].name);
	str_release(&list);
}

/* ---- whole expositions ---- */

static const char whole_text[] =
	"# HELP pstat_event_total Events, scaled where they shared a counter.\n"
	"# TYPE pstat_event_total counter\n"
	"pstat_event_total{event=\"faults\",mode=\"all\",socket=\"0\"} 12\n"
	"# HELP pstat_event_enabled_seconds_total Time for which an event was enabled, summed over its counters.\n"
	"# TYPE pstat_event_enabled_seconds_total counter\n"
	"pstat_event_enabled_seconds_total{event=\"faults\",mode=\"all\",socket=\"0\"} 4.000000000\n"
	"# HELP pstat_event_running_seconds_total Time for which an event was counted, summed over its counters.\n"
	"# TYPE pstat_event_running_seconds_total counter\n"
	"pstat_event_running_seconds_total{event=\"faults\",mode=\"all\",socket=\"0\"} 4.000000000\n"
	"# HELP pstat_event_supported Whether an event can be counted here, or why not.\n"
	"# TYPE pstat_event_supported gauge\n"
	"pstat_event_supported{event=\"faults\",reason=\"\"} 1\n"
	"# HELP pstat_build_info The version of pstat.\n"
	"# TYPE pstat_build_info gauge\n"
	"pstat_build_info{version=\"" PSTAT_VERSION "\"} 1\n"
	"# HELP pstat_start_time_seconds When counting began, in seconds since 1970.\n"
	"# TYPE pstat_start_time_seconds gauge\n"
	"pstat_start_time_seconds 1700000000.250\n"
	"# HELP pstat_reads_failed_total Counters that could not be read, lost their pin, or could not be opened "
	"again.\n"
	"# TYPE pstat_reads_failed_total counter\n"
	"pstat_reads_failed_total{reason=\"read\"} 0\n"
	"pstat_reads_failed_total{reason=\"pin\"} 0\n"
	"pstat_reads_failed_total{reason=\"open\"} 0\n";

static const char open_metrics_head[] = "# HELP pstat_event Events, scaled where they shared a counter.\n"
					"# TYPE pstat_event counter\n"
					"pstat_event_total{event=\"faults\",mode=\"all\",socket=\"0\"} 12\n"
					"# HELP pstat_event_enabled_seconds Time for which an event was enabled, "
					"summed over its counters.\n"
					"# TYPE pstat_event_enabled_seconds counter\n"
					"# UNIT pstat_event_enabled_seconds seconds\n";

static void test_both_formats(void **state)
{
	struct exporter_plan plan = plan_of("faults", AGGR_SOCKET);
	struct exporter *exporter = open_exporter(&plan);
	struct str text = STR_INIT;

	(void)state;
	run_all(3);
	exporter_read(exporter);
	exporter->start_time = 1700000000.25;
	exporter_write(exporter, EXPOSITION_TEXT, &text);
	assert_string_equal(text.s, whole_text);
	str_reset(&text);
	exporter_write(exporter, EXPOSITION_OPENMETRICS, &text);
	assert_int_equal(strncmp(text.s, open_metrics_head, strlen(open_metrics_head)), 0);
	assert_non_null(strstr(text.s, "\n# TYPE pstat_build info\npstat_build_info{"));
	assert_string_equal(text.s + text.len - 6, "# EOF\n");
	exporter_close(exporter);
	str_release(&text);
}

static ssize_t read_fails(int fd, uint64_t *words, size_t bytes)
{
	(void)words;
	(void)bytes;
	return fd == FAKE_FD ? 0 : fd == FAKE_FD + 1 ? -EIO : read_counted(fd, words, bytes);
}

/* Reads that fail leave the sums as they are, and are counted. */
static void test_reads_fail(void **state)
{
	struct exporter_plan plan = plan_of("faults", AGGR_TOTAL);
	struct exporter *exporter = open_exporter(&plan);

	(void)state;
	run_all(3);
	exporter_read(exporter);
	fake.read = read_fails;
	run_all(3);
	exporter_read(exporter);
	has_lines(exporter, "pstat_event_total", "pstat_event_total{event=\"faults\",mode=\"all\"} 18\n");
	has_lines(exporter, "pstat_reads_failed_total",
		  "pstat_reads_failed_total{reason=\"read\"} 1\npstat_reads_failed_total{reason=\"pin\"} 1\n"
		  "pstat_reads_failed_total{reason=\"open\"} 0\n");
	exporter_close(exporter);
}

/* ---- files ---- */

static void test_file_takes_its_place(void **state)
{
	struct str text = STR_INIT, read = STR_INIT, err = STR_INIT;
	char *path = xasprintf("%s/x.prom", machine.root), *nowhere = xasprintf("%s/none/x.prom", machine.root);
	mode_t mask = umask(022);
	int old;
	struct stat st;

	(void)state;
	str_add(&text, "a 1\n");
	assert_int_equal(destination_write_whole(path, &text, &err), 0);
	old = open(path, O_RDONLY | O_CLOEXEC);
	str_add(&text, "a 2\n");
	assert_int_equal(destination_write_whole(path, &text, &err), 0);
	umask(mask);
	assert_int_equal(read_text_file(path, &read), 0);
	assert_string_equal(read.s, "a 1\na 2\n");
	/* A reader of the one before has it to its end, and nothing stays beside it. */
	assert_int_equal(fstat(old, &st), 0);
	assert_int_equal(st.st_size, 4);
	assert_int_equal(st.st_nlink, 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(destination_write_whole(nowhere, &text, &err), -ENOENT);
	assert_non_null(strstr(err.s, "No such file"));
	close(old);
	free(path);
	free(nowhere);
	str_release(&text);
	str_release(&read);
	str_release(&err);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sums_never_fall),
		TEST(test_same_as_intervals),
		TEST(test_time_is_carried),
		TEST(test_cpu_goes_and_comes),
		TEST(test_cpu_between_ticks),
		TEST(test_cgroups_come_and_go),
		TEST(test_cgroups_beyond_the_limit),
		TEST(test_series_by_product),
		TEST(test_too_few_files),
		TEST(test_events_that_are_no_metric),
		TEST(test_labels),
		TEST(test_names_are_escaped),
		TEST(test_node_names),
		TEST(test_node_events),
		TEST(test_both_formats),
		TEST(test_reads_fail),
		TEST(test_file_takes_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
