/*
 * pprof_code.c: what code was sampled, of a profile.proto: for each file (dso) one mapping, for each address one
 * location with a line for each function that was inlined there, innermost first, and each function once:
 *
 *	location --> mapping (file name, build-id)
 *	         --> line, line ... --> function (name, name in the file, source file)
 *
 * A mapping is as long as the maps that its addresses were seen in. The first one is the program: of the files that
 * have a sampled thread's name the one most often met in stacks, else the one most often met at all.
 */
#include "fmt/pprof_internal.h"

#include <stdlib.h>

enum { COMM_BYTES = 15 }; /* of a thread's name, as the kernel cuts it */

struct code_mapping {
	const struct dso *dso;
	uint64_t start, end; /* in the terms of location_row.addr */
	uint64_t n_locations;
	bool functions, files, lines, is_program;
	uint64_t id;
};

struct code {
	struct pprof *p;
	struct code_mapping *mappings; /* by index of the dso */
	size_t n_mappings;
	struct row_set functions; /* symbol, number of its file's text: ids are one more */
};

static const struct location_row *row_of(const struct pprof *p, size_t location)
{
	return &p->table->session->locations->v[location];
}

static const struct frame_list *frames_of(const struct pprof *p, size_t location)
{
	uint32_t known = location < p->n_locations ? (uint32_t)location : (uint32_t)LOCATION_NONE;

	return location_frames(p->table->session, known, SYM_LINES);
}

/* ---- mappings ---- */

static bool is_named_like_thread(const struct pprof *p, const struct dso *dso)
{
	const struct session *session = p->table->session;

	for (uint32_t i = 0; dso->kind == DSO_FILE && i < session_n_comms(session); i++) {
		const char *comm = session_comm(session, i);

		if (*comm && !strncmp(comm, dso->name, COMM_BYTES))
			return true;
	}
	return false;
}

static void widen(struct code_mapping *mapping, const struct location_row *row)
{
	/* An address of a map is as far from its start in the file as it is in memory. */
	uint64_t in_map = row->ip - row->map_start;
	uint64_t start = row->addr >= in_map ? row->addr - in_map : 0, end = start + row->map_bytes;

	if (end <= row->addr)
		end = row->addr < UINT64_MAX ? row->addr + 1 : row->addr;
	if (!mapping->n_locations || start < mapping->start)
		mapping->start = start;
	if (end > mapping->end)
		mapping->end = end;
	mapping->n_locations++;
}

static void find_mappings(struct code *code)
{
	struct pprof *p = code->p;

	for (size_t i = 0; i < p->n_locations; i++) {
		const struct location_row *row = row_of(p, i);
		struct code_mapping *mapping;

		if (!p->location_used[i] || !row->dso)
			continue;
		mapping = &code->mappings[row->dso->index];
		mapping->dso = row->dso;
		widen(mapping, row);
	}
}

static int program_first(const void *pa, const void *pb)
{
	const struct code_mapping *a = *(const struct code_mapping *const *)pa;
	const struct code_mapping *b = *(const struct code_mapping *const *)pb;

	if (a->is_program != b->is_program)
		return a->is_program ? -1 : 1;
	if (a->n_locations != b->n_locations)
		return a->n_locations > b->n_locations ? -1 : 1;
	return a->dso->index < b->dso->index ? -1 : 1;
}

/* Those that are used, with their ids; the caller frees the array. */
static struct code_mapping **order_mappings(struct code *code, size_t *n)
{
	struct code_mapping **order = xcalloc(code->n_mappings + 1, sizeof(struct code_mapping *));

	*n = 0;
	for (size_t i = 0; i < code->n_mappings; i++) {
		if (!code->mappings[i].dso)
			continue;
		code->mappings[i].is_program = is_named_like_thread(code->p, code->mappings[i].dso);
		order[(*n)++] = &code->mappings[i];
	}
	qsort(order, *n, sizeof(struct code_mapping *), program_first);
	for (size_t i = 0; i < *n; i++)
		order[i]->id = i + 1;
	return order;
}

