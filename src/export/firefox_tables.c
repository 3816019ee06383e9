/*
 * firefox_tables.c: the tables that a thread's samples and markers point into, which have only what this thread needs:
 *
 *	stackTable: frame, prefix (the caller) --> frameTable: address, line, category
 *	    --> funcTable: name, source file --> resourceTable --> libs of the profile
 *
 * A recorded stack is one node of stackTable for each function at its address: the one that has code there, then what
 * was inlined into it.
 */
#include "export/firefox_internal.h"

#include <stdlib.h>

/* JSON's readers keep numbers as doubles. */
static const uint64_t exact_max = 1ULL << 53;

/* ---- what is needed ---- */

/* True: it was not known to this thread. */
static bool use(struct firefox_used *used, size_t number, size_t n)
{
	if (used->n_local < n) {
		n = n > 2 * used->n_local ? n : 2 * used->n_local;
		used->local = xreallocarray(used->local, n, sizeof(*used->local));
		memset(used->local + used->n_local, 0, (n - used->n_local) * sizeof(*used->local));
		used->n_local = n;
	}
	if (used->local[number])
		return false;
	VEC_GROW(used->v, used->n, used->cap);
	used->v[used->n++] = (uint32_t)number;
	used->local[number] = (uint32_t)used->n;
	return true;
}

static void forget(struct firefox_used *used)
{
	for (size_t i = 0; i < used->n; i++)
		used->local[used->v[i]] = 0;
	used->n = 0;
}

static uint32_t local_of(const struct firefox_used *used, size_t number)
{
	return used->local[number] - 1;
}

void firefox_release_tables(struct firefox *f)
{
	struct firefox_used *const tables[] = { &f->stacks, &f->locations, &f->used_funcs, &f->resources };

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		free(tables[i]->local);
		free(tables[i]->v);
	}
	free(f->node_of_stack);
	free(f->frame_of_location);
}

static const struct location_row *row_of(const struct firefox *f, uint32_t location)
{
	const struct locations *locations = f->export->session.locations;

	return location < locations->n ? &locations->v[location] : NULL;
}

static const struct frame_list *frames_of(struct firefox *f, uint32_t location)
{
	uint32_t known = row_of(f, location) ? location : (uint32_t)LOCATION_NONE;

	return location_frames(&f->export->session, known, SYM_LINES);
}

/* The number of a function among all, which has its texts from then on. */
static uint32_t func_of(struct firefox *f, const struct location_row *row, const struct frame *frame)
{
	const char *file = frame->line.file;
	const struct dso *dso = row ? row->dso : NULL;
	const uint64_t words[] = { (uintptr_t)frame->symbol, (uintptr_t)dso,
				   file ? firefox_text(f, file, strlen(file)) : 0 };
	uint32_t number = row_set_intern(&f->func_ids, words);

	if (number < f->n_funcs)
		return number;
	str_reset(&f->scratch);
	if (frame->symbol)
		str_add(&f->scratch, frame->symbol->name);
	else
		export_add_nameless(row, &f->scratch);
	VEC_GROW(f->funcs, f->n_funcs, f->cap_funcs);
	f->funcs[f->n_funcs++] = (struct firefox_func){
		.name = firefox_text(f, f->scratch.s, f->scratch.len),
		.file = (uint32_t)words[2],
		.lib = dso ? row_set_intern(&f->libs, (const uint64_t[]){ dso->index }) : UINT32_MAX,
	};
	return number;
}

/* The place of an unknown location is behind all others. */
static size_t location_at(const struct firefox *f, uint32_t location)
{
	size_t n = f->export->session.locations->n;

	return location < n ? location : n;
}

static void use_location(struct firefox *f, uint32_t location, uint32_t *n_frames)
{
	const struct frame_list *frames = frames_of(f, location);

	if (!use(&f->locations, location_at(f, location), f->export->session.locations->n + 1))
		return;
	VEC_GROW(f->frame_of_location, f->locations.n - 1, f->cap_frame_of_location);
	f->frame_of_location[f->locations.n - 1] = *n_frames;
	*n_frames += (uint32_t)frames->n;
	for (size_t i = 0; i < frames->n; i++) {
		uint32_t func = func_of(f, row_of(f, location), &frames->v[i]);

		if (use(&f->used_funcs, func, f->n_funcs) && f->funcs[func].lib != UINT32_MAX)
			use(&f->resources, f->funcs[func].lib, f->libs.n);
	}
}

