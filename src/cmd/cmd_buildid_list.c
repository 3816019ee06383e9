/* SPDX-License-Identifier: MIT */
/*
 * pstat buildid-list: which files a recording needs to be read with: their build-ids and paths. The
 * header has them, and, of newer recorders, the records of the mappings. Of a program or a library it prints its own.
 */
#include "cmd/command.h"
#include "cmd/input.h"
#include "cmd/message.h"
#include "elf/elf.h"
#include "record/record.h"
#include "replay/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

struct buildid_words {
	const char *input;
	bool kernel, kernel_maps, hits;
};

#define FIELD(name) .offset = offsetof(struct buildid_words, name)

const struct option_row buildid_list_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to read" },
	{ OPTION_TEXT, 'i', "input", "file", "the recording (pipe or perf.data), or an ELF file; -: stdin",
	  FIELD(input), .value = VALUE_FILE },
	{ OPTION_FLAG, 'k', "kernel", NULL, "print the build-id of the running kernel only", FIELD(kernel) },
	{ OPTION_FLAG, 'm', "kernel-maps", NULL, "print the running kernel and its modules, with their addresses",
	  FIELD(kernel_maps) },
	{ OPTION_FLAG, 'H', "with-hits", NULL, "print only the files that samples are in", FIELD(hits) },
	{ .kind = OPTION_GROUP, .help = "Accepted" },
	{ OPTION_ACCEPTED, 'f', "force", NULL, .help = "recordings of any owner are read" },
	{ OPTION_ACCEPTED, 'v', "verbose", NULL, .help = "there is nothing more to print" },
	{ .kind = OPTION_END },
};

static void read_build_ids(struct input *in)
{
	struct record record;
	struct record_body body;

	while (input_next(in, &record))
		if (record.type == RECORD_MMAP2 && record.misc & MISC_MMAP_BUILD_ID &&
		    input_decode(in, &record, &body))
			build_ids_add(&in->reader.info, &body);
	build_ids_print(&in->reader.info, &in->out);
}

/* ---- -H ---- */

struct hits { /* files that samples are in, in the order of the first one */
	const struct dso **v;
	size_t n, cap;
	bool *hit; /* by dso.index */
	size_t cap_hit;
};

static void hit(struct hits *hits, const struct dso *dso)
{
	if (!dso || !(1U << dso->kind & (1U << DSO_FILE | 1U << DSO_VDSO | 1U << DSO_KERNEL | 1U << DSO_MODULE)))
		return;
	VEC_REACH(hits->hit, hits->cap_hit, dso->index);
	if (hits->hit[dso->index])
		return;
	hits->hit[dso->index] = true;
	VEC_GROW(hits->v, hits->n, hits->cap);
	hits->v[hits->n++] = dso;
}

static int hit_sample(void *context, struct replay *replay, const struct replay_sample *sample, struct str *err)
{
	struct location location;
	uint8_t mode = sample->mode;

	(void)err;
	if (sample->sample->has & PERF_SAMPLE_IP) {
		replay_locate(replay, sample->thread, mode, sample->sample->ip, &location);
		hit(context, location.dso);
	}
	for (uint64_t i = 0; i < sample->n_ips; i++) {
		if (context_mode(sample->ips[i], &mode))
			continue;
		replay_locate(replay, sample->thread, mode, sample->ips[i], &location);
		hit(context, location.dso);
	}
	return 0;
}

/* A line of a file whose build-id may be unknown, in a column of its own. */
static void add_file(struct str *out, const struct build_id *id, const char *path)
{
	struct str digits = STR_INIT;

	build_id_text(id, &digits);
	str_addf(out, "%-*s ", (int)(2 * sizeof(id->bytes)), digits.s ? digits.s : "");
	str_add_printable(out, path, strlen(path));
	str_addc(out, '\n');
	str_release(&digits);
}

