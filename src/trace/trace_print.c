/*
 * A print format as pieces: text as it stands, and one piece for each %, with its arguments.
 *
 *	"prev_comm=%s prev_pid=%d", REC->prev_comm, REC->prev_pid
 *	-> "prev_comm=", %s of a field, " prev_pid=", %d of a field
 *
 * What the kernel's %p can show beyond printf(3) is in Documentation/core-api/printk-formats.rst of the kernel.
 */
#include "trace/trace_internal.h"

#include <ctype.h>

enum {
	PIECES_MAX = 1024,
	WIDTH_MAX = 256, /* the kernel's formats have two digits at most */
};

struct print_parser {
	struct trace_parser expressions;
	const char *at, *end; /* of the text */
	struct trace_piece *pieces;
	size_t n;
};

/* ---- text ---- */

static char unescape(char c)
{
	return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
}

/* Up to the next conversion: what is escaped, and %%, as they are meant. */
static bool parse_text(struct print_parser *p)
{
	char *text = arena_alloc(p->expressions.arena, (size_t)(p->end - p->at) + 1), *to = text;

	while (p->at < p->end && (*p->at != '%' || (p->end - p->at > 1 && p->at[1] == '%'))) {
		if (*p->at == '\\' && p->end - p->at > 1)
			*to++ = unescape(*++p->at);
		else
			*to++ = *p->at;
		p->at += *p->at == '%' ? 2 : 1;
	}
	if (p->n == PIECES_MAX)
		return false;
	p->pieces[p->n++] = (struct trace_piece){ .text = text, .len = (size_t)(to - text) };
	return true;
}

/* ---- a conversion ---- */

static bool takes_char(struct print_parser *p, char c)
{
	if (p->at == p->end || *p->at != c)
		return false;
	p->at++;
	return true;
}

static void parse_flags(struct print_parser *p, struct trace_spec *spec)
{
	for (; p->at < p->end; p->at++) {
		if (*p->at == '-')
			spec->left = true;
		else if (*p->at == '+')
			spec->plus = true;
		else if (*p->at == ' ')
			spec->blank = true;
		else if (*p->at == '0')
			spec->zero = true;
		else if (*p->at == '#')
			spec->alternate = true;
		else
			break;
	}
}

/* The next argument; NULL: there is none, or it is not understood. */
static const struct trace_node *next_argument(struct print_parser *p)
{
	return trace_takes(&p->expressions, ',') ? trace_parse_expression(&p->expressions) : NULL;
}

/* Digits, or a '*' for an argument. */
static bool parse_width(struct print_parser *p, int *width, const struct trace_node **arg)
{
	if (takes_char(p, '*')) {
		*arg = next_argument(p);
		return *arg;
	}
	for (; p->at < p->end && isdigit((unsigned char)*p->at); p->at++) {
		*width = (*width < 0 ? 0 : *width) * 10 + (*p->at - '0');
		if (*width > WIDTH_MAX)
			return false;
	}
	return true;
}

static void parse_length(struct print_parser *p, struct trace_spec *spec)
{
	unsigned longs = 0, halves = 0;
	bool size = false;

	for (; p->at < p->end && *p->at && strchr("hlLqzZt", *p->at); p->at++) {
		longs += *p->at == 'l' ? 1 : *p->at == 'L' || *p->at == 'q' ? 2 : 0;
		halves += *p->at == 'h';
		size |= strchr("zZt", *p->at) != NULL;
	}
	spec->bytes = 4;
	if (longs > 1)
		spec->bytes = 8;
	else if (longs || size)
		spec->bytes = (uint8_t)p->expressions.long_bytes;
	else if (halves)
		spec->bytes = halves > 1 ? 1 : 2;
}

/*
 * What %p can have behind it. The letter is replaced where another means the same; what is not here is text
 * that follows an address, as perf has it.
 */
