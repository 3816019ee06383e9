/* SPDX-License-Identifier: MIT */
/*
 * embedded_write: what was looked up becomes the feature SYMBOLS of a recording, see embedded_names.h: for each dso the
 * addresses that were asked for, with what was answered. So what is written is what a report would have shown, and
 * nothing else; whoever calls this has asked for all that any report may ask.
 *
 * Names are written raw, and with a function those that may be shown in its place when they are demangled in another
 * way, so that reports choose as they would from the file.
 */
#include "sym/embedded_names.h"

#include "sym/code_times.h"
#include "sym/dso_names.h"

#include <errno.h>
#include <stdlib.h>

enum { ZSTD_LEVEL = 19, INLINE_WORDS = 5 };

struct pack {
	struct symbols *symbols;
	bool images;
	struct text_index *texts;
	size_t n_texts;
	struct str dsos;
	struct str *depths; /* enum answer_depth of each address; NULL: not wanted */
	struct embedded_totals totals;
};

/* State of the writing of one dso. */
struct dso_pack {
	struct pack *all;
	struct dso_names *names;
	const struct addr_answer **answers; /* by address */
	size_t n_answers;
	const struct symbol **functions; /* by their start */
	size_t n_functions;
	struct index function_index;
	struct row_set inlines;
	uint32_t *inlines_of; /* of each answer, 1 + row; 0: none */
};

static uint64_t text_number(struct pack *all, const char *text)
{
	uint32_t number = texts_intern(all->texts, text, strlen(text));

	if (number >= all->n_texts)
		all->n_texts = (size_t)number + 1;
	return number;
}

static uint64_t text_number1(struct pack *all, const char *text)
{
	return text ? text_number(all, text) + 1 : 0;
}

/* ---- which functions ---- */

static int by_addr(const void *a, const void *b)
{
	const struct addr_answer *const *x = a, *const *y = b;

	return ((*x)->addr > (*y)->addr) - ((*x)->addr < (*y)->addr);
}

static void sort_answers(struct dso_pack *p)
{
	p->n_answers = p->names->n_answers;
	p->answers = xcalloc(p->n_answers + 1, sizeof(*p->answers));
	for (size_t i = 0; i < p->n_answers; i++)
		p->answers[i] = &p->names->answers[i];
	qsort(p->answers, p->n_answers, sizeof(*p->answers), by_addr);
}

static int by_symbol_start(const void *a, const void *b)
{
	const struct symbol *const *x = a, *const *y = b;

	if ((*x)->start != (*y)->start)
		return (*x)->start < (*y)->start ? -1 : 1;
	return strcmp((*x)->raw, (*y)->raw);
}

static void sort_functions(struct dso_pack *p)
{
	struct index seen = { 0 };
	uint32_t k;

	p->functions = xcalloc(p->n_answers + 1, sizeof(*p->functions));
	for (size_t i = 0; i < p->n_answers; i++) {
		const struct symbol *symbol = p->answers[i]->symbol;
		uint64_t hash = hash_word((uintptr_t)symbol);

		if (!symbol || INDEX_FIND(&seen, hash, k, p->functions[k] == symbol))
			continue;
		index_add(&seen, hash, (uint32_t)p->n_functions);
		p->functions[p->n_functions++] = symbol;
	}
	index_release(&seen);
	qsort(p->functions, p->n_functions, sizeof(*p->functions), by_symbol_start);
	for (size_t i = 0; i < p->n_functions; i++)
		index_add(&p->function_index, hash_word((uintptr_t)p->functions[i]), (uint32_t)i);
}

static uint64_t function1(const struct dso_pack *p, const struct symbol *symbol)
{
	uint64_t hash = hash_word((uintptr_t)symbol);
	uint32_t i;

	return symbol && INDEX_FIND(&p->function_index, hash, i, p->functions[i] == symbol) ? (uint64_t)i + 1 : 0;
}

/* ---- functions ---- */

static const struct symbol_row *row_of(const struct dso_pack *p, const struct symbol *symbol)
{
	const struct names_table *table = dso_names_table(p->names);
	uint64_t vaddr;

	if (symbol->nameless || !table || !names_table_vaddr(table, symbol->start, &vaddr) || !table->table.n)
		return NULL;
	return symbol_table_find(&table->table, vaddr);
}

static int by_name(const void *a, const void *b)
{
	const struct symbol_row *x = a, *y = b;

	return (x->name > y->name) - (x->name < y->name);
}

