/* SPDX-License-Identifier: MIT */
/*
 * reader_split.c: by a word of --threads, CPUs of the same place (core, package, node) are one reader's. By masks, the
 * user says it, as perf-record(1) has it:
 *
 *   --threads=0,2-4/2-4:1,5-7/5-7       reader 0 drains CPUs 0 and 2 to 4, and runs on 2 to 4;
 *                                       reader 1 drains CPUs 1 and 5 to 7, and runs on 5 to 7
 *
 * Nothing here asks the machine: the topology and the CPUs that have a ring are given.
 *
 * Invariant of a finished split: each CPU that has a ring is in one share. perf leaves the rings of a CPU that is
 * in no mask to fill up, and counts what is lost; here that is an error.
 */
#include "record/reader_split.h"

#include <errno.h>
#include <stdlib.h>

/* Far above any kernel's limit; it keeps a mistyped range from filling the memory. */
enum { CPU_MAX = 1 << 16 };

/* ---- the words ---- */

/* "0-1" of "0-1/0"; what: for the message. */
static int parse_cpus(struct intset *cpus, const char *text, size_t len, const char *what,
		      struct str *err)
{
	char *list = xstrndup(text, len);
	struct str why = STR_INIT;
	int rc = 0;

	if (!len) {
		rc = fail(err, -EINVAL, "--threads: a mask without CPUs %s its slash", what);
	} else if (intset_parse(cpus, list, CPU_MAX, &why)) {
		rc = fail(err, -EINVAL, "--threads: ");
		str_add_printable(err, why.s, why.len);
	}
	str_release(&why);
	free(list);
	return rc;
}

static int parse_mask(struct reader_mask *mask, const char *text, size_t len, struct str *err)
{
	const char *slash = memchr(text, '/', len), *behind;
	int rc;

	if (!slash) {
		str_add(err, "--threads: '");
		str_add_printable(err, text, len);
		return fail(err, -EINVAL, "': a mask is cpus/affinity-cpus, such as 0-1/0");
	}
	behind = slash + 1;
	rc = parse_cpus(&mask->cpus, text, (size_t)(slash - text), "before", err);
	if (!rc)
		rc = parse_cpus(&mask->affinity, behind, (size_t)(text + len - behind), "behind", err);
	return rc;
}

int reader_masks_parse(struct reader_masks *masks, const char *text, struct str *err)
{
	int rc = 0;

	reader_masks_release(masks);
	for (const char *at = text; !rc; at++) {
		size_t len = strcspn(at, ":");

		VEC_GROW(masks->v, masks->n, masks->cap);
		masks->v[masks->n] = (struct reader_mask){ INTSET_INIT, INTSET_INIT };
		rc = parse_mask(&masks->v[masks->n++], at, len, err);
		at += len;
		if (!*at)
			break;
	}
	return rc;
}

void reader_masks_release(struct reader_masks *masks)
{
	for (size_t i = 0; i < masks->n; i++) {
		intset_release(&masks->v[i].cpus);
		intset_release(&masks->v[i].affinity);
	}
	free(masks->v);
	*masks = (struct reader_masks){ 0 };
}

/* ---- shares ---- */

static struct reader_share *add_share(struct reader_shares *shares)
{
	VEC_GROW(shares->v, shares->n, shares->cap);
	shares->v[shares->n] = (struct reader_share){ INTSET_INIT, INTSET_INIT };
	return &shares->v[shares->n++];
}

/* ---- by place ---- */

/* Do these two CPUs belong to one reader? */
static bool same_reader(const struct topology *topology, enum reader_split split, int a, int b)
{
	const struct topology_cpu *x, *y;

	if (split == READERS_ONE || split == READERS_CPU)
		return split == READERS_ONE;
	x = topology_find(topology, a);
	y = topology_find(topology, b);
	if (!x || !y)
		return false;
	if (split == READERS_NODE)
		return x->node == y->node;
	if (split == READERS_PACKAGE)
		return x->socket == y->socket;
	return x->core == y->core && x->die == y->die && x->socket == y->socket;
}

