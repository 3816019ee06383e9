/* SPDX-License-Identifier: MIT */
/*
 * pfm: vendor event names by libpfm4: PMU::EVENT:UMASK in -e, and --pfm-events lists, where the
 * PMU may be left out. Attributes (:u, :c=1, :period=...) are libpfm4's own.
 *
 * The library is loaded when a name first needs it and then stays loaded: it keeps its tables, so
 * that a second look-up costs little. It finds PMUs that this machine does not have, when they are
 * named; such an event gets the type EVENT_TYPE_ABSENT, because its code would count something else
 * here.
 *
 * Built where libpfm4's headers are; pfm_none.c stands in for it elsewhere.
 * Source: libpfm4's pfm_get_os_event_encoding(3).
 */
#include "event/pfm.h"
#include "event/pmu.h"

#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdlib.h>

#define LIBPFM "libpfm.so.4"
#define ENCODE_INACTIVE "LIBPFM_ENCODE_INACTIVE"

#define LIBPFM_FUNCTIONS(FN)                                                         \
	FN(pfm_initialize) FN(pfm_strerror) FN(pfm_get_pmu_info) FN(pfm_get_event_info) \
	FN(pfm_get_event_attr_info) FN(pfm_get_event_next) FN(pfm_get_os_event_encoding)

