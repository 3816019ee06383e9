/* SPDX-License-Identifier: MIT */
/*
 * fuzz_report: any bytes as a recording, through everything that `pstat report` and `pstat script` do with it:
 * replay, names, histograms, chains, and each text that they print. The claim: no crash, no sanitizer
 * report, no endless loop; memory bounded. And of the texts: no control character but tab and newline, one
 * line for each folded stack and each JSON object.
 *
 * No file of the machine is read: all paths are looked up below a folder that is not there.
 */
#include "fmt/fmt.h"
#include "recording.h"
#include "script/script.h"

#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char all_keys[] =
	"comm,pid,dso,symbol,parent,cpu,srcline,local_weight,weight,transaction,symbol_size,cgroup,cgroup_id,time,"
	"local_ins_lat";
static const char branch_keys[] = "dso_from,dso_to,symbol_from,symbol_to,mispredict,in_tx,abort,cycles";
static const char mem_keys[] = "mem,symbol_daddr,dso_daddr,tlb,snoop,locked,phys_daddr,data_page_size,dcacheline";

#define CHAINS .chain = { .kind = CHAIN_GRAPH, .min_percent = 0.5, .order = CHAIN_CALLER }
static const struct query reports[] = {
	{ .children = -1, .n_samples = true, .total_period = true, CHAINS },
	{ .children = 0, .sort = all_keys, .separator = ",",
	  .chain = { .kind = CHAIN_FLAT, .order = CHAIN_CALLEE, .order_set = true, .key = CHAIN_BY_ADDRESS } },
	{ .children = -1, .branch_stack = true, .sort = branch_keys,
	  .chain = { .kind = CHAIN_FOLDED, .value = CHAIN_COUNT } },
	{ .children = -1, .mem_mode = true, .sort = mem_keys, .group = true,
	  .chain = { .kind = CHAIN_FRACTAL, .min_percent = 5 } },
	{ .children = -1, .view = VIEW_HIERARCHY, .verbose = 2, CHAINS },
	{ .children = -1, .sort = "trace,tid,tgid,symbol", .ignore_callees = "[a-m]",
	  .raw_trace = true, .empty_shown = true, .group = true, .group_sort = 1, CHAINS },
	{ .session.branch_history = true, .sort = "srcline,symbol,dso",
	  .chain = { .kind = CHAIN_GRAPH, .order = CHAIN_CALLEE, .order_set = true, .key = CHAIN_BY_ADDRESS } },
	{ .session.branch_history = true, .needs = NEED_ENTRIES | NEED_TREES, .children = -1, CHAINS },
	{ .needs = NEED_STACKS, .folded_annotate = true, .folded_delimiter = true },
	{ .needs = NEED_ENTRIES | NEED_TREES, .children = -1, CHAINS },
};

static const struct script_options scripts[] = {
	{ .show_tasks = true, .show_mmaps = true, .show_switches = true, .show_lost = true,
	  .show_namespaces = true, .show_cgroups = true, .show_bpf = true, .show_text_poke = true,
	  .stop_bt = "bpf_prog,_text" },
	{ .fields = "comm,pid,tid,cpu,time,event,ip,sym,symoff,dso,srcline,brstacksym,addr", .reltime = true },
	{ .json = true },
};

/* text is what a terminal or a parser gets. */
static void check_text(const struct str *text)
{
	for (size_t i = 0; i < text->len; i++) {
		unsigned char c = (unsigned char)text->s[i];

		if ((c < ' ' && c != '\t' && c != '\n') || c == 0x7f)
			abort();
	}
}

/* A stack and its number on each line. */
static void check_folded(const struct str *text)
{
	const char *at = text->s;

	while (*at) {
		const char *end = strchr(at, '\n'), *space;

		if (!end)
			abort();
		space = memrchr(at, ' ', (size_t)(end - at));
		if (!space || space + 1 == end || strspn(space + 1, "0123456789") != (size_t)(end - space - 1))
			abort();
		at = end + 1;
	}
}

