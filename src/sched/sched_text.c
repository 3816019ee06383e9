/* SPDX-License-Identifier: MIT */
/*
 * sched_text: tasks and times as the views of the scheduler print them, without a call of printf: there is one line
 * for each switch.
 */
#include "sched/sched.h"

#include <stdlib.h>

void sched_add_task(struct str *out, const struct sched_task *task)
{
	if (task->comm[0])
		str_add_printable(out, task->comm, strlen(task->comm));
	else
		str_addf(out, ":%d", task->tid);
	if (!task->tid)
		return;
	str_addc(out, '[');
	if (task->tid < 0)
		str_addc(out, '-');
	str_add_u64(out, (uint64_t)llabs((long long)task->tid));
	if (task->pid >= 0 && task->pid != task->tid) {
		str_addc(out, '/');
		str_add_u64(out, (uint32_t)task->pid);
	}
	str_addc(out, ']');
}

static unsigned n_digits(uint64_t value)
{
	unsigned n = 1;

	for (; value >= 10; value /= 10)
		n++;
	return n;
}

static void add_right_number(struct str *out, uint64_t value, unsigned width, char fill)
{
	const unsigned n = n_digits(value);

	if (n < width)
		str_pad(out, fill, width - n);
	str_add_u64(out, value);
}

void sched_add_ms(struct str *out, uint64_t ns, unsigned width)
{
	add_right_number(out, ns / NS_PER_MS, width, ' ');
	str_addc(out, '.');
	add_right_number(out, ns % NS_PER_MS / NS_PER_US, 3, '0');
}

void sched_add_s(struct str *out, uint64_t ns, unsigned width)
{
	enum { DECIMALS = 6 };

	add_right_number(out, ns / NS_PER_S, width > DECIMALS + 1 ? width - DECIMALS - 1 : 0, ' ');
	str_addc(out, '.');
	add_right_number(out, ns % NS_PER_S / NS_PER_US, DECIMALS, '0');
}

void sched_add_cpu(struct str *out, uint32_t cpu)
{
	str_addc(out, '[');
	add_right_number(out, cpu, 4, '0');
	str_addc(out, ']');
}

void sched_pad(struct str *out, size_t start, unsigned width)
{
	const size_t columns = text_columns(out->s + start, out->len - start);

	if (columns < width)
		str_pad(out, ' ', width - columns);
}