struct libpfm {
#define MEMBER(name) __typeof__(name) *name;
	LIBPFM_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* ---- the library ---- */

/* The library looks at the variable once; the measured command must not inherit it from here. */
static int initialize(const struct libpfm *lib)
{
	bool ours = !getenv(ENCODE_INACTIVE);
	int ret;

	if (ours)
		setenv(ENCODE_INACTIVE, "1", 1);
	ret = lib->pfm_initialize();
	if (ours)
		unsetenv(ENCODE_INACTIVE);
	return ret;
}

/* Loads libpfm4, which stays loaded: a second look-up costs little then. */
static int libpfm_load(struct libpfm *lib, struct str *err)
{
	static const struct library_symbol symbols[] = {
#define ROW(name) { #name, offsetof(struct libpfm, name) },
		LIBPFM_FUNCTIONS(ROW)
#undef ROW
	};
	struct str why = STR_INIT;
	int ret;

	if (!library_load(LIBPFM, symbols, ARRAY_SIZE(symbols), lib, &why)) {
		ret = fail(err, -ENOSYS, "vendor event names need libpfm4: %s", why.s);
		str_release(&why);
		return ret;
	}
	ret = initialize(lib);
	if (ret != PFM_SUCCESS)
		return fail(err, -ENOSYS, "libpfm4: %s", lib->pfm_strerror(ret));
	return 0;
}

/* Finds the PMU whose name is the first len bytes of name; false if there is none. */
static bool find_pmu(const struct libpfm *lib, const char *name, size_t len, pfm_pmu_info_t *out)
{
	pfm_pmu_t pmu;

	pfm_for_all_pmus(pmu) {
		*out = (pfm_pmu_info_t){ .size = sizeof(*out) };
		if (lib->pfm_get_pmu_info(pmu, out) == PFM_SUCCESS && strlen(out->name) == len &&
		    strncmp(out->name, name, len) == 0)
			return true;
	}
	return false;
}

/* ---- lookup ---- */

/* Bytes of the PMU's name in "skl::INST_RETIRED:ANY_P"; 0 where there is none. */
static size_t pmu_length(const char *name)
{
	const char *colons = strstr(name, "::");

	return colons ? (size_t)(colons - name) : 0;
}

static void consider_events(const struct libpfm *lib, const pfm_pmu_info_t *pmu,
			    struct near_name *near)
{
	for (int i = pmu->first_event; i != -1; i = lib->pfm_get_event_next(i)) {
		pfm_event_info_t info = { .size = sizeof(info) };

		if (lib->pfm_get_event_info(i, PFM_OS_PERF_EVENT_EXT, &info) == PFM_SUCCESS)
			near_consider(near, info.name);
	}
}

static int unknown_pmu(struct event_parse *p, const struct libpfm *lib,
		       const struct spec_event *spec, size_t len)
{
	struct near_name near;
	pfm_pmu_t pmu;

	if (p->error->code)
		return p->error->code;
	near_init(&near, spec->word, len);
	pfm_for_all_pmus(pmu) {
		pfm_pmu_info_t info = { .size = sizeof(info) };

		if (lib->pfm_get_pmu_info(pmu, &info) == PFM_SUCCESS)
			near_consider(&near, info.name);
	}
	if (near_best(&near))
		str_addf(&p->error->hint, "did you mean '%s::'?", near_best(&near));
	else
		str_add(&p->error->hint, "'pstat list pfm' shows this machine's");
	return spec_fail(p->error, -ENOENT, spec->word_pos, "libpfm4 knows no unit '%.*s'",
			 (int)len, spec->word);
}

/* pmu is NULL where no PMU was named: then the events of all PMUs that are here may be meant. */
static int unknown_event(struct event_parse *p, const struct libpfm *lib,
			 const struct spec_event *spec, const pfm_pmu_info_t *pmu)
{
	size_t pmu_len = pmu_length(spec->word);
	size_t skip = pmu_len ? pmu_len + strlen("::") : 0;
	const char *event = spec->word + skip;
	size_t len = strcspn(event, ":.");
	struct near_name near;
	pfm_pmu_t each;

	if (p->error->code)
		return p->error->code;
	near_init(&near, event, len);
	if (pmu)
		consider_events(lib, pmu, &near);
	pfm_for_all_pmus(each) {
		pfm_pmu_info_t info = { .size = sizeof(info) };

		if (!pmu && lib->pfm_get_pmu_info(each, &info) == PFM_SUCCESS &&
		    info.is_present)
			consider_events(lib, &info, &near);
	}
	if (near_best(&near))
		str_addf(&p->error->hint, "did you mean '%s'?", near_best(&near));
	return spec_fail(p->error, -ENOENT, spec->word_pos + skip,
			 "%s has no event '%.*s' that libpfm4 knows",
			 pmu ? pmu->name : "this machine", (int)len, event);
}

static void take_attr(struct event *event, const struct perf_event_attr *attr)
{
	event->attr = *attr;
	event->attr.size = 0; /* kern/ says which layout it opens */
	event->user_excludes = attr->exclude_user || attr->exclude_kernel || attr->exclude_hv;
	event->user_guest = attr->exclude_host || !attr->exclude_guest;
	event->terms.has_period = attr->sample_period && !attr->freq;
	event->terms.has_freq = attr->sample_freq && attr->freq;
}

static int encode(struct event_parse *p, const struct libpfm *lib, const struct spec_event *spec)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .exclude_guest = 1 };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg), .cpu = -1 };
	size_t pmu_len = pmu_length(spec->word);
	pfm_pmu_info_t pmu;
	struct event *event;
	int ret;

	if (pmu_len && !find_pmu(lib, spec->word, pmu_len, &pmu))
		return unknown_pmu(p, lib, spec, pmu_len);
	ret = lib->pfm_get_os_event_encoding(spec->word, PFM_PLM0 | PFM_PLM3 | PFM_PLMH,
					     PFM_OS_PERF_EVENT_EXT, &arg);
	if (ret == PFM_ERR_NOTFOUND)
		return unknown_event(p, lib, spec, pmu_len ? &pmu : NULL);
	/* PMUs outside the core cannot be encoded where sysfs does not have them. */
	if (ret == PFM_ERR_NOTSUPP && pmu_len && !pmu.is_present)
		ret = PFM_SUCCESS;
	if (ret != PFM_SUCCESS)
		return spec_fail(p->error, -EINVAL, spec->word_pos, "%s: libpfm4: %s", spec->word,
				 lib->pfm_strerror(ret));
	event = event_new(p, spec, &pfm_source);
	take_attr(event, &attr);
	if (pmu_len && !pmu.is_present) {
		event->attr.type = EVENT_TYPE_ABSENT;
		free(event->pmu_name);
		event->pmu_name = xstrdup(pmu.name);
	}
	event_find_pmu(p, event);
	if (arg.cpu >= 0) {
		intset_release(&event->cpus);
		intset_add(&event->cpus, arg.cpu);
	}
	return 1;
}

