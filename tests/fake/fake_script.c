/* SPDX-License-Identifier: MIT */
/*
 * The script: lines become rules and settings, and a call is held against the rules in order.
 */
#include "fake.h"

#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct condition {
	char name[32];
	char text[64];
	uint64_t value;
};

struct rule {
	struct condition when[12];
	size_t n_when;
	struct fake_outcome then;
};

static struct rule rules[64];
static size_t n_rules;
static struct fake_settings settings = { .nofile = { 1024, 4096 } };

/* To add a field: one row; scripts and the log then know it. */
#define NUMBERS(F)                                                                            \
	F(type) F(config) F(config1) F(config2) F(sample_period) F(sample_type) F(read_format)    \
	F(precise_ip) F(bp_type)
#define BITS(F)                                                                               \
	F(disabled) F(inherit) F(enable_on_exec) F(pinned) F(exclusive) F(exclude_user)           \
	F(exclude_kernel) F(exclude_hv) F(exclude_idle) F(exclude_host) F(exclude_guest) F(freq)   \
	F(inherit_stat) F(exclude_callchain_kernel) F(exclude_callchain_user)

#define GETTER(field)                                                     \
	static uint64_t get_##field(const struct perf_event_attr *attr)   \
	{                                                                 \
		return attr->field;                                       \
	}
NUMBERS(GETTER)
BITS(GETTER)

static uint64_t get_defer_callchain(const struct perf_event_attr *attr)
{
	return attr_defer(attr) & DEFER_CALLCHAIN ? 1 : 0;
}

static uint64_t get_defer_output(const struct perf_event_attr *attr)
{
	return attr_defer(attr) & DEFER_OUTPUT ? 1 : 0;
}

#define NUMBER_ROW(field) { #field, get_##field, false },
#define BIT_ROW(field) { #field, get_##field, true },
static const struct {
	const char *name;
	uint64_t (*get)(const struct perf_event_attr *attr);
	bool is_bit;
} fields[] = { NUMBERS(NUMBER_ROW) BITS(BIT_ROW) BIT_ROW(defer_callchain) BIT_ROW(defer_output) };

static const struct {
	const char *name;
	int number;
} errnos[] = {
	{ "E2BIG", E2BIG },	{ "EACCES", EACCES }, { "EBUSY", EBUSY },	{ "EINVAL", EINVAL },
	{ "EIO", EIO },		{ "EMFILE", EMFILE }, { "ENFILE", ENFILE },	{ "ENODEV", ENODEV },
	{ "ENOENT", ENOENT },	{ "ENOMEM", ENOMEM }, { "ENOSPC", ENOSPC },	{ "ENOSYS", ENOSYS },
	{ "ENXIO", ENXIO },	{ "EPERM", EPERM },   { "EOPNOTSUPP", EOPNOTSUPP }, { "ESRCH", ESRCH },
	{ "EBADF", EBADF },	{ "EINTR", EINTR },   { "EOVERFLOW", EOVERFLOW },
};

const char *fake_errno_name(int number)
{
	for (size_t i = 0; i < ARRAY_SIZE(errnos); i++) {
		if (errnos[i].number == number)
			return errnos[i].name;
	}
	return "E?";
}

static int errno_number(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(errnos); i++) {
		if (!strcmp(errnos[i].name, name))
			return errnos[i].number;
	}
	errx(99, "fake script: unknown errno '%s'", name);
}

static uint64_t number(const char *text)
{
	uint64_t value;
	bool minus = text[0] == '-';

	if (parse_u64(text + minus, 0, &value))
		errx(99, "fake script: '%s' is no number", text);
	return minus ? -value : value;
}

static uint64_t type_bits(const char *list)
{
	struct intset types = INTSET_INIT;
	struct str why = STR_INIT;
	uint64_t bits = 0;

	if (intset_parse(&types, list, 63, &why))
		errx(99, "fake script: %s", why.s);
	for (size_t i = 0; i < types.n; i++)
		bits |= 1ull << types.v[i];
	intset_release(&types);
	return bits;
}

