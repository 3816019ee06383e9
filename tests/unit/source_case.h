/* SPDX-License-Identifier: MIT */
/*
 * For the tests of event sources: a spec in, its events as lines out, or the message.
 *
 *   uncore_imc_0/cas_count_read/ @uncore_imc_0 a:304 cpus=0,18 x6.103515625e-05 MiB expansion=1/pmus
 *
 * name, @pmu, type:config in hexadecimal, then config1 and config2 and what else is not the usual.
 */
#ifndef SOURCE_CASE_H
#define SOURCE_CASE_H

#include "event/event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static inline void describe_source_event(struct str *out, const struct event *event)
{
	static const char *const expansions[] = { "none", "pmus", "cores" };

	str_addf(out, "%s @%s %x:%llx", event->name, event->pmu_name, event->attr.type,
		 (unsigned long long)event->attr.config);
	if (!event->probe_path && (event->attr.config1 || event->attr.config2))
		str_addf(out, ",%llx,%llx", (unsigned long long)event->attr.config1,
			 (unsigned long long)event->attr.config2);
	if (event->attr.bp_type)
		str_addf(out, " bp=%u", event->attr.bp_type);
	if (event->cpus.n) {
		str_add(out, " cpus=");
		intset_format(&event->cpus, out);
	}
	if (event->pmu_is_core)
		str_add(out, " core");
	if (event->scale != 1.0)
		str_addf(out, " x%.10g", event->scale);
	if (*event->unit)
		str_addf(out, " %s", event->unit);
	if (event->per_pkg)
		str_add(out, " per-pkg");
	if (event->snapshot)
		str_add(out, " snapshot");
	if (event->expansion != EXPANSION_NONE)
		str_addf(out, " expansion=%u/%s", event->expansion_id, expansions[event->expansion]);
	str_addc(out, '\n');
}

/* Events as lines, or the error's text; *code gets the return value. */
static inline void parse_source_spec(struct str *out, const char *spec,
				     const struct host_paths *host, int *code)
{
	struct event_list list;

	str_reset(out);
	event_list_init(&list);
	*code = event_list_parse(&list, spec, host, out);
	for (size_t i = 0; i < list.n; i++)
		describe_source_event(out, &list.v[i]);
	event_list_release(&list);
}

#define expect_events(spec, host, lines) check_events(spec, host, lines, __FILE__, __LINE__)
static inline void check_events(const char *spec, const struct host_paths *host, const char *lines,
				const char *file, int line)
{
	struct str out = STR_INIT;
	int code;

	parse_source_spec(&out, spec, host, &code);
	if (code || strcmp(out.s, lines) != 0) {
		print_error("%s: code %d\ngot:\n%s\nexpected:\n%s\n", spec, code, out.s, lines);
		_fail(file, line);
	}
	str_release(&out);
}

#define expect_error(spec, host, code, text) check_error(spec, host, code, text, __FILE__, __LINE__)
static inline void check_error(const char *spec, const struct host_paths *host, int expected,
			       const char *text, const char *file, int line)
{
	struct str out = STR_INIT;
	int code;

	parse_source_spec(&out, spec, host, &code);
	if (code != expected || !strstr(out.s, text)) {
		print_error("%s: code %d\ngot:\n%s\nexpected code %d and:\n%s\n", spec, code, out.s,
			    expected, text);
		_fail(file, line);
	}
	str_release(&out);
}

/* What `pstat list TOPIC GLOB` would show, a line each: name|alias|description|unit */
static inline int list_source_row(const struct event_info *info, void *data)
{
	str_addf(data, "%s|%s|%s|%s\n", info->name, info->alias, info->desc, info->unit);
	return 0;
}

#define skip_because(...)               \
	do {                            \
		printf("# skip: " __VA_ARGS__); \
		printf("\n");           \
		fflush(stdout);         \
		skip();                 \
	} while (0)

#endif
