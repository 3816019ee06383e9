/* SPDX-License-Identifier: MIT */
/*
 * recording_symbols: what a user reads when names go into a recording. The names are looked for as a report without
 * options would: the work is profile/'s.
 */
#include "cmd/recording_symbols.h"

#include "cmd/message.h"
#include "profile/profile.h"

#include <unistd.h>

/* "12.3 kB", as the lines about the recording have it. */
static void add_bytes(struct str *text, uint64_t bytes)
{
	if (bytes < 1000000)
		str_addf(text, "%.1f kB", (double)bytes / 1e3);
	else
		str_addf(text, "%.1f MB", (double)bytes / 1e6);
}

static void print_totals(const struct embedded_totals *totals)
{
	struct str text = STR_INIT;

	str_add(&text, "[ pstat: symbols in the file: ");
	add_bytes(&text, totals->bytes);
	str_addf(&text, ", %zu functions of %zu files", totals->n_functions, totals->n_dsos);
	if (totals->file_bytes) {
		str_add(&text, " of ");
		add_bytes(&text, totals->file_bytes);
	}
	str_add(&text, " ]\n");
	/* Nothing is left to do if this fails. */
	(void)!write_all(STDERR_FILENO, text.s, text.len);
	str_release(&text);
}

int recording_symbols_put(int fd, const char *path, const struct symbols_put *how, const struct run_stop *stop)
{
	const struct sym_options options = {
		.buildid_dir = how->cache_dir,
		.symfs = how->symfs,
		.debuginfod = how->debuginfod,
		.keep_answers = !how->no_cache,
	};
	struct stop_since since;
	const struct interrupt interrupt = stop_interrupt(&since, stop);
	struct embedded_totals totals;
	struct str err = STR_INIT;
	int rc = recording_put_names(fd, path, &options, &interrupt, &totals, &err);

	if (rc)
		message_error("%s", err.s);
	else if (!how->quiet)
		print_totals(&totals);
	str_release(&err);
	return rc;
}
