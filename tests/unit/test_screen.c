/* SPDX-License-Identifier: MIT */
/*
 * The screen on a terminal that is made up: keys come from a list, one whenever the screen waits for nothing else, and
 * the lines that it shows are kept. Each row of browsings[] is a recording, the question that it is opened with, and
 * the keys that are pressed, each with a text that the screen must show after it, one that it must not show, and the
 * number of tables that the screen must have asked for.
 */
#include "report_recording.h"

#include "screen/screen_internal.h"

enum { LINES = 20, COLUMNS = 100 };

struct terminal {
	char lines[LINES][COLUMNS + 1];
	enum terminal_look looks[LINES];
};

/* A key, and what must be there after it was answered. */
struct step {
	int key;
	const char *shows; /* a line has this; NULL: not looked at. ^ at its beginning: the line begins so */
	const char *hides; /* no line has this; NULL: not looked at */
	unsigned asks; /* so many tables; ANY: not counted; TOGETHER: the next key is there already */
};
#define KEYS(...) (const struct step[]){ __VA_ARGS__, { 0, NULL, NULL, 0 } }
/* No keys: what is live is fed; the next question is refused. */
enum { TIME_PASSES = -1, REFUSES = -2, ANY = 1000, TOGETHER = 1001, LATER_MS = 1, SLOW_MS = 120 };
static struct script {
	const struct step *steps; /* up to a key 0: then q */
	size_t n; /* pressed already */
	unsigned made; /* tables, until now */
	unsigned made_before; /* the last key */
	bool refuses, slow; /* slow: each table takes SLOW_MS */
	char announced[COLUMNS + 1]; /* the status line while the last table was made */
} script;
static struct terminal terminal;

/* ---- the terminal ---- */

int terminal_try(struct str *err)
{
	(void)err;
	return 0;
}

int terminal_open(struct terminal **opened, bool color, bool utf8, struct str *err)
{
	(void)color, (void)utf8, (void)err;
	*opened = &terminal;
	return 0;
}

void terminal_close(struct terminal *closed)
{
	(void)closed;
}

unsigned terminal_height(const struct terminal *of)
{
	(void)of;
	return LINES;
}

unsigned terminal_width(const struct terminal *of)
{
	(void)of;
	return COLUMNS;
}

void terminal_clear(struct terminal *cleared)
{
	for (size_t i = 0; i < LINES; i++) {
		memset(cleared->lines[i], ' ', COLUMNS);
		cleared->looks[i] = LOOK_PLAIN;
	}
}

void terminal_put(struct terminal *to, unsigned line, unsigned column, unsigned columns, const char *text, size_t n,
		  enum terminal_look look)
{
	if (line >= LINES || column >= COLUMNS)
		return;
	columns = columns < COLUMNS - column ? columns : COLUMNS - column;
	memcpy(to->lines[line] + column, text, n < columns ? n : columns);
	to->looks[line] = look;
}

void terminal_show(struct terminal *shown, unsigned line, unsigned column)
{
	(void)shown, (void)line, (void)column;
}

unsigned terminal_click(const struct terminal *of)
{
	(void)of;
	return 0;
}

static bool is_shown(const char *text)
{
	const bool begins = text[0] == '^';

	for (size_t i = 0; i < LINES; i++) {
		const char *found = strstr(terminal.lines[i], text + begins);

		if (found && (!begins || found == terminal.lines[i]))
			return true;
	}
	return false;
}

static void show_why(const struct step *step, const char *why)
{
	for (size_t i = 0; i < LINES; i++)
		print_error("%s\n", terminal.lines[i]);
	fail_msg("step %zu (key %d): %s", (size_t)(step - script.steps), step->key, why);
}

static void check_last_step(void)
{
	const struct step *step = &script.steps[script.n - 1];

	if (step->shows && !is_shown(step->shows))
		show_why(step, step->shows);
	if (step->hides && is_shown(step->hides))
		show_why(step, step->hides);
	if (step->asks != ANY && script.made - script.made_before != step->asks)
		show_why(step, "it asked more or less often");
}

