/* SPDX-License-Identifier: MIT */
/*
 * fmt_types: types of data, row by row, as text or as JSON. The text has lines of perf's shape, and two kinds more:
 * bytes that no member has, and where a cache line begins, counted from where the type does.
 *
 *	 Percent     offset       size  field
 *	  100.00          0       0x58  struct node	 {
 *	   36.38        0x8        0x8      long int	key;
 *	    0.00       0x14        0x4      (hole)
 *	                                    -- cache line 1 --
 *	                                };
 *
 * A file's types may be as deep and as wide as it likes: both end.
 */
#include "fmt/fmt_internal.h"
#include "types/types.h"

enum {
	VALUE_COLUMNS = 8, /* with the blank before it */
	INDENT = 4,
	ROWS_MAX = 20000, /* of one type */
	CACHE_LINE_BYTES = 64,
};

enum member_row_kind {
	ROW_ONE, /* a type without members, or the member of another that is one */
	ROW_OPEN, /* one with members, whose rows follow, and then ROW_CLOSE */
	ROW_CLOSE,
	ROW_HOLE,
	ROW_CACHE_LINE, /* it begins here */
};
struct member_row {
	enum member_row_kind kind;
	uint64_t offset, bytes; /* of the outermost type; of ROW_CLOSE none */
	unsigned depth;
	const struct data_type *type; /* of ROW_ONE, ROW_OPEN */
	const struct data_member *member; /* NULL: the outermost type itself */
};
struct type_page {
	void (*add_row)(struct type_page *page, const struct member_row *row);
	const struct type_use *use;
	const struct annotation_look *look;
	struct output *output;
	unsigned rows; /* that are printed */
	uint64_t next_line; /* where the next cache line begins that is not said yet */
	bool follows; /* in JSON: something stands before the next row in its list */
};

static void add_row(struct type_page *page, const struct member_row *row)
{
	page->add_row(page, row);
	page->rows++;
	output_step(page->output);
}

/* ---- the rows of a type ---- */

static void add_line(struct type_page *page, uint64_t offset, unsigned depth)
{
	if (offset < page->next_line || page->use->type->bytes <= CACHE_LINE_BYTES)
		return;
	add_row(page, &(struct member_row){ .kind = ROW_CACHE_LINE, .offset = offset, .depth = depth });
	page->next_line = (offset / CACHE_LINE_BYTES + 1) * CACHE_LINE_BYTES;
}

static void add_hole(struct type_page *page, uint64_t start, uint64_t end, uint64_t base, unsigned depth)
{
	if (start < end)
		add_row(page, &(struct member_row){ ROW_HOLE, base + start, end - start, depth, NULL, NULL });
}

static uint64_t member_bytes(const struct data_member *member)
{
	return member->bits ? (member->first_bit + member->bits + 7u) / 8 : member->type->bytes;
}

static void add_type(struct type_page *page, const struct data_type *type, const struct data_member *member,
		     uint64_t base, unsigned depth);

/* Members, and the holes between them; of a union all begin at its start. */
static void add_members(struct type_page *page, const struct data_type *type, uint64_t base, unsigned depth)
{
	const struct data_member *members;
	size_t n = data_type_members(type, &members);
	uint64_t end = 0;

	for (size_t i = 0; i < n && page->rows < ROWS_MAX; i++) {
		uint64_t offset = members[i].offset, bytes = member_bytes(&members[i]);

		/* A damaged file says anything of members: those outside have no place to be shown at. */
		if (offset > type->bytes || bytes > type->bytes - offset)
			continue;
		if (type->kind == DATA_RECORD)
			add_hole(page, end, offset, base, depth);
		add_line(page, base + offset, depth);
		add_type(page, members[i].type, &members[i], base + offset, depth);
		if (offset + bytes > end)
			end = offset + bytes;
	}
	if (type->kind == DATA_RECORD && n)
		add_hole(page, end, type->bytes, base, depth);
}

static void add_type(struct type_page *page, const struct data_type *type, const struct data_member *member,
		     uint64_t base, unsigned depth)
{
	const struct data_member *ignored;
	bool opens = depth < DATA_DEPTH_MAX && data_type_members(type, &ignored);
	uint64_t bytes = member ? member_bytes(member) : type->bytes;

	add_row(page, &(struct member_row){ opens ? ROW_OPEN : ROW_ONE, base, bytes, depth, type, member });
	if (!opens)
		return;
	add_members(page, type, base, depth + 1);
	add_row(page, &(struct member_row){ .kind = ROW_CLOSE, .depth = depth });
}

/* ---- as text ---- */

