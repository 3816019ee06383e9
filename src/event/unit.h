/*
 * unit: the counter units of the machine as sysfs describes them, one folder each below
 * bus/event_source/devices. Private to event/ (unit*.c, pmu.c).
 *
 * Everything is read when it is asked for: one unit costs its own folder, one term one file.
 *
 * Source: Documentation/ABI/testing/sysfs-bus-event_source-devices* of the kernel.
 */
#ifndef PSTAT_UNIT_H
#define PSTAT_UNIT_H

#include "event/name_list.h"
#include "event/source.h"

struct unit {
	struct event_unit info;
	char *dir; /* its folder in sysfs */
};

struct unit_set {
	const struct unit **v; /* units belong to the catalogue */
	size_t n, cap;
};
void unit_set_release(struct unit_set *set);

/* The unit of exactly that name; reads only its folder. NULL if there is none. */
const struct unit *unit_get(struct event_parse *p, const char *name);
/*
 * The units that a word means, sorted, appended to set: the exact name alone; else NAME_0, NAME_1
 * (or NAME0), patterns, both also without a leading "uncore_";
 * else the unit that has it as its sysfs `alias`.
 */
void unit_match(struct event_parse *p, const char *word, struct unit_set *set);
/* All units, sorted, appended to set. -errno where sysfs cannot be read. */
int unit_all(struct event_parse *p, struct unit_set *set);

/* ---- unit_format.c: a named bit field of attr.config* ---- */
struct bit_range {
	uint8_t word; /* 0 config, 1 config1, 2 config2, 3 config3 */
	uint8_t low, high; /* inclusive */
};
struct unit_format {
	struct bit_range *v; /* the value's lowest bits go to v[0] */
	size_t n, cap;
};
/*
 * "config:0-7,32-35"; a range without a word belongs to the word before it. -EINVAL; release
 * always.
 */
int unit_format_parse(struct unit_format *format, const char *text);
/*
 * The field `name` of a unit. -ENOENT: it has none; -EINVAL: the kernel's text is not understood.
 */
int unit_format_read(struct unit_format *format, const struct unit *unit, const char *name);
void unit_format_release(struct unit_format *format);
/* The biggest value that fits. */
uint64_t unit_format_max(const struct unit_format *format);
/* Replaces the field's bits; value fits. -EOPNOTSUPP: perf_event_attr has no such word here. */
int unit_format_set(const struct unit_format *format, struct perf_event_attr *attr, uint64_t value);

/* ---- unit_alias.c: a file in a unit's events/ folder ---- */
struct unit_alias {
	char *name; /* as sysfs spells it */
	struct spec_term *terms; /* positions are 0 */
	size_t n_terms, terms_cap;
	double scale;
	char *unit;
	bool has_scale, per_pkg, snapshot;
};
/* Regardless of case, the exact spelling first. -ENOENT: none; other -errno: not readable. */
int unit_alias_read(struct unit_alias *alias, const struct unit *unit, const char *name);
void unit_alias_release(struct unit_alias *alias);
/* Names of a unit's aliases, without the files that only describe one; appended. */
void unit_alias_names(const struct unit *unit, struct name_list *names);

/* ---- unit_term.c ---- */
/*
 * Applies spec's terms to an event of the unit: the common ones, the unit's fields and aliases, and
 * generic names; before them, where word_is_alias, the alias that spec's word names. 0 or negative
 * errno with p->error filled.
 */
int unit_apply_terms(struct event_parse *p, const struct spec_event *spec, bool word_is_alias,
		     struct event *event, const struct unit *unit);

#endif
