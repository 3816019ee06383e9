/* SPDX-License-Identifier: MIT */
/*
 * The options of `pstat compare`: hyperfine's words and poop's where they say the same, and its own; then the commands:
 * strings that are taken apart, or whole words after "--", and what parameters make of them.
 */
#include "cmd/compare_options.h"

#include "cmd/command.h"
#include "cmd/quantity.h"
#include "cmd/shell_words.h"
#include "cmd/terminal.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <sys/random.h>

/* ---- the rows ---- */

static int add_word(struct given_words *list, const char *word)
{
	VEC_GROW(list->v, list->n, list->cap);
	list->v[list->n++] = word;
	return 0;
}

static int take_name(void *target, const char *argument, struct str *err)
{
	(void)err;
	return add_word(&((struct compare_words *)target)->names, argument);
}

static int take_prepare(void *target, const char *argument, struct str *err)
{
	(void)err;
	return add_word(&((struct compare_words *)target)->prepare, argument);
}

static int take_conclude(void *target, const char *argument, struct str *err)
{
	(void)err;
	return add_word(&((struct compare_words *)target)->conclude, argument);
}

static int take_environment(void *target, const char *argument, struct str *err)
{
	(void)err;
	return add_word(&((struct compare_words *)target)->environment, argument);
}

static int add_export(void *target, const char *path, const struct compare_format *format)
{
	struct compare_words *words = target;

	words->exports = xreallocarray(words->exports, words->n_exports + 1, sizeof(*words->exports));
	words->exports[words->n_exports++] = (struct compare_export){ path, format };
	return 0;
}

static int take_metrics(void *target, const char *argument, struct str *err)
{
	struct compare_words *words = target;
	char *before = words->metric_names;

	(void)err;
	words->metric_names = before ? xasprintf("%s,%s", before, argument) : xstrdup(argument);
	free(before);
	return 0;
}

static int take_json(void *target, const char *argument, struct str *err)
{
	(void)err;
	return add_export(target, argument, &compare_format_json);
}

static int take_csv(void *target, const char *argument, struct str *err)
{
	(void)err;
	return add_export(target, argument, &compare_format_csv);
}

static int take_markdown(void *target, const char *argument, struct str *err)
{
	(void)err;
	return add_export(target, argument, &compare_format_markdown);
}

static struct parameter *add_parameter(struct compare_words *words, const char *name, size_t len)
{
	words->parameters = xreallocarray(words->parameters, words->n_parameters + 1, sizeof(*words->parameters));
	words->parameters[words->n_parameters] = (struct parameter){ .name = xstrndup(name, len) };
	return &words->parameters[words->n_parameters++];
}

static void add_value(struct parameter *parameter, char *value)
{
	parameter->values = xreallocarray(parameter->values, parameter->n + 1, sizeof(*parameter->values));
	parameter->values[parameter->n++] = value;
}

static int take_list(void *target, const char *argument, struct str *err)
{
	const char *at = strchr(argument, '=');
	struct parameter *parameter;

	if (!at || at == argument || !at[1])
		return fail(err, -EINVAL, "--parameter-list: '%s' is not NAME VALUE,VALUE...", argument);
	parameter = add_parameter(target, argument, (size_t)(at - argument));
	while (*at) {
		at++;
		add_value(parameter, xstrndup(at, strcspn(at, ",")));
		at += strcspn(at, ",");
	}
	return 0;
}

/* NAME=FROM:TO */
static int take_scan(void *target, const char *argument, struct str *err)
{
	struct compare_words *words = target;
	const char *at = strchr(argument, '='), *colon = at ? strchr(at, ':') : NULL;
	double from, to;

	free(words->from);
	words->from = colon ? xstrndup(at + 1, (size_t)(colon - at - 1)) : NULL;
	words->to = colon ? colon + 1 : NULL;
	words->scan = argument;
	if (!colon || at == argument || parse_double(words->from, &from) || parse_double(words->to, &to) || from > to)
		return fail(err, -EINVAL, "--parameter-scan: '%s' is not NAME FROM TO", argument);
	return 0;
}

