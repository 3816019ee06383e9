/*
 * flamegraph_diff.c: two recordings as one page, or as one picture. Each event that both have is there twice in a page:
 * with the widths of the new recording, and with those of the old one, where stacks are that have vanished. A picture
 * has the first one alone. Colours are the same everywhere: what is certainly more, certainly less, or explained by
 * chance.
 */
#include "fmt/flamegraph_internal.h"
#include "fmt/stack_caption.h"

#include <errno.h>

static const struct stack_tree_options tree_options = { .kinds_apart = true, .lines = true, .times = true };

static void add_tree(struct output *output, bool *any, const struct stack_tree *tree,
		     const struct stack_node_diff *diff, const char *name, const char *which)
{
	struct str text = STR_INIT;

	if (!tree->n_rows)
		return;
	str_add(&output->text, *any ? ",\n" : "");
	*any = true;
	str_addf(&text, "%s: %s", name, which);
	flamegraph_add_event(output, tree, diff, text.s);
	str_release(&text);
}

/* Nothing, where there is no such event on the other side. */
static void add_pair(struct table *before, struct table *now, const struct hist *hist, bool *any, double confidence,
		     struct output *output)
{
	struct str name = STR_INIT;
	const struct hist *old;
	struct stack_tree *trees[2];
	struct stack_diff *diff;

	data_event_add_name(hist->event, &name);
	old = table_hist_of(before, name.s);
	if (old) {
		trees[0] = stack_tree_new(before, old, 0, &tree_options);
		trees[1] = stack_tree_new(now, hist, 0, &tree_options);
		diff = stack_diff_new(trees[0], trees[1], confidence);
		add_tree(output, any, trees[1], diff->now, name.s, "widths of the new recording");
		add_tree(output, any, trees[0], diff->before, name.s, "widths of the old one, with what vanished");
		stack_diff_free(diff);
		stack_tree_free(trees[0]);
		stack_tree_free(trees[1]);
	}
	str_release(&name);
}

static void add_lines(struct note_list *caption, struct table *table, const char *which)
{
	struct note_list lines = { 0 };

	stack_caption_of(table, which, &lines);
	for (size_t i = 0; i < lines.n; i++)
		note_add(caption, false, NULL, "%s", lines.v[i].text);
	note_list_release(&lines);
}

static void add_caption(struct table *before, struct table *now, double confidence, struct note_list *caption)
{
	struct str title = STR_INIT;

	str_add(&title, "Difference of ");
	str_add_printable(&title, before->session->reader->path, strlen(before->session->reader->path));
	str_add(&title, " and ");
	str_add_printable(&title, now->session->reader->path, strlen(now->session->reader->path));
	note_add(caption, false, NULL, "%s", title.s);
	note_add(caption, false, NULL, "Red, rising lines: more than before; blue, falling lines: less; grey: sampling "
				       "noise explains it (%g %% for all places together). What else differs from run "
				       "to run is not told by one recording a side.", 100 * confidence);
	add_lines(caption, before, "Old");
	add_lines(caption, now, "New");
	str_release(&title);
}

/* The old hist of the same event, where one of the two has samples; else NULL. */
static const struct hist *partner_of(const struct table *before, const struct hist *hist)
{
	struct str name = STR_INIT;
	const struct hist *old;

	data_event_add_name(hist->event, &name);
	old = table_hist_of(before, name.s);
	str_release(&name);
	return old && (!head_is_empty(old) || !head_is_empty(hist)) ? old : NULL;
}

int flamegraph_diff_check(struct table *before, struct table *now, struct str *err)
{
	for (size_t i = 0; i < now->n_hists; i++)
		if (partner_of(before, &now->hists[i]))
			return 0;
	return fail(err, -ENOMSG, "the recordings have no event with samples in common");
}

int flamegraph_diff_print(struct table *before, struct table *now, double confidence, struct output *output)
{
	struct note_list caption = { 0 };
	bool any = false;

	flamegraph_begin(output);
	for (size_t i = 0; i < now->n_hists; i++)
		add_pair(before, now, &now->hists[i], &any, confidence, output);
	add_caption(before, now, confidence, &caption);
	flamegraph_end(output, &caption);
	note_list_release(&caption);
	return output->failed;
}

/* The first event that can be compared; NULL: none. *more: there are others. */
static const struct hist *choose_hist(const struct table *before, const struct table *now, bool *more)
{
	const struct hist *chosen = NULL;

	*more = false;
	for (size_t i = 0; i < now->n_hists; i++) {
		const struct hist *hist = &now->hists[i];

		if (partner_of(before, hist)) {
			*more = chosen != NULL;
			chosen = chosen ? chosen : hist;
		}
	}
	return chosen;
}

static void note_picture(const struct hist *hist, bool more, struct note_list *caption)
{
	struct str name = STR_INIT;

	data_event_add_name(hist->event, &name);
	note_add(caption, false, NULL,
		 "%s%s: widths of the new recording; a page (.html) also has those of the old one, with what vanished",
		 name.s, more ? ", the first of several events" : "");
	str_release(&name);
}

int flamegraph_diff_svg_print(struct table *before, struct table *now, double confidence, struct output *output)
{
	bool more;
	const struct hist *hist = choose_hist(before, now, &more);
	struct stack_tree *trees[2] = { NULL, NULL };
	struct stack_diff *diff = NULL;
	struct note_list caption = { 0 };

	if (hist) {
		trees[0] = stack_tree_new(before, partner_of(before, hist), 0, &tree_options);
		trees[1] = stack_tree_new(now, hist, 0, &tree_options);
		diff = stack_diff_new(trees[0], trees[1], confidence);
	}
	add_caption(before, now, confidence, &caption);
	if (hist)
		note_picture(hist, more, &caption);
	flamegraph_svg_add(output, trees[1], diff ? diff->now : NULL, &caption);
	stack_diff_free(diff);
	stack_tree_free(trees[0]);
	stack_tree_free(trees[1]);
	note_list_release(&caption);
	return output->failed;
}