static const struct report_format *format_of(const struct query *query)
{
	return report_format_find(query->needs == NEED_STACKS ? "folded" : query->needs ? "json" : "stdio");
}

static void print(const struct query *query, struct profile *profile, const struct question *question)
{
	const struct report_format *format = format_of(query);
	struct output output = { .text = STR_INIT };
	struct str err = STR_INIT;
	struct table *table;

	if (!table_make(&table, profile, question, NULL, &err)) {
		format->print(table, &output);
		check_text(&output.text);
		if (!strcmp(format->name, "folded"))
			check_folded(&output.text);
		table_free(table);
	}
	str_release(&output.text);
	str_release(&err);
}

/* A profile was read for other questions. Its file is not at its path: what only it can tell is refused. */
static void ask_profile(struct profile *profile, const struct query *query)
{
	struct question *question = NULL;
	struct str err = STR_INIT;

	if (!question_make(&question, query, profile->session.recording, &err))
		print(query, profile, question);
	question_free(question);
	str_release(&err);
}

static void run_report(int fd, const struct query *how)
{
	struct query query = *how;
	struct question *question = NULL;
	struct profile_options options;
	struct profile *profile = NULL;
	struct reader reader;
	struct str err = STR_INIT;

	query.session = session_options;
	query.session.branch_history = how->session.branch_history;
	if (open_input(&reader, fd)) {
		reader_know_events(&reader);
		if (!question_make(&question, &query, &reader.recording, &err)) {
			options = question_profile(question, 0);
			if (!profile_new(&profile, &options, &reader, &err)) {
				profile_read(profile, NULL, NULL, &err);
				print(&query, profile, question);
				session_add_notes(&profile->session);
			}
		}
	}
	profile_free(profile);
	question_free(question);
	reader_close(&reader);
	str_release(&err);
}

static void run_script(int fd, const struct script_options *how)
{
	struct script_options options = *how;
	struct output output = { .text = STR_INIT };
	struct script *script = NULL;
	struct reader reader;
	struct str err = STR_INIT;

	options.session = session_options;
	if (open_input(&reader, fd) && !script_new(&script, &options, &reader, &err)) {
		script_run(script, &output, NULL, NULL, &err);
		session_add_notes(script_session(script));
		check_text(&output.text);
	}
	script_free(script);
	reader_close(&reader);
	str_release(&output.text);
	str_release(&err);
}

/* Feeds a profile in steps, compacts it between them, and asks all that its cells can tell. */
static void ask_all(struct profile *profile, struct reader *reader)
{
	struct str err = STR_INIT;
	unsigned steps = 0;

	while (profile_feed(profile, &reader->source, 0, &err) > 0)
		if (++steps % 2)
			profile_compact(profile, steps % 9);
	profile_end(profile);
	for (size_t i = 0; i < ARRAY_SIZE(reports); i++)
		ask_profile(profile, &reports[i]);
	profile_compact(profile, 0);
	ask_profile(profile, &reports[0]);
	str_release(&err);
}

static void run_profile(int fd)
{
	const struct query query = { .session = session_options };
	struct question *question = NULL;
	struct profile_options options;
	struct profile *profile = NULL;
	struct reader reader;
	struct str err = STR_INIT;

	if (open_input(&reader, fd)) {
		reader_know_events(&reader);
		if (!question_make(&question, &query, &reader.recording, &err)) {
			options = question_profile(question, PROFILE_FOR_OTHERS);
			if (!profile_new(&profile, &options, &reader, &err))
				ask_all(profile, &reader);
		}
	}
	profile_free(profile);
	question_free(question);
	reader_close(&reader);
	str_release(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0 || write_all(fd, data, size))
		abort();
	for (size_t i = 0; i < ARRAY_SIZE(reports); i++)
		run_report(fd, &reports[i]);
	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++)
		run_script(fd, &scripts[i]);
	run_profile(fd);
	close(fd);
	return 0;
}