static int take_ignored(void *target, const char *argument, struct str *err)
{
	struct compare_words *words = target;
	struct intset statuses = { 0 };
	int rc;

	if (argument && *argument == '=') /* -i=1, as hyperfine has it */
		argument++;
	if (!argument || !strcmp(argument, "all-non-zero")) {
		words->plan.ignore_all = true;
		return 0;
	}
	rc = intset_parse(&statuses, argument, 255, err);
	words->ignored = xreallocarray(words->ignored, words->plan.n_ignored + statuses.n, sizeof(*words->ignored));
	for (size_t i = 0; i < statuses.n; i++)
		words->ignored[words->plan.n_ignored++] = statuses.v[i];
	words->plan.ignored = words->ignored;
	intset_release(&statuses);
	return rc ? fail(err, rc, "\n--ignore-failure takes exit statuses: 1,3") : 0;
}

static int take_time(void *target, const char *argument, struct str *err)
{
	long ms;

	if (!parse_int(argument, 1, INT_MAX, &ms)) { /* as poop has it */
		*(uint64_t *)target = (uint64_t)ms * NS_PER_MS;
		return 0;
	}
	return take_span("--duration", argument, target, err);
}

static int take_share(const char *option, const char *argument, double scale, double most, double *share,
		      struct str *err)
{
	double value;

	if (parse_double(argument, &value) || !(value >= 0) || !(value < most))
		return fail(err, -EINVAL, "%s: '%s' is not a number from 0 to %g", option, argument, most);
	*share = value / scale;
	return 0;
}

static int take_alpha(void *target, const char *argument, struct str *err)
{
	double *alpha = &((struct compare_words *)target)->plan.question.alpha;
	int rc = take_share("--alpha", argument, 1, 1, alpha, err);

	return rc || *alpha > 0 ? rc : fail(err, -EINVAL, "--alpha: at 0 nothing can be found");
}

static int take_threshold(void *target, const char *argument, struct str *err)
{
	return take_share("--threshold", argument, 100, 100, &((struct compare_words *)target)->plan.question.threshold,
			  err);
}

static int take_cpus(void *target, const char *argument, struct str *err)
{
	struct compare_words *words = target;
	struct intset cpus = { 0 };
	int rc = intset_parse(&cpus, argument, CPU_SETSIZE - 1, err);

	CPU_ZERO(&words->cpus);
	for (size_t i = 0; i < cpus.n; i++)
		CPU_SET(cpus.v[i], &words->cpus);
	words->plan.cpus = &words->cpus;
	intset_release(&cpus);
	return rc;
}

static int take_check(void *target, const char *argument, struct str *err)
{
	struct compare_words *words = target;

	(void)err;
	words->check = true;
	words->checked = argument ? argument : "wall";
	return 0;
}

static int take_shell(void *target, const char *argument, struct str *err)
{
	struct compare_words *words = target;

	(void)err;
	words->shell = !strcmp(argument, "none") ? NULL : !strcmp(argument, "default") ? "/bin/sh" : argument;
	return 0;
}

static int take_default_shell(void *target, const char *argument, struct str *err)
{
	(void)argument;
	return take_shell(target, "default", err);
}

static int take_no_shell(void *target, const char *argument, struct str *err)
{
	(void)argument;
	return take_shell(target, "none", err);
}

#define FIELD(name) .offset = offsetof(struct compare_words, name)
#define LIMITS(low, high) .min = (low), .max = (high)
enum { ROUNDS_MAX = 1000000 };

