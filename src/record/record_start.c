/* SPDX-License-Identifier: MIT */
/*
 * record_start.c: the beginning of a recording, in this order, so that each step can fail without harm to what was
 * there before: command held -> target -> attrs -> events open -> rings -> header -> readers -> file -> what
 * runs already -> go.
 *
 * A command that is itself the target samples from its exec on, by the kernel (enable_on_exec). Tasks
 * that run already are sampled before their maps are listed: a map made between the two is then in
 * the rings.
 */
#include "record/recording.h"
#include "record/synth.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Rings of this size are what everyone may have: getting no more by default is nothing to tell. */
enum { ENOUGH_BYTES = 512 << 10 };

enum { SIZE_PARTS = 16, LEAST_WATERMARK = 4096 };

static int start_child(struct recording *rec)
{
	static const struct child_files off_stdout = { -1, STDERR_FILENO, -1 };
	const struct record_plan *plan = rec->plan;
	bool stdout_taken = plan->path && !strcmp(plan->path, "-");
	int rc;

	if (!plan->argv)
		return 0;
	/* Seen now and not at its exec: the recording of before keeps its name. */
	rc = command_check(plan->argv[0]);
	if (rc)
		return command_failed(plan->argv[0], rc, &rec->failed_status, rec->err);
	rc = child_fork(&rec->child, plan->argv, plan->found, stdout_taken ? &off_stdout : NULL, rec->err);
	rec->has_child = !rc;
	return rc;
}

static int resolve(struct recording *rec)
{
	struct target_spec words = rec->plan->target;
	int rc;

	words.command = rec->child.pid;
	rc = target_resolve(&rec->target, &words, rec->plan->kern, rec->err);
	rec->child_is_target = !rc && rec->target.kind == TARGET_COMMAND;
	if (rc == -EINVAL)
		rec->failed_status = EXIT_BAD_USAGE;
	return rc;
}

/* ---- cycles that no counter counts ---- */

static bool is_cycles(const struct event *event)
{
	return event->kind == EVENT_KERNEL && event->attr.type == PERF_TYPE_HARDWARE &&
	       (uint32_t)event->attr.config == PERF_COUNT_HW_CPU_CYCLES;
}

/* perf_event_open(2): no such event, no such device, and two for PMUs that cannot sample it. */
static bool means_no_counter(int rc)
{
	return rc == -ENOENT || rc == -ENXIO || rc == -ENODEV || rc == -EOPNOTSUPP;
}

/* "cycles:u" -> "cpu-clock:u"; p is about counters only. */
static char *clock_name(const char *name)
{
	const char *colon = strrchr(name, ':');
	struct str out = STR_INIT;

	str_add(&out, "cpu-clock");
	for (const char *at = colon ? colon + 1 : ""; *at; at++) {
		if (strchr("pP", *at))
			continue;
		if (!strchr(out.s, ':'))
			str_addc(&out, ':');
		str_addc(&out, *at);
	}
	return str_detach(&out);
}

/*
 * The default event counts cycles, and many machines have no counter for them. The question is where the time goes,
 * which a clock answers as well: cpu-clock, with a line that says so. Asking the kernel is the only test: the same
 * errno has many causes, and four errnos mean "there is no such counter". Other events are left as they are.
 */
static void replace_cycles(struct event_list *events, const struct sampling *sampling,
			   const struct kern *kern, struct note_list *notes)
{
	for (size_t i = 0; i < events->n; i++) {
		struct event *event = &events->v[i];
		char *name, *why = NULL;
		int rc;

		/* A clock has no branch records: with the event's own failure all is said. */
		if (!is_cycles(event) || sampling_wants_branches(sampling, event))
			continue;
		rc = event_try_sample(event, kern, &why);
		if (!means_no_counter(rc)) {
			free(why);
			continue;
		}
		name = clock_name(event->name);
		note_add(notes, false, NULL, "%s: %s: sampling %s instead", event->name, why, name);
		free(why);
		event->attr.type = PERF_TYPE_SOFTWARE;
		event->attr.config = PERF_COUNT_SW_CPU_CLOCK;
		event->attr.precise_ip = 0;
		event->precise_max = false;
		free(event->name);
		event->name = name;
	}
}

/* ---- events and rings ---- */

static bool waits(const struct recording *rec)
{
	return rec->plan->delay_ms != 0;
}

static bool starts_with_exec(const struct recording *rec)
{
	return rec->child_is_target && !waits(rec);
}

