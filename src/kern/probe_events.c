/* SPDX-License-Identifier: MIT */
/*
 * probe_events: the kernel's lists of probes in tracefs, uprobe_events and kprobe_events. Only here they are written:
 * one line at a time, appended, for the lists are everybody's and are never cleared.
 *
 * Why a line was refused stands in tracefs's error_log, behind the errors of others; the last error with this very line
 * is ours:
 *
 *	[37557.918711] trace_uprobe: error: Event name is too long
 *	  Command: p:probe_prog/...
 *
 * Sources: Documentation/trace/uprobetracer.rst, kprobetrace.rst and ftrace.rst ("error_log") of Linux.
 */
#include "kern/kern.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>

static const struct {
	const char *file, *config;
} lists[] = {
	[PROBE_PROGRAM] = { "uprobe_events", "this kernel has no uprobes (CONFIG_UPROBE_EVENTS)" },
	[PROBE_KERNEL] = { "kprobe_events", "this kernel has no kprobes (CONFIG_KPROBE_EVENTS)" },
};

/* Says why a list cannot be opened. */
static int refused(const char *root, enum probe_target target, int code, struct str *err)
{
	if (code == -EACCES || code == -EPERM)
		return fail(err, code, "%s/%s: this user may not use it\nrun as root", root, lists[target].file);
	if (code == -EROFS)
		return fail(err, code, "%s is mounted read-only\nsudo mount -o remount,rw %s", root, root);
	return fail(err, code, "%s/%s: %s", root, lists[target].file, strerror(-code));
}

/* Opens the list; the descriptor, or a negative errno with its sentence. */
static int open_list(const struct host_paths *host, enum probe_target target, int flags, struct str *root,
		     struct str *err)
{
	int rc = tracefs_root(host, root), fd;
	char *path;

	if (rc == -ENOENT)
		return fail(err, rc, "tracefs is not mounted on %s\nsudo mount -t tracefs nodev %s", root->s, root->s);
	path = xasprintf("%s/%s", root->s, lists[target].file);
	fd = rc ? rc : open(path, flags | O_CLOEXEC);
	if (!rc && fd < 0)
		fd = -errno;
	free(path);
	if (fd == -ENOENT)
		return fail(err, fd, "%s", lists[target].config);
	return fd < 0 ? refused(root->s, target, fd, err) : fd;
}

int probe_events_read(const struct host_paths *host, enum probe_target target, struct str *list, struct str *err)
{
	struct str root = STR_INIT;
	char bytes[4096];
	ssize_t n = 0;
	int fd = open_list(host, target, O_RDONLY, &root, err);

	if (fd >= 0) {
		while ((n = read(fd, bytes, sizeof(bytes))) > 0)
			str_addn(list, bytes, (size_t)n);
		if (n < 0)
			fd = (close(fd), refused(root.s, target, -errno, err));
		else
			fd = (close(fd), 0);
	}
	str_release(&root);
	return fd;
}

/* Adds what the kernel's log of errors says of the line, with a small first letter; false: nothing. */
static bool add_logged(const char *root, const char *line, struct str *why)
{
	char *path = xasprintf("%s/error_log", root), *command = xasprintf("\n  Command: %s\n", line);
	struct str log = STR_INIT;
	const char *at = NULL, *error, *next;
	size_t n;

	if (!read_text_file(path, &log))
		for (next = log.s; (next = strstr(next, command)); next++)
			at = next;
	error = at;
	while (error && error > log.s && error[-1] != '\n')
		error--;
	error = error ? strstr(error, "error: ") : NULL;
	if (error && error < at) {
		error += strlen("error: ");
		n = (size_t)(at - error);
		str_addc(why, (char)tolower((unsigned char)*error));
		str_addn(why, error + 1, n - 1);
	}
	free(command);
	free(path);
	str_release(&log);
	return error && error < at;
}

/* How many places has the event that a line "p:GROUP/EVENT ..." sets? */
static int count_places(const struct host_paths *host, enum probe_target target, const char *line, size_t *n,
			struct str *err)
{
	const char *name = strchr(line, ':');
	char *wanted = xstrndup(name, strcspn(name, " ") + 1); /* ":GROUP/EVENT " */
	struct str list = STR_INIT;
	int rc = probe_events_read(host, target, &list, err);

	*n = 0;
	for (const char *at = list.s; !rc && (at = strstr(at, wanted)); at += strlen(wanted))
		++*n;
	free(wanted);
	str_release(&list);
	return rc;
}

static int write_line(const struct host_paths *host, enum probe_target target, const char *line, struct str *err)
{
	struct str root = STR_INIT, text = STR_INIT, why = STR_INIT;
	int fd = open_list(host, target, O_WRONLY | O_APPEND, &root, err), rc = fd;

	if (fd >= 0) {
		str_addf(&text, "%s\n", line);
		rc = write(fd, text.s, text.len) == (ssize_t)text.len ? 0 : -errno;
		close(fd);
		if (rc == -EBUSY)
			fail(err, rc, "the kernel refuses '%s': somebody measures with this event", line);
		else if (rc && add_logged(root.s, line, &why))
			fail(err, rc, "the kernel refuses '%s': %s", line, why.s);
		else if (rc)
			fail(err, rc, "the kernel refuses '%s': %s", line, strerror(-rc));
	}
	str_release(&why);
	str_release(&text);
	str_release(&root);
	return rc;
}

/* Before Linux 5.4 a line whose event is there already takes the place of the earlier one, without a word. */
int probe_events_write(const struct host_paths *host, enum probe_target target, const char *line, struct str *err)
{
	const bool adds = line[0] != '-';
	size_t before = 0, after = 1;
	int rc = adds ? count_places(host, target, line, &before, err) : 0;

	if (!rc)
		rc = write_line(host, target, line, err);
	if (!rc && adds)
		rc = count_places(host, target, line, &after, err);
	if (!rc && after <= before)
		return fail(err, -ENOTSUP, "'%s': this kernel has one place for each event (Linux 5.4 and later have "
			    "several)", line);
	return rc;
}

int probe_event_hold(const struct kern *kern, const char *group, const char *event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .disabled = true, .sample_period = 1,
	};
	struct str root = STR_INIT, text = STR_INIT;
	uint64_t id = 0;
	int rc = tracefs_root(&kern->host, &root), cpu = sched_getcpu();
	char *path = xasprintf("%s/events/%s/%s/id", root.s, group, event);

	if (!rc)
		rc = read_text_file(path, &text);
	if (!rc) {
		text.s[strcspn(text.s, "\n")] = '\0';
		rc = parse_u64(text.s, 0, &id);
	}
	attr.config = id;
	if (!rc)
		rc = kern->sys->perf_event_open(&attr, -1, cpu < 0 ? 0 : cpu, -1, PERF_FLAG_FD_CLOEXEC);
	free(path);
	str_release(&text);
	str_release(&root);
	return rc;
}
