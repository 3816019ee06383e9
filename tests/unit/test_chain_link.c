/* SPDX-License-Identifier: MIT */
/*
 * The caller that frame pointers miss, put into chains of arm64 from the link register: where the tables of
 * made_fixture.h's file say that it holds the return address, and nowhere else.
 */
#include "made_fixture.h"
#include "session_fixture.h"

#define KERNEL_IP 0xffff800080000100ULL
#define IN_LEAF (LOADED + LEAF + 4ULL)
#define IN_MIDDLE (LOADED + MIDDLE + 12ULL)
#define IN_START (LOADED + START + 8ULL)
#define SIGNED(ip) ((ip) | 0x2aULL << 48)
#define USER PERF_CONTEXT_USER
#define KERNEL PERF_CONTEXT_KERNEL

enum { LR = 30, IPS_MAX = 6, ABI_32 = 1, ABI_64 = 2 };

struct row {
	uint64_t ips[IPS_MAX];
	uint64_t link, abi;
	const char *text; /* as session_add_locations */
};

static const struct row arm64_rows[] = {
	/* A leaf function; what it had saved would be the same with a signature. */
	{ { USER, IN_LEAF, IN_START }, IN_MIDDLE, ABI_64, "404 44cr 488r" },
	{ { USER, IN_LEAF, IN_START }, SIGNED(IN_MIDDLE), ABI_64, "404 44cr 488r" },
	{ { KERNEL, KERNEL_IP, USER, IN_LEAF, IN_START }, IN_MIDDLE, ABI_64,
	  "ffff800080000100k 404 44cr 488r" },
	{ { USER, IN_LEAF }, IN_START, ABI_64, "404 488r" },
	/* The same chain, from elsewhere. */
	{ { USER, IN_LEAF, IN_START }, IN_MIDDLE + 4, ABI_64, "404 450r 488r" },
	/* Other functions: before the prologue, in it, when it has saved the register. */
	{ { USER, LOADED + MIDDLE, IN_START }, IN_START + 4, ABI_64, "440 48cr 488r" },
	{ { USER, LOADED + MIDDLE + 4, IN_START }, IN_START + 4, ABI_64, "444 48cr 488r" },
	{ { USER, LOADED + MIDDLE + 8, IN_START }, IN_START + 4, ABI_64, "448 488r" },
	/* Nothing called it, whatever is in the register. */
	{ { USER, IN_START }, IN_MIDDLE, ABI_64, "488" },
	/* It is there already; it holds nothing; the registers are not those of 64 bits, or none. */
	{ { USER, IN_LEAF, IN_MIDDLE, IN_START }, IN_MIDDLE, ABI_64, "404 44cr 488r" },
	{ { USER, IN_LEAF, IN_MIDDLE }, SIGNED(IN_MIDDLE), ABI_64, "404 44cr" },
	{ { USER, IN_LEAF, IN_START }, 0, ABI_64, "404 488r" },
	{ { USER, IN_LEAF, IN_START }, IN_MIDDLE, ABI_32, "404 488r" },
	{ { USER, IN_LEAF, IN_START }, IN_MIDDLE, 0, "404 488r" },
	/* No user part, an empty one, no tables, no map. */
	{ { KERNEL, KERNEL_IP }, IN_MIDDLE, ABI_64, "ffff800080000100k" },
	{ { KERNEL, KERNEL_IP, USER }, IN_MIDDLE, ABI_64, "ffff800080000100k" },
	{ { USER, LOADED + 0x4f0, IN_START }, IN_MIDDLE, ABI_64, "4f0 488r" },
	{ { USER, 0x1000, IN_START }, IN_MIDDLE, ABI_64, "1000 488r" },
};

/* Its calls store the address in memory, and bit 30 is no register. */
static const struct row x86_rows[] = {
	{ { USER, IN_LEAF, IN_START }, IN_MIDDLE, ABI_64, "404 488r" },
};

struct rows {
	const char *arch;
	const struct row *v;
	size_t n, done;
	struct session *session;
};

static int take(void *context, struct replay *replay, const struct replay_sample *sample,
		struct str *err)
{
	struct rows *rows = context;
	uint32_t locations[IPS_MAX + 1], stack = session_stack(rows->session, sample);
	size_t n = stacks_walk(rows->session->stacks, stack, locations, ARRAY_SIZE(locations));
	struct str text = STR_INIT;
	struct chain chain;