static int choose_samples(struct recording *rec)
{
	const struct record_plan *plan = rec->plan;
	struct sampling sampling = plan->sampling;
	int rc;

	/* Events that can be switched off must not take with them what is known about tasks. */
	sampling.starts_late = waits(rec) || plan->control_fd >= 0;
	/* A ring of its own for each thread has no CPU, and then no children. */
	sampling.inherit = sampling.inherit && !plan->target.per_thread;
	replace_cycles(plan->events, &sampling, plan->kern, plan->notes);
	rc = sampling_apply(&sampling, &rec->target, plan->events, plan->kern, plan->notes, rec->err);
	if (rc == -EINVAL)
		rec->failed_status = EXIT_BAD_USAGE;
	return rc;
}

static bool is_sampled(const struct counter *c)
{
	return c->state == COUNTER_OPEN && !c->event->tracking;
}

static const char *reason_of(const struct counter *c)
{
	return c->reason ? c->reason : "it is not an event of the kernel";
}

/* An event that is not open is a note, as long as another one can be sampled. */
static int check_open(struct recording *rec)
{
	const struct counter *first = NULL;
	bool any = false;

	for (size_t i = 0; i < rec->set.n; i++)
		any |= is_sampled(&rec->set.v[i]);
	for (size_t i = 0; i < rec->set.n; i++) {
		const struct counter *c = &rec->set.v[i];

		if (c->state == COUNTER_OPEN)
			continue;
		if (any)
			note_add(rec->plan->notes, false, c->remedy, "%s: not sampled: %s", c->name,
				 reason_of(c));
		first = first ? first : c;
	}
	if (any)
		return 0;
	if (!first)
		return fail(rec->err, -EINVAL, "there is no event to sample");
	return fail(rec->err, first->err ? -first->err : -ENODEV, "%s cannot be sampled: %s%s%s",
		    first->name, reason_of(first), first->remedy ? "\n" : "",
		    first->remedy ? first->remedy : "");
}

/* perf says it too. Without maps of the kernel, only its addresses are known later. */
static void note_hidden_kernel(struct recording *rec)
{
	const struct record_plan *plan = rec->plan;
	struct kernel_symbols symbols;
	bool kernel = false;

	for (size_t i = 0; i < rec->set.n; i++)
		kernel |= is_sampled(&rec->set.v[i]) && !rec->set.v[i].attr.exclude_kernel;
	if (!kernel)
		return;
	kernel_symbols_look(&symbols, &plan->kern->host);
	if (!symbols.hidden)
		return;
	note_add(plan->notes, false, symbols.remedy,
		 "kernel addresses are hidden (kptr_restrict %llu): samples in the kernel will have no names%s",
		 (unsigned long long)symbols.kptr_restrict,
		 symbols.rights_help ? "; as root or with CAP_SYSLOG they would" : "");
}

/* A file that is to end at a size is looked at well before. */
static uint32_t watermark(const struct record_plan *plan, uint64_t ring_bytes)
{
	uint64_t limit = plan->max_bytes ? plan->max_bytes : plan->switch_bytes;
	uint32_t bytes = rings_watermark(ring_bytes);

	if (plan->switch_bytes && plan->switch_bytes < limit)
		limit = plan->switch_bytes;
	limit /= SIZE_PARTS;
	if (limit && limit < LEAST_WATERMARK)
		limit = LEAST_WATERMARK;
	return limit && limit < bytes ? (uint32_t)limit : bytes;
}

static int open_with_rings(struct recording *rec, uint64_t ring_bytes)
{
	const struct record_plan *plan = rec->plan;
	const struct open_options options = {
		.inherit = plan->sampling.inherit && !plan->target.per_thread,
		.enable_on_exec = starts_with_exec(rec),
		.start_disabled = !starts_with_exec(rec),
		.sample = true,
		.per_cpu = !plan->target.per_thread,
		.filters_later = plan->sampling.exclude_perf,
	};
	const struct ring_options ring_options = {
		.data_bytes = ring_bytes,
		.enough_bytes = plan->ring_bytes ? plan->ring_bytes : ENOUGH_BYTES,
	};
	int rc;

	stack_dumps_fit(&plan->sampling, plan->events, ring_bytes);
	for (size_t i = 0; i < plan->events->n; i++) {
		plan->events->v[i].attr.watermark = 1;
		plan->events->v[i].attr.wakeup_watermark = watermark(plan, ring_bytes);
	}
	rc = counters_open(&rec->set, plan->events, &rec->target, &options, plan->kern, plan->notes,
			   rec->err);
	rec->set_open = !rc;
	if (!rc)
		rc = check_open(rec);
	return rc ? rc : rings_open(&rec->rings, &rec->set, &ring_options, rec->err);
}

