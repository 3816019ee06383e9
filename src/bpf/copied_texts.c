/* SPDX-License-Identifier: MIT */
/*
 * copied_texts.c: the programs of texts.bpf.c, and the events that take their records: one of each CPU. They go with
 * the process, whatever ends it.
 */
#include "bpf/bpf.h"
#include "bpf/loaded.h"

#include <errno.h>
#include <string.h>

_Static_assert((int)BPF_CALLS == (int)BPF_CALL_NUMBERS && (int)BPF_ARGS == (int)BPF_CALL_ARGS &&
	       (int)BPF_COPIED_BYTES_MAX == (int)BPF_BUFFER_BYTES && (int)BPF_COPY_STRINGS == (int)BPF_WANT_STRINGS,
	       "the programs take what they are given");

int bpf_texts_new(struct bpf_texts **texts, const struct bpf_texts_options *options, struct str *err)
{
	struct bpf_text_constants constants = {
		.of_tasks = options->of_tasks, .buffer_bytes = options->buffer_bytes,
	};

	for (size_t i = 0; i < BPF_CALL_NUMBERS; i++)
		memcpy(constants.wanted[i].v, options->copies[i], sizeof(options->copies[i]));
	return bpf_load_texts(texts, &constants, err);
}

static int set_outputs(const struct bpf_texts *texts, const struct counter *counter)
{
	int code = 0;

	for (size_t i = 0; i < counter->n_cpus && !code; i++)
		if (counter->fds[i] >= 0)
			code = bpf_loaded_texts_output(texts, counter->cpus.v[i], counter->fds[i]);
	return code;
}

static bool is_output(const struct counter *counter)
{
	return counter->attr.type == PERF_TYPE_SOFTWARE && counter->attr.config == PERF_COUNT_SW_BPF_OUTPUT;
}

int bpf_texts_attach(struct bpf_texts *texts, const struct counter_set *set, struct str *err)
{
	int code = -ENOENT;

	for (size_t i = 0; i < set->n && code; i++)
		if (set->v[i].state == COUNTER_OPEN && is_output(&set->v[i]))
			code = set_outputs(texts, &set->v[i]);
	return code ? fail(err, code, "BPF programs have no event to write to: %s", strerror(-code)) : 0;
}
