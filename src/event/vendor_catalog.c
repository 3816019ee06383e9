/* SPDX-License-Identifier: MIT */
/*
 * vendor_catalog: which of the vendors' files are this CPU's, and where in them each record stands.
 *
 *	folders by priority --a mapfile.csv with a row for the CPU--> files --read, index--> records by name
 *
 * The index is an array that is sorted by name; records of one name stay in the order of the files. The bytes of the
 * files, and texts that were read from them, stay in memory as long as the catalogue lives.
 */
#include "event/vendor.h"

#include "event/json.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

enum {
	FILE_BYTES_MAX = 256 << 20,
	FILES_MAX = 256,
	RECORDS_MAX = 1 << 20,
	PATTERN_MAX = 256, /* letters of a pattern in mapfile.csv or of Compat */
	MAP_COLUMNS = 7,
	WHY_BYTES = 1024, /* after so many nothing more is said about files */
};

struct vendor_file {
	char *path;
	char *text;
	size_t len;
	const char *core; /* the core PMU that it is about; "": any */
	bool standard; /* of the architecture: what ArchStdEvent names */
};

struct vendor_catalog {
	struct vendor_file *files;
	size_t n_files, files_cap;
	struct vendor_record *v, *standard; /* both sorted by name */
	size_t n, cap, n_standard, standard_cap;
	struct vendor_metrics metrics;
	struct arena texts;
	struct str why;
};

/* ---- which CPU is this? ---- */

struct cpu_identity {
	char *name; /* "GenuineIntel-6-55-4", or MIDR as "0x00000000410fd0c1"; NULL: unknown */
	char *without_stepping; /* "GenuineIntel-6-55"; NULL: it has none */
	const char *arch; /* the folder in perf's layout */
	const char *core; /* the core PMU with these CPUs; "": all CPUs are of one kind */
};

static void cpu_identity_release(struct cpu_identity *cpu)
{
	free(cpu->name);
	free(cpu->without_stepping);
	*cpu = (struct cpu_identity){ .name = NULL };
}

/* The value of "key : value" in the first CPU's lines; NULL: there is none. The caller frees. */
static char *cpuinfo_value(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line != '\0') {
		size_t at = len;

		if (strncmp(line, key, len) != 0)
			continue;
		at += strspn(line + at, " \t");
		if (line[at++] != ':')
			continue;
		at += strspn(line + at, " \t");
		return xstrndup(line + at, strcspn(line + at, "\n"));
	}
	return NULL;
}

