/* SPDX-License-Identifier: MIT */
/*
 * Notes say what the user should know about a recording after it was read: what is not in it, and what could not be
 * named or unwound. One note each, with a number, its share where there is one, and what to do.
 */
#include "profile/session_internal.h"

#include <stdlib.h>

enum { FILES_LISTED = 5 };
static const double listed_pct = 0.1; /* files with a lesser share are only listed with -v */

typedef unsigned long long ull;

static double share_pct(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/*
 * Counts of replay. To add one: a row here, and a line in the "NOTES" of pstat-report(1). The number comes
 * first in what, as %llu.
 */
static const struct count_note {
	size_t offset; /* in struct replay_counts */
	const char *what, *remedy;
} count_notes[] = {
#define COUNT(field) offsetof(struct replay_counts, field)
	{ COUNT(throttles),
	  "sampling throttled: %llu times, because it took more time than the kernel allows",
	  "record at a lower rate (-F), or raise the sysctl kernel.perf_cpu_time_max_percent" },
	{ COUNT(out_of_order), "order: %llu records came after newer ones had been processed",
	  NULL },
	{ COUNT(forced),
	  "order: %llu records were processed early, because more waited for their round than fit "
	  "into memory",
	  NULL },
	{ COUNT(unknown_ids), "unknown events: %llu samples are of no event of the recording",
	  NULL },
	{ COUNT(broken), "damaged: %llu records could not be decoded", NULL },
	{ COUNT(deferred_missing),
	  "callchains: %llu samples wait for user frames that never arrived", NULL },
	{ COUNT(cut_stacks),
	  "callchains: %llu samples came without their copy of the stack, which was cut while recording: their "
	  "callers are missing",
	  "record with larger buffers (--buffer-size), smaller copies (--call-graph dwarf,SIZE) or at a lower rate "
	  "(-F)" },
#undef COUNT
};

static void add_counts(struct session *session)
{
	const char *bytes = (const char *)&session->replay.counts;

	for (size_t i = 0; i < ARRAY_SIZE(count_notes); i++) {
		const struct count_note *row = &count_notes[i];
		uint64_t count;

		memcpy(&count, bytes + row->offset, sizeof(count));
		if (count)
			note_add(&session->notes, false, row->remedy, row->what, (ull)count);
	}
}

static void add_losses(struct session *session)
{
	static const char remedy[] = "record with larger buffers (-m, --buffer-size) or at a lower rate (-F)";
	const struct replay_counts *counts = &session->replay.counts;

	if (counts->lost_events)
		note_add(&session->notes, false, remedy,
			 "lost: %llu records did not fit into the buffers (%.2f %% of all)",
			 (ull)counts->lost_events,
			 share_pct(counts->lost_events, counts->records + counts->lost_events));
	if (counts->lost_samples)
		note_add(&session->notes, false, remedy, "lost: %llu samples (%.2f %% of all)",
			 (ull)counts->lost_samples,
			 share_pct(counts->lost_samples, counts->samples + counts->lost_samples));
}

/* Notes what hardware traced beside the samples. */
static void add_traces(struct session *session)
{
	static const char *const kinds[] = {
		[AUXTRACE_INTEL_PT] = "Intel PT",	[AUXTRACE_INTEL_BTS] = "Intel BTS",
		[AUXTRACE_CORESIGHT] = "Arm CoreSight", [AUXTRACE_ARM_SPE] = "Arm SPE",
		[AUXTRACE_S390] = "s390 CPU-MF",	[AUXTRACE_HISI_PTT] = "HiSilicon PTT",
		[AUXTRACE_VPA_DTL] = "PowerPC VPA DTL",
	};
	const struct replay_counts *counts = &session->replay.counts;
	const char *kind = counts->auxtrace_kind < ARRAY_SIZE(kinds) ? kinds[counts->auxtrace_kind] : NULL;

	if (counts->auxtrace_bytes)
		note_add(&session->notes, false, kind ? "perf script --itrace decodes them" : NULL,
			 "trace data: %llu bytes of AUXTRACE%s%s were not decoded", (ull)counts->auxtrace_bytes,
			 kind ? " from " : "", kind ? kind : "");
}

/* Notes why call stacks of branch registers could not go on with calls of samples before. */
static void add_stitching(struct session *session)
{
	const uint64_t needed = PERF_SAMPLE_BRANCH_CALL_STACK | DATA_BRANCH_HW_INDEX;
	const struct events *events = session->recording->events;
	bool has_calls = false;

	if (!session->options.stitch_calls)
		return;
	for (size_t i = 0; i < events->n; i++)
		has_calls |= (events->v[i]->attr.branch_sample_type & needed) == needed;
	if (!has_calls)
		note_add(&session->notes, false, "record them with --call-graph lbr",
			 "--stitch-lbr: the recording has no call stacks of branch registers that say which register "
			 "is the newest");
	else if (!recorded_branch_registers(session->recording->info))
		note_add(&session->notes, false, NULL,
			 "--stitch-lbr: the recording's header does not say how many branch registers the CPU has");
}

/* How unwinding may end before the outermost frame, and what to do where it was done while recording. */
static const struct {
	const char *why, *remedy, *recorded_remedy;
} unwind_ends[UNWIND_ENDS] = {
#define NO_TABLES "build it with one of them, or install the debug file that has them"
#define LARGER "record more of it: --call-graph dwarf,SIZE"
#define POINTERS "let the run-time compiler keep frame pointers (java -XX:+PreserveFramePointer, python -X perf)"
#define TABLES POINTERS ", or write a dump with unwind tables (python -X perf_jit)"
#define COPIES POINTERS ", or record --call-graph dwarf,raw if its dump comes late (python -X perf_jit)"
#define NO_ROOM "where the recorder had no room: record with larger buffers (--buffer-size) or at a lower rate (-F)"
	[UNWIND_TRUNCATED] = { "the copy of the stack was too short", LARGER, LARGER },
	[UNWIND_NO_COPY] = { "nothing of the stack was copied", NO_ROOM, NO_ROOM },
	[UNWIND_OTHER_STACK] = { "a signal handler had a stack of its own, and the other one was not copied",
				 NULL, NULL },
	[UNWIND_NO_INFO] = { "code without unwind tables or frame pointers", NO_TABLES, NO_TABLES },
	[UNWIND_NO_FILE] = { "files are missing", "install the files that the recording was made with",
			     "unreadable files: record as a user who may read them" },
	[UNWIND_NOT_64] = { "they are of 32-bit programs", NULL, NULL },
	[UNWIND_MADE] = { "code made at run time without frame pointers", TABLES, COPIES },
	[UNWIND_STRAY] = { "a caller's address is not in any code", NULL, NULL },
	[UNWIND_BROKEN] = { "registers or tables lead nowhere", NULL, NULL },
	[UNWIND_LIMIT] = { "they have more frames than are shown", NULL, "record more of them: --max-stack" },
#undef NO_TABLES
#undef NO_ROOM
#undef COPIES
#undef TABLES
#undef POINTERS
#undef LARGER
};

/* More cannot be asked for than what was. */
static bool has_largest_copies(const struct session *session)
{
	const struct events *events = session->recording->events;
	uint32_t bytes = 0;

	for (size_t i = 0; i < events->n; i++)
		if (events->v[i]->attr.sample_stack_user > bytes)
			bytes = events->v[i]->attr.sample_stack_user;
	return bytes >= STACK_DUMP_BYTES_MAX;
}

static const char *remedy_of(const struct session *session, size_t end)
{
	if (end == UNWIND_TRUNCATED && has_largest_copies(session))
		return NULL;
	return session->private->recorded_chains ? unwind_ends[end].recorded_remedy : unwind_ends[end].remedy;
}

/* A share that is printed as 0.0 % is no news. */
static bool is_next_to_none(uint64_t part, uint64_t all)
{
	return share_pct(part, all) < 0.05;
}

static void add_unwinding(struct session *session)
{
	const struct session_private *private = session->private;
	const struct unwind_counts *counts = &session->unwind.counts;
	uint64_t incomplete = 0, most = 0;
	const char *remedy = NULL;
	struct str reasons = STR_INIT;

	if (private->not_unwound)
		note_add(&session->notes, false, NULL,
			 "unwinding: %llu stacks were not unwound: %s", (ull) private->not_unwound,
			 private->unwind_why.s);
	for (size_t end = 0; end < UNWIND_ENDS; end++) {
		if (end == UNWIND_COMPLETE || !counts->ends[end] || !unwind_ends[end].why)
			continue;
		incomplete += counts->ends[end];
		if (is_next_to_none(counts->ends[end], counts->samples))
			continue;
		str_addf(&reasons, "%s%.1f %%: %s", reasons.len ? "; " : "",
			 share_pct(counts->ends[end], counts->samples), unwind_ends[end].why);
		if (counts->ends[end] > most && remedy_of(session, end)) {
			most = counts->ends[end];
			remedy = remedy_of(session, end);
		}
	}
	if (reasons.len)
		note_add(&session->notes, false, remedy,
			 "unwinding: %.1f %% of %llu stacks are incomplete (%s)",
			 share_pct(incomplete, counts->samples), (ull)counts->samples, reasons.s);
	chain_starts_note(session, &session->notes);
	if (counts->guessed)
		note_add(&session->notes, is_next_to_none(counts->guessed, counts->samples), NULL,
			 "unwinding: %.1f %% of %llu stacks have callers found by frame pointers, where files have no "
			 "unwind tables",
			 share_pct(counts->guessed, counts->samples), (ull)counts->samples);
	str_release(&reasons);
}

/* Notes what the tables that stacks were unwound by take, in kB of 1,000 bytes, as other sizes. */
static void add_table(void *context, const struct dso *dso, size_t n_rows, size_t bytes)
{
	struct session *session = context;
	struct str size = STR_INIT;

	str_add_grouped(&size, n_rows);
	str_add(&size, n_rows == 1 ? " row, " : " rows, ");
	str_add_grouped(&size, (bytes + 999) / 1000);
	note_add(&session->notes, true, NULL, "unwind tables of %s: %s kB", dso->name, size.s);
	str_release(&size);
}

/* ---- files without symbols ---- */

struct nameless {
	const struct dso *dso;
	uint64_t n_samples;
};

static int most_samples_first(const void *a, const void *b)
{
	const struct nameless *x = a, *y = b;

	if (x->n_samples != y->n_samples)
		return x->n_samples < y->n_samples ? 1 : -1;
	return x->dso->index < y->dso->index ? -1 : x->dso->index > y->dso->index;
}

static bool is_shown(const struct session *session, const struct dso *dso)
{
	return !session->files_shown || filters_take_file(session->files_shown, dso);
}

/*
 * The files that were looked at, are shown and are in this state, with SYM_FOUND those about which there is
 * something to say; most samples first. Not the kernel where that hides itself: see add_kernel.
 */
static size_t files_of_state(const struct session *session, const struct location_totals *totals, enum sym_state state,
			     struct nameless *files)
{
	const struct replay *replay = &session->replay;
	size_t n = 0;

	for (size_t i = 0; i < replay->dsos.n; i++)
		if (is_shown(session, replay->dsos.v[i]) &&
		    symbols_state(session->symbols, replay->dsos.v[i]) == state &&
		    !symbols_hidden(session->symbols, replay->dsos.v[i]) &&
		    (state == SYM_NONE || *symbols_why(session->symbols, replay->dsos.v[i])))
			files[n++] = (struct nameless){ replay->dsos.v[i], totals->dsos[i].n_samples };
	qsort(files, n, sizeof(*files), most_samples_first);
	return n;
}

static void add_file(const struct session *session, const struct nameless *file, uint64_t all,
		     struct str *out)
{
	const char *why = symbols_why(session->symbols, file->dso);
	const char *path = file->dso->path;

	str_add(out, out->len ? ", " : "");
	if (file->dso->kind == DSO_FILE)
		str_add_printable(out, path, strlen(path));
	else
		str_add(out, file->dso->name);
	str_addf(out, " (%.1f %%%s%s)", share_pct(file->n_samples, all), *why ? ": " : "", why);
}

static void add_files(struct session *session, const struct location_totals *totals, enum sym_state state,
		      const char *what)
{
	struct nameless *files = xcalloc(session->replay.dsos.n + 1, sizeof(*files));
	struct str most = STR_INIT, rest = STR_INIT;
	size_t n = files_of_state(session, totals, state, files), listed = 0, more = 0;
	uint64_t all = totals->n_samples;

	for (size_t i = 0; i < n; i++) {
		bool worth = files[i].n_samples && share_pct(files[i].n_samples, all) >= listed_pct;

		if (worth && listed < FILES_LISTED) {
			add_file(session, &files[i], all, &most);
			listed++;
			continue;
		}
		more += worth;
		add_file(session, &files[i], all, &rest);
	}
	if (more)
		str_addf(&most, ", and %zu more (-v lists them)", more);
	if (listed)
		note_add(&session->notes, false, symbols_remedy(session->symbols, files[0].dso),
			 "%s: %s", what, most.s);
	if (rest.len)
		note_add(&session->notes, true, NULL, "%s, less often: %s", what, rest.s);
	str_release(&most);
	str_release(&rest);
	free(files);
}

/* ---- where names are from ---- */

/* Counts those that have any; those that are in the recording itself say so. */
static void add_sources(struct session *session, const struct location_totals *totals)
{
	const struct replay *replay = &session->replay;

	for (size_t i = 0; i < replay->dsos.n; i++) {
		const struct dso *dso = replay->dsos.v[i];
		const char *source = symbols_source(session->symbols, dso);

		if (source && totals->dsos[i].seen && is_shown(session, dso))
			note_add(&session->notes, true, NULL, "names of %s are from %s", dso->name, source);
	}
}

/* ---- the kernel, where it hides its addresses ---- */

static bool has_kernel(const struct replay *replay)
{
	for (size_t i = 0; i < replay->dsos.n; i++)
		if (replay->dsos.v[i]->kind == DSO_KERNEL)
			return true;
	return false;
}

/* script does not count how often a location was sampled. */
static void add_hidden(struct session *session, const char *what, const char *remedy, uint64_t part, uint64_t all)
{
	if (all)
		note_add(&session->notes, false, remedy,
			 "%s: %.1f %% of the samples are in the kernel, without names", what,
			 share_pct(part, all));
	else
		note_add(&session->notes, false, remedy, "%s: functions of the kernel have no names", what);
}

/* From whoever reads the recording; or from who made it, and then there are not even maps. */
static void add_kernel(struct session *session, const struct location_totals *totals)
{
	const struct replay *replay = &session->replay;
	const struct dso *hidden = NULL;
	uint64_t n_hidden = 0;

	for (size_t i = 0; i < replay->dsos.n; i++)
		if (totals->dsos[i].seen && symbols_hidden(session->symbols, replay->dsos.v[i])) {
			hidden = replay->dsos.v[i];
			n_hidden += totals->dsos[i].n_samples;
		}
	if (hidden)
		add_hidden(session, "kernel addresses are hidden", symbols_remedy(session->symbols, hidden),
			   n_hidden, totals->n_samples);
	if (totals->unmapped && !has_kernel(replay))
		add_hidden(session, "kernel addresses were hidden while recording",
			   "record as root or with CAP_SYSLOG, or with sysctl kernel.kptr_restrict=0",
			   totals->n_unmapped, totals->n_samples);
}

void session_add_notes(struct session *session)
{
	const struct note_list *reader_notes = session->recording->notes;
	struct location_totals totals;

	for (size_t i = 0; i < reader_notes->n; i++)
		note_add(&session->notes, reader_notes->v[i].verbose, reader_notes->v[i].remedy,
			 "%s", reader_notes->v[i].text);
	if (session->reader && session->reader->missing.len)
		note_add(&session->notes, false, NULL, "%s", session->reader->missing.s);
	add_losses(session);
	add_counts(session);
	add_traces(session);
	add_stitching(session);
	add_unwinding(session);
	unwind_tables(&session->unwind, add_table, session);
	if (session->names_unseen)
		return;
	location_totals_all(&totals, session);
	add_kernel(session, &totals);
	add_files(session, &totals, SYM_NONE, "no symbols");
	add_files(session, &totals, SYM_FOUND, "names missing or in doubt");
	add_sources(session, &totals);
	location_totals_release(&totals);
}