/* "4:0-1:500000" */
static void take_core_type(const char *text)
{
	struct fake_core_type *type = &settings.core_types[settings.n_core_types];
	char *words = xstrdup(text), *rest = words;
	const char *number_word = strsep(&rest, ":"), *cpus = strsep(&rest, ":");
	struct str why = STR_INIT;

	if (settings.n_core_types++ == FAKE_CORE_TYPES)
		errx(99, "fake script: too many core types");
	if (!rest)
		errx(99, "fake script: '%s' is not TYPE:CPUS:NS", text);
	type->type = (uint32_t)number(number_word);
	type->task_ns = number(rest);
	if (intset_parse(&type->cpus, cpus, 1023, &why))
		errx(99, "fake script: %s", why.s);
	free(words);
}

static bool take_setting(const char *key, const char *value)
{
	if (!strcmp(key, "counters")) {
		settings.counters = (unsigned)number(value);
	} else if (!strcmp(key, "hw_types")) {
		settings.hw_types = type_bits(value);
	} else if (!strcmp(key, "path_types")) {
		settings.path_types = type_bits(value);
	} else if (!strcmp(key, "core_type")) {
		take_core_type(value);
	} else if (!strcmp(key, "nofile")) {
		const char *colon = strchr(value, ':');
		char *soft = xstrndup(value, colon ? (size_t)(colon - value) : strlen(value));

		settings.nofile.rlim_cur = number(soft);
		settings.nofile.rlim_max = colon ? number(colon + 1) : settings.nofile.rlim_cur;
		free(soft);
	} else {
		return false;
	}
	return true;
}

static bool take_outcome(struct fake_outcome *then, const char *key, const char *value)
{
	if (!strcmp(key, "errno")) {
		then->open_errno = errno_number(value);
	} else if (!strcmp(key, "read") && !strcmp(value, "EOF")) {
		then->read_eof = true;
	} else if (!strcmp(key, "read")) {
		then->read_errno = errno_number(value);
	} else if (!strcmp(key, "enable")) {
		then->enable_errno = errno_number(value);
	} else if (!strcmp(key, "filter")) {
		then->filter_errno = errno_number(value);
	} else if (!strcmp(key, "value")) {
		then->has_value = true;
		then->value = number(value);
	} else if (!strcmp(key, "enabled")) {
		then->has_enabled = true;
		then->enabled_ns = number(value);
	} else if (!strcmp(key, "running")) {
		then->has_running = true;
		then->running_ns = number(value);
	} else {
		return false;
	}
	return true;
}

static bool is_field(const char *name)
{
	static const char *const call_fields[] = { "pid", "cpu", "group", "flags", "nth", "member" };

	for (size_t i = 0; i < ARRAY_SIZE(call_fields); i++) {
		if (!strcmp(call_fields[i], name))
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!strcmp(fields[i].name, name))
			return true;
	}
	return false;
}

static void take_condition(struct rule *rule, const char *key, const char *value)
{
	struct condition *when = &rule->when[rule->n_when];

	if (!is_field(key))
		errx(99, "fake script: unknown word '%s'", key);
	if (rule->n_when++ == ARRAY_SIZE(rule->when))
		errx(99, "fake script: too many conditions in one rule");
	snprintf(when->name, sizeof(when->name), "%s", key);
	snprintf(when->text, sizeof(when->text), "%s", value);
	if (strcmp(key, "pid") || isdigit((unsigned char)value[0]) || value[0] == '-')
		when->value = number(value);
}

static void take_line(char *line)
{
	struct rule rule = { 0 };
	bool any = false;
	char *word;

	line[strcspn(line, "#\n")] = '\0';
	while ((word = strsep(&line, " \t")) != NULL) {
		char *equals = strchr(word, '=');

		if (!*word)
			continue;
		if (!equals)
			errx(99, "fake script: '%s' is not key=value", word);
		*equals = '\0';
		if (take_setting(word, equals + 1))
			continue;
		any = true;
		if (!take_outcome(&rule.then, word, equals + 1))
			take_condition(&rule, word, equals + 1);
	}
	if (any && n_rules == ARRAY_SIZE(rules))
		errx(99, "fake script: too many rules");
	if (any)
		rules[n_rules++] = rule;
}