static bool identify_x86(const struct host_paths *host, struct cpu_identity *cpu)
{
	static const char *const keys[] = { "vendor_id", "cpu family", "model", "stepping" };
	char *path = xasprintf("%s/cpuinfo", host->procfs), *value[ARRAY_SIZE(keys)] = { NULL };
	uint64_t number[ARRAY_SIZE(keys)] = { 0 };
	struct str text = STR_INIT;
	bool known = !read_text_file(path, &text);

	for (size_t i = 0; i < ARRAY_SIZE(keys) && known; i++) {
		value[i] = cpuinfo_value(text.s, keys[i]);
		known = value[i] && (!i || !parse_u64(value[i], 10, &number[i]));
	}
	if (known) {
		cpu->without_stepping = xasprintf("%s-%u-%X", value[0], (unsigned)number[1], (unsigned)number[2]);
		cpu->name = xasprintf("%s-%X", cpu->without_stepping, (unsigned)number[3]);
		cpu->arch = "x86";
		cpu->core = "";
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		free(value[i]);
	str_release(&text);
	free(path);
	return known;
}

static bool identify_arm(const struct host_paths *host, int number, const char *core, struct cpu_identity *cpu)
{
	char *path = xasprintf("%s/devices/system/cpu/cpu%d/regs/identification/midr_el1", host->sysfs, number);
	uint64_t midr;
	bool known = !read_u64_file(path, &midr);

	if (known)
		*cpu = (struct cpu_identity){ .name = xasprintf("0x%016llx", (unsigned long long)midr),
					      .arch = "arm64", .core = core };
	free(path);
	return known;
}

/* Bits of MIDR_EL1 that tell models apart: not the variant and the revision (Arm ARM, D24.2.122). */
static uint64_t midr_model(uint64_t midr)
{
	return midr & ~UINT64_C(0xf0000f);
}

bool vendor_pattern_matches(const char *pattern, const char *text)
{
	regmatch_t match;
	regex_t regex;
	bool matches;

	/* Back references can take a regular expression forever. */
	if (strlen(pattern) > PATTERN_MAX || strchr(pattern, '\\') || strchr(pattern, '{') ||
	    regcomp(&regex, pattern, REG_EXTENDED))
		return false;
	matches = !regexec(&regex, text, 1, &match, 0) && !match.rm_so && !text[match.rm_eo];
	regfree(&regex);
	return matches;
}

/* A pattern is for the CPU's name, with or without its stepping; or it is a MIDR. */
static bool cpu_matches(const struct cpu_identity *cpu, const char *pattern)
{
	uint64_t of_row, of_cpu;

	if (!cpu->without_stepping)
		return !parse_u64(pattern, 0, &of_row) && !parse_u64(cpu->name, 0, &of_cpu) &&
		       midr_model(of_row) == midr_model(of_cpu);
	return vendor_pattern_matches(pattern, cpu->name) || vendor_pattern_matches(pattern, cpu->without_stepping);
}

/* ---- files ---- */

static void complain(struct vendor_catalog *vendors, const char *path, const char *what)
{
	if (vendors->why.len > WHY_BYTES)
		return;
	str_add(&vendors->why, vendors->why.len ? "; " : "vendors' events: ");
	str_add_printable(&vendors->why, path, strlen(path));
	str_addf(&vendors->why, ": %s", what);
}

/* The bytes of a file that has `size`, or fewer if it becomes shorter; *len of them. The caller frees. */
static char *read_bytes(int fd, size_t size, size_t *len)
{
	char *text = xmalloc(size + 1);
	ssize_t n;

	*len = 0;
	while (*len < size && (n = read(fd, text + *len, size - *len)) != 0) {
		if (n < 0 && errno != EINTR)
			break;
		*len += n > 0 ? (size_t)n : 0;
	}
	return text;
}

/* The whole file; the caller frees. NULL: it cannot be read, or is empty, which vendors->why then says. */
static char *read_file(struct vendor_catalog *vendors, const char *path, size_t *len)
{
	const struct foreign_options options = { .bytes_max = FILE_BYTES_MAX };
	struct str why = STR_INIT;
	struct stat st;
	int fd = foreign_open(path, &options, &st, &why);
	char *text = NULL;

	if (fd < 0)
		complain(vendors, path, why.s);
	else if (!st.st_size)
		complain(vendors, path, "it is empty");
	else
		text = read_bytes(fd, (size_t)st.st_size, len);
	if (fd >= 0)
		close(fd);
	str_release(&why);
	return text;
}

static bool is_json(const char *name)
{
	size_t len = strlen(name);

	return len > 5 && !strcmp(name + len - 5, ".json");
}

/* Takes the path. */
static void add_file(struct vendor_catalog *vendors, char *path, const char *core, bool standard)
{
	struct vendor_file file = { .path = path, .standard = standard };

	for (size_t i = 0; i < vendors->n_files; i++) {
		if (!strcmp(vendors->files[i].path, path) && !strcmp(vendors->files[i].core, core)) {
			free(path);
			return;
		}
	}
	if (vendors->n_files == FILES_MAX)
		complain(vendors, path, "there are too many files");
	else
		file.text = read_file(vendors, path, &file.len);
	if (!file.text) {
		free(path);
		return;
	}
	file.core = arena_strndup(&vendors->texts, core, strlen(core));
	VEC_GROW(vendors->files, vendors->n_files, vendors->files_cap);
	vendors->files[vendors->n_files++] = file;
}

static void add_folder(struct vendor_catalog *vendors, const char *folder, const char *core, bool standard)
{
	struct name_list names = { 0 };

	name_list_read(&names, folder);
	for (size_t i = 0; i < names.n; i++)
		if (is_json(names.v[i]))
			add_file(vendors, xasprintf("%s/%s", folder, names.v[i]), core, standard);
	name_list_release(&names);
}

/* Adds the files of units outside of the CPUs, which are on chips of several CPUs: "freescale/imx8mm/sys/x.json". */
static void add_system_folders(struct vendor_catalog *vendors, const char *root)
{
	struct name_list makers = { 0 };

	name_list_read(&makers, root);
	for (size_t i = 0; i < makers.n; i++) {
		char *maker = xasprintf("%s/%s", root, makers.v[i]);
		struct name_list chips = { 0 };

		name_list_read(&chips, maker);
		for (size_t k = 0; k < chips.n; k++) {
			char *folder = xasprintf("%s/%s/sys", maker, chips.v[k]);

			add_folder(vendors, folder, "", false);
			free(folder);
		}
		name_list_release(&chips);
		free(maker);
	}
	name_list_release(&makers);
}

/* "SPR/metrics/x.json" has formulas of single letters; perf's form of them is "SPR/metrics/perf/x_perf.json". */
static char *perf_form(const char *path)
{
	const char *name = strrchr(path, '/');
	char *form;

	if (!name || !is_json(name))
		return NULL;
	form = xasprintf("%.*s/perf%.*s_perf.json", (int)(name - path), path, (int)strlen(name) - 5, name);
	if (!access(form, F_OK))
		return form;
	free(form);
	return NULL;
}

static bool leads_up(const char *path)
{
	for (const char *at = path; (at = strstr(at, "..")); at += 2)
		if ((at == path || at[-1] == '/') && (!at[2] || at[2] == '/'))
			return true;
	return false;
}

/* Adds what a row of mapfile.csv names: a folder of files, or one file. */
static void add_named(struct vendor_catalog *vendors, const char *root, const char *name, const char *type,
		      const char *core)
{
	char *path, *form;
	struct stat st;

	name += strspn(name, "/");
	path = xasprintf("%s/%s", root, name);
	if (leads_up(name) || stat(path, &st)) {
		complain(vendors, path, leads_up(name) ? "it leads out of its folder" : strerror(errno));
	} else if (S_ISDIR(st.st_mode)) {
		add_folder(vendors, path, core, false);
	} else {
		form = !strcmp(type, "metrics") ? perf_form(path) : NULL;
		add_file(vendors, form ? form : xstrdup(path), core, false);
	}
	free(path);
}

static const char *core_of_role(const char *role)
{
	static const struct {
		const char *role, *core;
	} roles[] = { { "Core", "cpu_core" }, { "Atom", "cpu_atom" }, { "LowPower_Atom", "cpu_lowpower" } };

	for (size_t i = 0; i < ARRAY_SIZE(roles); i++)
		if (!strcmp(roles[i].role, role))
			return roles[i].core;
	return "";
}

struct map_row {
	const char *pattern, *name, *type, *role;
};

/* Fills the row from a line, which is cut at its commas. */
static void split_row(char *line, struct map_row *row)
{
	char *column[MAP_COLUMNS];

	line[strcspn(line, "\r")] = '\0';
	for (size_t i = 0; i < MAP_COLUMNS; i++) {
		char *end = line + strcspn(line, ",");

		column[i] = line;
		line = *end ? end + 1 : end;
		*end = '\0';
	}
	*row = (struct map_row){ .pattern = column[0], .name = column[2], .type = column[3], .role = column[6] };
}

/*
 * Is the row a later one for what a row with another pattern has taken? Patterns go from special ones to general ones,
 * as of AMD's models: "AuthenticAMD-26-[12467][[:xdigit:]]", then "AuthenticAMD-26-[[:xdigit:]]+" for all others.
 */
static bool is_for_others(const struct map_row *taken, size_t n, const struct map_row *row)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(taken[i].type, row->type) && !strcmp(taken[i].role, row->role))
			return strcmp(taken[i].pattern, row->pattern) != 0;
	return false;
}