static const struct pointer_kind {
	const char *letters; /* all of them */
	char pointer; /* of the spec */
	const char *options; /* letters that may follow */
	bool of_bytes; /* it shows bytes of the sample, not a value */
} pointer_kinds[] = {
	{ "I4", '4', "hnbl", true }, { "i4", '4', "hnbl", true }, { "I6", '6', "c", true },
	{ "i6", '6', "c", true },    { "IS", 'A', "pfschnbl", true }, { "iS", 'A', "pfschnbl", true },
	{ "S", 'S', "", false },     { "F", 'S', "", false },     { "s", 's', "", false },
	{ "f", 's', "", false },     { "M", 'M', "FR", true },    { "m", 'm', "R", true },
	{ "U", 'U', "bBlL", true },  { "h", 'h', "CDN", true },   { "b", 'b', "l", true },
};

/* Behind the p. */
static const struct pointer_kind *parse_pointer(struct print_parser *p, struct trace_spec *spec)
{
	for (size_t i = 0; i < ARRAY_SIZE(pointer_kinds); i++) {
		const struct pointer_kind *kind = &pointer_kinds[i];
		size_t len = strlen(kind->letters), n = 0;

		if ((size_t)(p->end - p->at) < len || memcmp(p->at, kind->letters, len) != 0)
			continue;
		p->at += len;
		spec->pointer = kind->pointer;
		if (kind->letters[0] == 'i')
			spec->options[n++] = 'i';
		while (p->at < p->end && *p->at && strchr(kind->options, *p->at) && n < sizeof(spec->options) - 1)
			spec->options[n++] = *p->at++;
		return kind;
	}
	return NULL;
}

static bool is_place(const struct trace_node *node)
{
	while (node->kind == TRACE_CAST)
		node = node->a;
	return node->kind == TRACE_FIELD || node->kind == TRACE_DYNAMIC;
}

/* At a '%'. */
static bool parse_conversion(struct print_parser *p)
{
	struct trace_piece piece = { .spec = { .width = -1, .precision = -1 } };
	const struct pointer_kind *kind = NULL;

	p->at++;
	parse_flags(p, &piece.spec);
	if (!parse_width(p, &piece.spec.width, &piece.width))
		return false;
	if (takes_char(p, '.')) {
		piece.spec.precision = 0;
		if (!parse_width(p, &piece.spec.precision, &piece.precision))
			return false;
	}
	parse_length(p, &piece.spec);
	if (p->at == p->end || !*p->at || !strchr("cdiuxXops", *p->at))
		return false;
	piece.spec.conversion = *p->at++;
	if (piece.spec.conversion == 'i')
		piece.spec.conversion = 'd';
	if (piece.spec.conversion == 'p')
		kind = parse_pointer(p, &piece.spec);
	piece.arg = next_argument(p);
	if (!piece.arg || p->n == PIECES_MAX || (kind && kind->of_bytes && !is_place(piece.arg)))
		return false;
	p->pieces[p->n++] = piece;
	return true;
}

bool trace_print_parse(struct arena *arena, const struct trace_format *format, unsigned long_bytes,
		       struct trace_print *print)
{
	struct trace_piece pieces[PIECES_MAX];
	struct print_parser p = {
		.pieces = pieces,
		.expressions = { .arena = arena, .format = format, .long_bytes = long_bytes },
	};
	struct trace_parser *parser = &p.expressions;

	if (!format->print_len)
		return false;
	parser->lexer = (struct trace_lexer){ arena, format->print, format->print + format->print_len, long_bytes };
	trace_next(parser);
	if (parser->token.kind != TRACE_TOKEN_STRING)
		return false;
	p.at = parser->token.text;
	p.end = p.at + parser->token.len;
	trace_next(parser);
	while (p.at < p.end)
		if (*p.at == '%' && p.end - p.at > 1 && p.at[1] != '%' ? !parse_conversion(&p) : !parse_text(&p))
			return false;
	/* What more there is, nothing shows; it must be understood all the same. */
	while (trace_takes(parser, ','))
		if (!trace_parse_expression(parser))
			return false;
	if (parser->token.kind != TRACE_TOKEN_END)
		return false;
	print->pieces = arena_copy(arena, pieces, p.n * sizeof(*pieces));
	print->n = p.n;
	return true;
}
