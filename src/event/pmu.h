/* SPDX-License-Identifier: MIT */
/*
 * pmu: the PMUs of the machine as sysfs describes them, one folder each below
 * bus/event_source/devices. Private to event/ (pmu*.c).
 *
 * Everything is read when it is asked for: one PMU costs its own folder, one term one file.
 *
 * Source: Documentation/ABI/testing/sysfs-bus-event_source-devices* of the kernel.
 */
#ifndef PSTAT_PMU_H
#define PSTAT_PMU_H

#include "event/name_list.h"
#include "event/source.h"

struct pmu {
	struct event_pmu info;
	char *dir; /* its folder in sysfs */
};

struct pmu_set {
	const struct pmu **v; /* PMUs belong to the catalogue */
	size_t n, cap;
};
void pmu_set_release(struct pmu_set *set);

/* 0; a negative errno with p->error where the folder of PMUs in sysfs cannot be reached: none of them is known then. */
int pmu_folder_exists(struct event_parse *p, const struct spec_event *spec);
/* The PMU of exactly that name; reads only its folder. NULL if there is none. */
const struct pmu *pmu_get(struct event_parse *p, const char *name);
/*
 * The PMUs that a word means, sorted, appended to set: the exact name alone; else NAME_0, NAME_1
 * (or NAME0, or NAME_ and an address), patterns, both also without a leading "uncore_";
 * else the PMU that has it as its sysfs `alias`.
 */
void pmu_match(struct event_parse *p, const char *word, struct pmu_set *set);
/* Appends all PMUs to set, sorted. -errno where sysfs cannot be read. */
int pmu_all(struct event_parse *p, struct pmu_set *set);

/* ---- pmu_format.c: a named bit field of attr.config* ---- */
struct bit_range {
	uint8_t word; /* 0 config, 1 config1, ... 4 config4 */
	uint8_t low, high; /* inclusive */
};
struct pmu_format {
	struct bit_range *v; /* the value's lowest bits go to v[0] */
	size_t n, cap;
};
/*
 * "config:0-7,32-35"; a range without a word belongs to the word before it. -EINVAL; release
 * always.
 */
int pmu_format_parse(struct pmu_format *format, const char *text);
/*
 * The field `name` of a PMU. -ENOENT: it has none; -EINVAL: the kernel's text is not understood.
 */
int pmu_format_read(struct pmu_format *format, const struct pmu *pmu, const char *name);
void pmu_format_release(struct pmu_format *format);
/* The biggest value that fits. */
uint64_t pmu_format_max(const struct pmu_format *format);
/* "config4" where the field lies in a word that perf_event_attr of this build lacks, else NULL. */
const char *pmu_format_lacks(const struct pmu_format *format);
/* Replaces the field's bits; value fits, and no word is lacking. */
void pmu_format_set(const struct pmu_format *format, struct perf_event_attr *attr, uint64_t value);

/* ---- pmu_alias.c: a file in a PMU's events/ folder ---- */
struct pmu_alias {
	char *name; /* as sysfs spells it */
	struct spec_term *terms; /* positions are 0 */
	size_t n_terms, terms_cap;
	double scale;
	char *unit;
	bool has_scale, per_pkg, snapshot;
	uint64_t period; /* at which it is usually sampled; 0: nobody says */
};
/* Regardless of case, the exact spelling first. -ENOENT: none; other -errno: not readable. */
int pmu_alias_read(struct pmu_alias *alias, const struct pmu *pmu, const char *name);
void pmu_alias_release(struct pmu_alias *alias);
/* Names of a PMU's aliases, without the files that only describe one; appended. */
void pmu_alias_names(const struct pmu *pmu, struct name_list *names);

/* ---- pmu.c ---- */
/*
 * An event on each PMU of the set, of one expansion where these are several. word_is_alias: spec's word names an alias
 * of the PMU. 1, or negative errno with p->error filled.
 */
int pmu_add_events(struct event_parse *p, const struct spec_event *spec, bool word_is_alias, const struct pmu_set *set);

#endif