static void add_value(struct type_page *page, const struct member_row *row)
{
	struct type_samples sum = type_use_sum(page->use, row->offset, row->bytes);
	uint64_t all = page->use->total.period;
	double percent = all ? 100.0 * (double)sum.period / (double)all : 0;
	struct str text = STR_INIT;

	if (page->look->value == ANNOTATION_PERCENT)
		str_addf(&text, " %7.2f", percent);
	else
		str_addf(&text, " %7llu",
			 (unsigned long long)(page->look->value == ANNOTATION_PERIOD ? sum.period : sum.n_samples));
	fmt_add_colored(page->output, percent, text.s);
	str_release(&text);
}

static void add_text_row(struct type_page *page, const struct member_row *row)
{
	struct str *out = &page->output->text;

	if (row->kind == ROW_CLOSE || row->kind == ROW_CACHE_LINE) {
		str_pad(out, ' ', VALUE_COLUMNS + 24);
	} else {
		add_value(page, row);
		str_addf(out, " %#10llx %#10llx  ", (unsigned long long)row->offset, (unsigned long long)row->bytes);
	}
	str_pad(out, ' ', (size_t)INDENT * row->depth);
	switch (row->kind) {
	case ROW_CLOSE:
		str_add(out, "};\n");
		break;
	case ROW_CACHE_LINE:
		str_addf(out, "-- cache line %llu --\n", (unsigned long long)(row->offset / CACHE_LINE_BYTES));
		break;
	case ROW_HOLE:
		str_add(out, "(hole)\n");
		break;
	case ROW_ONE:
	case ROW_OPEN:
		str_addf(out, "%s\t%s", row->type->name, row->member && row->member->name ? row->member->name : "");
		if (row->member && row->member->bits)
			str_addf(out, ":%u", row->member->bits);
		str_add(out, row->kind == ROW_OPEN ? " {\n" : ";\n");
		break;
	}
}

static void print_type(const struct type_use *use, const char *event, const struct annotation_look *look,
		       struct output *output)
{
	static const char *const heads[] = {
		[ANNOTATION_PERCENT] = "Percent", [ANNOTATION_PERIOD] = "Period", [ANNOTATION_SAMPLES] = "Samples"
	};
	struct type_page page = { add_text_row, use, look, output, .next_line = CACHE_LINE_BYTES };
	struct str *out = &output->text;

	str_addf(out, "Annotate type: '%s' in ", use->type->name);
	str_add_printable(out, use->dso->path, strlen(use->dso->path));
	if (event)
		str_addf(out, " for %s", event);
	str_addf(out, " (%llu samples):\n", (unsigned long long)use->total.n_samples);
	str_pad(out, '=', 76);
	str_addf(out, "\n %7s     offset       size  field\n", heads[look->value]);
	add_type(&page, use->type, NULL, 0, 0);
	if (page.rows >= ROWS_MAX)
		str_addf(out, "the first %u lines of the type\n", page.rows);
	str_addc(out, '\n');
}

void type_uses_print(const struct type_uses *uses, const char *event, const struct annotation_look *look,
		     struct output *output)
{
	for (size_t i = 0; i < uses->n && !output->failed; i++) {
		print_type(&uses->v[i], event, look, output);
		output_step(output);
	}
}

/* ---- what is known of how many instructions ---- */