/*
 * Opens again where the rings had to be smaller than asked for: the level at which they wake pstat is then too high,
 * and copies of stacks may be too large.
 */
static int open_events(struct recording *rec)
{
	const struct record_plan *plan = rec->plan;
	uint64_t asked = plan->ring_bytes ? plan->ring_bytes :
			 rings_default_bytes(plan->events, &rec->target, !plan->target.per_thread,
					     plan->kern);
	int rc = open_with_rings(rec, asked);

	if (rc || (rec->rings.data_bytes > rings_watermark(asked) &&
		   !stack_dumps_fit(&plan->sampling, plan->events, rec->rings.data_bytes)))
		return rc;
	asked = rec->rings.data_bytes;
	rings_close(&rec->rings);
	counters_close(&rec->set);
	rec->set_open = false;
	return open_with_rings(rec, asked);
}

/* ---- the header ---- */

static void copy_words(struct data_event *to, const struct counter *c)
{
	const struct event *event = c->event;

	to->name = xstrdup(c->name);
	if (event->unit[0])
		to->unit = xstrdup(event->unit);
	to->scale = event->scale;
	intset_copy(&to->cpus, &event->cpus);
}

/* The index in the file of the counter at `index` of the set. */
static size_t file_index(const struct recording *rec, size_t index)
{
	size_t i = 0;

	while (i < rec->events.n && rec->counter_of[i] != index)
		i++;
	return i;
}

static void set_groups(struct recording *rec)
{
	for (size_t i = 0; i < rec->events.n; i++) {
		const struct counter *c = &rec->set.v[rec->counter_of[i]];
		struct data_event *event = rec->events.v[i];

		event->leader = file_index(rec, c->leader);
		event->n_members = c->leader == rec->counter_of[i] ? c->n_members : 1;
		if (event->n_members < 2)
			continue;
		event->group_name = c->event->group_name ? xstrdup(c->event->group_name) : NULL;
		info_set(&rec->info, FEATURE_GROUP_DESC);
	}
}

/*
 * Open counters become the file's events. A counter that could not be opened is not in the file, so an event's
 * index there may differ from its index in the set: counter_of leads back.
 */
static int list_events(struct recording *rec)
{
	rec->counter_of = xcalloc(rec->set.n + 1, sizeof(*rec->counter_of));
	for (size_t i = 0; i < rec->set.n; i++) {
		const struct counter *c = &rec->set.v[i];
		uint64_t *ids = NULL;
		size_t n_ids = 0;
		int rc;

		if (c->state != COUNTER_OPEN)
			continue;
		rc = counter_add_ids(&rec->set, i, &ids, &n_ids);
		if (rc) {
			free(ids);
			return fail(rec->err, rc, "%s: the kernel does not give its id: %s", c->name,
				    strerror(-rc));
		}
		rec->counter_of[rec->events.n] = i;
		copy_words(events_add(&rec->events, &c->attr, sizeof(c->attr), ids, n_ids), c);
		free(ids);
	}
	set_groups(rec);
	return 0;
}

static uint64_t ns_of(clockid_t id)
{
	struct timespec t = { 0 };

	clock_gettime(id, &t);
	return (uint64_t)timespec_ns(&t);
}

/*
 * The samples' clock beside the time of day. A clock of -k is read as such, where user space can. The kernel's
 * own has no number: perf takes the two times of CLOCK_DATA whatever number stands there.
 */
static void describe_clock(struct recording *rec)
{
	const struct sampling *sampling = &rec->plan->sampling;
	struct info *info = &rec->info;
	struct timespec res = { 0 };

	if (!sampling->has_clockid) {
		info->clockid = CLOCKID_OF_KERNEL;
		if (!clock_moment(rec->plan->kern->sys, &info->wall_clock_ns, &info->clockid_time_ns))
			info_set(info, FEATURE_CLOCK_DATA);
		return;
	}
	if (clock_getres(sampling->clockid, &res))
		return;
	info->clock_res_ns = (uint64_t)timespec_ns(&res);
	info_set(info, FEATURE_CLOCKID);
	info->clockid = (uint32_t)sampling->clockid;
	info->clockid_time_ns = ns_of(sampling->clockid);
	info->wall_clock_ns = ns_of(CLOCK_REALTIME);
	info_set(info, FEATURE_CLOCK_DATA);
}