/* Who asks without waiting has something to read, or has just had a key; what is live waits, too. */
int terminal_key(struct terminal *of, int timeout_ms)
{
	(void)of;
	if (!timeout_ms && script.n && script.steps[script.n - 1].asks == TOGETHER)
		return script.steps[script.n++].key;
	if (timeout_ms >= 0 && timeout_ms != LATER_MS)
		return KEY_NOTHING;
	if (script.n)
		check_last_step();
	script.made_before = script.made;
	if (script.steps[script.n].key == REFUSES) {
		script.refuses = true;
		script.n++;
	}
	if (script.steps[script.n].key == TIME_PASSES) {
		script.n++;
		return KEY_NOTHING;
	}
	return script.steps[script.n].key ? script.steps[script.n++].key : 'q';
}

/* ---- the source: a recording, and how often it is asked ---- */

static struct screen_source recorded_source;

static int count_make(void *context, struct table **table, const struct question *question, struct str *err)
{
	const struct timespec slow = { .tv_nsec = SLOW_MS * 1000000L };

	script.made++;
	memcpy(script.announced, terminal.lines[LINES - 1], sizeof(script.announced));
	if (script.slow)
		nanosleep(&slow, NULL);
	if (script.refuses) {
		script.refuses = false;
		str_add(err, "it is refused");
		return -EINVAL;
	}
	return recorded_source.make(context, table, question, err);
}

/* What is live: as long as the recording is read, the samples of one name; then those of another. */
enum { ASKED_MAX = 64 };
static struct live {
	const char *first, *then; /* comms; NULL: all */
	bool read;
	struct question *asked[ASKED_MAX]; /* in place of the screen's */
	size_t n_asked;
} live;

static int live_make(void *context, struct table **table, const struct question *question, struct str *err)
{
	struct query asked = question->query;

	if (!asked.filters.comms)
		asked.filters.comms = live.read ? live.then : live.first;
	assert_true(live.n_asked < ASKED_MAX);
	assert_int_equal(question_make(&live.asked[live.n_asked], &asked, question->recording, err), 0);
	return count_make(context, table, live.asked[live.n_asked++], err);
}

static int live_feed(void *context, uint64_t budget_ns, struct str *err)
{
	int rc = recorded_source.feed(context, budget_ns, err);

	live.read = script.n > 0;
	return rc == SCREEN_FED_ALL ? SCREEN_FED_LATER : rc;
}

static void live_pause(void *context)
{
	(void)context;
}

/* ---- what is recorded ---- */

#define SAMPLES(...) (const struct recorded_samples[]){ __VA_ARGS__, { NULL, NULL, 0, 0, 0, 0 } }

/* A recording of a number of events; the last of its samples has no chain. */
struct made {
	const struct recorded_samples *samples;
	unsigned events;
	bool two_sockets;
};

static const struct recorded_samples of_both[] = {
	{ NULL, "main|a|b", 6, 0, 0, 0 },
	{ NULL, "main|a|c", 3, 0, 0, 0 },
	{ "other", "main|d", 1, 0, 0, 1 },
	{ NULL, "main|d", 2, 1, 0, 0 },
	{ NULL, NULL, 0, 0, 0, 0 },
};
static const struct made two_events = { of_both, 2, true };
static const struct made no_sockets = { of_both, 2, false };
static const struct made one_event = { SAMPLES({ NULL, "main|a", 1, 0, 0, 0 }), 1, false };
/* One row where rows are DSOs, below which there are trees: main > a > d, main > c > d, and others. */
static const struct made two_ways = { SAMPLES(
	{ NULL, "main|a|d|b", 30, 0, 0, 0 }, { NULL, "main|a|d|c", 20, 0, 0, 0 }, { NULL, "main|a|e", 10, 0, 0, 0 },
	{ NULL, "main|c|d|b", 15, 0, 0, 0 }, { NULL, "main|c|d|e", 15, 0, 0, 0 }, { NULL, "main|c|b", 10, 0, 0, 0 }
), 1, false };
static const struct made odd_names = { SAMPLES(
	{ "file:/nowhere", "main", 6, 0, 0, 0 }, { "a,b", "main", 3, 0, 0, 0 }, { "\\file:", "main", 1, 0, 0, 0 }
), 1, false };
/* Two functions of one name, each with callers and callees. */
static const struct made twins = { SAMPLES(
	{ NULL, "main|a|twin", 6, 0, 0, 0 }, { NULL, "main|b|" TWIN, 3, 0, 0, 0 }, { NULL, "main", 1, 0, 0, 0 }
), 1, false };
/* Of ten samples six are of nothing that runs. */
static const struct made half_idle = { SAMPLES(
	{ IDLE, "k:entry", 6, 0, 0, 0 }, { NULL, "main|a", 3, 0, 0, 0 }, { NULL, "main", 1, 0, 0, 0 }
), 1, false };
static const struct made one_in_250 = { SAMPLES(
	{ NULL, "main|a", 996, 0, 0, 0 }, { NULL, "main|b", 4, 0, 0, 0 }
), 1, false };
static const struct made short_and_long = { SAMPLES(
	{ "short", "b", 1, 0, 0, 0 }, { "thirteenchars", "c", 1, 1, 0, 0 }
), 2, false };

