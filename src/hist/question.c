/* SPDX-License-Identifier: MIT */
/*
 * A question: words as typed, and what the recording has, become keys, columns, the order of entries, the facts that
 * cells must tell, and how chains are shown. It is made once and never changes after that; a table is its answer.
 *
 * Words become keys, columns and order by perf's rules:
 *
 *	- entries are sorted by: overhead_children, overhead, then the words of -s; with -F by the words of
 *	  -s alone and then by those of -F
 *	- latency goes beside each of the two, before it with --latency, else after it; words that name it go alone
 *	- columns are: the numbers that switches ask for, then the words of -s; with -F its words come first
 *	- "+word" adds to the default of either
 *	- a key is only there once; a word may be the beginning of its name
 *	- a column that a filter leaves with one value is said in a line and not shown
 */
#include "hist/keys_internal.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <strings.h>

/* ---- names of functions, given as an extended regular expression: --parent, --ignore-callees ---- */

struct name_pattern {
	regex_t regex;
};

static int name_pattern_new(struct name_pattern **pattern, const char *option, const char *text, struct str *err)
{
	struct name_pattern *made = xcalloc(1, sizeof(*made));
	char why[128];
	int code;

	*pattern = NULL;
	code = regcomp(&made->regex, text, REG_EXTENDED | REG_NOSUB);
	if (code) {
		regerror(code, &made->regex, why, sizeof(why));
		free(made);
		return fail(err, -EINVAL, "%s: '%s' is not a regular expression: %s", option, text, why);
	}
	*pattern = made;
	return 0;
}

static void name_pattern_free(struct name_pattern *pattern)
{
	if (!pattern)
		return;
	regfree(&pattern->regex);
	free(pattern);
}

bool name_pattern_match(const struct name_pattern *pattern, const char *name)
{
	return !regexec(&pattern->regex, name, 0, NULL, 0);
}

/* ---- what the recording allows ---- */

/* Branch stacks that were recorded for themselves, not as a way to find callchains. */
static bool has_branches(const struct recording_info *recording)
{
	uint64_t types = events_sample_types(recording->events);

	if (types & PERF_SAMPLE_STACK_USER)
		return false;
	for (size_t i = 0; i < recording->events->n; i++) {
		const struct perf_event_attr *attr = &recording->events->v[i]->attr;

		if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
		    !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK))
			return true;
	}
	return info_has(recording->info, FEATURE_BRANCH_STACK) && types & PERF_SAMPLE_BRANCH_STACK;
}

static int check_branches(struct question *question, struct str *err)
{
	const struct query *query = &question->query;
	bool has = has_branches(question->recording);

	if (query->branch_stack && !has)
		return fail(err, -EINVAL,
			    "--branch-stack: the recording has no branches; record "
			    "them with -b");
	if (query->needs & NEED_CODE_BLOCKS && (!has || query->branch_stack_off))
		return fail(err, -EINVAL, "cycles of blocks: %s",
			    has ? "cycles are those of branches, which --no-branch-stack leaves out" :
				  "the recording has no branches; record them with -b");
	if (query->needs & NEED_STREAMS && !has)
		return fail(err, -EINVAL, "streams: the recording has no branches; record them with -b");
	if (query->branch_stack && query->mem_mode)
		return fail(err, -EINVAL, "--branch-stack and --mem-mode: one or the other");
	if (query->session.branch_history && (!has || query->branch_stack))
		return fail(err, -EINVAL, "--branch-history: %s",
			    has ? "branches are frames of chains, and --branch-stack prints a row for each" :
				  "the recording has no branches; record them with -b, and callers with -g");
	question->branch_view =
		query->branch_stack ||
		(has && !query->branch_stack_off && !query->mem_mode && !query->session.branch_history &&
		 !(query->needs & (NEED_TIMES | NEED_TASKS | NEED_PROCESSES)));
	return 0;
}