/* Adds the files of all rows that are for the CPU; false: there is none. */
static bool add_rows(struct vendor_catalog *vendors, const char *root, char *rows, const struct cpu_identity *cpu)
{
	struct map_row row, *taken = NULL;
	size_t n = 0, cap = 0;
	char *line;

	while ((line = strsep(&rows, "\n"))) {
		split_row(line, &row);
		if (!*row.name || !cpu_matches(cpu, row.pattern) || is_for_others(taken, n, &row))
			continue;
		add_named(vendors, root, row.name, row.type, *cpu->core ? cpu->core : core_of_role(row.role));
		VEC_GROW(taken, n, cap);
		taken[n++] = row;
	}
	free(taken);
	return n > 0;
}

/* Looks for a mapfile.csv at one place. True: it has rows for the CPU. *there: there is one. */
static bool look_at(struct vendor_catalog *vendors, const char *root, const struct cpu_identity *cpu, bool *there)
{
	char *path = xasprintf("%s/mapfile.csv", root);
	bool found = false;

	if (!access(path, F_OK)) {
		size_t len = 0;
		char *text = read_file(vendors, path, &len);
		char *rows = text ? xstrndup(text, len) : NULL;

		*there = true;
		found = rows && add_rows(vendors, root, rows, cpu);
		if (found && !cpu->without_stepping) {
			add_folder(vendors, root, "", true);
			add_system_folders(vendors, root);
		}
		free(rows);
		free(text);
	}
	free(path);
	return found;
}

