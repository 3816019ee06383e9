/*
 * What is known of a dso when its names were asked for: whether there are any, where they came from, and what speaks
 * against them. Nothing is looked for here.
 */
#include "sym/dso_state.h"

static const struct dso_state *state_peek(const struct symbols *symbols, const struct dso *dso)
{
	return dso->index < symbols->n_states ? symbols->states[dso->index] : NULL;
}

size_t symbols_bytes(const struct symbols *symbols, const struct dso *dso)
{
	const struct dso_state *state = state_peek(symbols, dso);

	if (!state)
		return 0;
	return sizeof(*state) + state->table.names.cap + state->table.cap * sizeof(*state->table.v) +
	       state->table.cap_aliases * sizeof(*state->table.aliases) + state->bounds.cap * sizeof(*state->bounds.v);
}

enum sym_state symbols_state(const struct symbols *symbols, const struct dso *dso)
{
	const struct dso_state *state = state_peek(symbols, dso);

	return state ? state->state : SYM_UNTRIED;
}

static bool lacks_names(const struct dso_state *state)
{
	return state->only_exported && state->missed;
}

const char *symbols_why(const struct symbols *symbols, const struct dso *dso)
{
	const struct dso_state *state = state_peek(symbols, dso);

	if (state && !state->why.len && lacks_names(state))
		return state->files.why.len ? state->files.why.s : "stripped: only exported names";
	return state ? state->why.s : "";
}

bool symbols_hidden(const struct symbols *symbols, const struct dso *dso)
{
	const struct dso_state *state = state_peek(symbols, dso);

	return state && state->state == SYM_NONE && state->hidden;
}

const char *symbols_remedy(const struct symbols *symbols, const struct dso *dso)
{
	const struct dso_state *state = state_peek(symbols, dso);

	if (state && !state->remedy && lacks_names(state))
		return state->files.remedy ? state->files.remedy : "install its debug package";
	return state ? state->remedy : NULL;
}

const char *symbols_source(const struct symbols *symbols, const struct dso *dso)
{
	const struct dso_state *state = state_peek(symbols, dso);

	return !state ? NULL : state->recorded && !state->cached ? state->recorded_source : state->source;
}