static void read_hits(struct input *in)
{
	const struct replay_options options = { .file_order = false };
	struct hits hits = { .n = 0 };
	const struct replay_handlers handlers = { .context = &hits, .sample = hit_sample };
	struct replay replay;

	replay_init(&replay, &in->reader.recording, &options);
	if (replay_run(&replay, &in->reader.source, &handlers, &in->err)) {
		input_message(in, in->err.s);
		in->status = EXIT_PSTAT_FAILED;
	}
	for (size_t i = 0; i < hits.n; i++)
		add_file(&in->out, &hits.v[i]->build_id, hits.v[i]->path);
	in->n_records = replay.counts.records;
	in->n_broken = replay.counts.broken;
	replay_release(&replay);
	free(hits.v);
	free(hits.hit);
}

/* ---- without a recording ---- */

static void add_build_id(struct str *text, const uint8_t *bytes, size_t n)
{
	for (size_t k = 0; k < n; k++)
		str_addf(text, "%02x", bytes[k]);
	if (n)
		str_addc(text, '\n');
}

/* The file is an ELF file that has a build-id; then its line is added. */
static bool add_own_build_id(struct str *text, const char *path)
{
	struct str ignored = STR_INIT; /* what is no such file is read as a recording, which says why it is none */
	struct build_id id;
	struct stat st;
	int fd = foreign_open(path, NULL, &st, &ignored);
	bool found = fd >= 0 && elf_build_id_of_file(fd, &id) && id.size;

	if (found)
		add_build_id(text, id.bytes, id.size);
	if (fd >= 0)
		close(fd);
	str_release(&ignored);
	return found;
}

static void add_kernel_file(void *context, const struct kernel_file *file)
{
	struct str *text = context, digits = STR_INIT;

	build_id_text(&file->id, &digits);
	str_addf(text, "%s %16" PRIx64 " %16" PRIx64 " ", digits.len ? digits.s : "", file->start, file->end);
	str_add_printable(text, file->path, strlen(file->path));
	str_addc(text, '\n');
	str_release(&digits);
}

static int print_kernel_maps(const struct kern *kern)
{
	struct str text = STR_INIT;
	int status = EXIT_PSTAT_FAILED;

	kernel_files_each(kern, add_kernel_file, &text);
	if (text.len)
		status = message_stdout(&text);
	else
		message_error("buildid-list: the addresses of this kernel are hidden\n"
			      "sudo sysctl kernel.kptr_restrict=0");
	str_release(&text);
	return status;
}

static int print_kernel(const struct kern *kern)
{
	struct buildid_set *set = buildid_set_new(kern);
	struct str text = STR_INIT;
	struct info info;
	int status = EXIT_PSTAT_FAILED;

	info_init(&info);
	/* Nothing was taken into the set, so the kernel's is the only one. */
	buildid_set_write(set, &info);
	if (info.build_ids.n)
		add_build_id(&text, info.build_ids.v[0].bytes, info.build_ids.v[0].size);
	if (text.len)
		status = message_stdout(&text);
	else
		message_error("buildid-list: this kernel does not show its build-id: "
			      "/sys/kernel/notes has none that may be read");
	buildid_set_free(set);
	info_release(&info);
	str_release(&text);
	return status;
}

int cmd_buildid_list(const struct command *self, int argc, char **argv, const struct kern *kern)
{
	struct buildid_words words = { 0 };
	struct str own = STR_INIT;
	struct input in;
	int status = command_parse(self, argc, argv, &words, NULL);

	if (status >= 0)
		return status;
	if (words.kernel && words.input)
		return bad_usage("buildid-list: -k is about this machine, -i about a recording");
	if (words.kernel_maps && (words.kernel || words.input))
		return bad_usage("buildid-list: -m is about this machine's kernel and its modules, and stands alone");
	if (words.kernel)
		return print_kernel(kern);
	if (words.kernel_maps)
		return print_kernel_maps(kern);
	if (words.input && add_own_build_id(&own, words.input)) {
		status = message_stdout(&own);
		str_release(&own);
		return status;
	}
	if (!input_open(&in, words.input))
		(words.hits ? read_hits : read_build_ids)(&in);
	return input_close(&in);
}