/* A folder that somebody named may be the one with mapfile.csv, or one of those above it. */
static bool look_below(struct vendor_catalog *vendors, const char *dir, const struct cpu_identity *cpu, bool *there)
{
	static const char *const below[] = { "", "/", "/arch/", "/pmu-events/arch/", "/tools/perf/pmu-events/arch/" };
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(below) && !found; i++) {
		char *root = xasprintf("%s%s%s", dir, below[i], *below[i] ? cpu->arch : "");

		found = look_at(vendors, root, cpu, there);
		free(root);
	}
	return found;
}

static char *cache_folder(void)
{
	const char *set = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (set && set[0] == '/')
		return xasprintf("%s/pmu-events", set);
	return home && home[0] == '/' ? xasprintf("%s/.cache/pmu-events", home) : NULL;
}

/* The first folder that has files for this CPU. Only of one that somebody named is it said that it has none. */
static void look_everywhere(struct vendor_catalog *vendors, const char *option, const struct cpu_identity *cpu)
{
	const char *variable = getenv("PSTAT_EVENTS");
	char *cache = cache_folder();
	const char *const dirs[] = { option, variable && *variable ? variable : NULL, cache,
				     "/usr/share/pstat/events" };
	bool found = false;

	for (size_t i = 0; i < ARRAY_SIZE(dirs) && !found; i++) {
		bool there = false;

		found = dirs[i] && look_below(vendors, dirs[i], cpu, &there);
		if (found || !dirs[i] || i > 1 || vendors->why.len)
			continue;
		complain(vendors, dirs[i],
			 there ? "no row of mapfile.csv is for this CPU, " : "no mapfile.csv is there");
		str_add(&vendors->why, there ? cpu->name : "");
	}
	free(cache);
}

/* ---- the index ---- */

static void add_record(struct vendor_catalog *vendors, uint32_t file, size_t at, const struct json_token *name,
		       bool is_metric)
{
	struct str text = STR_INIT;
	struct vendor_record record = { .file = file, .at = at, .is_metric = is_metric };

	if (vendors->n + vendors->n_standard == RECORDS_MAX)
		complain(vendors, vendors->files[file].path, "there are too many records");
	if (vendors->n + vendors->n_standard >= RECORDS_MAX)
		return;
	json_add_text(&text, name);
	record.name = arena_strndup(&vendors->texts, text.s, text.len);
	str_release(&text);
	if (vendors->files[file].standard) {
		VEC_GROW(vendors->standard, vendors->n_standard, vendors->standard_cap);
		vendors->standard[vendors->n_standard++] = record;
	} else {
		VEC_GROW(vendors->v, vendors->n, vendors->cap);
		vendors->v[vendors->n++] = record;
	}
}

/* Reads a key and the token that its value begins with. False: the object ends here, well or not. */
static bool next_member(struct json_reader *reader, struct json_token *key, struct json_token *value)
{
	*key = json_next(reader);
	if (key->kind != JSON_TEXT)
		return false;
	*value = json_next(reader);
	return value->kind > JSON_DAMAGED && value->kind != JSON_CLOSE;
}

