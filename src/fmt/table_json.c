/* SPDX-License-Identifier: MIT */
/*
 * table_json.c: the report as one JSON document (-j), valid whatever bytes names hold. The schema:
 *
 *	{ "format": "pstat report", "format_version": 1,
 *	  "recording": {             what the file says about itself; null: it does not say
 *	    "path", "hostname", "os_release", "arch", "cpu", "version": text or null,
 *	    "cmdline": [ text, ... ] or null,
 *	    "first_sample_ns", "last_sample_ns": number, on the recording's clock },
 *	  "lost": {
 *	    "samples", "events": number, as LOST_SAMPLES and LOST records count them,
 *	    "stacks": number: samples whose copy of the stack was cut while recording,
 *	    "throttles": number, "end": text or null: why the recording has no end },
 *	  "events": [ {              one per event that has samples; with --group one per group
 *	    "name": text,
 *	    "samples", "period": number: sums of all samples, also of what filters leave out,
 *	    "shown_samples", "shown_period": number: of what the filters let through,
 *	    "members": [ { "name", and the same four }, ... ]: its events, one outside groups,
 *	    "chains": "caller" or "callee": what the first level of a tree is; null: no trees,
 *	    "entries": [ entry, ... ] }, ... ] }
 *
 *	entry: { "samples", "period": number: of the entry itself,
 *	    "total_samples", "total_period": with what it called; only with children,
 *	    "level": "." user, "k" kernel, "g" and "u" guest, "H" hypervisor, as before a symbol,
 *	    "columns": { name as in -F: value, ... }: percentages and counts are numbers, keys are texts
 *	        or, where a key is a number, numbers; a symbol stands without its "[.] "; of op, cache,
 *	        memory, snoop and dtlb one for each answer: "op.Load",
 *	    "members": [ { "samples", "period", ..., "columns" }, ... ]: of each event, only in groups; the
 *	        first is the entry's own,
 *	    "tree": [ node, ... ]: only with chains, where a branch reaches the least percentage of -g,
 *	    "entries": [ entry, ... ]: the next level, only with --hierarchy }
 *
 *	node: { "symbol": text or null, "dso": text or null, "address": "0x..." only without a symbol,
 *	    "inlined": true only where it is, "file": text and "line": number where they are known and -g
 *	        tells frames apart by address or line,
 *	    "samples", "period": number: of all chains that come by,
 *	    "self_samples", "self_period": of those that end here,
 *	    "children": [ node, ... ]: only where there are some }
 *
 * Entries below --percent-limit and nodes below the least percentage of -g (of the event's period) are
 * left out, as in the table; sums are those of all.
 */
#include "fmt/fmt_internal.h"

#include <math.h>

/* `"key": `, after a comma where something stands before it. */
static void add_name(struct str *out, const char *key)
{
	char last = out->len ? out->s[out->len - 1] : '{';

	if (last != '{' && last != '[' && last != ' ')
		str_add(out, ", ");
	str_add_json(out, key);
	str_add(out, ": ");
}

static void add_text(struct str *out, const char *key, const char *text)
{
	add_name(out, key);
	if (text)
		str_add_json(out, text);
	else
		str_add(out, "null");
}

static void add_u64(struct str *out, const char *key, uint64_t value)
{
	add_name(out, key);
	str_addf(out, "%llu", (unsigned long long)value);
}

static void add_double(struct str *out, const char *key, double value)
{
	add_name(out, key);
	if (isfinite(value))
		str_addf(out, "%.6f", value);
	else
		str_add(out, "null");
}

/* ---- the recording ---- */

static void add_cmdline(struct str *out, const struct info *info)
{
	add_name(out, "cmdline");
	if (!info->cmdline.n) {
		str_add(out, "null");
		return;
	}
	str_addc(out, '[');
	for (size_t i = 0; i < info->cmdline.n; i++) {
		str_add(out, i ? ", " : "");
		str_add_json(out, info->cmdline.v[i]);
	}
	str_addc(out, ']');
}

static void add_recording(struct table *table, struct str *out)
{
	const struct reader *reader = table->session->reader;
	const struct replay *replay = &table->session->replay;
	const struct info *info = table->session->recording->info;

	str_add(out, "{\"format\": \"pstat report\", \"format_version\": 1,\n\"recording\": {");
	add_text(out, "path", reader ? reader->path : NULL);
	add_text(out, "hostname", info->hostname);
	add_text(out, "os_release", info->os_release);
	add_text(out, "arch", info->arch);
	add_text(out, "cpu", info->cpu_desc);
	add_text(out, "version", info->version);
	add_cmdline(out, info);
	add_u64(out, "first_sample_ns", replay->first_ns);
	add_u64(out, "last_sample_ns", replay->last_ns);
	str_add(out, "},\n\"lost\": {");
	add_u64(out, "samples", replay->counts.lost_samples);
	add_u64(out, "events", replay->counts.lost_events);
	add_u64(out, "stacks", replay->counts.cut_stacks);
	add_u64(out, "throttles", replay->counts.throttles);
	add_text(out, "end", reader && reader->missing.len ? reader->missing.s : NULL);
	str_add(out, "},\n\"events\": [");
}

