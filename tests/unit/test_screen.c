/*
 * The screen on a terminal that is made up: keys come from a list, one whenever the screen waits for nothing else, and
 * what it shows is kept as lines. So it can be counted how often a key makes it ask its source for a table, and what
 * is on the screen behind each key.
 */
#include "report_recording.h"

#include "screen/screen_internal.h"

enum { LINES = 20, COLUMNS = 100 };

struct terminal {
	char lines[LINES][COLUMNS + 1];
	enum terminal_look looks[LINES];
};

/* What is pressed, and what is there when that was answered. */
struct step {
	int key;
	const char *shows; /* a line has this; NULL: nobody looks. ^ at its beginning: the line begins so */
	const char *hides; /* no line has this; NULL: nobody looks */
	unsigned asks; /* so many tables; ANY: nobody counts; TOGETHER: the next key is there already */
};
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

static void press(const struct recorded *recorded, const struct query *query, const struct step *steps)
{
	const struct screen_options options = { .title = "made", .dots = "..." };
	struct screen_recording *recording = NULL;
	struct screen_source source;
	struct str err = STR_INIT;
	struct reader reader;

	if (reader_open(&reader, recorded->data, &err) || screen_recording_new(&recording, &reader, query, &err))
		fail_msg("%s", err.s);
	source = recorded_source = screen_recording_source(recording);
	source.make = live.first || live.then ? live_make : count_make;
	if (source.make == live_make) {
		source.feed = live_feed;
		source.later_ms = LATER_MS;
	}
	live.read = false;
	script = (struct script){ .steps = steps, .slow = script.slow };
	if (screen_run(&options, &source, query, &err))
		fail_msg("%s", err.s);
	while (live.n_asked)
		question_free(live.asked[--live.n_asked]);
	screen_recording_free(recording);
	reader_close(&reader);
	str_release(&err);
}

/* ---- what is recorded ---- */

static const struct recorded_samples samples[] = {
	{ NULL, "main|a|b", 6, 0, 0, 0 },
	{ NULL, "main|a|c", 3, 0, 0, 0 },
	{ "other", "main|d", 1, 0, 0, 1 },
	{ NULL, "main|d", 2, 1, 0, 0 },
};
static struct recorded recorded;
static struct query query;

static int set_up(void **state)
{
	(void)state;
	recorded.two_sockets = true;
	record_samples(&recorded, samples, ARRAY_SIZE(samples), 2);
	query = recorded_options(&recorded);
	query.children = 0;
	query.chain.order = CHAIN_CALLER;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	recorded_remove(&recorded);
	live = (struct live){ .read = false };
	return 0;
}

/* ---- tests ---- */

/* What a key may cost: a question is asked once, and moving, folding and texts ask nothing. */
static void a_key_asks_once(void **state)
{
	static const struct step steps[] = {
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
		{ 'w', NULL, NULL, 0 },
		{ 0, NULL, NULL, 0 },
	};

	(void)state;
	press(&recorded, &query, steps);
}

/* A filter is asked once for all letters that have come, and where its prompt ends. */
static void letters_that_come_together_ask_once(void **state)
{
	static const struct step steps[] = {
		{ '/', "^Symbols with: ", NULL, 0 }, { 'x', NULL, "] a", 1 },	  { 'y', NULL, NULL, TOGETHER },
		{ 'z', "^Symbols with: xyz", "] b", 1 }, { KEY_DELETE, NULL, NULL, TOGETHER },
		{ KEY_DELETE, NULL, NULL, TOGETHER }, { KEY_DELETE, NULL, NULL, TOGETHER },
		{ 'b', NULL, NULL, TOGETHER }, { KEY_RETURN, "] b", "] c", 1 }, { 0, NULL, NULL, 0 },
	};

	(void)state;
	press(&recorded, &query, steps);
}

