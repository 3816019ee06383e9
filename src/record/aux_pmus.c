/*
 * Which events need AUX buffers. sysfs does not tell it of a PMU, so that their names stand here. Such an event opens
 * and starts like others: it would be a recording without a sample, and without a word.
 */
#include "record/aux_pmus.h"

#include <errno.h>

/* A number may follow: arm_spe_0. To add one: a row here, pstat-record(1). */
static const char *const aux_pmus[] = { "intel_pt", "intel_bts", "cs_etm", "arm_spe", "hisi_ptt" };

static bool pmu_needs_aux(const char *pmu_name)
{
	for (size_t i = 0; i < ARRAY_SIZE(aux_pmus); i++) {
		size_t len = strlen(aux_pmus[i]);

		if (!strncmp(pmu_name, aux_pmus[i], len) &&
		    !pmu_name[len + strspn(pmu_name + len, "_0123456789")])
			return true;
	}
	return false;
}

int aux_refuse(const struct event_list *events, struct str *err)
{
	for (size_t i = 0; i < events->n; i++) {
		const struct event *event = &events->v[i];

		if (pmu_needs_aux(event->pmu_name) || event->terms.aux_sample_size ||
		    event->terms.aux_output == TERM_ON)
			return fail(err, -EINVAL, "%s: it needs AUX buffers, which pstat does not record",
				    event->name);
	}
	return 0;
}