/* Indexes an object whose '{' has been read. False: the text ends in it, or is damaged. */
static bool index_record(struct vendor_catalog *vendors, uint32_t file, struct json_reader *reader)
{
	size_t at = reader->at - 1;
	struct json_token key, value, event = { .len = 0 }, metric = { .len = 0 }, standard = { .len = 0 };

	while (next_member(reader, &key, &value)) {
		if (value.kind != JSON_TEXT && !json_skip(reader, &value))
			return false;
		if (value.kind != JSON_TEXT)
			continue;
		if (json_is(&key, "EventName"))
			event = value;
		else if (json_is(&key, "MetricName"))
			metric = value;
		else if (json_is(&key, "ArchStdEvent"))
			standard = value;
	}
	if (key.kind != JSON_CLOSE)
		return false;
	/* An event may have a metric of its own beside it. */
	if (event.len)
		add_record(vendors, file, at, &event, false);
	if (metric.len)
		add_record(vendors, file, at, &metric, true);
	if (!event.len && !metric.len && standard.len)
		add_record(vendors, file, at, &standard, false);
	return true;
}

/* Indexes an array whose '[' has been read. */
static bool index_array(struct vendor_catalog *vendors, uint32_t file, struct json_reader *reader)
{
	for (;;) {
		struct json_token token = json_next(reader);

		if (token.kind == JSON_CLOSE)
			return true;
		if (token.kind == JSON_OPEN_OBJECT ? !index_record(vendors, file, reader) : !json_skip(reader, &token))
			return false;
	}
}

/* An array of records, or an object with such arrays. */
static bool index_top(struct vendor_catalog *vendors, uint32_t file, struct json_reader *reader)
{
	struct json_token token = json_next(reader), key;

	if (token.kind == JSON_OPEN_ARRAY)
		return index_array(vendors, file, reader);
	if (token.kind != JSON_OPEN_OBJECT)
		return false;
	while (next_member(reader, &key, &token))
		if (token.kind == JSON_OPEN_ARRAY ? !index_array(vendors, file, reader) : !json_skip(reader, &token))
			return false;
	return key.kind == JSON_CLOSE;
}

static void index_file(struct vendor_catalog *vendors, uint32_t file)
{
	const struct vendor_file *f = &vendors->files[file];
	struct json_reader reader = { .text = f->text, .len = f->len };
	/* Some files begin with a byte order mark. */
	static const char mark[] = "\xef\xbb\xbf";
	char *why;

	if (f->len > 3 && !memcmp(f->text, mark, 3))
		reader.at = 3;
	if (index_top(vendors, file, &reader))
		return;
	why = xasprintf("it is cut or damaged at byte %zu: names after that are missing", reader.at);
	complain(vendors, f->path, why);
	free(why);
}

