/*
 * A group is what one source has, or one PMU, one system of tracepoints, one machine of libpfm4. It is
 * gathered until the next begins, because its head needs all of it: how wide the names are, and whether one
 * reason holds for all.
 *
 *	Hardware events (hw): not here: no PMU in this virtual machine
 *	  cpu-cycles or cycles  core clock cycles, at whatever speed the core runs
 *	  instructions          instructions retired
 *
 * Where only some do not count, a dash stands before these. Events are tried one by one; of tracepoints one for
 * all, because it is a matter of rights, and to close each would take a while.
 */
#include "cmd/list_groups.h"

#include <stdlib.h>
#include <strings.h>

enum { ROW_INDENT = 2, GAP = 2, COLUMNS_DEFAULT = 80 };

/* To add a topic: a row here, its source in event/, an entry in pstat-list(1). */
static const struct topic_row {
	const char *topic, *title;
	const char *title_of_part; /* NULL: there are no parts */
	const char *separator; /* the part is what stands in front of it in a name; NULL: the PMU */
	enum { NONE_TRIED, EACH_TRIED, ONE_FOR_ALL } tried;
} topics[] = {
	{ "hw", "Hardware events", NULL, NULL, EACH_TRIED },
	{ "sw", "Events of the kernel", NULL, NULL, EACH_TRIED },
	{ "cache", "Hardware cache events", NULL, NULL, EACH_TRIED },
	{ "raw", "Codes", NULL, NULL, NONE_TRIED },
	{ "tool", "Times of the measurement", NULL, NULL, NONE_TRIED },
	{ "pmu", "Counter units", "Counter unit ", NULL, EACH_TRIED },
	{ "tracepoint", "Tracepoints", "Tracepoints of ", ":", ONE_FOR_ALL },
	{ "breakpoint", "Breakpoints", NULL, NULL, NONE_TRIED },
	{ "probe", "Probes", NULL, NULL, NONE_TRIED },
	{ "pfm", "Vendor events", "Vendor events of ", "::", EACH_TRIED },
	{ "metric", "Metrics", NULL, NULL, NONE_TRIED },
};

static const struct topic_row *topic_row(const char *topic)
{
	static const struct topic_row other = { NULL, "Events", NULL, NULL, NONE_TRIED };

	for (size_t i = 0; i < ARRAY_SIZE(topics); i++)
		if (!strcmp(topics[i].topic, topic))
			return &topics[i];
	return &other;
}

void list_groups_init(struct list_groups *groups, struct str *out, unsigned columns, const struct kern *kern)
{
	*groups = (struct list_groups){ .out = out, .kern = kern, .columns = columns ? columns : COLUMNS_DEFAULT };
	event_trial_init(&groups->trial, kern);
}

static void forget_rows(struct list_groups *groups)
{
	for (size_t i = 0; i < groups->n; i++) {
		free(groups->rows[i].name);
		free(groups->rows[i].desc);
		free(groups->rows[i].verdict);
	}
	groups->n = 0;
	free(groups->topic);
	free(groups->part);
	groups->topic = groups->part = NULL;
}

void list_groups_release(struct list_groups *groups)
{
	forget_rows(groups);
	free(groups->rows);
	free(groups->tracepoints_verdict);
	event_trial_release(&groups->trial);
}

/* ---- trying ---- */

/* "cpu/.../" stands for any terms. */
static bool is_event(const struct event_info *info)
{
	return !strstr(info->name, "...");
}

static char *try_row(struct list_groups *groups, const struct topic_row *topic, const struct event_info *info)
{
	if (topic->tried == NONE_TRIED || !is_event(info))
		return NULL;
	if (topic->tried == EACH_TRIED)
		return xstrdup(event_trial_verdict(&groups->trial, info->name));
	if (!groups->tracepoints_verdict)
		groups->tracepoints_verdict = xstrdup(event_trial_verdict(&groups->trial, info->name));
	return xstrdup(groups->tracepoints_verdict);
}

static bool is_missing(const struct group_row *row)
{
	return row->verdict && *row->verdict;
}

/* The one reason of all that do not count; NULL: there are several, or none. *some: others count. */
static const char *common_reason(const struct list_groups *groups, bool *some)
{
	const char *reason = NULL;

	*some = false;
	for (size_t i = 0; i < groups->n; i++) {
		const struct group_row *row = &groups->rows[i];

		*some |= row->verdict && !*row->verdict;
		if (!is_missing(row))
			continue;
		if (reason && strcmp(reason, row->verdict) != 0)
			return NULL;
		reason = row->verdict;
	}
	return reason;
}

/* ---- printing ---- */