/* ---- what is pressed ---- */

static const struct browsing {
	const char *name;
	const struct made *made;
	/* The question: NULL and false are what report has without options, but for Children. */
	const char *sort, *filter;
	bool children, graph;
	const char *first, *then; /* see struct live; both NULL: the recording is not live */
	const struct step *keys;
} browsings[] = {
	/* What a key may cost: a question is asked once; moving, folding and texts ask nothing. */
	{ "a key asks once", &two_events, .keys = KEYS(
		{ 'x', "Children", NULL, 1 },
		{ 'x', NULL, "Children", 1 },
		{ 'N', "Samples  Command", NULL, 1 },
		{ 'p', "Period  Command", NULL, 1 },
		{ 'F', "percentages of what the filters left", NULL, 1 },
		{ 'y', "Command / Shared Object / Symbol", NULL, 1 },
		{ 'y', NULL, "Command / Shared", 1 },
		{ 'g', "call trees from the outermost caller in", NULL, 1 },
		{ 's', "symbol: b", "] c", 1 },
		{ KEY_ESCAPE, "] c", "symbol: b", 1 },
		{ KEY_GO_DOWN, NULL, NULL, 0 },
		{ KEY_LAST, NULL, NULL, 0 },
		{ KEY_FIRST, NULL, NULL, 0 },
		{ 'E', "^- ", NULL, 0 },
		{ 'C', "^+ ", "^- ", 0 },
		{ 'e', "^- ", NULL, 0 },
		{ KEY_RETURN, NULL, "^- ", 0 },
		{ '?', "^Keys  (Esc", NULL, 0 },
		{ 'q', NULL, "Keys  (Esc", 0 },
		{ '!', "Losses and doubts", NULL, 0 },
		{ 'q', NULL, "Losses and doubts", 0 },
		{ KEY_TAB, "of event 'faults'", "] b", 0 },
		{ 'w', NULL, NULL, 0 }
	) },
	/* One text is shown at a time: Esc leads back to what lies below. */
	{ "a text takes the place of another", &two_events, .keys = KEYS(
		{ '?', "^Keys  (Esc", NULL, 0 },
		{ '!', "^Losses and doubts", "^Keys", 0 },
		{ '!', "^Losses and doubts", NULL, 0 },
		{ '!', "^Losses and doubts", NULL, 0 },
		{ KEY_ESCAPE, "^Samples: ", "^Losses and doubts", 0 },
		{ 'm', "^What to do", NULL, 0 },
		{ '!', "^Losses and doubts", NULL, 0 },
		{ '!', "^Losses and doubts", NULL, 0 },
		{ KEY_ESCAPE, "^What to do", "^Losses and doubts", 0 },
		{ KEY_ESCAPE, "^Samples: ", NULL, 0 }
	) },
	/* Help begins with the keys of its view; those that have nothing to do here are not in it. */
	{ "help where there is all", &two_events, .keys = KEYS(
		{ '?', "^Enter              unfolds", "the row above", 0 },
		{ '?', "^e                  unfolds all", NULL, 0 },
		{ KEY_PAGE_DOWN, "^Tab                the next event", "rows by wall-clock", 0 },
		{ KEY_PAGE_DOWN, "^f, V               writes the flame graph", "pstat top", 0 },
		{ KEY_LAST, "^?, h, F1           the keys of this view", "of the code", 0 },
		{ KEY_ESCAPE, "^Samples: ", NULL, 0 }
	) },
	{ "help where there is one event", &one_event, .keys = KEYS(
		{ '?', "^Enter              unfolds", NULL, 0 },
		{ KEY_PAGE_DOWN, "^L                  leaves out", "the next event", 0 },
		{ KEY_LAST, "^?, h, F1", "the next event", 0 },
		{ KEY_ESCAPE, "^Samples: ", NULL, 0 }
	) },
	{ "help of what is live", &two_events, .first = "prog", .keys = KEYS(
		{ '?', "^Enter              unfolds", NULL, ANY },
		{ KEY_PAGE_DOWN, NULL, NULL, ANY },
		{ KEY_PAGE_DOWN, "^V                  writes the flame graph", "f, V", ANY },
		{ KEY_GO_UP, "^f                  pstat top: stops", "forgets", ANY },
		{ KEY_ESCAPE, "^Samples: ", NULL, ANY },
		{ 'f', "^Samples: ", "flamegraph", ANY }
	) },
	/* A filter is asked once for all letters that have come, and where its prompt ends. */
	{ "letters that come together ask once", &two_events, .keys = KEYS(
		{ '/', "^Symbols with: ", NULL, 0 },
		{ 'x', NULL, "] a", 1 },
		{ 'y', NULL, NULL, TOGETHER },
		{ 'z', "^Symbols with: xyz", "] b", 1 },
		{ KEY_DELETE, NULL, NULL, TOGETHER },
		{ KEY_DELETE, NULL, NULL, TOGETHER },
		{ KEY_DELETE, NULL, NULL, TOGETHER },
		{ 'b', NULL, NULL, TOGETHER },
		{ KEY_RETURN, "] b", "] c", 1 }
	) },
	/* A key that changes nothing says why. */
	{ "keys without effect", &two_events, .keys = KEYS(
		{ 'y', "Command / Shared Object / Symbol", NULL, 1 },
		{ 'x', "^nested rows have no Children; y makes them flat", NULL, 0 },
		{ 'y', "Overhead  Command", "Children", 1 },
		{ 'O', "^Columns: overhead,comm,dso,symbol", NULL, 0 },
		{ KEY_RETURN, "Overhead", NULL, 1 },
		{ 'N', "^the columns are named: O and sample show this one", NULL, 0 },
		{ 'p', "^the columns are named: O and period show this one", NULL, 0 },
		{ 'O', NULL, NULL, 0 },
		{ 'U' - '@', NULL, NULL, 0 },
		{ KEY_RETURN, "Overhead", NULL, 1 },
		{ 'N', "Samples  Command", NULL, 1 }
	) },
	{ "a key without another event", &one_event, .keys = KEYS(
		{ 'G', "^there is no other event", NULL, 0 },
		{ 'x', "Children", NULL, 1 }
	) },
	/* Rows within rows: one that has many functions is none of them. */
	{ "functions of rows within rows", &two_events, .keys = KEYS(
		{ 'y', "Command / Shared Object / Symbol", NULL, 1 },
		{ 'a', "^this row is no function", NULL, 0 },
		{ KEY_RETURN, "[JIT] tid 100", NULL, 0 },
		{ KEY_GO_DOWN, NULL, NULL, 0 },
		{ 'a', "^this row is no function", NULL, 0 },
		{ KEY_RETURN, "[.] b", NULL, 0 },
		{ KEY_GO_DOWN, NULL, NULL, 0 },
		{ 'a', "^b: ", "this row is no function", 0 } /* its code is in no file */
	) },
	/* No column has the socket: it is chosen from the list of those that there are. */
	{ "zoom into a socket", &two_events, .keys = KEYS(
		{ 'S', "^Which socket?", NULL, 1 },
		{ KEY_GO_DOWN, "10.00%     001", NULL, 0 },
		{ KEY_RETURN, "  socket: 1 ", "prog", 1 },
		{ KEY_GO_LEFT, "prog", "socket: ", 1 },
		{ 'S', "90.00%     000", NULL, 1 },
		{ KEY_RETURN, "  socket: 0 ", "other", 1 },
		{ KEY_ESCAPE, "other", "socket: ", 1 },
		{ 'S', "^Which socket?", NULL, 1 },
		{ KEY_ESCAPE, "other", "Which socket?", 0 }
	) },
	/* A column has the socket: the row's is taken. */
	{ "zoom into the row's socket", &two_events, .sort = "socket,comm", .keys = KEYS(
		{ KEY_GO_DOWN, "001  other", NULL, 0 },
		{ 'S', "  socket: 1 ", "000", 1 },
		{ KEY_ESCAPE, "000  prog", "socket: ", 1 }
	) },
	{ "no socket is known", &no_sockets, .keys = KEYS(
		{ 'S', "no sample says its socket", NULL, 1 },
		{ KEY_GO_DOWN, "] d", "no sample says", 0 }
	) },
	/* Order and columns are not what one zoomed into. */
	{ "what was changed in a zoom stays", &two_events, .keys = KEYS(
		{ 's', "  symbol: b ", "] c", 1 },
		{ 'N', "Samples  Command", NULL, 1 },
		{ KEY_ESCAPE, "Samples  Command", "symbol: b", 1 },
		{ KEY_GO_DOWN, "] c", NULL, 0 }
	) },
	/* A text typed for / is a step, too. */
	{ "a filter is a step", &two_events, .keys = KEYS(
		{ '/', NULL, NULL, 0 },
		{ 'b', "symbols with: b ", "] c", 1 },
		{ KEY_RETURN, "symbols with: b ", "Symbols with", 0 },
		{ KEY_ESCAPE, "] c", "symbols with", 1 },
		{ KEY_ESCAPE, "^this is all there is", NULL, 0 },
		{ '/', NULL, NULL, 0 },
		{ 'b', "symbols with: b ", NULL, 1 },
		{ KEY_RETURN, NULL, NULL, 0 },
		{ 'n', "comm: prog  symbols with: b ", NULL, 1 },
		{ KEY_ESCAPE, "symbols with: b ", "comm: prog", 1 },
		{ 'n', "comm: prog  symbols with: b ", NULL, 1 },
		{ '/', NULL, NULL, 0 },
		{ KEY_DELETE, "comm: prog ", "symbols with", 1 },
		{ 'c', "comm: prog  symbols with: c ", NULL, 1 },
		{ KEY_RETURN, NULL, NULL, 0 },
		{ KEY_GO_LEFT, "comm: prog  symbols with: b ", NULL, 1 },
		{ KEY_GO_LEFT, "symbols with: b ", "comm: prog", 1 },
		{ KEY_GO_LEFT, "] c", "symbols with", 1 }
	) },
	{ "a filter of the question is left too", &two_events, .filter = "b", .keys = KEYS(
		{ KEY_ESCAPE, "^this is all there is", NULL, 0 },
		{ '/', NULL, NULL, 0 },
		{ KEY_DELETE, "] c", "symbols with", 1 },
		{ 'c', "symbols with: c ", NULL, 1 },
		{ KEY_RETURN, NULL, NULL, 0 },
		{ KEY_ESCAPE, "symbols with: b ", NULL, 1 }
	) },
	/* Rows and title agree, also where the way back is barred. */
	{ "a zoom that is not left", &two_events, .keys = KEYS(
		{ 's', "  symbol: b ", "] c", 1 },
		{ REFUSES, NULL, NULL, 0 },
		{ KEY_ESCAPE, "  symbol: b ", "] c", 2 },
		{ KEY_ESCAPE, "] c", "symbol: b", 1 },
		{ REFUSES, NULL, NULL, 0 },
		{ 's', "^it is refused", "symbol: b", 2 },
		{ KEY_FIRST, "] c", "symbol: b", 0 }
	) },
	/* A function that is called in two ways is folded in one of them. */
	{ "each branch is folded by itself", &two_ways, .sort = "dso", .graph = true, .keys = KEYS(
		{ 'E', "- 30.00% d", NULL, 0 },
		{ KEY_GO_DOWN, "- 50.00% d", NULL, 0 },
		{ KEY_GO_DOWN, NULL, NULL, 0 },
		{ KEY_GO_DOWN, NULL, NULL, 0 },
		{ '+', "+ 50.00% d", NULL, 0 },
		{ KEY_LAST, "- 30.00% d", "- 50.00% d", 0 },
		{ 'N', "+ 50.00% d", "+ 30.00% d", 1 }
	) },
	/* The menu is of the row for which it was opened, wherever that is meanwhile. */
	{ "a menu is of its row", &two_events, .sort = "comm", .first = "other", .keys = KEYS(
		{ KEY_FIRST, "^+   10.00%  other", "prog", ANY },
		{ 'm', "^What to do with other  (Enter", NULL, ANY },
		{ TIME_PASSES, NULL, NULL, ANY },
		{ KEY_GO_DOWN, NULL, NULL, ANY },
		{ KEY_GO_DOWN, NULL, NULL, ANY },
		{ KEY_GO_DOWN, NULL, NULL, ANY },
		{ KEY_RETURN, "  comm: other ", "prog", ANY }
	) },
	{ "a menu of a row that is gone", &two_events, .sort = "comm", .first = "other", .then = "prog", .keys = KEYS(
		{ KEY_FIRST, "^+   10.00%  other", "prog", ANY },
		{ 'm', "^What to do with other  (Enter", NULL, ANY },
		{ TIME_PASSES, NULL, NULL, ANY },
		{ KEY_GO_DOWN, NULL, NULL, ANY },
		{ KEY_RETURN, "^other no longer exists", "thread: ", ANY },
		{ KEY_FIRST, "prog", "other", ANY },
		{ 'm', "^What to do with prog  (Enter", NULL, ANY },
		{ KEY_LAST, NULL, NULL, ANY },
		{ KEY_GO_UP, NULL, NULL, ANY },
		{ KEY_RETURN, "^Print to the new file: flamegraph", NULL, ANY },
		{ KEY_ESCAPE, NULL, NULL, ANY }
	) },
	/* Samples may come as long as there was none; later they are gone, or left out. */
	{ "before the first sample", &two_events, .first = "nobody", .keys = KEYS(
		{ KEY_FIRST, "^No sample so far", NULL, ANY },
		{ TIME_PASSES, NULL, NULL, ANY },
		{ KEY_FIRST, "prog", "No sample", ANY },
		{ '/', NULL, NULL, ANY },
		{ 'x', NULL, NULL, ANY },
		{ 'y', "^No sample is left", NULL, ANY },
		{ KEY_ESCAPE, "prog", "No sample", ANY }
	) },
	/* Lists of names have signs of their own, which are parts of these; the title has the names. */
	{ "zoom into odd names", &odd_names, .sort = "comm", .keys = KEYS(
		{ 'n', "  comm: file:/nowhere ", "30.00%", 1 },
		{ KEY_ESCAPE, "30.00%", "comm: ", 1 },
		{ KEY_GO_DOWN, NULL, NULL, 0 },
		{ 'n', "  comm: a,b ", "60.00%", 1 },
		{ KEY_ESCAPE, "60.00%", "comm: ", 1 },
		{ KEY_LAST, NULL, NULL, 0 },
		{ 'n', "  comm: \\file: ", "60.00%", 1 },
		{ KEY_ESCAPE, "60.00%", "comm: ", 1 },
		{ 'o', NULL, NULL, 0 },
		{ 'U' - '@', NULL, NULL, 0 },
		{ 'd', NULL, NULL, 0 },
		{ 's', NULL, NULL, 0 },
		{ 'o', NULL, NULL, 0 },
		{ KEY_RETURN, "100.00%", NULL, 1 },
		{ 'n', "^Which comm?", NULL, 1 },
		{ KEY_RETURN, "  comm: file:/nowhere ", NULL, 1 }
	) },
	/* Two functions of one name: what is done with one of them is not done with the other. */
	{ "functions of one name", &twins, .sort = "symbol", .keys = KEYS(
		{ KEY_GO_DOWN, "^+   60.00%  [.] twin", NULL, 0 },
		{ '+', "^-   30.00%  [.] twin", "^-  60.00%", 0 },
		{ 'N', "^-   30.00%             3  [.] twin", "^-  60.00%", 1 },
		{ '+', "^+   30.00%", "^-  60.00%", 0 },
		{ 'e', "- 30.00% twin", "       a ", 0 },
		{ 's', "  symbol: twin ", "60.00%", 1 },
		{ KEY_ESCAPE, "60.00%", "symbol: ", 1 },
		{ KEY_FIRST, NULL, NULL, 0 },
		{ 's', "  symbol: twin ", "30.00%", 1 }
	) },
	/* Frames of one name in a call tree are two as well. */
	{ "frames of one name", &twins, .sort = "dso", .keys = KEYS(
		{ 'E', "- 60.00% twin", NULL, 0 },
		{ KEY_GO_DOWN, "- 30.00% twin", NULL, 0 },
		{ '+', "+ 60.00% twin", "+ 30.00%", 0 },
		{ 's', "  symbol: twin ", "30.00%", 1 }
	) },
	/* Branches have percentages of what filters left, like the rows that they are of, as in perf's browser. */
	{ "percentages of branches", &two_events, .graph = true, .keys = KEYS(
		{ 'n', "comm: prog ", "10.00%", 1 },
		{ 'E', "- 60.00% main", NULL, 0 },
		{ 'F', "- 66.67% main", "60.00%", 1 },
		{ 'F', "- 60.00% main", "66.67%", 1 }
	) },
	/* Idle tasks are in no row and in no percentage; without another reading. */
	{ "idle tasks", &half_idle, .sort = "comm,symbol", .keys = KEYS(
		{ KEY_FIRST, "60.00%  swapper", "without idle", 0 },
		{ 'I', "75.00%  prog", "swapper", 1 },
		{ KEY_FIRST, "of event 'cycles'  without idle tasks ", "idle tasks are", 0 },
		{ 'I', "^idle tasks are counted", "75.00%", 1 },
		{ KEY_FIRST, "60.00%  swapper", "without idle", 0 }
	) },
	/* A limit typed for L holds for trees, too. */
	{ "a limit holds for branches", &two_ways, .sort = "dso", .graph = true, .keys = KEYS(
		{ 'L', "^Only rows and branches of at least (percent): ", NULL, 0 },
		{ 'U' - '@', NULL, NULL, 0 },
		{ '2', NULL, NULL, 0 },
		{ '5', "(percent): 25", NULL, 0 },
		{ KEY_RETURN, "100.00%", "(percent)", 1 },
		{ 'E', "- 60.00% a", "10.00%", 0 }
	) },
	/* Nothing is typed: nothing changes. No limit is what there was at first, with branches as -g has them. */
	{ "a limit that stays", &one_in_250, .sort = "dso", .graph = true, .keys = KEYS(
		{ 'E', "99.60% a", "0.40% b", 0 },
		{ 'L', "(percent): 0 ", NULL, 0 },
		{ KEY_RETURN, "99.60% a", "0.40% b", 0 },
		{ 'L', NULL, NULL, 0 },
		{ '.', NULL, NULL, 0 },
		{ '0', "(percent): 0.0 ", NULL, 0 },
		{ KEY_RETURN, "99.60% a", "0.40% b", 0 },
		{ 'L', NULL, NULL, 0 },
		{ '.', NULL, NULL, 0 },
		{ '1', "(percent): 0.1 ", NULL, 0 },
		{ KEY_RETURN, "0.40% b", NULL, 1 },
		{ 'L', "(percent): 0.1 ", NULL, 0 },
		{ KEY_DELETE, NULL, NULL, 0 },
		{ KEY_DELETE, "(percent): 0 ", NULL, 0 },
		{ KEY_RETURN, "99.60% a", "0.40% b", 1 }
	) },
	/* Columns are as wide as the names that an event has. */
	{ "each event has its own widths", &short_and_long, .children = true, .keys = KEYS(
		{ KEY_FIRST, "Command  Shared Object", NULL, 0 },
		{ KEY_TAB, "Command        Shared Object", NULL, 0 },
		{ KEY_BACK_TAB, "Command  Shared Object", NULL, 0 }
	) },
};