/* What is likely to take long says so before; what is typed is seen before. */
static void what_takes_long_is_announced(void **state)
{
	static const struct step key[] = { { 'x', "Children", "counting", 1 }, { 0, NULL, NULL, 0 } };
	static const struct step letter[] = {
		{ '/', "^Symbols with: ", NULL, 0 },
		{ 'b', "] b", "counting", 1 },
		{ KEY_RETURN, "] b", NULL, 0 },
		{ 0, NULL, NULL, 0 },
	};

	unsigned quick = 0;

	(void)state;
	/* A busy machine may make any one of them slow. */
	for (int i = 0; i < 20 && !quick; i++) {
		press(&recorded, &query, key);
		quick += !strstr(script.announced, "counting");
	}
	assert_true(quick);
	script.slow = true;
	press(&recorded, &query, key);
	assert_non_null(strstr(script.announced, "? help  q quit  made: counting"));
	press(&recorded, &query, letter);
	assert_ptr_equal(strstr(script.announced, "Symbols with: b"), script.announced);
	script.slow = false;
}

/* A key that changes nothing says why. */
static void keys_without_effect(void **state)
{
	static const struct recorded_samples of_one[] = { { NULL, "main|a", 1, 0, 0, 0 } };
	static const struct step of_two[] = {
		{ 'y', "Command / Shared Object / Symbol", NULL, 1 },
		{ 'x', "^rows within rows have no Children; y makes them flat", NULL, 0 },
		{ 'y', "Overhead  Command", "Children", 1 },
		{ 'O', "^Columns: overhead,comm,dso,symbol", NULL, 0 },
		{ KEY_RETURN, "Overhead", NULL, 1 },
		{ 'N', "^the columns are named: O and sample show this one", NULL, 0 },
		{ 'p', "^the columns are named: O and period show this one", NULL, 0 },
		{ 'O', NULL, NULL, 0 },
		{ 'U' - '@', NULL, NULL, 0 },
		{ KEY_RETURN, "Overhead", NULL, 1 },
		{ 'N', "Samples  Command", NULL, 1 },
		{ 0, NULL, NULL, 0 },
	};
	static const struct step of_one_event[] = {
		{ 'G', "^there is no other event", NULL, 0 },
		{ 'x', "Children", NULL, 1 },
		{ 0, NULL, NULL, 0 },
	};
	struct recorded made = { .two_sockets = false };

	(void)state;
	press(&recorded, &query, of_two);
	record_samples(&made, of_one, ARRAY_SIZE(of_one), 1);
	query = recorded_options(&made);
	query.children = 0;
	press(&made, &query, of_one_event);
	recorded_remove(&made);
}

/* Rows within rows: one that has many functions is none of them. */
static void functions_of_rows_within_rows(void **state)
{
	static const struct step steps[] = {
		{ 'y', "Command / Shared Object / Symbol", NULL, 1 },
		{ 'a', "^this row is no function", NULL, 0 },
		{ KEY_RETURN, "[JIT] tid 100", NULL, 0 },
		{ KEY_GO_DOWN, NULL, NULL, 0 },
		{ 'a', "^this row is no function", NULL, 0 },
		{ KEY_RETURN, "[.] b", NULL, 0 },
		{ KEY_GO_DOWN, NULL, NULL, 0 },
		{ 'a', "^b: ", "this row is no function", 0 }, /* its code is in no file */
		{ 0, NULL, NULL, 0 },
	};

	(void)state;
	press(&recorded, &query, steps);
}

/* One text is there at a time: Esc leads back to what lies below. */
static void a_text_takes_the_place_of_another(void **state)
{
	static const struct step steps[] = {
		{ '?', "^Keys  (Esc", NULL, 0 },
		{ '!', "^Losses and doubts", "^Keys", 0 },
		{ '!', "^Losses and doubts", NULL, 0 },
		{ '!', "^Losses and doubts", NULL, 0 },
		{ KEY_ESCAPE, "^Samples: ", "^Losses and doubts", 0 },
		{ 'm', "^What to do", NULL, 0 },
		{ '!', "^Losses and doubts", NULL, 0 },
		{ '!', "^Losses and doubts", NULL, 0 },
		{ KEY_ESCAPE, "^What to do", "^Losses and doubts", 0 },
		{ KEY_ESCAPE, "^Samples: ", NULL, 0 },
		{ 0, NULL, NULL, 0 },
	};

	(void)state;
	press(&recorded, &query, steps);
}