static void describe(struct recording *rec)
{
	const struct record_plan *plan = rec->plan;

	host_info_collect(&rec->info, plan->events, plan->argc, plan->own_argv, plan->kern);
	info_set(&rec->info, FEATURE_EVENT_DESC);
	tracing_data_collect(&rec->info, plan->events, plan->kern);
	for (size_t i = 0; i < rec->events.n; i++) {
		if (rec->events.v[i]->attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
			info_set(&rec->info, FEATURE_BRANCH_STACK);
	}
	describe_clock(rec);
}

/* ---- going ---- */

/* Now, on the samples' clock, which the kernel tells unless -k chose another; or `unknown_ns`. */
static uint64_t samples_now_ns(const struct recording *rec, uint64_t unknown_ns)
{
	const struct sampling *sampling = &rec->plan->sampling;
	uint64_t wall_ns, clock_ns = unknown_ns;
	struct timespec t;

	if (!sampling->has_clockid)
		clock_moment(rec->plan->kern->sys, &wall_ns, &clock_ns);
	else if (!clock_gettime(sampling->clockid, &t))
		clock_ns = (uint64_t)timespec_ns(&t);
	return clock_ns;
}

int recording_enable(struct recording *rec)
{
	int rc;

	if (!rec->off_cpu)
		return counters_enable(&rec->set);
	off_cpu_stage_count_from(rec->off_cpu, UINT64_MAX);
	rc = counters_enable(&rec->set);
	off_cpu_stage_count_from(rec->off_cpu, samples_now_ns(rec, 0));
	return rc;
}

int recording_disable(struct recording *rec)
{
	if (rec->plan->stops)
		rec->plan->stops(rec->plan->data);
	if (rec->off_cpu)
		off_cpu_stage_count_until(rec->off_cpu, samples_now_ns(rec, UINT64_MAX));
	return counters_disable(&rec->set);
}

int recording_begin(struct recording *rec)
{
	int rc = 0;

	rec->delay_until_ns = NEVER_NS;
	watch_duration(&rec->watch, rec->plan->duration_ns);
	if (!starts_with_exec(rec) && rec->plan->delay_ms >= 0)
		rc = recording_enable(rec);
	if (!rc && !starts_with_exec(rec))
		rc = switch_event_begin(&rec->switch_event);
	rec->removal_look_ns = now_ns();
	if (rec->start_ns == NEVER_NS)
		rec->start_ns = rec->removal_look_ns;
	if (rc)
		return fail(rec->err, rc, "the events cannot be started: %s", strerror(-rc));
	return 0;
}

static int release_child(struct recording *rec)
{
	int rc = rec->has_child ? child_release(&rec->child) : 0;

	if (!rc && starts_with_exec(rec))
		removal_begin_at_exec(&rec->set);
	return rc ? command_failed(rec->plan->argv[0], rc, &rec->failed_status, rec->err) : 0;
}

/* Describes what runs to the file alone, by its own events: a stage before it has had its say. */
static int synth_to_file(void *data, struct record_sink *to, struct str *err)
{
	struct recording *rec = data;

	return synth_to_sink(rec->plan, &rec->target, rec->described.events, to, err);
}

/* The threads that unwind, where the file is to have chains and no copies of stacks. */
static int open_unwinding(struct recording *rec)
{
	const struct record_plan *plan = rec->plan;
	const struct unwind_stage_options options = {
		.procfs = plan->kern->host.procfs,
		.arch = rec->info.arch,
		.user_regs = plan->sampling.user_regs,
		.no_cache = plan->no_cache,
		.clock = { rec->info.clockid_time_ns, rec->info.wall_clock_ns },
	};
	struct str why = STR_INIT;
	int rc = 0;

	if (!plan->sampling.stacks_raw)
		rec->unwind = unwind_stage_new(&rec->events, &options, &why);
	if (why.len)
		rc = fail(rec->err, -EAGAIN, "%s", why.s);
	str_release(&why);
	return rc;
}

/* Makes the stage that leaves out samples, where events have filters that the kernel does not run. */
static int open_filter(struct recording *rec)
{
	const char **texts = xcalloc(rec->events.n + 1, sizeof(*texts));
	int rc;

	for (size_t i = 0; i < rec->events.n; i++) {
		size_t counter = rec->counter_of[i];

		if (!rec->plan->filters_itself || !rec->plan->filters_itself(rec->plan->data, counter))
			texts[i] = rec->set.v[counter].event->sample_filter;
	}
	rc = filter_stage_new(&rec->filter, &rec->events, texts, rec->err);
	free(texts);
	return rc;
}

/* Makes the stage that joins switches to waits, where their event is open. It comes after the unwinding. */
static void open_off_cpu(struct recording *rec)
{
	struct off_cpu_stage_options options = { .least_ns = rec->plan->sampling.off_cpu_least_ns,
						 .wall = rec->plan->sampling.wall };
	const struct events *recorded = rec->unwind ? unwind_stage_written(rec->unwind) : &rec->events;
	size_t switches = rec->events.n;

	for (size_t i = 0; i < rec->events.n; i++) {
		const struct event *event = rec->set.v[rec->counter_of[i]].event;

		switches = event->off_cpu ? i : switches;
		options.wakeups = event->woken_at ? i : options.wakeups;
		options.woken_at = event->woken_at ? event->woken_at : options.woken_at;
	}
	if (switches < rec->events.n && !rec->plan->sampling.waits_counted)
		rec->off_cpu = off_cpu_stage_new(recorded, switches, &options);
	if (rec->off_cpu && rec->plan->target.cpus)
		note_add(rec->plan->notes, false, NULL,
			 "offcpu-time: time that a thread spends on CPUs outside of -C counts as waiting");
}

/* NULL: no build-ids are wanted. The process that reads files is forked before there are threads. */
static struct buildid_set *begin_build_ids(const struct record_plan *plan)
{
	struct buildid_set *set;

	if (!plan->build_ids || !plan->path)
		return NULL;
	set = buildid_set_new(plan->kern);
	if (plan->cache)
		buildid_set_hold(set);
	buildid_set_prepare(set);
	return set;
}

static void describe_sinks(struct recording *rec, struct buildid_set *build_ids)
{
	const struct record_plan *plan = rec->plan;

	rec->described = (struct recording_info){ .events = &rec->events, .info = &rec->info };
	if (rec->off_cpu)
		rec->described.events = off_cpu_stage_written(rec->off_cpu);
	else if (rec->unwind)
		rec->described.events = unwind_stage_written(rec->unwind);
	else if (plan->written)
		rec->described.events = plan->written(plan->data, &rec->events);
	sink_file_init(&rec->file, plan, &rec->described, &rec->info, build_ids,
		       rec->pipeline.wake_fd);
	if (plan->tail_synthesize) {
		rec->file.synth = synth_to_file;
		rec->file.data = rec;
	}
}

/* A plan without a path has no file: its sink only counts. */
static int open_file(struct recording *rec)
{
	int rc = rec->plan->path ? sink_file_open(&rec->file, rec->err) : 0;

	if (!rc)
		sink_tee_add(&rec->tee, &rec->file.sink);
	return rc;
}

/* Opens the file and other sinks, and the stage before them; all are told what ran already, unless that comes last. */
static int open_sinks(struct recording *rec)
{
	const struct record_plan *plan = rec->plan;
	struct record_sink *other = NULL;
	int rc;

	sink_tee_init(&rec->tee);
	rc = open_file(rec);
	if (rc)
		return rc;
	if (plan->other_sink)
		other = plan->other_sink(plan->data, &rec->described);
	if (other)
		sink_tee_add(&rec->tee, other);
	rec->sink = rec->tee.n == 1 ? rec->tee.v[0] : &rec->tee.sink;
	if (rec->off_cpu) {
		rec->off_cpu_joins = off_cpu_stage_begin(rec->off_cpu, rec->sink);
		rec->sink = &rec->off_cpu_joins->sink;
	}
	if (rec->unwind) {
		rec->unwinds = unwind_stage_begin(rec->unwind, rec->sink);
		rec->sink = &rec->unwinds->sink;
	} else if (plan->stage)
		rec->sink = plan->stage(plan->data, &rec->described, rec->sink);
	if (rec->filter) {
		rec->filters = filter_stage_begin(rec->filter, rec->sink);
		rec->sink = &rec->filters->sink;
	}
	if (!plan->tail_synthesize)
		rc = synth_to_sink(plan, &rec->target, &rec->events, rec->sink, rec->err);
	return rc || !plan->path ? rc : sink_file_begun(&rec->file, rec->err);
}

/* "common_pid != 7 && common_pid != 8", for each thread of this process. */
static int other_threads(struct str *out, struct str *err)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;

	if (!tasks)
		return fail(err, -errno, "--exclude-perf: /proc/self/task: %s", strerror(errno));
	while ((entry = readdir(tasks)) != NULL) {
		if (entry->d_name[0] != '.')
			str_addf(out, "%scommon_pid != %s", out->len ? " && " : "", entry->d_name);
	}
	closedir(tasks);
	return 0;
}

