/* SPDX-License-Identifier: MIT */
/*
 * fmt_types: types of data as text, in lines of perf's shape, and two kinds more: bytes that no member has, and where
 * a cache line begins, counted from where the type does.
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

struct type_page {
	const struct type_use *use;
	const struct annotation_look *look;
	struct output *output;
	unsigned rows; /* that are printed */
	uint64_t next_line; /* where the next cache line begins that is not said yet */
};

static void add_value(struct type_page *page, uint64_t offset, uint64_t bytes)
{
	struct type_samples sum = type_use_sum(page->use, offset, bytes);
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

/* A line up to what stands in it. */
static void begin_row(struct type_page *page, uint64_t offset, uint64_t bytes, unsigned depth)
{
	add_value(page, offset, bytes);
	str_addf(&page->output->text, " %#10llx %#10llx  ", (unsigned long long)offset, (unsigned long long)bytes);
	str_pad(&page->output->text, ' ', (size_t)INDENT * depth);
	page->rows++;
}

static void begin_empty(struct type_page *page, unsigned depth)
{
	str_pad(&page->output->text, ' ', VALUE_COLUMNS + 24 + (size_t)INDENT * depth);
	page->rows++;
}

static void add_line(struct type_page *page, uint64_t offset, unsigned depth)
{
	if (offset < page->next_line || page->use->type->bytes <= CACHE_LINE_BYTES)
		return;
	begin_empty(page, depth);
	str_addf(&page->output->text, "-- cache line %llu --\n", (unsigned long long)(offset / CACHE_LINE_BYTES));
	page->next_line = (offset / CACHE_LINE_BYTES + 1) * CACHE_LINE_BYTES;
}

static void add_hole(struct type_page *page, uint64_t start, uint64_t end, uint64_t base, unsigned depth)
{
	if (start >= end)
		return;
	begin_row(page, base + start, end - start, depth);
	str_add(&page->output->text, "(hole)\n");
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
	const char *name = member && member->name ? member->name : "";
	struct str *out = &page->output->text;
	const struct data_member *ignored;
	bool opens = depth < DATA_DEPTH_MAX && data_type_members(type, &ignored);

	begin_row(page, base, member ? member_bytes(member) : type->bytes, depth);
	str_addf(out, "%s\t%s", type->name, name);
	if (member && member->bits)
		str_addf(out, ":%u", member->bits);
	str_add(out, opens ? " {\n" : ";\n");
	output_step(page->output);
	if (!opens)
		return;
	add_members(page, type, base, depth + 1);
	begin_empty(page, depth);
	str_add(out, "};\n");
}

void type_use_print(const struct type_use *use, const char *event, const struct annotation_look *look,
		    struct output *output)
{
	static const char *const heads[] = {
		[ANNOTATION_PERCENT] = "Percent", [ANNOTATION_PERIOD] = "Period", [ANNOTATION_SAMPLES] = "Samples"
	};
	struct type_page page = { .use = use, .look = look, .output = output, .next_line = CACHE_LINE_BYTES };
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
