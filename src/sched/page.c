/* SPDX-License-Identifier: MIT */
/*
 * page: when each CPU and each task ran, as one HTML file for a browser, which asks nobody for anything. Style, page
 * and scripts are files of their own that the build puts into the program; between them stands what was recorded, as
 * JSON in a script element that is never run:
 *
 *	{ "format": "pstat sched", "format_version": 1,
 *	  "runs": text           all runs in the order of their ends, packed: see below
 *	  "n_runs": number,
 *	  "states": "RSD..."     letters of the kernel, by their number
 *	  "start_ns", "end_ns": of the time that is shown
 *	  "n_cpus": number,
 *	  "tasks": { "comm": [ text, ... ], "tid", "pid": [ -1: not known ],
 *	             "ready": [ of one that waits for a CPU at the end: since when, in ns after start_ns; else null ] },
 *	  "lost": [ [ ns after start_ns, CPU or -1, number ], ... ],
 *	  "title": text, "caption": [ text, ... ] }
 *
 * A run is seven numbers, and all runs are base64 of these. A number is bytes of 7 bits, the least first; the top bit
 * says that more follow.
 *
 *	ns from the end of the run before, of any CPU, to its end
 *	ns that it lasted
 *	CPU
 *	number of the task
 *	bit 0: what the task did since its last run is known; 1: when it began is not, and it lasted since the CPU's
 *	    switch before; 2: it goes on at the end; and from bit 3 on the number of the state that it ended in
 *	0, or 1 and the ns that it could run and did not before it began
 *	0, or 1 and the number of the task that woke it
 *
 * A CPU is idle where it has no run; where it is not known that it was, idleness is a run with bit 1. So a page has
 * some 12 bytes for each run, and this file keeps nothing of a run that has ended.
 *
 * A clock that goes back stands still until it is where it was.
 */
#include "sched/sched_internal.h"

#include <stdlib.h>

enum { LOSSES_MAX = 10000, STATES_MAX = 32, NUMBER_BYTES = 10, RUN_NUMBERS = 7, COMMAND_BYTES = 200 };
enum { WAIT_KNOWN = 1, BEGAN_UNSEEN = 2, GOES_ON = 4, STATE_SHIFT = 3 };

extern const char page_css[], page_html[], page_model_js[], page_draw_js[], page_view_js[];

struct page_cpu {
	const struct sched_task *task; /* that runs; NULL: there was no switch */
	uint64_t since_ns; /* the last switch */
	const struct sched_task *waker; /* of that run */
	bool known; /* nothing was lost since then */
};

struct page_loss {
	uint64_t time_ns, n;
	int64_t cpu;
};

struct page {
	struct sched *sched;
	const struct page_options *options;
	struct output *output;
	struct page_cpu *cpus;
	size_t n_cpus;
	struct page_loss *losses;
	size_t n_losses, cap_losses;
	char states[STATES_MAX + 1];
	uint64_t start_ns, end_ns; /* of the switches; 0: there was none */
	uint64_t last_ns; /* the end of the last run that was written */
	uint64_t n_runs, n_switches;
	uint8_t bytes[3]; /* for the next four characters of base64 */
	unsigned n_bytes;
};

/* ---- runs, packed ---- */

static void add_four(struct page *page)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *b = page->bytes;
	char four[] = { digits[b[0] >> 2], digits[(b[0] & 3) << 4 | b[1] >> 4], digits[(b[1] & 15) << 2 | b[2] >> 6],
			digits[b[2] & 63] };

	for (unsigned i = page->n_bytes + 1; i < sizeof(four); i++)
		four[i] = '=';
	str_addn(&page->output->text, four, sizeof(four));
	memset(page->bytes, 0, sizeof(page->bytes));
	page->n_bytes = 0;
}

static void add_number(struct page *page, uint64_t number)
{
	do {
		page->bytes[page->n_bytes++] = (uint8_t)(number > 0x7f ? number | 0x80 : number);
		if (page->n_bytes == sizeof(page->bytes))
			add_four(page);
	} while (number >>= 7);
}

/* The number of a state. More of them than there is room for share the last. */
static unsigned state_number(struct page *page, char state)
{
	const size_t n = strlen(page->states);
	const char *known;

	if (state <= ' ' || state > '~')
		state = '?';
	known = strchr(page->states, state);
	if (known)
		return (unsigned)(known - page->states);
	if (n == STATES_MAX)
		return STATES_MAX - 1;
	page->states[n] = state;
	return (unsigned)n;
}

struct page_run {
	uint64_t begin_ns, end_ns;
	uint32_t cpu;
	const struct sched_task *task, *waker;
	unsigned flags;
	char state; /* that it ended in */
	uint64_t out_ns, ready_ns; /* the end of the task's run before, and since when it was ready; 0: not known */
};

