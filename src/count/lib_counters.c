/* SPDX-License-Identifier: MIT */
/*
 * struct pstat_counters: opening events on a target and what can be done with them then. kern/ opens; here the
 * options become its target and options, and what it found becomes facts for the caller.
 *
 * All that reading needs is made when opening: afterwards nothing allocates but what explains.
 */
#include "count/lib.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- options -> target ---- */

static int check_options(const struct pstat_open_options *options, struct str *err)
{
	if (options->target < PSTAT_SELF || options->target > PSTAT_CPUS)
		return fail(err, -EINVAL, "there is no target with number %d", (int)options->target);
	if (options->target == PSTAT_SELF && options->n_ids)
		return fail(err, -EINVAL, "ids cannot be given for the calling thread");
	if ((options->target == PSTAT_TID || options->target == PSTAT_PID) && !options->n_ids)
		return fail(err, -EINVAL, "no threads or processes are given");
	if (options->n_ids && !options->ids)
		return fail(err, -EINVAL, "n_ids is not 0, but ids is NULL");
	if (options->cgroup && options->target != PSTAT_CPUS)
		return fail(err, -EINVAL, "a control group is counted on CPUs: the target must be PSTAT_CPUS");
	if (options->n_cpus && !options->cpus)
		return fail(err, -EINVAL, "n_cpus is not 0, but cpus is NULL");
	if (options->n_cpus && options->target == PSTAT_CPUS)
		return fail(err, -EINVAL, "the CPUs of the target PSTAT_CPUS are its ids");
	if (options->by_cgroup_fd && options->cgroup)
		return fail(err, -EINVAL, "a control group is given by name or by descriptor, not both");
	if (options->by_cgroup_fd && options->target != PSTAT_CPUS)
		return fail(err, -EINVAL, "a control group is counted on CPUs: the target must be PSTAT_CPUS");
	if (options->enabled && options->enable_on_exec)
		return fail(err, -EINVAL, "counting begins when opened or at exec, not both");
	if (options->enable_on_exec && options->target == PSTAT_CPUS)
		return fail(err, -EINVAL, "enable_on_exec needs a task, not CPUs");
	if (options->user_read && options->target != PSTAT_SELF)
		return fail(err, -EINVAL, "user_read needs the calling thread as its target");
	return 0;
}

static void take_self(struct target *target, const struct kern *kern)
{
	*target = (struct target){ .kind = TARGET_TASKS, .procfs = kern->host.procfs };
	target->threads = xcalloc(1, sizeof(*target->threads));
	target->n_threads = target->threads_cap = 1;
	target->threads[0].tid = gettid();
	target->threads[0].pid = getpid();
}

static int take_target(struct target *target, const struct pstat_open_options *options, const struct kern *kern,
		       struct str *err)
{
	struct target_spec words = { 0 };
	struct str ids = STR_INIT;
	int rc;

	if (options->target == PSTAT_SELF) {
		take_self(target, kern);
		return 0;
	}
	for (size_t i = 0; i < options->n_ids; i++)
		str_addf(&ids, "%s%d", i ? "," : "", options->ids[i]);
	words.pids = options->target == PSTAT_PID ? ids.s : NULL;
	words.tids = options->target == PSTAT_TID ? ids.s : NULL;
	words.cpus = options->target == PSTAT_CPUS && options->n_ids ? ids.s : NULL;
	words.all_cpus = options->target == PSTAT_CPUS && !options->n_ids;
	rc = target_resolve(target, &words, kern, err);
	str_release(&ids);
	return rc;
}

/*
 * The control group's name below the mounted hierarchy, of an absolute path or a descriptor. NULL where none is given.
 * A path that is not below the mount is a name already.
 */
static int cgroup_name(const struct pstat_open_options *options, const struct kern *kern, struct str *name,
		       struct str *err)
{
	char link[64], path[PATH_MAX];
	struct str root = STR_INIT;
	ssize_t n;

	str_add(name, options->cgroup ? options->cgroup : "");
	if (options->by_cgroup_fd) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", options->cgroup_fd);
		n = readlink(link, path, sizeof(path));
		if (n < 0 || (size_t)n == sizeof(path))
			return fail(err, -EBADF, "the descriptor %d is not a cgroup",
				    options->cgroup_fd);
		str_addn(name, path, (size_t)n);
	}
	if (cgroup_root(&kern->host, &root) && !strncmp(name->s, root.s, root.len) &&
	    (!name->s[root.len] || name->s[root.len] == '/')) {
		char *below = xstrdup(name->s[root.len] ? name->s + root.len : "/");

		str_reset(name);
		str_add(name, below);
		free(below);
	} else if (options->by_cgroup_fd) {
		str_release(&root);
		return fail(err, -EINVAL, "'%s' is not the folder of a control group that perf events can use",
			    name->s);
	}
	str_release(&root);
	return 0;
}

