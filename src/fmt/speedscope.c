/* SPDX-License-Identifier: MIT */
/*
 * speedscope.c: equal stacks as one, as a file of speedscope, one JSON document (its file-format-schema.json):
 *
 *	{ "$schema": ..., "exporter": "pstat VERSION", "name": text, "activeProfileIndex": 0,
 *	  "shared": { "frames": [ { "name": text, "file": text, "line": number }, ... ] },
 *	  "profiles": [ { "type": "sampled", "name": text, "unit": "none", "startValue": 0, "endValue": sum,
 *	      "samples": [ [ frames, outermost first ], ... ], "weights": [ number of samples, ... ] }, ... ] }
 *
 * One profile for each group of each event, as "event: group". Weights of time off the CPU are "microseconds". Frames
 * of later events stand after those of earlier ones. What is told apart is what -s tells apart beside code.
 */
#include "fmt/fmt_internal.h"

#include <stdlib.h>

struct speedscope {
	struct output *output;
	struct stack_tree **trees; /* of each event that has samples */
	char **names;
	size_t n, cap, cap_names;
};

static void add_frames(struct speedscope *s)
{
	struct str *out = &s->output->text;
	bool any = false;

	str_add(out, "\"shared\":{\"frames\":[");
	for (size_t t = 0; t < s->n; t++)
		for (size_t i = 0; i < s->trees[t]->n_frames; i++) {
			const struct stack_tree_frame *frame = &s->trees[t]->frames[i];

			str_add(out, any ? ",\n{\"name\":" : "\n{\"name\":");
			any = true;
			str_add_json(out, stack_tree_text(s->trees[t], frame->name));
			if (frame->line.file || frame->dso) {
				str_add(out, ",\"file\":");
				str_add_json(out, frame->line.file ? frame->line.file : frame->dso->name);
			}
			if (frame->line.file && frame->line.line)
				str_addf(out, ",\"line\":%u", frame->line.line);
			str_addc(out, '}');
			output_step(s->output);
		}
	str_add(out, "]}");
}

static void add_stack(const struct stack_tree *tree, size_t first_frame, uint32_t node, struct str *out)
{
	uint32_t *path = xcalloc(tree->nodes[node].depth + 1, sizeof(*path));
	size_t n = 0;

	for (; node; node = tree->nodes[node].parent)
		path[n++] = tree->nodes[node].frame;
	str_addc(out, '[');
	while (n) {
		n--;
		str_addf(out, "%zu%s", first_frame + path[n], n ? "," : "");
	}
	str_addc(out, ']');
	free(path);
}

/* rows: those of one group. */
static void add_profile(struct speedscope *s, size_t t, size_t first_frame, const struct stack_tree_row *const *rows,
			size_t n)
{
	const struct stack_tree *tree = s->trees[t];
	const char *group = stack_tree_text(tree, tree->groups[rows[0]->group]);
	struct str *out = &s->output->text, name = STR_INIT;
	unsigned long long sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += stack_tree_weight(tree, rows[i]);
	str_addf(&name, "%s%s%s", s->names[t], *group ? ": " : "", group);
	str_add(out, "\n{\"type\":\"sampled\",\"name\":");
	str_add_json(out, name.s);
	str_release(&name);
	str_addf(out, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%llu,\"samples\":[",
		 tree->is_time ? "microseconds" : "none", sum);
	for (size_t i = 0; i < n; i++) {
		str_add(out, i ? "," : "");
		add_stack(tree, first_frame, rows[i]->node, out);
		output_step(s->output);
	}
	str_add(out, "],\"weights\":[");
	for (size_t i = 0; i < n; i++) {
		str_addf(out, "%s%llu", i ? "," : "", (unsigned long long)stack_tree_weight(tree, rows[i]));
		output_step(s->output);
	}
	str_add(out, "]}");
}

static void add_event(struct speedscope *s, size_t t, size_t first_frame)
{
	const struct stack_tree *tree = s->trees[t];
	const struct stack_tree_row **rows = stack_tree_by_group(tree);
	size_t end;

	for (size_t i = 0; i < tree->n_rows; i = end) {
		for (end = i; end < tree->n_rows && rows[end]->group == rows[i]->group;)
			end++;
		str_add(&s->output->text, t || i ? "," : "");
		add_profile(s, t, first_frame, rows + i, end - i);
	}
	free(rows);
}

static void make_trees(struct speedscope *s, struct table *table)
{
	static const struct stack_tree_options options = { .lines = true };

	for (size_t i = 0; i < table->n_hists; i++) {
		const struct hist *hist = &table->hists[i];

		for (size_t member = 0; member < hist->n_members && !head_is_empty(hist); member++) {
			struct stack_tree *tree = stack_tree_new(table, hist, member, &options);
			struct str name = STR_INIT;

			if (!tree->n_rows) {
				stack_tree_free(tree);
				continue;
			}
			VEC_GROW(s->trees, s->n, s->cap);
			VEC_GROW(s->names, s->n, s->cap_names);
			data_event_add_name(head_member(table, hist, member), &name);
			s->trees[s->n] = tree;
			s->names[s->n++] = str_detach(&name);
		}
	}
}

static int speedscope_print(struct table *table, struct output *output)
{
	struct speedscope s = { .output = output };
	struct str *out = &output->text;
	size_t first_frame = 0;

	make_trees(&s, table);
	str_add(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
		     "\"exporter\":\"pstat " PSTAT_VERSION "\",\"name\":");
	str_add_json(out, table->session->reader ? table->session->reader->path : "pstat");
	str_add(out, ",\"activeProfileIndex\":0,\n");
	add_frames(&s);
	str_add(out, ",\n\"profiles\":[");
	for (size_t t = 0; t < s.n; t++) {
		add_event(&s, t, first_frame);
		first_frame += s.trees[t]->n_frames;
	}
	str_add(out, "]}\n");
	output_step(output);
	for (size_t t = 0; t < s.n; t++) {
		stack_tree_free(s.trees[t]);
		free(s.names[t]);
	}
	free(s.trees);
	free(s.names);
	return output->failed;
}

const struct report_format format_speedscope = {
	.name = "speedscope",
	.needs = NEED_STACKS,
	.print = speedscope_print,
};
