/* SPDX-License-Identifier: MIT */
/*
 * Facts that can be asked without opening a counter: which events are known here, whether the kernel has perf events,
 * what it calls an event.
 */
#include "count/lib.h"
#include "data/data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the known events ---- */

struct pstat_known {
	struct known_texts {
		char *name, *alias, *description, *pmu, *unit;
	} *texts; /* one per event, owned */
	size_t texts_cap;
	struct pstat_known_event *v;
	size_t n, cap;
};

static int add_known(const struct event_info *info, void *data)
{
	struct pstat_known *known = data;
	struct known_texts texts = { xstrdup(info->name), xstrdup(info->alias), xstrdup(info->desc),
				     xstrdup(info->pmu_name), xstrdup(info->unit) };

	VEC_GROW(known->texts, known->n, known->texts_cap);
	VEC_GROW(known->v, known->n, known->cap);
	known->texts[known->n] = texts;
	known->v[known->n++] = (struct pstat_known_event){
		.size = sizeof(*known->v),
		.topic = info->topic, /* static text */
		.name = texts.name,
		.alias = texts.alias,
		.description = texts.description,
		.pmu = texts.pmu,
		.unit = texts.unit,
		.scale = info->scale,
	};
	return 0;
}

struct known_call {
	struct pstat_known **known;
	const char *topic, *glob;
};

static int known_body(void *data, struct str *err)
{
	const struct known_call *call = data;
	struct pstat_known *known;
	int rc;

	if (call->topic && !event_topic_find(call->topic))
		return fail(err, -ENOENT, "there is no topic of events with that name");
	known = xcalloc(1, sizeof(*known));
	rc = event_walk(call->topic, call->glob, &lib_kern.host, add_known, known, err);
	if (rc < 0) {
		pstat_known_free(known);
		return rc;
	}
	*call->known = known;
	return 0;
}

int pstat_known_new(struct pstat_known **known, const char *topic, const char *glob, struct pstat_error *error)
{
	struct known_call call = { known, topic, glob };

	if (!known)
		return lib_error(error, -EINVAL, "there is no place for the list");
	*known = NULL;
	return lib_run(known_body, &call, error);
}

void pstat_known_free(struct pstat_known *known)
{
	if (!known)
		return;
	for (size_t i = 0; i < known->n; i++) {
		free(known->texts[i].name);
		free(known->texts[i].alias);
		free(known->texts[i].description);
		free(known->texts[i].pmu);
		free(known->texts[i].unit);
	}
	free(known->texts);
	free(known->v);
	free(known);
}

size_t pstat_known_count(const struct pstat_known *known)
{
	return known->n;
}

const struct pstat_known_event *pstat_known_at(const struct pstat_known *known, size_t i)
{
	return i < known->n ? &known->v[i] : NULL;
}

/* ---- the kernel ---- */

int pstat_supported(void)
{
	return !access("/proc/sys/kernel/perf_event_paranoid", F_OK);
}

int pstat_max_stack(void)
{
	uint64_t frames = lib_kernel_limit(&lib_kern, "perf_event_max_stack");

	return frames && frames <= UINT16_MAX ? (int)frames : -ENOENT;
}

/* ---- labels ---- */

static const char *const caches[] = { "L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node" };
static const char *const accesses[] = { "load", "store", "prefetch" };

/* The config of PERF_TYPE_HW_CACHE: cache, access << 8, result << 16 (perf_event_open(2)). */
static int cache_label(uint64_t config, char *text, size_t bytes)
{
	uint64_t cache = config & 0xff, operation = config >> 8 & 0xff, result = config >> 16;

	if (cache >= ARRAY_SIZE(caches) || operation >= ARRAY_SIZE(accesses) || result > 1)
		return -1;
	return snprintf(text, bytes, "%s-%s%s", caches[cache], accesses[operation],
			result ? "-misses" : operation == 2 ? "es" : "s");
}

struct label_call {
	struct data_event event;
	char *text;
	size_t bytes;
};

static int label_body(void *data, struct str *err)
{
	const struct label_call *call = data;
	struct str label = STR_INIT;
	int n;

	(void)err;
	data_event_add_name(&call->event, &label);
	n = snprintf(call->text, call->bytes, "%s", label.s);
	str_release(&label);
	return n;
}

int pstat_event_label(uint32_t event_type, uint64_t config, char *text, size_t bytes)
{
	struct label_call call = { .text = text, .bytes = bytes };
	int n = event_type == PERF_TYPE_HW_CACHE ? cache_label(config, text, bytes) : -1;

	call.event.attr.type = event_type;
	call.event.attr.config = config;
	return n >= 0 ? n : lib_run(label_body, &call, NULL);
}
