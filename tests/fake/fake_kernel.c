/* SPDX-License-Identifier: MIT */
/*
 * The calls: perf_event_open, ioctl, read, close and rlimit, played by the script and written to the
 * log. A descriptor is a real one (of /dev/null), so that whatever else is done with it behaves.
 */
#include "fake.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct fake_event {
	int fd; /* -1: closed */
	int leader; /* number of the leader; its own if it leads */
	pid_t pid;
	int cpu;
	struct perf_event_attr attr;
	struct fake_outcome outcome;
};

static struct {
	int log_fd;
	struct fake_event *v; /* by number */
	size_t n, cap;
	unsigned n_calls;
	struct rlimit nofile;
	bool has_nofile;
} fake = { .log_fd = -1 };

void fake_log_open(const char *path)
{
	fake.log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (fake.log_fd < 0)
		err(99, "fake log: %s", path);
}

static void log_line(struct str *line)
{
	str_addc(line, '\n');
	if (fake.log_fd >= 0 && write_all(fake.log_fd, line->s, line->len))
		err(99, "fake log");
	str_release(line);
}

static int event_number(int fd)
{
	for (size_t i = fake.n; i-- > 0;) {
		if (fake.v[i].fd == fd)
			return (int)i;
	}
	return -1;
}

static bool is_generic(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;
}

/* NULL: its events run on all CPUs alike, or no core type has this number. */
static const struct fake_core_type *core_type_of(const struct perf_event_attr *attr)
{
	const struct fake_settings *s = fake_settings();
	uint64_t type = is_generic(attr) ? attr->config >> 32 : attr->type;

	if (s->n_core_types && (type == PERF_TYPE_RAW || (is_generic(attr) && !type)))
		return &s->core_types[0];
	for (size_t i = 0; i < s->n_core_types; i++)
		if (s->core_types[i].type == type)
			return &s->core_types[i];
	return NULL;
}

static bool is_hardware(const struct perf_event_attr *attr)
{
	return is_generic(attr) || attr->type == PERF_TYPE_RAW || core_type_of(attr) ||
	       (attr->type < 64 && fake_settings()->hw_types >> attr->type & 1);
}

/* Open hardware events that share counters with e: of its group, of its pinned ones, or all. */
static unsigned rivals(const struct fake_event *e, bool of_group, bool of_pinned)
{
	unsigned n = 0;

	for (size_t i = 0; i < fake.n; i++) {
		const struct fake_event *other = &fake.v[i];

		if (other->fd >= 0 && is_hardware(&other->attr) && other->pid == e->pid &&
		    other->cpu == e->cpu && (!of_group || other->leader == e->leader) &&
		    core_type_of(&other->attr) == core_type_of(&e->attr) &&
		    (!of_pinned || (other->attr.pinned && other <= e)))
			n++;
	}
	return n;
}

static unsigned n_open(void)
{
	unsigned n = 0;

	for (size_t i = 0; i < fake.n; i++)
		n += fake.v[i].fd >= 0;
	return n;
}

static rlim_t soft_limit(void)
{
	return fake.has_nofile ? fake.nofile.rlim_cur : fake_settings()->nofile.rlim_cur;
}

/* Of a hybrid machine: no such core type, a CPU of another one, a group across them. */
static int decide_core_type(const struct fake_event *e)
{
	const struct fake_core_type *type = core_type_of(&e->attr);
	bool leads = e->leader == (int)fake.n;

	if (!type)
		return fake_settings()->n_core_types && is_generic(&e->attr) ? ENOENT : 0;
	if (e->cpu >= 0 && !intset_has(&type->cpus, e->cpu))
		return ENOENT;
	return !leads && is_hardware(&fake.v[e->leader].attr) &&
			       core_type_of(&fake.v[e->leader].attr) != type
		       ? EINVAL
		       : 0;
}

static int decide(const struct fake_event *e, const struct fake_call *call)
{
	unsigned counters = fake_settings()->counters;
	int refused = e->outcome.open_errno ? e->outcome.open_errno : decide_core_type(e);

	if (refused)
		return refused;
	if (call->group >= 0 && counters && is_hardware(&e->attr) && rivals(e, true, false) >= counters)
		return EINVAL;
	return n_open() >= soft_limit() ? EMFILE : 0;
}

