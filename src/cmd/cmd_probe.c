/* SPDX-License-Identifier: MIT */
/*
 * pstat probe: sets probes in programs and in the kernel by the names of functions, lines and variables, lists and
 * removes them, in the words of perf's command of that name. Probes are everybody's, and stay until they are removed.
 *
 * All definitions of a call are made before the first is written; where the kernel refuses one, those written before it
 * are removed again.
 */
#include "cmd/command.h"
#include "cmd/message.h"
#include "probe/probe.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

struct texts {
	const char **v; /* borrowed from argv */
	size_t n, cap;
};

struct probe_words {
	struct texts add, define, remove;
	const char *list, *functions, *lines, *variables, *file, *filter, *sources;
	bool wants_list, wants_functions, dry_run, force, quiet, externs, ranges, no_inlines;
	long max_probes;
	int verbose;
};

static int take_text(void *target, const char *argument, struct str *err)
{
	struct texts *texts = target;

	(void)err;
	VEC_GROW(texts->v, texts->n, texts->cap);
	texts->v[texts->n++] = argument;
	return 0;
}

static int take_list(void *target, const char *argument, struct str *err)
{
	struct probe_words *words = target;

	(void)err;
	words->wants_list = true;
	words->list = argument;
	return 0;
}

static int take_functions(void *target, const char *argument, struct str *err)
{
	struct probe_words *words = target;

	(void)err;
	words->wants_functions = true;
	words->functions = argument;
	return 0;
}

#define FIELD(name) .offset = offsetof(struct probe_words, name)

const struct option_row probe_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to do" },
	{ OPTION_CALL, 'a', "add", "[name=]place [argument...]", "set a probe", .call = take_text, FIELD(add) },
	{ OPTION_CALL, 'd', "del", "[group:]event", "remove probes; * and ? stand for letters", .call = take_text,
	  FIELD(remove) },
	{ OPTION_CALL, 'l', "list", "[group:]event", "list probes", .call = take_list,
	  .argument_optional = true, .argument_may_follow = true },
	{ OPTION_CALL, 'D', "definition", "[name=]place [argument...]", "print definitions, and set nothing",
	  .call = take_text, FIELD(define) },
	{ OPTION_CALL, 'F', "funcs", "filter", "list functions that can be probed", .call = take_functions,
	  .argument_optional = true, .argument_may_follow = true },
	{ OPTION_TEXT, 'L', "line", "function[:from[-to]]", "show lines of source, numbered where they can be probed",
	  FIELD(lines) },
	{ OPTION_TEXT, 'V', "vars", "place", "show variables that can be read", FIELD(variables) },
	{ .kind = OPTION_GROUP, .help = "Where and how" },
	{ OPTION_TEXT, 'x', "exec", "file", "in a program or library; else in the kernel", FIELD(file),
	  .value = VALUE_FILE },
	{ OPTION_TEXT, 's', "source", "directory", "read source files below it", FIELD(sources),
	  .value = VALUE_DIRECTORY },
	{ OPTION_FLAG, 'f', "force", NULL, "give a name that is in use a number", FIELD(force) },
	{ OPTION_FLAG, 'n', "dry-run", NULL, "change nothing", FIELD(dry_run) },
	{ OPTION_NUMBER, 0, "max-probes", "n", "refuse a probe in more places", FIELD(max_probes), .min = 1,
	  .max = INT_MAX },
	{ OPTION_FLAG, 0, "no-inlines", NULL, "set no probe in copies that were inlined", FIELD(no_inlines) },
	{ OPTION_TEXT, 0, "filter", "filter", "list only names that match; !: others", FIELD(filter) },
	{ OPTION_FLAG, 0, "externs", NULL, "show global variables, too", FIELD(externs) },
	{ OPTION_FLAG, 0, "range", NULL, "show where in the function variables have a value", FIELD(ranges) },
	{ OPTION_FLAG, 'q', "quiet", NULL, "print only errors", FIELD(quiet) },
	{ OPTION_COUNT, 'v', "verbose", NULL, "print the definitions", FIELD(verbose) },
	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_ACCEPTED, 0, "demangle", NULL, .help = "names of C++ are taken in either form" },
	{ OPTION_ACCEPTED, 0, "demangle-kernel", NULL, .help = "the kernel has no such names" },
	{ OPTION_REFUSED, 0, "bootconfig", NULL, .help = "the kernel's boot configuration is not written here" },
	{ OPTION_REFUSED, 0, "cache", NULL, .help = "there is no cache of probes", .instead = "-D prints definitions" },
	{ OPTION_REFUSED, 'k', "vmlinux", "file", .help = "lines of the kernel's source are not read",
	  .value = VALUE_FILE },
	{ OPTION_REFUSED, 'm', "module", "name", .help = "the kernel finds functions of modules by their names" },
	{ OPTION_REFUSED, 0, "symfs", "directory", .help = "probes are set in files of this machine",
	  .value = VALUE_DIRECTORY },
	{ OPTION_REFUSED, 0, "target-ns", "pid", .help = "files are named as pstat sees them",
	  .instead = "-x /proc/PID/root/..." },
	{ .kind = OPTION_END },
};

