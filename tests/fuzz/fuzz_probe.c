/* SPDX-License-Identifier: MIT */
/*
 * fuzz_probe: any bytes as a program that probes are to be set in: its functions, with all of their variables, its
 * lines, and its offsets back to functions; and any text as the words of a probe and as the kernel's list. The claim:
 * no crash, no sanitizer report, no endless loop; memory bounded.
 */
#include "probe/probe.h"

#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask_point(struct probe_file *file, const char *words)
{
	const struct probe_naming naming = { .force = true };
	struct probe_definitions definitions = { 0 };
	struct note_list notes = { 0 };
	struct probe_point point;
	struct str err = STR_INIT, out = STR_INIT;

	if (!probe_point_parse(&point, words, &err)) {
		int rc = probe_define(file, &point, &naming, &definitions, &notes, &err);

		if (!rc != !err.len || (rc && definitions.n) || (!rc && !definitions.n))
			abort();
		probe_list_variables(file, &point, &(struct probe_variables){ true, true, NULL }, &out, &err);
	}
	probe_definitions_release(&definitions);
	note_list_release(&notes);
	probe_point_release(&point);
	str_release(&err);
	str_release(&out);
}

static void ask_lines(struct probe_file *file, const char *words)
{
	struct str out = STR_INIT, err = STR_INIT;
	struct probe_lines lines;

	if (!probe_lines_parse(&lines, words, &err))
		probe_list_lines(file, &lines, &out, &err);
	probe_point_release(&lines.point);
	str_release(&out);
	str_release(&err);
}

static void ask_file(struct probe_file *file)
{
	static const char *const points[] = {
		"outer $vars", "inner $params", "outer at->next->name:string at->pair.b[1]",
		"outer:3 $vars", "inner%return $retval", "a.c:9", "0x1000", "outer+1", "%app:tick",
		"*", "*u*r:2 $params", "*%return",
	};
	struct probe_names names = { 0 };
	struct str out = STR_INIT;

	probe_file_functions(file, true, &names);
	probe_file_usdt(file, &names);
	for (size_t i = 0; i < ARRAY_SIZE(points); i++)
		ask_point(file, points[i]);
	ask_lines(file, "outer");
	ask_lines(file, "a.c:1-9");
	for (uint64_t offset = 0; offset < 0x1200; offset += 0x40)
		probe_file_describe(file, offset, offset & 0x40, &out);
	probe_names_release(&names);
	str_release(&out);
}

static void ask_text(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	struct probe_entries entries = { 0 };
	struct probe_point point;
	struct probe_lines lines;
	struct str err = STR_INIT;

	probe_entries_parse(&entries, text);
	probe_point_parse(&point, text, &err);
	probe_lines_parse(&lines, text, &err);
	probe_entries_release(&entries);
	probe_point_release(&point);
	probe_point_release(&lines.point);
	str_release(&err);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/fuzz_probe_XXXXXX";
	int fd = mkstemp(path);
	struct probe_file *file;
	struct str err = STR_INIT;

	ask_text(data, size);
	if (fd < 0)
		abort();
	if (!write_all(fd, data, size) && !probe_file_open(&file, path, &err)) {
		ask_file(file);
		probe_file_close(file);
	}
	close(fd);
	unlink(path);
	str_release(&err);
	return 0;
}