static void log_flags(struct str *line, unsigned long flags)
{
	static const struct {
		unsigned long bit;
		const char *name;
	} names[] = {
		{ PERF_FLAG_FD_NO_GROUP, "NO_GROUP" }, { PERF_FLAG_FD_OUTPUT, "OUTPUT" },
		{ PERF_FLAG_PID_CGROUP, "PID_CGROUP" }, { PERF_FLAG_FD_CLOEXEC, "CLOEXEC" },
	};
	const char *separator = " flags=";

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (flags & names[i].bit) {
			str_addf(line, "%s%s", separator, names[i].name);
			separator = "|";
		}
	}
}

static void log_open(const struct fake_call *call, const char *pid, int result)
{
	struct str line = STR_INIT;

	str_addf(&line, "open pid=%s cpu=%d group=%d", pid, call->cpu, call->group);
	log_flags(&line, call->flags);
	fake_log_attr(&line, call->attr);
	if (result < 0)
		str_addf(&line, " = %s", fake_errno_name(-result));
	else
		str_addf(&line, " = %d", result);
	log_line(&line);
}

static void pid_word(char *word, size_t bytes, pid_t pid, unsigned long flags)
{
	if (flags & PERF_FLAG_PID_CGROUP)
		snprintf(word, bytes, "G");
	else if (pid == 0 || pid == getpid())
		snprintf(word, bytes, "S");
	else if (fake_is_child(pid))
		snprintf(word, bytes, "C");
	else
		snprintf(word, bytes, "%d", (int)pid);
}

static int fake_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
				unsigned long flags)
{
	struct fake_call call = { .attr = attr, .pid = pid, .cpu = cpu, .flags = flags,
				  .group = group_fd < 0 ? -1 : event_number(group_fd),
				  .nth = ++fake.n_calls };
	struct fake_event e = { .fd = -1, .pid = pid, .cpu = cpu, .attr = *attr,
				.outcome = fake_script_outcome(&call) };
	char word[16];
	int result;

	pid_word(word, sizeof(word), pid, flags);
	e.leader = call.group >= 0 ? fake.v[call.group].leader : (int)fake.n;
	if (group_fd >= 0 && call.group < 0)
		result = -EBADF;
	else
		result = -decide(&e, &call);
	if (!result) {
		result = (int)fake.n;
		e.fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (e.fd < 0)
			err(99, "fake kernel: /dev/null");
		VEC_GROW(fake.v, fake.n, fake.cap);
		fake.v[fake.n++] = e;
	}
	log_open(&call, word, result);
	return result < 0 ? result : fake.v[result].fd;
}

static int fake_ioctl(int fd, unsigned long request, unsigned long arg)
{
	static const struct {
		unsigned long request;
		const char *name;
	} names[] = {
		{ PERF_EVENT_IOC_ENABLE, "enable" }, { PERF_EVENT_IOC_DISABLE, "disable" },
		{ PERF_EVENT_IOC_RESET, "reset" }, { PERF_EVENT_IOC_SET_FILTER, "filter" },
		{ PERF_EVENT_IOC_ID, "id" }, { PERF_EVENT_IOC_REFRESH, "refresh" },
		{ PERF_EVENT_IOC_PERIOD, "period" }, { PERF_EVENT_IOC_SET_BPF, "bpf" },
	};
	int number = event_number(fd), result = 0;
	const char *name = "ioctl?";
	struct str line = STR_INIT;

	if (number < 0)
		return -EBADF;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (names[i].request == request)
			name = names[i].name;
	}
	str_addf(&line, "%s %d", name, number);
	if (request == PERF_EVENT_IOC_SET_FILTER) {
		str_addf(&line, " '%s'", (const char *)arg);
		result = -fake.v[number].outcome.filter_errno;
	} else if (request == PERF_EVENT_IOC_ID) {
		*(uint64_t *)arg = (uint64_t)number + 1;
	} else {
		str_add(&line, arg == PERF_IOC_FLAG_GROUP ? " group" : "");
		if (request == PERF_EVENT_IOC_ENABLE)
			result = -fake.v[number].outcome.enable_errno;
	}
	if (result)
		str_addf(&line, " = %s", fake_errno_name(-result));
	log_line(&line);
	return result;
}

/* How long e was enabled, and how long its task was on its core type; of a CPU both are 1 ms. */
static void set_times(const struct fake_event *e, uint64_t *enabled_ns, uint64_t *there_ns)
{
	const struct fake_settings *s = fake_settings();
	const struct fake_core_type *type = core_type_of(&e->attr);

	*enabled_ns = *there_ns = 1000000;
	if (e->pid < 0 || !s->n_core_types)
		return;
	*enabled_ns = 0;
	for (size_t i = 0; i < s->n_core_types; i++) {
		const struct fake_core_type *t = &s->core_types[i];

		if (e->cpu < 0)
			*enabled_ns += t->task_ns;
		else if (intset_has(&t->cpus, e->cpu)) /* the same on each of them */
			*enabled_ns += t->task_ns / t->cpus.n;
	}
	*there_ns = type && e->cpu < 0 ? type->task_ns : *enabled_ns;
}

