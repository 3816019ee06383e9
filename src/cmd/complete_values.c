/*
 * complete_values: what each kind of argument can be, one row a kind. Tables of words come from those who
 * take them; what lives on the machine (processes, users, cgroups) is read when it is asked for.
 */
#include "cmd/complete.h"
#include "cmd/quantity.h"
#include "cmd/record_words.h"
#include "record/record.h"
#include "fmt/fmt.h"
#include "script/script.h"
#include "stat/stat.h"

#include <ctype.h>
#include <dirent.h>
#include <pwd.h>
#include <stdlib.h>

/* ---- words in a row's argument ---- */

/* "fp|dwarf[,raw][,bytes]|lbr|no": each word up to what may follow it. */
static void add_choices(struct offers *offers, const struct option_row *row)
{
	for (const char *at = row->argument; *at; at += *at == '|') {
		char *word = xstrndup(at, strcspn(at, "|["));

		offer(offers, word, "");
		free(word);
		at += strcspn(at, "|");
	}
}

/* ---- numbers ---- */

/* A number is typed: each unit behind it. */
static void add_units(struct offers *offers, bool (*row)(size_t i, const char **name, const char **help))
{
	const char *typed = offers_typed(offers), *name, *help;
	int digits = (int)strspn(typed, "0123456789");

	for (size_t i = 0; digits && row(i, &name, &help); i++) {
		char *word = xasprintf("%.*s%s", digits, typed, name);

		offer(offers, word, help);
		free(word);
	}
}

static void add_sizes(struct offers *offers, const struct option_row *row)
{
	(void)row;
	add_units(offers, byte_unit_row);
}

static void add_times(struct offers *offers, const struct option_row *row)
{
	(void)row;
	add_units(offers, time_unit_row);
}

static void add_switches(struct offers *offers, const struct option_row *row)
{
	offer(offers, "signal", "a new file at each SIGUSR2");
	add_sizes(offers, row);
	add_times(offers, row);
}

static void add_frequencies(struct offers *offers, const struct option_row *row)
{
	(void)row;
	offer(offers, "max", "as often as the kernel allows");
}

/* ---- events and metrics ---- */

static void add_events(struct offers *offers, const struct option_row *row)
{
	(void)row;
	offer_events(offers);
}

static int add_pfm_event(const struct event_info *info, void *offers)
{
	offer(offers, info->name, info->desc);
	return 0;
}

static void add_pfm_events(struct offers *offers, const struct option_row *row)
{
	struct str ignored = STR_INIT;

	(void)row;
	event_walk("pfm", NULL, &offers->kern->host, add_pfm_event, offers, &ignored);
	str_release(&ignored);
}

static bool metric_group_is_new(size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (metrics[k].group && !strcmp(metrics[k].group, metrics[i].group))
			return false;
	return true;
}

static void add_metrics(struct offers *offers, const struct option_row *row)
{
	(void)row;
	for (size_t i = 0; i < n_metrics; i++) {
		offer(offers, metrics[i].name, metrics[i].desc);
		if (metrics[i].group && metric_group_is_new(i))
			offer(offers, metrics[i].group, "a group of metrics");
	}
}

/* ---- what lives on this machine ---- */

static void add_task(struct offers *offers, const char *dir, const char *number)
{
	char *path = xasprintf("%s/%s/comm", dir, number);
	struct str name = STR_INIT;

	if (!read_line_file(path, &name))
		offer(offers, number, name.s);
	str_release(&name);
	free(path);
}

typedef void (*task_fn)(struct offers *offers, const char *dir, const char *number);

static void each_number(struct offers *offers, const char *dir, task_fn fn)
{
	DIR *stream = opendir(dir);
	const struct dirent *entry;

	while (stream && (entry = readdir(stream)) != NULL)
		if (isdigit((unsigned char)entry->d_name[0]))
			fn(offers, dir, entry->d_name);
	if (stream)
		closedir(stream);
}

static void add_threads(struct offers *offers, const char *dir, const char *number)
{
	char *tasks = xasprintf("%s/%s/task", dir, number);

	each_number(offers, tasks, add_task);
	free(tasks);
}

static void add_pids(struct offers *offers, const struct option_row *row)
{
	(void)row;
	each_number(offers, offers->kern->host.procfs, add_task);
}

static void add_tids(struct offers *offers, const struct option_row *row)
{
	(void)row;
	each_number(offers, offers->kern->host.procfs, add_threads);
}

static void add_users(struct offers *offers, const struct option_row *row)
{
	const struct passwd *user;

	(void)row;
	setpwent();
	while ((user = getpwent()) != NULL)
		offer(offers, user->pw_name, user->pw_gecos ? user->pw_gecos : "");
	endpwent();
}

static void add_cpus(struct offers *offers, const struct option_row *row)
{
	struct intset cpus = INTSET_INIT;

	(void)row;
	cpus_online(&offers->kern->host, &cpus);
	for (size_t i = 0; i < cpus.n; i++) {
		char *cpu = xasprintf("%d", cpus.v[i]);

		offer(offers, cpu, "");
		free(cpu);
	}
	intset_release(&cpus);
}