/* A stack and its callers, the outermost first: prefixes stand in front of what they are prefixes of. */
static void use_stack(struct firefox *f, uint32_t stack, struct firefox_sizes *sizes)
{
	const struct stacks *stacks = f->export->session.stacks;
	uint32_t *path = NULL;
	size_t n = 0, cap = 0;

	for (; stack && !(stack < f->stacks.n_local && f->stacks.local[stack]); stack = stacks->v[stack].parent) {
		VEC_GROW(path, n, cap);
		path[n++] = stack;
	}
	while (n) {
		uint32_t location = stacks->v[path[--n]].location;

		use(&f->stacks, path[n], stacks->n);
		use_location(f, location, &sizes->n_frames);
		VEC_GROW(f->node_of_stack, f->stacks.n - 1, f->cap_node_of_stack);
		f->node_of_stack[f->stacks.n - 1] = sizes->n_nodes;
		sizes->n_nodes += (uint32_t)frames_of(f, location)->n;
	}
	free(path);
}

int firefox_use_all(struct firefox *f, const struct firefox_thread *thread, struct firefox_sizes *sizes,
		    struct str *err)
{
	struct pile_reader reader;
	struct pile_record record;
	int code;

	forget(&f->stacks);
	forget(&f->locations);
	forget(&f->used_funcs);
	forget(&f->resources);
	pile_read(&reader, &f->pile, &thread->samples);
	while ((code = pile_next(&reader, &record, err)) > 0)
		use_stack(f, (uint32_t)record.word, sizes);
	if (code)
		return code;
	pile_read(&reader, &f->pile, &thread->markers);
	while ((code = pile_next(&reader, &record, err)) > 0)
		if ((record.word & ((1 << MARKER_KIND_BITS) - 1)) == MARKER_TRACEPOINT)
			use_stack(f, (uint32_t)(record.word >> MARKER_KIND_BITS), sizes);
	return code;
}

/* ---- columns ---- */

/* "name":[ one for each of n ] */
static void add_column(struct firefox *f, const char *name, size_t n,
		       void (*add)(struct firefox *f, struct str *out, size_t i))
{
	struct str *out = &f->out.text;

	str_addf(out, ",\"%s\":[", name);
	for (size_t i = 0; i < n; i++) {
		if (i)
			str_addc(out, ',');
		add(f, out, i);
		text_out_step(&f->out);
	}
	str_addc(out, ']');
}

/* The same of a constant. */
static void add_same(struct firefox *f, const char *name, size_t n, const char *value)
{
	struct str *out = &f->out.text;

	str_addf(out, ",\"%s\":[", name);
	for (size_t i = 0; i < n; i++) {
		str_add(out, i ? "," : "");
		str_add(out, value);
		text_out_step(&f->out);
	}
	str_addc(out, ']');
}

void firefox_begin_table(struct firefox *f, const char *name, size_t n)
{
	str_addf(&f->out.text, ",\n\"%s\":{\"length\":%zu", name, n);
}

void firefox_end_table(struct firefox *f)
{
	str_addc(&f->out.text, '}');
}

/* Of a sample's stack the node that is its innermost frame. */
void firefox_add_node(struct firefox *f, struct str *out, uint32_t stack)
{
	uint32_t local, location;

	if (!stack) {
		str_add(out, "null");
		return;
	}
	local = local_of(&f->stacks, stack);
	location = f->export->session.stacks->v[stack].location;
	str_add_u64(out, f->node_of_stack[local] + frames_of(f, location)->n - 1);
}

/* ---- stackTable, i: of the stacks that are used ---- */

static void add_prefixes(struct firefox *f, struct str *out, size_t i)
{
	const struct stack_node *node = &f->export->session.stacks->v[f->stacks.v[i]];
	size_t n = frames_of(f, node->location)->n;

	firefox_add_node(f, out, node->parent);
	for (size_t k = 1; k < n; k++) {
		str_addc(out, ',');
		str_add_u64(out, f->node_of_stack[i] + k - 1);
	}
}

static void add_frames(struct firefox *f, struct str *out, size_t i)
{
	const struct stack_node *node = &f->export->session.stacks->v[f->stacks.v[i]];
	uint32_t first = f->frame_of_location[local_of(&f->locations, location_at(f, node->location))];
	size_t n = frames_of(f, node->location)->n;

	for (size_t k = 0; k < n; k++) {
		str_add(out, k ? "," : "");
		str_add_u64(out, first + k);
	}
}

/* ---- frameTable, i: of the locations that are used; their frames from the outermost in ---- */

/* In its file, or from the kernel's start; of the call, not of where it returns to. */
static void add_address(const struct location_row *row, struct str *out)
{
	uint64_t addr = row ? location_own_addr(row) : exact_max;

	if (row && row->dso && row->dso->kind == DSO_KERNEL && row->dso->start && addr >= row->dso->start)
		addr -= row->dso->start;
	if (row && row->is_return && addr)
		addr--;
	if (addr >= exact_max)
		str_add(out, "-1");
	else
		str_add_u64(out, addr);
}

static void add_addresses(struct firefox *f, struct str *out, size_t i)
{
	uint32_t location = f->locations.v[i];

	for (size_t k = 0; k < frames_of(f, location)->n; k++) {
		str_add(out, k ? "," : "");
		add_address(row_of(f, location), out);
	}
}

