/* SPDX-License-Identifier: MIT */
/*
 * A session is what belongs together while one recording is read: replay, names, distinct locations and stacks, and the
 * unwinder, which is opened by the first sample that needs it.
 */
#include "profile/session_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/utsname.h>

enum {
	MAX_STACK_DEFAULT = 127,
	MAX_STACK_MOST = UNWIND_FRAMES_MAX,
	LEFTOVERS_MAX = 1024, /* of files that went, a few KiB each: then all that is needed is read again */
};

/* ---- what the recording says of its processes, for sym/ ---- */

static bool recorded_process(const void *context, int32_t pid, struct sym_process *about)
{
	const struct known_process *known = replay_known_process(context, pid);

	if (!known)
		return false;
	*about = (struct sym_process){ .exited = known->exited,
				       .dump = { .path = known->jit_path,
						 .major = known->jit_major,
						 .minor = known->jit_minor,
						 .inode = known->jit_inode } };
	return true;
}

static size_t recorded_mappers(const void *context, const struct dso *dso, int32_t *pids, size_t max)
{
	return replay_mappers(context, dso, pids, max);
}

int session_init_live(struct session *session, const struct recording_info *recording, struct record_source *source,
		      const struct session_options *options, struct str *err)
{
	struct session_private *private;

	*session = (struct session){ .options = *options, .recording = recording, .source = source };
	if (options->max_stack > MAX_STACK_MOST)
		return fail(err, -EINVAL,
			    "--max-stack: %u is more than the %d frames that a sample "
			    "may have",
			    options->max_stack, MAX_STACK_MOST);
	private = xcalloc(1, sizeof(*private));
	if (!session->options.max_stack)
		session->options.max_stack = MAX_STACK_DEFAULT;
	session->private = private;
	session->locations = xcalloc(1, sizeof(*session->locations));
	session->stacks = xcalloc(1, sizeof(*session->stacks));
	str_init(&private->unwind_why);
	private->frames = xreallocarray(NULL, session->options.max_stack, sizeof(*private->frames));
	replay_init(&session->replay, recording, &session->options.replay);
	private->processes = (struct sym_processes){ &session->replay, recorded_process, recorded_mappers };
	session->options.sym.processes = &private->processes;
	session->options.sym.dsos = &session->replay.dsos;
	session->symbols = symbols_new(&session->options.sym, recording);
	return 0;
}

int session_init(struct session *session, struct reader *reader, const struct session_options *options,
		 struct str *err)
{
	int code = session_init_live(session, &reader->recording, &reader->source, options, err);

	session->reader = reader;
	return code;
}

/* Closes the unwinder; a sample that needs it opens it again. Its counts stay. */
static void close_unwinder(struct session *session)
{
	const struct unwind_counts counts = session->unwind.counts;

	if (!session->can_unwind)
		return;
	unwind_close(&session->unwind);
	session->unwind = (struct unwind){ .counts = counts };
	session->can_unwind = false;
	session->private->unwind_state = UNWIND_UNTRIED;
}

void session_release(struct session *session)
{
	struct session_private *private = session->private;

	if (!private)
		return;
	close_unwinder(session);
	stack_cache_release(&private->stack_cache);
	free(private->held);
	index_release(&private->functions);
	code_clock_release(&private->code_clock);
	last_values_release(&private->last_values);
	location_totals_release(&private->forgotten);
	str_release(&private->unwind_why);
	free(private->frames);
	free(private->unwound);
	free(private->linked);
	stitched_calls_release(&private->stitched);
	free(session->locations->v);
	index_release(&session->locations->ix);
	free(session->locations);
	free(session->stacks->v);
	index_release(&session->stacks->ix);
	free(session->stacks);
	symbols_free(session->symbols);
	free(private); /* what the symbols asked is in it */
	replay_release(&session->replay);
	note_list_release(&session->notes);
	*session = (struct session){ .private = NULL };
}

static struct elf_file *file_of(void *context, const struct dso *dso)
{
	struct session *session = context;
	struct str why = STR_INIT;
	struct elf_file *file = symbols_unwind_file(session->symbols, dso, &why);

	str_release(&why);
	return file;
}

static struct elf_file *debug_file_of(void *context, const struct dso *dso)
{
	struct session *session = context;

	return symbols_debug_file(session->symbols, dso);
}