/* One event's count; without a word in the script the n-th event counts 1000 n in 1 ms. */
static struct reading count_of(const struct fake_event *e)
{
	const struct fake_outcome *o = &e->outcome;
	unsigned counters = fake_settings()->counters, n = counters ? rivals(e, false, false) : 0;
	uint64_t enabled_ns, there_ns;
	struct reading r;

	set_times(e, &enabled_ns, &there_ns);
	r.value = o->has_value ? o->value : (uint64_t)(e - fake.v + 1) * there_ns / 1000;
	r.enabled_ns = o->has_enabled ? o->enabled_ns : enabled_ns;
	r.running_ns = o->has_running ? o->running_ns : o->has_enabled ? o->enabled_ns : there_ns;
	if (!o->has_running && counters && !e->attr.pinned && is_hardware(&e->attr) && n > counters) {
		r.running_ns = r.running_ns * counters / n;
		r.value = r.value * counters / n;
	}
	return r;
}

/* What follows a value in the layout. */
static size_t put_ids(uint64_t *out, const struct fake_event *e)
{
	size_t n = 0;

	if (e->attr.read_format & PERF_FORMAT_ID)
		out[n++] = (uint64_t)(e - fake.v) + 1;
	if (e->attr.read_format & PERF_FORMAT_LOST)
		out[n++] = 0;
	return n;
}

/* The layout of perf_event_open(2), "Reading results": how many words were written. */
static size_t fill_read(uint64_t *out, const struct fake_event *e)
{
	uint64_t format = e->attr.read_format;
	struct reading r = count_of(e);
	size_t n = 0;

	out[n++] = r.value; /* of a group: their number, below */
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		out[n++] = r.enabled_ns;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		out[n++] = r.running_ns;
	if (!(format & PERF_FORMAT_GROUP))
		return n + put_ids(out + n, e);
	out[0] = 0;
	for (size_t i = 0; i < fake.n; i++) {
		if (fake.v[i].fd < 0 || fake.v[i].leader != e->leader)
			continue;
		out[n++] = count_of(&fake.v[i]).value;
		n += put_ids(out + n, &fake.v[i]);
		out[0]++;
	}
	return n;
}

static ssize_t fake_read(int fd, void *buf, size_t bytes)
{
	int number = event_number(fd);
	unsigned counters = fake_settings()->counters;
	const struct fake_event *e;
	uint64_t *out;
	size_t n;

	if (number < 0) {
		ssize_t got = read(fd, buf, bytes);

		return got < 0 ? -errno : got;
	}
	e = &fake.v[number];
	if (e->outcome.read_errno)
		return -e->outcome.read_errno;
	if (e->outcome.read_eof || (e->attr.pinned && counters && is_hardware(&e->attr) &&
				    rivals(e, false, true) > counters))
		return 0;
	out = xcalloc(3 * fake.n + 4, sizeof(*out));
	n = fill_read(out, e) * sizeof(*out);
	if (n <= bytes)
		memcpy(buf, out, n);
	free(out);
	return n <= bytes ? (ssize_t)n : -ENOSPC;
}

static int fake_close(int fd)
{
	int number = event_number(fd);
	struct str line = STR_INIT;

	if (number >= 0) {
		fake.v[number].fd = -1;
		str_addf(&line, "close %d", number);
		log_line(&line);
	}
	return close(fd) < 0 ? -errno : 0;
}

static int fake_rlimit(int resource, const struct rlimit *set, struct rlimit *old)
{
	struct str line = STR_INIT;

	if (resource != RLIMIT_NOFILE)
		return sys_linux.rlimit(resource, set, old);
	if (!fake.has_nofile)
		fake.nofile = fake_settings()->nofile;
	fake.has_nofile = true;
	if (old)
		*old = fake.nofile;
	if (!set)
		return 0;
	if (set->rlim_cur > set->rlim_max)
		return -EINVAL;
	if (set->rlim_max > fake.nofile.rlim_max)
		return -EPERM;
	fake.nofile = *set;
	str_addf(&line, "nofile %llu", (unsigned long long)set->rlim_cur);
	log_line(&line);
	return 0;
}

const struct sys_ops fake_sys = {
	.perf_event_open = fake_perf_event_open,
	.ioctl = fake_ioctl,
	.read = fake_read,
	.close = fake_close,
	.rlimit = fake_rlimit,
};