static int take_cgroup(struct pstat_counters *c, const struct pstat_open_options *options, struct str *err)
{
	struct str name = STR_INIT;
	int rc = 0;

	if (options->cgroup || options->by_cgroup_fd) {
		rc = cgroup_name(options, &c->kern, &name, err);
		if (rc >= 0)
			rc = event_list_set_cgroups(&c->events, name.s, err);
	}
	str_release(&name);
	return rc;
}

/* ---- opening ---- */

static void prepare_samples(struct event_list *list, const struct lib_sampling *sampling)
{
	for (size_t i = 0; i < list->n; i++) {
		struct perf_event_attr *attr = &list->v[i].attr;

		attr->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
		if (sampling->keep_wakeups)
			continue;
		attr->watermark = !sampling->wakeup_events;
		if (sampling->wakeup_events)
			attr->wakeup_events = sampling->wakeup_events;
		else
			attr->wakeup_watermark = sampling->wakeup_bytes;
	}
}

static void lay_out_cells(struct pstat_counters *c)
{
	size_t n = 0;

	c->first_cell = xcalloc(c->set.n + 1, sizeof(*c->first_cell));
	for (size_t i = 0; i < c->set.n; i++) {
		c->first_cell[i] = n;
		n += c->set.v[i].state == COUNTER_OPEN ? c->set.v[i].n_cpus * c->set.v[i].n_threads : 0;
	}
	c->first_cell[c->set.n] = n;
	c->base = xcalloc(n + 1, sizeof(*c->base));
}

static size_t count_open(const struct counter *counter)
{
	size_t n = 0;

	for (size_t i = 0; counter->state == COUNTER_OPEN && i < counter->n_cpus * counter->n_threads; i++)
		n += counter->fds[i] >= 0;
	return n;
}

/* Do events of several types of cores have this name, made from one text? */
static bool needs_pmu_name(const struct pstat_counters *c, size_t i)
{
	const struct event *event = c->set.v[i].event;

	for (size_t k = 0; event->expansion == EXPANSION_CORE_TYPES && k < c->set.n; k++)
		if (k != i && c->set.v[k].event->expansion_id == event->expansion_id &&
		    !strcmp(c->set.v[k].name, c->set.v[i].name))
			return true;
	return false;
}

/* The name says then which one it is. */
static const char *name_of(struct pstat_counters *c, size_t i)
{
	const struct counter *counter = &c->set.v[i];

	if (!needs_pmu_name(c, i))
		return counter->name;
	c->names[i] = xasprintf("%s/%s/", counter->event->pmu_name, counter->name);
	return c->names[i];
}

static void describe(struct pstat_counters *c)
{
	c->names = xcalloc(c->set.n + 1, sizeof(*c->names));
	c->reasons = xcalloc(c->set.n + 1, sizeof(*c->reasons));
	c->remedies = xcalloc(c->set.n + 1, sizeof(*c->remedies));
	c->info = xcalloc(c->set.n + 1, sizeof(*c->info));
	for (size_t i = 0; i < c->set.n; i++) {
		const struct counter *counter = &c->set.v[i];

		c->reasons[i] = lib_own_words(counter->reason);
		c->remedies[i] = lib_own_words(counter->remedy);
		c->info[i] = (struct pstat_counter){
			.size = sizeof(c->info[i]),
			.name = name_of(c, i),
			.pmu = counter->event->pmu_name,
			.unit = counter->event->unit,
			.scale = counter->event->scale,
			.supported = counter->state == COUNTER_OPEN,
			.error = counter->err,
			.reason = c->reasons[i] ? c->reasons[i] : counter->reason,
			.remedy = c->remedies[i] ? c->remedies[i] : counter->remedy,
			.leader = counter->leader,
			.n_members = counter->leader == i ? counter->n_members : 1,
			.n_descriptors = count_open(counter),
			.attr = &counter->attr,
		};
		if (counter->state == COUNTER_SOFTWARE)
			c->info[i].reason = "no event of the kernel: the program pstat measures it itself";
	}
}

/* Events that are a level and not a sum are read in the general way. */
static void plan_quick(struct pstat_counters *c)
{
	for (size_t i = 0; i < c->set.n; i++)
		if (c->set.v[i].event->snapshot)
			return;
	c->quick = quick_read_plan(&c->set);
	if (!c->quick)
		return;
	c->quick_events = xcalloc(c->set.n + 1, sizeof(*c->quick_events));
	for (size_t i = 0; i < c->set.n; i++)
		if (c->set.v[i].state == COUNTER_OPEN)
			c->quick_events[c->n_quick++] = (struct lib_quick){ i, c->first_cell[i], c->info[i].scale,
									     quick_read_values(c->quick)[i] };
}

