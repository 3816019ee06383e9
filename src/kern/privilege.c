/* SPDX-License-Identifier: MIT */
/*
 * Rights of this process, from /proc/self/status and the perf_event_paranoid file; and whether it sees where the
 * kernel's functions are. Read when something was refused or when the doctor asks, never on the way to a count that
 * works.
 *
 * /proc/kallsyms has zeros for addresses that a reader may not see. The kernel shows them with CAP_SYSLOG where
 * kptr_restrict is 0 or 1, without it only where that is 0 and perf_event_paranoid is 1 or less, and to nobody
 * where it is 2. The first line tells which it is; where the list itself is not there, that is another matter.
 *
 * Sources: kernel/ksyms_common.c of Linux, kallsyms_show_value(); proc(5), kptr_restrict.
 */
#include "kern/machine.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { PARANOID_UNKNOWN = 2 };

/*
 * The text after "key:" of a status file, without leading white space; false without such a line.
 */
static bool status_field(const struct str *text, const char *key, char *value, size_t size)
{
	size_t len = strlen(key);

	for (const char *line = text->s; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, len) && line[len] == ':') {
			line += len + 1;
			line += strspn(line, " \t");
			snprintf(value, size, "%.*s", (int)strcspn(line, "\n"), line);
			return true;
		}
	}
	return false;
}

/* The second of the four numbers of "Uid:": the effective one. -1 if it is not there. */
static long effective_uid(const struct str *status)
{
	char value[64];
	unsigned uid;

	if (!status_field(status, "Uid", value, sizeof(value)))
		return -1;
	return sscanf(value, "%*u %u", &uid) == 1 ? (long)uid : -1;
}

void privilege_read(struct privilege *privilege, const struct host_paths *host)
{
	struct str text = STR_INIT;
	char *path = xasprintf("%s/self/status", host->procfs);
	char value[64];
	uint64_t number;
	long uid;

	*privilege = (struct privilege){ 0 };
	if (!read_line_file(path, &text)) {
		if (status_field(&text, "CapEff", value, sizeof(value)) &&
		    !parse_u64(value, 16, &number))
			privilege->effective = number;
		if (status_field(&text, "Seccomp", value, sizeof(value)) &&
		    !parse_u64(value, 10, &number) && number <= SECCOMP_FILTER)
			privilege->seccomp = (int)number;
		uid = effective_uid(&text);
		privilege->uid = uid < 0 ? 0 : (unsigned)uid;
		privilege->is_root = !uid;
	}
	free(path);
	str_release(&text);
}

bool privilege_has(const struct privilege *privilege, int capability)
{
	return privilege->effective >> capability & 1;
}

bool privilege_is_bare_root(const struct privilege *privilege)
{
	return privilege->is_root && !privilege_has(privilege, CAP_PERFMON) && !privilege_has(privilege, CAP_SYS_ADMIN);
}

long task_owner(const struct host_paths *host, pid_t tid)
{
	struct str text = STR_INIT;
	char *path = xasprintf("%s/%d/status", host->procfs, (int)tid);
	long uid = -1;

	if (!read_line_file(path, &text))
		uid = effective_uid(&text);
	free(path);
	str_release(&text);
	return uid;
}

bool kernel_setting(const struct host_paths *host, const char *name, uint64_t *value)
{
	char *path = xasprintf("%s/sys/kernel/%s", host->procfs, name);
	int rc = read_u64_file(path, value);

	free(path);
	return !rc;
}

int perf_paranoid(const struct host_paths *host)
{
	struct str text = STR_INIT;
	char *path = xasprintf("%s/sys/kernel/perf_event_paranoid", host->procfs);
	long level = PARANOID_UNKNOWN;

	if (read_line_file(path, &text) || parse_int(text.s, INT_MIN, INT_MAX, &level))
		level = PARANOID_UNKNOWN;
	free(path);
	str_release(&text);
	return (int)level;
}

bool may_profile_all(const struct host_paths *host)
{
	struct privilege privilege;

	privilege_read(&privilege, host);
	return privilege_has(&privilege, CAP_PERFMON) || privilege_has(&privilege, CAP_SYS_ADMIN);
}

const char *privilege_remedy(const struct privilege *privilege, int paranoid, int level)
{
	/* One text per level from -1 on, so that the remedy is static text. */
	static const char *const sysctls[] = {
		"sudo sysctl kernel.perf_event_paranoid=-1",
		"sudo sysctl kernel.perf_event_paranoid=0",
		"sudo sysctl kernel.perf_event_paranoid=1",
		"sudo sysctl kernel.perf_event_paranoid=2",
	};

	if (privilege->seccomp == SECCOMP_FILTER || privilege_is_bare_root(privilege))
		return "start the container with --cap-add PERFMON";
	if (paranoid > level && level >= -1 && level + 1 < (int)ARRAY_SIZE(sysctls))
		return sysctls[level + 1];
	return "sudo setcap cap_perfmon+ep \"$(command -v pstat)\"";
}

/* ---- addresses of the kernel's functions ---- */

/* The first line into `line`; false: there is none. */
static bool first_line(const struct host_paths *host, char *line, int n)
{
	char *path = xasprintf("%s/kallsyms", host->procfs);
	FILE *file = fopen(path, "re");
	bool there = file && fgets(line, n, file);

	if (file)
		fclose(file);
	free(path);
	return there;
}

void kernel_symbols_look(struct kernel_symbols *symbols, const struct host_paths *host)
{
	bool paranoid = perf_paranoid(host) > 1;
	char line[64];

	*symbols = (struct kernel_symbols){ 0 };
	kernel_setting(host, "kptr_restrict", &symbols->kptr_restrict);
	if (!first_line(host, line, sizeof(line)))
		return;
	symbols->there = true;
	symbols->hidden = line[strspn(line, "0")] == ' ';
	if (!symbols->hidden)
		return;
	symbols->rights_help = symbols->kptr_restrict < 2;
	symbols->remedy = !symbols->kptr_restrict ? "sudo sysctl kernel.perf_event_paranoid=1" :
			  symbols->rights_help && paranoid ?
			  "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1" :
			  "sudo sysctl kernel.kptr_restrict=0";
}