static double share(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void add_totals(const char *what, uint64_t with, uint64_t without, struct str *out)
{
	str_addf(out, "Annotate %s stats\ntotal %llu, ok %llu (%.1f%%), bad %llu (%.1f%%)\n", what,
		 (unsigned long long)(with + without), (unsigned long long)with, share(with, with + without),
		 (unsigned long long)without, share(without, with + without));
}

static void add_rule(struct str *out)
{
	str_pad(out, '-', 59);
	str_addc(out, '\n');
}

void type_uses_print_states(const struct type_uses *uses, struct output *output)
{
	struct str *out = &output->text;
	uint64_t with = 0, without = 0;

	for (size_t state = 0; state < TYPE_STATES; state++)
		*(type_state_text((enum type_state)state) ? &without : &with) += uses->places[state];
	add_totals("data type", with, without, out);
	add_rule(out);
	for (size_t state = 0; state < TYPE_STATES; state++)
		if (uses->places[state] && type_state_word((enum type_state)state))
			str_addf(out, "%10llu : %s\n", (unsigned long long)uses->places[state],
				 type_state_word((enum type_state)state));
	str_addc(out, '\n');
}

void type_uses_print_instructions(const struct type_uses *uses, struct output *output)
{
	struct str *out = &output->text;
	uint64_t with = 0, without = 0;

	for (size_t i = 0; i < uses->n_instructions; i++) {
		with += uses->instructions[i].with;
		without += uses->instructions[i].without;
	}
	add_totals("instruction", with, without, out);
	str_add(out, "\n  Name/opcode         :  Good   Bad\n");
	add_rule(out);
	for (size_t i = 0; i < uses->n_instructions; i++) {
		const struct type_instruction *row = &uses->instructions[i];

		str_add(out, "  ");
		str_add_printable(out, row->name, strlen(row->name));
		str_pad(out, ' ', strlen(row->name) < 20 ? 20 - strlen(row->name) : 0);
		str_addf(out, ": %5llu %5llu\n", (unsigned long long)row->with, (unsigned long long)row->without);
	}
	str_addc(out, '\n');
}

/* ---- all of it as JSON ----
 *
 *	{ "format": "pstat annotate data-type", "format_version": 1, "event": text,
 *	  "known": sampled instructions that a type is known of, "unknown": { reason: such instructions, ... },
 *	  "instructions": [ { "name", "known", "unknown" }, ... ]       where they were asked for
 *	  "types": [ { "file": text, row of the type }, ... ],          heaviest first
 *	  "cut": types with more rows than are printed of one }
 *
 *	row: "type": text, "name": text of a member that has one, "bits": of a bit field, with "first_bit";
 *	     or "hole": true
 *	     "offset", "size", "samples", "period"
 *	     "members": [ { row }, ... ]                                of a type that has some
 */

static void add_json_row(struct type_page *page, const struct member_row *row)
{
	struct type_samples sum = type_use_sum(page->use, row->offset, row->bytes);
	struct str *out = &page->output->text;

	if (row->kind == ROW_CACHE_LINE)
		return;
	if (row->kind == ROW_CLOSE) {
		str_add(out, "]}");
		page->follows = true;
		return;
	}
	if (row->member || !row->type)
		str_add(out, page->follows ? ", {" : "{");
	if (row->type) {
		str_add(out, "\"type\": ");
		str_add_json(out, row->type->name);
	} else {
		str_add(out, "\"hole\": true");
	}
	if (row->member && row->member->name) {
		str_add(out, ", \"name\": ");
		str_add_json(out, row->member->name);
	}
	if (row->member && row->member->bits)
		str_addf(out, ", \"bits\": %u, \"first_bit\": %u", row->member->bits, row->member->first_bit);
	str_addf(out, ", \"offset\": %llu, \"size\": %llu, \"samples\": %llu, \"period\": %llu",
		 (unsigned long long)row->offset, (unsigned long long)row->bytes, (unsigned long long)sum.n_samples,
		 (unsigned long long)sum.period);
	page->follows = row->kind != ROW_OPEN;
	str_add(out, row->kind == ROW_OPEN ? ", \"members\": [" : "}");
}

static void add_json_counts(const struct type_uses *uses, struct str *out)
{
	const char *comma = "";
	uint64_t known = 0;

	for (size_t state = 0; state < TYPE_STATES; state++)
		known += type_state_text((enum type_state)state) ? 0 : uses->places[state];
	str_addf(out,
		 ", \"known\": %llu, \"known_after_load\": %llu, \"known_by_address\": %llu, \"unknown\": {",
		 (unsigned long long)known, (unsigned long long)uses->places[TYPE_WAITED],
		 (unsigned long long)uses->places[TYPE_ADDRESSED]);
	for (size_t state = 0; state < TYPE_STATES; state++) {
		if (!uses->places[state] || !type_state_text((enum type_state)state))
			continue;
		str_add(out, comma);
		str_add_json(out, type_state_text((enum type_state)state));
		str_addf(out, ": %llu", (unsigned long long)uses->places[state]);
		comma = ", ";
	}
	str_addc(out, '}');
	for (size_t i = 0; i < uses->n_instructions; i++) {
		const struct type_instruction *row = &uses->instructions[i];

		str_add(out, i ? ", {\"name\": " : ", \"instructions\": [{\"name\": ");
		str_add_json(out, row->name);
		str_addf(out, ", \"known\": %llu, \"unknown\": %llu}%s", (unsigned long long)row->with,
			 (unsigned long long)row->without, i + 1 < uses->n_instructions ? "" : "]");
	}
}

void type_uses_print_json(const struct type_uses *uses, const char *event, struct output *output)
{
	struct str *out = &output->text;
	unsigned cut = 0;

	str_add(out, "{\"format\": \"pstat annotate data-type\", \"format_version\": 1, \"event\": ");
	str_add_json(out, event);
	add_json_counts(uses, out);
	str_add(out, ", \"types\": [");
	for (size_t i = 0; i < uses->n && !output->failed; i++) {
		struct type_page page = { add_json_row, &uses->v[i], .output = output, .next_line = UINT64_MAX };

		str_add(out, i ? ", {\"file\": " : "{\"file\": ");
		str_add_json(out, uses->v[i].dso->path);
		str_add(out, ", ");
		add_type(&page, uses->v[i].type, NULL, 0, 0);
		cut += page.rows >= ROWS_MAX;
	}
	str_addf(out, "], \"cut\": %u}\n", cut);
	output_step(output);
}