/* All that may be shown at its start, in the order of the file. */
static void put_aliases(struct dso_pack *p, const struct symbol_row *row)
{
	const struct symbol_table *table = &dso_names_table(p->names)->table;
	const struct symbol_row *aliases;
	struct symbol_row *all;
	size_t n;

	aliases = symbol_table_aliases(table, row->start, &n);
	all = xcalloc(n + 1, sizeof(*all));
	memcpy(all, aliases, n * sizeof(*all));
	all[n++] = *row;
	qsort(all, n, sizeof(*all), by_name);
	put_number(&p->all->dsos, n);
	for (size_t i = 0; i < n; i++)
		put_number(&p->all->dsos, text_number(p->all, symbol_table_name(table, &all[i])));
	free(all);
}

static uint8_t kind_of(const struct symbol *symbol)
{
	static const struct {
		char binding;
		uint8_t kind;
	} rows[] = { { 'l', SYMBOL_LOCAL }, { 'w', SYMBOL_WEAK }, { 'g', SYMBOL_GLOBAL } };
	uint8_t nameless = symbol->nameless ? EMBEDDED_NAMELESS : 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].binding == symbol->binding)
			return rows[i].kind | nameless;
	return EMBEDDED_UNKNOWN_BINDING | nameless;
}

static void put_names(struct dso_pack *p, const struct symbol *symbol)
{
	const struct dso_names *names = p->names;
	const struct embedded_function *listed = embedded_aliases(names->listed, symbol->start, symbol->nameless);
	const struct symbol_row *row = dso_names_are_raw(names) || listed ? NULL : row_of(p, symbol);
	struct str *out = &p->all->dsos;
	size_t n_aliases = 0;

	if (row)
		symbol_table_aliases(&dso_names_table(names)->table, row->start, &n_aliases);
	str_addc(out, (char)(kind_of(symbol) | (listed || n_aliases ? EMBEDDED_ALIASES : 0)));
	put_number(out, text_number(p->all, symbol->raw));
	if (listed) {
		put_number(out, listed->n_aliases);
		for (uint32_t i = 0; i < listed->n_aliases; i++)
			put_number(out, text_number(p->all, names->listed->aliases[listed->alias + i]));
	} else if (n_aliases) {
		put_aliases(p, row);
	}
}

static void put_functions(struct dso_pack *p)
{
	struct str *out = &p->all->dsos;
	uint64_t before = 0;

	put_number(out, p->n_functions);
	for (size_t i = 0; i < p->n_functions; i++) {
		const struct symbol *symbol = p->functions[i];

		put_number(out, symbol->start - before);
		put_number(out, symbol->end - symbol->start);
		put_names(p, symbol);
		before = symbol->start;
	}
	p->all->totals.n_functions += p->n_functions;
}

/* ---- inlined functions ---- */

/* From the outermost in: each is a row, made once. */
static uint32_t inlines_of(struct dso_pack *p, const struct addr_answer *answer)
{
	uint32_t into1 = 0;

	for (uint32_t i = answer->frames && answer->n_frames ? answer->n_frames - 1 : 0; i-- > 0;) {
		const struct frame *frame = &answer->frames[i], *around = frame + 1;
		const uint64_t row[INLINE_WORDS] = {
			into1,
			text_number(p->all, frame->symbol->raw),
			text_number1(p->all, around->line.file),
			around->line.line,
			frame->symbol->decl_line,
		};

		into1 = row_set_intern(&p->inlines, row) + 1;
	}
	return into1;
}

static void put_inlines(struct dso_pack *p)
{
	struct str *out = &p->all->dsos;

	p->inlines_of = xcalloc(p->n_answers + 1, sizeof(*p->inlines_of));
	for (size_t i = 0; i < p->n_answers; i++)
		p->inlines_of[i] = inlines_of(p, p->answers[i]);
	put_number(out, p->inlines.n);
	for (size_t i = 0; i < p->inlines.n; i++)
		for (size_t k = 0; k < INLINE_WORDS; k++)
			put_number(out, row_set_at(&p->inlines, (uint32_t)i)[k]);
}

/* ---- addresses ---- */