static bool kept_read(void *context, const struct build_id *id, const struct str *key, struct str *bytes)
{
	struct session *session = context;

	return symbols_cached_read(session->symbols, id, key, bytes);
}

static void kept_write(void *context, const struct build_id *id, const struct str *key, const struct str *bytes)
{
	struct session *session = context;

	symbols_cached_write(session->symbols, id, key, bytes);
}

static const struct unwind_keeper keeper = { kept_read, kept_write };

static bool made_find(void *context, const struct dso *dso, uint64_t addr, struct code_piece *piece)
{
	struct session *session = context;

	return symbols_code_piece(session->symbols, dso, addr, session->private->code_clock.now_ns, piece);
}

static bool made_table(void *context, const struct dso *dso, const struct code_piece *piece, struct str *eh_frame)
{
	struct session *session = context;

	return symbols_code_unwind(session->symbols, dso, piece, eh_frame);
}

static const struct unwind_made made = { made_find, made_table };

const char *session_arch(struct session *session)
{
	struct utsname *host = &session->private->host;

	if (session->recording->info->arch)
		return session->recording->info->arch;
	return *host->machine || !uname(host) ? host->machine : NULL;
}

bool session_unwinds(struct session *session)
{
	const struct unwind_counts counts = session->unwind.counts;
	struct session_private *private = session->private;
	const struct unwind_options options = { session->options.unwinder, file_of, debug_file_of, session, &keeper,
						&made };

	if (private->unwind_state != UNWIND_UNTRIED)
		return private->unwind_state == UNWIND_READY;
	session->can_unwind = !unwind_open(&session->unwind, session_arch(session), &options, &private->unwind_why);
	session->unwind.counts = counts;
	private->unwind_state = session->can_unwind ? UNWIND_READY : UNWIND_IMPOSSIBLE;
	/* Room for a whole stack, so that its end is known also if few of its frames are shown. */
	private->unwound_room = session->options.max_stack > MAX_STACK_DEFAULT ? session->options.max_stack :
										 MAX_STACK_DEFAULT;
	free(private->unwound);
	private->unwound = xcalloc(private->unwound_room, sizeof(*private->unwound));
	return session->can_unwind;
}

void session_renumber_files(struct session *session, const uint32_t *now)
{
	close_unwinder(session); /* it has files by index */
	symbols_keep(session->symbols, now);
	if (symbols_leftovers(session->symbols) < LEFTOVERS_MAX)
		return;
	for (size_t i = 0; i < session->locations->n; i++) {
		struct location_row *row = &session->locations->v[i];

		row->symbol_known = row->framed = false;
		row->want = 0;
	}
	symbols_free(session->symbols);
	session->symbols = symbols_new(&session->options.sym, session->recording);
}

const char *session_function(void *context, uint64_t address, uint64_t *start)
{
	struct session *session = context;
	struct replay *replay = &session->replay;
	const struct symbol *symbol;
	struct location location;

	if (!replay->n_threads)
		return NULL;
	replay_locate(replay, replay->threads[0], MISC_KERNEL, address, &location);
	symbol = location.dso ? symbols_find(session->symbols, location.dso, location.addr) : NULL;
	if (!symbol)
		return NULL;
	*start = symbol->start;
	return symbol->name;
}

/* Addresses whose location is left stay known: hot code is met again. */
static void renumber_slots(struct location_slot *slots, const uint32_t *now)
{
	for (size_t i = 0; i < LOCATION_CACHE_SLOTS; i++) {
		struct location_slot *slot = &slots[i];

		slot->location = slot->version && now ? now[slot->location] : LOCATION_NONE;
		if (slot->location == LOCATION_NONE)
			slot->version = 0;
	}
}

void session_forget(struct session *session, const uint32_t *now)
{
	struct session_private *private = session->private;

	renumber_slots(private->location_slots, now);
	stack_cache_release(&private->stack_cache);
	index_clear(&private->functions);
}

void session_end_samples(struct session *session)
{
	stack_cache_release(&session->private->stack_cache);
}

const char *session_kernel_file(const struct session *session, const struct dso *kernel)
{
	return symbols_kernel_file(session->symbols, kernel);
}

const char *session_comm(const struct session *session, uint32_t comm)
{
	return replay_comm(&session->replay, comm);
}

uint32_t session_n_comms(const struct session *session)
{
	return replay_n_comms(&session->replay);
}

const char *session_cgroup(const struct session *session, uint64_t id)
{
	return replay_cgroup(&session->replay, id);
}
