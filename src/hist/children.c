/*
 * Groups into entries. A group counts for the entry of its own frame and, with --children, once for each
 * other entry of its chain, however often that comes up there. An entry's part of the chain begins at its
 * first frame in the order that is shown: a caller's goes on with what it called, a callee's with its
 * callers; the sampled function's own part is the whole chain.
 */
#include "hist/fold_internal.h"

#include <stdlib.h>

void entries_init(struct entries *entries, struct table *table, struct hist *hist,
		  const struct groups *groups)
{
	const struct frames *frames = &table->private->frames;

	*entries = (struct entries){ .table = table, .hist = hist, .groups = groups };
	row_set_init(&entries->ids, 2);
	entries->seen = xcalloc(frames->values.n + 1, sizeof(*entries->seen));
	entries->contributions = xcalloc(frames->max_depth + 1, sizeof(*entries->contributions));
	entries->chain = xcalloc(frames->max_depth + 1, sizeof(*entries->chain));
}

void entries_release(struct entries *entries)
{
	row_set_release(&entries->ids);
	free(entries->v);
	free(entries->seen);
	free(entries->contributions);
	free(entries->chain);
}

static void set_location(struct entry *entry, const struct table *table, uint32_t location)
{
	entry->location = location;
	entry->level = location == LOCATION_NONE ? '.' : location_level(&table->session->locations->v[location]);
}

/* others, codes: rows of groups.values and frames.values. */
static struct entry *new_entry(struct entries *entries, uint32_t others, uint32_t codes, uint32_t location, int32_t tid)
{
	struct table *table = entries->table;
	struct entry *entry = entry_new(table, entries->hist);
	const uint64_t *other_row = row_set_at(&entries->groups->values, others);
	const uint64_t *code_row = row_set_at(&table->private->frames.values, codes);

	for (size_t i = 0; i < table->n_keys; i++) {
		const struct key_slot *slot = &table->private->slots[i];

		entry->values[i] = slot->frame ? code_row[slot->at] : other_row[slot->at];
	}
	entry->others = others;
	entry->codes = codes;
	set_location(entry, table, location);
	entry->tid = tid;
	entry->number = (uint32_t)entries->n;
	VEC_GROW(entries->v, entries->n, entries->cap);
	entries->v[entries->n++] = entry;
	return entry;
}

/* The entry of a group's other keys and a frame; made when it is not there. */
static struct entry *find_entry(struct entries *entries, const struct group *group, uint32_t frame)
{
	const struct frames *frames = &entries->table->private->frames;
	const struct fold_frame *f = &frames->v[frame];
	const uint64_t id[] = { group->values, f->values };
	uint32_t i = row_set_intern(&entries->ids, id);

	if (i < entries->n)
		return entries->v[i];
	return new_entry(entries, group->values, f->values, frame == group->self ? group->location : f->view.location,
			 group->tid);
}

struct entry *entries_own(struct entries *entries, size_t number)
{
	const struct group *group = &entries->groups->v[number];

	return entries->table->private->frames.v[group->self].named ? find_entry(entries, group, group->self) : NULL;
}

static void add_contribution(struct entries *entries, const struct group *group, uint32_t frame,
		      struct contribution *contribution)
{
	contribution->entry = find_entry(entries, group, frame);
	entries->seen[entries->table->private->frames.v[frame].values] =
		(uint32_t)(group - entries->groups->v) + 1;
}

size_t entries_contributions(struct entries *entries, size_t number, size_t *chain_len)
{
	const struct frames *frames = &entries->table->private->frames;
	const struct group *group = &entries->groups->v[number];
	size_t n = 0, len = frames_walk(entries->table, group->stack, entries->chain);

	*chain_len = len;
	if (frames->v[group->self].named) {
		entries->contributions[n] = (struct contribution){ .from = 0, .self = true };
		add_contribution(entries, group, group->self, &entries->contributions[n++]);
	}
	for (size_t i = 0; i < len && entries->table->children; i++) {
		const struct fold_frame *frame = &frames->v[entries->chain[i]];

		if (!frame->named || entries->seen[frame->values] == number + 1)
			continue;
		entries->contributions[n] = (struct contribution){ .from = (uint32_t)i };
		add_contribution(entries, group, entries->chain[i], &entries->contributions[n++]);
	}
	return n;
}

static void add_stats(const struct table *table, const struct group *group,
		      const struct contribution *contribution, size_t chain_len)
{
	struct entry *entry = contribution->entry;
	uint32_t depth = (uint32_t)(chain_len - contribution->from);

	if (contribution->self && entry->members)
		entry_stats_add(&entry->members[group->member], &group->stats);
	if (contribution->self && !group->member)
		entry_stats_add(&entry->self, &group->stats);
	if (!table->children)
		return;
	if (entry->members)
		entry_stats_add(&entry->members_total[group->member], &group->stats);
	if (group->member)
		return;
	entry_stats_add(&entry->total, &group->stats);
	if (depth > entry->chain_depth)
		entry->chain_depth = depth;
}

void entries_add_groups(struct entries *entries)
{
	for (size_t g = 0; g < entries->groups->n; g++) {
		size_t chain_len, n = entries_contributions(entries, g, &chain_len);

		for (size_t i = 0; i < n; i++)
			add_stats(entries->table, &entries->groups->v[g], &entries->contributions[i],
				  chain_len);
	}
}

/* ---- one entry ---- */

struct entry *entry_new(struct table *table, const struct hist *hist)
{
	struct entry *entry = xcalloc(1, sizeof(*entry));

	entry->values = xcalloc(table->n_keys + 1, sizeof(*entry->values));
	entry->location = LOCATION_NONE;
	entry->others = entry->codes = NO_ROW;
	if (hist->n_members > 1) {
		entry->members = xcalloc(hist->n_members, sizeof(*entry->members));
		entry->members_total = xcalloc(hist->n_members, sizeof(*entry->members_total));
	}
	return entry;
}

void entry_free(struct entry *entry)
{
	for (size_t i = 0; i < entry->n_children; i++)
		entry_free(entry->children[i]);
	free(entry->children);
	free(entry->members);
	free(entry->members_total);
	free(entry->values);
	free(entry);
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

uint64_t entry_number(const struct entry *entry, const struct field_row *field, size_t member)
{
	const struct entry_stats *stats = field->total ? &entry->total : &entry->self;
	uint64_t number;

	if (entry->members)
		stats = field->total ? &entry->members_total[member] : &entry->members[member];
	memcpy(&number, (const char *)stats + field->stat, sizeof(number));
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
	uint64_t n_samples = (table->children ? &entry->total : &entry->self)->n_samples;

	if (table->options.samples_over && n_samples <= table->options.samples_over)
		return false;
	return !entry->filtered && percent >= table->options.percent_limit;
}