void fake_script_read(const char *path)
{
	struct str text = STR_INIT;
	char *rest, *line;
	int rc = read_text_file(path, &text);

	if (rc)
		errx(99, "fake script: %s: %s", path, strerror(-rc));
	rest = text.s;
	while ((line = strsep(&rest, "\n")) != NULL)
		take_line(line);
	str_release(&text);
}

const struct fake_settings *fake_settings(void)
{
	return &settings;
}

bool fake_is_child(pid_t pid)
{
	char path[64];
	struct str text = STR_INIT;
	const char *paren;
	int ppid = -1;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (!read_text_file(path, &text)) {
		paren = strrchr(text.s, ')');
		if (!paren || sscanf(paren + 1, " %*c %d", &ppid) != 1)
			ppid = -1;
	}
	str_release(&text);
	return pid > 0 && ppid == getpid();
}

static bool condition_holds(const struct condition *when, const struct fake_call *call)
{
	if (!strcmp(when->name, "pid")) {
		if (!strcmp(when->text, "C"))
			return fake_is_child(call->pid);
		if (!strcmp(when->text, "S"))
			return call->pid == 0 || call->pid == getpid();
		return call->pid == (pid_t)when->value;
	}
	if (!strcmp(when->name, "cpu"))
		return call->cpu == (int)when->value;
	if (!strcmp(when->name, "group"))
		return call->group == (int)when->value;
	if (!strcmp(when->name, "member"))
		return (call->group >= 0) == (when->value != 0);
	if (!strcmp(when->name, "flags"))
		return call->flags == when->value;
	if (!strcmp(when->name, "nth"))
		return call->nth == when->value;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!strcmp(fields[i].name, when->name))
			return fields[i].get(call->attr) == when->value;
	}
	return false;
}

struct fake_outcome fake_script_outcome(const struct fake_call *call)
{
	for (size_t i = 0; i < n_rules; i++) {
		size_t holds = 0;

		while (holds < rules[i].n_when && condition_holds(&rules[i].when[holds], call))
			holds++;
		if (holds == rules[i].n_when)
			return rules[i].then;
	}
	return (struct fake_outcome){ 0 };
}

static void log_read_format(struct str *line, uint64_t format)
{
	static const char *const names[] = { "ENABLED", "RUNNING", "ID", "GROUP", "LOST" };
	const char *separator = " read_format=";

	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(format >> bit & 1))
			continue;
		str_addf(line, "%s%s", separator, bit < ARRAY_SIZE(names) ? names[bit] : "?");
		separator = "|";
	}
}

/* config1 and config2 share their place with a breakpoint's address and length, and with paths. */
static bool log_shared_field(struct str *line, const char *name, const struct perf_event_attr *attr)
{
	bool breakpoint = attr->type == PERF_TYPE_BREAKPOINT;
	bool path = attr->type < 64 && settings.path_types >> attr->type & 1;

	if (breakpoint && !strcmp(name, "config1")) {
		str_addf(line, " bp_addr=%#llx", (unsigned long long)attr->bp_addr);
	} else if (breakpoint && !strcmp(name, "config2")) {
		str_addf(line, " bp_len=%llu", (unsigned long long)attr->bp_len);
	} else if (path && !strcmp(name, "config1") && attr->config1) {
		str_add(line, " path=");
		str_add_json(line, (const char *)(uintptr_t)attr->config1);
	} else {
		return false;
	}
	return true;
}

void fake_log_attr(struct str *line, const struct perf_event_attr *attr)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const char *name = fields[i].name;
		uint64_t value = fields[i].get(attr);
		bool always = !strcmp(name, "type") || !strcmp(name, "config");

		if (log_shared_field(line, name, attr) || (!value && !always))
			continue;
		if (!strcmp(name, "read_format"))
			log_read_format(line, value);
		else if (fields[i].is_bit)
			str_addf(line, " %s", name);
		else if (!strncmp(name, "config", 6))
			str_addf(line, " %s=%#llx", name, (unsigned long long)value);
		else
			str_addf(line, " %s=%llu", name, (unsigned long long)value);
	}
}
