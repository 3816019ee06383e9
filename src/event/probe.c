/* SPDX-License-Identifier: MIT */
/*
 * probe: events on a place in a program (uprobe) or in the kernel (kprobe), without setting one
 * up in tracefs first:
 *
 *	uprobe/path=/bin/bash,func=readline/            each call of a function of a file
 *	uprobe/path=/bin/bash,func=readline,retprobe/   each return from it
 *	uprobe/path=/bin/bash,offset=0x8d3a0/           a place by its offset in the file
 *	probe:/bin/bash:readline%return                 the same two in short, see parse_probe
 *	kprobe/func=do_sys_openat2+0x10/                kernel function, with an offset into it
 *	kprobe/addr=0xffffffff81000000/                 kernel address
 *
 * What has no name= is called as perf calls its probes, since a path would fill the line:
 * probe_bash:readline, probe_bash:readline__return, probe_bash:0x8d3a0, probe:do_sys_openat2+0x10.
 *
 * attr.config1 points to the path or the kernel function's name, which the event owns as
 * probe_path; config2 is the offset or address. The flags (retprobe, ref_ctr_offset) are fields
 * that the PMUs describe in sysfs.
 *
 * Source: perf_event_open(2), Documentation/trace/uprobetracer.rst for offsets.
 */
#include "elf/elf.h"
#include "event/pmu.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* To add a kind of probe: a row, its finish function, a line in pstat-list(1). */
struct probe_terms;
/*
 * A probe is set where the file is mapped as code, and nowhere else: the kernel takes any offset, and beside the code
 * nothing ever comes of it.
 */
static void note_no_code(struct event_parse *p, const struct event *event)
{
	struct str path = STR_INIT;

	if (elf_offset_is_code(event->probe_path, event->attr.config2))
		return;
	str_add_printable(&path, event->probe_path, strlen(event->probe_path));
	note_add(&p->list->notes, false, NULL, "%s: it will be 0: offset 0x%llx is not in an executable part of %s",
		 event->name, (unsigned long long)event->attr.config2, path.s);
	str_release(&path);
}

static int finish_uprobe(struct event_parse *p, struct probe_terms *probe, struct event *event);
static int finish_kprobe(struct event_parse *p, struct probe_terms *probe, struct event *event);
static const struct probe_kind {
	const char *pmu;
	const char *absent; /* why the PMU may be missing */
	const char *terms; /* own terms, for messages */
	const char *example;
	const char *desc;
	int (*finish)(struct event_parse *p, struct probe_terms *probe, struct event *event);
} probe_kinds[] = {
	{ "uprobe", "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)", "path, func, offset",
	  "uprobe/path=FILE,func=NAME/", "calls of a function of a program or library",
	  finish_uprobe },
	{ "kprobe", "this kernel has no kprobes (CONFIG_KPROBE_EVENTS)", "func, offset, addr",
	  "kprobe/func=NAME/", "calls of a kernel function", finish_kprobe },
};

/* The terms of a probe, before they are put together. Terms are NULL where not given. */
struct probe_terms {
	const struct probe_kind *kind;
	const struct spec_event *spec;
	const struct pmu *pmu;
	const struct spec_term *path, *func, *offset, *addr;
	bool returns; /* retprobe */
};

struct probe_place {
	char *name; /* function */
	uint64_t offset;
};

/* ---- terms ---- */

static bool is_own_term(const struct probe_kind *kind, const char *name)
{
	const char *at = strstr(kind->terms, name);
	size_t len = strlen(name);

	return at && (at == kind->terms || at[-1] == ' ') && (!at[len] || at[len] == ',');
}

