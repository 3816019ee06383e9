/* SPDX-License-Identifier: MIT */
/*
 * golden_kernels: recordings about code of the kernel: its modules, BPF programs, changed text, guests.
 */
#include "golden/golden.h"

enum { KSYMBOL_BPF = 1, KSYMBOL_OUT_OF_LINE = 2, KSYMBOL_GONE = 1 };

static void add_ksymbol(struct golden *g, uint64_t addr, uint16_t kind, uint16_t flags, const char *name)
{
	struct record_body body = { .type = RECORD_KSYMBOL };

	body.ksymbol.addr = addr;
	body.ksymbol.len = 0x100;
	body.ksymbol.kind = kind;
	body.ksymbol.flags = flags;
	body.ksymbol.name = name;
	golden_add(g, &body);
}

static void add_bpf(struct golden *g, uint16_t kind)
{
	struct record_body body = { .type = RECORD_BPF_EVENT };

	body.bpf.kind = kind;
	body.bpf.id = 99;
	for (unsigned i = 0; i < sizeof(body.bpf.tag); i++)
		body.bpf.tag[i] = (uint8_t)(0xa0 + i);
	golden_add(g, &body);
}

/* A BPF program is loaded, sampled, unloaded, and another one takes its place. */
static void ksymbol_bpf(struct golden *g)
{
	const uint64_t place = MODULE_BASE + 0x800000;

	golden_one_event(g, PERF_SAMPLE_CALLCHAIN);
	golden_start_app(g);
	CHAIN(g, 1000, place + 8, kernel(ENTRY)); /* before it is there */
	add_ksymbol(g, place, KSYMBOL_BPF, 0, "bpf_prog_a0a1a2a3a4a5a6a7_count");
	add_bpf(g, 1);
	CHAIN(g, 2000, place + 8, kernel(ENTRY));
	add_ksymbol(g, place, KSYMBOL_BPF, KSYMBOL_GONE, "bpf_prog_a0a1a2a3a4a5a6a7_count");
	add_bpf(g, 2);
	CHAIN(g, 4000, place + 16, kernel(ENTRY)); /* when it is gone */
	add_ksymbol(g, place, KSYMBOL_BPF, 0, "bpf_prog_b0b1b2b3b4b5b6b7_other");
	CHAIN(g, 8000, place + 8, kernel(ENTRY));
	add_ksymbol(g, place + 0x1000, KSYMBOL_OUT_OF_LINE, 0, "optprobe_template");
	CHAIN(g, 16000, place + 0x1008, kernel(ENTRY));
}

/* TEXT_POKE: five bytes of the kernel become five others. */
static void text_poke(struct golden *g)
{
	static const uint8_t code[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xe8, 0x12, 0x34, 0x56, 0x78 };
	struct record_body body = { .type = RECORD_TEXT_POKE };

	golden_one_event(g, 0);
	golden_start_app(g);
	golden_add_sample(g, kernel(VFS_READ), 1000);
	body.text_poke.addr = kernel(VFS_READ) - 8;
	body.text_poke.old_len = body.text_poke.new_len = 5;
	body.text_poke.code = (struct record_bytes){ sizeof(code), code };
	golden_add(g, &body);
	golden_add_sample(g, kernel(VFS_READ), 1000);
}

/* The kernel, a module, the vdso, the vsyscall page, user code called from both. */
static void kernel_and_module(struct golden *g)
{
	golden_one_event(g, PERF_SAMPLE_CALLCHAIN);
	golden_start_app(g);
	golden_kernel_map(g, MISC_KERNEL, MODULE_BASE, 0x1000,
			  "/lib/modules/6.1.0-golden/kernel/golden.ko");
	CHAIN(g, 1000, kernel(VFS_READ), kernel(SYS_READ), kernel(ENTRY), app(LEAF), app(MAIN));
	CHAIN(g, 2000, MODULE_BASE + 0x108, kernel(VFS_READ), kernel(ENTRY), app(LEAF), app(MAIN));
	CHAIN(g, 4000, MODULE_BASE + 0x208);
	CHAIN(g, 8000, kernel(SCHEDULE), app(SPIN), app(MAIN));
}

/* Modules whose files are not there and whose names nobody has; and an address that is in no map. */
static void module_nameless(struct golden *g)
{
	static const uint64_t bases[] = { MODULE_BASE + 0x10000, MODULE_BASE + 0x24000 };

	golden_one_event(g, PERF_SAMPLE_CALLCHAIN);
	golden_start_app(g);
	for (unsigned i = 0; i < ARRAY_SIZE(bases); i++) {
		golden_kernel_map(g, MISC_KERNEL, bases[i], 0x1000, i ? "[other]" : "[nameless]");
		CHAIN(g, 1000, bases[i] + 0x108, kernel(VFS_READ), bases[i] + 0x48, app(MAIN));
		CHAIN(g, 2000, bases[i] + 0x208);
	}
	CHAIN(g, 500, MODULE_BASE + 0x90000);
}

/* Whoever recorded it may see samples of the kernel, but not where its functions are: it has no map. */
static void kernel_hidden(struct golden *g)
{
	golden_one_event(g, PERF_SAMPLE_CALLCHAIN);
	golden_start(g);
	golden_comm(g, PID, PID, true, "app");
	golden_map(g, PID, APP_BASE, MAP_BYTES, 0, APP_PATH);
	CHAIN(g, 1000, kernel(VFS_READ), kernel(ENTRY), app(LEAF), app(MAIN));
	CHAIN(g, 1000, app(SPIN), app(MAIN));
	CHAIN(g, 1000, kernel(SCHEDULE), kernel(ENTRY), app(SPIN), app(MAIN));
}

/* Samples in a guest's kernel and processes, seen from the host. */
static void guest_kernel(struct golden *g)
{
	struct perf_event_attr attr = golden_attr(0);
	struct record_body body;

	attr.exclude_guest = 0;
	golden_event(g, &attr, "cycles");
	golden_start_app(g);
	golden_kernel_map(g, MISC_GUEST_KERNEL, KERNEL_BASE + 0x10000000, 0x100000,
			  "[guest.kernel.kallsyms]_text");
	golden_add_sample(g, app(SPIN), 1000);
	body = golden_sample(KERNEL_BASE + 0x10001008);
	body.misc = MISC_GUEST_KERNEL;
	body.sample.period = 2000;
	golden_add(g, &body);
	body = golden_sample(0x401000);
	body.misc = MISC_GUEST_USER;
	body.sample.period = 4000;
	golden_add(g, &body);
	body = golden_sample(KERNEL_BASE + 0x20000000);
	body.misc = MISC_HYPERVISOR;
	body.sample.period = 8000;
	golden_add(g, &body);
}

const struct golden_recording golden_kernels[] = {
	{ "ksymbol_bpf.data", ksymbol_bpf, NULL },
	{ "text_poke.data", text_poke, NULL },
	{ "kernel_and_module.data", kernel_and_module, NULL },
	{ "kernel_hidden.data", kernel_hidden, NULL },
	{ "module_nameless.data", module_nameless, NULL },
	{ "guest_kernel.data", guest_kernel, NULL },
	{ NULL, NULL, NULL },
};
