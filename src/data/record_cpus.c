/* SPDX-License-Identifier: MIT */
/*
 * record_cpus.c: sets of CPUs in records (CPU_MAP, EVENT_UPDATE), in three layouts:
 *
 *   list   u16 0 | u16 n | u16 cpu[n]
 *   mask   u16 1 | u16 n | u16 bytes per word | words (after 4 bytes of padding where they have 8)
 *   range  u16 2 | u8 any | u8 pad | u16 first | u16 last
 *
 * and the one record whose payload depends on a number in it, EVENT_UPDATE.
 *
 * Source: struct perf_record_cpu_map_data in tools/lib/perf/include/perf/event.h.
 */
#include "data/decode.h"

static void cpus_decode(struct cursor *c, struct record_cpus *cpus, const char **why)
{
	memset(cpus, 0, sizeof(*cpus));
	cpus->swap = c->swap;
	cpus->kind = cursor_u16(c);
	switch (cpus->kind) {
	case CPU_MAP_LIST:
		cpus->n = cursor_u16(c);
		cpus->data = cursor_bytes(c, 2ULL * cpus->n);
		break;
	case CPU_MAP_MASK:
		cpus->n = cursor_u16(c);
		cpus->word_bytes = cursor_u16(c);
		if (cpus->word_bytes != 4 && cpus->word_bytes != 8) {
			*why = "a CPU mask whose words have neither 4 nor 8 bytes";
			return;
		}
		if (cpus->word_bytes == 8)
			cursor_bytes(c, 4);
		cpus->data = cursor_bytes(c, (uint64_t)cpus->word_bytes * cpus->n);
		break;
	case CPU_MAP_RANGE:
		cpus->any_cpu = cursor_u8(c);
		cursor_u8(c);
		cpus->first = cursor_u16(c);
		cpus->last = cursor_u16(c);
		break;
	default:
		*why = "a set of CPUs of an unknown kind";
		return;
	}
	if (c->bad)
		*why = "its set of CPUs is longer than the record";
}

static bool list_get(const struct record_cpus *cpus, size_t at, int *cpu)
{
	if (at >= cpus->n)
		return false;
	*cpu = (int16_t)load_u16(cpus->data + 2 * at, cpus->swap); /* -1: any CPU */
	return true;
}

static bool mask_get(const struct record_cpus *cpus, size_t *at, int *cpu)
{
	size_t bits = cpus->word_bytes * 8u;

	for (; *at < cpus->n * bits; ++*at) {
		const uint8_t *word = cpus->data + *at / bits * cpus->word_bytes;
		uint64_t v = cpus->word_bytes == 8 ? load_u64(word, cpus->swap)
						   : load_u32(word, cpus->swap);

		if (v >> (*at % bits) & 1) {
			*cpu = (int)(*at)++;
			return true;
		}
	}
	return false;
}

static bool range_get(const struct record_cpus *cpus, size_t *at, int *cpu)
{
	size_t any = cpus->any_cpu ? 1 : 0;

	if (any && *at == 0) {
		*cpu = -1;
	} else {
		if (*at - any > (size_t)cpus->last - cpus->first || cpus->last < cpus->first)
			return false;
		*cpu = (int)(cpus->first + (*at - any));
	}
	++*at;
	return true;
}

bool record_cpus_get(const struct record_cpus *cpus, size_t *cursor, int *cpu)
{
	if (cpus->kind == CPU_MAP_LIST)
		return list_get(cpus, (*cursor)++, cpu);
	if (cpus->kind == CPU_MAP_MASK)
		return mask_get(cpus, cursor, cpu);
	return range_get(cpus, cursor, cpu);
}

static void cpus_print(const struct record_cpus *cpus, struct str *out)
{
	struct intset set = INTSET_INIT;
	size_t cursor = 0;
	int cpu;

	while (record_cpus_get(cpus, &cursor, &cpu))
		intset_add(&set, cpu);
	intset_format(&set, out);
	intset_release(&set);
}