static const struct spec_term **own_term(struct probe_terms *probe, const char *name)
{
	const struct {
		const char *name;
		const struct spec_term **place;
	} rows[] = {
		{ "path", &probe->path },
		{ "func", &probe->func },
		{ "offset", &probe->offset },
		{ "addr", &probe->addr },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (strcmp(rows[i].name, name) == 0 && is_own_term(probe->kind, name))
			return rows[i].place;
	return NULL;
}

static int probe_term(struct event_parse *p, const struct spec_term *term, struct event *event,
		      void *data)
{
	struct probe_terms *probe = data;
	const struct spec_term **own = own_term(probe, term->name);
	struct pmu_format format = { 0 };
	uint64_t value;
	int ret;

	if (own) {
		if (!term->value || !*term->value)
			return spec_fail(p->error, -EINVAL, term->name_pos,
					 "%s needs a value: %s=...", term->name, term->name);
		*own = term;
		return 1;
	}
	ret = pmu_format_read(&format, probe->pmu, term->name);
	if (ret == 0 && !pmu_format_lacks(&format)) {
		ret = term_number(p, term, pmu_format_max(&format), &value);
		if (ret == 0) {
			pmu_format_set(&format, &event->attr, value);
			if (!strcmp(term->name, "retprobe"))
				probe->returns = value;
			ret = 1;
		}
	} else {
		ret = 0;
	}
	pmu_format_release(&format);
	return ret;
}

static void add_probe_names(void *data, struct near_name *near, struct str *names)
{
	const struct probe_terms *probe = data;
	struct name_list formats = { 0 };
	char *dir = xasprintf("%s/format", probe->pmu->dir);
	char *words = xstrdup(probe->kind->terms), *rest = words, *word;

	str_addf(names, "%s%s", names->len ? ", " : "", probe->kind->terms);
	while ((word = strsep(&rest, ", ")))
		near_consider(near, word);
	name_list_read(&formats, dir);
	for (size_t i = 0; i < formats.n; i++) {
		near_consider(near, formats.v[i]);
		str_addf(names, ", %s", formats.v[i]);
	}
	name_list_release(&formats);
	free(words);
	free(dir);
}

/* ---- the place ---- */

/* "main+0x10": a plus sign with a number after it; others belong to the name. */
static int split_place(struct event_parse *p, const struct probe_terms *probe, struct probe_place *place)
{
	const char *text = probe->func->value, *plus = strrchr(text, '+');
	uint64_t more = 0;
	struct spec_term number = *probe->func;

	*place = (struct probe_place){ .name = xstrdup(text) };
	if (plus && isdigit((unsigned char)plus[1])) {
		place->name[plus - text] = '\0';
		number.value = place->name + (plus - text) + 1;
		number.value_pos += (size_t)(plus - text) + 1;
		if (term_number(p, &number, INT64_MAX, &place->offset))
			return p->error->code;
	}
	if (probe->offset && term_number(p, probe->offset, INT64_MAX, &more))
		return p->error->code;
	place->offset += more; /* both are at most INT64_MAX */
	if (!*place->name)
		return spec_fail(p->error, -EINVAL, probe->func->value_pos,
				 "a function's name is missing");
	return 0;
}

static int find_in_file(struct event_parse *p, const struct probe_terms *probe, uint64_t *out)
{
	struct elf_function function = { 0 };
	struct probe_place place;
	struct str err = STR_INIT;
	struct near_name near;
	int ret = split_place(p, probe, &place);

	if (ret)
		goto out;
	near_init(&near, place.name, strlen(place.name));
	ret = elf_find_function(probe->path->value, place.name, &function, &near, &err);
	if (ret == -ENOENT && near_best(&near) && !p->error->code)
		str_addf(&p->error->hint, "did you mean 'func=%s'?", near_best(&near));
	if (ret) {
		spec_fail(p->error, ret, probe->func->value_pos, "%s", err.s);
	} else if (place.offset && function.size_bytes && place.offset >= function.size_bytes) {
		ret = spec_fail(p->error, -EINVAL, probe->func->value_pos,
				"'%s' has %llu bytes: +0x%llx is outside", place.name,
				(unsigned long long)function.size_bytes,
				(unsigned long long)place.offset);
	}
	*out = function.offset + place.offset;
out:
	free(place.name);
	str_release(&err);
	return ret;
}

static int finish_uprobe(struct event_parse *p, struct probe_terms *probe, struct event *event)
{
	uint64_t offset = 0;
	int ret;

	if (!probe->path)
		return spec_fail(p->error, -EINVAL, probe->spec->word_pos,
				 "uprobe needs the file: uprobe/path=FILE,func=NAME/");
	if (!probe->func && !probe->offset)
		return spec_fail(p->error, -EINVAL, probe->spec->word_pos,
				 "uprobe needs the place in the file: func=NAME or offset=N");
	if (access(probe->path->value, F_OK))
		return spec_fail(p->error, -errno, probe->path->value_pos, "%s: %s",
				 probe->path->value, strerror(errno));
	if (probe->func)
		ret = find_in_file(p, probe, &offset);
	else
		ret = term_number(p, probe->offset, INT64_MAX, &offset);
	event->probe_path = xstrdup(probe->path->value);
	event->attr.config1 = (uintptr_t)event->probe_path;
	event->attr.config2 = offset;
	if (!ret && !probe->func)
		note_no_code(p, event);
	return ret;
}

static int finish_kprobe(struct event_parse *p, struct probe_terms *probe, struct event *event)
{
	struct probe_place place;
	uint64_t addr;
	int ret;

	if (!probe->func == !probe->addr)
		return spec_fail(p->error, -EINVAL, probe->spec->word_pos,
				 "kprobe needs either func=NAME or addr=N");
	if (probe->addr && probe->offset)
		return spec_fail(p->error, -EINVAL, probe->offset->name_pos,
				 "offset= belongs to a function, not to addr=");
	if (probe->addr) {
		ret = term_number(p, probe->addr, UINT64_MAX, &addr);
		event->attr.config1 = 0;
		event->attr.config2 = addr;
		return ret;
	}
	ret = split_place(p, probe, &place);
	event->probe_path = place.name;
	event->attr.config1 = (uintptr_t)event->probe_path;
	event->attr.config2 = place.offset;
	return ret;
}

/* ---- its name ---- */

static bool has_term(const struct spec_event *spec, const char *name)
{
	for (size_t i = 0; i < spec->n_terms; i++)
		if (!strcmp(spec->terms[i].name, name))
			return true;
	return false;
}

/* probe_ and the file's name up to its first dot or hyphen; what is no file has no name. */
static void add_probe_group(struct str *out, const struct probe_terms *probe)
{
	const char *base;

	str_add(out, "probe");
	if (!probe->path)
		return;
	base = strrchr(probe->path->value, '/');
	base = base ? base + 1 : probe->path->value;
	str_addc(out, '_');
	for (; isalnum((unsigned char)*base) || *base == '_'; base++)
		str_addc(out, *base);
}

static void name_probe(const struct probe_terms *probe, struct event *event)
{
	const char *modifiers = probe->spec->modifiers;
	struct str name = STR_INIT;

	add_probe_group(&name, probe);
	if (probe->func) {
		str_addf(&name, ":%s", probe->func->value);
		if (probe->offset)
			str_addf(&name, "+%s", probe->offset->value);
	} else {
		str_addf(&name, ":0x%llx", (unsigned long long)event->attr.config2);
	}
	str_addf(&name, "%s%s%s", probe->returns ? "__return" : "", *modifiers ? ":" : "", modifiers);
	free(event->name);
	event->name = xstrdup(name.s);
	str_release(&name);
}

/* ---- the source ---- */

static const struct probe_kind *find_kind(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(probe_kinds); i++)
		if (strcmp(probe_kinds[i].pmu, word) == 0)
			return &probe_kinds[i];
	return NULL;
}

