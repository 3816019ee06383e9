/* SPDX-License-Identifier: MIT */
/*
 * call_texts.c: which calls have arguments that point somewhere, the event for the copies, and the note where there are
 * none. The programs are bpf/texts.bpf.c, the reader of the copies is syscall/texts.c.
 */
#include "cmd/call_texts.h"

#include <limits.h>
#include <string.h>

static void note_unknown(struct note_list *notes, struct str *err)
{
	char *remedy = strchr(err->s, '\n');

	if (remedy)
		*remedy++ = '\0';
	note_add(notes, false, remedy, "what pointers point at is not known: %s", err->s);
}

/*
 * One event on each CPU that has calls to be traced, whoever makes them: programs write to the CPU's, not to a task's,
 * and nothing where there is none.
 */
static int add_texts_event(struct event_list *events, const char *cpus, const struct host_paths *host, struct str *err)
{
	int code = event_list_parse(events, "bpf-output/period=1,name=" SYSCALL_TEXTS_EVENT "/", host, err);
	struct event *event = &events->v[events->n - 1];

	if (code)
		return code;
	event->terms.inherit = TERM_OFF;
	event->terms.call_graph = xstrdup("no");
	return cpus ? intset_parse(&event->cpus, cpus, INT_MAX, err) : cpus_online(host, &event->cpus);
}

/* Chooses what is copied of the arguments of these kinds; false: nothing. */
static bool choose_copies(struct bpf_texts_options *options, uint8_t kinds[SYSCALL_NUMBERS][SYSCALL_ARGS])
{
	static const uint8_t copies[KIND_WORDS] = {
		[KIND_TEXT] = BPF_COPY_TEXT, [KIND_PATH] = BPF_COPY_TEXT, [KIND_FD] = BPF_COPY_FILE,
		[KIND_DIR] = BPF_COPY_FILE, [KIND_BYTES] = BPF_COPY_BYTES, [KIND_FILLED] = BPF_COPY_FILLED,
		[KIND_ADDRESS] = BPF_COPY_ADDRESS, [KIND_PEER] = BPF_COPY_PEER, [KIND_STRINGS] = BPF_COPY_STRINGS,
		[KIND_COUNT] = BPF_COPY_COUNT, [KIND_VECTOR] = BPF_COPY_VECTOR,
		[KIND_VECTOR_FILLED] = BPF_COPY_VECTOR_FILLED, [KIND_MESSAGE] = BPF_COPY_MESSAGE,
		[KIND_MESSAGE_FILLED] = BPF_COPY_MESSAGE_FILLED,
	};
	bool any = false;

	for (size_t number = 0; number < SYSCALL_NUMBERS; number++)
		for (size_t i = 0; i < SYSCALL_ARGS; i++) {
			const uint8_t kind = kinds[number][i], copy = kind < KIND_WORDS ? copies[kind] : 0;
			const bool is_buffer = copy == BPF_COPY_BYTES || copy == BPF_COPY_FILLED;

			options->copies[number][i] = is_buffer && !options->buffer_bytes ? BPF_COPY_NOTHING : copy;
			any |= options->copies[number][i];
		}
	return any;
}

struct bpf_texts *call_texts_new(struct recording_words *words, const struct syscall_table *table,
				 const struct syscall_selection *selection, enum syscall_abi abi,
				 struct note_list *notes)
{
	const struct target_spec *target = &words->plan.target;
	struct bpf_texts_options options = {
		.of_tasks = !target->all_cpus && !target->cpus && !words->what.has_cgroups,
		.of_cgroups = words->what.has_cgroups,
		.buffer_bytes = words->string_limit,
	};
	uint8_t kinds[SYSCALL_NUMBERS][SYSCALL_ARGS];
	struct bpf_texts *texts = NULL;
	struct str err = STR_INIT;
	int code;

	_Static_assert((int)SYSCALL_NUMBERS == (int)BPF_CALLS && (int)SYSCALL_ARGS == (int)BPF_ARGS,
		       "calls have as many arguments here and there");
	syscall_selection_kinds(selection, table, abi, kinds);
	if (!choose_copies(&options, kinds))
		return NULL;
	code = bpf_texts_new(&texts, &options, &err);
	if (!code)
		code = add_texts_event(&words->what.events, target->cpus, &words->what.host, &err);
	if (code) {
		note_unknown(notes, &err);
		bpf_texts_free(texts);
		texts = NULL;
	}
	str_release(&err);
	return texts;
}

void call_texts_attach(struct bpf_texts *texts, const struct counter_set *set, struct note_list *notes)
{
	struct str err = STR_INIT;

	if (bpf_texts_attach(texts, set, &err))
		note_unknown(notes, &err);
	str_release(&err);
}