/* One call of the command. */
struct probe_run {
	const struct probe_words *words;
	const struct kern *kern;
	struct probe_file *file; /* NULL: the kernel is meant */
	struct probe_names kernel; /* its functions, when they were asked for */
	struct str out, err;
	struct note_list notes;
};

static enum probe_target target_of(const struct probe_run *run)
{
	return run->file ? PROBE_PROGRAM : PROBE_KERNEL;
}

/* ---- the kernel's lists ---- */

static int read_entries(struct probe_run *run, enum probe_target target, struct probe_entries *entries)
{
	struct str list = STR_INIT;
	int rc = probe_events_read(&run->kern->host, target, &list, &run->err);

	if (!rc)
		probe_entries_parse(entries, list.s);
	str_release(&list);
	return rc;
}

/* Reads both lists; a kernel that has one kind of probes has a list of these. */
static int read_all(struct probe_run *run, struct probe_entries *entries)
{
	int program = read_entries(run, PROBE_PROGRAM, entries), kernel;
	struct str first = run->err;

	if (program && program != -ENOENT)
		return program;
	str_init(&run->err);
	kernel = read_entries(run, PROBE_KERNEL, entries);
	if (!program || !kernel) {
		str_reset(&run->err);
		str_release(&first);
		return !kernel || kernel == -ENOENT ? 0 : kernel;
	}
	str_release(&run->err);
	run->err = first;
	return program;
}

static int read_kernel_functions(struct probe_run *run)
{
	struct kernel_symbols symbols;
	int rc = run->kernel.n ? 0 : probe_kernel_functions(run->kern->host.procfs, &run->kernel, &run->err);

	if (rc) {
		kernel_symbols_look(&symbols, &run->kern->host);
		str_addf(&run->err, "%s%s", symbols.remedy ? "\n" : "", symbols.remedy ? symbols.remedy : "");
	}
	return rc;
}

/* ---- adding ---- */

static int define(struct probe_run *run, const struct texts *texts, const struct probe_entries *taken,
		  struct probe_definitions *definitions)
{
	const struct probe_naming naming = { .taken = taken, .force = run->words->force };
	int rc = 0;

	for (size_t i = 0; i < texts->n && !rc; i++) {
		size_t before = definitions->n;
		struct probe_point point;

		rc = probe_point_parse(&point, texts->v[i], &run->err);
		point.no_inlines = run->words->no_inlines;
		if (!rc && run->file)
			rc = probe_define(run->file, &point, &naming, definitions, &run->notes, &run->err);
		else if (!rc && point.is_pattern)
			rc = read_kernel_functions(run);
		if (!rc && !run->file)
			rc = probe_define_kernel(&point, &run->kernel, &naming, definitions, &run->err);
		if (!rc && run->words->max_probes && definitions->n - before > (size_t)run->words->max_probes)
			rc = fail(&run->err, -E2BIG, "'%s' is in %zu places, --max-probes allows %ld", texts->v[i],
				  definitions->n - before, run->words->max_probes);
		probe_point_release(&point);
	}
	return rc;
}

