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
	m->host = (struct host_paths){ m->sysfs, m->procfs, m->tracefs };
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

static inline void fake_machine_release(struct fake_machine *m)
{
	nftw(m->root, fake_machine_unlink, 16, FTW_DEPTH | FTW_PHYS);
	free(m->sysfs);
	free(m->procfs);
	free(m->tracefs);
}

#endif