/*
 * --exclude-perf: tracepoints leave out what pstat itself hits. A filter can name threads only, and a descriptor takes
 * one filter: so it is set when all of them have been started, and before any event runs.
 */
int leave_pstat_out(struct event_list *events, struct counter_set *set, struct str *err)
{
	struct str others = STR_INIT;
	int rc = other_threads(&others, err);

	for (size_t i = 0; i < events->n && !rc; i++) {
		struct event *event = &events->v[i];
		char *given = event->filter;

		if (event->attr.type != PERF_TYPE_TRACEPOINT)
			continue;
		event->filter = given ? xasprintf("(%s) && (%s)", given, others.s) :
					xasprintf("%s", others.s);
		free(given);
	}
	str_release(&others);
	return rc ? rc : counters_set_filters(set, err);
}

/*
 * Called when all threads are there, that of the build-ids too. To write a file makes hits of its own, and these are
 * never a reason for the next file.
 */
static int leave_threads_out(struct recording *rec)
{
	const struct record_plan *plan = rec->plan;
	bool from_switching = rec->switch_event.epoll_fd >= 0 && rec->target.kind == TARGET_CPUS;
	int rc = 0;

	if ((plan->sampling.exclude_perf || from_switching) && rec->file.build_ids)
		buildid_set_begin(rec->file.build_ids);
	if (plan->sampling.exclude_perf)
		rc = leave_pstat_out(plan->events, &rec->set, rec->err);
	if (!rc && from_switching)
		rc = leave_pstat_out(plan->switch_events, &rec->switch_event.set, rec->err);
	return rc;
}