static void split_by_place(struct reader_shares *shares, const struct record_plan *plan,
			   const struct topology *topology, const struct intset *cpus)
{
	for (size_t i = 0; i < cpus->n; i++) {
		struct reader_share *share = NULL;

		for (size_t k = 0; !share && k < shares->n; k++) {
			if (same_reader(topology, plan->readers, shares->v[k].cpus.v[0], cpus->v[i]))
				share = &shares->v[k];
		}
		intset_add(share ? &share->cpus : &add_share(shares)->cpus, cpus->v[i]);
	}
	for (size_t k = 0; plan->affinity && k < shares->n; k++)
		intset_copy(&shares->v[k].affinity, &shares->v[k].cpus);
}

/* ---- by masks ---- */

/* Adds the CPUs that are in both; false: there are none. */
static bool common(struct intset *to, const struct intset *mask, const struct intset *cpus)
{
	for (size_t i = 0; i < mask->n; i++) {
		if (intset_has(cpus, mask->v[i]))
			intset_add(to, mask->v[i]);
	}
	return to->n > 0;
}

static int wrong_cpus(struct str *err, const char *what, const struct intset *cpus)
{
	str_addf(err, "--threads: %s CPU%s ", what, cpus->n > 1 ? "s" : "");
	intset_format(cpus, err);
	return -EINVAL;
}

/* Neither the CPUs nor the affinity of two masks overlap. */
static int check_overlap(const struct reader_shares *shares, struct str *err)
{
	const struct reader_share *last = &shares->v[shares->n - 1];
	struct intset both = INTSET_INIT;
	int rc = 0;

	for (size_t i = 0; !rc && i + 1 < shares->n; i++) {
		if (common(&both, &shares->v[i].cpus, &last->cpus))
			rc = wrong_cpus(err, "two masks have", &both);
		else if (common(&both, &shares->v[i].affinity, &last->affinity))
			rc = wrong_cpus(err, "two threads would run on", &both);
	}
	intset_release(&both);
	return rc;
}

static int check_all_drained(const struct reader_shares *shares, const struct intset *cpus,
			     struct str *err)
{
	struct intset left = INTSET_INIT;
	int rc = 0;

	for (size_t i = 0; i < cpus->n; i++) {
		if (reader_of_cpu(shares, cpus->v[i]) == shares->n)
			intset_add(&left, cpus->v[i]);
	}
	if (left.n)
		rc = fail(err, wrong_cpus(err, "no mask has", &left), ", which %s recorded too\n"
			  "add to the masks, or record fewer CPUs with -C", left.n > 1 ? "are" : "is");
	intset_release(&left);
	return rc;
}

static int split_by_masks(struct reader_shares *shares, const struct reader_masks *masks,
			  const struct intset *cpus, struct str *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < masks->n; i++) {
		const struct reader_mask *mask = &masks->v[i];
		struct reader_share *share = add_share(shares);

		if (!common(&share->cpus, &mask->cpus, cpus))
			rc = wrong_cpus(err, "nothing is recorded on", &mask->cpus);
		else if (!common(&share->affinity, &mask->affinity, cpus))
			rc = wrong_cpus(err, "a thread cannot run where nothing is recorded:",
					&mask->affinity);
		else
			rc = check_overlap(shares, err);
	}
	return rc ? rc : check_all_drained(shares, cpus, err);
}

/* ---- both ---- */

int reader_split_of(struct reader_shares *shares, const struct record_plan *plan,
		    const struct topology *topology, const struct intset *cpus, struct str *err)
{
	*shares = (struct reader_shares){ 0 };
	if (plan->readers == READERS_MASKS)
		return split_by_masks(shares, &plan->reader_masks, cpus, err);
	split_by_place(shares, plan, topology, cpus);
	return 0;
}

size_t reader_of_cpu(const struct reader_shares *shares, int cpu)
{
	size_t i = 0;

	while (i < shares->n && !intset_has(&shares->v[i].cpus, cpu))
		i++;
	return i;
}

void reader_shares_release(struct reader_shares *shares)
{
	for (size_t i = 0; i < shares->n; i++) {
		intset_release(&shares->v[i].cpus);
		intset_release(&shares->v[i].affinity);
	}
	free(shares->v);
	*shares = (struct reader_shares){ 0 };
}
