/*
 * fmt_folded.c: one line per distinct stack, as flamegraph.pl, inferno and speedscope take it:
 *
 *	comm;outermost;...;innermost count
 *
 * Counts are samples. A line has no room for an event's name, so the lines are those of the first event
 * that has samples, and a note says so where there are others. Stacks are the same when their texts are:
 * locations become functions, and functions of one name one frame. Inlined functions are frames too.
 *
 * A frame without a symbol is "[file]", or "[unknown]" without a file. With -a the last letters say what a
 * frame is: _[k] kernel, _[i] inlined, _[j] made at run time. With the delimiter a frame "-" stands
 * between user and kernel part. ';' in a name becomes ':', control characters become \xNN: a line
 * never breaks.
 *
 * Costs grow with distinct stacks: recorded stacks are nodes of a prefix tree, and each is turned once into a
 * node of a second one, of texts.
 */
#include "fmt/fmt_internal.h"
#include "util/util.h"

#include <stdlib.h>

struct fold_node { /* 0 is the root */
	uint32_t parent, text;
};
struct fold_line {
	uint32_t comm, node; /* comm: a text */
	uint32_t rank; /* of its node, where siblings are sorted by their texts */
	uint64_t n_samples;
};
struct folding {
	struct table *table;
	const struct hist *hist;
	struct text_index *texts;
	struct fold_node *nodes;
	size_t n, cap;
	struct index ix;
	uint32_t *of_stack; /* by stack: its node + 1; 0: not yet known */
	uint32_t *of_location; /* by location: the text of its symbol's frame + 1 */
	uint32_t *of_comm; /* by comm: its text + 1 */
	struct fold_line *lines;
	size_t n_lines, cap_lines;
	struct index line_ix;
	uint32_t n_comms;
	struct str scratch;
};

static void folding_init(struct folding *f, struct table *table, const struct hist *hist)
{
	*f = (struct folding){ .table = table, .hist = hist, .scratch = STR_INIT };
	f->texts = texts_new();
	VEC_GROW(f->nodes, f->n, f->cap);
	f->nodes[f->n++] = (struct fold_node){ 0, texts_intern(f->texts, "", 0) };
	f->of_stack = xcalloc(table->session->stacks->n + 1, sizeof(*f->of_stack));
	f->of_location = xcalloc(table->session->locations->n + 1, sizeof(*f->of_location));
	f->n_comms = session_n_comms(table->session);
	f->of_comm = xcalloc(f->n_comms + 1, sizeof(*f->of_comm));
}

static void folding_release(struct folding *f)
{
	texts_free(f->texts);
	free(f->nodes);
	index_release(&f->ix);
	free(f->of_stack);
	free(f->of_location);
	free(f->of_comm);
	free(f->lines);
	index_release(&f->line_ix);
	str_release(&f->scratch);
}

static uint32_t add_child(struct folding *f, uint32_t parent, uint32_t text)
{
	uint64_t hash = hash_word((uint64_t)parent << 32 | text);
	uint32_t i;

	if (INDEX_FIND(&f->ix, hash, i, f->nodes[i].parent == parent && f->nodes[i].text == text))
		return i;
	VEC_GROW(f->nodes, f->n, f->cap);
	f->nodes[f->n] = (struct fold_node){ parent, text };
	index_add(&f->ix, hash, (uint32_t)f->n);
	return (uint32_t)f->n++;
}

/* ---- texts ---- */

static const struct location_row *row_of(const struct folding *f, uint32_t location)
{
	const struct locations *locations = f->table->session->locations;

	return location < locations->n ? &locations->v[location] : NULL;
}

static bool is_kernel(const struct location_row *row)
{
	return row && (row->mode == MISC_KERNEL || row->mode == MISC_GUEST_KERNEL ||
		       row->mode == MISC_HYPERVISOR);
}

/* Of code made at run time: named by a perf-PID.map or a file that inject wrote. */
static bool is_jit(const struct location_row *row)
{
	return row && row->dso && (row->dso->kind == DSO_ANON || row->dso->jit_pid != -1);
}

static const char *annotation(const struct folding *f, const struct location_row *row, bool inlined)
{
	if (!f->table->options.folded_annotate)
		return "";
	return inlined ? "_[i]" : is_kernel(row) ? "_[k]" : is_jit(row) ? "_[j]" : "";
}