/* Always written as a list or as the range it was: what all readers know. */
static void cpus_encode(struct str *out, size_t start, const struct record_cpus *cpus)
{
	put_u16(out, cpus->kind);
	if (cpus->kind == CPU_MAP_RANGE) {
		str_addc(out, cpus->any_cpu ? 1 : 0);
		str_addc(out, 0);
		put_u16(out, cpus->first);
		put_u16(out, cpus->last);
	} else {
		put_u16(out, cpus->n);
		if (cpus->kind == CPU_MAP_MASK) {
			put_u16(out, cpus->word_bytes);
			str_pad(out, '\0', cpus->word_bytes == 8 ? 4 : 0);
		}
		if (cpus->n)
			str_addn(out, (const char *)cpus->data,
				 (size_t)cpus->n *
					 (cpus->kind == CPU_MAP_MASK ? cpus->word_bytes : 2u));
	}
	str_pad(out, '\0', round_up(out->len - start, 8) - (out->len - start));
}

static void cpu_map_decode(struct decode_state *s, const struct record_field *f, void *at)
{
	(void)f;
	cpus_decode(&s->c, at, &s->why);
}

static void cpu_map_encode(struct str *out, size_t start, const struct record_field *f,
			   const struct record_body *body, const struct data_event *event,
			   const void *at)
{
	(void)f, (void)body, (void)event;
	cpus_encode(out, start, at);
}

static void cpu_map_print(struct str *out, const struct record_field *f,
			  const struct record_body *body, const void *at)
{
	(void)f, (void)body;
	cpus_print(at, out);
}

/* ---- EVENT_UPDATE: what follows depends on its kind, which comes first ---- */
static void update_decode(struct decode_state *s, const struct record_field *f, void *at)
{
	struct record_body *body = s->body;
	uint64_t bits;

	(void)f, (void)at;
	switch (body->update.kind) {
	case EVENT_UPDATE_UNIT:
	case EVENT_UPDATE_NAME:
		body->update.text = cursor_text(&s->c);
		if (!body->update.text)
			s->why = "its text has no end";
		break;
	case EVENT_UPDATE_SCALE:
		bits = cursor_u64(&s->c);
		memcpy(&body->update.scale, &bits, sizeof(bits));
		break;
	case EVENT_UPDATE_CPUS:
		cpus_decode(&s->c, &body->update.cpus, &s->why);
		break;
	default:
		s->why = "an update of an unknown kind";
	}
}

static void update_encode(struct str *out, size_t start, const struct record_field *f,
			  const struct record_body *body, const struct data_event *event,
			  const void *at)
{
	(void)f, (void)event, (void)at;
	switch (body->update.kind) {
	case EVENT_UPDATE_SCALE:
		str_addn(out, (const char *)&body->update.scale, sizeof(double));
		break;
	case EVENT_UPDATE_CPUS:
		cpus_encode(out, start, &body->update.cpus);
		break;
	default:
		put_text(out, start, body->update.text ? body->update.text : "", 8);
	}
}

static void update_print(struct str *out, const struct record_field *f,
			 const struct record_body *body, const void *at)
{
	(void)f, (void)at;
	switch (body->update.kind) {
	case EVENT_UPDATE_SCALE:
		str_addf(out, "\n... scale: %.17g", body->update.scale);
		break;
	case EVENT_UPDATE_CPUS:
		str_add(out, "\n... cpus:  ");
		cpus_print(&body->update.cpus, out);
		break;
	default:
		str_addf(out,
			 "\n... %s:  ", body->update.kind == EVENT_UPDATE_NAME ? "name" : "unit");
		str_add_printable(out, body->update.text, strlen(body->update.text));
	}
}

const struct field_kind field_cpus = { cpu_map_decode, cpu_map_encode, cpu_map_print };
const struct field_kind field_update = { update_decode, update_encode, update_print };
