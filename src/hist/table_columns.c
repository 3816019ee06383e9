/*
 * -s, -F and the switches into keys, columns and the order of entries, by perf's rules:
 *
 *	- entries are sorted by: overhead_children, overhead, then the words of -s; with -F by the words of
 *	  -s alone and then by those of -F
 *	- columns are: the numbers that switches ask for, then the words of -s; with -F its words come first
 *	- "+word" adds to the default of either
 *	- a key is only there once; a word may be the beginning of its name
 *	- a column that a filter leaves with one value is said in a line and not shown
 */
#include "hist/keys_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

struct word {
	const char *s;
	size_t len;
	bool joined; /* to the level of the key before */
};
struct word_reader {
	const char *at;
	bool braces; /* inside them */
	size_t keys_before; /* that were there when they opened */
};

/* ---- defaults ---- */

static bool only_tracepoints(const struct events *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (events->v[i]->attr.type != PERF_TYPE_TRACEPOINT)
			return false;
	return events->n;
}

const char *table_default_sort(const struct table *table)
{
	if (table->options.needs & NEED_STACKS)
		return "comm,symbol";
	if (table->options.mem_mode)
		return "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,"
		       "local_ins_lat,local_p_stage_cyc";
	if (table->branch_view)
		return "comm,dso_from,symbol_from,symbol_to,cycles";
	if (only_tracepoints(table->session->recording->events))
		return "trace";
	return "comm,dso,symbol";
}

/* ---- adding ---- */

static int add_key(struct table *table, const struct sort_key *key, bool joined, size_t *index)
{
	struct table_private *private = table->private;
	unsigned level = 0;

	for (*index = 0; *index < table->n_keys; ++*index)
		if (table->keys[*index] == key)
			return 0;
	if (table->n_keys == KEYS_MAX)
		return -E2BIG;
	if (!table->keys)
		table->keys = xcalloc(KEYS_MAX, sizeof(*table->keys));
	if (!private->slots)
		private->slots = xcalloc(KEYS_MAX, sizeof(*private->slots));
	if (table->n_keys)
		level = private->slots[table->n_keys - 1].level + !joined;
	private->slots[table->n_keys] = (struct key_slot){
		.frame = key->flags & KEY_FRAME,
		.at = key->flags & KEY_FRAME ? private->n_frame_keys++ : private->n_other_keys++,
		.level = level,
	};
	table->keys[table->n_keys++] = key;
	return 0;
}

static bool same_field(const struct field_row *a, const struct field_row *b)
{
	return a && b && a->stat == b->stat && a->total == b->total && a->percent == b->percent;
}

static void add_order(struct table *table, const struct field_row *field, size_t key_index)
{
	struct table_private *private = table->private;

	for (size_t i = 0; i < private->n_order; i++)
		if (field ? same_field(private->order[i].field, field)
			  : !private->order[i].field && private->order[i].key_index == key_index)
			return;
	VEC_GROW(private->order, private->n_order, private->cap_order);
	private->order[private->n_order++] = (struct order_item){ field, key_index };
}

static void add_column(struct table *table, const struct field_row *field, size_t key_index)
{
	struct table_private *private = table->private;

	for (size_t i = 0; i < private->n_columns; i++)
		if (field ? same_field(private->columns[i].field, field)
			  : !private->columns[i].field &&
				    private->columns[i].key_index == key_index)
			return;
	VEC_GROW(private->columns, private->n_columns, private->cap_columns);
	private->columns[private->n_columns++] = (struct column){
		.kind = field ? COLUMN_NUMBER : COLUMN_KEY,
		.field = field,
		.key = field ? NULL : table->keys[key_index],
		.key_index = key_index,
		.level = field ? 0 : private->slots[key_index].level,
	};
}

/* ---- words ---- */

/* Keys within braces share a level of --hierarchy. */
static bool next_word(const struct table *table, struct word_reader *reader, struct word *word)
{
	const char *at = reader->at;

	for (; *at && strchr(", {}", *at); at++) {
		if (*at == '{')
			reader->keys_before = table->n_keys;
		reader->braces = *at == '{' || (reader->braces && *at != '}');
	}
	*word = (struct word){
		.s = at,
		.len = strcspn(at, ", {}"),
		.joined = reader->braces && table->n_keys > reader->keys_before,
	};
	reader->at = at + word->len;
	return word->len;
}

/* Keys of perf that are not to be had, and why. To add one: a row here, an entry in pstat-report(1). */
static const struct left_out_key {
	const char *name, *why;
} left_out_keys[] = {
	{ "ipc_lbr", "instructions per cycle need the program's code to be decoded" },
	{ "ipc_null", "instructions per cycle need the program's code to be decoded" },
};

static void add_known_words(struct str *out)
{
	str_add(out, "\nThere are ");
	for (size_t i = 0; i < n_field_rows; i++)
		str_addf(out, "%s, ", field_rows[i].name);
	for (size_t i = 0; i < n_sort_keys; i++)
		str_addf(out, "%s, ", sort_keys[i].name);
	str_add(out, "and the fields of recorded tracepoints");
}