const struct option_row compare_options[] = {
	{ .kind = OPTION_GROUP, .help = "How many runs" },
	{ OPTION_NUMBER, 'w', "warmup", "n", "run n rounds before the first measured one (1)", FIELD(plan.warm_up),
	  LIMITS(0, ROUNDS_MAX) },
	{ OPTION_NUMBER, 'r', "runs", "n", "measure n rounds", FIELD(plan.runs), LIMITS(1, ROUNDS_MAX) },
	{ OPTION_NUMBER, 'm', "min-runs", "n", "measure at least n rounds (10)", FIELD(plan.min_runs),
	  LIMITS(1, ROUNDS_MAX) },
	{ OPTION_NUMBER, 'M', "max-runs", "n", "measure at most n rounds", FIELD(plan.max_runs),
	  LIMITS(1, ROUNDS_MAX) },
	{ OPTION_CALL, 'd', "duration", "ms", "measure for about this long per command (5000)",
	  FIELD(plan.duration_ns), .value = VALUE_TIME, .call = take_time },

	{ .kind = OPTION_GROUP, .help = "What to run" },
	{ OPTION_CALL, 'n', "command-name", "name", "the name of the next command in the output", .call = take_name },
	{ OPTION_CALL, 'L', "parameter-list", "name values", "run with each value in place of {name}",
	  .call = take_list },
	{ OPTION_CALL, 'P', "parameter-scan", "name from to", "the same for all numbers in a range",
	  .call = take_scan },
	{ OPTION_TEXT, 'D', "parameter-step-size", "n", "the step between the numbers of the range (1)", FIELD(step) },
	{ OPTION_CALL, 0, "shell", "shell|default|none", "run commands in this shell (none)",
	  .value = VALUE_FILE, .call = take_shell },
	{ OPTION_CALL, 'S', NULL, NULL, "run commands in /bin/sh", .call = take_default_shell },
	{ OPTION_CALL, 'N', NULL, NULL, "run commands without a shell (default)", .call = take_no_shell },
	{ OPTION_TEXT, 's', "setup", "command", "shell command before the first round", FIELD(plan.setup),
	  .value = VALUE_SHELL_COMMAND },
	{ OPTION_CALL, 'p', "prepare", "command", "shell command before each run; one for all, or one for each",
	  .value = VALUE_SHELL_COMMAND, .call = take_prepare },
	{ OPTION_CALL, 'C', "conclude", "command", "the same after each run",
	  .value = VALUE_SHELL_COMMAND, .call = take_conclude },
	{ OPTION_TEXT, 'c', "cleanup", "command", "shell command after the last round", FIELD(plan.cleanup),
	  .value = VALUE_SHELL_COMMAND },
	{ OPTION_CALL, 'i', "ignore-failure", "statuses",
	  "continue when a command fails, or with these statuses", .argument_optional = true,
	  .call = take_ignored },
	{ OPTION_CALL, 0, "env", "name=value...", "variables of the environment; for all, or each",
	  .call = take_environment },
	{ OPTION_FLAG, 0, "no-env-padding", NULL, "add no variable of random length to the environment",
	  FIELD(plan.padding), .off = true },
	{ OPTION_CALL, 0, "cpus", "cpus", "run only on these CPUs: 0-3,7", .value = VALUE_CPUS, .call = take_cpus },
	{ OPTION_TEXT, 0, "input", "file", "standard input of each run (/dev/null)", FIELD(plan.input),
	  .value = VALUE_FILE },
	{ OPTION_TEXT, 0, "output", "null|pipe|inherit|file", "where standard output goes (null)", FIELD(output),
	  .value = VALUE_FILE },

	{ .kind = OPTION_GROUP, .help = "What to measure" },
	{ OPTION_CALL, 'e', "event", "list", "events, see pstat list; may be given several times",
	  .value = VALUE_EVENTS, .call = take_events },
	{ OPTION_CALL, 0, "metrics", "list", "metrics, see pstat list metric", .value = VALUE_METRICS,
	  .call = take_metrics },
	{ OPTION_CALL, 0, "pfm-events", "list", "events by their names in libpfm4",
	  .value = VALUE_PFM_EVENTS, .call = take_pfm_events },

	{ .kind = OPTION_GROUP, .help = "How to judge" },
	{ OPTION_TEXT, 0, "reference", "command", "compare with this command (the first)",
	  FIELD(reference) },
	{ OPTION_CALL, 0, "alpha", "n", "rate of false alarms (0.05)", .call = take_alpha },
	{ OPTION_CALL, 0, "threshold", "percent", "the smallest change that matters (1)", .call = take_threshold },
	{ OPTION_TEXT, 0, "seed", "n", "repeat the orders and padding of another comparison", FIELD(seed) },
	{ OPTION_FLAG, 0, "load", NULL, "show results again: the arguments are files of --export-json", FIELD(load) },
	{ OPTION_CALL, 0, "check", "row", "status 3 if slower, 4 if undecided (wall)",
	  .argument_optional = true, .call = take_check },

	{ .kind = OPTION_GROUP, .help = "How to print" },
	{ OPTION_CALL, 0, "export-json", "file", "write all numbers as JSON; - is stdout",
	  .value = VALUE_FILE, .call = take_json },
	{ OPTION_CALL, 0, "export-csv", "file", "write the rows as CSV", .value = VALUE_FILE, .call = take_csv },
	{ OPTION_CALL, 0, "export-markdown", "file", "write the rows as a table", .value = VALUE_FILE,
	  .call = take_markdown },
	{ OPTION_CHOICE, 0, "sort", "auto|command|mean-time", "show commands as given, or the fastest first",
	  FIELD(sort), .value = VALUE_ONE_OF },
	{ OPTION_CHOICE, 0, "style", "auto|basic|full|nocolor|color|none", "none: print nothing",
	  FIELD(style), .value = VALUE_ONE_OF },
	{ OPTION_CHOICE, 0, "color", "auto|always|never", "colours", FIELD(colour), .value = VALUE_ONE_OF },
	{ OPTION_COUNT, 'v', "verbose", NULL, "print more details", FIELD(verbose) },
	{ .kind = OPTION_END },
};

