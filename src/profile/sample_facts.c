/*
 * What is known of a sample, fact by fact: fact_rows[] says how each is worked out. Only those that cells keep are.
 */
#include "profile/collect.h"

static uint64_t fact_comm(struct collect *collect, const struct replay_sample *sample)
{
	(void)collect;
	return sample->thread->comm;
}

static uint64_t fact_pid(struct collect *collect, const struct replay_sample *sample)
{
	task_names_want(collect->profile->tasks, sample->thread);
	return task_names_pid(sample->thread);
}

static uint64_t fact_tid(struct collect *collect, const struct replay_sample *sample)
{
	task_names_want(collect->profile->tasks, sample->thread);
	return task_names_tid(sample->thread);
}

static uint64_t fact_cpu(struct collect *collect, const struct replay_sample *sample)
{
	(void)collect;
	return sample->sample->has & PERF_SAMPLE_CPU ? sample->sample->cpu : UINT64_MAX;
}

static uint64_t fact_time(struct collect *collect, const struct replay_sample *sample)
{
	return sample->sample->time_ns / collect->quantum_ns;
}

static uint64_t fact_bucket(struct collect *collect, const struct replay_sample *sample)
{
	return profile_bucket(collect->profile, sample->sample->time_ns);
}

static uint64_t fact_location(struct collect *collect, const struct replay_sample *sample)
{
	struct session *session = &collect->profile->session;

	return collect->profile->shape.by_function ? session_ip_function(session, sample) :
						     session_ip_location(session, sample);
}

static uint64_t fact_stack(struct collect *collect, const struct replay_sample *sample)
{
	return session_stack(&collect->profile->session, sample);
}

static uint64_t fact_data_location(struct collect *collect, const struct replay_sample *sample)
{
	return session_data_location(&collect->profile->session, sample);
}

/* WEIGHT_STRUCT packs three numbers into the word that WEIGHT has for one. */
static uint64_t weight_part(const struct sample *s, unsigned shift, uint64_t mask)
{
	return s->has & DATA_SAMPLE_WEIGHT_STRUCT ? s->weight >> shift & mask : 0;
}

uint64_t collect_weight(const struct sample *s)
{
	return s->has & DATA_SAMPLE_WEIGHT_STRUCT ? weight_part(s, 0, UINT32_MAX) : s->weight;
}

static uint64_t fact_weight(struct collect *collect, const struct replay_sample *sample)
{
	(void)collect;
	return collect_weight(sample->sample);
}

static uint64_t fact_ins_lat(struct collect *collect, const struct replay_sample *sample)
{
	(void)collect;
	return weight_part(sample->sample, 32, UINT16_MAX);
}

static uint64_t fact_p_stage_cyc(struct collect *collect, const struct replay_sample *sample)
{
	(void)collect;
	return weight_part(sample->sample, 48, UINT16_MAX);
}

static uint64_t fact_cgroup_dev(struct collect *collect, const struct replay_sample *sample)
{
	(void)collect;
	return sample->thread->cgroup_dev;
}

static uint64_t fact_cgroup_ino(struct collect *collect, const struct replay_sample *sample)
{
	(void)collect;
	return sample->thread->cgroup_ino;
}

static uint64_t fact_trace(struct collect *collect, const struct replay_sample *sample)
{
	const struct profile *profile = collect->profile;

	str_reset(&collect->text);
	if (profile->options.trace_text)
		profile->options.trace_text(profile->options.context, sample->event, sample->sample, &collect->text);
	return texts_intern(profile->texts, collect->text.s, collect->text.len);
}

static uint64_t fact_misc(struct collect *collect, const struct replay_sample *sample)
{
	(void)collect;
	return sample->mode;
}

/*
 * To add a fact: an enum in profile.h, a row here: how it is worked out, or which word of struct sample it is
 * (0 where the sample has none of the bits). Rows without either are set per branch, see add_branches.
 */
static const struct fact_row {
	uint64_t (*get)(struct collect *collect, const struct replay_sample *sample);
	size_t offset; /* in struct sample, of a u64 */
	uint64_t bits; /* PERF_SAMPLE_* */
} fact_rows[FACTS] = {
#define WORD(field, bit)                                                                           \
	{                                                                                          \
		NULL, offsetof(struct sample, field), bit                                          \
	}
	[FACT_COMM] = { .get = fact_comm },
	[FACT_PID] = { .get = fact_pid },
	[FACT_TID] = { .get = fact_tid },
	[FACT_CPU] = { .get = fact_cpu },
	[FACT_TIME] = { .get = fact_time },
	[FACT_BUCKET] = { .get = fact_bucket },
	[FACT_LOCATION] = { .get = fact_location },
	[FACT_STACK] = { .get = fact_stack },
	[FACT_DATA_LOCATION] = { .get = fact_data_location },
	[FACT_DATA_ADDR] = WORD(addr, PERF_SAMPLE_ADDR),
	[FACT_DATA_SRC] = WORD(data_src, PERF_SAMPLE_DATA_SRC),
	[FACT_WEIGHT] = { .get = fact_weight },
	[FACT_INS_LAT] = { .get = fact_ins_lat },
	[FACT_P_STAGE_CYC] = { .get = fact_p_stage_cyc },
	[FACT_PHYS_ADDR] = WORD(phys_addr, PERF_SAMPLE_PHYS_ADDR),
	[FACT_DATA_PAGE_SIZE] = WORD(data_page_size, PERF_SAMPLE_DATA_PAGE_SIZE),
	[FACT_CODE_PAGE_SIZE] = WORD(code_page_size, PERF_SAMPLE_CODE_PAGE_SIZE),
	[FACT_TRANSACTION] = WORD(transaction, PERF_SAMPLE_TRANSACTION),
	[FACT_CGROUP] = WORD(cgroup, PERF_SAMPLE_CGROUP),
	[FACT_CGROUP_DEV] = { .get = fact_cgroup_dev },
	[FACT_CGROUP_INO] = { .get = fact_cgroup_ino },
	[FACT_TRACE] = { .get = fact_trace },
	[FACT_MISC] = { .get = fact_misc },
#undef WORD
};

void collect_choose_facts(struct collect *collect, uint64_t kept)
{
	collect->n_rows = 0;
	for (unsigned f = 0; f < FACTS; f++)
		if (kept >> f & 1 && (fact_rows[f].get || fact_rows[f].bits))
			collect->rows[collect->n_rows++] = (uint8_t)f;
}

void collect_fill_facts(struct collect *collect, const struct replay_sample *sample)
{
	const char *bytes = (const char *)sample->sample;

	for (size_t i = 0; i < collect->n_rows; i++) {
		const struct fact_row *row = &fact_rows[collect->rows[i]];
		uint64_t *fact = &collect->facts[collect->rows[i]];

		if (row->get)
			*fact = row->get(collect, sample);
		else if (sample->sample->has & row->bits)
			memcpy(fact, bytes + row->offset, sizeof(*fact));
		else
			*fact = 0;
	}
}
