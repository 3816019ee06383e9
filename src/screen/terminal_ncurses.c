/* SPDX-License-Identifier: MIT */
/*
 * terminal by ncurses, which is loaded when a screen is first wanted: programs that print pay nothing for it. It
 * is asked for what differs between terminals (what keys send, how lines are changed) and for nothing else.
 *
 * The terminal is put back whatever ends the program: signals do it from their handler, with calls that may be made
 * there alone, and then end the program as if there had been none. So Ctrl-C works while a table is made,
 * too. What puts it back is asked of terminfo before it is needed.
 *
 * Terminals that this machine's terminfo does not know, as in an empty root, are opened by descriptions of the common
 * ones in the program, which ncurses takes from the environment.
 *
 * Source: curs_initscr(3), curs_get_wch(3), terminfo(5), signal-safety(7); infocmp(1), -Q; ncurses(3), TERMINFO.
 */
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <ncurses.h>

#include "screen/screen_terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define LIBNCURSES "libncursesw.so.6"

enum { ESCAPE_MS = 10, RESTORE_BYTES = 256, RESTORE_MS = 500, RESTORE_TRIES = 8, PIECE = 256, ENDING_SIGNALS = 9 };

#define NCURSES_FUNCTIONS(FN)                                                                                        \
	FN(newterm)                                                                                                  \
	FN(delscreen) FN(endwin) FN(cbreak) FN(noecho) FN(nonl) FN(newwin) FN(delwin) FN(keypad) FN(nodelay)         \
		FN(wget_wch) FN(werase) FN(wmove) FN(waddnwstr) FN(wattrset) FN(wrefresh) FN(start_color)            \
			FN(use_default_colors) FN(init_pair) FN(has_colors) FN(curs_set) FN(resize_term)             \
				FN(set_escdelay) FN(tigetstr) FN(mousemask) FN(getmouse) FN(mouseinterval)           \
					FN(wresize) FN(clearok) FN(COLOR_PAIR)

struct ncurses {
	bool loaded;
#define MEMBER(name) __typeof__(name) *name;
	NCURSES_FUNCTIONS(MEMBER)
#undef MEMBER
};

struct terminal {
	const struct ncurses *curses;
	SCREEN *screen;
	WINDOW *window;
	bool utf8, color;
	unsigned n_lines, n_columns, clicked;
	attr_t looks[LOOKS];
};

/* Handlers of signals find here what puts the terminal back; there is one terminal. */
static struct restoring {
	volatile sig_atomic_t wanted;
	volatile sig_atomic_t resized;
	struct termios modes;
	char text[RESTORE_BYTES];
	size_t n;
	struct sigaction before_ending[ENDING_SIGNALS], before_resize, before_going_on;
} restore;

static const struct ncurses *ncurses_load(struct str *err)
{
	static const struct library_symbol symbols[] = {
#define ROW(name) { #name, offsetof(struct ncurses, name) },
		NCURSES_FUNCTIONS(ROW)
#undef ROW
	};
	static struct ncurses lib;

	if (!lib.loaded)
		lib.loaded = library_load(LIBNCURSES, symbols, ARRAY_SIZE(symbols), &lib, err);
	return lib.loaded ? &lib : NULL;
}

int terminal_try(struct str *err)
{
	return ncurses_load(err) ? 0 : -ENOENT;
}

/* ---- signals ---- */

static const int ending_signals[ENDING_SIGNALS] = {
	SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL,
};

/* A terminal that takes nothing (Ctrl-S, a connection that hangs) must not keep the program from its end. */
static void write_restoring(void)
{
	const int flags = fcntl(STDOUT_FILENO, F_GETFL);
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
	size_t at = 0;
	int ready = 1;

	fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK);
	for (int tries = 0; tries < RESTORE_TRIES && at < restore.n && ready > 0; tries++) {
		ssize_t n = write(STDOUT_FILENO, restore.text + at, restore.n - at);

		if (n > 0)
			at += (size_t)n;
		else
			ready = poll(&out, 1, RESTORE_MS);
	}
	fcntl(STDOUT_FILENO, F_SETFL, flags);
}

/* Whoever stopped it has the terminal, and changing that one's modes would stop it again. */
static bool is_in_background(void)
{
	const pid_t front = tcgetpgrp(STDIN_FILENO);

	return front >= 0 && front != getpgrp();
}

static void put_back(void)
{
	if (!restore.wanted || is_in_background())
		return;
	restore.wanted = 0;
	write_restoring();
	tcsetattr(STDIN_FILENO, TCSANOW, &restore.modes);
}

