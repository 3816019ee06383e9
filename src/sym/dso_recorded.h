/*
 * dso_recorded: names that the recording has of its own, as a source of names. Private to sym/.
 */
#ifndef PSTAT_DSO_RECORDED_H
#define PSTAT_DSO_RECORDED_H

#include "sym/dso_state.h"
#include "sym/embedded_names.h"

/* As a row of the sources: state->recorded is what it has; or recorded_later, for where files have no more. */
enum source_result dso_recorded_load(struct symbols *symbols, struct dso_state *state, struct str *why);
/* To be called when all other sources were asked. */
void dso_recorded_later(struct symbols *symbols, struct dso_state *state);
/* Whether it is what will be asked for the dso. */
bool dso_recorded_has(struct symbols *symbols, const struct dso *dso);

#endif
