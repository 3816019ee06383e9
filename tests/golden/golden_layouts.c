/* SPDX-License-Identifier: MIT */
/*
 * golden_layouts: one and the same recording in each layout that a file can have. All of them must give the
 * same report.
 */
#include "golden/golden.h"

#include <sys/stat.h>
#include <unistd.h>

enum { FILE_HEADER_BYTES = 104, TEXT_BYTES = 64 };

static void add_records(struct golden *g)
{
	CHAIN(g, 1000, app(LEAF), app(INNER), app(MIDDLE), app(MAIN));
	CHAIN(g, 2000, app(SPIN), app(MAIN));
	golden_fork(g, OTHER_PID, OTHER_PID, PID, PID);
	CHAIN(g, 4000, kernel(VFS_READ), kernel(ENTRY), app(LEAF), app(MAIN));
	golden_round(g);
	CHAIN(g, 8000, lib(SORT), lib(WORK), app(MAIN));
	golden_exit(g, OTHER_PID, OTHER_PID);
	golden_round(g);
}

static void plain(struct golden *g)
{
	golden_one_event(g, PERF_SAMPLE_CALLCHAIN);
	golden_start_app(g);
	add_records(g);
}

static void in_a_pipe(struct golden *g)
{
	g->options.pipe = true;
	plain(g);
}

/* Two events in a group, whose names only EVENT_DESC has. */
static void pipe_named_first(struct golden *g)
{
	struct perf_event_attr attr = golden_attr(PERF_SAMPLE_CALLCHAIN);

	g->options.pipe = true;
	attr.type = PERF_TYPE_RAW;
	attr.config = 0x1b1;
	golden_event(g, &attr, "uops.first");
	attr.config = 0x2b1;
	golden_event(g, &attr, "uops.second");
	info_set(&g->info, FEATURE_GROUP_DESC);
	g->events.v[0]->n_members = 2;
	g->events.v[1]->leader = 0;
	golden_start_app(g);
	add_records(g);
	g->event = 1;
	CHAIN(g, 16000, app(SPIN), app(MAIN));
}

static void compressed(struct golden *g)
{
	g->options.zstd_level = 3;
	plain(g);
}

/* ---- a folder: data has the header and what the recorder wrote; data.0 and data.1 are of its threads ---- */

static void folder(struct golden *g)
{
	g->info.dir_version = 1;
	info_set(&g->info, FEATURE_DIR_FORMAT);
	golden_one_event(g, PERF_SAMPLE_CALLCHAIN);
	golden_start_app(g);
}

static void encode_sample(const struct golden *g, struct str *out, uint64_t time_ms, uint64_t ip, uint64_t period)
{
	const uint64_t ips[] = { (uint64_t)PERF_CONTEXT_USER, ip, app(MAIN) };
	struct record_body body = golden_sample(ip);
	struct str err = STR_INIT;

	body.sample.id = 11;
	body.sample.time_ns = time_ms * MS;
	body.sample.period = period;
	body.sample.ips = ips;
	body.sample.n_ips = ARRAY_SIZE(ips);
	if (record_encode(&body, g->events.v[0], out, &err))
		golden_stop("folder", err.s);
}

static void make_folder(const char *path)
{
	char *file = xasprintf("%s/data", path), *moved = xasprintf("%s.tmp", path);
	struct str bytes[2] = { STR_INIT, STR_INIT };
	struct golden g = { 0 };

	rename(path, moved);
	mkdir(path, 0755);
	if (rename(moved, file))
		golden_stop(path, "is in the way");
	chmod(file, 0644);
	events_init(&g.events);
	golden_one_event(&g, PERF_SAMPLE_CALLCHAIN);
	for (unsigned i = 0; i < 6; i++)
		encode_sample(&g, &bytes[i % 2], 2000 + i, app(i % 2 ? SPIN : LEAF), 1000U << i);
	for (unsigned i = 0; i < 2; i++) {
		char *piece = xasprintf("%s/data.%u", path, i);

		golden_write_file(piece, &bytes[i]);
		str_release(&bytes[i]);
		free(piece);
	}
	events_release(&g.events);
	free(file);
	free(moved);
}

/* ---- the other byte order: a file as a big-endian machine would have written it ---- */

static void turn(char *p, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		char c = p[i];

		p[i] = p[n - 1 - i];
		p[n - 1 - i] = c;
	}
}

/* widths: a digit for each number; 's' for a text of TEXT_BYTES with its length; '.' for 8 bytes that stay. */
static char *turn_all(char *p, const char *widths)
{
	for (; *widths; widths++) {
		size_t n = *widths == 's' ? 4 : *widths == '.' ? 8 : (size_t)(*widths - '0');

		if (*widths != '.')
			turn(p, n);
		p += n + (*widths == 's' ? TEXT_BYTES : 0);
	}
	return p;
}

/* Up to sig_data. Compilers for big-endian machines give out bits from the top. */
static void turn_attr(char *p)
{
	enum { FLAGS_AT = 40 };
	uint64_t flags, turned = 0;

	memcpy(&flags, p + FLAGS_AT, 8);
	for (unsigned bit = 0; bit < 64; bit++)
		turned |= (flags >> bit & 1) << (63 - bit);
	memcpy(p + FLAGS_AT, &turned, 8);
	turn_all(p, "4488888" "448888448" "422448");
}