static int probe_lookup(struct event_parse *p, const struct spec_event *spec)
{
	struct probe_terms probe = { .spec = spec };
	struct event *event;
	int ret;

	if (spec->kind != SPEC_PMU || !(probe.kind = find_kind(spec->word)))
		return 0;
	probe.pmu = pmu_get(p, spec->word);
	if (!probe.pmu) {
		ret = pmu_folder_exists(p, spec);
		return ret ? ret : spec_fail(p->error, -ENOENT, spec->word_pos, "%s", probe.kind->absent);
	}
	event = event_new(p, spec, &probe_source);
	event->attr.type = probe.pmu->info.type;
	free(event->pmu_name);
	event->pmu_name = xstrdup(probe.pmu->info.name);
	ret = event_apply_terms(p, spec, event, probe_term, add_probe_names, &probe);
	if (!ret)
		ret = probe.kind->finish(p, &probe, event);
	if (!ret && !has_term(spec, "name"))
		name_probe(&probe, event);
	return ret ? ret : 1;
}

static int probe_list(const struct host_paths *host, event_info_fn fn, void *data, struct str *err)
{
	struct event_parse p = { .host = host };
	int ret = 0;

	(void)err;
	for (size_t i = 0; i < ARRAY_SIZE(probe_kinds) && !ret; i++) {
		const struct event_info info = { .topic = probe_source.topic.name,
						 .name = probe_kinds[i].example, .alias = "",
						 .desc = probe_kinds[i].desc,
						 .pmu_name = probe_kinds[i].pmu, .unit = "",
						 .scale = 1.0 };

		if (pmu_find(&p, probe_kinds[i].pmu))
			ret = fn(&info, data);
	}
	pmu_catalog_free(p.catalog);
	return ret;
}

const struct event_source probe_source = {
	.topic = { "probe", "Probes", "Kernel PMU event", false },
	.lookup = probe_lookup,
	.list = probe_list,
};
