/* SPDX-License-Identifier: MIT */
/*
 * breakpoint: mem:ADDR[/LEN][:rwx], the CPU's debug registers as counters.
 *
 * Data (r, w) or execution (x) can be watched, not both by one. Without letters it is rw; without a
 * length 4 bytes, and for x a long, which is what the kernel wants there. Which of the valid
 * forms a CPU has, the kernel says when the event is opened.
 *
 * Source: perf_event_open(2), include/uapi/linux/hw_breakpoint.h.
 */
#include "event/source.h"

#include <ctype.h>
#include <errno.h>
#include <linux/hw_breakpoint.h>

static const struct access {
	char letter;
	uint32_t bit;
} accesses[] = {
	{ 'r', HW_BREAKPOINT_R },
	{ 'w', HW_BREAKPOINT_W },
	{ 'x', HW_BREAKPOINT_X },
};

static const uint64_t data_lengths[] = { HW_BREAKPOINT_LEN_1, HW_BREAKPOINT_LEN_2,
					 HW_BREAKPOINT_LEN_4, HW_BREAKPOINT_LEN_8 };

/* Decimal, or hexadecimal with 0x; a leading 0 is not octal. */
static int read_address(const char *text, uint64_t *out)
{
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return isxdigit((unsigned char)text[2]) ? parse_u64(text + 2, 16, out) : -EINVAL;
	return isdigit((unsigned char)text[0]) ? parse_u64(text, 10, out) : -EINVAL;
}

static int parse_address(struct event_parse *p, const struct spec_event *spec, __u64 *out)
{
	uint64_t addr;
	int ret = read_address(spec->word, &addr);

	if (ret == -ERANGE)
		return spec_fail(p->error, ret, spec->word_pos, "%s has more than 64 bits",
				 spec->word);
	if (ret && !p->error->code)
		str_add(&p->error->hint, "an address is decimal, or hexadecimal with 0x: "
					 "mem:0x401000:x");
	if (ret)
		return spec_fail(p->error, ret, spec->word_pos, "'%s' is not an address",
				 spec->word);
	*out = addr;
	return 0;
}

static int parse_access(struct event_parse *p, const struct spec_event *spec, __u32 *out)
{
	const char *letters = spec->access;
	uint32_t type = 0;

	if (!letters || !*letters) {
		*out = HW_BREAKPOINT_RW;
		return 0;
	}
	for (size_t at = 0; letters[at]; at++) {
		size_t i = 0;

		while (i < ARRAY_SIZE(accesses) && accesses[i].letter != letters[at])
			i++;
		if (i == ARRAY_SIZE(accesses))
			return spec_fail(p->error, -EINVAL, spec->access_pos + at,
					 "unknown kind of access '%c': r, w and x are known",
					 letters[at]);
		if (type & accesses[i].bit)
			return spec_fail(p->error, -EINVAL, spec->access_pos + at,
					 "'%c' stands here twice", letters[at]);
		type |= accesses[i].bit;
	}
	if ((type & HW_BREAKPOINT_X) && type != HW_BREAKPOINT_X)
		return spec_fail(p->error, -EINVAL, spec->access_pos,
				 "one breakpoint watches either data (r, w) or execution (x)");
	*out = type;
	return 0;
}

static int parse_length(struct event_parse *p, const struct spec_event *spec, uint32_t type,
			__u64 *out)
{
	bool execute = type == HW_BREAKPOINT_X;
	uint64_t len = 0;

	if (!spec->second) {
		*out = execute ? sizeof(long) : HW_BREAKPOINT_LEN_4;
		return 0;
	}
	if (read_address(spec->second, &len))
		return spec_fail(p->error, -EINVAL, spec->second_pos,
				 "'%s' is not a length in bytes", spec->second);
	*out = len;
	if (execute && len != sizeof(long))
		return spec_fail(p->error, -EINVAL, spec->second_pos,
				 "an x breakpoint has the length of a long, %zu bytes",
				 sizeof(long));
	for (size_t i = 0; i < ARRAY_SIZE(data_lengths); i++)
		if (data_lengths[i] == len)
			return 0;
	return spec_fail(p->error, -EINVAL, spec->second_pos,
			 "a breakpoint watches 1, 2, 4 or 8 bytes, not %s", spec->second);
}

static int breakpoint_lookup(struct event_parse *p, const struct spec_event *spec)
{
	struct perf_event_attr *attr;
	struct event *event;
	int ret;

	if (spec->kind != SPEC_MEM)
		return 0;
	event = event_new(p, spec, &breakpoint_source);
	attr = &event->attr;
	attr->type = PERF_TYPE_BREAKPOINT;
	ret = parse_address(p, spec, &attr->bp_addr);
	if (!ret)
		ret = parse_access(p, spec, &attr->bp_type);
	if (!ret)
		ret = parse_length(p, spec, attr->bp_type, &attr->bp_len);
	if (!ret)
		ret = event_apply_terms(p, spec, event, NULL, NULL, NULL);
	return ret ? ret : 1;
}

static int breakpoint_list(const struct host_paths *host, event_info_fn fn, void *data,
			   struct str *err)
{
	const struct event_info info = {
		.topic = breakpoint_source.topic.name,
		.name = "mem:ADDR[/LEN][:rwx]",
		.alias = "",
		.desc = "hardware breakpoint: accesses to LEN bytes (1, 2, 4, 8) at ADDR; x: "
			"execution",
		.pmu_name = "breakpoint",
		.unit = "",
		.scale = 1.0,
	};

	(void)host;
	(void)err;
	return fn(&info, data);
}

const struct event_source breakpoint_source = {
	.topic = { "breakpoint", "Breakpoints", "Hardware breakpoint", false },
	.lookup = breakpoint_lookup,
	.list = breakpoint_list,
};