static const struct layout {
	unsigned number; /* a record's type, a feature */
	const char *widths; /* records: behind the header, up to a text */
} records[] = {
	{ RECORD_MMAP, "44888" }, { RECORD_COMM, "44" },	  { RECORD_EXIT, "44448" },
	{ RECORD_FORK, "44448" }, { RECORD_MMAP2, "44888...44" }, /* with a build-id */
}, features[] = {
	{ FEATURE_HOSTNAME, "s" }, { FEATURE_OSRELEASE, "s" },	{ FEATURE_ARCH, "s" },
	{ FEATURE_NRCPUS, "44" },  { FEATURE_CMDLINE, "4sss" }, { FEATURE_SAMPLE_TIME, "88" },
};

static const char *widths_of(const struct layout *layouts, size_t n, unsigned number)
{
	for (size_t i = 0; i < n; i++)
		if (layouts[i].number == number)
			return layouts[i].widths;
	fprintf(stderr, "make_recordings: number %u has no layout\n", number);
	exit(1);
}

static void turn_feature(unsigned feature, char *p)
{
	if (feature != FEATURE_EVENT_DESC) {
		turn_all(p, widths_of(features, ARRAY_SIZE(features), feature));
		return;
	}
	p = turn_all(p, "44");
	turn_attr(p);
	turn_all(p + ATTR_BYTES, "4s8");
}

static void turn_record(char *p, size_t size)
{
	char *payload = p + RECORD_HEADER_BYTES, *end = p + size;
	uint64_t feature;
	uint32_t type;

	memcpy(&type, p, 4);
	turn_all(p, "422");
	if (type == RECORD_HEADER_FEATURE) {
		memcpy(&feature, payload, 8);
		turn_feature((unsigned)feature, turn_all(payload, "8"));
	} else if (type == RECORD_SAMPLE) {
		/* IDENTIFIER, IP, TID, TIME, CPU, PERIOD, the chain */
		for (payload = turn_all(payload, "88448448"); payload < end; payload += 8)
			turn(payload, 8);
	} else if (type < RECORD_USER_FIRST) {
		turn_all(payload, widths_of(records, ARRAY_SIZE(records), type));
		turn_all(end - 32, "448448"); /* TID, TIME, CPU, IDENTIFIER */
	}
}

static void turn_file(const char *path)
{
	struct str bytes = STR_INIT;
	uint64_t head[FILE_HEADER_BYTES / 8], section[2];
	size_t at;
	char *s;

	if (read_text_file(path, &bytes))
		golden_stop(path, "cannot be read");
	s = bytes.s;
	memcpy(head, s, sizeof(head));
	at = head[5] + head[6]; /* the feature table, behind the data */
	for (unsigned i = 0; i < 64; i++) {
		if (!(head[9] >> i & 1))
			continue;
		memcpy(section, s + at, sizeof(section));
		turn_feature(i, s + section[0]);
		turn_all(s + at, "88");
		at += sizeof(section);
	}
	for (at = head[5]; at < head[5] + head[6];) {
		uint16_t size;

		memcpy(&size, s + at + 6, sizeof(size));
		turn_record(s + at, size);
		at += size;
	}
	/* One attr, its section of ids, and the id where that says. */
	memcpy(section, s + head[3] + head[4] - sizeof(section), sizeof(section));
	turn(s + section[0], 8);
	turn_attr(s + head[3]);
	turn_all(s + head[3] + head[4] - sizeof(section), "88");
	turn_all(s, "8888888888888");
	golden_write_file(path, &bytes);
	chmod(path, 0644);
	str_release(&bytes);
}

/* ---- a pipe of Linux 4.14's perf: the features come first, before the events that they are about ---- */

static void features_first(const char *path)
{
	enum { PIPE_HEADER_BYTES = 16 };
	struct str bytes = STR_INIT, first = STR_INIT, others = STR_INIT, all = STR_INIT;

	if (read_text_file(path, &bytes))
		golden_stop(path, "cannot be read");
	for (size_t at = PIPE_HEADER_BYTES; at < bytes.len;) {
		const char *record = bytes.s + at;
		uint32_t type;
		uint16_t size;

		memcpy(&type, record, sizeof(type));
		memcpy(&size, record + 6, sizeof(size));
		if (type == RECORD_HEADER_FEATURE)
			str_addn(&first, record, size);
		else if (type != RECORD_EVENT_UPDATE)
			str_addn(&others, record, size);
		at += size;
	}
	str_addn(&all, bytes.s, PIPE_HEADER_BYTES);
	str_addn(&all, first.s, first.len);
	str_addn(&all, others.s, others.len);
	golden_write_file(path, &all);
	chmod(path, 0644);
	str_release(&bytes);
	str_release(&first);
	str_release(&others);
	str_release(&all);
}

const struct golden_recording golden_layouts[] = {
	{ "plain.data", plain, NULL },
	{ "in_a_pipe.data", in_a_pipe, NULL },
	{ "pipe_named_first.data", pipe_named_first, features_first },
	{ "compressed.data", compressed, NULL },
	{ "folder.data", folder, make_folder },
	{ "big_endian.data", plain, turn_file },
	{ NULL, NULL, NULL },
};
