/* SPDX-License-Identifier: MIT */
/*
 * The letters after an event or a group: which there are, and what they do to an event.
 *
 * An event's own letters come first, its group's after them. What both may say is combined letter
 * by letter: u k h are OR-ed, p adds up, a guest or host letter of the event's own wins. pinned and
 * exclusive are for leaders only, because the kernel refuses them on members (perf_event_open(2)).
 *
 * Guests: without any letter an event counts the host only (exclude_guest). As in perf, letters of
 * the event's own other than u and p lift that, unless G or H says what is wanted.
 */
#include "event/source.h"

#include <errno.h>

enum modifier_bit {
	MOD_USER = 1 << 0,
	MOD_KERNEL = 1 << 1,
	MOD_HV = 1 << 2,
	MOD_GUEST = 1 << 3,
	MOD_HOST = 1 << 4,
	MOD_IDLE = 1 << 5,
	MOD_PRECISE = 1 << 6,
	MOD_PRECISE_MAX = 1 << 7,
	MOD_PINNED = 1 << 8,
	MOD_EXCLUSIVE = 1 << 9,
	MOD_READ_GROUP = 1 << 10,
	MOD_WEAK = 1 << 11,
	MOD_BPF = 1 << 12,
	MOD_MODES = MOD_USER | MOD_KERNEL | MOD_HV,
	MOD_WHERE = MOD_GUEST | MOD_HOST,
};

enum { PRECISE_MOST = 3 };

/*
 * To add a letter: a row here, its effect in apply_common() or apply_leader(), a row in
 * tests/unit/test_event.c, a line in pstat-stat(1).
 */
static const struct modifier {
	char letter;
	const char *help;
	unsigned bit;
	unsigned most; /* how often it may stand in one word */
	const char *refused; /* why pstat knows it and still cannot do it, or NULL */
} modifiers[] = {
	{ 'u', "user mode", MOD_USER, 1, NULL },
	{ 'k', "kernel", MOD_KERNEL, 1, NULL },
	{ 'h', "hypervisor", MOD_HV, 1, NULL },
	{ 'G', "guests", MOD_GUEST, 1, NULL },
	{ 'H', "host", MOD_HOST, 1, NULL },
	{ 'I', "not while idle", MOD_IDLE, 1, NULL },
	{ 'p', "precise address; more letters, less skid", MOD_PRECISE, PRECISE_MOST, NULL },
	{ 'P', "as precise as possible", MOD_PRECISE_MAX, 1, NULL },
	{ 'D', "pinned: all the time or not at all", MOD_PINNED, 1, NULL },
	{ 'e', "exclusive: alone on the unit", MOD_EXCLUSIVE, 1, NULL },
	{ 'S', "a sample reads the whole group", MOD_READ_GROUP, 1, NULL },
	{ 'W', "weak group: apart where it does not fit", MOD_WEAK, 1, NULL },
	{ 'b', "counted by BPF", MOD_BPF, 1, NULL },
	{ 'R', "retire latency", 0, 1, "the retire latency is not a count that the kernel gives" },
};

struct modifier_set {
	unsigned bits;
	unsigned precise;
};

static const struct modifier *find_modifier(char c)
{
	for (size_t i = 0; i < ARRAY_SIZE(modifiers); i++)
		if (modifiers[i].letter == c)
			return &modifiers[i];
	return NULL;
}

char event_modifier_row(size_t i, const char **help)
{
	for (size_t k = 0; k < ARRAY_SIZE(modifiers); k++) {
		if (modifiers[k].refused || i--)
			continue;
		*help = modifiers[k].help;
		return modifiers[k].letter;
	}
	return 0;
}

bool spec_is_modifier(char c)
{
	return find_modifier(c) != NULL;
}

static int unknown_letter(struct spec_error *error, size_t pos, char letter)
{
	if (error->code)
		return error->code;
	str_add(&error->hint, "modifiers:");
	for (size_t i = 0; i < ARRAY_SIZE(modifiers); i++)
		if (!modifiers[i].refused)
			str_addf(&error->hint, " %c", modifiers[i].letter);
	return spec_fail(error, -EINVAL, pos, "unknown modifier '%c'", letter);
}

static int parse_letters(struct spec_error *error, const char *letters, size_t pos,
			 struct modifier_set *set)
{
	unsigned seen[ARRAY_SIZE(modifiers)] = { 0 };

	*set = (struct modifier_set){ .bits = 0 };
	for (size_t i = 0; letters[i]; i++) {
		const struct modifier *m = find_modifier(letters[i]);

		if (!m)
			return unknown_letter(error, pos + i, letters[i]);
		if (m->refused)
			return spec_fail(error, -EINVAL, pos + i, "modifier '%c': %s", m->letter,
					 m->refused);
		if (++seen[m - modifiers] > m->most)
			return spec_fail(error, -EINVAL, pos + i,
					 m->most == 1 ? "modifier '%c' stands here twice" :
							"more than three '%c'",
					 m->letter);
		set->bits |= m->bit;
		set->precise += m->bit == MOD_PRECISE;
	}
	return 0;
}