/* ---- words before and after ---- */

void compare_words_init(struct compare_words *words, const struct kern *kern)
{
	*words = (struct compare_words){
		.plan = { .warm_up = 1, .min_runs = 10, .duration_ns = 5 * NS_PER_S, .padding = true, .kern = kern,
			  .question = { .alpha = NAN, .threshold = NAN } },
	};
	event_words_init(&words->what, kern);
}

void compare_words_release(struct compare_words *words)
{
	for (size_t i = 0; i < words->n_parameters; i++) {
		for (size_t k = 0; k < words->parameters[i].n; k++)
			free(words->parameters[i].values[k]);
		free(words->parameters[i].values);
		free(words->parameters[i].name);
	}
	free(words->parameters);
	free(words->exports);
	free(words->names.v);
	free(words->prepare.v);
	free(words->conclude.v);
	free(words->environment.v);
	free(words->ignored);
	free(words->from);
	free(words->metric_names);
	metrics_release(&words->plan.metrics, &words->plan.n_metrics);
	free(words->plan.prepare);
	free(words->plan.conclude);
	for (size_t i = 0; words->assignments && i < words->data.n_commands; i++) {
		for (size_t k = 0; words->assignments[i][k]; k++)
			free(words->assignments[i][k]);
		free(words->assignments[i]);
	}
	free(words->assignments);
	compare_data_release(&words->data);
	event_words_release(&words->what);
}

/* ---- commands ---- */

/* Adds a command that takes the words. text: as it is shown. */
static void add_command(struct compare_words *words, char **argv, const char *text)
{
	struct compare_data *data = &words->data;
	struct compare_command *command;

	data->commands = xreallocarray(data->commands, data->n_commands + 1, sizeof(*data->commands));
	command = &data->commands[data->n_commands];
	*command = (struct compare_command){ .argv = argv, .text = compare_printable(text) };
	command->name = compare_printable(data->n_commands < words->names.n ? words->names.v[data->n_commands] : text);
	data->n_commands++;
}

/* A string as the shell that runs it has it, or taken apart here. */
static int add_string(struct compare_words *words, const char *string, struct str *err)
{
	struct shell_words split;
	char **argv;

	if (words->shell) {
		argv = xcalloc(4, sizeof(*argv));
		argv[0] = xstrdup(words->shell);
		argv[1] = xstrdup("-c");
		argv[2] = xstrdup(string);
		add_command(words, argv, string);
		return 0;
	}
	shell_words_split(&split, string);
	/* The last word is empty after a blank. */
	while (split.n && !split.v[split.n - 1][0] && !split.at[split.n - 1][0])
		free(split.v[--split.n]), split.v[split.n] = NULL;
	if (split.open || !split.n) {
		char open = split.open;

		shell_words_release(&split);
		return open ? fail(err, -EINVAL, "'%s': a quote %c is not closed", string, open) :
			      fail(err, -EINVAL, "'%s' is no command", string);
	}
	argv = split.v;
	split.v = NULL;
	split.n = 0;
	shell_words_release(&split);
	add_command(words, argv, string);
	return 0;
}

/* The value of each parameter, as the digits of a number name them. */
static void note_parameters(struct compare_words *words, size_t number)
{
	struct compare_command *command = &words->data.commands[words->data.n_commands - 1];

	command->parameters = xcalloc(words->n_parameters + 1, sizeof(*command->parameters));
	for (size_t i = 0; i < words->n_parameters; i++) {
		const struct parameter *parameter = &words->parameters[i];

		command->parameters[command->n_parameters++] = (struct compare_parameter){
			xstrdup(parameter->name), xstrdup(parameter->values[number % parameter->n]),
		};
		number /= parameter->n;
	}
}