static uint32_t intern_scratch(struct folding *f)
{
	for (size_t i = 0; i < f->scratch.len; i++)
		if (f->scratch.s[i] == ';')
			f->scratch.s[i] = ':';
	return texts_intern(f->texts, f->scratch.s, f->scratch.len);
}

static uint32_t frame_text(struct folding *f, const struct location_row *row, const struct symbol *symbol, bool inlined)
{
	str_reset(&f->scratch);
	if (symbol)
		str_add(&f->scratch, symbol->name);
	else if (!row || !row->dso)
		str_add(&f->scratch, "[unknown]");
	else if (row->dso->name[0] == '[')
		str_add(&f->scratch, row->dso->name);
	else
		str_addf(&f->scratch, "[%s]", row->dso->name);
	str_add(&f->scratch, annotation(f, row, inlined));
	return intern_scratch(f);
}

static uint32_t comm_text(struct folding *f, uint32_t comm)
{
	const char *name;

	if (comm > f->n_comms)
		comm = f->n_comms; /* one more, for what has no name */
	if (f->of_comm[comm])
		return f->of_comm[comm] - 1;
	name = comm < f->n_comms ? session_comm(f->table->session, comm) : "";
	str_reset(&f->scratch);
	if (*name)
		str_add_printable(&f->scratch, name, strlen(name));
	else
		str_add(&f->scratch, "[unknown]");
	f->of_comm[comm] = intern_scratch(f) + 1;
	return f->of_comm[comm] - 1;
}

/* ---- stacks ---- */

/* The frames at a location below `node`: the function there, and then what was inlined into it. */
static uint32_t add_location(struct folding *f, uint32_t node, uint32_t location)
{
	const struct location_row *row = row_of(f, location);
	const struct frame_list *frames = location_frames(f->table->session, row ? location : LOCATION_NONE, 0);
	uint32_t text = row ? f->of_location[location] : 0;

	if (!text) {
		text = frame_text(f, row, frames->v[frames->n - 1].symbol, false) + 1;
		if (row)
			f->of_location[location] = text;
	}
	node = add_child(f, node, text - 1);
	for (size_t i = frames->n - 1; i-- > 0;)
		node = add_child(f, node, frame_text(f, row, frames->v[i].symbol, true));
	return node;
}

static uint32_t fold_stack(struct folding *f, uint32_t stack)
{
	const struct stacks *stacks = f->table->session->stacks;
	uint32_t *path = NULL, node = 0, s;
	size_t n = 0, cap = 0;
	const struct location_row *outer;

	for (s = stack; s && !f->of_stack[s]; s = stacks->v[s].parent) {
		VEC_GROW(path, n, cap);
		path[n++] = s;
	}
	if (s)
		node = f->of_stack[s] - 1;
	outer = s ? row_of(f, stacks->v[s].location) : NULL;
	while (n) {
		const struct location_row *row;

		s = path[--n];
		row = row_of(f, stacks->v[s].location);
		if (f->table->options.folded_delimiter && outer && !is_kernel(outer) &&
		    is_kernel(row))
			node = add_child(f, node, texts_intern(f->texts, "-", 1));
		node = add_location(f, node, stacks->v[s].location);
		f->of_stack[s] = node + 1;
		outer = row;
	}
	free(path);
	return node;
}

static void add_samples(struct folding *f, uint32_t comm, uint32_t node, uint64_t n_samples)
{
	uint64_t hash = hash_word((uint64_t)comm << 32 | node);
	uint32_t i;

	for (size_t at = index_first(&f->line_ix, hash); index_next(&f->line_ix, hash, &at, &i);) {
		if (f->lines[i].comm == comm && f->lines[i].node == node) {
			f->lines[i].n_samples += n_samples;
			return;
		}
	}
	VEC_GROW(f->lines, f->n_lines, f->cap_lines);
	f->lines[f->n_lines] = (struct fold_line){ comm, node, 0, n_samples };
	index_add(&f->line_ix, hash, (uint32_t)f->n_lines++);
}

static void fold_cells(struct folding *f)
{
	const struct cells *cells = f->hist->cells[0];

	for (size_t i = 0; i < cells->n; i++) {
		uint32_t location = (uint32_t)cell_fact(cells, i, FACT_LOCATION);
		uint32_t stack = (uint32_t)cell_fact(cells, i, FACT_STACK);

		if (!table_takes_cell(f->table, cells, i))
			continue;
		if (cells->values[i].n_samples)
			add_samples(f, comm_text(f, (uint32_t)cell_fact(cells, i, FACT_COMM)),
				    stack ? fold_stack(f, stack) : add_location(f, 0, location),
				    cells->values[i].n_samples);
	}
}

