/* An entry as a thing of its own: what it is made of, its numbers, and whether it is shown. */
#include "hist/fold_internal.h"

static void *empty(const struct hist *hist, size_t bytes)
{
	return memset(arena_alloc(hist->memory, bytes), 0, bytes);
}

struct entry *entry_new(struct table *table, const struct hist *hist)
{
	/* In one piece with its values. */
	struct entry *entry = empty(hist, sizeof(*entry) + table->n_keys * sizeof(*entry->values));

	entry->values = (uint64_t *)(entry + 1);
	entry->location = LOCATION_NONE;
	entry->others = entry->codes = entry->ranked = NO_ROW;
	if (hist->n_members > 1) {
		entry->members = empty(hist, hist->n_members * sizeof(*entry->members));
		entry->members_total = empty(hist, hist->n_members * sizeof(*entry->members_total));
	}
	return entry;
}

void entry_stats_add(struct entry_stats *to, const struct entry_stats *from)
{
	to->n_samples += from->n_samples;
	to->period += from->period;
	to->period_sys += from->period_sys;
	to->period_us += from->period_us;
	to->period_guest_sys += from->period_guest_sys;
	to->period_guest_us += from->period_guest_us;
	to->weight += from->weight;
}

struct entry_total entry_own_total(const struct entry_stats *self)
{
	return (struct entry_total){ .n_samples = self->n_samples, .period = self->period };
}

void entry_total_add(struct entry_total *to, const struct entry_total *from)
{
	to->n_samples += from->n_samples;
	to->period += from->period;
}

uint64_t entry_number(const struct entry *entry, const struct field_row *field, size_t member)
{
	const struct entry_stats *self = entry->members ? &entry->members[member] : &entry->self;
	const struct entry_total *total = entry->members ? &entry->members_total[member] : &entry->total;
	uint64_t number;

	memcpy(&number, (field->total ? (const char *)total : (const char *)self) + field->stat, sizeof(number));
	return number;
}

uint64_t entry_limit_period(const struct table *table, const struct entry *entry)
{
	return table->children ? entry->total.period : entry->self.period;
}

uint64_t hist_period(const struct table *table, const struct hist *hist, size_t member)
{
	bool relative = table->options.percentage_relative;

	if (member)
		return relative ? hist->member_shown[member].period
				: hist->member_totals[member].period;
	return relative ? hist->shown.period : hist->totals.period;
}

double entry_percent(const struct table *table, const struct hist *hist,
		     const struct entry *entry, const struct field_row *field, size_t member)
{
	uint64_t all = hist_period(table, hist, member);

	return all ? 100.0 * (double)entry_number(entry, field, member) / (double)all : 0.0;
}

bool entry_is_shown(const struct table *table, const struct hist *hist, const struct entry *entry)
{
	uint64_t all = hist_period(table, hist, 0);
	double percent =
		all ? 100.0 * (double)entry_limit_period(table, entry) / (double)all : 0.0;
	uint64_t n_samples = table->children ? entry->total.n_samples : entry->self.n_samples;

	if (table->options.samples_over && n_samples <= table->options.samples_over)
		return false;
	return percent >= table->options.percent_limit;
}