int pfm_add(struct event_parse *p, const struct spec_event *spec)
{
	struct libpfm lib = { 0 };
	struct str err = STR_INIT;
	int ret = libpfm_load(&lib, &err);

	if (ret)
		spec_fail(p->error, ret, spec->word_pos, "%s", err.s);
	else
		ret = encode(p, &lib, spec);
	str_release(&err);
	return ret;
}

static int pfm_lookup(struct event_parse *p, const struct spec_event *spec)
{
	return spec->kind == SPEC_PFM ? pfm_add(p, spec) : 0;
}

/* ---- list ---- */

struct pfm_listing {
	const struct libpfm *lib;
	const char *pmu;
	event_info_fn fn;
	void *data;
};

static int list_one(const struct pfm_listing *l, const pfm_event_info_t *event,
		    const pfm_event_attr_info_t *umask)
{
	char *name = xasprintf("%s::%s%s%s", l->pmu, event->name, umask ? ":" : "",
			       umask ? umask->name : "");
	const char *more = umask && umask->desc ? umask->desc : "";
	char *desc = xasprintf("%s%s%s", event->desc ? event->desc : "", *more ? ": " : "", more);
	const struct event_info info = { .topic = pfm_source.topic.name, .name = name, .alias = "",
					 .desc = desc, .pmu_name = l->pmu, .unit = "",
					 .scale = 1.0 };
	int ret = l->fn(&info, l->data);

	free(name);
	free(desc);
	return ret;
}

/* One row for each unit mask, or one for an event without any. */
static int list_event(const struct pfm_listing *l, int index)
{
	pfm_event_info_t event = { .size = sizeof(event) };
	bool has_umask = false;
	int ret = 0;

	if (l->lib->pfm_get_event_info(index, PFM_OS_PERF_EVENT_EXT, &event) != PFM_SUCCESS)
		return 0;
	for (int i = 0; i < event.nattrs && !ret; i++) {
		pfm_event_attr_info_t attr = { .size = sizeof(attr) };

		if (l->lib->pfm_get_event_attr_info(index, i, PFM_OS_PERF_EVENT_EXT, &attr) !=
			    PFM_SUCCESS ||
		    attr.type != PFM_ATTR_UMASK)
			continue;
		has_umask = true;
		ret = list_one(l, &event, &attr);
	}
	return ret || has_umask ? ret : list_one(l, &event, NULL);
}

int pfm_list_pmus(const char *pattern, event_info_fn fn, void *data, struct str *err)
{
	struct libpfm lib = { 0 };
	pfm_pmu_t pmu;
	int ret = libpfm_load(&lib, err);

	if (ret)
		goto out;
	pfm_for_all_pmus(pmu) {
		pfm_pmu_info_t info = { .size = sizeof(info) };
		struct pfm_listing l = { .lib = &lib, .fn = fn, .data = data };

		if (ret || lib.pfm_get_pmu_info(pmu, &info) != PFM_SUCCESS)
			continue;
		if (pattern ? !glob_match(pattern, info.name) : !info.is_present)
			continue;
		l.pmu = info.name;
		for (int i = info.first_event; i != -1 && !ret; i = lib.pfm_get_event_next(i))
			ret = list_event(&l, i);
	}
out:
	return ret;
}

static int pfm_list(const struct host_paths *host, event_info_fn fn, void *data, struct str *err)
{
	(void)host;
	return pfm_list_pmus(NULL, fn, data, err);
}

const struct event_source pfm_source = {
	.topic = { "pfm", "Vendor events", "Kernel PMU event", false },
	.lookup = pfm_lookup,
	.list = pfm_list,
	.list_is_slow = true,
};
