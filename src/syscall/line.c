/* SPDX-License-Identifier: MIT */
/*
 * line.c: a call as a line, in the layout of perf trace, or as an object of JSON:
 *
 *	when (ms)   how long     who         which, of what                                             what it returned
 *	     0.054 ( 0.001 ms): ls/10623 openat(dfd: CWD, filename: 0x7f1249bc60b1, flags: RDONLY) = 3
 *
 * What is not known is a question mark, or blank between the parentheses. Many calls may come: digits are written here,
 * without a format to be read for each number. Names of threads are from outside, and are made printable.
 */
#include "syscall/line.h"

#include <errno.h>
#include <inttypes.h>

enum {
	RESULT_COLUMN = 70, /* of the sign =, from the name of the call on */
	TIME_DIGITS = 10, DURATION_DIGITS = 6,
};
enum { AT_FDCWD = -100 };
enum { STRING_BYTES_MAX = 256 }; /* of an array's; one that goes on has a byte more */

/* ---- numbers ---- */

void line_add_hex(struct str *out, uint64_t value)
{
	static const char digits[] = "0123456789abcdef";
	char text[2 * sizeof(value)];
	size_t at = sizeof(text);

	do
		text[--at] = digits[value & 0xf];
	while (value >>= 4);
	str_add(out, "0x");
	str_addn(out, text + at, sizeof(text) - at);
}

