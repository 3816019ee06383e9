/* SPDX-License-Identifier: MIT */
/*
 * A machine of files: sysfs, procfs and tracefs in a temporary folder, with only the PMUs and
 * tracepoints that a test puts there.
 */
#ifndef FAKE_MACHINE_H
#define FAKE_MACHINE_H

#include "util/util.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct fake_machine {
	char root[64];
	char *sysfs, *procfs, *tracefs;
	struct host_paths host;
};

static inline void fake_machine_init(struct fake_machine *m)
{
	snprintf(m->root, sizeof(m->root), "/tmp/pstat-test-XXXXXX");
	if (!mkdtemp(m->root))
		abort();
	m->sysfs = xasprintf("%s/sys", m->root);
	m->procfs = xasprintf("%s/proc", m->root);
	m->tracefs = xasprintf("%s/tracing", m->root);
	m->host = (struct host_paths){ m->sysfs, m->procfs, m->tracefs, NULL };
}

/* A file below the machine's root, with the folders on the way. */
static inline void fake_machine_file(struct fake_machine *m, const char *path, const char *text)
{
	char *full = xasprintf("%s/%s", m->root, path);
	FILE *f;

	for (char *p = full + strlen(m->root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0755);
		*p = '/';
	}
	f = fopen(full, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
	free(full);
}

/* `what` is "type", "cpus", "format/event", "events/NAME", ... */
static inline void fake_machine_pmu(struct fake_machine *m, const char *pmu, const char *what,
				    const char *text)
{
	char *path = xasprintf("sys/bus/event_source/devices/%s/%s", pmu, what);

	fake_machine_file(m, path, text);
	free(path);
}

static inline void fake_machine_tracepoint(struct fake_machine *m, const char *system,
					   const char *name, const char *id)
{
	char *path = xasprintf("tracing/events/%s/%s/id", system, name);

	fake_machine_file(m, path, id);
	free(path);
}

static inline int fake_machine_unlink(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static inline void fake_machine_remove(const char *folder)
{
	nftw(folder, fake_machine_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

/* "|" stands for the end of a line, {root} for the folder that plays the root. */
static inline void fake_machine_lines(struct fake_machine *m, const char *path, const char *content)
{
	struct str text = STR_INIT;

	for (; *content; content++) {
		if (!strncmp(content, "{root}", 6)) {
			str_add(&text, m->root);
			content += 5;
		} else {
			str_addc(&text, *content == '|' ? '\n' : *content);
		}
	}
	str_addc(&text, '\n');
	fake_machine_file(m, path, text.s);
	str_release(&text);
}

/*
 * The files of tests/data/machines/NAME ("hybrid", "uncore", ...; see tests/attr/run), tracefs with them.
 * False outside the repository: skip().
 */
static inline bool fake_machine_load(struct fake_machine *m, const char *name)
{
	struct str text = STR_INIT;
	char *path = xasprintf("tests/data/machines/%s", name), *rest, *line;
	bool loaded = !read_text_file(path, &text);

	for (rest = text.s; loaded && (line = strsep(&rest, "\n"));) {
		char *content = strstr(line, " = ");

		if (!strncmp(line, "include ", 8)) {
			loaded = fake_machine_load(m, line + 8);
		} else if (!strncmp(line, "remove ", 7)) {
			char *folder = xasprintf("%s/%s", m->root, line + 7);

			fake_machine_remove(folder);
			free(folder);
		} else if (*line && *line != '#' && content) {
			*content = '\0';
			fake_machine_lines(m, line, content + 3);
		}
	}
	free(m->tracefs);
	m->tracefs = xasprintf("%s/sys/kernel/tracing", m->root);
	m->host.tracefs = m->tracefs;
	free(path);
	str_release(&text);
	return loaded;
}

static inline void fake_machine_release(struct fake_machine *m)
{
	fake_machine_remove(m->root);
	free(m->sysfs);
	free(m->procfs);
	free(m->tracefs);
}

#endif
