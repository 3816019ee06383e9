/* SPDX-License-Identifier: MIT */
/*
 * make_recordings FOLDER [NAME]: makes the golden recordings, and the ELF files and kernel names that they are
 * about, anew; with NAME only the recording of that name, which may be one that is of this machine.
 *
 *   make golden        builds this and runs it on tests/golden
 *
 * The files are kept in the repository: they are what the tests read. To add one: a function and a row in
 * one of the golden_*.c tables, lines in tests/golden/cases, then
 *
 *   GOLDEN_UPDATE=1 tests/run cli/golden
 *
 * writes the expected outputs that are not there yet; each is to be checked by hand, and against
 * `perf report` and `perf script` of the same file, before it is kept.
 */
#include "golden/golden.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static void text_of(char **at, unsigned feature, const char *text, struct info *info)
{
	*at = xstrdup(text);
	info_set(info, feature);
}

static void fill_info(struct info *info)
{
	text_of(&info->hostname, FEATURE_HOSTNAME, "golden", info);
	text_of(&info->os_release, FEATURE_OSRELEASE, "6.1.0-golden", info);
	text_of(&info->arch, FEATURE_ARCH, "x86_64", info);
	text_list_add(&info->cmdline, "pstat", 5);
	text_list_add(&info->cmdline, "record", 6);
	text_list_add(&info->cmdline, "app", 3);
	info_set(info, FEATURE_CMDLINE);
	info->cpus_available = info->cpus_online = 2;
	info_set(info, FEATURE_NRCPUS);
	info_set(info, FEATURE_EVENT_DESC);
}

/* What a run before this one left: a file, or a folder of a few. */
static void forget(const char *path)
{
	static const char *const files[] = { "data", "data.0", "data.1" };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char *file = xasprintf("%s/%s", path, files[i]);

		unlink(file);
		free(file);
	}
	if (rmdir(path))
		unlink(path);
}

static void make(const struct golden_recording *recording, const char *folder)
{
	struct golden g = { .path = xasprintf("%s/%s", folder, recording->name), .now_ns = 1000 * MS };
	struct str err = STR_INIT;

	g.options.path = g.path;
	events_init(&g.events);
	info_init(&g.info);
	fill_info(&g.info);
	forget(g.path);
	recording->make(&g);
	g.info.first_sample_ns = g.first_sample_ns;
	g.info.last_sample_ns = g.last_sample_ns;
	info_set(&g.info, FEATURE_SAMPLE_TIME);
	if (writer_finish(&g.writer, &g.events, &g.info, &err))
		golden_stop(g.path, err.s);
	writer_close(&g.writer);
	if (recording->after)
		recording->after(g.path);
	else if (chmod(g.path, 0644))
		golden_stop(g.path, strerror(errno));
	events_release(&g.events);
	info_release(&g.info);
	free(g.path);
}

int main(int argc, char **argv)
{
	const struct golden_recording *const tables[] = { golden_tasks, golden_samples, golden_tracepoints,
							  golden_sched, golden_kernels, golden_layouts,
							  golden_made_here };

	if (argc < 2 || argc > 3)
		golden_stop("usage", "make_recordings FOLDER [NAME]");
	golden_make_files(argv[1]);
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		for (const struct golden_recording *r = tables[i]; r->name; r++)
			if (argc < 3 ? tables[i] != golden_made_here : !strcmp(argv[2], r->name))
				make(r, argv[1]);
	return 0;
}
