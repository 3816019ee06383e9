/* SPDX-License-Identifier: MIT */
/*
 * fuzz_data: any bytes as a recording, read as a file and as a pipe, with everything that prints it. The
 * claim: no crash, no sanitizer report, no endless loop; memory bounded by the input's size.
 *
 *   clang -fsanitize=fuzzer,address,undefined ... fuzz_data.c <objects of src> && ./fuzz_data corpus_data
 */
#include "data/data.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PIPE_BYTES_MAX = 60000, RECORDS_MAX = 20000 };

static void read_all(int fd)
{
	struct reader reader;
	struct record record;
	struct record_stats stats = { 0 };
	struct str err = STR_INIT, out = STR_INIT;
	const struct evlist_options options = { .verbose = true, .freq = true, .group = true };

	if (!reader_open_fd(&reader, fd, "input", &err)) {
		for (unsigned n = 0; n < RECORDS_MAX; n++) {
			struct record_body body;

			if (reader_next(&reader, &record, &err) <= 0)
				break;
			if (reader_decode(&reader, &record, &body, &err)) {
				record_stats_add(&stats, &record, NULL);
				continue;
			}
			record_stats_add(&stats, &record, &body);
			build_ids_add(&reader.info, &body);
			record_dump(&reader.decoder, &record, &body, &out);
			str_reset(&out);
			record_encode(&body,
				      body.event        ? body.event
				      : reader.events.n ? reader.events.v[0]
							: NULL,
				      &out, &err);
			str_reset(&out);
			str_reset(&err);
		}
		reader_print_header(&reader, true, &out);
		events_print(&reader.events, &reader.info, &options, &out);
		build_ids_print(&reader.info, &out);
		record_stats_print(&stats, &reader.events, &out);
		str_reset(&out);
		for (unsigned i = 0; i < FEATURE_BITS; i++)
			feature_write(i, &reader.info, &reader.events, &out);
	}
	record_stats_release(&stats);
	reader_close(&reader);
	str_release(&err);
	str_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fds[2], fd = memfd_create("input", MFD_CLOEXEC);

	if (fd < 0 || write_all(fd, data, size))
		abort();
	read_all(fd);
	if (size > PIPE_BYTES_MAX || pipe(fds))
		return 0;
	if (write_all(fds[1], data, size))
		abort();
	close(fds[1]);
	read_all(fds[0]);
	return 0;
}
