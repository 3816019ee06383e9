/* SPDX-License-Identifier: MIT */
/*
 * A report on a recording without records, with files, functions, locations and stacks made by hand, so that the
 * truth about what a histogram has to show is known by construction. For test_fold.c and its like.
 */
#ifndef REPORT_FIXTURE_H
#define REPORT_FIXTURE_H

#include "ask_fixture.h"
#include "data_fixture.h"

#include "hist/hist.h"
#include "hist/fold_internal.h"
#include "util/util.h"

enum { MADE_FRAMES = 16, MADE_MEMBERS = 2 };

struct made_report {
	struct str bytes, err;
	struct reader reader;
	struct asked asked; /* its table is `table` */
	struct table *table;
	struct hist hist;
	struct cells cells[MADE_MEMBERS];
	struct frame frames[MADE_FRAMES * 4];
	size_t n_frames;
};

/* Two files of one name, one of another. */
static char made_paths[][16] = { "/a/app", "/b/app", "/lib/z.so" };
static struct dso made_dsos[] = {
	{ .index = 0, .kind = DSO_FILE, .path = made_paths[0], .name = made_paths[0] + 3, .pid = -1 },
	{ .index = 1, .kind = DSO_FILE, .path = made_paths[1], .name = made_paths[1] + 3, .pid = -1 },
	{ .index = 2, .kind = DSO_FILE, .path = made_paths[2], .name = made_paths[2] + 5, .pid = -1 },
};
static const struct symbol made_main = { &made_dsos[0], 0x100, 0x200, "main", "main", 'g', false, 0, false };
static const struct symbol made_work = { &made_dsos[0], 0x200, 0x300, "work", "work", 'g', false, 0, false };
static const struct symbol made_leaf = { &made_dsos[0], 0x300, 0x400, "leaf", "leaf", 'g', false, 0, false };
static const struct symbol made_small = { &made_dsos[0], 0x300, 0x400, "small", "small", 'l', true, 0, false };
static const struct symbol made_work_z = { &made_dsos[2], 0x200, 0x300, "work", "work", 'g', false, 0, false };

/* Cells of so many members. */
static inline void made_members(struct made_report *m, size_t n)
{
	for (size_t i = m->hist.n_members; i < n; i++)
		cells_init(&m->cells[i], m->table->private->facts);
	hist_grow(&m->hist, n);
	for (size_t i = 0; i < n; i++)
		m->hist.cells[i] = &m->cells[i];
}

static inline int made_open(struct made_report *m, const struct query *options)
{
	struct writer_options writing = { .flush_bytes = 0 };
	int code;

	*m = (struct made_report){ .err = STR_INIT };
	fix_recording(writing, &m->bytes);
	assert_int_equal(reader_open_fd(&m->reader, fix_memory_file(m->bytes.s, m->bytes.len), "made",
					&m->err),
			 0);
	code = asked_open(&m->asked, options, &m->reader, &m->err);
	if (!code)
		code = table_make(&m->table, m->asked.profile, m->asked.question, NULL, &m->err);
	if (code)
		return code;
	m->hist = (struct hist){ .event = m->reader.events.v[0] };
	made_members(m, 1);
	return 0;
}

static inline void made_close(struct made_report *m)
{
	for (size_t i = 0; i < m->hist.n_members; i++)
		cells_release(&m->cells[i]);
	hist_release(&m->hist);
	table_free(m->table);
	asked_release(&m->asked);
	reader_close(&m->reader);
	str_release(&m->bytes);
	str_release(&m->err);
}

/* An address `offset` into a function; inlined: what is inlined there, or NULL. */
static inline uint32_t made_location(struct made_report *m, const struct symbol *symbol, uint64_t offset,
				     const struct symbol *inlined)
{
	struct location location = { .addr = symbol->start + offset, .mode = MISC_USER };
	struct location_row *row;
	uint32_t number;

	for (size_t i = 0; i < ARRAY_SIZE(made_dsos); i++)
		if (symbol->dso == &made_dsos[i])
			location.dso = &made_dsos[i];
	number = locations_intern(m->table->session->locations, &location, 0x7f0000 + location.addr, 0, false);
	row = &m->table->session->locations->v[number];
	if (row->framed)
		return number;
	row->frames = (struct frame_list){ &m->frames[m->n_frames], inlined ? 2 : 1 };
	if (inlined)
		m->frames[m->n_frames++] = (struct frame){ inlined, { "/src/small.h", 7 } };
	m->frames[m->n_frames++] =
		(struct frame){ symbol, { "/src/app.c", (unsigned)(symbol->start / 16) } };
	row->framed = true;
	row->want = SYM_LINES;
	return number;
}

/* An address that nothing is known of. dso NULL: not even a map. */
static inline uint32_t made_unknown(struct made_report *m, struct dso *dso, uint64_t addr)
{
	static const struct frame nothing;
	struct location location = { .dso = dso, .addr = addr, .mode = MISC_USER };
	uint32_t number = locations_intern(m->table->session->locations, &location, addr, 0, false);
	struct location_row *row = &m->table->session->locations->v[number];

	row->frames = (struct frame_list){ &nothing, 1 };
	row->framed = true;
	row->want = SYM_LINES;
	return number;
}

/* Locations from the outermost on, ended by LOCATION_NONE. */
static inline uint32_t made_stack(struct made_report *m, const uint32_t *locations)
{
	uint32_t stack = 0;

	for (; *locations != LOCATION_NONE; locations++)
		stack = stacks_child(m->table->session->stacks, stack, *locations);
	return stack;
}

static inline void made_sample_in(struct cells *cells, struct entry_stats *totals, uint64_t cpu, uint32_t location,
				  uint32_t stack, uint64_t period)
{
	uint64_t facts[FACTS] = { 0 };
	struct cell_values values = { .n_samples = 1, .period = period };

	facts[FACT_CPU] = cpu;
	facts[FACT_LOCATION] = location;
	facts[FACT_STACK] = stack;
	facts[FACT_MISC] = MISC_USER;
	cells_add(cells, facts, &values);
	totals->n_samples++;
	totals->period += period;
}

static inline void made_sample(struct made_report *m, uint64_t cpu, uint32_t location, uint32_t stack, uint64_t period)
{
	made_sample_in(&m->cells[0], &m->hist.totals, cpu, location, stack, period);
}

/* An entry's keys as one text, "app|[.] main". */
static inline const char *made_text(struct made_report *m, const struct entry *entry)
{
	static char line[256];
	struct str text = STR_INIT;

	for (size_t i = 0; i < m->table->question->n_keys; i++) {
		str_add(&text, i ? "|" : "");
		m->table->question->keys[i]->text(m->table, entry->values[i], &text);
	}
	snprintf(line, sizeof(line), "%s", text.s);
	str_release(&text);
	return line;
}

/* All entries as "total/self/samples text" lines. */
static inline char *made_entries(struct made_report *m)
{
	struct str out = STR_INIT;

	for (size_t i = 0; i < m->hist.n; i++) {
		const struct entry *entry = m->hist.entries[i];

		str_addf(&out, "%d/%d/%d %s\n", (int)entry->total.period, (int)entry->self.period,
			 (int)entry->self.n_samples, made_text(m, entry));
	}
	return str_detach(&out);
}

static inline void assert_entries(struct made_report *m, const char *expected)
{
	char *entries = made_entries(m);

	assert_string_equal(entries, expected);
	free(entries);
}

#endif