/* ---- trees ---- */

static void add_frame(struct table *table, const struct view_frame *frame, struct str *out)
{
	const struct locations *locations = table->session->locations;
	const struct location_row *row = frame->location < locations->n ? &locations->v[frame->location] : NULL;
	const struct dso *dso = frame->symbol ? frame->symbol->dso : row ? row->dso : NULL;

	add_text(out, "symbol", frame->symbol ? frame->symbol->name : NULL);
	add_text(out, "dso", dso ? dso->name : NULL);
	if (!frame->symbol) {
		add_name(out, "address");
		str_addf(out, "\"0x%llx\"", row ? (unsigned long long)row->ip : 0ULL);
	}
	if (frame->inlined) {
		add_name(out, "inlined");
		str_add(out, "true");
	}
	/* A function's frame has been at many lines. */
	if (table->question->query.chain.key != CHAIN_BY_FUNCTION && frame->line.file) {
		add_text(out, "file", frame->line.file);
		add_u64(out, "line", frame->line.line);
	}
}

/* Members about the branches that the node is an end of. */
static void add_branches(const struct branch_sums *branches, struct str *out)
{
	const bool from = branches->end == BRANCH_END_FROM;

	add_text(out, "branch_end", from ? "from" : "to");
	add_u64(out, "branches", branches->n);
	add_u64(out, "branches_predicted", branches->n_predicted);
	add_u64(out, "branches_aborted", branches->n_aborted);
	add_u64(out, "branch_cycles", branches->cycles);
}

/* A node without its children and its closing brace. Only here text leaves within an entry: see add_name. */
static void open_node(struct table *table, const struct call_node *node, struct output *output)
{
	struct str *out = &output->text;

	str_addc(out, '{');
	output_step(output);
	add_frame(table, &node->frame, out);
	add_u64(out, "samples", node->total_count);
	add_u64(out, "period", node->total_period);
	add_u64(out, "self_samples", node->self_count);
	add_u64(out, "self_period", node->self_period);
	if (node->branches)
		add_branches(node->branches, out);
}

/* Below the root all siblings and, where there are none left, those of the parent: depth is input. */
static void add_nodes(struct table *table, const struct call_tree *tree, struct output *output)
{
	struct str *out = &output->text;

	for (const struct call_node *node = tree->root.children; node;) {
		open_node(table, node, output);
		if (node->children) {
			str_add(out, ", \"children\": [");
			node = node->children;
			continue;
		}
		str_addc(out, '}');
		while (node && !node->next) {
			node = node->parent;
			str_add(out, node->parent ? "]}" : "");
			if (!node->parent)
				return;
		}
		str_add(out, ", ");
		node = node->next;
	}
}

static void add_tree(struct table *table, const struct hist *hist, const struct entry *entry,
		     struct output *output)
{
	const struct tree_limit limit = table_tree_limit(table, hist, false);
	struct call_tree *tree = table_tree(table, hist, entry, &limit);

	if (!tree)
		return;
	add_name(&output->text, "tree");
	str_addc(&output->text, '[');
	add_nodes(table, tree, output);
	str_addc(&output->text, ']');
	calltree_free(tree);
}

/* ---- entries ---- */

static void add_key(struct table *table, const struct hist *hist, const struct entry *entry,
		    const struct column *column, struct str *out)
{
	const struct table_value value = table_value(table, hist, entry, column, 0);
	struct str text = STR_INIT;
	const char *s;
	size_t len;

	if (value.type == TABLE_NUMBER) {
		add_u64(out, column->key->name, value.number);
		return;
	}
	table_key_text(table, entry, column, &text);
	s = text.s + strspn(text.s, " ");
	len = strlen(s);
	if (column->key->flags & KEY_FUNCTION)
		s = diff_key_plain(s, &len);
	add_text(out, column->key->name, s);
	str_release(&text);
}

static void add_number(struct str *out, const char *name, struct table_value value)
{
	if (value.type == TABLE_PERCENT || value.type == TABLE_MEAN)
		add_double(out, name, value.percent);
	else
		add_u64(out, name, value.number);
}

static void add_numbers(struct table *table, const struct hist *hist, const struct entry *entry,
			size_t member, struct str *out)
{
	struct str name = STR_INIT;
	const struct entry_stats *self = entry->members ? &entry->members[member] : &entry->self;
	const struct entry_total *total =
		entry->members_total ? &entry->members_total[member] : &entry->total;

	add_u64(out, "samples", self->n_samples);
	add_u64(out, "period", self->period);
	if (table->question->children) {
		add_u64(out, "total_samples", total->n_samples);
		add_u64(out, "total_period", total->period);
	}
	add_name(out, "columns");
	str_addc(out, '{');
	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];

		if (column->kind != COLUMN_NUMBER)
			continue;
		str_reset(&name);
		str_addf(&name, "%s%s%s", column->title ? column->title->name : "", column->title ? "." : "",
			 column->field->name);
		if (column->field->total && !table->question->children)
			add_text(out, name.s, NULL);
		else
			add_number(out, name.s, table_value(table, hist, entry, column, member));
	}
	str_release(&name);
}