static bool same_event(const struct probe_definition *a, const struct probe_definition *b)
{
	return !strcmp(a->group, b->group) && !strcmp(a->event, b->event);
}

/* Removes what was written of definitions 0..n-1. */
static void take_back(struct probe_run *run, const struct probe_definitions *definitions, size_t n)
{
	struct str ignored = STR_INIT;

	for (size_t i = 0; i < n; i++) {
		const struct probe_definition *definition = &definitions->v[i];
		char *line = xasprintf("-:%s/%s", definition->group, definition->event);

		if (!i || !same_event(definition, definition - 1))
			probe_events_write(&run->kern->host, target_of(run), line, &ignored);
		free(line);
	}
	str_release(&ignored);
}

static int write_all_of(struct probe_run *run, const struct probe_definitions *definitions)
{
	for (size_t i = 0; i < definitions->n; i++) {
		int rc = probe_events_write(&run->kern->host, target_of(run), definitions->v[i].text, &run->err);

		if (rc) {
			take_back(run, definitions, i);
			return rc;
		}
	}
	return 0;
}

static void say_added(struct probe_run *run, const struct probe_definitions *definitions)
{
	const struct probe_definition *last = &definitions->v[definitions->n - 1];
	bool several = !same_event(last, &definitions->v[0]);

	str_addf(&run->out, run->words->dry_run ? "Would add event%s:\n" : "Added new event%s:\n", several ? "s" : "");
	for (size_t i = 0, n = 1; i < definitions->n; i++, n++) {
		const struct probe_definition *definition = &definitions->v[i];
		char *name;

		if (run->words->verbose)
			str_addf(&run->out, "    %s\n", definition->text);
		if (definition != last && same_event(definition, definition + 1))
			continue;
		name = xasprintf("%s:%s", definition->group, definition->event);
		str_addf(&run->out, "  %-20s (on %s%s%s", name, definition->place, definition->path ? " in " : "",
			 definition->path ? definition->path : "");
		if (n > 1)
			str_addf(&run->out, ", %zu places", n);
		str_add(&run->out, ")\n");
		free(name);
		n = 0;
	}
	if (!run->words->dry_run)
		str_addf(&run->out, "\nTo use it:\n\n\tpstat record -e %s:%s -a sleep 1\n\n", last->group, last->event);
}

static int add(struct probe_run *run, const struct texts *texts)
{
	struct probe_definitions definitions = { 0 };
	struct probe_entries taken = { 0 };
	int rc = read_entries(run, target_of(run), &taken);

	if (rc == -ENOENT && !run->file)
		str_add(&run->err, "\na program or library is given by -x");
	if (!rc)
		rc = define(run, texts, &taken, &definitions);
	if (rc == -EEXIST)
		str_addf(&run->err, "\npstat probe --del removes it, --force makes another name");
	if (!rc && !run->words->dry_run)
		rc = write_all_of(run, &definitions);
	if (!rc && !run->words->quiet)
		say_added(run, &definitions);
	probe_definitions_release(&definitions);
	probe_entries_release(&taken);
	return rc;
}

static int print_definitions(struct probe_run *run, const struct texts *texts)
{
	struct probe_definitions definitions = { 0 };
	int rc = define(run, texts, NULL, &definitions);

	for (size_t i = 0; i < definitions.n && !rc; i++)
		str_addf(&run->out, "%s\n", definitions.v[i].text);
	probe_definitions_release(&definitions);
	return rc;
}