static void add_run(struct page *page, const struct page_run *run)
{
	const struct page_options *options = page->options;
	const uint64_t begin_ns = run->begin_ns, end_ns = run->end_ns > page->last_ns ? run->end_ns : page->last_ns;
	const bool seen = !(run->flags & BEGAN_UNSEEN);
	unsigned flags = run->flags;

	if (run->end_ns < options->start_ns || (options->end_ns && begin_ns > options->end_ns))
		return;
	if (seen && run->out_ns && run->out_ns <= begin_ns)
		flags |= WAIT_KNOWN;
	add_number(page, end_ns - page->last_ns);
	add_number(page, run->end_ns > begin_ns ? run->end_ns - begin_ns : 0);
	add_number(page, run->cpu);
	add_number(page, run->task->index);
	add_number(page, flags | state_number(page, run->state) << STATE_SHIFT);
	add_number(page, seen && run->ready_ns && run->ready_ns <= begin_ns ? begin_ns - run->ready_ns + 1 : 0);
	add_number(page, seen && run->waker ? run->waker->index + 1 : 0);
	page->last_ns = end_ns;
	page->n_runs++;
}

/* ---- events ---- */

static void on_begin(void *context)
{
	const struct page *page = context;
	struct str *out = &page->output->text;

	page_begin(out, "When tasks ran", page_css, page_html);
	str_add(out, "{\"format\":\"pstat sched\",\"format_version\":1,\n\"runs\":\"");
}

/* The times of what is shown begin with the first switch, or with what was asked for. */
static void begin_times(struct page *page, uint64_t time_ns)
{
	if (page->start_ns)
		return;
	page->start_ns = time_ns > page->options->start_ns ? time_ns : page->options->start_ns;
	page->last_ns = page->start_ns;
}

static void on_switch(void *context, const struct sched_switch *change)
{
	struct page *page = context;
	struct page_cpu *cpu;
	struct page_run run = {
		.begin_ns = change->begin_ns,
		.end_ns = change->time_ns,
		.cpu = change->cpu,
		.task = change->prev,
		.state = change->prev_state,
		.out_ns = change->out_ns,
		.ready_ns = change->ready_ns,
	};

	page->n_switches++;
	begin_times(page, change->time_ns);
	VEC_REACH(page->cpus, page->n_cpus, change->cpu);
	cpu = &page->cpus[change->cpu];
	run.waker = cpu->waker;
	if (!change->begin_ns) {
		run.flags = BEGAN_UNSEEN;
		run.begin_ns = cpu->task ? cpu->since_ns : page->start_ns;
	}
	if (change->prev->tid || run.flags)
		add_run(page, &run);
	*cpu = (struct page_cpu){ change->next, change->time_ns, change->next_waker, true };
	if (change->time_ns > page->end_ns)
		page->end_ns = change->time_ns;
}

static void on_loss(void *context, uint64_t time_ns, int64_t cpu, uint64_t n)
{
	struct page *page = context;

	for (size_t i = 0; i < page->n_cpus; i++)
		if (cpu < 0 || (size_t)cpu == i)
			page->cpus[i].known = false;
	if (page->n_losses == LOSSES_MAX)
		return;
	VEC_GROW(page->losses, page->n_losses, page->cap_losses);
	page->losses[page->n_losses++] = (struct page_loss){ time_ns, n, cpu };
}

/* ---- the end ---- */

/* Runs that go on do so up to the last switch of all. */
static void add_last_runs(struct page *page)
{
	for (uint32_t i = 0; i < page->n_cpus; i++) {
		const struct page_cpu *cpu = &page->cpus[i];
		const struct page_run run = {
			.begin_ns = cpu->since_ns,
			.end_ns = page->end_ns,
			.cpu = i,
			.task = cpu->task,
			.waker = cpu->waker,
			.flags = GOES_ON | (cpu->known ? 0 : BEGAN_UNSEEN),
			.state = 'R',
			.out_ns = cpu->task ? cpu->task->out_ns : 0,
			.ready_ns = cpu->task ? cpu->task->ready_ns : 0,
		};

		if (cpu->task && (cpu->task->tid || !cpu->known))
			add_run(page, &run);
	}
	if (page->n_bytes)
		add_four(page);
}

static long long since_start(const struct page *page, uint64_t time_ns)
{
	return (long long)(time_ns - page->start_ns);
}

static void add_comms(struct page *page, struct sched_task *const *tasks, size_t n)
{
	struct str *out = &page->output->text;

	str_add(out, "\"comm\":[");
	for (size_t i = 0; i < n; i++) {
		if (i)
			str_addc(out, ',');
		str_add_page_json(out, tasks[i]->comm);
		output_step(page->output);
	}
	str_addc(out, ']');
}

static long long task_tid(const struct sched_task *task)
{
	return task->tid;
}

static long long task_pid(const struct sched_task *task)
{
	return task->pid;
}

static void add_numbers(struct page *page, const char *name, struct sched_task *const *tasks, size_t n,
			long long (*number)(const struct sched_task *task))
{
	struct str *out = &page->output->text;

	str_addf(out, ",\n\"%s\":[", name);
	for (size_t i = 0; i < n; i++) {
		str_addf(out, "%s%lld", i ? "," : "", number(tasks[i]));
		output_step(page->output);
	}
	str_addc(out, ']');
}

