/*
 * Distinct addresses of code and data. A place is found again by its file, its address there, which of the codes
 * that a compiler put there in turn it is, the mode it ran in and whether it is a return address: the last two,
 * because they change what is printed and which function is meant. Rows never go: there are as many as distinct
 * addresses were sampled.
 *
 * A row's names are looked up when they are first asked for, at the address of the call where the place is
 * a return address: the instruction after the last call of a function may belong to the next one.
 */
#include "profile/profile.h"

static const struct frame frame_unknown;

static uint64_t place_hash(const struct place_row *row)
{
	const uint64_t words[] = {
		row->dso ? row->dso->index + 1ULL : 0,
		row->addr,
		(uint64_t)row->code << 32 | (uint64_t)row->mode << 1 | row->is_return,
	};

	return hash_words(words, ARRAY_SIZE(words));
}

static bool same_place(const struct place_row *a, const struct place_row *b)
{
	return a->addr == b->addr && a->dso == b->dso && a->mode == b->mode && a->code == b->code &&
	       a->is_return == b->is_return;
}

uint32_t places_intern(struct places *places, const struct place *place, uint64_t ip, uint32_t code,
		       bool is_return)
{
	const struct place_row row = { .dso = place->dso,
				       .addr = place->addr,
				       .ip = ip,
				       .map_bytes = place->map_end - place->map_start,
				       .code = code,
				       .mode = place->mode,
				       .is_return = is_return };
	uint64_t hash = place_hash(&row);
	uint32_t i;

	for (size_t at = index_first(&places->ix, hash); index_next(&places->ix, hash, &at, &i);)
		if (same_place(&places->v[i], &row))
			return i;
	VEC_GROW(places->v, places->n, places->cap);
	places->v[places->n] = row;
	index_add(&places->ix, hash, (uint32_t)places->n);
	return (uint32_t)places->n++;
}

uint32_t *places_keep(struct places *places, const bool *used)
{
	uint32_t *now = xcalloc(places->n + 1, sizeof(*now));
	size_t n = 0;

	index_clear(&places->ix);
	for (size_t i = 0; i < places->n; i++) {
		now[i] = PLACE_NONE;
		if (!used[i])
			continue;
		now[i] = (uint32_t)n;
		places->v[n] = places->v[i];
		index_add(&places->ix, place_hash(&places->v[n]), (uint32_t)n);
		n++;
	}
	places->n = n;
	return now;
}

const struct frame_list *place_frames(struct session *session, uint32_t place, unsigned want)
{
	static const struct frame_list nothing = { &frame_unknown, 1 };
	struct place_row *row;

	if (place == PLACE_NONE)
		return &nothing;
	row = &session->places->v[place];
	if (!row->dso)
		return &nothing;
	if (row->code && !row->framed) {
		row->framed = true;
		row->frames = symbols_code_frames(session->symbols, row->dso, row->code);
	} else if (!row->code && (!row->framed || (want & ~row->want))) {
		row->want |= want;
		row->framed = true;
		row->frames = symbols_frames(session->symbols, row->dso, row->addr - row->is_return,
					     row->want);
		/* Where a signal's handler returns to is a function's start: nothing called from there. */
		if (row->is_return && !row->frames.v[row->frames.n - 1].symbol)
			row->frames = symbols_frames(session->symbols, row->dso, row->addr, row->want);
	}
	return &row->frames;
}

const struct symbol *place_symbol(struct session *session, uint32_t place)
{
	const struct frame_list *frames = place_frames(session, place, 0);

	return frames->v[frames->n - 1].symbol;
}

uint64_t place_own_addr(const struct place_row *row)
{
	bool module = row->dso && (row->dso->kind == DSO_MODULE || row->dso->kind == DSO_GUEST_MODULE);

	return module ? row->addr - row->dso->start : row->addr;
}

char place_level(const struct place_row *row)
{
	static const char levels[] = {
		[MISC_KERNEL] = 'k',       [MISC_USER] = '.',       [MISC_HYPERVISOR] = 'H',
		[MISC_GUEST_KERNEL] = 'g', [MISC_GUEST_USER] = 'u',
	};

	return row->mode < ARRAY_SIZE(levels) && levels[row->mode] ? levels[row->mode] : 'H';
}
