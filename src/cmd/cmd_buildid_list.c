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

#include <unistd.h>

struct buildid_words {
	const char *input;
	bool kernel;
};

#define FIELD(name) .offset = offsetof(struct buildid_words, name)

const struct option_row buildid_list_options[] = {
	{ .kind = OPTION_GROUP, .help = "What to read" },
	{ OPTION_TEXT, 'i', "input", "file", "the recording (pipe or perf.data), or an ELF file; -: stdin",
	  FIELD(input), .value = VALUE_FILE },
	{ OPTION_FLAG, 'k', "kernel", NULL, "print the build-id of the running kernel only", FIELD(kernel) },
	{ .kind = OPTION_GROUP, .help = "Accepted, or refused with the reason" },
	{ OPTION_ACCEPTED, 'f', "force", NULL, .help = "recordings of any owner are read" },
	{ OPTION_ACCEPTED, 'v', "verbose", NULL, .help = "there is nothing more to print" },
	{ OPTION_REFUSED, 'm', "kernel-maps", NULL,
	  .help = "the build-ids of modules are in recordings", .instead = "-k prints the kernel's build-id" },
	{ OPTION_REFUSED, 'H', "with-hits", NULL,
	  .help = "all recorded files are listed", .instead = "pstat report -s dso lists those with samples" },
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
	if (words.kernel)
		return print_kernel(kern);
	if (words.input && add_own_build_id(&own, words.input)) {
		status = message_stdout(&own);
		str_release(&own);
		return status;
	}
	if (!input_open(&in, words.input))
		read_build_ids(&in);
	return input_close(&in);
}