static void put_addrs(struct dso_pack *p)
{
	static const struct source_line none = { NULL, 0 };
	uint64_t addr = 0, function = 0, line = 0;
	struct str *out = &p->all->dsos;

	put_number(out, p->n_answers);
	for (size_t i = 0; i < p->n_answers; i++) {
		const struct addr_answer *answer = p->answers[i];
		const struct source_line *own = answer->frames ? &answer->frames[0].line : &none;
		uint64_t number1 = function1(p, answer->symbol);

		put_number(out, answer->addr - addr);
		put_signed(out, (int64_t)(number1 - function));
		put_number(out, p->inlines_of[i]);
		put_number(out, text_number1(p->all, own->file));
		put_signed(out, (int64_t)(own->line - line));
		if (p->all->depths)
			str_addc(p->all->depths, (char)answer_depth(answer));
		addr = answer->addr;
		function = number1;
		line = own->line;
	}
}

/* ---- code made at run time, by its time ---- */

/* An address was sampled in it. */
static bool is_asked(const struct dso_pack *p, const struct code_event *event)
{
	size_t at = BISECT(i, 0, p->n_answers, p->answers[i]->addr < event->start);

	return at < p->n_answers && p->answers[at]->addr < event->end;
}

static void put_events(struct dso_pack *p)
{
	const struct code_times *times = p->names->times;
	struct str *out = &p->all->dsos;
	uint64_t time_ns = 0, start = 0;
	size_t n = 0;

	for (size_t i = 0; times && i < times->n; i++)
		n += is_asked(p, &times->v[i]);
	put_number(out, n);
	for (size_t i = 0; times && i < times->n; i++) {
		const struct code_event *event = &times->v[i];

		if (!is_asked(p, event))
			continue;
		put_number(out, event->time_ns - time_ns);
		str_addc(out, (char)event->kind);
		put_signed(out, (int64_t)(event->start - start));
		put_number(out, event->end - event->start);
		put_number(out, text_number(p->all, event->kind == CODE_CLOSED ? "" : times->names + event->name));
		time_ns = event->time_ns;
		start = event->start;
	}
}

/* ---- unwind tables ---- */

static void put_image(struct dso_pack *p)
{
	const struct dso *dso = p->names->dso;
	bool has = dso->kind == DSO_FILE || dso->kind == DSO_VDSO;
	struct elf_file *file = NULL;
	struct str ignored = STR_INIT;
	uint64_t *vaddrs;
	size_t n = 0;

	if (p->all->images && has)
		file = symbols_elf_file(p->all->symbols, dso, &ignored);
	str_release(&ignored);
	if (!file) {
		put_number(&p->all->dsos, 0);
		return;
	}
	vaddrs = xcalloc(p->n_answers + 1, sizeof(*vaddrs));
	for (size_t i = 0; i < p->n_answers; i++)
		n += elf_file_vaddr(file, p->answers[i]->addr, &vaddrs[n]);
	embedded_image_write(file, symbols_debug_file(p->all->symbols, dso), vaddrs, n, &p->all->dsos);
	free(vaddrs);
}

/* ---- a dso ---- */

static uint64_t bytes_of(struct pack *all, struct dso_names *names)
{
	const struct dso_files *files = names->files_known ? &names->files : NULL;
	const char *paths[] = { files ? files->runtime : NULL, files ? files->debug : NULL };
	uint64_t bytes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct str ignored = STR_INIT;
		struct elf_file *file;

		if (paths[i] && !(i && text_same(paths[0], paths[1])) &&
		    !elf_files_open(all->symbols->elf_files, paths[i], &file, &ignored)) {
			bytes += (uint64_t)file->stat.st_size;
			elf_file_let_go(file);
		}
		str_release(&ignored);
	}
	return bytes;
}

static void put_identity(struct pack *all, const struct dso_names *names)
{
	const struct dso *dso = names->dso;
	struct str *out = &all->dsos;

	str_addc(out, embedded_kind_letter((uint8_t)dso->kind));
	str_addc(out, (char)((names->state == SYM_FOUND ? 0 : EMBEDDED_NONE) |
			     (names->only_exported ? EMBEDDED_PARTIAL : 0)));
	put_number(out, text_number(all, dso->path));
	put_signed(out, dso->pid);
	str_addc(out, (char)dso->build_id.size);
	str_addn(out, (const char *)dso->build_id.bytes, dso->build_id.size);
	put_number(out, dso->major);
	put_number(out, dso->minor);
	put_number(out, dso->inode);
	put_number(out, dso->generation);
	put_number(out, dso->start);
	put_number(out, text_number(all, names->origin ? names->origin : ""));
	put_number(out, text_number(all, symbols_why(all->symbols, dso)));
}

