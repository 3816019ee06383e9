/* SPDX-License-Identifier: MIT */
/*
 * Distinct addresses of code and data. A location is found again by its file, its address there, which of the codes
 * that a compiler put there in turn it is, the mode it ran in and whether it is a return address: the last two,
 * because they change what is printed and which function is meant. An end of a branch in a chain is found by the
 * branch's flags, too: from them, what branches did is summed up for each frame of a tree. Rows go only all at once,
 * or when a profile is compacted: there are as many as distinct addresses were sampled, or functions where these are
 * all that is asked for. Then those stay that cells have.
 *
 * A row's names are looked up when they are first asked for, at the address of the call where the location is
 * a return address: the instruction after the last call of a function may belong to the next one.
 */
#include "profile/session_internal.h"

#include <stdlib.h>

static const struct frame frame_unknown;

static uint64_t location_hash(const struct location_row *row)
{
	const uint64_t words[] = {
		row->dso ? row->dso->index + 1ULL : 0,
		row->addr,
		(uint64_t)row->code << 32 | (uint64_t)row->mode << 1 | row->is_return,
		row->branch,
	};

	return hash_words(words, ARRAY_SIZE(words));
}

static bool same_location(const struct location_row *a, const struct location_row *b)
{
	return a->addr == b->addr && a->dso == b->dso && a->mode == b->mode && a->code == b->code &&
	       a->is_return == b->is_return && a->branch == b->branch;
}

static struct location_row row_of(const struct location *location, uint64_t ip, uint32_t code, bool is_return)
{
	return (struct location_row){ .dso = location->dso,
				      .addr = location->addr,
				      .ip = ip,
				      .map_start = location->map_start,
				      .map_bytes = location->map_end - location->map_start,
				      .code = code,
				      .mode = location->mode,
				      .is_return = is_return };
}

static uint32_t intern(struct locations *locations, const struct location_row *row)
{
	uint64_t hash = location_hash(row);
	uint32_t i;

	if (INDEX_FIND(&locations->ix, hash, i, same_location(&locations->v[i], row)))
		return i;
	VEC_GROW(locations->v, locations->n, locations->cap);
	locations->v[locations->n] = *row;
	index_add(&locations->ix, hash, (uint32_t)locations->n);
	return (uint32_t)locations->n++;
}

uint32_t locations_intern(struct locations *locations, const struct location *location, uint64_t ip, uint32_t code,
			  bool is_return)
{
	const struct location_row row = row_of(location, ip, code, is_return);

	return intern(locations, &row);
}

bool location_is_kernel(const struct location_row *row)
{
	return row && (row->mode == MISC_KERNEL || row->mode == MISC_GUEST_KERNEL || row->mode == MISC_HYPERVISOR);
}

bool location_is_jit(const struct location_row *row)
{
	return row && row->dso && (row->dso->kind == DSO_ANON || row->dso->jit_pid != -1);
}

enum frame_kind location_frame_kind(const struct location_row *row, const struct symbol *symbol, bool inlined)
{
	if (inlined)
		return FRAME_INLINED;
	if (!symbol_has_name(symbol))
		return FRAME_UNKNOWN;
	return location_is_kernel(row) ? FRAME_KERNEL : location_is_jit(row) ? FRAME_JIT : FRAME_USER;
}

uint32_t *locations_keep(struct locations *locations, const bool *used)
{
	uint32_t *now = xcalloc(locations->n + 1, sizeof(*now));
	size_t n = 0;

	index_clear(&locations->ix);
	for (size_t i = 0; i < locations->n; i++) {
		now[i] = LOCATION_NONE;
		if (!used[i])
			continue;
		now[i] = (uint32_t)n;
		locations->v[n] = locations->v[i];
		index_add(&locations->ix, location_hash(&locations->v[n]), (uint32_t)n);
		n++;
	}
	locations->n = n;
	return now;
}

static struct frame_list frames_at(struct session *session, const struct location_row *row, uint64_t addr)
{
	return row->code ? symbols_code_frames(session->symbols, row->dso, addr, row->code, row->want) :
			   symbols_frames(session->symbols, row->dso, addr, row->want);
}

const struct frame_list *location_frames(struct session *session, uint32_t location, unsigned want)
{
	static const struct frame_list nothing = { &frame_unknown, 1 };
	struct location_row *row;

	if (location == LOCATION_NONE)
		return &nothing;
	row = &session->locations->v[location];
	if (!row->dso)
		return &nothing;
	if (row->framed && !(want & ~row->want))
		return &row->frames;
	row->want |= want;
	row->framed = true;
	row->frames = frames_at(session, row, row->addr - row->is_return);
	/* The place that a signal's handler returns to is a function's start: nothing called from there. */
	if (row->is_return && !row->code && !row->frames.v[row->frames.n - 1].symbol)
		row->frames = frames_at(session, row, row->addr);
	return &row->frames;
}

