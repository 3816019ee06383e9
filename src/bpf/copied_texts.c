/* SPDX-License-Identifier: MIT */
/*
 * copied_texts.c: the programs of texts.bpf.c, and the events that take their records: one of each CPU. They go with
 * the process, whatever ends it.
 */
#include "bpf/bpf.h"
#include "bpf/loaded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert((int)BPF_CALLS == (int)BPF_CALL_NUMBERS && (int)BPF_ARGS == (int)BPF_CALL_ARGS &&
	       (int)BPF_COPIED_BYTES_MAX == (int)BPF_BUFFER_BYTES &&
		       (int)BPF_COPY_MESSAGE_FILLED == (int)BPF_WANT_MESSAGE_FILLED,
	       "the programs take what they are given");

int bpf_texts_new(struct bpf_texts **texts, const struct bpf_texts_options *options, struct str *err)
{
	struct bpf_text_constants constants = {
		.whose = options->of_tasks   ? BPF_CALLS_OF_TASKS :
			 options->of_cgroups ? BPF_CALLS_OF_CGROUPS :
					       BPF_CALLS_OF_ALL,
		.buffer_bytes = options->buffer_bytes,
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

/*
 * Identities of all slots of the events that follow tasks: the more of a task's events are known, the sooner one is
 * found. Those of the first event are enough, where there is no room for others.
 */
static int follow_tasks(const struct bpf_texts *texts, const struct counter_set *set)
{
	uint64_t *ids = NULL;
	size_t n_first = 0, n = 0, i;
	int code = 0;

	for (i = 0; i < set->n && !code; i++) {
		const struct counter *counter = &set->v[i];

		if (counter->state == COUNTER_OPEN && (counter->follows_tasks || !counter->cpus.n))
			code = counter_add_ids(set, i, &ids, &n);
		if (!n_first)
			n_first = n;
	}
	for (i = 0; i < n && !code; i++)
		code = bpf_loaded_texts_follow(texts, ids[i]);
	free(ids);
	return code == -E2BIG && i > n_first ? 0 : code;
}

static int follow_cgroups(const struct bpf_texts *texts, const struct counter_set *set, struct str *err)
{
	const struct kern *kern = set->kern;
	const char *last = NULL;
	uint32_t n = 0;
	int code = 0;

	for (size_t i = 0; i < set->n && !code; i++) {
		const char *name = set->v[i].event->cgroup;
		int fd;

		if (!name || set->v[i].state != COUNTER_OPEN || (last && !strcmp(last, name)))
			continue;
		fd = cgroup_open(name, &kern->host, err);
		if (fd < 0)
			return fd;
		code = bpf_loaded_texts_cgroup(texts, n++, fd);
		close(fd);
		last = name;
	}
	return code;
}

int bpf_texts_attach(struct bpf_texts *texts, const struct counter_set *set, struct str *err)
{
	const enum bpf_callers whose = bpf_loaded_texts_whose(texts);
	int code = 0;

	if (whose == BPF_CALLS_OF_TASKS)
		code = follow_tasks(texts, set);
	else if (whose == BPF_CALLS_OF_CGROUPS)
		code = follow_cgroups(texts, set, err);
	if (code)
		return err->len ? code : fail(err, code, "BPF programs cannot be told whose calls are traced: %s",
					      strerror(-code));
	code = -ENOENT;
	for (size_t i = 0; i < set->n && code; i++)
		if (set->v[i].state == COUNTER_OPEN && is_output(&set->v[i]))
			code = set_outputs(texts, &set->v[i]);
	return code ? fail(err, code, "BPF programs have no event to write to: %s", strerror(-code)) : 0;
}