static void add_depths(struct firefox *f, struct str *out, size_t i)
{
	for (size_t k = 0; k < frames_of(f, f->locations.v[i])->n; k++) {
		str_add(out, k ? "," : "");
		str_add_u64(out, k);
	}
}

/* Categories are the kinds of frames, behind "Other". */
static void add_categories(struct firefox *f, struct str *out, size_t i)
{
	uint32_t location = f->locations.v[i];
	const struct frame_list *frames = frames_of(f, location);

	for (size_t k = frames->n; k-- > 0;) {
		str_add_u64(out, 1 + (uint64_t)location_frame_kind(row_of(f, location), frames->v[k].symbol,
								      k + 1 < frames->n));
		str_add(out, k ? "," : "");
	}
}

static void add_funcs(struct firefox *f, struct str *out, size_t i)
{
	uint32_t location = f->locations.v[i];
	const struct frame_list *frames = frames_of(f, location);

	for (size_t k = frames->n; k-- > 0;) {
		str_add_u64(out, local_of(&f->used_funcs, func_of(f, row_of(f, location), &frames->v[k])));
		str_add(out, k ? "," : "");
	}
}

static void add_lines(struct firefox *f, struct str *out, size_t i)
{
	const struct frame_list *frames = frames_of(f, f->locations.v[i]);

	for (size_t k = frames->n; k-- > 0;) {
		if (frames->v[k].line.line)
			str_add_u64(out, frames->v[k].line.line);
		else
			str_add(out, "null");
		str_add(out, k ? "," : "");
	}
}

/* ---- funcTable, resourceTable ---- */

static const struct firefox_func *used_func(const struct firefox *f, size_t i)
{
	return &f->funcs[f->used_funcs.v[i]];
}

static void add_func_name(struct firefox *f, struct str *out, size_t i)
{
	str_add_u64(out, used_func(f, i)->name);
}

static void add_func_file(struct firefox *f, struct str *out, size_t i)
{
	if (used_func(f, i)->file)
		str_add_u64(out, used_func(f, i)->file);
	else
		str_add(out, "null");
}

static void add_func_resource(struct firefox *f, struct str *out, size_t i)
{
	uint32_t lib = used_func(f, i)->lib;

	if (lib == UINT32_MAX)
		str_add(out, "-1");
	else
		str_add_u64(out, local_of(&f->resources, lib));
}

static void add_resource_lib(struct firefox *f, struct str *out, size_t i)
{
	str_add_u64(out, f->resources.v[i]);
}

static void add_resource_name(struct firefox *f, struct str *out, size_t i)
{
	uint64_t dso = *row_set_at(&f->libs, f->resources.v[i]);
	const char *name = f->export->session.replay.dsos.v[dso]->name;

	str_add_u64(out, firefox_text(f, name, strlen(name)));
}

void firefox_add_tables(struct firefox *f, const struct firefox_sizes *sizes)
{
	firefox_begin_table(f, "stackTable", sizes->n_nodes);
	add_column(f, "prefix", f->stacks.n, add_prefixes);
	add_column(f, "frame", f->stacks.n, add_frames);
	firefox_end_table(f);
	firefox_begin_table(f, "frameTable", sizes->n_frames);
	add_column(f, "address", f->locations.n, add_addresses);
	add_column(f, "inlineDepth", f->locations.n, add_depths);
	add_column(f, "category", f->locations.n, add_categories);
	add_same(f, "subcategory", sizes->n_frames, "0");
	add_column(f, "func", f->locations.n, add_funcs);
	add_same(f, "nativeSymbol", sizes->n_frames, "null");
	add_same(f, "innerWindowID", sizes->n_frames, "null");
	add_column(f, "line", f->locations.n, add_lines);
	add_same(f, "column", sizes->n_frames, "null");
	firefox_end_table(f);
	firefox_begin_table(f, "funcTable", f->used_funcs.n);
	add_column(f, "name", f->used_funcs.n, add_func_name);
	add_same(f, "isJS", f->used_funcs.n, "false");
	add_same(f, "relevantForJS", f->used_funcs.n, "false");
	add_column(f, "resource", f->used_funcs.n, add_func_resource);
	add_column(f, "fileName", f->used_funcs.n, add_func_file);
	add_same(f, "lineNumber", f->used_funcs.n, "null");
	add_same(f, "columnNumber", f->used_funcs.n, "null");
	firefox_end_table(f);
	firefox_begin_table(f, "resourceTable", f->resources.n);
	add_column(f, "lib", f->resources.n, add_resource_lib);
	add_column(f, "name", f->resources.n, add_resource_name);
	add_same(f, "host", f->resources.n, "null");
	add_same(f, "type", f->resources.n, "1");
	firefox_end_table(f);
	str_add(&f->out.text, ",\n\"nativeSymbols\":"
			      "{\"length\":0,\"address\":[],\"functionSize\":[],\"libIndex\":[],\"name\":[]}");
}
