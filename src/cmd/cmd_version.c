/*
 * pstat version: the version, and with --build-options what this build can use. An optional library is
 * asked about by using it, so that the answer is right for a build without it and for a machine
 * that lacks it.
 */
#include "annotate/annotate.h"
#include "bpf/bpf.h"
#include "buildcache/buildcache.h"
#include "cmd/command.h"
#include "cmd/message.h"
#include "compare/compare.h"
#include "elf/elf.h"
#include "export/export.h"
#include "fmt/fmt.h"
#include "screen/screen.h"

#include <errno.h>
#include <sys/utsname.h>

struct version_words {
	bool build_options;
};

const struct option_row version_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to print" },
	{ .kind = OPTION_FLAG, .name = "build-options", .help = "print which optional libraries are built in",
	  .offset = offsetof(struct version_words, build_options) },
	{ .kind = OPTION_END },
};

static int stop_at_once(const struct event_info *info, void *data)
{
	(void)info;
	(void)data;
	return 1;
}

static int try_libpfm4(const struct kern *kern, struct str *err)
{
	return event_walk("pfm", NULL, &kern->host, stop_at_once, NULL, err);
}

static int try_libiberty(const struct kern *kern, struct str *err)
{
	struct str name = STR_INIT;
	bool there = demangle("_Z1fv", true, NULL, &name);

	(void)kern, (void)err;
	str_release(&name);
	return there ? 0 : -ENOSYS;
}

static int try_liblzma(const struct kern *kern, struct str *err)
{
	(void)kern;
	return elf_xz_try(err);
}

static int try_debuginfod(const struct kern *kern, struct str *err)
{
	(void)kern;
	return debuginfod_try(err);
}

static int try_libunwind(const struct kern *kern, struct str *err)
{
	struct utsname machine;

	(void)kern, (void)err;
	return !uname(&machine) && unwind_libunwind.handles(machine.machine) ? 0 : -ENOSYS;
}

static int try_capstone(const struct kern *kern, struct str *err)
{
	(void)kern;
	return annotate_try(err);
}

static int try_ncurses(const struct kern *kern, struct str *err)
{
	(void)kern;
	return screen_try(err);
}

static int try_libarchive(const struct kern *kern, struct str *err)
{
	(void)kern;
	return cache_archive_try(err);
}

static int try_sqlite(const struct kern *kern, struct str *err)
{
	(void)kern;
	return export_sqlite_try(err);
}

static int try_jansson(const struct kern *kern, struct str *err)
{
	(void)kern;
	return compare_load_try(err);
}

static int try_libbpf(const struct kern *kern, struct str *err)
{
	(void)kern;
	return bpf_try(err);
}

static int try_zlib(const struct kern *kern, struct str *err)
{
	(void)kern;
	return gzip_try(err);
}

/* To add an optional library: a row here, its choice in the Makefile and in configure.ac. */
static const struct build_option {
	const char *name;
	const char *what;
	/* -ENOSYS: built without it; another negative errno: it can't be used here, with a sentence. */
	int (*try)(const struct kern *kern, struct str *err);
} build_options[] = {
	{ "libpfm4", "names of vendors' events", try_libpfm4 },
	{ "libiberty", "names of C++, Rust and D functions for people", try_libiberty },
	{ "liblzma", "symbols packed with xz", try_liblzma },
	{ "libunwind", "stacks of dwarf recordings; else libdw", try_libunwind },
	{ "capstone", "disassembly, for pstat annotate", try_capstone },
	{ "ncurses", "the browser of report on terminals", try_ncurses },
	{ "libarchive", "archives of what a recording needs, for pstat archive", try_libarchive },
	{ "libsqlite3", "databases, for pstat export", try_sqlite },
	{ "jansson", "results of pstat compare again, by --load", try_jansson },
	{ "libbpf", "samples counted in the kernel", try_libbpf },
	{ "zlib", "smaller files for pprof and the Firefox profiler", try_zlib },
	{ "libdebuginfod", "debug files from servers", try_debuginfod },
};

static void add_build_option(struct str *out, const struct build_option *option, const struct kern *kern)
{
	struct str err = STR_INIT;
	int rc = option->try(kern, &err);

	str_addf(out, "    %-14s [ %-3s ]  %s", option->name, rc == -ENOSYS ? "OFF" : "on",
		 option->what);
	if (rc < 0 && rc != -ENOSYS)
		str_addf(out, "; not usable here: %s", err.s);
	str_addc(out, '\n');
	str_release(&err);
}

int cmd_version(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct version_words words = { 0 };
	struct str out = STR_INIT;
	int status = command_parse(self, argc, argv, &words, NULL);

	if (status >= 0)
		return status;
	str_addf(&out, "pstat version %s\n", PSTAT_VERSION);
	for (size_t i = 0; words.build_options && i < ARRAY_SIZE(build_options); i++)
		add_build_option(&out, &build_options[i], kern);
	status = message_stdout(&out);
	str_release(&out);
	return status;
}