static void end_by(int signal_number)
{
	put_back();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void note_resize(int signal_number)
{
	(void)signal_number;
	restore.resized = 1;
}

static void take_signals(void)
{
	struct sigaction action = { .sa_handler = end_by };

	for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++) {
		sigaction(ending_signals[i], NULL, &restore.before_ending[i]);
		/*
		 * nohup's wish is obeyed; a shell that ignores SIGINT in what it starts in the background means no
		 * terminal.
		 */
		if (ending_signals[i] == SIGHUP && restore.before_ending[i].sa_handler == SIG_IGN)
			continue;
		/* Files that are mapped have a handler of their own, which knows how to go on. */
		if (ending_signals[i] != SIGBUS || !(restore.before_ending[i].sa_flags & SA_SIGINFO))
			sigaction(ending_signals[i], &action, NULL);
	}
	action.sa_handler = note_resize;
	action.sa_flags = SA_RESTART;
	sigaction(SIGWINCH, &action, &restore.before_resize);
	/* A resize while the program is stopped is reported to the shell alone: look for it when it goes on. */
	sigaction(SIGCONT, &action, &restore.before_going_on);
}

static void give_signals_back(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++)
		sigaction(ending_signals[i], &restore.before_ending[i], NULL);
	sigaction(SIGWINCH, &restore.before_resize, NULL);
	sigaction(SIGCONT, &restore.before_going_on, NULL);
}

/* A terminfo text without its delays: $<5>. */
static void add_restoring(const struct ncurses *curses, const char *name)
{
	const char *text = curses->tigetstr(name);

	if (!text || text == (const char *)-1) /* not a text, says terminfo */
		return;
	while (*text && restore.n < RESTORE_BYTES) {
		const char *end = text[0] == '$' && text[1] == '<' ? strchr(text, '>') : NULL;

		if (end)
			text = end + 1;
		else
			restore.text[restore.n++] = *text++;
	}
}