/* No column says it: it is chosen from the list of those that there are. */
static void zoom_into_a_socket(void **state)
{
	static const struct step steps[] = {
		{ 'S', "^Which socket?", NULL, 1 },
		{ KEY_GO_DOWN, "10.00%     001", NULL, 0 },
		{ KEY_RETURN, "  socket: 1 ", "prog", 1 },
		{ KEY_GO_LEFT, "prog", "socket: ", 1 },
		{ 'S', "90.00%     000", NULL, 1 },
		{ KEY_RETURN, "  socket: 0 ", "other", 1 },
		{ KEY_ESCAPE, "other", "socket: ", 1 },
		{ 'S', "^Which socket?", NULL, 1 },
		{ KEY_ESCAPE, "other", "Which socket?", 0 },
		{ 0, NULL, NULL, 0 },
	};

	(void)state;
	press(&recorded, &query, steps);
}

/* Where a column says it, it is the row's. */
static void zoom_into_the_rows_socket(void **state)
{
	static const struct step steps[] = {
		{ KEY_GO_DOWN, "001  other", NULL, 0 },
		{ 'S', "  socket: 1 ", "000", 1 },
		{ KEY_ESCAPE, "000  prog", "socket: ", 1 },
		{ 0, NULL, NULL, 0 },
	};

	(void)state;
	query.sort = "socket,comm";
	press(&recorded, &query, steps);
}

static void no_socket_is_known(void **state)
{
	static const struct step steps[] = {
		{ 'S', "no sample says its socket", NULL, 1 },
		{ KEY_GO_DOWN, "] d", "no sample says", 0 },
		{ 0, NULL, NULL, 0 },
	};
	struct recorded without = { .two_sockets = false };

	(void)state;
	record_samples(&without, samples, ARRAY_SIZE(samples), 2);
	press(&without, &query, steps);
	recorded_remove(&without);
}

/* Order and columns are not what one zoomed into. */
static void what_was_changed_in_a_zoom_stays(void **state)
{
	static const struct step steps[] = {
		{ 's', "  symbol: b ", "] c", 1 },
		{ 'N', "Samples  Command", NULL, 1 },
		{ KEY_ESCAPE, "Samples  Command", "symbol: b", 1 },
		{ KEY_GO_DOWN, "] c", NULL, 0 },
		{ 0, NULL, NULL, 0 },
	};

	(void)state;
	press(&recorded, &query, steps);
}

/* What is typed for / is a step, too. */
static void a_filter_is_a_step(void **state)
{
	static const struct step steps[] = {
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
		{ KEY_GO_LEFT, "] c", "symbols with", 1 },
		{ 0, NULL, NULL, 0 },
	};
	static const struct step as_asked[] = {
		{ KEY_ESCAPE, "^this is all there is", NULL, 0 },
		{ '/', NULL, NULL, 0 },
		{ KEY_DELETE, "] c", "symbols with", 1 },
		{ 'c', "symbols with: c ", NULL, 1 },
		{ KEY_RETURN, NULL, NULL, 0 },
		{ KEY_ESCAPE, "symbols with: b ", NULL, 1 },
		{ 0, NULL, NULL, 0 },
	};

	(void)state;
	press(&recorded, &query, steps);
	query.filters.symbol_filter = "b";
	press(&recorded, &query, as_asked);
}

/* What is shown and what its title says agree, also where the way back is barred. */
static void a_zoom_that_is_not_left(void **state)
{
	static const struct step steps[] = {
		{ 's', "  symbol: b ", "] c", 1 },
		{ REFUSES, NULL, NULL, 0 },
		{ KEY_ESCAPE, "  symbol: b ", "] c", 2 },
		{ KEY_ESCAPE, "] c", "symbol: b", 1 },
		{ REFUSES, NULL, NULL, 0 },
		{ 's', "^it is refused", "symbol: b", 2 },
		{ KEY_FIRST, "] c", "symbol: b", 0 },
		{ 0, NULL, NULL, 0 },
	};

	(void)state;
	press(&recorded, &query, steps);
}