/* The size that a command's counters are opened with is not a library's business. */
static struct open_options kern_options(const struct pstat_open_options *options, const struct lib_sampling *sampling)
{
	return (struct open_options){
		.inherit = options->inherit,
		.enable_on_exec = options->enable_on_exec,
		.start_disabled = !options->enabled && !options->enable_on_exec,
		.sample = sampling != NULL || options->overflows,
		.per_cpu = (sampling && sampling->per_cpu) || options->n_cpus,
		.leave_limits = !options->may_raise_limit,
		.leave_affinity = !options->may_move_thread,
	};
}

int lib_counters_open(struct pstat_counters **counters, const struct pstat_events *events,
		      const struct pstat_open_options *options, const struct lib_sampling *sampling,
		      const struct kern *kern, struct str *err)
{
	const struct lib_sampling only_periods = { .keep_wakeups = true };
	struct pstat_counters *c;
	struct open_options open_options = kern_options(options, sampling);
	struct intset cpus = INTSET_INIT;
	int rc = check_options(options, err);

	*counters = NULL;
	if (rc < 0)
		return rc;
	c = xcalloc(1, sizeof(*c));
	c->kern = *kern;
	c->user_read = options->user_read;
	c->may_move_thread = options->may_move_thread;
	event_list_copy(&c->events, &events->list);
	rc = take_cgroup(c, options, err);
	for (size_t i = 0; i < options->n_cpus; i++)
		intset_add(&cpus, options->cpus[i]);
	open_options.task_cpus = options->n_cpus ? &cpus : NULL;
	if (open_options.sample)
		prepare_samples(&c->events, sampling ? sampling : &only_periods);
	if (options->user_read)
		lib_user_prepare(&c->events);
	if (rc >= 0)
		rc = take_target(&c->target, options, &c->kern, err);
	if (rc >= 0)
		rc = counters_open(&c->set, &c->events, &c->target, &open_options, &c->kern, &c->notes, err);
	intset_release(&cpus);
	if (rc >= 0 && options->user_read)
		rc = lib_user_open(c, options->inherit);
	if (rc < 0) {
		pstat_close(c);
		return rc;
	}
	lay_out_cells(c);
	describe(c);
	lib_own_notes(&c->notes);
	plan_quick(c);
	*counters = c;
	return 0;
}

struct open_call {
	struct pstat_counters **counters;
	const struct pstat_events *events;
	struct pstat_open_options options;
};

static int open_body(void *data, struct str *err)
{
	struct open_call *call = data;

	return lib_counters_open(call->counters, call->events, &call->options, NULL, &lib_kern, err);
}

int pstat_open(struct pstat_counters **counters, const struct pstat_events *events,
	       const struct pstat_open_options *options, struct pstat_error *error)
{
	struct open_call call = { .counters = counters, .events = events };
	int rc = lib_take_struct(&call.options, sizeof(call.options), options);

	if (!counters || !events)
		return lib_error(error, -EINVAL, "there are no events, or there is no place for the counters");
	*counters = NULL;
	if (rc == -E2BIG)
		return lib_error(error, rc,
			    "the options are newer than this library, which does not know a field they use");
	if (rc < 0)
		return lib_error(error, rc, "the size of the options is not set");
	rc = lib_run(open_body, &call, error);
	if (rc < 0)
		*counters = NULL;
	return rc;
}

static void free_texts(char **texts, size_t n)
{
	for (size_t i = 0; texts && i < n; i++)
		free(texts[i]);
	free(texts);
}

void pstat_close(struct pstat_counters *counters)
{
	if (!counters)
		return;
	lib_user_close(&counters->user);
	free_texts(counters->names, counters->set.n);
	free_texts(counters->reasons, counters->set.n);
	free_texts(counters->remedies, counters->set.n);
	quick_read_free(counters->quick);
	free(counters->quick_events);
	if (counters->set.v)
		counters_close(&counters->set);
	target_release(&counters->target);
	event_list_release(&counters->events);
	note_list_release(&counters->notes);
	free(counters->info);
	free(counters->first_cell);
	free(counters->base);
	free(counters);
}

/* ---- what there is ---- */

size_t pstat_counters_count(const struct pstat_counters *counters)
{
	return counters->set.n;
}