/*
 * Readers collect from the first sample on, while the file is made and what runs is listed. On whole CPUs that list
 * comes first: nothing that starts afterwards is missed.
 */
static int open_and_begin(struct recording *rec)
{
	bool tasks_run = rec->target.kind == TARGET_TASKS;
	struct buildid_set *build_ids = begin_build_ids(rec->plan);
	int rc;

	rec->start_of_delay_ns = now_ns();
	if (rec->plan->delay_ms > 0)
		rec->delay_until_ns = rec->start_of_delay_ns + (uint64_t)rec->plan->delay_ms * NS_PER_MS;
	rc = pipeline_open(&rec->pipeline, rec->plan, &rec->rings, &rec->events, rec->err);
	if (!rc)
		rc = open_filter(rec);
	if (!rc)
		rc = open_unwinding(rec);
	if (rc) {
		buildid_set_free(build_ids);
		return rc;
	}
	open_off_cpu(rec);
	describe_sinks(rec, build_ids);
	rc = leave_threads_out(rec);
	if (!rc && tasks_run && !waits(rec))
		rc = recording_begin(rec);
	if (!rc)
		rc = open_sinks(rec);
	if (!rc && !tasks_run && !waits(rec))
		rc = recording_begin(rec);
	if (!rc)
		pipeline_begin(&rec->pipeline, rec->sink);
	return rc;
}

int recording_start(struct recording *rec)
{
	const struct record_plan *plan = rec->plan;
	int rc = start_child(rec);

	if (!rc)
		rc = resolve(rec);
	if (!rc)
		rc = choose_samples(rec);
	/* First, since the recording's own rings become smaller where too little is left of locked memory. */
	if (!rc && plan->switch_events && plan->switch_events->n)
		rc = switch_event_open(&rec->switch_event, plan, &rec->target, starts_with_exec(rec), rec->err);
	if (!rc)
		rc = open_events(rec);
	if (!rc)
		rc = list_events(rec);
	if (!rc && plan->attach)
		rc = plan->attach(plan->data, &rec->set, rec->err);
	if (rc)
		return rc;
	note_hidden_kernel(rec);
	removal_watch(&rec->set, &rec->target, rec->child_is_target ? &rec->child : NULL,
		      plan->argv ? plan->argv[0] : NULL);
	plan->opened(plan->data, &rec->set);
	describe(rec);
	if (rec->target.kind == TARGET_TASKS)
		watch_tasks(&rec->watch, &rec->target);
	if (plan->dry_run)
		return 0;
	rc = open_and_begin(rec);
	return rc ? rc : release_child(rec);
}