static const struct recorded_samples two_ways[] = {
	{ NULL, "main|a|d|b", 30, 0, 0, 0 }, { NULL, "main|a|d|c", 20, 0, 0, 0 }, { NULL, "main|a|e", 10, 0, 0, 0 },
	{ NULL, "main|c|d|b", 15, 0, 0, 0 }, { NULL, "main|c|d|e", 15, 0, 0, 0 }, { NULL, "main|c|b", 10, 0, 0, 0 },
};

/* One row, below which there are trees: main > a > d, main > c > d, and others. */
static void press_in_trees(const struct step *steps)
{
	struct recorded made = { .two_sockets = false };

	record_samples(&made, two_ways, ARRAY_SIZE(two_ways), 1);
	query = recorded_options(&made);
	query.children = 0;
	query.sort = "dso";
	query.chain.order = CHAIN_CALLER;
	query.chain.order_set = true;
	press(&made, &query, steps);
	recorded_remove(&made);
}

/* A function that is called in two ways is folded in one of them. */
static void each_branch_is_folded_by_itself(void **state)
{
	static const struct step steps[] = {
		{ 'E', "- 30.00% d", NULL, 0 },
		{ KEY_GO_DOWN, "- 50.00% d", NULL, 0 },
		{ KEY_GO_DOWN, NULL, NULL, 0 },
		{ KEY_GO_DOWN, NULL, NULL, 0 },
		{ '+', "+ 50.00% d", NULL, 0 },
		{ KEY_LAST, "- 30.00% d", "- 50.00% d", 0 },
		{ 'N', "+ 50.00% d", "+ 30.00% d", 1 },
		{ 0, NULL, NULL, 0 },
	};

	(void)state;
	press_in_trees(steps);
}

/* As long as there was none, samples may come; later they are gone, or left out. */
static void before_the_first_sample(void **state)
{
	static const struct step steps[] = {
		{ KEY_FIRST, "^No sample so far", NULL, ANY },
		{ TIME_PASSES, NULL, NULL, ANY },
		{ KEY_FIRST, "prog", "No sample", ANY },
		{ '/', NULL, NULL, ANY },
		{ 'x', NULL, NULL, ANY },
		{ 'y', "^No sample is left", NULL, ANY },
		{ KEY_ESCAPE, "prog", "No sample", ANY },
		{ 0, NULL, NULL, 0 },
	};

	(void)state;
	live = (struct live){ .first = "nobody" };
	press(&recorded, &query, steps);
}

/* Lists of names have signs of their own, which are parts of these; the title says the names. */
static void zoom_into_odd_names(void **state)
{
	static const struct recorded_samples odd[] = {
		{ "file:/nowhere", "main", 6, 0, 0, 0 },
		{ "a,b", "main", 3, 0, 0, 0 },
		{ "\\file:", "main", 1, 0, 0, 0 },
	};
	static const struct step steps[] = {
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
		{ KEY_RETURN, "  comm: file:/nowhere ", NULL, 1 },
		{ 0, NULL, NULL, 0 },
	};
	struct recorded made = { .two_sockets = false };

	(void)state;
	record_samples(&made, odd, ARRAY_SIZE(odd), 1);
	query = recorded_options(&made);
	query.children = 0;
	query.sort = "comm";
	press(&made, &query, steps);
	recorded_remove(&made);
}