const struct pstat_counter *pstat_counter(const struct pstat_counters *counters, size_t index)
{
	return index < counters->set.n ? &counters->info[index] : NULL;
}

const char *pstat_counters_note(const struct pstat_counters *counters, size_t i)
{
	return i < counters->notes.n ? counters->notes.v[i].text : NULL;
}

/* ---- what can be done with them ---- */

int pstat_enable(struct pstat_counters *counters)
{
	return counters_enable(&counters->set);
}

int pstat_disable(struct pstat_counters *counters)
{
	return counters_disable(&counters->set);
}

/* An open event, or NULL: there is no such one, or it is not supported. */
static const struct counter *open_counter(const struct pstat_counters *counters, size_t index)
{
	if (index >= counters->set.n || counters->set.v[index].state != COUNTER_OPEN)
		return NULL;
	return &counters->set.v[index];
}

/* On CPUs, and not of threads that are followed there. */
static bool counts_all_tasks(const struct counter *counter)
{
	return counter->cpus.n && !counter->follows_tasks;
}

int pstat_descriptors(const struct pstat_counters *counters, size_t index, int *fds, size_t n)
{
	const struct counter *counter = open_counter(counters, index);
	size_t found = 0;

	if (!counter)
		return index < counters->set.n ? 0 : -EINVAL;
	for (size_t cell = 0; cell < counter->n_cpus * counter->n_threads; cell++) {
		if (counter->fds[cell] < 0)
			continue;
		if (found < n)
			fds[found] = counter->fds[cell];
		found++;
	}
	return (int)found;
}

int pstat_descriptor_targets(const struct pstat_counters *counters, size_t index, int *cpus, int *tids, size_t n)
{
	const struct counter *counter = open_counter(counters, index);
	size_t found = 0;

	if (!counter)
		return index < counters->set.n ? 0 : -EINVAL;
	for (size_t cell = 0; cell < counter->n_cpus * counter->n_threads; cell++) {
		if (counter->fds[cell] < 0)
			continue;
		if (cpus && found < n)
			cpus[found] = counter->cpus.n ? counter->cpus.v[cell / counter->n_threads] : -1;
		/* An event that counts all tasks of a CPU has one column for all threads. */
		if (tids && found < n)
			tids[found] = counter->n_threads == counters->target.n_threads && !counts_all_tasks(counter) ?
					      counters->target.threads[cell % counter->n_threads].tid :
					      -1;
		found++;
	}
	return (int)found;
}

int pstat_ids(const struct pstat_counters *counters, size_t index, uint64_t *ids, size_t n)
{
	const struct counter *counter = open_counter(counters, index);
	size_t found = 0;

	if (!counter)
		return index < counters->set.n ? 0 : -EINVAL;
	for (size_t cell = 0; cell < counter->n_cpus * counter->n_threads; cell++) {
		uint64_t id;
		int rc;

		if (counter->fds[cell] < 0)
			continue;
		if (found++ >= n)
			continue;
		rc = counter_slot_id(&counters->set, index, cell, &id);
		if (rc < 0)
			return rc;
		ids[found - 1] = id;
	}
	return (int)found;
}

struct filter_call {
	struct pstat_counters *counters;
	size_t index;
	const char *filter;
};

static int filter_body(void *data, struct str *err)
{
	const struct filter_call *call = data;

	return counter_set_filter(&call->counters->set, call->index, call->filter, err);
}

int pstat_set_filter(struct pstat_counters *counters, size_t index, const char *filter, struct pstat_error *error)
{
	struct filter_call call = { counters, index, filter };

	if (!open_counter(counters, index))
		return lib_error(error, -EINVAL, "there is no open counter of that number");
	if (!filter)
		return lib_error(error, -EINVAL, "there is no filter: \"1\" lets all through");
	return lib_run(filter_body, &call, error);
}

int pstat_set_period(struct pstat_counters *counters, size_t index, uint64_t period)
{
	return open_counter(counters, index) ? counter_set_period(&counters->set, index, period) : -EINVAL;
}

int pstat_attach_bpf(struct pstat_counters *counters, size_t index, int program_fd)
{
	return open_counter(counters, index) ? counter_attach_bpf(&counters->set, index, program_fd) : -EINVAL;
}

int pstat_refresh(struct pstat_counters *counters, size_t index, int n)
{
	return n > 0 && open_counter(counters, index) ? counter_refresh(&counters->set, index, (unsigned)n) : -EINVAL;
}

int pstat_bpf_programs(const struct pstat_counters *counters, size_t index, uint32_t *ids, size_t n)
{
	return open_counter(counters, index) ? counter_bpf_programs(&counters->set, index, ids, n) : -EINVAL;
}