static void add_members(struct table *table, const struct hist *hist, const struct entry *entry,
			struct str *out)
{
	if (hist->n_members == 1)
		return;
	add_name(out, "members");
	str_addc(out, '[');
	for (size_t i = 0; i < hist->n_members; i++) {
		str_add(out, i ? ", {" : "{");
		add_numbers(table, hist, entry, i, out);
		str_add(out, "}}");
	}
	str_addc(out, ']');
}

static void add_entries(struct table *table, const struct hist *hist,
			struct entry *const *entries, size_t n, struct output *output);

static void add_entry(struct table *table, const struct hist *hist, const struct entry *entry,
		      struct output *output)
{
	struct str *out = &output->text;
	const char level[] = { entry->level, '\0' };

	str_add(out, "\n{");
	add_numbers(table, hist, entry, 0, out);
	for (size_t i = 0; i < table->n_columns; i++) {
		const struct column *column = &table->columns[i];

		if (column->kind == COLUMN_KEY &&
		    (table->question->query.view != VIEW_HIERARCHY || column->level == entry->depth))
			add_key(table, hist, entry, column, out);
	}
	str_addc(out, '}');
	add_text(out, "level", level);
	add_members(table, hist, entry, out);
	add_tree(table, hist, entry, output);
	if (entry->n_children) {
		add_name(out, "entries");
		add_entries(table, hist, entry->children, entry->n_children, output);
	}
	str_addc(out, '}');
}

static void add_entries(struct table *table, const struct hist *hist,
			struct entry *const *entries, size_t n, struct output *output)
{
	bool any = false;

	str_addc(&output->text, '[');
	for (size_t i = 0; i < n; i++) {
		if (!entry_is_shown(table, hist, entries[i]))
			continue;
		str_add(&output->text, any ? "," : "");
		any = true;
		add_entry(table, hist, entries[i], output);
		/* Only between entries of the first level: add_name looks at what stands before. */
		if (!entries[i]->depth && output_step(output))
			break;
	}
	str_addc(&output->text, ']');
}

static void add_totals(struct str *out, const struct entry_stats *totals,
		       const struct entry_stats *shown)
{
	add_u64(out, "samples", totals->n_samples);
	add_u64(out, "period", totals->period);
	add_u64(out, "shown_samples", shown->n_samples);
	add_u64(out, "shown_period", shown->period);
}

static void add_event_members(struct table *table, const struct hist *hist, struct str *out)
{
	struct str name = STR_INIT;

	add_name(out, "members");
	str_addc(out, '[');
	for (size_t i = 0; i < hist->n_members; i++) {
		str_add(out, i ? ", {" : "{");
		str_reset(&name);
		data_event_add_name(head_member(table, hist, i), &name);
		add_text(out, "name", name.s);
		add_totals(out, i ? &hist->member_totals[i] : &hist->totals,
			   i ? &hist->member_shown[i] : &hist->shown);
		str_addc(out, '}');
	}
	str_addc(out, ']');
	str_release(&name);
}

static void add_event(struct table *table, const struct hist *hist, struct output *output)
{
	const struct entry_stats totals = head_totals(hist, false);
	const struct entry_stats shown = head_totals(hist, true);
	struct str *out = &output->text;
	struct str name = STR_INIT;

	str_add(out, "\n{");
	head_add_event_name(table, hist, &name);
	add_text(out, "name", name.s);
	str_release(&name);
	add_totals(out, &totals, &shown);
	add_event_members(table, hist, out);
	add_text(out, "chains",
		 !table->question->chains                 ? NULL
		 : table->question->order == CHAIN_CALLER ? "caller"
						 : "callee");
	add_name(out, "entries");
	add_entries(table, hist, hist->entries, hist->n, output);
	str_addc(out, '}');
}

static int json_print(struct table *table, struct output *output)
{
	bool any = false;

	add_recording(table, &output->text);
	for (size_t i = 0; i < table->n_hists; i++) {
		if (head_is_empty(&table->hists[i]) && !table->question->query.empty_shown)
			continue;
		str_add(&output->text, any ? "," : "");
		any = true;
		table_columns_for(table, &table->hists[i]);
		add_event(table, &table->hists[i], output);
		if (output_step(output))
			break;
	}
	str_add(&output->text, "]}\n");
	return output->failed;
}

const struct report_format format_json = {
	.name = "json",
	.needs = NEED_ENTRIES | NEED_TREES,
	.print = json_print,
};