/* Opens what is recorded with the question of the browsing, presses its keys and checks each. */
static void press(const struct browsing *b)
{
	const struct screen_options options = { .title = "made", .dots = "..." };
	struct recorded recorded = { .two_sockets = b->made->two_sockets };
	struct screen_recording *recording = NULL;
	struct screen_source source;
	struct str err = STR_INIT;
	struct reader reader;
	struct query query;
	size_t n = 0;

	while (b->made->samples[n].chain)
		n++;
	record_samples(&recorded, b->made->samples, n, b->made->events);
	query = recorded_options(&recorded);
	query.children = b->children ? -1 : 0;
	query.sort = b->sort;
	query.filters.symbol_filter = b->filter;
	query.chain.order_set = b->graph;
	if (reader_open(&reader, recorded.data, &err) || screen_recording_new(&recording, &reader, &query, &err))
		fail_msg("%s", err.s);
	source = recorded_source = screen_recording_source(recording);
	source.make = count_make;
	live = (struct live){ .first = b->first, .then = b->then };
	if (live.first || live.then) {
		source.make = live_make;
		source.feed = live_feed;
		source.pause = live_pause;
		source.later_ms = LATER_MS;
	}
	script = (struct script){ .steps = b->keys, .slow = script.slow };
	if (screen_run(&options, &source, &query, &err))
		fail_msg("%s", err.s);
	while (live.n_asked)
		question_free(live.asked[--live.n_asked]);
	screen_recording_free(recording);
	reader_close(&reader);
	recorded_remove(&recorded);
	str_release(&err);
}