static void add_ready(struct page *page, struct sched_task *const *tasks, size_t n)
{
	struct str *out = &page->output->text;

	str_add(out, ",\n\"ready\":[");
	for (size_t i = 0; i < n; i++) {
		str_add(out, i ? "," : "");
		if (tasks[i]->state == SCHED_READY && tasks[i]->ready_ns)
			str_addf(out, "%lld", since_start(page, tasks[i]->ready_ns));
		else
			str_add(out, "null");
		output_step(page->output);
	}
	str_addc(out, ']');
}

static void add_losses(struct page *page)
{
	struct str *out = &page->output->text;

	str_add(out, ",\n\"lost\":[");
	for (size_t i = 0; i < page->n_losses; i++)
		str_addf(out, "%s[%lld,%lld,%llu]", i ? "," : "", since_start(page, page->losses[i].time_ns),
			 (long long)page->losses[i].cpu, (unsigned long long)page->losses[i].n);
	str_addc(out, ']');
}

/* ---- the caption ---- */

static void add_title(struct page *page)
{
	const struct info *info = sched_session(page->sched)->recording->info;
	struct str title = STR_INIT;

	str_add(&title, "When tasks ran");
	for (size_t i = 0; i < info->cmdline.n && title.len < COMMAND_BYTES; i++) {
		str_add(&title, i ? " " : ": ");
		str_add_printable(&title, info->cmdline.v[i], strlen(info->cmdline.v[i]));
	}
	str_add(&page->output->text, ",\n\"title\":");
	str_add_page_json(&page->output->text, title.s);
	str_release(&title);
}

/* Tells what a terminal would have said beside it. */
static void add_caption(struct page *page)
{
	const struct sched_totals *totals = sched_totals(page->sched);
	const struct info *info = sched_session(page->sched)->recording->info;
	const char *const machine[] = { info->hostname, info->os_release, info->arch, info->cpu_desc };
	struct str *out = &page->output->text, line = STR_INIT;

	str_add_grouped(&line, page->n_switches);
	str_addf(&line, " switches on %u CPUs in ", sched_n_cpus(page->sched));
	sched_add_s(&line, page->end_ns - page->start_ns, 0);
	str_add(&line, " s");
	str_add(out, ",\n\"caption\":[");
	str_add_page_json(out, line.s);
	str_reset(&line);
	for (size_t i = 0; i < ARRAY_SIZE(machine); i++) {
		if (!machine[i] || !machine[i][0])
			continue;
		str_add(&line, line.len ? ", " : "Recorded on ");
		str_add_printable(&line, machine[i], strlen(machine[i]));
	}
	if (line.len) {
		str_add(out, ",\n");
		str_add_page_json(out, line.s);
	}
	if (totals->n_lost)
		str_addf(out, ",\n\"Lost: %llu records\"", (unsigned long long)totals->n_lost);
	if (totals->n_mismatched)
		str_addf(out, ",\n\"%llu switches are from a task that the CPU did not run: events are missing\"",
			 (unsigned long long)totals->n_mismatched);
	str_add(out, "]}\n");
	str_release(&line);
}

static void add_end(struct page *page)
{
	const char *const scripts[] = { page_model_js, page_draw_js, page_view_js };
	struct str *out = &page->output->text;
	size_t n;
	struct sched_task *const *tasks = sched_tasks(page->sched, &n);
	const uint64_t asked_ns = page->options->end_ns;

	if (asked_ns && asked_ns < page->end_ns)
		page->end_ns = asked_ns;
	if (page->end_ns < page->start_ns)
		page->end_ns = page->start_ns;
	str_addf(out, "\",\n\"n_runs\":%llu,\"states\":", (unsigned long long)page->n_runs);
	str_add_page_json(out, page->states);
	str_addf(out, ",\"start_ns\":%llu,\"end_ns\":%llu,\"n_cpus\":%u,\n\"tasks\":{",
		 (unsigned long long)page->start_ns, (unsigned long long)page->end_ns, sched_n_cpus(page->sched));
	add_comms(page, tasks, n);
	add_numbers(page, "tid", tasks, n, task_tid);
	add_numbers(page, "pid", tasks, n, task_pid);
	add_ready(page, tasks, n);
	str_addc(out, '}');
	add_losses(page);
	add_title(page);
	add_caption(page);
	page_end(out, scripts, ARRAY_SIZE(scripts));
}

int page_print(struct sched *sched, const struct page_options *options, struct output *output,
	       void (*progress)(void *context, double part), void *context, struct str *err)
{
	struct page page = { .sched = sched, .options = options, .output = output };
	const struct sched_view view = { .context = &page, .begin = on_begin, .switched = on_switch, .lost = on_loss };
	int rc = sched_read(sched, &view, output, progress, context, err);

	if (!rc) {
		add_last_runs(&page);
		add_end(&page);
		rc = output_step(output);
	}
	free(page.cpus);
	free(page.losses);
	return rc;
}