/* ---- the order of the lines: by comm, then depth first with siblings by their texts ---- */

static int compare_siblings(const void *pa, const void *pb, void *folding)
{
	const struct folding *f = folding;
	const struct fold_node *a = &f->nodes[*(const uint32_t *)pa];
	const struct fold_node *b = &f->nodes[*(const uint32_t *)pb];

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	return strcmp(texts_get(f->texts, a->text), texts_get(f->texts, b->text));
}

static int compare_lines(const void *pa, const void *pb, void *folding)
{
	const struct folding *f = folding;
	const struct fold_line *a = pa, *b = pb;
	int by = 0;

	if (a->comm != b->comm)
		by = strcmp(texts_get(f->texts, a->comm), texts_get(f->texts, b->comm));
	return by ? by : a->rank < b->rank ? -1 : a->rank > b->rank;
}

/*
 * A parent has a lower number than its children: so the sizes of subtrees come from one way back, and
 * the ranks from one way forth over the nodes sorted by parent and text.
 */
static void rank_lines(struct folding *f)
{
	uint32_t *order = xcalloc(f->n, sizeof(*order));
	uint32_t *size = xcalloc(f->n, sizeof(*size));
	uint32_t *rank = xcalloc(f->n, sizeof(*rank));
	uint32_t *next = xcalloc(f->n, sizeof(*next)); /* rank of the next child */

	for (size_t i = f->n; i-- > 0;) {
		order[i] = (uint32_t)i;
		size[i]++;
		if (i)
			size[f->nodes[i].parent] += size[i];
	}
	qsort_r(order + 1, f->n - 1, sizeof(*order), compare_siblings, f);
	next[0] = 1;
	for (size_t i = 1; i < f->n; i++) {
		uint32_t node = order[i], parent = f->nodes[node].parent;

		rank[node] = next[parent];
		next[node] = rank[node] + 1;
		next[parent] += size[node];
	}
	for (size_t i = 0; i < f->n_lines; i++)
		f->lines[i].rank = rank[f->lines[i].node];
	free(order);
	free(size);
	free(rank);
	free(next);
	if (f->n_lines)
		qsort_r(f->lines, f->n_lines, sizeof(*f->lines), compare_lines, f);
}

static void add_line(struct folding *f, const struct fold_line *line, struct output *output)
{
	uint32_t *path = NULL;
	size_t n = 0, cap = 0;

	for (uint32_t node = line->node; node; node = f->nodes[node].parent) {
		VEC_GROW(path, n, cap);
		path[n++] = f->nodes[node].text;
	}
	str_add(&output->text, texts_get(f->texts, line->comm));
	while (n) {
		str_addc(&output->text, ';');
		str_add(&output->text, texts_get(f->texts, path[--n]));
	}
	str_addf(&output->text, " %llu\n", (unsigned long long)line->n_samples);
	free(path);
}

/* The first event that has samples; NULL: none has. */
static const struct hist *choose_hist(struct table *table)
{
	const struct hist *chosen = NULL;
	struct str name = STR_INIT;

	for (size_t i = 0; i < table->n_hists; i++) {
		const struct hist *hist = &table->hists[i];

		if (head_is_empty(hist))
			continue;
		if (!chosen && hist->n_members == 1) {
			chosen = hist;
			continue;
		}
		chosen = chosen ? chosen : hist;
		data_event_add_name(chosen->event, &name);
		note_add(table->notes, false, NULL,
			 "folded stacks: only those of %s, one of several events: a folded line "
			 "names none",
			 name.s);
		break;
	}
	str_release(&name);
	return chosen;
}

static int folded_print(struct table *table, struct output *output)
{
	const struct hist *hist = choose_hist(table);
	struct folding folding;

	if (!hist)
		return output->failed;
	folding_init(&folding, table, hist);
	fold_cells(&folding);
	rank_lines(&folding);
	for (size_t i = 0; i < folding.n_lines && !output_step(output); i++)
		add_line(&folding, &folding.lines[i], output);
	folding_release(&folding);
	return output->failed;
}

const struct report_format format_folded = {
	.name = "folded",
	.help = "a line per distinct stack, as flamegraph.pl takes it",
	.needs = NEED_STACKS,
	.print = folded_print,
};