/* ---- removing and listing ---- */

static int remove_entry(struct probe_run *run, const struct probe_entry *entry)
{
	char *line = xasprintf("-:%s/%s", entry->group, entry->event);
	int rc = run->words->dry_run ? 0 : probe_events_write(&run->kern->host,
							      entry->path ? PROBE_PROGRAM : PROBE_KERNEL, line,
							      &run->err);

	if (!rc && !run->words->quiet)
		str_addf(&run->out, "%s event: %s:%s\n", run->words->dry_run ? "Would remove" : "Removed", entry->group,
			 entry->event);
	free(line);
	return rc;
}

/* An event that is in several places is removed once. */
static bool is_first(const struct probe_entries *entries, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (!strcmp(entries->v[i].group, entries->v[at].group) &&
		    !strcmp(entries->v[i].event, entries->v[at].event))
			return false;
	return true;
}

static int remove_probes(struct probe_run *run)
{
	struct probe_entries entries = { 0 };
	int rc = read_all(run, &entries);

	for (size_t t = 0; t < run->words->remove.n && !rc; t++) {
		const char *pattern = run->words->remove.v[t];
		size_t n = 0;

		for (size_t i = 0; i < entries.n && !rc; i++) {
			if (!probe_entry_matches(&entries.v[i], pattern) || !is_first(&entries, i))
				continue;
			n++;
			rc = remove_entry(run, &entries.v[i]);
		}
		if (!n && !rc)
			rc = fail(&run->err, -ENOENT, "no probe matches '%s'", pattern);
	}
	probe_entries_release(&entries);
	return rc;
}

static void list_entry(struct probe_run *run, const struct probe_entry *entry, struct probe_file *file)
{
	struct str name = STR_INIT;

	str_addf(&name, "%s:%s", entry->group, entry->event);
	str_addf(&run->out, "  %-20s (on ", name.s);
	if (file)
		probe_file_describe(file, entry->offset, entry->returns, &run->out);
	else
		str_addf(&run->out, "%s%s", entry->place, entry->returns ? "%return" : "");
	if (entry->path) {
		str_add(&run->out, " in ");
		str_add_printable(&run->out, entry->path, strlen(entry->path));
	}
	str_addf(&run->out, "%s%s)\n", *entry->arguments ? " with" : "", entry->arguments);
	str_release(&name);
}

/* A file that has several probes in a row is opened once; one that is gone shows its offsets. */
static int list_probes(struct probe_run *run)
{
	struct probe_entries entries = { 0 };
	struct probe_file *file = NULL;
	const char *open_path = NULL;
	struct str ignored = STR_INIT;
	int rc = read_all(run, &entries);

	for (size_t i = 0; i < entries.n && !rc; i++) {
		const struct probe_entry *entry = &entries.v[i];

		if (run->words->list && !probe_entry_matches(entry, run->words->list))
			continue;
		if (!text_same(entry->path, open_path)) {
			probe_file_close(file);
			file = NULL;
			if (entry->path)
				probe_file_open(&file, entry->path, &ignored);
			open_path = entry->path;
		}
		list_entry(run, entry, file);
	}
	probe_file_close(file);
	probe_entries_release(&entries);
	str_release(&ignored);
	return rc;
}

/* ---- what can be probed ---- */

static int list_functions(struct probe_run *run)
{
	const char *filter = run->words->functions ? run->words->functions : run->words->filter;
	struct probe_names own = { 0 }, names;
	int rc = filter ? name_filter_check(filter, &run->err) : 0;

	if (!rc && !run->file)
		rc = read_kernel_functions(run);
	if (rc)
		return rc;
	if (run->file && filter && filter[strspn(filter, "!")] == '%')
		probe_file_usdt(run->file, &own);
	else if (run->file)
		probe_file_functions(run->file, true, &own);
	names = run->file ? own : run->kernel;
	for (size_t i = 0; i < names.n; i++) {
		/* Names that begin with _ are mostly the compiler's own: they are shown to who asks for them. */
		bool shown = filter ? name_filter_takes(filter, names.v[i]) : names.v[i][0] != '_';

		if (!shown)
			continue;
		str_add_printable(&run->out, names.v[i], strlen(names.v[i]));
		str_addc(&run->out, '\n');
	}
	probe_names_release(&own);
	return 0;
}