static void put_mapping(struct pprof *p, const struct code_mapping *mapping)
{
	const struct dso *dso = mapping->dso;
	const char *name = dso->kind == DSO_ANON || !*dso->path ? dso->name : dso->path;
	struct str id = STR_INIT;

	build_id_text(&dso->build_id, &id);
	pb_add_u64(&p->message, 1, mapping->id);
	pb_add_u64(&p->message, 2, mapping->start);
	pb_add_u64(&p->message, 3, mapping->end);
	if (dso->kind == DSO_FILE || dso->kind == DSO_VDSO)
		pb_add_u64(&p->message, 4, mapping->start);
	pb_add_u64(&p->message, 5, pprof_text(p, name, strlen(name)));
	pb_add_u64(&p->message, 6, dso->build_id.size ? pprof_text(p, id.s, id.len) : 0);
	pb_add_u64(&p->message, 7, mapping->functions);
	pb_add_u64(&p->message, 8, mapping->files);
	pb_add_u64(&p->message, 9, mapping->lines);
	/* They were looked for, and are there as far as they are known. */
	pb_add_u64(&p->message, 10, mapping->lines && !p->table->options.session.sym.no_inlines);
	pprof_put(p, PROFILE_MAPPING);
	str_release(&id);
}

/* ---- locations ---- */

/* A function by its symbol and source file. */
static uint64_t function_id(struct code *code, const struct frame *frame)
{
	const char *file = frame->line.file;
	const uint64_t words[] = {
		(uintptr_t)frame->symbol,
		file ? pprof_text(code->p, file, strlen(file)) : 0,
	};

	return row_set_intern(&code->functions, words) + 1ULL;
}

static void add_line(struct code *code, const struct frame *frame, struct code_mapping *mapping)
{
	struct pprof *p = code->p;
	uint64_t function = function_id(code, frame);

	str_reset(&p->part);
	pb_add_u64(&p->part, 1, function);
	pb_add_u64(&p->part, 2, frame->line.line);
	pb_add_bytes(&p->message, 4, p->part.s, p->part.len);
	if (!mapping)
		return;
	mapping->functions = true;
	mapping->files |= frame->line.file != NULL;
	mapping->lines |= frame->line.line != 0;
}

/* An address without a function has no line: readers show its file. */
static void put_location(struct code *code, size_t location)
{
	struct pprof *p = code->p;
	const struct location_row *row = location < p->n_locations ? row_of(p, location) : NULL;
	struct code_mapping *mapping = row && row->dso ? &code->mappings[row->dso->index] : NULL;
	const struct frame_list *frames = frames_of(p, location);

	pb_add_u64(&p->message, 1, location + 1);
	pb_add_u64(&p->message, 2, mapping ? mapping->id : 0);
	pb_add_u64(&p->message, 3, row ? row->addr : 0);
	for (size_t i = 0; i < frames->n; i++)
		if (frames->v[i].symbol || !mapping)
			add_line(code, &frames->v[i], mapping);
	pprof_put(p, PROFILE_LOCATION);
}

static void put_functions(struct code *code)
{
	struct pprof *p = code->p;

	for (uint32_t i = 0; i < code->functions.n; i++) {
		const uint64_t *words = row_set_at(&code->functions, i);
		const struct symbol *symbol = (const void *)(uintptr_t)words[0];
		const char *name = symbol ? symbol->name : "[unknown]";
		const char *raw = symbol && symbol->raw ? symbol->raw : name;

		pb_add_u64(&p->message, 1, i + 1ULL);
		pb_add_u64(&p->message, 2, pprof_text(p, name, strlen(name)));
		pb_add_u64(&p->message, 3, pprof_text(p, raw, strlen(raw)));
		pb_add_u64(&p->message, 4, words[1]);
		pprof_put(p, PROFILE_FUNCTION);
	}
}

void pprof_put_code(struct pprof *p)
{
	struct code code = { .p = p, .n_mappings = p->table->session->replay.dsos.n };
	struct code_mapping **order;
	size_t n;

	code.mappings = xcalloc(code.n_mappings + 1, sizeof(*code.mappings));
	row_set_init(&code.functions, 2);
	find_mappings(&code);
	order = order_mappings(&code, &n);
	for (size_t i = 0; i <= p->n_locations && !p->output->failed; i++)
		if (p->location_used[i])
			put_location(&code, i);
	put_functions(&code);
	for (size_t i = 0; i < n; i++)
		put_mapping(p, order[i]);
	free(order);
	free(code.mappings);
	row_set_release(&code.functions);
}