/* The menu is of the row for which it was opened, wherever that is meanwhile. */
static void a_menu_is_of_its_row(void **state)
{
	static const struct step moved[] = {
		{ KEY_FIRST, "^+   10.00%  other", "prog", ANY },
		{ 'm', "^What to do with other  (Enter", NULL, ANY },
		{ TIME_PASSES, NULL, NULL, ANY },
		{ KEY_GO_DOWN, NULL, NULL, ANY },
		{ KEY_GO_DOWN, NULL, NULL, ANY },
		{ KEY_GO_DOWN, NULL, NULL, ANY },
		{ KEY_RETURN, "  comm: other ", "prog", ANY },
		{ 0, NULL, NULL, 0 },
	};
	static const struct step gone[] = {
		{ KEY_FIRST, "^+   10.00%  other", "prog", ANY },
		{ 'm', "^What to do with other  (Enter", NULL, ANY },
		{ TIME_PASSES, NULL, NULL, ANY },
		{ KEY_GO_DOWN, NULL, NULL, ANY },
		{ KEY_RETURN, "^other is not there any more", "thread: ", ANY },
		{ KEY_FIRST, "prog", "other", ANY },
		{ 'm', "^What to do with prog  (Enter", NULL, ANY },
		{ KEY_LAST, NULL, NULL, ANY },
		{ KEY_GO_UP, NULL, NULL, ANY },
		{ KEY_RETURN, "^Print to the new file: flamegraph", NULL, ANY },
		{ KEY_ESCAPE, NULL, NULL, ANY },
		{ 0, NULL, NULL, 0 },
	};

	(void)state;
	query.sort = "comm";
	live = (struct live){ .first = "other" };
	press(&recorded, &query, moved);
	live.then = "prog";
	press(&recorded, &query, gone);
}

/* Two functions of one name, each with callers and callees. */
static void press_beside_twins(const char *sort, const struct step *steps)
{
	static const struct recorded_samples of_twins[] = {
		{ NULL, "main|a|twin", 6, 0, 0, 0 }, { NULL, "main|b|" TWIN, 3, 0, 0, 0 }, { NULL, "main", 1, 0, 0, 0 },
	};
	struct recorded made = { .two_sockets = false };

	record_samples(&made, of_twins, ARRAY_SIZE(of_twins), 1);
	query = recorded_options(&made);
	query.children = 0;
	query.sort = sort;
	press(&made, &query, steps);
	recorded_remove(&made);
}

/* They look the same: what is done with one of them is not done with the other. */
static void functions_of_one_name(void **state)
{
	static const struct step steps[] = {
		{ KEY_GO_DOWN, "^+   60.00%  [.] twin", NULL, 0 },
		{ '+', "^-   30.00%  [.] twin", "^-  60.00%", 0 },
		{ 'N', "^-   30.00%             3  [.] twin", "^-  60.00%", 1 },
		{ '+', "^+   30.00%", "^-  60.00%", 0 },
		{ 'e', "- 30.00% twin", "       a ", 0 },
		{ 's', "  symbol: twin ", "60.00%", 1 },
		{ KEY_ESCAPE, "60.00%", "symbol: ", 1 },
		{ KEY_FIRST, NULL, NULL, 0 },
		{ 's', "  symbol: twin ", "30.00%", 1 },
		{ 0, NULL, NULL, 0 },
	};

	(void)state;
	press_beside_twins("symbol", steps);
}

/* As frames of a call tree they are two as well. */
static void frames_of_one_name(void **state)
{
	static const struct step steps[] = {
		{ 'E', "- 60.00% twin", NULL, 0 },
		{ KEY_GO_DOWN, "- 30.00% twin", NULL, 0 },
		{ '+', "+ 60.00% twin", "+ 30.00%", 0 },
		{ 's', "  symbol: twin ", "30.00%", 1 },
		{ 0, NULL, NULL, 0 },
	};

	(void)state;
	press_beside_twins("dso", steps);
}

/* Of what filters left: branches as the rows that they are of, as in perf's browser. */
static void percentages_of_branches(void **state)
{
	static const struct step steps[] = {
		{ 'n', "comm: prog ", "10.00%", 1 },
		{ 'E', "- 60.00% main", NULL, 0 },
		{ 'F', "- 66.67% main", "60.00%", 1 },
		{ 'F', "- 60.00% main", "66.67%", 1 },
		{ 0, NULL, NULL, 0 },
	};

	(void)state;
	query.chain.order_set = true;
	press(&recorded, &query, steps);
}