/* perf gives up without chains, and prints what branches did to each frame. */
static void note_chains(struct question *question, bool has)
{
	const struct query *query = &question->query;

	if (query->chains_asked && query->chain.kind != CHAIN_NONE && !has)
		note_add(&question->notes, false, "record them with -g",
			 "--call-graph: the recording has no callchains");
	if (query->chain.branch && !query->session.branch_history)
		note_add(&question->notes, false,
			 "--branch-history adds them, --branch-stack prints a row for each branch",
			 "--call-graph branch: chains are shown without their branches");
}

static void choose_chains(struct question *question)
{
	const struct query *query = &question->query;
	const uint64_t types = events_sample_types(question->recording->events);
	const bool recorded = types & PERF_SAMPLE_CALLCHAIN || query->session.branch_history;
	const bool has = recorded && !query->no_chains && !question->branch_view;

	note_chains(question, recorded);
	question->chains = has && query->chain.kind != CHAIN_NONE;
	question->children = has && query->children != 0 && !query->mem_mode &&
			   query->view != VIEW_HIERARCHY;
	question->order = query->chain.order_set ? query->chain.order
			: query->children      ? CHAIN_CALLER
						 : CHAIN_CALLEE;
}

static bool has_key(const struct question *question, const char *name)
{
	for (size_t i = 0; i < question->n_keys; i++)
		if (!strcmp(question->keys[i]->name, name))
			return true;
	return false;
}

static int choose_parent(struct question *question, struct str *err)
{
	const struct query *query = &question->query;

	if (!has_key(question, "parent") && !query->exclude_other)
		return 0;
	if (!(events_sample_types(question->recording->events) & PERF_SAMPLE_CALLCHAIN))
		return fail(err, -EINVAL,
			    "parents are looked for in callchains, and the recording has none; "
			    "record them with -g");
	return name_pattern_new(&question->private->parent, "--parent",
				query->parent ? query->parent : "^sys_|^do_page_fault", err);
}

static int choose_ignored(struct question *question, struct str *err)
{
	const char *text = question->query.ignore_callees;

	return text ? name_pattern_new(&question->private->ignored, "--ignore-callees", text, err) : 0;
}

/* ---- keys, columns and order ---- */

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

static bool has_wall_clock(const struct events *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (event_is_wall_clock(events->v[i]))
			return true;
	return false;
}

static const char *default_sort(const struct question *question)
{
	if (question->query.needs & NEED_STACKS)
		return "comm,symbol";
	if (question->query.mem_mode)
		return "local_weight,mem,sym,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,"
		       "local_ins_lat,local_p_stage_cyc";
	if (question->branch_view)
		return "comm,dso_from,symbol_from,symbol_to,cycles";
	if (only_tracepoints(question->recording->events))
		return "trace";
	if (has_wall_clock(question->recording->events))
		return "comm,state,dso,symbol";
	return "comm,dso,symbol";
}

/* ---- adding ---- */

static int add_key(struct question *question, const struct sort_key *key, bool joined, size_t *index)
{
	struct question_private *private = question->private;
	unsigned level = 0;

	for (*index = 0; *index < question->n_keys; ++*index)
		if (question->keys[*index] == key)
			return 0;
	if (question->n_keys == KEYS_MAX)
		return -E2BIG;
	if (!question->keys)
		question->keys = xcalloc(KEYS_MAX, sizeof(*question->keys));
	if (!private->slots)
		private->slots = xcalloc(KEYS_MAX, sizeof(*private->slots));
	if (question->n_keys)
		level = private->slots[question->n_keys - 1].level + !joined;
	private->slots[question->n_keys] = (struct key_slot){
		.frame = key->flags & KEY_FRAME,
		.at = key->flags & KEY_FRAME ? private->n_frame_keys++ : private->n_other_keys++,
		.level = level,
	};
	question->keys[question->n_keys++] = key;
	return 0;
}