	(void)replay, (void)err;
	session_chain(rows->session, sample, &chain);
	assert_int_equal(chain.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(chain.v[i].location, locations[i]);
	/* Now from what is remembered. */
	assert_int_equal(session_stack(rows->session, sample), stack);
	session_add_locations(rows->session, locations, n, &text);
	assert_string_equal(text.s, rows->v[rows->done++ % rows->n].text);
	str_release(&text);
	return 0;
}

/* An event whose samples have a chain and x30. */
static void link_recording(struct made_recording *recording, const char *arch, const char *path)
{
	struct perf_event_attr attr;
	const uint64_t id = 101;

	recording_init(recording);
	attr = recording->events.v[0]->attr;
	attr.sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER;
	attr.sample_regs_user = 1ULL << LR;
	events_release(&recording->events);
	events_init(&recording->events);
	events_add(&recording->events, &attr, sizeof(attr), &id, 1)->name = xstrdup("cycles");
	recording->info.arch = xstrdup(arch);
	info_set(&recording->info, FEATURE_ARCH);
	recording_comm(recording, 1, PID, PID, true, "prog");
	recording_map(recording, 2, PID, LOADED, 0x1000, 0, path);
}

static void add_row(struct made_recording *recording, const struct row *row, uint64_t time_ns)
{
	struct record_body body = fix_sample(101, time_ns);

	body.sample.ips = row->ips;
	body.sample.n_ips = 0;
	while (body.sample.n_ips < IPS_MAX && row->ips[body.sample.n_ips])
		body.sample.n_ips++;
	body.sample.user_regs.abi = row->abi;
	body.sample.user_regs.mask = 1ULL << LR;
	if (row->abi) {
		body.sample.user_regs.v = &row->link;
		body.sample.user_regs.n = 1;
	}
	recording_add(recording, &body);
}

static void run(struct rows *rows, const struct machine *machine,
		const struct session_options *options)
{
	uint8_t file[FILE_BYTES];
	struct fix_session f;
	struct made_recording recording;
	struct made made;

	made_init(&made);
	make_file(machine, file);
	made_write(&made, file, sizeof(file));
	link_recording(&recording, rows->arch, made.path);
	/* All of them twice: what is remembered of an address holds for each. */
	for (size_t i = 0; i < 2 * rows->n; i++)
		add_row(&recording, &rows->v[i % rows->n], 10 + i);
	session_open(&f, &recording, options);
	rows->session = &f.session;
	session_replay(&f, take, rows);
	assert_int_equal(rows->done, 2 * rows->n);
	/* Not stacks that were unwound: there is nothing to say of them. */
	assert_int_equal(f.session.unwind.counts.samples, 0);
	session_close(&f, &recording);
	made_release(&made);
}

static void leaf_callers(void **state)
{
	struct rows rows = { "aarch64", arm64_rows, ARRAY_SIZE(arm64_rows), 0, NULL };
	struct session_options options = { .max_stack = 0 };

	(void)state;
	run(&rows, &machines[1], &options);
}

static void not_on_x86(void **state)
{
	struct rows rows = { "x86_64", x86_rows, ARRAY_SIZE(x86_rows), 0, NULL };
	struct session_options options = { .max_stack = 0 };

	(void)state;
	run(&rows, &machines[0], &options);
}

static void not_of_files_of_another_machine(void **state)
{
	struct rows rows = { "aarch64", x86_rows, ARRAY_SIZE(x86_rows), 0, NULL };
	struct session_options options = { .max_stack = 0 };

	(void)state;
	run(&rows, &machines[0], &options);
}

static void not_when_nothing_is_unwound(void **state)
{
	struct rows rows = { "aarch64", x86_rows, ARRAY_SIZE(x86_rows), 0, NULL };
	struct session_options options = { .no_unwind = true };

	(void)state;
	run(&rows, &machines[1], &options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaf_callers),
		cmocka_unit_test(not_on_x86),
		cmocka_unit_test(not_of_files_of_another_machine),
		cmocka_unit_test(not_when_nothing_is_unwound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