/* marked: the reason is that of the rows with a dash. */
static void add_head(struct list_groups *groups, const char *topic, const char *part, const char *reason,
		     bool marked)
{
	const struct topic_row *row = topic_row(topic);
	struct str head = STR_INIT;

	str_add(&head, part && row->title_of_part ? row->title_of_part : row->title);
	if (part && row->title_of_part)
		str_add_printable(&head, part, strlen(part));
	str_addf(&head, " (%s)", topic);
	if (reason) {
		str_add(&head, marked ? ": those with - not here: " : ": not here: ");
		str_add_printable(&head, reason, strlen(reason));
	}
	if (groups->n_groups++)
		str_addc(groups->out, '\n');
	str_add_wrapped(groups->out, head.s, 0, ROW_INDENT, groups->columns);
	str_addc(groups->out, '\n');
	str_release(&head);
}

/* As wide as the widest name, but most of the line is for what is said of it. */
static size_t name_width(const struct list_groups *groups)
{
	size_t most = groups->columns * 2 / 5, width = 0;

	for (size_t i = 0; i < groups->n; i++) {
		size_t own = text_columns(groups->rows[i].name, strlen(groups->rows[i].name));

		if (own > width && own <= most)
			width = own;
	}
	return width;
}

/* common: the head has the reason. marked: of some of the rows. */
static void add_row(struct list_groups *groups, const struct group_row *row, size_t width, bool common, bool marked)
{
	struct str *out = groups->out, text = STR_INIT;
	size_t own = text_columns(row->name, strlen(row->name)), at = ROW_INDENT + width + GAP;

	str_add(&text, row->desc);
	if (!common && is_missing(row)) {
		str_add(&text, text.len ? " (no: " : "(no: ");
		str_add_printable(&text, row->verdict, strlen(row->verdict));
		str_addc(&text, ')');
	}
	str_add(out, marked && is_missing(row) ? "- " : "  ");
	str_add(out, row->name);
	if (text.len) {
		if (own > width) {
			str_addc(out, '\n');
			str_pad(out, ' ', at);
		} else {
			str_pad(out, ' ', width - own + GAP);
		}
		str_add_wrapped(out, text.s, at, at, groups->columns);
	}
	str_addc(out, '\n');
	str_release(&text);
}

void list_groups_end(struct list_groups *groups)
{
	bool some;
	const char *reason = common_reason(groups, &some);
	size_t width = name_width(groups);

	if (!groups->topic)
		return;
	add_head(groups, groups->topic, groups->part, reason, some);
	for (size_t i = 0; i < groups->n; i++)
		add_row(groups, &groups->rows[i], width, reason != NULL, some);
	forget_rows(groups);
}

void list_groups_missing(struct list_groups *groups, const char *topic, const char *why)
{
	const char *title = topic_row(topic)->title;
	size_t first = strcspn(why, "\n"), named = strlen(title) + 2;
	char *reason = xstrndup(why, first);

	list_groups_end(groups);
	/* "tracepoints: ..." would say it twice. */
	named = first > named && !strncasecmp(why, title, named - 2) && why[named - 2] == ':' ? named : 0;
	add_head(groups, topic, NULL, reason + named, false);
	for (why += first; *why; why += strcspn(why, "\n")) {
		why += strspn(why, " \n");
		str_pad(groups->out, ' ', ROW_INDENT);
		str_add_printable(groups->out, why, strcspn(why, "\n"));
		str_addc(groups->out, '\n');
	}
	free(reason);
}

/* ---- gathering ---- */

/* On the heap, or NULL: the topic has no parts. */
static char *part_of(const struct topic_row *topic, const struct event_info *info)
{
	const char *end = topic->separator ? strstr(info->name, topic->separator) : NULL;

	if (end)
		return xstrndup(info->name, (size_t)(end - info->name));
	return topic->title_of_part && *info->pmu_name ? xstrdup(info->pmu_name) : NULL;
}

static void begin(struct list_groups *groups, const struct event_info *info, char *part)
{
	list_groups_end(groups);
	groups->topic = xstrdup(info->topic);
	groups->part = part;
	/* Reasons are kept by errno: another source's may mean something else. */
	event_trial_release(&groups->trial);
	event_trial_init(&groups->trial, groups->kern);
}

void list_groups_add(struct list_groups *groups, const struct event_info *info)
{
	const struct topic_row *topic = topic_row(info->topic);
	char *part = part_of(topic, info);
	struct str name = STR_INIT, desc = STR_INIT;

	if (text_same(groups->topic, info->topic) && text_same(groups->part, part))
		free(part);
	else
		begin(groups, info, part);
	str_add_printable(&name, info->name, strlen(info->name));
	if (info->alias[0]) {
		str_add(&name, " or ");
		str_add_printable(&name, info->alias, strlen(info->alias));
	}
	str_add_printable(&desc, info->desc, strlen(info->desc));
	if (info->unit[0])
		str_addf(&desc, "%sin %s", desc.len ? ", " : "", info->unit);
	VEC_GROW(groups->rows, groups->n, groups->cap);
	groups->rows[groups->n] = (struct group_row){ .verdict = try_row(groups, topic, info) };
	groups->rows[groups->n].name = str_detach(&name);
	groups->rows[groups->n++].desc = str_detach(&desc);
}