static int compare_records(const void *a, const void *b)
{
	const struct vendor_record *x = a, *y = b;
	int order = strcasecmp(x->name, y->name);

	if (order)
		return order;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static const struct vendor_record *find_in(const struct vendor_record *v, size_t n, const char *name, size_t *found)
{
	size_t first = BISECT(i, 0, n, strcasecmp(v[i].name, name) < 0), end = first;

	while (end < n && !strcasecmp(v[end].name, name))
		end++;
	*found = end - first;
	return n ? v + first : NULL;
}

/* A record that only ArchStdEvent names is a metric where the architecture's is. */
static void take_standard_kinds(struct vendor_catalog *vendors)
{
	for (size_t i = 0; i < vendors->n; i++) {
		size_t n;
		const struct vendor_record *standard =
			find_in(vendors->standard, vendors->n_standard, vendors->v[i].name, &n);

		vendors->v[i].is_metric |= n && standard->is_metric;
	}
}

static void sort_records(struct vendor_record *v, size_t n)
{
	if (n)
		qsort(v, n, sizeof(*v), compare_records);
}

/* ---- the catalogue ---- */

static struct vendor_catalog *catalog_read(struct event_parse *p)
{
	struct vendor_catalog *vendors = xcalloc(1, sizeof(*vendors));
	const struct event_pmu_list *cores = pmu_core_pmus(p);
	struct cpu_identity cpu = { .name = NULL };
	bool x86 = identify_x86(p->host, &cpu);

	str_init(&vendors->why);
	if (x86) {
		look_everywhere(vendors, p->host->events, &cpu);
		cpu_identity_release(&cpu);
	} else if (!cores->n && identify_arm(p->host, 0, "", &cpu)) {
		look_everywhere(vendors, p->host->events, &cpu);
		cpu_identity_release(&cpu);
	}
	for (size_t i = 0; i < cores->n && !x86; i++) {
		const struct event_pmu *core = &cores->v[i];

		if (identify_arm(p->host, core->cpus.n ? core->cpus.v[0] : 0, cores->n > 1 ? core->name : "", &cpu))
			look_everywhere(vendors, p->host->events, &cpu);
		cpu_identity_release(&cpu);
	}
	for (uint32_t i = 0; i < vendors->n_files; i++)
		index_file(vendors, i);
	sort_records(vendors->v, vendors->n);
	sort_records(vendors->standard, vendors->n_standard);
	take_standard_kinds(vendors);
	return vendors;
}

struct vendor_catalog *vendor_catalog(struct event_parse *p)
{
	if (!*p->vendors)
		*p->vendors = catalog_read(p);
	return *p->vendors;
}

void vendor_catalog_free(struct vendor_catalog *vendors)
{
	if (!vendors)
		return;
	for (size_t i = 0; i < vendors->n_files; i++) {
		free(vendors->files[i].text);
		free(vendors->files[i].path);
	}
	free(vendors->files);
	free(vendors->v);
	free(vendors->standard);
	free(vendors->metrics.v);
	arena_release(&vendors->texts);
	str_release(&vendors->why);
	free(vendors);
}

struct vendor_metrics *vendor_metrics(struct vendor_catalog *vendors)
{
	return &vendors->metrics;
}

const char *vendor_why(const struct vendor_catalog *vendors)
{
	return vendors->why.s;
}

const struct vendor_record *vendor_find(const struct vendor_catalog *vendors, const char *name, size_t *n)
{
	return find_in(vendors->v, vendors->n, name, n);
}

const struct vendor_record *vendor_records(const struct vendor_catalog *vendors, size_t *n)
{
	*n = vendors->n;
	return vendors->v;
}

const char *vendor_record_core(const struct vendor_catalog *vendors, const struct vendor_record *record)
{
	return vendors->files[record->file].core;
}

/* ---- what a record says ---- */

#define VENDOR_FIELD_NAME(name) #name,
static const char *const field_names[VENDOR_N_FIELDS] = { VENDOR_FIELDS(VENDOR_FIELD_NAME) };

/* Fills the fields that are not filled yet. */
static void fill_fields(struct vendor_catalog *vendors, const struct vendor_record *record, struct vendor_text *text)
{
	const struct vendor_file *f = &vendors->files[record->file];
	struct json_reader reader = { .text = f->text, .len = f->len, .at = record->at };
	struct json_token key = json_next(&reader), value;
	struct str plain = STR_INIT;

	while (next_member(&reader, &key, &value) && json_skip(&reader, &value)) {
		if (value.kind != JSON_TEXT && value.kind != JSON_NUMBER)
			continue;
		for (size_t i = 0; i < VENDOR_N_FIELDS; i++) {
			if (text->field[i] || !json_is(&key, field_names[i]))
				continue;
			str_reset(&plain);
			json_add_text(&plain, &value);
			text->field[i] = arena_strndup(&vendors->texts, plain.s, plain.len);
		}
	}
	str_release(&plain);
}

void vendor_record_read(struct vendor_catalog *vendors, const struct vendor_record *record, struct vendor_text *text)
{
	const char *standard;
	size_t n = 0;

	*text = (struct vendor_text){ { NULL } };
	fill_fields(vendors, record, text);
	standard = text->field[VENDOR_ArchStdEvent];
	if (standard) {
		record = find_in(vendors->standard, vendors->n_standard, standard, &n);
		if (n)
			fill_fields(vendors, record, text);
	}
}