/* What is typed for L holds for trees, too. */
static void a_limit_holds_for_branches(void **state)
{
	static const struct step steps[] = {
		{ 'L', "^Only rows and branches of at least (percent): ", NULL, 0 },
		{ 'U' - '@', NULL, NULL, 0 },
		{ '2', NULL, NULL, 0 },
		{ '5', "(percent): 25", NULL, 0 },
		{ KEY_RETURN, "100.00%", "(percent)", 1 },
		{ 'E', "- 60.00% a", "10.00%", 0 },
		{ 0, NULL, NULL, 0 },
	};

	(void)state;
	press_in_trees(steps);
}

/* Nothing is typed: nothing changes. None is what there was at first, with branches as -g has them. */
static void a_limit_that_stays(void **state)
{
	static const struct recorded_samples one_in_a_thousand[] = {
		{ NULL, "main|a", 996, 0, 0, 0 },
		{ NULL, "main|b", 4, 0, 0, 0 },
	};
	static const struct step steps[] = {
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
		{ KEY_RETURN, "99.60% a", "0.40% b", 1 },
		{ 0, NULL, NULL, 0 },
	};
	struct recorded made = { .two_sockets = false };

	(void)state;
	record_samples(&made, one_in_a_thousand, ARRAY_SIZE(one_in_a_thousand), 1);
	query = recorded_options(&made);
	query.children = 0;
	query.sort = "dso";
	query.chain.order = CHAIN_CALLER;
	query.chain.order_set = true;
	press(&made, &query, steps);
	recorded_remove(&made);
}

/* Columns are as wide as what an event has. */
static void each_event_has_its_own_widths(void **state)
{
	static const struct recorded_samples of_two[] = {
		{ "short", "b", 1, 0, 0, 0 },
		{ "thirteenchars", "c", 1, 1, 0, 0 },
	};
	static const struct step steps[] = {
		{ KEY_FIRST, "Command  Shared Object", NULL, 0 },
		{ KEY_TAB, "Command        Shared Object", NULL, 0 },
		{ KEY_BACK_TAB, "Command  Shared Object", NULL, 0 },
		{ 0, NULL, NULL, 0 },
	};
	struct recorded made = { .two_sockets = false };

	(void)state;
	record_samples(&made, of_two, ARRAY_SIZE(of_two), 2);
	query = recorded_options(&made);
	press(&made, &query, steps);
	recorded_remove(&made);
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
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_key_asks_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_text_takes_the_place_of_another, set_up, tear_down),
		cmocka_unit_test_setup_teardown(letters_that_come_together_ask_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_takes_long_is_announced, set_up, tear_down),
		cmocka_unit_test_setup_teardown(keys_without_effect, set_up, tear_down),
		cmocka_unit_test_setup_teardown(functions_of_rows_within_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(zoom_into_a_socket, set_up, tear_down),
		cmocka_unit_test_setup_teardown(zoom_into_the_rows_socket, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_socket_is_known, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_changed_in_a_zoom_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_filter_is_a_step, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_zoom_that_is_not_left, set_up, tear_down),
		cmocka_unit_test(each_branch_is_folded_by_itself),
		cmocka_unit_test_setup_teardown(a_menu_is_of_its_row, set_up, tear_down),
		cmocka_unit_test_setup_teardown(before_the_first_sample, set_up, tear_down),
		cmocka_unit_test(zoom_into_odd_names),
		cmocka_unit_test(functions_of_one_name),
		cmocka_unit_test(frames_of_one_name),
		cmocka_unit_test_setup_teardown(percentages_of_branches, set_up, tear_down),
		cmocka_unit_test(a_limit_holds_for_branches),
		cmocka_unit_test(a_limit_that_stays),
		cmocka_unit_test(each_event_has_its_own_widths),
		cmocka_unit_test(from_one_hot_line_to_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
