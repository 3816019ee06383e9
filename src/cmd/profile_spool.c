/* SPDX-License-Identifier: MIT */
/*
 * profile_spool.c: a table is printed into memory, so that nothing of it is on disk before it is whole; then it is
 * handed to the folder, with a line of numbers: what was sampled, and what was not.
 */
#include "cmd/profile_spool.h"

#include "cmd/message.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/utsname.h>

static uint64_t clock_ns(clockid_t id)
{
	struct timespec time = { 0 };

	clock_gettime(id, &time);
	return (uint64_t)timespec_ns(&time);
}

static struct spool_moment this_moment(void)
{
	return (struct spool_moment){ clock_ns(CLOCK_REALTIME), clock_ns(CLOCK_BOOTTIME) };
}

int profile_spool_open(struct profile_spool *spool, const struct profile_words *words)
{
	char *path = xasprintf("%s/sys/kernel/random/boot_id", words->record.what.kern->host.procfs);
	struct str boot_id = STR_INIT, err = STR_INIT;
	const struct spool_moment now = this_moment();
	struct utsname name = { .nodename = "" };
	int code;

	(void)read_line_file(path, &boot_id); /* without one it has zeros */
	uname(&name);
	*spool = (struct profile_spool){ .n_files = 0 };
	code = spool_folder_open(&spool->folder,
				 &(struct spool_options){ .path = words->spool, .host = name.nodename,
							  .boot_id = boot_id.s, .max_bytes = words->spool_max_bytes,
							  .max_age_ns = words->spool_max_age_ns },
				 &now, &err);
	if (code)
		message_error("%s", err.s);
	free(path);
	str_release(&boot_id);
	str_release(&err);
	return code ? EXIT_PSTAT_FAILED : 0;
}

void profile_spool_set_times(struct profile *profile, struct live_source *live, uint64_t from_ns, uint64_t to_ns)
{
	struct replay *replay = &profile->session.replay;

	/* Also an interval without samples has been. */
	replay->first_ns = from_ns;
	replay->last_ns = to_ns;
	live_source_set_clock(live, clock_ns(CLOCK_REALTIME), now_ns());
}

static int take_text(void *context, struct str *text)
{
	struct str *bytes = context;

	str_addn(bytes, text->s, text->len);
	str_reset(text);
	return 0;
}

static void add_events(const struct events *events, struct str *out)
{
	struct str name = STR_INIT;
	const char *between = "";

	for (size_t i = 0; i < events->n; i++) {
		if (!event_is_sampled(events->v[i]))
			continue;
		str_reset(&name);
		data_event_add_name(events->v[i], &name);
		str_add(out, between);
		str_add_json(out, name.s);
		between = ",";
	}
	str_release(&name);
}

/* Members of the line; numbers are of this interval, but for outputs of this run that are in no file. */
static void add_facts(struct profile_spool *spool, const struct top_status *status, uint64_t duration_ns,
		      struct str *out)
{
	const uint64_t samples = status->session->replay.counts.samples;
	struct sample_losses losses;

	top_status_losses(status, &losses);
	str_addf(out,
		 ",\"duration_ns\":%" PRIu64 ",\"samples\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"missed\":%" PRIu64
		 ",\"throttled\":%" PRIu64 ",\"not_written\":%" PRIu64 ",\"events\":[",
		 duration_ns, samples - spool->samples, losses.lost - spool->losses.lost,
		 losses.missed - spool->losses.missed, losses.throttled - spool->losses.throttled, spool->n_failed);
	add_events(status->session->recording->events, out);
	str_add(out, "]");
	spool->samples = samples;
	spool->losses = losses;
}

static void count_output(struct profile_spool *spool, int code, size_t n_bytes, const char *why)
{
	if (code) {
		if (!spool->n_failed_now)
			message_error("%s; measuring continues", why);
		spool->n_failed++;
		spool->n_failed_now++;
		return;
	}
	if (spool->n_failed_now)
		message_error("%s: files can be written again; %" PRIu64 " could not be written",
			      spool->folder.options.path,
			      spool->n_failed_now);
	spool->n_failed_now = 0;
	spool->n_files++;
	spool->n_bytes += n_bytes;
}

void profile_spool_put(struct profile_spool *spool, const struct report_format *format, struct table *table,
		       const struct top_status *status, uint64_t duration_ns)
{
	struct str bytes = STR_INIT, facts = STR_INIT, err = STR_INIT;
	struct output output = { .text = STR_INIT, .write = take_text, .context = &bytes };
	const struct spool_moment now = this_moment();
	int code;

	format->print(table, &output);
	output_end(&output);
	add_facts(spool, status, duration_ns, &facts);
	code = spool_folder_put(&spool->folder, &bytes, duration_ns, facts.s, &now, &err);
	count_output(spool, code, bytes.len, err.s);
	str_release(&output.text);
	str_release(&bytes);
	str_release(&facts);
	str_release(&err);
}

void profile_spool_add_closing(const struct profile_spool *spool, struct str *out)
{
	str_addf(out, "[ spool: %" PRIu64 " files, %.1f kB in ", spool->n_files, (double)spool->n_bytes / 1e3);
	str_add_printable(out, spool->folder.options.path, strlen(spool->folder.options.path));
	if (spool->n_failed)
		str_addf(out, ", %" PRIu64 " could not be written", spool->n_failed);
	str_add(out, " ]\n");
}

void profile_spool_close(struct profile_spool *spool)
{
	spool_folder_close(&spool->folder);
}