bool event_is_kernel_only(const struct event *event)
{
	uint64_t config = event->attr.config;

	if (event->attr.type == PERF_TYPE_TRACEPOINT || !strcmp(event->pmu_name, "kprobe"))
		return true;
	return event->attr.type == PERF_TYPE_SOFTWARE &&
	       (config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		config == PERF_COUNT_SW_CPU_MIGRATIONS || config == PERF_COUNT_SW_CGROUP_SWITCHES);
}

/* ftrace writes its own events into its buffer and nowhere else; only functions reach perf events. */
static bool is_ftraces_own(const struct event *event)
{
	return event->attr.type == PERF_TYPE_TRACEPOINT && event->tracepoint &&
	       !strncmp(event->tracepoint, "ftrace/", strlen("ftrace/")) &&
	       strcmp(event->tracepoint, "ftrace/function") != 0;
}

const char *event_nowhere(const struct event *event)
{
	if (event->has_no_cpu && event->terms.has_cpus)
		return "its unit counts on none of the CPUs of cpu=";
	if (event->has_no_cpu)
		return "its unit counts on no CPU that is online";
	if (is_ftraces_own(event))
		return "it goes to ftrace's own buffer, and is never counted";
	/* Some tracepoints fire with the registers of user mode and are counted. */
	if (event->kind == EVENT_KERNEL && event->attr.exclude_kernel &&
	    event->attr.type != PERF_TYPE_TRACEPOINT && event_is_kernel_only(event))
		return "happens in the kernel, which its modifiers leave out";
	return NULL;
}

/* u k h: the first of them excludes all three modes, each takes its own back in. */
static void apply_modes(struct event *event, unsigned bits)
{
	struct perf_event_attr *attr = &event->attr;

	if (!(bits & MOD_MODES))
		return;
	if (!event->user_excludes) {
		attr->exclude_user = 1;
		attr->exclude_kernel = 1;
		attr->exclude_hv = 1;
	}
	event->user_excludes = true;
	if (bits & MOD_USER)
		attr->exclude_user = 0;
	if (bits & MOD_KERNEL)
		attr->exclude_kernel = 0;
	if (bits & MOD_HV)
		attr->exclude_hv = 0;
}

static void apply_where(struct event *event, unsigned bits)
{
	event->attr.exclude_host = !(bits & MOD_HOST);
	event->attr.exclude_guest = !(bits & MOD_GUEST);
	event->user_guest = true;
}

/* Applies the letters that have the same effect on an event and on a group. */
static int apply_common(struct event_parse *p, const struct modifier_set *set, size_t pos,
			struct event *event)
{
	unsigned precise = event->attr.precise_ip + set->precise;

	if (precise > PRECISE_MOST)
		return spec_fail(p->error, -EINVAL, pos,
				 "more than three 'p' for '%s' together with its group's",
				 event->name);
	event->attr.precise_ip = precise & PRECISE_MOST;
	if (set->bits & MOD_IDLE)
		event->attr.exclude_idle = 1;
	event->precise_max |= (set->bits & MOD_PRECISE_MAX) != 0;
	event->read_group |= (set->bits & MOD_READ_GROUP) != 0;
	event->bpf |= (set->bits & MOD_BPF) != 0;
	return 0;
}

static void apply_leader(struct event *event, unsigned bits)
{
	if (bits & MOD_PINNED)
		event->attr.pinned = 1;
	if (bits & MOD_EXCLUSIVE)
		event->attr.exclusive = 1;
	event->weak |= (bits & MOD_WEAK) != 0;
}

int event_apply_modifiers(struct event_parse *p, const char *letters, size_t pos, struct event *event)
{
	struct modifier_set set;
	int rc;

	if (!*letters)
		return 0;
	rc = parse_letters(p->error, letters, pos, &set);
	if (rc)
		return rc;
	rc = apply_common(p, &set, pos, event);
	if (rc)
		return rc;
	apply_modes(event, set.bits);
	apply_leader(event, set.bits);
	if (set.bits & MOD_WHERE)
		apply_where(event, set.bits);
	else
		event->attr.exclude_guest = (set.bits & (MOD_USER | MOD_PRECISE)) != 0;
	return 0;
}

int event_apply_group_modifiers(struct event_parse *p, const char *letters, size_t pos, bool leader,
				struct event *event)
{
	struct modifier_set set;
	int rc = parse_letters(p->error, letters, pos, &set);

	if (!rc)
		rc = apply_common(p, &set, pos, event);
	if (rc)
		return rc;
	if ((set.bits & MOD_MODES) && !(set.bits & MOD_KERNEL) && !event->user_excludes &&
	    event_is_kernel_only(event))
		note_add(&p->list->notes, false, NULL,
			 "%s: its group's modifiers do not apply: it happens only in the kernel",
			 event->name);
	else
		apply_modes(event, set.bits);
	if (leader)
		apply_leader(event, set.bits);
	if (event->user_guest)
		return 0;
	if (set.bits & MOD_WHERE)
		apply_where(event, set.bits);
	else if (set.bits & (MOD_USER | MOD_PRECISE))
		event->attr.exclude_guest = 1;
	return 0;
}