static void prepare_restoring(const struct ncurses *curses)
{
	/* Switches off what ncurses asked for: the mouse, and its places as numbers. */
	static const char mouse_off[] = "\033[?1006;1000l";
	/* Lines are wrapped again: ncurses ends that while it writes the last column. */
	static const char *const names[] = { "sgr0", "op", "cnorm", "rmkx", "smam", "rmcup" };

	restore.n = 0;
	if (curses->tigetstr("kmous") && curses->tigetstr("kmous") != (char *)-1) {
		memcpy(restore.text, mouse_off, sizeof(mouse_off) - 1);
		restore.n = sizeof(mouse_off) - 1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		add_restoring(curses, names[i]);
}

/* ---- open and close ---- */

static void find_size(struct terminal *terminal)
{
	struct winsize size = { 0 };

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	terminal->n_lines = size.ws_row ? size.ws_row : 24;
	terminal->n_columns = size.ws_col ? size.ws_col : 80;
}

static void choose_looks(struct terminal *terminal, bool color)
{
	const struct ncurses *curses = terminal->curses;
	attr_t *looks = terminal->looks;

	looks[LOOK_SELECTED] = A_REVERSE;
	looks[LOOK_HEAD] = A_BOLD;
	looks[LOOK_BAR] = A_REVERSE;
	looks[LOOK_DIM] = looks[LOOK_SOURCE] = A_DIM;
	if (!color || !curses->has_colors() || curses->start_color() == ERR)
		return;
	curses->use_default_colors();
	curses->init_pair(1, COLOR_RED, -1);
	curses->init_pair(2, COLOR_GREEN, -1);
	curses->init_pair(3, COLOR_BLUE, -1);
	looks[LOOK_HOT] = (attr_t)curses->COLOR_PAIR(1);
	looks[LOOK_WARM] = (attr_t)curses->COLOR_PAIR(2);
	looks[LOOK_SOURCE] = (attr_t)curses->COLOR_PAIR(3);
}

/* A line for each terminal, "NAME b64:DESCRIPTION": see "files in the program" in the Makefile. */
extern const char terminals_list[];

/* The description of this type as a new string; NULL: the program has none. */
static char *description_of(const char *type)
{
	const size_t len = strlen(type);
	const char *line = terminals_list;

	while (*line && (strncmp(line, type, len) || line[len] != ' '))
		line += strcspn(line, "\n") + 1;
	return *line ? xasprintf("%.*s", (int)strcspn(line + len + 1, "\n"), line + len + 1) : NULL;
}

/* Opens the terminal by the program's own description of it; what is started later does not inherit that. */
static SCREEN *open_described(const struct ncurses *curses, const char *type)
{
	const char *outer = getenv("TERMINFO");
	char *description = description_of(type), *before = outer ? xstrdup(outer) : NULL;
	SCREEN *screen = NULL;

	if (description) {
		setenv("TERMINFO", description, 1);
		screen = curses->newterm(type, stdout, stdin);
		if (before)
			setenv("TERMINFO", before, 1);
		else
			unsetenv("TERMINFO");
	}
	free(description);
	free(before);
	return screen;
}

static int open_screen(struct terminal *terminal, bool color, struct str *err)
{
	const struct ncurses *curses = terminal->curses;
	const char *type = getenv("TERM");

	find_size(terminal);
	terminal->screen = curses->newterm(NULL, stdout, stdin);
	if (!terminal->screen && type)
		terminal->screen = open_described(curses, type);
	if (!terminal->screen)
		return fail(err, -ENOTTY, "terminfo does not know the terminal '%s'", type ? type : "");
	prepare_restoring(curses);
	curses->cbreak();
	curses->noecho();
	curses->nonl();
	curses->curs_set(0);
	curses->set_escdelay(ESCAPE_MS);
	curses->resize_term((int)terminal->n_lines, (int)terminal->n_columns);
	terminal->window = curses->newwin(0, 0, 0, 0);
	curses->keypad(terminal->window, TRUE);
	curses->nodelay(terminal->window, TRUE);
	curses->mouseinterval(0);
	curses->mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	choose_looks(terminal, color);
	return 0;
}

int terminal_open(struct terminal **terminal, bool color, bool utf8, struct str *err)
{
	const struct ncurses *curses = ncurses_load(err);
	struct terminal *made;
	int code;

	*terminal = NULL;
	if (!curses)
		return -ENOENT;
	if (tcgetattr(STDIN_FILENO, &restore.modes) || !isatty(STDOUT_FILENO))
		return fail(err, -ENOTTY, "standard input and output are not both a terminal");
	/* For the width of characters alone; the locale that the environment names may not be installed. */
	if (utf8 && !setlocale(LC_CTYPE, "") && !setlocale(LC_CTYPE, "C.UTF-8"))
		utf8 = false;
	made = xcalloc(1, sizeof(*made));
	made->curses = curses;
	made->utf8 = utf8;
	fflush(stdout);
	restore.wanted = 1;
	take_signals();
	code = open_screen(made, color, err);
	if (code) {
		restore.n = 0;
		terminal_close(made);
		return code;
	}
	*terminal = made;
	return 0;
}

void terminal_close(struct terminal *terminal)
{
	if (!terminal)
		return;
	if (terminal->window)
		terminal->curses->delwin(terminal->window);
	if (terminal->screen) {
		terminal->curses->endwin();
		terminal->curses->delscreen(terminal->screen);
	}
	tcsetattr(STDIN_FILENO, TCSANOW, &restore.modes);
	restore.wanted = 0;
	give_signals_back();
	free(terminal);
}

/* ---- what is shown ---- */

unsigned terminal_height(const struct terminal *terminal)
{
	return terminal->n_lines;
}

unsigned terminal_width(const struct terminal *terminal)
{
	return terminal->n_columns;
}

void terminal_clear(struct terminal *terminal)
{
	terminal->curses->wattrset(terminal->window, A_NORMAL);
	terminal->curses->werase(terminal->window);
}

/* A character of ASCII that says the same, or nearly, where there is no UTF-8. */
static wchar_t plain_character(wchar_t code)
{
	static const struct {
		wchar_t code, plain;
	} rows[] = {
		{ L'\u2190', L'<' }, { L'\u2191', L'^' }, { L'\u2192', L'>' }, { L'\u2193', L'v' }, { L'\u25b6', L'>' },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].code == code)
			return rows[i].plain;
	return L'?';
}

/* The character at text[*i] of printable UTF-8, which is well formed. */
static wchar_t take_character(const struct terminal *terminal, const char *text, size_t n, size_t *i)
{
	unsigned char first = (unsigned char)text[(*i)++];
	wchar_t code = first;

	if (first < 0x80)
		return first < ' ' ? ' ' : code;
	code = first >= 0xf0 ? first & 0x07 : first >= 0xe0 ? first & 0x0f : first & 0x1f;
	while (*i < n && ((unsigned char)text[*i] & 0xc0) == 0x80)
		code = code << 6 | (text[(*i)++] & 0x3f);
	return terminal->utf8 ? code : plain_character(code);
}

