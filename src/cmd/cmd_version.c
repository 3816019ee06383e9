/* SPDX-License-Identifier: MIT */
/*
 * pstat version: the version, and with --build-options what this build can use; pstat check: the same by perf's names
 * of features, for scripts. An optional library is asked about by using it, so that the answer is right for a build
 * without it and for a machine that lacks it.
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
#include <strings.h>
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

static int try_zstd(const struct kern *kern, struct str *err)
{
	struct zstd_in *in;
	int rc = zstd_in_new(&in, err);

	(void)kern;
	if (!rc)
		zstd_in_free(in);
	return rc;
}

/* Something that every build has. */
static int try_own(const struct kern *kern, struct str *err)
{
	(void)kern, (void)err;
	return 0;
}

/* Something that pstat does without. */
static int try_absent(const struct kern *kern, struct str *err)
{
	(void)kern, (void)err;
	return -ENOSYS;
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

/* ---- check ---- */

struct check_words {
	bool quiet;
};

const struct option_row check_options[] = {
	{ .kind = OPTION_GROUP, .help = "How to print" },
	{ OPTION_FLAG, 'q', "quiet", NULL, "print nothing: the exit status says it",
	  .offset = offsetof(struct check_words, quiet) },
	{ .kind = OPTION_END },
};

/*
 * Features by perf's names, those of `perf version --build-options` of perf 7.2. One is on where pstat can do what
 * perf does with it, by whatever means. To add one: a row here, a name in pstat-check(1).
 */
static const struct perf_feature {
	const char *name, *macro;
	int (*try)(const struct kern *kern, struct str *err); /* as in build_options */
	const char *note; /* how pstat does it, or does without; NULL: with the same library */
} perf_features[] = {
	{ "aio", "HAVE_AIO_SUPPORT", try_own, "readers of rings never wait for the file" },
	{ "bpf", "HAVE_LIBBPF_SUPPORT", try_libbpf, NULL },
	{ "bpf_skeletons", "HAVE_BPF_SKEL", try_libbpf, NULL },
	{ "debuginfod", "HAVE_DEBUGINFOD_SUPPORT", try_debuginfod, NULL },
	{ "dwarf", "HAVE_LIBDW_SUPPORT", try_own, NULL },
	{ "dwarf_getlocations", "HAVE_LIBDW_SUPPORT", try_own, NULL },
	{ "dwarf-unwind", "HAVE_DWARF_UNWIND_SUPPORT", try_own, NULL },
	{ "libbfd", "HAVE_LIBBFD_SUPPORT", try_absent, "libdw and capstone do its work" },
	{ "babeltrace2-ctf-writer", "HAVE_BABELTRACE2_CTF_WRITER_SUPPORT", try_absent,
	  "pstat export has other formats" },
	{ "libbpf-strings", "HAVE_LIBBPF_STRINGS_SUPPORT", try_absent, "BPF programs are not annotated" },
	{ "libcapstone", "HAVE_LIBCAPSTONE_SUPPORT", try_capstone, NULL },
	{ "libdw-dwarf-unwind", "HAVE_LIBDW_SUPPORT", try_own, NULL },
	{ "libelf", "HAVE_LIBELF_SUPPORT", try_own, NULL },
	{ "libLLVM", "HAVE_LIBLLVM_SUPPORT", try_absent, "libdw and capstone do its work" },
	{ "libnuma", "HAVE_LIBNUMA_SUPPORT", try_absent, "nodes are read from sysfs" },
	{ "libopencsd", "HAVE_CSTRACE_SUPPORT", try_absent, "there is no decoder of traces" },
	{ "libperl", "HAVE_LIBPERL_SUPPORT", try_absent, "scripts in Perl are not run" },
	{ "libpfm4", "HAVE_LIBPFM", try_libpfm4, NULL },
	{ "libpython", "HAVE_LIBPYTHON_SUPPORT", try_own, "scripts are run by a python3 beside pstat" },
	{ "libslang", "HAVE_SLANG_SUPPORT", try_ncurses, "the browser is drawn by ncurses" },
	{ "libtraceevent", "HAVE_LIBTRACEEVENT", try_own, "pstat reads the fields of tracepoints itself" },
	{ "libunwind", "HAVE_LIBUNWIND_SUPPORT", try_libunwind, NULL },
	{ "lzma", "HAVE_LZMA_SUPPORT", try_liblzma, NULL },
	{ "numa_num_possible_cpus", "HAVE_LIBNUMA_SUPPORT", try_absent, "nodes are read from sysfs" },
	{ "zlib", "HAVE_ZLIB_SUPPORT", try_zlib, NULL },
	{ "zstd", "HAVE_ZSTD_SUPPORT", try_zstd, NULL },
	{ "rust", "HAVE_RUST_SUPPORT", try_absent, "only perf's own tests use it" },
};

static const struct perf_feature *feature_find(const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(perf_features); i++) {
		const struct perf_feature *feature = &perf_features[i];

		if ((strlen(feature->name) == n && !strncasecmp(feature->name, name, n)) ||
		    (strlen(feature->macro) == n && !strncasecmp(feature->macro, name, n)))
			return feature;
	}
	return NULL;
}

/* Adds perf's line of it; true: it is on and usable here. */
static bool add_feature(struct str *out, const struct perf_feature *feature, const struct kern *kern)
{
	struct str err = STR_INIT;
	int rc = feature->try(kern, &err);
	const char *note = rc < 0 && rc != -ENOSYS ? err.s : feature->note;

	str_addf(out, "%22s: [ %-3s ]  # %s", feature->name, rc < 0 ? "OFF" : "on", feature->macro);
	if (note)
		str_addf(out, " ( tip: %s )", note);
	str_addc(out, '\n');
	str_release(&err);
	return rc >= 0;
}

/* A list of names by commas. The exit status: 0 all are on, 1 one is not or is not known. */
static int check_features(const char *list, bool quiet, const struct kern *kern)
{
	const struct perf_feature *feature;
	struct str out = STR_INIT;
	int failed, status = 0;

	for (const char *at = list, *end; at; at = *end ? end + 1 : NULL) {
		end = strchrnul(at, ',');
		feature = feature_find(at, (size_t)(end - at));
		if (!feature) {
			message_error("check: '%.*s' is not a feature of perf\npstat-check(1) has their names",
				      (int)(end - at), at);
			status = 1;
			break;
		}
		if (!add_feature(&out, feature, kern))
			status = 1;
	}
	failed = quiet ? 0 : message_stdout(&out);
	str_release(&out);
	return failed ? failed : status;
}

/* Options may follow the word, too, as in perf. */
int cmd_check(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct check_words words = { .quiet = false };
	int first, more, status = command_parse(self, argc, argv, &words, &first);

	if (status >= 0)
		return status;
	if (first == argc || strcmp(argv[first], "feature"))
		return bad_usage("check: give the word 'feature' and names: pstat check feature zstd,libelf");
	status = command_parse(self, argc - first, argv + first, &words, &more);
	if (status >= 0)
		return status;
	more += first;
	if (more + 1 != argc)
		return bad_usage("check: give one list of features: pstat check feature zstd,libelf");
	return check_features(argv[more], words.quiet, kern);
}