static bool has_children(const char *dir)
{
	struct dirent *entry;
	DIR *stream = opendir(dir);
	bool found = false;

	while (stream && !found && (entry = readdir(stream)) != NULL)
		found = entry->d_type == DT_DIR && entry->d_name[0] != '.';
	if (stream)
		closedir(stream);
	return found;
}

/* The cgroups right below the one that is typed so far; one that has others below it also with a slash. */
static void add_cgroups(struct offers *offers, const struct option_row *row)
{
	const char *typed = offers_typed(offers), *slash = strrchr(typed, '/');
	int above = slash ? (int)(slash + 1 - typed) : 0;
	struct str root = STR_INIT;
	struct dirent *entry;
	DIR *stream = NULL;

	(void)row;
	if (cgroup_root(&offers->kern->host, &root)) {
		str_addf(&root, "/%.*s", above, typed);
		stream = opendir(root.s);
	}
	while (stream && (entry = readdir(stream)) != NULL) {
		char *name = xasprintf("%.*s%s/", above, typed, entry->d_name);
		char *dir = xasprintf("%s/%s", root.s, entry->d_name);

		if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
			if (has_children(dir))
				offer(offers, name, "and below");
			name[strlen(name) - 1] = '\0';
			offer(offers, name, "");
		}
		free(name);
		free(dir);
	}
	if (stream)
		closedir(stream);
	str_release(&root);
}

/* fifo:path[,path] | fd:n[,n] */
static void add_control(struct offers *offers, const struct option_row *row)
{
	const char *typed = offers_typed(offers);

	(void)row;
	if (strncmp(typed, "fifo:", 5)) {
		offer(offers, "fifo:", "a path, and behind a comma one for answers");
		offer(offers, "fd:", "an open descriptor, and behind a comma one for answers");
		return;
	}
	offers->kind = OFFER_FILES;
	offers->kept += strchr(typed, ',') ? (size_t)(strrchr(typed, ',') + 1 - typed) : 5;
}

/* ---- one row a kind ---- */

static const struct value_row {
	const char *between; /* what separates the parts of a list: the last part is completed; NULL: it is none */
	const char *signs; /* these may stand before a part; NULL: none */
	enum offer_kind kind; /* what the shell itself finds */
	bool (*row)(size_t i, const char **name, const char **help); /* a table of words; NULL: none */
	void (*add)(struct offers *offers, const struct option_row *row); /* what is in no table; NULL: nothing */
} value_rows[OPTION_VALUES] = {
	[VALUE_ONE_OF] = { .add = add_choices },
	[VALUE_SOME_OF] = { ",", .add = add_choices },
	[VALUE_FILE] = { .kind = OFFER_FILES },
	[VALUE_DIRECTORY] = { .kind = OFFER_DIRECTORIES },
	[VALUE_CONTROL] = { .add = add_control },
	[VALUE_SHELL_COMMAND] = { .kind = OFFER_PROGRAMS },
	[VALUE_EVENT] = { .add = add_events },
	[VALUE_EVENTS] = { "", .add = add_events }, /* offer_events() knows where one begins */
	[VALUE_PFM_EVENTS] = { ",", .add = add_pfm_events },
	[VALUE_METRICS] = { ",", .add = add_metrics },
	[VALUE_BRANCHES] = { ",", .row = branch_word_row },
	[VALUE_REGISTERS] = { ",", .row = sample_reg_row },
	[VALUE_CLOCK] = { .row = clock_row },
	[VALUE_REPORT_KEYS] = { ",", "+", .row = report_key_row },
	[VALUE_SCRIPT_FIELDS] = { ",:", "+-", .row = script_field_row },
	[VALUE_CHAIN_STYLE] = { ",", .row = chain_word_row },
	[VALUE_PIDS] = { ",", .add = add_pids },
	[VALUE_TIDS] = { ",", .add = add_tids },
	[VALUE_USER] = { .add = add_users },
	[VALUE_CGROUPS] = { ",", .add = add_cgroups },
	[VALUE_CPUS] = { ",-", .add = add_cpus },
	[VALUE_FREQUENCY] = { .add = add_frequencies },
	[VALUE_TIME] = { .add = add_times },
	[VALUE_SIZE] = { .add = add_sizes },
	[VALUE_SWITCH] = { .add = add_switches },
};

void offer_value(struct offers *offers, const struct option_row *row)
{
	const struct value_row *value = &value_rows[row->value];
	const char *typed = offers_typed(offers);

	offers->kind = value->kind;
	offers->list = value->between != NULL;
	for (size_t i = 0; value->between && typed[i]; i++)
		if (strchr(value->between, typed[i]))
			offers->kept += i + 1 - (size_t)(offers_typed(offers) - typed);
	if (value->signs && *offers_typed(offers) && strchr(value->signs, *offers_typed(offers)))
		offers->kept++;
	if (value->row)
		offer_rows(offers, value->row);
	if (value->add)
		value->add(offers, row);
}
