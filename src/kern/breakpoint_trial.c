/* SPDX-License-Identifier: MIT */
/*
 * Do this machine's breakpoints fire? Some virtual machines take the address and never report a hit: such a
 * breakpoint opens, is enabled all the time, and reads 0 for ever. So one of the same access and length is put on
 * pstat's own memory (or on a function of its own), hit, read and closed.
 *
 * The kind decides, not the address: a processor compares all its registers in the same way. Only what opened and
 * stayed at 0 is an answer. A trial that cannot be opened, because all breakpoints are taken, this user may set none
 * or the processor lacks the kind, leaves it to the event itself to say why.
 *
 * x86 wants an address that is a multiple of the length, arm64 watches within 8 bytes that are aligned, so 8 aligned
 * bytes that are read and written as a whole are right for each length of both. What is executed is user code
 * of the thread that asks: exclude_kernel, so that perf_event_paranoid 2 allows it.
 *
 * Source: perf_event_open(2), "bp_type", "bp_addr", "bp_len".
 */
#include "kern/machine.h"
#include "kern/slots.h"

#include <linux/hw_breakpoint.h>

static void __attribute__((noinline)) executed(void)
{
	__asm__ volatile("");
}

/* The pointer is volatile, so that the call is made, and to the function itself. */
static void hit(volatile uint64_t *watched)
{
	void (*volatile call)(void) = executed;

	*watched = *watched + 1;
	call();
}

/* False, too, where nothing can be read. */
static bool reads_zero(const struct sys_ops *sys, int fd)
{
	uint64_t count;

	return read_fd(sys, fd, &count, sizeof(count)) == (ssize_t)sizeof(count) && !count;
}

static bool is_silent(const struct sys_ops *sys, uint32_t type, uint64_t length)
{
	volatile uint64_t watched __attribute__((aligned(8))) = 0;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = type,
		.bp_addr = type == HW_BREAKPOINT_X ? (uintptr_t)executed : (uintptr_t)&watched,
		.bp_len = length,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = sys->perf_event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	bool silent;

	if (fd < 0)
		return false;
	hit(&watched);
	silent = reads_zero(sys, fd);
	sys->close(fd);
	return silent;
}

bool machine_breakpoint_is_silent(struct machine *machine, uint32_t type, uint64_t length)
{
	enum breakpoint_verdict *verdict;

	if (!type || type >= BREAKPOINT_TYPES || length >= BREAKPOINT_LENGTHS)
		return false;
	verdict = &machine->breakpoints[type][length];
	if (*verdict == BREAKPOINT_UNTRIED)
		*verdict = is_silent(machine->kern->sys, type, length) ? BREAKPOINT_SILENT : BREAKPOINT_NOT_SILENT;
	return *verdict == BREAKPOINT_SILENT;
}

bool event_is_silent(struct machine *machine, const struct event *event)
{
	return event->kind == EVENT_KERNEL && event->attr.type == PERF_TYPE_BREAKPOINT &&
	       machine_breakpoint_is_silent(machine, event->attr.bp_type, event->attr.bp_len);
}