static bool same_field(const struct field_row *a, const struct field_row *b)
{
	return a && b && a->stat == b->stat && a->total == b->total && a->percent == b->percent &&
	       a->facts == b->facts && a->answers == b->answers && a->respect == b->respect;
}

static void add_order(struct question *question, const struct field_row *field, size_t key_index)
{
	struct question_private *private = question->private;

	for (size_t i = 0; i < private->n_order; i++)
		if (field ? same_field(private->order[i].field, field)
			  : !private->order[i].field && private->order[i].key_index == key_index)
			return;
	VEC_GROW(private->order, private->n_order, private->cap_order);
	private->order[private->n_order++] = (struct order_item){ field, key_index };
}

static void add_column(struct question *question, const struct field_row *field, size_t key_index)
{
	struct question_private *private = question->private;

	for (size_t i = 0; i < question->n_columns; i++)
		if (field ? same_field(question->columns[i].field, field)
			  : !question->columns[i].field &&
				    question->columns[i].key_index == key_index)
			return;
	VEC_GROW(question->columns, question->n_columns, private->cap_columns);
	question->columns[question->n_columns++] = (struct column){
		.kind = field ? COLUMN_NUMBER : COLUMN_KEY,
		.field = field,
		.key = field ? NULL : question->keys[key_index],
		.key_index = key_index,
		.level = field ? 0 : private->slots[key_index].level,
	};
}

/* ---- words ---- */

/* Keys within braces share a level of --hierarchy. */
static bool next_word(const struct question *question, struct word_reader *reader, struct word *word)
{
	const char *at = reader->at;

	for (; *at && strchr(", {}", *at); at++) {
		if (*at == '{')
			reader->keys_before = question->n_keys;
		reader->braces = *at == '{' || (reader->braces && *at != '}');
	}
	*word = (struct word){
		.s = at,
		.len = strcspn(at, ", {}"),
		.joined = reader->braces && question->n_keys > reader->keys_before,
	};
	reader->at = at + word->len;
	return word->len;
}

