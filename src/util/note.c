/* SPDX-License-Identifier: MIT */
/*
 * Notes: what pstat did differently from what was asked, each with its reason. The layers below
 * cmd/ collect them here; cmd/ decides when and where they are printed.
 */
#include "util.h"

#include <stdlib.h>

void note_add(struct note_list *notes, bool verbose, const char *remedy, const char *fmt, ...)
{
	struct str text = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < notes->n; i++) {
		if (!strcmp(notes->v[i].text, text.s)) {
			str_release(&text);
			return;
		}
	}
	VEC_GROW(notes->v, notes->n, notes->cap);
	notes->v[notes->n++] = (struct note){
		.text = str_detach(&text),
		.remedy = remedy ? xstrdup(remedy) : NULL,
		.verbose = verbose,
	};
}

void note_list_join(struct note_list *notes, const struct note_list *others)
{
	for (size_t i = 0; i < others->n; i++)
		note_add(notes, others->v[i].verbose, others->v[i].remedy, "%s", others->v[i].text);
}

void note_list_add_lines(const struct note_list *notes, struct str *out)
{
	for (size_t i = 0; i < notes->n; i++) {
		str_add(out, notes->v[i].text);
		str_addc(out, '\n');
		if (notes->v[i].remedy)
			str_addf(out, "  %s\n", notes->v[i].remedy);
	}
}

void note_list_cut(struct note_list *notes, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		free(notes->v[i].text);
		free(notes->v[i].remedy);
	}
	if (to > from)
		memmove(notes->v + from, notes->v + to, (notes->n - to) * sizeof(*notes->v));
	notes->n -= to - from;
}

void note_list_release(struct note_list *notes)
{
	note_list_cut(notes, 0, notes->n);
	free(notes->v);
	*notes = (struct note_list){ 0 };
}