static void press_keys(void **state)
{
	press(*state);
}

/* ---- tests ---- */

/* A table that is likely to take long is announced; a letter that is typed is seen before. */
static void what_takes_long_is_announced(void **state)
{
	const struct browsing key = { "", &two_events, .keys = KEYS({ 'x', "Children", "counting", 1 }) };
	const struct browsing letter = { "", &two_events, .keys = KEYS(
		{ '/', "^Symbols with: ", NULL, 0 },
		{ 'b', "] b", "counting", 1 },
		{ KEY_RETURN, "] b", NULL, 0 }
	) };
	unsigned quick = 0;

	(void)state;
	/* A busy machine may make any one of them slow. */
	for (int i = 0; i < 20 && !quick; i++) {
		press(&key);
		quick += !strstr(script.announced, "counting");
	}
	assert_true(quick);
	script.slow = true;
	press(&key);
	assert_non_null(strstr(script.announced, "? help  q quit  made: counting"));
	press(&letter);
	assert_ptr_equal(strstr(script.announced, "Symbols with: b"), script.announced);
	script.slow = false;
}

/* Hottest first, those equally hot from top to bottom, and round again. */
static void from_one_hot_line_to_the_next(void **state)
{
	static const double percents[] = { 0, 5, 9, 0, 5, 9 };
	static const size_t order[] = { 2, 5, 1, 4 };
	struct code_line lines[ARRAY_SIZE(percents)];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(percents); i++)
		lines[i] = (struct code_line){ .percent = percents[i] };
	assert_int_equal(code_hottest(lines, ARRAY_SIZE(lines), 3, 0), order[0]);
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		size_t next = order[(i + 1) % ARRAY_SIZE(order)];

		assert_int_equal(code_hottest(lines, ARRAY_SIZE(lines), order[i], 1), next);
		assert_int_equal(code_hottest(lines, ARRAY_SIZE(lines), next, -1), order[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(percents); i++)
		lines[i].percent = 0;
	assert_int_equal(code_hottest(lines, ARRAY_SIZE(lines), 0, 0), SIZE_MAX);
}

int main(void)
{
	const struct CMUnitTest others[] = {
		cmocka_unit_test(what_takes_long_is_announced),
		cmocka_unit_test(from_one_hot_line_to_the_next),
	};
	struct CMUnitTest tests[ARRAY_SIZE(browsings) + ARRAY_SIZE(others)];

	for (size_t i = 0; i < ARRAY_SIZE(browsings); i++)
		tests[i] = (struct CMUnitTest){
			.name = browsings[i].name,
			.test_func = press_keys,
			.initial_state = (void *)(uintptr_t)&browsings[i],
		};
	memcpy(tests + ARRAY_SIZE(browsings), others, sizeof(others));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