void line_add_signed(struct str *out, int64_t value)
{
	if (value < 0)
		str_addc(out, '-');
	str_add_u64(out, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* Adds ns as ms with three digits after the point, in so many columns at least. */
static void add_ms(struct str *out, uint64_t ns, size_t columns)
{
	uint64_t us = ns / NS_PER_US + (ns % NS_PER_US >= NS_PER_US / 2), rest = us % 1000;
	char text[32];
	size_t at = sizeof(text);

	for (int i = 0; i < 3; i++, rest /= 10)
		text[--at] = (char)('0' + rest % 10);
	text[--at] = '.';
	us /= 1000;
	do
		text[--at] = (char)('0' + us % 10);
	while (us /= 10);
	if (sizeof(text) - at < columns)
		str_pad(out, ' ', columns - (sizeof(text) - at));
	str_addn(out, text + at, sizeof(text) - at);
}

/* ---- arguments ---- */

static void add_descriptor(struct str *out, int32_t fd, bool names_folder)
{
	if (names_folder && fd == AT_FDCWD)
		str_add(out, "CWD");
	else
		line_add_signed(out, fd);
}

static void add_value(const struct syscall_lines *lines, struct str *out, int kind, uint64_t value, bool abi_32)
{
	switch (kind) {
	case KIND_INT:
		line_add_signed(out, (int32_t)value);
		break;
	case KIND_UINT:
		str_add_u64(out, (uint32_t)value);
		break;
	case KIND_LONG:
		line_add_signed(out, abi_32 ? (int32_t)value : (int64_t)value);
		break;
	case KIND_SIZE:
		str_add_u64(out, value);
		break;
	case KIND_OCTAL:
		str_addf(out, "%#o", (unsigned)value);
		break;
	case KIND_FD:
	case KIND_DIR:
		add_descriptor(out, (int32_t)value, kind == KIND_DIR);
		break;
	case KIND_PTR:
	case KIND_TEXT:
	case KIND_PATH:
	case KIND_BYTES:
	case KIND_FILLED:
	case KIND_ADDRESS:
	case KIND_PEER:
	case KIND_STRINGS:
	case KIND_COUNT:
	case KIND_VECTOR:
	case KIND_VECTOR_FILLED:
	case KIND_MESSAGE:
	case KIND_MESSAGE_FILLED:
		if (!value) {
			str_add(out, "NULL");
			break;
		}
		/* fall through */
	case KIND_HEX:
		line_add_hex(out, value);
		break;
	default: /* words are of int, but for the few that fill a long with ones */
		syscall_words_add(lines->table->words, kind, (uint32_t)value, out);
	}
}

void line_add_text(struct str *out, const char *bytes, size_t len, const char quotes[2])
{
	static const char bare[] = "\"<>\\\n\r\t", escaped[] = "\"<>\\nrt";

	str_addc(out, quotes[0]);
	for (size_t i = 0, n; i < len; i += n) {
		const char *special = strchr(bare, bytes[i]);

		n = 1;
		if (bytes[i] && special) {
			str_addc(out, '\\');
			str_addc(out, escaped[special - bare]);
			continue;
		}
		while (i + n < len && (!bytes[i + n] || !strchr(bare, bytes[i + n])))
			n++;
		str_add_printable(out, bytes + i, n);
	}
	str_addc(out, quotes[1]);
}

/* ["ls", "-l"], and after a string or an element that goes on "...". */
static void add_strings(struct str *out, const struct syscall_text *text)
{
	str_addc(out, '[');
	for (size_t at = 0, len; at < text->len; at += len + 1) {
		const size_t most = STRING_BYTES_MAX;

		len = strnlen(text->bytes + at, text->len - at);
		str_add(out, at ? ", " : "");
		line_add_text(out, text->bytes + at, len < most ? len : most, "\"\"");
		str_add(out, len > most ? "..." : "");
	}
	if (text->goes_on)
		str_add(out, text->len ? ", ..." : "...");
	str_addc(out, ']');
}

/* How many variables an environment has; what they are is nobody's business. */
static void add_count(struct str *out, const struct syscall_text *text, bool swap)
{
	line_add_hex(out, text->address);
	if (text->len < sizeof(uint64_t))
		return;
	str_addf(out, " /* %" PRIu64 "%s vars */", syscall_load((const uint8_t *)text->bytes, 8, swap),
		 text->goes_on ? "+" : "");
}

/* Adds what an argument of this kind points at; false: what was read is of another kind. */
static bool add_pointed_at(const struct syscall_lines *lines, struct str *out, int kind,
			   const struct syscall_text *text)
{
	const bool is_bytes = text->kind == TEXT_BYTES || text->kind == TEXT_BYTES_LATE;
	const bool swap = lines->session->recording->decoder->swap;

	switch (kind) {
	case KIND_TEXT:
	case KIND_PATH:
		if (text->kind != TEXT_EARLY && text->kind != TEXT_LATE)
			return false;
		break;
	case KIND_BYTES:
	case KIND_FILLED:
		if (!is_bytes)
			return false;
		break;
	case KIND_ADDRESS:
	case KIND_PEER:
		if (is_bytes)
			syscall_address_add(lines->table->words, text, swap, out);
		return is_bytes;
	case KIND_STRINGS:
		if (text->kind == TEXT_STRINGS)
			add_strings(out, text);
		return text->kind == TEXT_STRINGS;
	case KIND_COUNT:
		if (text->kind == TEXT_COUNT)
			add_count(out, text, swap);
		return text->kind == TEXT_COUNT;
	case KIND_VECTOR:
	case KIND_VECTOR_FILLED:
		return syscall_vector_add(text, swap, out);
	case KIND_MESSAGE:
	case KIND_MESSAGE_FILLED:
		return syscall_message_add(lines->table->words, text, swap, out);
	default:
		return false;
	}
	line_add_text(out, text->bytes, text->len, "\"\"");
	str_add(out, text->goes_on ? "..." : "");
	return true;
}

static void add_argument(const struct syscall_lines *lines, const struct syscall_call *call, size_t i,
			 struct str *out)
{
	const int kind = call->row->args[i].kind;
	struct syscall_text text;
	const bool found = syscall_texts_find(call->texts, call->number, i, call->args[i], &text);

	if (found && add_pointed_at(lines, out, kind, &text))
		return;
	add_value(lines, out, kind, call->args[i], call->abi_32);
	if (found && text.kind == TEXT_FILE && syscall_is_descriptor(kind))
		line_add_text(out, text.bytes, text.len, "<>");
}

/* "name(arg: value, ...)" */
static void add_call(const struct syscall_lines *lines, const struct syscall_call *call, struct str *out)
{
	const struct syscall_row *row = call->row;
	const bool known = row != &lines->table->v[0];

	if (call->state == CALL_CONTINUED)
		str_add(out, "... [continued]: ");
	str_addn(out, known ? row->name : "syscall_", known ? row->len : strlen("syscall_"));
	if (!known)
		line_add_signed(out, call->number);
	str_addc(out, '(');
	for (size_t i = 0; i < row->n_args && call->state != CALL_CONTINUED; i++) {
		if (i)
			str_add(out, ", ");
		str_addn(out, row->args[i].name, row->args[i].len);
		str_add(out, ": ");
		add_argument(lines, call, i, out);
	}
	str_addc(out, ')');
}

static void add_result(const struct syscall_lines *lines, const struct syscall_call *call, struct str *out)
{
	const int64_t value = call->returned;

	if (syscall_failed(call)) {
		str_add(out, "-1 ");
		if (!syscall_error_add(lines->table->words, (int)-value, true, out))
			str_addf(out, "errno %d", (int)-value);
	} else if (call->row->returns == RETURNS_HEX) {
		line_add_hex(out, (uint64_t)value);
	} else {
		line_add_signed(out, value);
	}
	if (call->row->returns == RETURNS_TASK)
		line_add_task(lines, value, out);
}

/* ---- lines ---- */

void line_add_when(const struct syscall_lines *lines, uint64_t ns, struct str *out)
{
	add_ms(out, ns > lines->base_ns ? ns - lines->base_ns : 0, TIME_DIGITS);
}

void line_add_cpu(const struct syscall_lines *lines, const struct replay_sample *sample, struct str *out)
{
	if (!lines->cpu)
		return;
	if (sample && sample->sample->has & PERF_SAMPLE_CPU)
		str_addf(out, " [%03" PRIu32 "]", sample->sample->cpu);
	else
		str_add(out, " [---]");
}

void line_add_who(const struct syscall_lines *lines, const struct thread *thread, struct str *out)
{
	const char *comm = session_comm(lines->session, thread->comm);

	if (!lines->no_comm) {
		str_add_printable(out, comm, strlen(comm));
		str_addc(out, '/');
	}
	line_add_signed(out, thread->tid);
	str_addc(out, ' ');
}

void line_add_task(const struct syscall_lines *lines, int64_t tid, struct str *out)
{
	const struct thread *thread =
		tid > 0 && tid <= INT32_MAX ? replay_find_thread(&lines->session->replay, (int32_t)tid) : NULL;
	const char *comm = thread && thread->comm_known ? session_comm(lines->session, thread->comm) : NULL;

	if (!comm)
		return;
	str_add(out, " (");
	str_add_printable(out, comm, strlen(comm));
	str_addc(out, ')');
}

void syscall_line_add(const struct syscall_lines *lines, const struct syscall_call *call, struct str *out)
{
	size_t start;

	if (call->state == CALL_CONTINUED)
		str_add(out, "         ?");
	else
		line_add_when(lines, call->begun_ns, out);
	line_add_cpu(lines, call->exit, out);
	if (call->state == CALL_WHOLE) {
		str_add(out, " (");
		add_ms(out, call->ended_ns - call->begun_ns, DURATION_DIGITS);
		str_add(out, " ms): ");
	} else {
		str_add(out, " (         ): ");
	}
	line_add_who(lines, call->thread->thread, out);
	start = out->len;
	add_call(lines, call, out);
	str_pad(out, ' ', out->len - start < RESULT_COLUMN ? RESULT_COLUMN - (out->len - start) : 1);
	if (call->state == CALL_UNFINISHED) {
		str_add(out, "...");
	} else {
		str_add(out, "= ");
		if (call->state == CALL_NO_RETURN)
			str_addc(out, '?');
		else
			add_result(lines, call, out);
	}
	str_addc(out, '\n');
	if (lines->stacks && call->exit)
		syscall_line_add_stack(lines, call->exit, out);
}

void syscall_line_add_lost(const struct syscall_lines *lines, uint64_t where_ns, uint64_t n, struct str *out)
{
	if (where_ns)
		line_add_when(lines, where_ns, out);
	else
		str_add(out, "         ?");
	str_addf(out, " (         ): LOST %" PRIu64 " events\n", n);
}

/* ---- JSON ---- */

void line_add_json_time(struct str *out, uint64_t ns)
{
	str_addf(out, "\"time\":%" PRIu64 ".%09" PRIu64, ns / NS_PER_S, ns % NS_PER_S);
}

void line_add_json_who(const struct syscall_lines *lines, const struct thread *thread, struct str *out)
{
	str_add(out, ",\"comm\":");
	str_add_json(out, session_comm(lines->session, thread->comm));
	str_addf(out, ",\"pid\":%" PRId32 ",\"tid\":%" PRId32, thread->pid, thread->tid);
}

/* Backslashes before the quotes and backslashes from there on: all else is printable already. */
static void escape_from(struct str *out, size_t start)
{
	const size_t len = out->len;
	size_t n = 0, to;

	for (size_t i = start; i < len; i++)
		n += out->s[i] == '"' || out->s[i] == '\\';
	str_pad(out, ' ', n);
	to = out->len;
	for (size_t i = len; to > i; ) {
		char c = out->s[--i];

		out->s[--to] = c;
		if (c == '"' || c == '\\')
			out->s[--to] = '\\';
	}
}

static void add_json_args(const struct syscall_lines *lines, const struct syscall_call *call, struct str *out)
{
	const struct syscall_row *row = call->row;

	str_add(out, ",\"args\":{");
	for (size_t i = 0; i < row->n_args; i++) {
		size_t start;

		str_addf(out, "%s\"%.*s\":\"", i ? "," : "", row->args[i].len, row->args[i].name);
		start = out->len;
		add_argument(lines, call, i, out);
		escape_from(out, start);
		str_addc(out, '"');
	}
	str_add(out, "},\"values\":[");
	for (size_t i = 0; i < row->n_args; i++) {
		str_add(out, i ? ",\"" : "\"");
		line_add_hex(out, call->args[i]);
		str_addc(out, '"');
	}
	str_addc(out, ']');
}

void syscall_json_add(const struct syscall_lines *lines, const struct syscall_call *call, struct str *out)
{
	static const char *const states[] = {
		[CALL_WHOLE] = "whole", [CALL_CONTINUED] = "continued", [CALL_UNFINISHED] = "unfinished",
		[CALL_NO_RETURN] = "no return",
	};
	const struct thread *thread = call->thread->thread;
	const bool begun = call->state != CALL_CONTINUED;
	const bool ended = call->state == CALL_WHOLE || call->state == CALL_CONTINUED;

	str_addc(out, '{');
	line_add_json_time(out, begun ? call->begun_ns : call->ended_ns);
	if (call->state == CALL_WHOLE)
		str_addf(out, ",\"duration_ns\":%" PRIu64, call->ended_ns - call->begun_ns);
	line_add_json_who(lines, thread, out);
	str_addf(out, ",\"state\":\"%s\",\"call\":", states[call->state]);
	str_add(out, call->row == &lines->table->v[0] ? "null" : "\"");
	if (call->row != &lines->table->v[0])
		str_addf(out, "%s\"", call->row->name);
	str_addf(out, ",\"number\":%" PRId64 "%s", call->number, call->abi_32 ? ",\"mode\":\"32-bit\"" : "");
	if (begun)
		add_json_args(lines, call, out);
	if (ended)
		str_addf(out, ",\"return\":%" PRId64, call->returned);
	if (syscall_failed(call)) {
		str_add(out, ",\"error\":\"");
		if (!syscall_error_add(lines->table->words, (int)-call->returned, false, out))
			str_addf(out, "errno %d", (int)-call->returned);
		str_addc(out, '"');
	}
	if (lines->stacks && call->exit)
		syscall_json_add_stack(lines, call->exit, out);
	str_add(out, "}\n");
}

void syscall_json_add_lost(uint64_t where_ns, uint64_t n, struct str *out)
{
	str_addc(out, '{');
	line_add_json_time(out, where_ns);
	str_addf(out, ",\"lost\":%" PRIu64 "}\n", n);
}