static int refuse_word(const char *option, const struct word *word, struct str *err)
{
	struct str shown = STR_INIT;
	struct near_name near;

	for (size_t i = 0; i < ARRAY_SIZE(left_out_keys); i++)
		if (strlen(left_out_keys[i].name) == word->len &&
		    !strncasecmp(left_out_keys[i].name, word->s, word->len))
			return fail(err, -EINVAL, "%s: '%s' is not available: %s", option,
				    left_out_keys[i].name, left_out_keys[i].why);
	str_add_printable(&shown, word->s, word->len);
	near_init(&near, word->s, word->len);
	for (size_t i = 0; i < n_sort_keys; i++)
		near_consider(&near, sort_keys[i].name);
	for (size_t i = 0; i < n_field_rows; i++)
		near_consider(&near, field_rows[i].name);
	fail(err, 0, "%s: '%s' is not a key", option, shown.s);
	if (near_best(&near))
		str_addf(err, "; is '%s' meant?", near_best(&near));
	else
		add_known_words(err);
	str_release(&shown);
	return -EINVAL;
}

/* Keys of all recordings come before the fields, and these before the other keys. */
static void find_word(const struct word *word, const struct sort_key **key,
		      const struct field_row **field)
{
	const struct sort_key *found = sort_key_find(word->s, word->len);

	*field = field_find(word->s, word->len);
	if (found && strlen(found->name) == word->len)
		*field = NULL;
	else if (found && *field &&
		 (strlen((*field)->name) == word->len || found->flags & (KEY_BRANCH | KEY_MEM)))
		found = NULL;
	if (found)
		*field = NULL;
	*key = found;
}

static int check_key(const struct table *table, const char *option, const struct sort_key *key,
		     struct str *err)
{
	if (key->flags & KEY_BRANCH && !table->branch_view)
		return fail(err, -EINVAL, "%s: '%s' is only known of branches, with --branch-stack",
			    option, key->name);
	if (key->flags & KEY_MEM && !table->options.mem_mode)
		return fail(err, -EINVAL,
			    "%s: '%s' is only known of memory samples, with --mem-mode", option,
			    key->name);
	return 0;
}

struct word_list {
	const char *option; /* "--sort" */
	bool columns; /* of -F: words are columns; else they are what entries are sorted by */
};

/* perf leaves them out without a word. */
static bool is_of_other_machine(const struct table *table, const struct sort_key *key)
{
	const char *arch = table->session->recording->info->arch;

	return key->flags & KEY_POWERPC && !(arch && !strncmp(arch, "ppc", 3));
}

static int add_word(struct table *table, const struct word_list *list, const struct word *word,
		    struct str *err)
{
	const struct field_row *field;
	const struct sort_key *key;
	size_t index = 0;
	int code;

	find_word(word, &key, &field);
	if (!key && !field) {
		code = field_key_new(table, word->s, word->len, &key, err);
		if (code <= 0)
			return code ? code : refuse_word(list->option, word, err);
	}
	if (key && is_of_other_machine(table, key))
		return 0;
	if (key) {
		code = check_key(table, list->option, key, err);
		if (!code && add_key(table, key, word->joined, &index))
			code = fail(err, -EINVAL, "%s: more than %d keys", list->option, KEYS_MAX);
		if (code)
			return code;
	}
	if (list->columns)
		add_column(table, field, index);
	else
		add_order(table, field, index);
	return 0;
}

static int add_trace_fields(struct table *table, const struct word_list *list, struct str *err)
{
	const struct events *events = table->session->recording->events;
	struct str why = STR_INIT;
	int code = 0;

	if (!table_open_tracepoints(table, &why))
		code = fail(err, -EINVAL, "%s: 'trace_fields': %s", list->option, why.s);
	str_release(&why);
	for (size_t i = 0; i < events->n && !code; i++) {
		struct tracepoint_field field;

		for (size_t f = 0;
		     !code && tracepoint_field(table->tracepoints, events->v[i], f, &field); f++) {
			struct str name = STR_INIT;
			struct word word = { .joined = false };

			str_addf(&name, "%%%zu.%s", i + 1, field.name);
			word.s = name.s;
			word.len = name.len;
			code = add_word(table, list, &word, err);
			str_release(&name);
		}
	}
	return code;
}

static int add_words(struct table *table, const struct word_list *list, const char *text,
		     struct str *err)
{
	static const char all_fields[] = "trace_fields";
	struct word_reader reader = { .at = text };
	struct word word;
	int code = 0;

	while (!code && next_word(table, &reader, &word)) {
		if (word.len == strlen(all_fields) && !strncmp(word.s, all_fields, word.len))
			code = add_trace_fields(table, list, err);
		else
			code = add_word(table, list, &word, err);
	}
	return code;
}

/* ---- -s ---- */