void terminal_put(struct terminal *terminal, unsigned line, unsigned column, unsigned columns, const char *text,
		  size_t n, enum terminal_look look)
{
	const struct ncurses *curses = terminal->curses;
	wchar_t piece[PIECE];
	size_t fits, used = 0;

	if (line >= terminal->n_lines || column >= terminal->n_columns)
		return;
	if (columns > terminal->n_columns - column)
		columns = terminal->n_columns - column;
	fits = text_fitting(text, n, columns);
	curses->wmove(terminal->window, (int)line, (int)column);
	curses->wattrset(terminal->window, (int)terminal->looks[look]);
	for (size_t i = 0; i < fits;) {
		piece[used++] = take_character(terminal, text, fits, &i);
		if (used < PIECE && i < fits)
			continue;
		curses->waddnwstr(terminal->window, piece, (int)used);
		used = 0;
	}
	curses->wattrset(terminal->window, A_NORMAL);
}

void terminal_show(struct terminal *terminal, unsigned line, unsigned column)
{
	const struct ncurses *curses = terminal->curses;
	bool cursor = line < terminal->n_lines && column < terminal->n_columns;

	curses->curs_set(cursor);
	curses->wmove(terminal->window, cursor ? (int)line : 0, cursor ? (int)column : 0);
	curses->wrefresh(terminal->window);
}

/* ---- keys ---- */

static const struct {
	wint_t theirs;
	int ours;
} special_keys[] = {
	{ KEY_UP, KEY_GO_UP },       { KEY_DOWN, KEY_GO_DOWN },     { KEY_LEFT, KEY_GO_LEFT },
	{ KEY_RIGHT, KEY_GO_RIGHT }, { KEY_PPAGE, KEY_PAGE_UP },    { KEY_NPAGE, KEY_PAGE_DOWN },
	{ KEY_HOME, KEY_FIRST },     { KEY_END, KEY_LAST },         { KEY_A1, KEY_FIRST },
	{ KEY_C1, KEY_LAST },        { KEY_BTAB, KEY_BACK_TAB },    { KEY_F(1), KEY_HELP_F1 },
	{ KEY_ENTER, KEY_RETURN },   { KEY_BACKSPACE, KEY_DELETE },
};

static int mouse_key(struct terminal *terminal)
{
	MEVENT event;

	if (terminal->curses->getmouse(&event) == ERR)
		return KEY_NOTHING;
	if (event.bstate & BUTTON4_PRESSED)
		return KEY_WHEEL_UP;
	if (event.bstate & BUTTON5_PRESSED)
		return KEY_WHEEL_DOWN;
	terminal->clicked = event.y > 0 ? (unsigned)event.y : 0;
	return KEY_CLICK;
}

static int read_key(struct terminal *terminal)
{
	wint_t key = 0;
	int rc = terminal->curses->wget_wch(terminal->window, &key);

	if (rc == ERR)
		return KEY_NOTHING;
	if (rc != KEY_CODE_YES)
		return key == '\n' ? KEY_RETURN : key == '\b' ? KEY_DELETE : (int)key;
	if (key == KEY_MOUSE)
		return mouse_key(terminal);
	for (size_t i = 0; i < ARRAY_SIZE(special_keys); i++)
		if (special_keys[i].theirs == key)
			return special_keys[i].ours;
	return KEY_NOTHING;
}

static int take_size(struct terminal *terminal)
{
	const struct ncurses *curses = terminal->curses;

	restore.resized = 0;
	find_size(terminal);
	curses->resize_term((int)terminal->n_lines, (int)terminal->n_columns);
	curses->wresize(terminal->window, (int)terminal->n_lines, (int)terminal->n_columns);
	curses->clearok(terminal->window, TRUE);
	return KEY_SIZE;
}

int terminal_key(struct terminal *terminal, int timeout_ms)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	const struct timespec wait = { timeout_ms / 1000, timeout_ms % 1000 * 1000000L };
	sigset_t resize, before;
	int key = read_key(terminal), ready = 0;

	if (key != KEY_NOTHING)
		return key;
	/* A resize is only let in while waiting, so that none is overlooked. */
	sigemptyset(&resize);
	sigaddset(&resize, SIGWINCH);
	sigaddset(&resize, SIGCONT);
	sigprocmask(SIG_BLOCK, &resize, &before);
	if (!restore.resized)
		ready = ppoll(&in, 1, timeout_ms < 0 ? NULL : &wait, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (restore.resized)
		return take_size(terminal);
	if (ready <= 0)
		return KEY_NOTHING;
	key = read_key(terminal);
	/*
	 * A terminal that can be read and gives nothing has ended; the rest of a character or of a key comes later.
	 */
	if (key == KEY_NOTHING && (in.revents & (POLLHUP | POLLERR)))
		return KEY_GONE;
	return key;
}

unsigned terminal_click(const struct terminal *terminal)
{
	return terminal->clicked;
}