/* Puts these values in the place of {name}. */
static char *fill_in(const struct compare_words *words, const char *string, size_t number)
{
	char *text = xstrdup(string);

	for (size_t i = 0; i < words->n_parameters; i++) {
		const struct parameter *parameter = &words->parameters[i];
		const char *value = parameter->values[number % parameter->n];
		char *place = xasprintf("{%s}", parameter->name);
		struct str filled = STR_INIT;
		const char *at = text, *found;

		number /= parameter->n;
		for (; (found = strstr(at, place)); at = found + strlen(place)) {
			str_addn(&filled, at, (size_t)(found - at));
			str_add(&filled, value);
		}
		str_add(&filled, at);
		free(place);
		free(text);
		text = str_detach(&filled);
	}
	return text;
}

static bool has_parameter(const struct compare_words *words, const char *string)
{
	bool found = false;

	for (size_t i = 0; i < words->n_parameters && !found; i++) {
		char *place = xasprintf("{%s}", words->parameters[i].name);

		found = strstr(string, place);
		free(place);
	}
	return found;
}

static int add_strings(struct compare_words *words, char **strings, size_t n, struct str *err)
{
	size_t ways = 1;
	int rc = 0;

	for (size_t i = 0; i < words->n_parameters; i++)
		ways *= words->parameters[i].n;
	/* All commands for one value come first, then all for the next, as hyperfine has it. */
	for (size_t way = 0; way < ways && !rc; way++) {
		for (size_t i = 0; i < n && !rc; i++) {
			char *string = fill_in(words, strings[i], way);
			bool filled = has_parameter(words, strings[i]);

			if (filled || !way)
				rc = add_string(words, string, err);
			if (filled && !rc)
				note_parameters(words, way);
			free(string);
		}
	}
	return rc;
}

/* Words after "--": ":::" parts commands. */
static int add_whole_words(struct compare_words *words, char **v, size_t n, struct str *err)
{
	size_t from = 0;

	for (size_t i = 0; i <= n && n; i++) {
		struct str text = STR_INIT;
		char **argv;

		if (i < n && strcmp(v[i], ":::"))
			continue;
		if (i == from)
			return fail(err, -EINVAL, "a command is missing %s :::", i < n ? "before" : "after");
		argv = xcalloc(i - from + 1, sizeof(*argv));
		for (size_t k = from; k < i; k++) {
			argv[k - from] = xstrdup(v[k]);
			str_addf(&text, "%s%s", k > from ? " " : "", v[k]);
		}
		add_command(words, argv, text.s);
		str_release(&text);
		from = i + 1;
	}
	return 0;
}

/* ---- what the options mean ---- */

static int decimals_of(const char *text)
{
	const char *point = strchr(text, '.');

	return point ? (int)strlen(point + 1) : 0;
}

enum { SCAN_MAX = 1000 };

static int complete_scan(struct compare_words *words, struct str *err)
{
	const char *step_text = words->step ? words->step : "1";
	int decimals;
	double from, to, step;
	struct parameter *parameter;

	if (!words->scan)
		return words->step ? fail(err, -EINVAL, "--parameter-step-size: there is no --parameter-scan") : 0;
	if (parse_double(step_text, &step) || !(step > 0) || isinf(step))
		return fail(err, -EINVAL, "--parameter-step-size: '%s' is not a number above 0", step_text);
	parse_double(words->from, &from);
	parse_double(words->to, &to);
	if ((to - from) / step >= SCAN_MAX)
		return fail(err, -EINVAL, "--parameter-scan: more than %d commands", SCAN_MAX);
	decimals = decimals_of(step_text);
	decimals = decimals_of(words->from) > decimals ? decimals_of(words->from) : decimals;
	parameter = add_parameter(words, words->scan, strcspn(words->scan, "="));
	for (int i = 0; from + i * step <= to + step / 1e6; i++)
		add_value(parameter, xasprintf("%.*f", decimals, from + i * step));
	return 0;
}

