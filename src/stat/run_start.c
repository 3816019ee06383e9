/*
 * The beginning of a run: the command is forked and held, what is measured becomes a target, all
 * counters are opened on it, and only then does anything go.
 *
 * A command that is itself the target is counted from its exec on, by the kernel (enable_on_exec), so
 * that nothing of pstat is in the counts; all else is enabled by hand.
 */
#include "stat/run.h"

#include <errno.h>

static bool words_name_target(const struct target_spec *words)
{
	return words->pids || words->tids || words->cpus || words->all_cpus;
}

static int start_child(struct run *run)
{
	const struct stat_plan *plan = run->plan;
	int rc;

	if (!plan->argv)
		return 0;
	rc = plan->stdout_taken ?
		     child_fork_off_stdout(&run->child, plan->argv, plan->found, run->err) :
		     child_fork(&run->child, plan->argv, plan->found, run->err);
	run->has_child = !rc;
	run->child_is_target = !rc && !words_name_target(&plan->target);
	return rc;
}

static int resolve(struct run *run)
{
	struct target_spec words = run->plan->target;
	int rc;

	words.command = run->child_is_target ? run->child.pid : 0;
	rc = target_resolve(&run->target, &words, run->plan->kern, run->err);
	if (rc == -EINVAL)
		run->failed_status = EXIT_BAD_USAGE;
	return rc;
}

static bool starts_with_exec(const struct run *run)
{
	return run->child_is_target && run->plan->delay_ms == 0;
}

static int open_counters(struct run *run)
{
	const struct stat_plan *plan = run->plan;
	const struct event_list *events = run->passes ? passes_events(run) : plan->events;
	struct open_options options = plan->open;
	int rc = 0;

	options.enable_on_exec = starts_with_exec(run);
	options.start_disabled = !options.enable_on_exec;
	options.single_reads = plan->aggr == AGGR_THREAD;
	options.first_group = run->index;
	run->set = (struct counter_set){ .kern = plan->kern, .notes = plan->notes };
	if (!plan->null_run)
		rc = counters_open(&run->set, events, &run->target, &options, plan->kern,
				   plan->notes, run->err);
	run->set_open = !rc && !plan->null_run;
	if (rc)
		return rc;
	removal_watch(&run->set, &run->target, run->child_is_target ? &run->child : NULL,
		    plan->argv ? plan->argv[0] : NULL);
	if (!run->index)
		plan->opened(plan->emit_data, &run->set);
	if (run->passes)
		return 0;
	rc = reporter_attach(run->reporter, &count_backend_perf, &run->set, &run->target, run->err);
	if (!rc && plan->tap)
		rc = plan->tap->begin(plan->tap->data, &run->set, &run->target, run->err);
	return rc;
}

static uint64_t later(uint64_t ns, uint64_t ms)
{
	return ms ? ns + ms * NS_PER_MS : NEVER_NS;
}

int run_begin_counting(struct run *run)
{
	const struct stat_plan *plan = run->plan;
	int rc = 0;

	run->delay_until_ns = NEVER_NS;
	if (!starts_with_exec(run) && plan->delay_ms >= 0)
		rc = counters_enable(&run->set);
	run->start_ns = run->last_ns = now_ns();
	run->look_at_ns = run->start_ns;
	run->timeout_at_ns = later(run->start_ns, plan->timeout_ms);
	ticker_start(&run->ticker, run->start_ns, (uint64_t)plan->interval_ms * NS_PER_MS);
	if (rc)
		return fail(run->err, rc, "the counters cannot be started: %s", strerror(-rc));
	slicing_begin(run);
	return 0;
}

static int release_child(struct run *run)
{
	const char *name = run->has_child ? run->plan->argv[0] : "";
	int rc = run->has_child ? child_release(&run->child) : 0;

	if (!rc && starts_with_exec(run))
		removal_begin_at_exec(&run->set);
	if (!rc)
		return 0;
	run->failed_status = rc == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	return fail(run->err, rc, rc == -ENOENT ? "%s: command not found" : "%s: cannot be executed: %s",
		    name, strerror(-rc));
}

int run_start_uncounted(struct run *run)
{
	int rc = start_child(run);

	run->timeout_at_ns = later(now_ns(), run->plan->timeout_ms);
	return rc ? rc : release_child(run);
}

int run_start(struct run *run)
{
	const struct stat_plan *plan = run->plan;
	int rc = start_child(run);

	if (!rc)
		rc = resolve(run);
	if (!rc)
		rc = open_counters(run);
	if (!rc && run->target.kind == TARGET_TASKS)
		watch_tasks(&run->watch, &run->target);
	if (!rc && plan->delay_ms > 0)
		run->delay_until_ns = later(now_ns(), (uint64_t)plan->delay_ms);
	else if (!rc)
		rc = run_begin_counting(run);
	return rc ? rc : release_child(run);
}