/* Keys of perf that are not to be had, and why. To add one: a row here, an entry in pstat-report(1). */
static const struct left_out_key {
	const char *name, *why;
} left_out_keys[] = {
	{ "ipc_null", "instructions per cycle are those of branches, by ipc_lbr" },
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

/*
 * Keys of all recordings come before the fields, and these before the other keys. Where both are called so, it is a
 * key to sort by, and a field to show.
 */
static void find_word(const struct word *word, bool shown, const struct sort_key **key,
		      const struct field_row **field)
{
	const struct sort_key *found = sort_key_find(word->s, word->len);

	*field = field_find(word->s, word->len);
	if (shown && *field && strlen((*field)->name) == word->len)
		found = NULL;
	else if (found && strlen(found->name) == word->len)
		*field = NULL;
	else if (found && *field &&
		 (strlen((*field)->name) == word->len || found->flags & (KEY_BRANCH | KEY_MEM)))
		found = NULL;
	if (found)
		*field = NULL;
	*key = found;
}

static int check_key(const struct question *question, const char *option, const struct sort_key *key,
		     struct str *err)
{
	if (key->flags & KEY_BRANCH && !question->branch_view)
		return fail(err, -EINVAL, "%s: '%s' is only available for branches, with --branch-stack",
			    option, key->name);
	if (key->flags & KEY_MEM && !question->query.mem_mode)
		return fail(err, -EINVAL,
			    "%s: '%s' is only available for memory samples, with --mem-mode", option,
			    key->name);
	return 0;
}

/* Notes what the field needs of cells. */
static int take_field(struct question *question, const char *option, const struct field_row *field, struct str *err)
{
	struct question_private *private = question->private;

	private->sum_facts |= field->answers ? FACT(DATA_SRC) : field->facts;
	if (!field->answers)
		return 0;
	if (!question->query.mem_mode)
		return fail(err, -EINVAL, "%s: '%s' is only available for memory samples, with --mem-mode", option,
			    field->name);
	field_answers(private->answers[field->respect], field->respect);
	return 0;
}

struct word_list {
	const char *option; /* "--sort" */
	bool columns; /* of -F: words are columns; else they are what entries are sorted by */
};

/* perf leaves them out without a word. */
static bool is_of_other_machine(const struct question *question, const struct sort_key *key)
{
	const char *arch = question->recording->info->arch;

	return key->flags & KEY_POWERPC && !(arch && !strncmp(arch, "ppc", 3));
}

static int add_word(struct question *question, const struct word_list *list, const struct word *word,
		    struct str *err)
{
	const struct field_row *field;
	const struct sort_key *key;
	size_t index = 0;
	int code;

	find_word(word, list->columns, &key, &field);
	if (!key && !field) {
		if (!field_key_new(question, word->s, word->len, &key))
			return refuse_word(list->option, word, err);
	}
	if (key && is_of_other_machine(question, key))
		return 0;
	if (key) {
		code = check_key(question, list->option, key, err);
		if (!code && add_key(question, key, word->joined, &index))
			code = fail(err, -EINVAL, "%s: more than %d keys", list->option, KEYS_MAX);
		if (code)
			return code;
	}
	if (field) {
		code = take_field(question, list->option, field, err);
		if (code)
			return code;
	}
	if (list->columns)
		add_column(question, field, index);
	else
		add_order(question, field, index);
	return 0;
}

static int add_trace_fields(struct question *question, const struct word_list *list, struct str *err)
{
	const struct events *events = question->recording->events;
	struct str why = STR_INIT;
	int code = 0;

	if (!question_open_tracepoints(question, &why))
		code = fail(err, -EINVAL, "%s: 'trace_fields': %s", list->option, why.s);
	str_release(&why);
	for (size_t i = 0; i < events->n && !code; i++) {
		struct tracepoint_field field;

		for (size_t f = 0;
		     !code && tracepoint_field(question->private->tracepoints, events->v[i], f, &field); f++) {
			struct str name = STR_INIT;
			struct word word = { .joined = false };

			str_addf(&name, "%%%zu.%s", i + 1, field.name);
			word.s = name.s;
			word.len = name.len;
			code = add_word(question, list, &word, err);
			str_release(&name);
		}
	}
	return code;
}

static int add_words(struct question *question, const struct word_list *list, const char *text,
		     struct str *err)
{
	static const char all_fields[] = "trace_fields";
	struct word_reader reader = { .at = text };
	struct word word;
	int code = 0;

	while (!code && next_word(question, &reader, &word)) {
		if (word.len == strlen(all_fields) && !strncmp(word.s, all_fields, word.len))
			code = add_trace_fields(question, list, err);
		else
			code = add_word(question, list, &word, err);
	}
	return code;
}

/* ---- -s ---- */

/* The words of -s with the default that they add to. */
static int sort_words(const struct question *question, struct str *out, struct str *err)
{
	const char *sort = question->query.sort, *fields = question->query.fields;

	if (!sort && fields && fields[0] != '+')
		return 0;
	if (!sort || sort[0] == '+')
		str_add(out, default_sort(question));
	if (sort && sort[0] == '+' && !sort[1])
		return fail(err, -EINVAL, "--sort: nothing follows '+'");
	if (sort && sort[0] == '+')
		str_addc(out, ',');
	if (sort)
		str_add(out, sort + (sort[0] == '+'));
	/* Also where --parent is given: what it found is a column of its own. */
	if (question->query.parent && !strstr(out->s, "parent"))
		str_add(out, out->len ? ",parent" : "parent");
	return 0;
}

/* Numbers that rows have unless words say otherwise. */
enum usual_number { OVERHEAD_CHILDREN, OVERHEAD, LATENCY_CHILDREN, LATENCY };

static const struct field_row *usual_field(const struct question *question, enum usual_number number)
{
	static const char *const names[] = { "overhead_children", "overhead", "latency_children", "latency" };

	return number == OVERHEAD && question->children ? &field_self :
							   field_find(names[number], strlen(names[number]));
}

/* Adds one of them, unless a word of -s is called so, or begins so: as perf has it. */
static void add_usual(struct question *question, enum usual_number number, const char *words)
{
	const char *name = usual_field(question, number)->name;

	if (!strstr(words, name) && (question->children || !usual_field(question, number)->total))
		add_order(question, usual_field(question, number), 0);
}

static void add_usual_order(struct question *question, const char *words)
{
	const bool beside = question->private->latency_beside && !strstr(words, "overhead");

	if (question->query.latency) {
		add_usual(question, LATENCY_CHILDREN, words);
		add_usual(question, OVERHEAD_CHILDREN, words);
		add_usual(question, LATENCY, words);
		add_usual(question, OVERHEAD, words);
		return;
	}
	if (strstr(words, "latency"))
		return;
	add_usual(question, OVERHEAD_CHILDREN, words);
	if (beside)
		add_usual(question, LATENCY_CHILDREN, words);
	add_usual(question, OVERHEAD, words);
	if (beside)
		add_usual(question, LATENCY, words);
}

static int make_order(struct question *question, bool only_fields, struct str *err)
{
	const struct word_list list = { "--sort", false };
	struct str words = STR_INIT;
	int code = sort_words(question, &words, err);

	if (!code && !only_fields)
		add_usual_order(question, words.s);
	if (!code)
		code = add_words(question, &list, words.s, err);
	str_addn(&question->sort_text, words.s, words.len);
	str_release(&words);
	return code;
}

/* ---- columns ---- */

static bool is_ordered(const struct question *question, const struct field_row *field)
{
	const struct question_private *private = question->private;

	for (size_t i = 0; i < private->n_order; i++)
		if (same_field(private->order[i].field, field))
			return true;
	return false;
}

/* Latency is a column where rows are sorted by it, and then overhead is, too, only where they are sorted by it. */
static void add_usual_columns(struct question *question)
{
	static const enum usual_number first[] = { LATENCY_CHILDREN, OVERHEAD_CHILDREN, LATENCY, OVERHEAD },
				       beside[] = { OVERHEAD_CHILDREN, LATENCY_CHILDREN, OVERHEAD, LATENCY };
	const bool latency = is_ordered(question, usual_field(question, LATENCY)) ||
			     is_ordered(question, usual_field(question, LATENCY_CHILDREN));

	for (size_t i = 0; i < ARRAY_SIZE(first); i++) {
		const struct field_row *field = usual_field(question, question->query.latency ? first[i] : beside[i]);

		if (field->of_latency || latency ? is_ordered(question, field) : question->children || !field->total)
			add_column(question, field, 0);
	}
}

static void add_default_numbers(struct question *question)
{
	const struct query *query = &question->query;

	add_usual_columns(question);
	if (query->cpu_utilization) {
		add_column(question, field_find("overhead_sys", 12), 0);
		add_column(question, field_find("overhead_us", 11), 0);
	}
	if (query->n_samples)
		add_column(question, field_find("sample", 6), 0);
	if (query->total_period)
		add_column(question, field_find("period", 6), 0);
}

/* Entries are also sorted by what is only a column, and what they are sorted by is also a column. */
static void complete(struct question *question)
{
	struct question_private *private = question->private;

	for (size_t i = 0; i < private->n_order; i++)
		add_column(question, private->order[i].field, private->order[i].key_index);
	for (size_t i = 0; i < question->n_columns; i++)
		add_order(question, question->columns[i].field, question->columns[i].key_index);
}

/* ---- columns that a filter makes needless ---- */

static const char *only_name(const char *names)
{
	return names && *names ? name_set_only(names) : NULL;
}

static const char *filtered_name(const struct question *question, const struct column *column)
{
	const struct filter_options *filters = &question->query.filters;

	if (column->kind != COLUMN_KEY)
		return NULL;
	if (!strcmp(column->key->name, "comm"))
		return only_name(filters->comms);
	if (question->children) /* callers are in other files and functions */
		return NULL;
	if (!strcmp(column->key->name, "dso"))
		return only_name(filters->dsos);
	return !strcmp(column->key->name, "symbol") ? only_name(filters->symbols) : NULL;
}

static void elide(struct question *question)
{
	size_t left = 0, n = 0;

	/* Only the table has lines above it. */
	if (!(question->query.needs & NEED_HEAD))
		return;
	for (size_t i = 0; i < question->n_columns; i++) {
		const struct column *column = &question->columns[i];
		const char *name = filtered_name(question, column);

		left += column->kind == COLUMN_KEY && !name;
		if (!name)
			continue;
		str_addf(&question->elided, "# %s: ", column->key->name);
		str_add_printable(&question->elided, name, strlen(name));
		str_addc(&question->elided, '\n');
	}
	/* Not all of them: then they are shown all the same. */
	for (size_t i = 0; i < question->n_columns && left; i++)
		if (!filtered_name(question, &question->columns[i]))
			question->columns[n++] = question->columns[i];
	if (left)
		question->n_columns = n;
}

static int make_columns(struct question *question, struct str *err)
{
	const struct word_list list = { "--fields", true };
	const char *fields = question->query.fields;
	bool strict = fields && fields[0] != '+';
	int code = make_order(question, strict, err);

	if (code)
		return code;
	if (fields && !fields[!strict])
		return fail(err, -EINVAL, "--fields: no field is given");
	if (!strict)
		add_default_numbers(question);
	if (fields)
		code = add_words(question, &list, fields + !strict, err);
	if (code)
		return code;
	complete(question);
	elide(question);
	return 0;
}

static bool has_field(const struct question *question, const char *name)
{
	for (size_t i = 0; i < question->n_columns; i++)
		if (question->columns[i].field && !strcmp(question->columns[i].field->name, name))
			return true;
	return false;
}

static bool has_latency(const struct question *question)
{
	for (size_t i = 0; i < question->n_columns; i++)
		if (question->columns[i].field && question->columns[i].field->of_latency)
			return true;
	return false;
}

/* ---- what is to be collected ---- */

/* Do addresses of one function differ in what is asked? With -v they do. */
static bool asks_of_functions(const struct question *question)
{
	const struct question_private *private = question->private;

	for (size_t i = 0; i < question->n_keys; i++)
		if (question->keys[i]->flags & KEY_FRAME && !(question->keys[i]->flags & KEY_OF_FUNCTION))
			return false;
	return !(question->shape.facts & (FACT(STACK) | FACT(FROM) | FACT(TO) | FACT(DATA_LOCATION))) &&
	       question->query.session.part == STACK_WHOLE && !private->want && !question->query.verbose;
}

/* A lane of time is a CPU, or a thread where CPUs were not recorded or threads are asked for. */
static void choose_times(struct question *question)
{
	struct profile_shape *shape = &question->shape;

	shape->facts |= FACT(BUCKET);
	shape->buckets = STACK_BUCKETS;
	if (!(events_sample_types(question->recording->events) & PERF_SAMPLE_CPU))
		shape->facts |= FACT(TID);
	else if (!(shape->facts & FACT(TID)))
		shape->facts |= FACT(CPU);
}

static void choose_facts(struct question *question)
{
	const struct query *query = &question->query;
	struct question_private *private = question->private;
	bool folded = query->needs & NEED_STACKS;

	question->shape.branches = question->branch_view;
	question->shape.weights = query->mem_mode;

	if (query->needs & NEED_CODE_BLOCKS)
		question->shape.facts |= FACT(FROM) | FACT(BLOCK_START) | FACT(BRANCH_CYCLES);
	if (query->needs & NEED_STREAMS)
		question->shape.facts |= FACT(LOCATION) | FACT(STACK);
	for (size_t i = 0; i < question->n_keys && !(query->needs & (NEED_CODE_BLOCKS | NEED_STREAMS)); i++)
		question->shape.facts |= question->keys[i]->facts;
	if (query->filters.dsos || query->filters.symbols || query->filters.symbol_filter ||
	    query->hide_unresolved || folded)
		question->shape.facts |= FACT(LOCATION);
	if (query->hide_unresolved && question->branch_view)
		question->shape.facts |= FACT(FROM) | FACT(TO);
	if (question->chains || question->children || private->parent || folded)
		question->shape.facts |= FACT(STACK);
	if (private->ignored && !question->branch_view)
		question->shape.facts |= FACT(STACK) | FACT(LOCATION);
	if (folded)
		question->shape.facts |= FACT(COMM);
	if (query->needs & NEED_TASKS)
		question->shape.facts |= FACT(PID) | FACT(TID) | FACT(CPU);
	if (query->needs & NEED_PROCESSES)
		question->shape.facts |= FACT(PID);
	if (query->needs & NEED_TIMES)
		choose_times(question);
	if (query->needs & NEED_BLOCKS) {
		question->shape.facts |= FACT(BUCKET);
		question->shape.buckets = STACK_BUCKETS;
	}
	question->shape.facts |= private->sum_facts;
	if (has_latency(question))
		question->shape.facts |= FACT(PARALLELISM);
	if (has_wall_clock(question->recording->events))
		question->shape.facts |= FACT(STATE);
	if (has_field(question, "overhead_sys") || has_field(question, "overhead_us") ||
	    has_field(question, "overhead_guest_sys") ||
	    has_field(question, "overhead_guest_us"))
		question->shape.facts |= FACT(MISC);
	if (has_key(question, "srcline") || has_key(question, "srcfile") ||
	    (question->chains && query->chain.key != CHAIN_BY_FUNCTION))
		private->want |= SYM_LINES;
	question->shape.by_function = asks_of_functions(question);
	question->shape.in_order = query->needs & NEED_ORDER;
	question->shape.time_quantum_ns = query->time_quantum_ns;
	if (question->shape.facts & FACT(TRACE))
		question->shape.trace = (struct trace_pieces){ .fields = private->trace_fields.s,
							       .whole = has_key(question, "trace"),
							       .raw = query->raw_trace };
}

static bool names_latency(const char *words)
{
	return words && strstr(words, "latency");
}

/* Before columns are made. */
static void choose_latency(struct question *question)
{
	const struct query *query = &question->query;
	struct question_private *private = question->private;

	private->latency_beside = !query->latency && !query->latency_off && query->needs & NEED_ENTRIES &&
				  events_have_switches(question->recording->events);
	private->latency_unasked = private->latency_beside && !names_latency(query->sort) &&
				   !names_latency(query->fields);
}

static int check_switches(const struct question *question, struct str *err)
{
	if (!question->query.latency && !has_latency(question) && !has_key(question, "parallelism"))
		return 0;
	return need_switches(question->query.latency ? "--latency" :
			     has_latency(question)   ? "key latency" :
						       "key parallelism",
			     question->recording->events, err);
}

/* Is there a function's name, or its source, in what is printed? */
static bool shows_names(const struct question *question)
{
	const struct query *query = &question->query;
	const struct question_private *private = question->private;

	if (question->chains || private->parent || private->ignored || query->hide_unresolved ||
	    query->filters.symbols || query->filters.symbol_filter ||
	    query->needs & (NEED_STACKS | NEED_CODE_BLOCKS | NEED_STREAMS))
		return true;
	for (size_t i = 0; i < question->n_columns; i++) {
		const struct sort_key *key = question->columns[i].key;

		if (question->columns[i].kind == COLUMN_KEY &&
		    (key->flags & KEY_FUNCTION || !strncmp(key->name, "src", 3) ||
		     !strcmp(key->name, "symbol_size")))
			return true;
	}
	return false;
}

/* ---- contract ---- */

static int decide(struct question *question, struct str *err)
{
	int code = check_branches(question, err);

	if (code)
		return code;
	choose_chains(question);
	choose_latency(question);
	code = make_columns(question, err);
	if (!code)
		code = check_switches(question, err);
	if (!code)
		code = choose_parent(question, err);
	if (!code)
		code = choose_ignored(question, err);
	if (!code)
		choose_facts(question);
	return code;
}

int question_make(struct question **question, const struct query *query, const struct recording_info *recording,
		  struct str *err)
{
	struct question *made = *question = xcalloc(1, sizeof(*made));
	int code;

	made->query = *query;
	made->recording = recording;
	if (!made->query.needs)
		made->query.needs = NEED_ENTRIES | NEED_TREES | NEED_HEAD;
	made->private = xcalloc(1, sizeof(*made->private));
	str_init(&made->private->trace_fields);
	str_init(&made->sort_text);
	str_init(&made->elided);
	code = decide(made, err);
	if (code) {
		question_free(made);
		*question = NULL;
	}
	return code;
}

void question_free(struct question *question)
{
	struct question_private *private;

	if (!question)
		return;
	private = question->private;
	field_keys_free(question);
	tracepoints_free(private->tracepoints);
	str_release(&private->trace_fields);
	free(private->slots);
	free(private->order);
	name_pattern_free(private->parent);
	name_pattern_free(private->ignored);
	free(private);
	free(question->keys);
	free(question->columns);
	note_list_release(&question->notes);
	str_release(&question->sort_text);
	str_release(&question->elided);
	free(question);
}

struct filter_options question_filters(const struct question *question)
{
	struct filter_options filters = question->query.filters;

	/* If there are entries, it is about them: with children, about callers too. */
	if (!(question->query.needs & NEED_STACKS))
		filters.symbol_filter = NULL;
	return filters;
}

/* Times and switches, which no cell tells. */
static struct filter_options filters_of_reading(const struct filter_options *filters)
{
	return (struct filter_options){ .time = filters->time,
					.switch_on = filters->switch_on,
					.switch_off = filters->switch_off,
					.switches_shown = filters->switches_shown };
}

uint64_t filter_facts(const struct filter_options *filters)
{
	uint64_t facts = 0;

	if (filters->comms)
		facts |= FACT(COMM);
	if (filters->pids || filters->idle_hidden)
		facts |= FACT(PID);
	if (filters->tids)
		facts |= FACT(TID);
	if (filters->cpus || filters->sockets)
		facts |= FACT(CPU) | FACT(MISC);
	if (filters->parallelism)
		facts |= FACT(PARALLELISM);
	if (filters->kernel_hidden || filters->user_hidden)
		facts |= FACT(MISC);
	return facts;
}

struct profile_options question_profile(const struct question *question, unsigned uses)
{
	const struct query *query = &question->query;
	const bool live = uses & PROFILE_LIVE, whole = uses & PROFILE_FOR_OTHERS;
	struct profile_options options = {
		.session = query->session,
		.filters = question_filters(question),
		.shape = question->shape,
		.threads_counted = query->threads_counted,
		.names_unseen = !shows_names(question),
		/* Frames of chains may be of any file. */
		.files_filtered = query->filters.dsos && !question->chains && !question->children,
	};

	options.session.replay.data_maps |= options.shape.facts >> FACT_DATA_LOCATION & 1;
	options.shape.by_function &= live && !whole;
	options.shape.in_order &= !live && !whole;
	if (whole) {
		/* Live branches are too many for cells with all facts. Other questions have the same filters. */
		options.shape.facts |= live && options.shape.branches ? filter_facts(&query->filters) :
									 PROFILE_WHOLE & ~FACT(BUCKET);
		/* The code of functions is shown with the cycles of its branches. */
		if (!live && options.shape.branches)
			options.shape.facts |= FACT(FROM) | FACT(BLOCK_START) | FACT(BRANCH_CYCLES);
		options.filters = filters_of_reading(&options.filters);
	}
	return options;
}