/* One for all commands, or one for each. */
static int complete_hooks(const struct compare_words *words, const char *option, const struct given_words *list,
			  const char ***hooks, struct str *err)
{
	size_t n = words->data.n_commands;

	if (!list->n)
		return 0;
	if (list->n != 1 && list->n != n)
		return fail(err, -EINVAL, "%s: it is given %zu times for %zu commands; give it once, or once for each",
			    option, list->n, n);
	*hooks = xcalloc(n, sizeof(**hooks));
	for (size_t i = 0; i < n; i++)
		(*hooks)[i] = list->v[list->n == 1 ? 0 : i];
	return 0;
}

/* Takes apart assignments, which may have quotes. */
static char **assignments(const char *text, struct str *err)
{
	struct shell_words split;
	char **v;

	shell_words_split(&split, text);
	for (int i = 0; i < split.n; i++)
		if (split.v[i][0] && (!strchr(split.v[i], '=') || split.v[i][0] == '='))
			fail(err, -EINVAL, "--env: '%s' is not NAME=VALUE", split.v[i]);
	while (split.n && !split.v[split.n - 1][0])
		free(split.v[--split.n]), split.v[split.n] = NULL;
	v = split.v;
	split.v = NULL;
	split.n = 0;
	shell_words_release(&split);
	return v;
}

static int complete_environment(struct compare_words *words, struct str *err)
{
	const char **texts = NULL;
	size_t n = words->data.n_commands;
	int rc = complete_hooks(words, "--env", &words->environment, &texts, err);

	if (rc || !texts)
		return rc;
	words->assignments = xcalloc(n, sizeof(*words->assignments));
	for (size_t i = 0; i < n; i++)
		words->assignments[i] = assignments(texts[i], err);
	words->plan.environment = words->assignments;
	free(texts);
	return err->len ? -EINVAL : 0;
}

static int complete_reference(struct compare_words *words, struct str *err)
{
	const struct compare_data *data = &words->data;

	for (size_t i = 0; words->reference && i < data->n_commands; i++) {
		const struct compare_command *command = &data->commands[i];

		if (strcmp(command->name, words->reference) && strcmp(command->text, words->reference))
			continue;
		words->plan.question.reference = i;
		return 0;
	}
	return words->reference ? fail(err, -EINVAL, "--reference: '%s' is none of the commands", words->reference) : 0;
}

static int complete_seed(struct compare_words *words, struct str *err)
{
	struct compare_session *session = xcalloc(1, sizeof(*session));

	*session = (struct compare_session){ .by_chance = true };
	words->data.sessions = session;
	words->data.n_sessions = 1;
	if (words->seed) /* as many readers of JSON have no larger numbers */
		return parse_u64(words->seed, 0, &session->seed) || session->seed > INT64_MAX ?
			       fail(err, -EINVAL, "--seed: '%s' is not a number below 2^63", words->seed) :
			       0;
	/* Short enough to be typed again. */
	if (getrandom(&session->seed, sizeof(session->seed), 0) != sizeof(session->seed))
		session->seed = now_ns();
	session->seed &= UINT32_MAX;
	return 0;
}

static void complete_output(struct compare_words *words)
{
	static const char *const names[] = { "null", "pipe", "inherit" };

	words->plan.output = COMPARE_OUTPUT_NULL;
	for (size_t i = 0; words->output && i <= ARRAY_SIZE(names); i++) {
		words->plan.output = (enum compare_output)i;
		words->plan.output_path = words->output;
		if (i < ARRAY_SIZE(names) && !strcmp(words->output, names[i]))
			break;
	}
}

static const char default_events[] =
	"task-clock,page-faults,context-switches,cycles:u,instructions:u,branch-misses:u,cache-misses:u";

static int complete_events(struct compare_words *words, struct str *err)
{
	const struct host_paths *host = &words->what.host;
	const struct metric_ground ground = { .host = host };
	int rc = words->what.events.n ? 0 : event_list_parse(&words->what.events, default_events, host, err);

	if (rc || !words->metric_names)
		return rc;
	return metrics_select(words->metric_names, &words->what.events, &words->plan.metrics, &words->plan.n_metrics,
			      &ground, err);
}

static bool no_commands(const struct compare_words *w)
{
	return !w->data.n_commands;
}

static bool too_many_names(const struct compare_words *w)
{
	return w->names.n > w->data.n_commands;
}

static bool bounds_turned(const struct compare_words *w)
{
	return w->plan.max_runs && w->plan.max_runs < w->plan.min_runs;
}