static int list_lines(struct probe_run *run)
{
	struct probe_lines lines;
	int rc = probe_lines_parse(&lines, run->words->lines, &run->err);

	if (!rc)
		rc = probe_list_lines(run->file, &lines, &run->out, &run->err);
	probe_point_release(&lines.point);
	return rc;
}

static int list_variables(struct probe_run *run)
{
	struct probe_point point;
	const struct probe_variables wanted = { run->words->externs, run->words->ranges, run->words->filter };
	int rc = probe_point_parse(&point, run->words->variables, &run->err);

	if (!rc && wanted.filter)
		rc = name_filter_check(wanted.filter, &run->err);
	point.no_inlines = run->words->no_inlines;
	if (!rc)
		rc = probe_list_variables(run->file, &point, &wanted, &run->out, &run->err);
	probe_point_release(&point);
	return rc;
}

/* ---- the command ---- */

static int work(struct probe_run *run)
{
	const struct probe_words *words = run->words;
	int rc = 0;

	if (words->file && !words->wants_list && !words->remove.n)
		rc = probe_file_open(&run->file, words->file, &run->err);
	if (rc)
		return rc;
	if (run->file)
		probe_file_set_sources(run->file, words->sources);
	if (words->wants_list)
		return list_probes(run);
	if (words->remove.n)
		return remove_probes(run);
	if (words->define.n)
		return print_definitions(run, &words->define);
	if (words->add.n)
		return add(run, &words->add);
	if (words->wants_functions)
		return list_functions(run);
	if (!run->file)
		return fail(&run->err, -ENOTSUP, "of the kernel neither lines nor variables are listed\n"
			    "a program or library is given by -x");
	return words->lines ? list_lines(run) : list_variables(run);
}

/* How many things are to be done. */
static unsigned tasks_of(const struct probe_words *words)
{
	return (words->add.n > 0) + (words->define.n > 0) + (words->remove.n > 0) + words->wants_list +
	       words->wants_functions + (words->lines != NULL) + (words->variables != NULL);
}

int cmd_probe(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct probe_words words = { .quiet = false };
	struct probe_run run = { .words = &words, .kern = kern, .out = STR_INIT, .err = STR_INIT };
	struct str operands = STR_INIT;
	int first, rc, status = command_parse(self, argc, argv, &words, &first);

	/* A path in front is the file. */
	if (status < 0 && first < argc && argv[first][0] == '/' && !words.file)
		words.file = argv[first++];
	if (status < 0 && first < argc) {
		/* Words without an option are one probe to add. */
		for (int i = first; i < argc; i++)
			str_addf(&operands, "%s%s", i > first ? " " : "", argv[i]);
		take_text(&words.add, operands.s, &run.err);
	}
	if (status < 0 && tasks_of(&words) != 1)
		status = bad_usage("probe: give one thing to do: "
				   "--add, --del, --list, --definition, --funcs, --line or --vars");
	if (status < 0) {
		rc = work(&run);
		message_notes(&run.notes, 0, words.verbose);
		status = message_stdout(&run.out);
		if (rc) {
			message_error("probe: %s", run.err.s);
			status = EXIT_PSTAT_FAILED;
		}
	}
	probe_file_close(run.file);
	probe_names_release(&run.kernel);
	note_list_release(&run.notes);
	str_release(&run.out);
	str_release(&run.err);
	str_release(&operands);
	free(words.add.v);
	free(words.define.v);
	free(words.remove.v);
	return status;
}