static bool frames_are_ahead(const struct location_row *row, unsigned want)
{
	return row->dso && row->dso->kind == DSO_FILE && !row->code && (!row->framed || (want & ~row->want));
}

void locations_frames_ahead(struct session *session, unsigned want)
{
	const struct locations *locations = session->locations;
	const struct stacks *stacks = session->stacks;
	bool *seen = xcalloc(locations->n + 1, sizeof(*seen));
	struct symbols_place *places = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 1; i < stacks->n; i++) {
		uint32_t location = stacks->v[i].location;
		const struct location_row *row = &locations->v[location];

		if (seen[location] || !frames_are_ahead(row, want))
			continue;
		seen[location] = true;
		VEC_GROW(places, n, cap);
		places[n++] = (struct symbols_place){ row->dso, row->addr - row->is_return };
	}
	symbols_ahead(session->symbols, places, n, want);
	free(places);
	free(seen);
}

static const struct symbol *find_symbol(struct session *session, const struct location_row *row)
{
	const struct symbol *symbol;

	if (row->code)
		return symbols_code_frames(session->symbols, row->dso, row->addr, row->code, 0).v[0].symbol;
	symbol = symbols_find(session->symbols, row->dso, row->addr - row->is_return);
	/* See location_frames: where a signal's handler returns to. */
	return symbol || !row->is_return ? symbol : symbols_find(session->symbols, row->dso, row->addr);
}

const struct symbol *location_symbol(struct session *session, uint32_t location)
{
	struct location_row *row = location == LOCATION_NONE ? NULL : &session->locations->v[location];

	if (!row || !row->dso)
		return NULL;
	if (!row->symbol_known)
		row->symbol = row->framed ? row->frames.v[row->frames.n - 1].symbol : find_symbol(session, row);
	row->symbol_known = true;
	return row->symbol;
}

static uint64_t function_hash(const struct location_row *row)
{
	return hash_word((uintptr_t)row->symbol ^ row->mode);
}

/* The location of a row whose symbol is known: that of its function, if there is one already. */
static uint32_t intern_function(struct session *session, const struct location_row *row)
{
	struct index *functions = &session->private->functions;
	const struct location_row *v = session->locations->v;
	uint64_t hash = function_hash(row);
	uint32_t i;

	if (row->symbol && INDEX_FIND(functions, hash, i, v[i].symbol == row->symbol && v[i].mode == row->mode))
		return i;
	i = intern(session->locations, row);
	if (row->symbol)
		index_add(functions, hash, i);
	return i;
}

void session_name_functions(struct session *session)
{
	for (uint32_t i = 0; i < session->locations->n; i++)
		if (location_symbol(session, i))
			index_add(&session->private->functions, function_hash(&session->locations->v[i]), i);
}

unsigned session_start_line(struct session *session, const struct symbol *symbol)
{
	struct frame_list frames;

	if (!symbol || symbol->inlined || !symbol->dso)
		return symbol ? symbol->decl_line : 0;
	frames = symbols_frames(session->symbols, symbol->dso, symbol->start, SYM_LINES);
	return frames.n && frames.v[frames.n - 1].symbol == symbol ? frames.v[frames.n - 1].line.line : 0;
}

uint64_t location_own_addr(const struct location_row *row)
{
	bool module = row->dso && (row->dso->kind == DSO_MODULE || row->dso->kind == DSO_GUEST_MODULE);

	return module ? row->addr - row->dso->start : row->addr;
}

char location_level(const struct location_row *row)
{
	static const char levels[] = {
		[MISC_KERNEL] = 'k',       [MISC_USER] = '.',       [MISC_HYPERVISOR] = 'H',
		[MISC_GUEST_KERNEL] = 'g', [MISC_GUEST_USER] = 'u',
	};

	return row->mode < ARRAY_SIZE(levels) && levels[row->mode] ? levels[row->mode] : 'H';
}

/* ---- addresses that were seen ---- */

/*
 * A small table in front of replay_locate and locations_intern: samples meet the same few thousand addresses
 * again and again. A slot holds while the maps are those it was filled from, and, in a process whose compiler
 * tells when it put which code where, while that is the same.
 */
enum {
	EPOCH_BITS = 24, /* of a version; address spaces don't change 2^40 times */
	TIMED_MAX = 8, /* of one process: its own code, and that of whom it was forked from */
};

/* ---- code that changes with time ---- */

void code_clock_release(struct code_clock *clock)
{
	free(clock->v);
	index_release(&clock->by_pid);
}

/* The sum changes when any of them does: none goes back while time goes on. */
static void find_epoch(struct session *session, int32_t pid)
{
	struct code_clock *clock = &session->private->code_clock;
	uint64_t hash = hash_word((uint32_t)pid);
	uint32_t i;

	clock->epoch = 0;
	for (size_t at = index_first(&clock->by_pid, hash); index_next(&clock->by_pid, hash, &at, &i);)
		if (clock->v[i].pid == pid)
			clock->epoch += 1 + symbols_code_epoch(session->symbols, clock->v[i].dso, clock->now_ns);
}