static bool output_is_export(const struct compare_words *w)
{
	for (size_t i = 0; w->plan.output == COMPARE_OUTPUT_FILE && i < w->n_exports; i++)
		if (!strcmp(w->exports[i].path, w->plan.output_path))
			return true;
	return false;
}

static bool exports_meet(const struct compare_words *w)
{
	for (size_t i = 0; i < w->n_exports; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(w->exports[i].path, w->exports[k].path))
				return true;
	return false;
}

/* To add one: a function above, a row here, tests/cli/compare.sh. The first that holds is reported. */
static const struct {
	bool (*holds)(const struct compare_words *words);
	const char *text;
} contradictions[] = {
	{ no_commands, "no command is given\npstat compare 'CMD1' 'CMD2', or pstat compare -- CMD1 ::: CMD2" },
	{ too_many_names, "--command-name: there are more names than commands" },
	{ bounds_turned, "--max-runs is less than --min-runs" },
	{ output_is_export, "--output: the commands would write over an export" },
	{ exports_meet, "two exports have the same file" },
};

int compare_words_complete(struct compare_words *words, char **strings, size_t n_strings, char **after, size_t n_after,
			   struct str *err)
{
	struct compare_question *question = &words->plan.question;
	int rc = complete_scan(words, err);

	question->alpha = isnan(question->alpha) ? COMPARE_ALPHA : question->alpha;
	question->threshold = isnan(question->threshold) ? COMPARE_THRESHOLD : question->threshold;
	if (!rc)
		rc = add_strings(words, strings, n_strings, err);
	if (!rc)
		rc = add_whole_words(words, after, n_after, err);
	complete_output(words);
	if (words->plan.max_runs && words->plan.min_runs == 10 && words->plan.max_runs < 10)
		words->plan.min_runs = words->plan.max_runs; /* the default gives way */
	for (size_t i = 0; i < ARRAY_SIZE(contradictions) && !rc; i++)
		if (contradictions[i].holds(words))
			rc = fail(err, -EINVAL, "%s", contradictions[i].text);
	if (!rc)
		rc = complete_hooks(words, "--prepare", &words->prepare, &words->plan.prepare, err);
	if (!rc)
		rc = complete_hooks(words, "--conclude", &words->conclude, &words->plan.conclude, err);
	if (!rc)
		rc = complete_environment(words, err);
	if (!rc)
		rc = complete_reference(words, err);
	if (!rc)
		rc = complete_seed(words, err);
	return rc ? rc : complete_events(words, err);
}

/* ---- results that were measured before ---- */

static bool asks_for_runs(const struct compare_words *w)
{
	const struct compare_plan *plan = &w->plan;

	return plan->runs || plan->max_runs || plan->setup || plan->cleanup || plan->input || plan->cpus ||
	       w->prepare.n || w->conclude.n || w->environment.n || w->n_parameters || w->scan || w->seed ||
	       w->output || w->shell || w->metric_names || w->what.events.n;
}

static bool exports_json(const struct compare_words *w)
{
	for (size_t i = 0; i < w->n_exports; i++)
		if (w->exports[i].format == &compare_format_json)
			return true;
	return false;
}

static bool has_rounds_of_one_file(const struct compare_words *w)
{
	return w->data.n_sessions == 1 && w->data.sessions[0].by_chance;
}

int compare_words_complete_load(struct compare_words *words, size_t n_files, size_t n_after, struct str *err)
{
	if (!n_files || n_after)
		return fail(err, -EINVAL, "--load: files are missing\npstat compare --load A.json [B.json]...");
	if (asks_for_runs(words))
		return fail(err, -EINVAL, "--load: nothing is run; options about runs and events do not go with it");
	return exports_meet(words) ? fail(err, -EINVAL, "two exports have the same file") : 0;
}

int compare_words_complete_loaded(struct compare_words *words, struct str *err)
{
	struct compare_data *data = &words->data;

	if (too_many_names(words))
		return fail(err, -EINVAL, "--command-name: there are more names than commands");
	for (size_t i = 0; i < words->names.n; i++) {
		free(data->commands[i].name);
		data->commands[i].name = compare_printable(words->names.v[i]);
	}
	if (exports_json(words) && !has_rounds_of_one_file(words))
		return fail(err, -EINVAL,
			    "--export-json: only what is loaded from one file of pstat's can be written again");
	return complete_reference(words, err);
}