/* The words of -s with the default that they add to. */
static int sort_words(const struct table *table, struct str *out, struct str *err)
{
	const char *sort = table->options.sort, *fields = table->options.fields;

	if (!sort && fields && fields[0] != '+')
		return 0;
	if (!sort || sort[0] == '+')
		str_add(out, table_default_sort(table));
	if (sort && sort[0] == '+' && !sort[1])
		return fail(err, -EINVAL, "--sort: nothing stands behind '+'");
	if (sort && sort[0] == '+')
		str_addc(out, ',');
	if (sort)
		str_add(out, sort + (sort[0] == '+'));
	/* Also where --parent is given: what it found is a column of its own. */
	if (table->options.parent && !strstr(out->s, "parent"))
		str_add(out, out->len ? ",parent" : "parent");
	return 0;
}

static int make_order(struct table *table, bool only_fields, struct str *err)
{
	const struct word_list list = { "--sort", false };
	struct str words = STR_INIT;
	int code = sort_words(table, &words, err);

	/* Each comes first unless -s names it, or for the second any that is called so: as perf has it. */
	if (!code && !only_fields && table->children && !strstr(words.s, "overhead_children"))
		add_order(table, field_find("overhead_children", 17), 0);
	if (!code && !only_fields && !strstr(words.s, "overhead"))
		add_order(table, table->children ? &field_self : field_find("overhead", 8), 0);
	if (!code)
		code = add_words(table, &list, words.s, err);
	str_addn(&table->sort_text, words.s, words.len);
	str_release(&words);
	return code;
}

/* ---- columns ---- */

static void add_default_numbers(struct table *table)
{
	const struct query *options = &table->options;

	if (table->children)
		add_column(table, field_find("overhead_children", 17), 0);
	add_column(table, table->children ? &field_self : field_find("overhead", 8), 0);
	if (options->cpu_utilization) {
		add_column(table, field_find("overhead_sys", 12), 0);
		add_column(table, field_find("overhead_us", 11), 0);
	}
	if (options->n_samples)
		add_column(table, field_find("sample", 6), 0);
	if (options->total_period)
		add_column(table, field_find("period", 6), 0);
}

/* Entries are also sorted by what is only a column, and what they are sorted by is also a column. */
static void complete(struct table *table)
{
	struct table_private *private = table->private;

	for (size_t i = 0; i < private->n_order; i++)
		add_column(table, private->order[i].field, private->order[i].key_index);
	for (size_t i = 0; i < private->n_columns; i++)
		add_order(table, private->columns[i].field, private->columns[i].key_index);
}

/* ---- columns that a filter makes needless ---- */

static const char *only_name(const char *names)
{
	return names && *names ? name_set_only(names) : NULL;
}

static const char *filtered_name(const struct table *table, const struct column *column)
{
	const struct filter_options *filters = &table->options.filters;

	if (column->kind != COLUMN_KEY)
		return NULL;
	if (!strcmp(column->key->name, "comm"))
		return only_name(filters->comms);
	if (table->children) /* callers are in other files and functions */
		return NULL;
	if (!strcmp(column->key->name, "dso"))
		return only_name(filters->dsos);
	return !strcmp(column->key->name, "symbol") ? only_name(filters->symbols) : NULL;
}

static void elide(struct table *table)
{
	struct table_private *private = table->private;
	size_t left = 0, n = 0;

	/* Only the table has lines above it. */
	if (!(table->options.needs & NEED_HEAD))
		return;
	for (size_t i = 0; i < private->n_columns; i++) {
		const struct column *column = &private->columns[i];
		const char *name = filtered_name(table, column);

		left += column->kind == COLUMN_KEY && !name;
		if (!name)
			continue;
		str_addf(&table->elided, "# %s: ", column->key->name);
		str_add_printable(&table->elided, name, strlen(name));
		str_addc(&table->elided, '\n');
	}
	/* Not all of them: then they are shown all the same. */
	for (size_t i = 0; i < private->n_columns && left; i++)
		if (!filtered_name(table, &private->columns[i]))
			private->columns[n++] = private->columns[i];
	if (left)
		private->n_columns = n;
}

int table_make_columns(struct table *table, struct str *err)
{
	const struct word_list list = { "--fields", true };
	const char *fields = table->options.fields;
	bool strict = fields && fields[0] != '+';
	int code = make_order(table, strict, err);

	if (code)
		return code;
	if (fields && !fields[!strict])
		return fail(err, -EINVAL, "--fields: nothing is named");
	if (!strict)
		add_default_numbers(table);
	if (fields)
		code = add_words(table, &list, fields + !strict, err);
	if (code)
		return code;
	complete(table);
	elide(table);
	table->columns = xcalloc(table->private->n_columns + 1, sizeof(*table->columns));
	table_columns_for(table, NULL);
	return 0;
}

bool table_has_field(const struct table *table, const char *name)
{
	const struct table_private *private = table->private;

	for (size_t i = 0; i < private->n_columns; i++)
		if (private->columns[i].field && !strcmp(private->columns[i].field->name, name))
			return true;
	return false;
}
