/*
 * filter_note: what is said where filters leave nothing, so that an empty table explains itself: which filter
 * it was, and the name that was meant, or a few of those that there are.
 *
 *   nothing is left by --comms 'caller': did you mean 'callers'?
 *   nothing is left by --dsos 'nosuch': there are callers, libc.so.6, [kernel.kallsyms]
 */
#include "profile/session_internal.h"

enum {
	LISTED_MAX = 5,
	LOOKED_AT_MAX = 20000, /* names: what is near to a word takes time to find */
};

/* Names are handed to it one by one; they may come again. */
struct known {
	struct near_name near;
	const char *listed[LISTED_MAX];
	size_t n_listed, n_seen;
	bool more;
};

static void know(struct known *known, const char *name)
{
	if (!*name || known->n_seen++ >= LOOKED_AT_MAX)
		return;
	near_consider(&known->near, name);
	for (size_t i = 0; i < known->n_listed; i++)
		if (!strcmp(known->listed[i], name))
			return;
	if (known->n_listed < LISTED_MAX)
		known->listed[known->n_listed++] = name;
	else
		known->more = true;
}

static void comms_of(struct session *session, struct known *known)
{
	/* The first is swapper, in every recording; one like ":12" is of a task that nobody named. */
	for (uint32_t i = 1; i < replay_n_comms(&session->replay); i++)
		if (replay_comm(&session->replay, i)[0] != ':')
			know(known, replay_comm(&session->replay, i));
}

static void dsos_of(struct session *session, struct known *known)
{
	const struct location_totals *forgotten = &session->private->forgotten;

	for (size_t i = 0; i < session->locations->n; i++)
		if (session->locations->v[i].dso)
			know(known, session->locations->v[i].dso->name);
	for (size_t i = 0; i < forgotten->n_dsos; i++)
		if (forgotten->dsos[i].seen)
			know(known, session->replay.dsos.v[i]->name);
}

/* Where locations were forgotten: those of the last samples. */
static void symbols_of(struct session *session, struct known *known)
{
	for (uint32_t i = 0; i < session->locations->n && known->n_seen < LOOKED_AT_MAX; i++) {
		const struct symbol *symbol = location_symbol(session, i);

		if (symbol)
			know(known, symbol->name);
	}
}

/*
 * To add a filter: a row in filters_internal.h's enum, one here, its line in filters.c, and one in
 * tests/cli/empty_reports.sh.
 */
#define NO_TEXT SIZE_MAX
static const struct filter_words {
	const char *option;
	size_t text; /* offset of what was typed in struct filter_options; NO_TEXT: it takes no argument */
	void (*names)(struct session *session, struct known *known); /* that it could have been; or NULL */
} rows[FILTER_KINDS] = {
#define TEXT(name) offsetof(struct filter_options, name)
	[FILTER_TIME] = { "--time", TEXT(time), NULL },
	[FILTER_SWITCH] = { "--switch-on or --switch-off", TEXT(switch_on), NULL },
	[FILTER_MODE] = { "--hide_kernel_symbols or --hide_user_symbols", NO_TEXT, NULL },
	[FILTER_CPU] = { "--cpu", TEXT(cpus), NULL },
	[FILTER_SOCKET] = { "--socket-filter", TEXT(sockets), NULL },
	[FILTER_PID] = { "--pid", TEXT(pids), NULL },
	[FILTER_TID] = { "--tid", TEXT(tids), NULL },
	[FILTER_COMM] = { "--comms", TEXT(comms), comms_of },
	[FILTER_DSO] = { "--dsos", TEXT(dsos), dsos_of },
	[FILTER_SYMBOL] = { "--symbols", TEXT(symbols), symbols_of },
#undef TEXT
};

static void add_quoted(const char *name, struct str *out)
{
	str_addc(out, '\'');
	str_add_printable(out, name, strlen(name));
	str_addc(out, '\'');
}

/* What is near to one of the names that were typed; else what there is. */
static void add_names(struct session *session, const struct filter_words *row, const char *typed, struct str *out)
{
	struct known known = { .n_listed = 0 };

	for (const char *at = typed; *at && !near_best(&known.near);) {
		size_t len = strcspn(at, ",");

		known = (struct known){ .n_listed = 0 };
		near_init(&known.near, at, len);
		row->names(session, &known);
		at += len + (at[len] == ',');
	}
	if (near_best(&known.near)) {
		str_add(out, ": did you mean ");
		add_quoted(near_best(&known.near), out);
		str_addc(out, '?');
		return;
	}
	for (size_t i = 0; i < known.n_listed; i++) {
		str_add(out, i ? ", " : ": there are ");
		str_add_printable(out, known.listed[i], strlen(known.listed[i]));
	}
	str_add(out, known.more ? ", ..." : "");
}

static void add_time(const struct replay *replay, struct str *out)
{
	if (replay->last_ns)
		str_addf(out, ": the samples are from %.6f to %.6f", (double)replay->first_ns / 1e9,
			 (double)replay->last_ns / 1e9);
}

void filters_add_note(const struct filters *filters, const struct filter_options *options, struct session *session)
{
	enum filter_kind kind = filters_took_all(filters);
	const struct filter_words *row = &rows[kind < FILTER_KINDS ? kind : 0];
	struct str text = STR_INIT;
	const char *typed = NULL;

	if (kind == FILTER_KINDS)
		return;
	if (row->text != NO_TEXT)
		memcpy(&typed, (const char *)options + row->text, sizeof(typed));
	str_addf(&text, "nothing is left by %s", row->option);
	if (typed) {
		str_addc(&text, ' ');
		add_quoted(typed, &text);
	}
	if (row->names && typed)
		add_names(session, row, typed, &text);
	else if (kind == FILTER_TIME)
		add_time(&session->replay, &text);
	note_add(&session->notes, false, NULL, "%s", text.s);
	str_release(&text);
}
