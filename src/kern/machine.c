/* SPDX-License-Identifier: MIT */
/*
 * Answers about the machine, each read once and only when asked for.
 *
 * Virtual: x86 processors have a bit for it, which the kernel shows as the flag "hypervisor" in cpuinfo; others leave
 * /sys/hypervisor or a device-tree node of that name.
 */
#include "kern/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

void machine_init(struct machine *machine, const struct kern *kern)
{
	*machine = (struct machine){ .kern = kern };
}

void machine_release(struct machine *machine)
{
	event_pmu_list_release(&machine->pmus);
	event_pmu_list_release(&machine->core_pmus);
	machine_init(machine, machine->kern);
}

const struct event_pmu_list *machine_pmus(struct machine *machine)
{
	if (!machine->has_pmus) {
		machine->has_pmus = true;
		/* No PMUs are known without sysfs: the empty list is the answer. */
		event_pmus_read(&machine->pmus, &machine->kern->host);
	}
	return &machine->pmus;
}

const struct event_pmu *machine_core_pmu(struct machine *machine)
{
	if (!machine->has_core_pmus) {
		machine->has_core_pmus = true;
		event_core_pmus_read(&machine->core_pmus, &machine->kern->host);
	}
	return machine->core_pmus.n ? &machine->core_pmus.v[0] : NULL;
}

const struct event_pmu *machine_pmu(struct machine *machine, const char *name)
{
	const struct event_pmu_list *pmus;

	if (!*name)
		return machine_core_pmu(machine);
	pmus = machine_pmus(machine);
	for (size_t i = 0; i < pmus->n; i++)
		if (!strcmp(pmus->v[i].name, name))
			return &pmus->v[i];
	return NULL;
}

/*
 * Leaf 1, ECX bit 31: "always 0" in the processor's manuals, which leave it to hypervisors. Each leaf that is read in a
 * virtual machine is an exit to its hypervisor: which leaves there are is asked of 32-bit processors alone, as all
 * others have this one.
 */
#if defined(__x86_64__)
static bool processor_says_virtual(void)
{
	unsigned eax, ebx, ecx, edx;

	__cpuid(1, eax, ebx, ecx, edx);
	return ecx >> 31;
}
#elif defined(__i386__)
static bool processor_says_virtual(void)
{
	unsigned eax, ebx, ecx, edx;

	return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && ecx >> 31;
}
#else
static bool processor_says_virtual(void)
{
	return false;
}
#endif

/* The first CPU's flags: cpuinfo of a big machine is long, and slow to make. */
static bool cpuinfo_says_virtual(const char *procfs)
{
	char *path = xasprintf("%s/cpuinfo", procfs), buf[4096], *line;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, buf, sizeof(buf) - 1) : -1;

	if (fd >= 0)
		close(fd);
	free(path);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	line = strstr(buf, "\nflags");
	if (!line)
		return false;
	line[1 + strcspn(line + 1, "\n")] = '\0';
	return strstr(line, " hypervisor") != NULL;
}

bool machine_is_virtual(struct machine *machine)
{
	const struct host_paths *host = &machine->kern->host;
	char *type, *node;

	if (machine->has_virtual)
		return machine->is_virtual;
	machine->has_virtual = true;
	type = xasprintf("%s/hypervisor/type", host->sysfs);
	node = xasprintf("%s/device-tree/hypervisor", host->procfs);
	/* The kernel makes cpuinfo anew for each reader; a tree that stands for another machine has only that. */
	machine->is_virtual = (!strcmp(host->procfs, "/proc") && processor_says_virtual()) ||
			      cpuinfo_says_virtual(host->procfs) || !access(type, F_OK) || !access(node, F_OK);
	free(type);
	free(node);
	return machine->is_virtual;
}

const struct privilege *machine_privilege(struct machine *machine)
{
	if (!machine->has_privilege) {
		machine->has_privilege = true;
		privilege_read(&machine->privilege, &machine->kern->host);
	}
	return &machine->privilege;
}

int machine_paranoid(struct machine *machine)
{
	if (!machine->has_paranoid) {
		machine->has_paranoid = true;
		machine->paranoid = perf_paranoid(&machine->kern->host);
	}
	return machine->paranoid;
}

int open_once(const struct kern *kern, const struct perf_event_attr *attr, pid_t pid, int cpu,
	      unsigned long flags)
{
	struct perf_event_attr trial = *attr;
	int fd;

	trial.size = sizeof(trial);
	trial.disabled = 1;
	trial.enable_on_exec = 0;
	fd = kern->sys->perf_event_open(&trial, pid, cpu, -1, flags | PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return fd;
	kern->sys->close(fd);
	return 0;
}

bool machine_defers(struct machine *machine)
{
	struct perf_event_attr asks = { ATTR_OF_NOTHING };

	attr_set_defer(&asks, DEFER_CALLCHAIN | DEFER_OUTPUT);
	if (machine->defer < DEFER_UNKNOWN)
		machine->defer = open_once(machine->kern, &asks, 0, -1, 0) == -EINVAL ? DEFER_UNKNOWN :
											   DEFER_KNOWN;
	return machine->defer == DEFER_KNOWN;
}

bool is_generic_type(uint32_t type)
{
	return type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW;
}

bool event_needs_counter(const struct event *event)
{
	return event->kind == EVENT_KERNEL &&
	       (is_generic_type(event->attr.type) ||
		(event->attr.type >= PERF_TYPE_MAX && event->pmu_is_core));
}