void session_follow(struct session *session, const struct replay_sample *sample)
{
	struct code_clock *clock = &session->private->code_clock;

	clock->now_ns = sample->sample->has & PERF_SAMPLE_TIME ? sample->sample->time_ns : 0;
	if (clock->n)
		find_epoch(session, sample->thread->pid);
}

/* The process has it in its maps; false: it has too many. */
static bool keep_timed(struct session *session, int32_t pid, const struct dso *dso)
{
	struct code_clock *clock = &session->private->code_clock;
	uint64_t hash = hash_word((uint32_t)pid);
	size_t n = 0;
	uint32_t i;

	for (size_t at = index_first(&clock->by_pid, hash); index_next(&clock->by_pid, hash, &at, &i);) {
		if (clock->v[i].pid != pid)
			continue;
		if (clock->v[i].dso == dso)
			return true;
		n++;
	}
	if (n == TIMED_MAX)
		return false;
	VEC_GROW(clock->v, clock->n, clock->cap);
	clock->v[clock->n] = (struct timed_code){ pid, dso };
	index_add(&clock->by_pid, hash, (uint32_t)clock->n++);
	find_epoch(session, pid);
	return true;
}

static uint32_t code_at(struct session *session, const struct thread *thread, const struct location *location,
			bool is_return)
{
	uint64_t now_ns = session->private->code_clock.now_ns;
	uint32_t code, after;

	if (!location->dso || location->dso->kind != DSO_ANON || !now_ns)
		return 0;
	code = symbols_code_at(session->symbols, location->dso, location->addr - is_return, now_ns);
	/* See location_frames: where a signal's handler returns to. */
	if (is_return && (!code || code == SYM_CODE_GONE)) {
		after = symbols_code_at(session->symbols, location->dso, location->addr, now_ns);
		code = after ? after : code;
	}
	return code && keep_timed(session, thread->pid, location->dso) ? code : 0;
}

/* ---- locations ---- */

uint64_t session_user_version(const struct session *session, const struct thread *thread)
{
	uint64_t version = thread->address_space ? thread->address_space->version : 0;

	return version << EPOCH_BITS | (version ? session->private->code_clock.epoch : 0);
}

/* The version of the maps that decide about this mode; 0: not to be remembered. */
static uint64_t address_space_version(const struct session *session, const struct thread *thread, uint8_t mode)
{
	if (mode == MISC_USER)
		return session_user_version(session, thread);
	if (mode == MISC_KERNEL)
		return session->replay.kernel->version << EPOCH_BITS;
	return 0;
}

/* The slot of an address; false: it has another one, or none. */
static bool find_slot(struct session *session, uint64_t ip, uint64_t version, bool is_return,
		      struct location_slot **slot)
{
	uint64_t mixed = (ip ^ version >> (EPOCH_BITS - 7) ^ version << 7 ^ is_return) * 0x9e3779b97f4a7c15ULL;
	const struct location_slot *found = *slot = &session->private->location_slots[mixed >> 52];

	_Static_assert(LOCATION_CACHE_SLOTS == 1 << 12, "the upper 12 bits choose a slot");
	return version && found->version == version && found->ip == ip && found->is_return == is_return;
}

static struct location_row locate(struct session *session, struct thread *thread, uint8_t mode, uint64_t ip,
				  bool is_return)
{
	struct location location;

	replay_locate(&session->replay, thread, mode, ip, &location);
	return row_of(&location, ip, code_at(session, thread, &location, is_return), is_return);
}

uint32_t session_location(struct session *session, struct thread *thread, uint8_t mode, uint64_t ip, bool is_return)
{
	uint64_t version = address_space_version(session, thread, mode);
	struct location_slot *slot;
	struct location_row row;

	if (find_slot(session, ip, version, is_return, &slot))
		return slot->location;
	row = locate(session, thread, mode, ip, is_return);
	*slot = (struct location_slot){ ip, version, intern(session->locations, &row), is_return };
	return slot->location;
}

uint32_t session_branch_location(struct session *session, struct thread *thread, uint8_t mode, uint64_t ip,
				 uint64_t branch)
{
	struct location_row row = locate(session, thread, mode, ip, false);

	row.branch = branch;
	return intern(session->locations, &row);
}

uint32_t session_function_location(struct session *session, struct thread *thread, uint8_t mode, uint64_t ip)
{
	uint64_t version = address_space_version(session, thread, mode);
	struct location_slot *slot;
	struct location_row row;

	if (find_slot(session, ip, version, false, &slot))
		return slot->location;
	row = locate(session, thread, mode, ip, false);
	row.symbol = row.dso ? find_symbol(session, &row) : NULL;
	row.symbol_known = true;
	*slot = (struct location_slot){ ip, version, intern_function(session, &row), false };
	return slot->location;
}