/* Whether anything was found: names that its addresses then were not among are a finding, too. */
static bool has_names(const struct dso_names *names)
{
	if (!embedded_kind_letter((uint8_t)names->dso->kind) || !names->n_answers)
		return false;
	if (names->state == SYM_FOUND)
		return true;
	for (size_t i = 0; i < names->n_answers; i++)
		if (names->answers[i].symbol ||
		    (names->answers[i].frames && names->answers[i].frames[0].line.file))
			return true;
	return false;
}

static void put_dso(struct pack *all, struct dso_names *names)
{
	struct dso_pack p = { .all = all, .names = names };
	struct str before = all->dsos;

	str_init(&all->dsos);
	row_set_init(&p.inlines, INLINE_WORDS);
	sort_answers(&p);
	sort_functions(&p);
	put_identity(all, names);
	put_functions(&p);
	put_inlines(&p);
	put_addrs(&p);
	put_events(&p);
	put_image(&p);
	put_number(&before, all->dsos.len);
	str_addn(&before, all->dsos.s, all->dsos.len);
	str_release(&all->dsos);
	all->dsos = before;
	all->totals.n_dsos++;
	all->totals.n_addrs += p.n_answers;
	all->totals.file_bytes += bytes_of(all, names);
	free(p.answers);
	free(p.functions);
	free(p.inlines_of);
	index_release(&p.function_index);
	row_set_release(&p.inlines);
}

/* ---- all ---- */

static void put_texts(const struct pack *all, struct str *out)
{
	struct str texts = STR_INIT;

	for (uint32_t i = 0; i < all->n_texts; i++) {
		const char *text = texts_get(all->texts, i);

		str_addn(&texts, text, strlen(text) + 1);
	}
	put_number(out, texts.len);
	str_addn(out, texts.s, texts.len);
	str_release(&texts);
}

/* Puts it as it is where there is no zstd, it packs too well to be believed, or level is 0. */
static void put_packed(const struct str *body, int level, struct str *out)
{
	struct str packed = STR_INIT, ignored = STR_INIT;
	struct zstd_out *zstd;
	bool is_packed = false;

	if (level && !zstd_out_new(&zstd, level, &ignored)) {
		is_packed = !zstd_out_add(zstd, body->s, body->len, &packed, &ignored) &&
			    packed.len < body->len && body->len / EMBEDDED_RATIO_MAX <= packed.len;
		zstd_out_free(zstd);
	}
	str_addc(out, EMBEDDED_VERSION);
	str_addc(out, is_packed ? EMBEDDED_ZSTD : 0);
	put_number(out, body->len);
	str_addn(out, is_packed ? packed.s : body->s, is_packed ? packed.len : body->len);
	str_release(&packed);
	str_release(&ignored);
}

/* The dsos that were put; false: it is more than is kept. */
static bool put_all(struct pack *all, int level, struct str *out)
{
	struct str body = STR_INIT;
	bool fits;

	put_texts(all, &body);
	put_number(&body, all->totals.n_dsos);
	str_addn(&body, all->dsos.s, all->dsos.len);
	fits = body.len <= EMBEDDED_BYTES_MAX;
	if (fits)
		put_packed(&body, level, out);
	all->totals.bytes = body.len;
	str_release(&body);
	str_release(&all->dsos);
	texts_free(all->texts);
	return fits;
}

bool embedded_write_one(struct symbols *symbols, struct dso_names *names, struct str *out, struct str *depths)
{
	struct pack all = { .symbols = symbols, .texts = texts_new(), .dsos = STR_INIT, .depths = depths };

	put_dso(&all, names);
	return put_all(&all, 0, out);
}

int symbols_write(struct symbols *symbols, bool images, struct str *out, struct embedded_totals *totals,
		  struct str *err)
{
	struct pack all = { .symbols = symbols, .images = images, .texts = texts_new(), .dsos = STR_INIT };
	bool fits;

	for (size_t i = 0; i < symbols->n_names; i++)
		if (symbols->names[i] && has_names(symbols->names[i]))
			put_dso(&all, symbols->names[i]);
	fits = put_all(&all, ZSTD_LEVEL, out);
	*totals = all.totals;
	totals->bytes = out->len;
	return fits ? 0 : fail(err, -EFBIG, "names of %zu addresses take %llu bytes, more than is kept in a recording",
			       all.totals.n_addrs, (unsigned long long)all.totals.bytes);
}
