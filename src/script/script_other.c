/*
 * script_other: the records between the samples (--show-task-events and its kin), each on a line that
 * begins like a sample's.
 */
#include "script/script_internal.h"

/* Which switch shows which record. To add one: a row, a field of struct script_options, its option. */
static const struct {
	uint32_t type;
	size_t shown; /* offset of the bool in struct script_options */
} kinds[] = {
#define SHOWN(type, option) { type, offsetof(struct script_options, option) }
	SHOWN(RECORD_FORK, show_tasks),
	SHOWN(RECORD_COMM, show_tasks),
	SHOWN(RECORD_EXIT, show_tasks),
	SHOWN(RECORD_MMAP, show_mmaps),
	SHOWN(RECORD_MMAP2, show_mmaps),
	SHOWN(RECORD_SWITCH, show_switches),
	SHOWN(RECORD_SWITCH_CPU_WIDE, show_switches),
	SHOWN(RECORD_LOST, show_lost),
	SHOWN(RECORD_LOST_SAMPLES, show_lost),
	SHOWN(RECORD_NAMESPACES, show_namespaces),
	SHOWN(RECORD_CGROUP, show_cgroups),
	SHOWN(RECORD_KSYMBOL, show_bpf),
	SHOWN(RECORD_BPF_EVENT, show_bpf),
	SHOWN(RECORD_TEXT_POKE, show_text_poke),
};

bool script_shows_others(const struct script_options *options)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (*(const bool *)((const char *)options + kinds[i].shown))
			return true;
	return false;
}

static bool is_shown(const struct script_options *options, uint32_t type)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].type == type)
			return *(const bool *)((const char *)options + kinds[i].shown);
	return false;
}

/* As the lines of its event's samples; a record of no event is like the first one's. */
static const struct script_event *event_of(const struct script *script, const struct record_body *body)
{
	size_t i = body->event ? body->event->index : 0;

	return i < script->n_events ? &script->events[i] : NULL;
}

void script_other_record(struct script *script, const struct record *record, const struct record_body *body,
			 const struct thread *thread)
{
	const struct script_event *event = event_of(script, body);
	struct script_start start = {
		.thread = thread,
		.pid = (int32_t)body->id.pid,
		.tid = (int32_t)body->id.tid,
		.cpu = body->id.cpu,
		.time_ns = body->id.time_ns,
		.has = body->id.has,
		.misc = record->misc,
		.type = record->type,
	};

	if (!event || !is_shown(&script->options, record->type))
		return;
	if (script->options.json) {
		script_json_record(script, &start, body);
		return;
	}
	script_add_start(script, event, &start);
	record_print(body, &script->output->text);
	str_addc(&script->output->text, '\n');
}
