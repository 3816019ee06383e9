/* SPDX-License-Identifier: MIT */
/*
 * Types of data, of this program itself: each probe has one instruction that reads one member of one variable, whose
 * address the compiler chooses, and a label at it. What is read there is known whatever the compiler makes of the code
 * around it. No probe is ever run.
 */
#include "ask_fixture.h"
#include "fmt/fmt.h"
#include "replay_fixture.h"

#include "sym/sym_internal.h"
#include "types/types_internal.h"

#include <link.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#if defined(__aarch64__)
#define LOAD "ldr %0, %1"
#define JUMP "b"
#define NO_CODE ".inst 0xffffffff"
#else
#define LOAD "mov %1, %0"
#define JUMP "jmp"
#define NO_CODE ".byte 6"
#endif
/* Reads 8 bytes of memory, in an instruction of this label. */
#define READ(label, value, memory) __asm__ volatile(#label ": " LOAD : "=r"(value) : "m"(memory))
/*
 * Sanitizers take what is on the stack elsewhere, and use registers between a probe's instructions. An unoptimised one
 * is as a compiler leaves it that does not optimise: all variables are on the stack.
 */
#if defined(__clang__)
#define PLAIN __attribute__((no_sanitize("address", "undefined", "coverage")))
#define UNOPTIMISED PROBE __attribute__((optnone))
#else
#define PLAIN __attribute__((no_sanitize("address", "undefined")))
#define UNOPTIMISED PROBE __attribute__((optimize("O0")))
#endif
#define PROBE PLAIN __attribute__((noinline, used))

struct pair {
	long first, second;
};
struct node {
	struct node *next;
	long key;
	struct pair inner;
	long numbers[4];
	union {
		long whole;
		double real;
	} either;
	char flag; /* the rest is a hole */
};
struct hidden; /* only declared */
static struct pair global_pair;
static __thread struct pair thread_pair;
static __thread struct node thread_nodes[2];
static struct node global_nodes[100];
static long global_numbers[100];
struct pair shared_pair = { 1, 2 };

PROBE static long member(struct node *node)
{
	long value;

	READ(probe_member, value, node->key);
	return value;
}

PROBE static long nested(struct node *node)
{
	long value;

	READ(probe_nested, value, node->inner.second);
	return value;
}

PROBE static long pointer_itself(struct node *node)
{
	long value;

	READ(probe_next, value, node->next);
	return value;
}

PROBE static long of_union(struct node *node)
{
	long value;

	READ(probe_union, value, node->either.real);
	return value;
}

PROBE static long followed(struct node *node)
{
	long value;

	READ(probe_followed, value, node->next->next->key);
	return value;
}

PROBE static struct node *give(void)
{
	return &global_nodes[global_numbers[0] & 7];
}

PROBE static long returned(void)
{
	long value;

	READ(probe_returned, value, give()->key);
	return value;
}

PROBE static void *give_memory(void)
{
	return &global_nodes[global_numbers[1] & 7];
}

/* Nothing says what the memory is but that its address becomes a member's value. */
PROBE static long stored(struct node *node)
{
	void *memory = give_memory();
	long value;

	node->next = memory;
	READ(probe_stored, value, ((struct node *)memory)->key);
	return value;
}

PROBE static long local(long first)
{
	struct pair pair = { first, 2 };
	long value;

	__asm__ volatile("" : : "r"(&pair) : "memory");
	READ(probe_local, value, pair.second);
	return value;
}

PROBE static long global(void)
{
	long value;

	READ(probe_global, value, global_pair.second);
	return value;
}

PROBE static long of_thread(void)
{
	long value;

	READ(probe_thread, value, thread_pair.second);
	return value;
}

PROBE static long of_threads(unsigned long i)
{
	long value;

	READ(probe_threads, value, thread_nodes[i].inner.first);
	return value;
}

PROBE static long element(unsigned long i)
{
	long value;

	READ(probe_element, value, global_nodes[i].key);
	return value;
}

PROBE static long numbers(long *all, long i)
{
	long value;

	READ(probe_numbers, value, all[i + 3]);
	return value;
}

PLAIN static inline __attribute__((always_inline)) long inlined(const struct pair *pair)
{
	long value;

	READ(probe_inlined, value, pair->second);
	return value;
}

PROBE static long calls_inlined(struct node *node)
{
	return inlined(&node->inner);
}

UNOPTIMISED static long slow_member(struct node *node)
{
	long value;

	READ(probe_slow_member, value, node->inner.second);
	return value;
}

UNOPTIMISED static long slow_local(long first)
{
	struct pair pair = { first, 2 };
	long value;

	READ(probe_slow_local, value, pair.second);
	return value;
}

UNOPTIMISED static long slow_argument(struct node *node)
{
	long value;

	READ(probe_slow_argument, value, node);
	return value;
}

PROBE static long of_a_number(unsigned long number)
{
	long value;

	READ(probe_number, value, *(long *)number);
	return value;
}

PROBE static long of_the_hidden(struct hidden *hidden)
{
	long value;

	READ(probe_hidden, value, *(long *)(void *)hidden);
	return value;
}

PROBE static long outside(struct pair *pair)
{
	long value;

	READ(probe_outside, value, ((long *)pair)[5]);
	return value;
}

/* The comparison reads, and the jump waits for it. */
PROBE static long compared(struct node *node)
{
#if defined(__x86_64__)
	__asm__ volatile("cmpq $0, %0\n"
			 "probe_compared: jne 1f\n"
			 "jne 1f\n"
			 "1:"
			 :
			 : "m"(node->key)
			 : "cc");
#else
	long value;

	READ(probe_compared, value, node->key);
#endif
	return node->inner.first;
}

/*
 * UNNAMED is a place of the stack that is no variable, as where a compiler keeps a register for a while. SCRATCH is the
 * register that comes back from there, which no variable is in.
 */
#define UNNAMED ((void *){ NULL })
#if defined(__aarch64__)
#define SCRATCH "x9"
#define KEEP "str %2, %1\n"
#define TAKE_BACK "ldr x9, %1\n"
#define WRITE_HALF "str wzr, %1\n"
#define GIVE_AWAY
#define ADD "add x9, %1, %2\n"
#define READ_KEY "ldr %0, [x9, #8]\n"
#define WALK                                                                                                           \
	"add x9, %1, #32\n1:\nprobe_walked: ldr %0, [x9]\nadd x9, x9, #8\ncmp x9, %1\nb.ne 1b\n"
#define GIVEN FOLLOWED
#else
#define SCRATCH "rax"
#define KEEP "mov %2, %1\n"
#define TAKE_BACK "mov %1, %%rax\n"
#define WRITE_HALF "movl $0, %1\n"
#define GIVE_AWAY "lea %1, %%rax\n"
#define ADD "lea (%1,%2), %%rax\n"
#define READ_KEY "mov 8(%%rax), %0\n"
#define WALK                                                                                                           \
	"lea 32(%1), %%rax\n1:\nprobe_walked: mov (%%rax), %0\nadd $8, %%rax\ncmp %1, %%rax\njne 1b\n"
#define GIVEN UNKNOWN
#endif

PROBE static long spilled(struct node *node)
{
	long value;

	__asm__ volatile(KEEP TAKE_BACK "probe_spilled: " READ_KEY : "=&r"(value), "=m"(UNNAMED) : "r"(node) : SCRATCH);
	return value;
}

/* The place of the stack itself has the type of what waits there. */
PROBE static long waiting(struct node *node)
{
	long value;

	__asm__ volatile(KEEP "probe_waiting: " TAKE_BACK READ_KEY : "=&r"(value), "=m"(UNNAMED) : "r"(node) : SCRATCH);
	return value;
}

/* From one element to the next of an array that is within an object. */
PROBE static long walked(struct node *node)
{
	long value;

	__asm__ volatile(WALK : "=&r"(value) : "r"(node) : SCRATCH, "cc");
	return value;
}

/* A register is one variable, and another one, whose object is around that of the first, is told by its distance. */
PROBE static long around(struct pair *inner)
{
	struct node *outer = (struct node *)((char *)inner - offsetof(struct node, inner));
	long value;

	READ(probe_around, value, outer->next);
	return value;
}

PROBE static long overwritten(struct node *node)
{
	long value;

	__asm__ volatile(KEEP WRITE_HALF TAKE_BACK "probe_overwritten: " READ_KEY
			 : "=&r"(value), "=m"(UNNAMED)
			 : "r"(node)
			 : SCRATCH);
	return value;
}

/* Whoever has the address may write there. */
PROBE static long given_away(struct node *node)
{
	long value;

	__asm__ volatile(GIVE_AWAY KEEP TAKE_BACK "probe_given_away: " READ_KEY
			 : "=&r"(value), "=m"(UNNAMED)
			 : "r"(node)
			 : SCRATCH);
	return value;
}

/* Of two registers that are added either may be the pointer. */
PROBE static long added(unsigned long i, struct node *node)
{
	long value;

	__asm__ volatile(ADD "probe_added: " READ_KEY : "=&r"(value) : "r"(i), "r"(node) : SCRATCH);
	return value;
}

/* A sample that is late is at the instruction after the one that waited. */
PROBE static long waited(struct node *node)
{
	long value;

	__asm__ volatile(LOAD "\nprobe_waited: nop" : "=r"(value) : "m"(node->key));
	return value;
}

/* That one is where a jump goes to: what is before it waited for nothing. */
PROBE static long jumped(struct node *node)
{
	long value;

	__asm__ volatile(LOAD "\n" JUMP " 1f\n1:\nprobe_jumped: nop" : "=r"(value) : "m"(node->key));
	return value;
}

/* Between them is what no instruction is. */
PROBE static long parted(struct node *node)
{
	long value;

	__asm__ volatile(LOAD "\n" NO_CODE "\nprobe_parted: nop" : "=r"(value) : "m"(node->key));
	return value;
}

PROBE static long nothing(long value)
{
	__asm__ volatile("probe_nothing: nop");
	return value;
}

#define FOLLOWED "struct node +8 (key) followed"
#define UNKNOWN "no variable tells what the address is of"
#define NO_ACCESS "the instruction has no operand in memory"
#if defined(__OPTIMIZE__)
#define STORED FOLLOWED
#define AROUND "struct node +0 (next)"
#else
#define STORED UNKNOWN
#define AROUND "struct node +0 (next) followed"
#endif
#define PROBES(X)                                                                                                      \
	X(probe_member, "struct node +8 (key)")                                                                        \
	X(probe_nested, "struct node +24 (inner.second)")                                                              \
	X(probe_next, "struct node +0 (next)")                                                                         \
	X(probe_union, "struct node +64 (either.whole)")                                                               \
	X(probe_followed, FOLLOWED)                                                                                    \
	X(probe_returned, FOLLOWED)                                                                                    \
	X(probe_stored, STORED)                                                                                        \
	X(probe_local, "struct pair +8 (second)")                                                                      \
	X(probe_global, "struct pair +8 (second)")                                                                     \
	X(probe_thread, "struct pair +8 (second)")                                                                     \
	X(probe_threads, "struct node +16 (inner.first)")                                                              \
	X(probe_element, "struct node +8 (key)")                                                                       \
	X(probe_numbers, "long +0 ()")                                                                                 \
	X(probe_inlined, "struct node +24 (inner.second)|struct pair +8 (second)")                                     \
	X(probe_slow_member, "struct node +24 (inner.second)")                                                         \
	X(probe_slow_local, "struct pair +8 (second)")                                                                 \
	X(probe_slow_argument, "struct node* +0 ()")                                                                   \
	X(probe_number, UNKNOWN)                                                                                       \
	X(probe_hidden, "the type has no size")                                                                        \
	X(probe_outside, "the offset is not within the type")                                                          \
	X(probe_compared, "struct node +8 (key)")                                                                      \
	X(probe_spilled, FOLLOWED)                                                                                     \
	X(probe_waiting, "struct node* +0 () followed")                                                                \
	X(probe_walked, "long +0 () followed")                                                                         \
	X(probe_around, AROUND)                                                                                        \
	X(probe_overwritten, UNKNOWN)                                                                                  \
	X(probe_given_away, GIVEN)                                                                                     \
	X(probe_added, FOLLOWED)                                                                                       \
	X(probe_waited, "struct node +8 (key) waited")                                                                 \
	X(probe_jumped, NO_ACCESS)                                                                                     \
	X(probe_parted, NO_ACCESS)                                                                                     \
	X(probe_nothing, NO_ACCESS)

#define DECLARE(label, text) extern const char label[] __attribute__((visibility("hidden")));
PROBES(DECLARE)

static const struct probe {
	const char *at, *name, *expected;
} probes[] = {
#define ROW(label, text) { label, #label, text },
	PROBES(ROW)
};

/* ---- this program as a recording has it ---- */

static char self_path[4096];

struct wanted {
	uint64_t address, offset;
};

static int take_segment(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct wanted *wanted = context;

	(void)bytes;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uint64_t within = wanted->address - info->dlpi_addr - header->p_vaddr;

		if (header->p_type == PT_LOAD && within < header->p_filesz)
			wanted->offset = within + header->p_offset;
	}
	return 1; /* the first one is the program */
}

static uint64_t offset_of(const char *at)
{
	struct wanted wanted = { .address = (uintptr_t)at };

	dl_iterate_phdr(take_segment, &wanted);
	return wanted.offset;
}

static int find_self(void **state)
{
	ssize_t n = readlink("/proc/self/exe", self_path, sizeof(self_path) - 1);

	(void)state;
	self_path[n > 0 ? n : 0] = '\0';
	return n > 0 ? 0 : -1;
}

static void need(bool there, const char *what)
{
	if (!there)
		printf("# skip: needs %s\n", what);
	if (!there)
		skip();
}

static void need_all(void)
{
	struct str ignored = STR_INIT;
	struct dwarf_file *file;

	need(!annotate_try(&ignored), "capstone");
#if !defined(__x86_64__) && !defined(__aarch64__)
	need(false, "a machine whose instructions are understood");
#endif
	dwarf_file_open(NULL, self_path, NULL, NULL, &file, &ignored);
	need(file, "a program with debug information (built without -g)");
	dwarf_file_close(file);
	str_release(&ignored);
}

/* "long" of the source, which DWARF calls "long int". */
static void add_place(const struct type_place *place, struct str *out)
{
	if (!place->type) {
		str_add(out, type_place_known(place) ? type_place_name(place) : type_state_text(place->state));
		return;
	}
	str_addf(out, "%s +%llu (", strcmp(place->type->name, "long int") != 0 ? place->type->name : "long",
		 (unsigned long long)place->offset);
	data_type_path(place->type, place->offset, out);
	str_add(out, place->state == TYPE_FOLLOWED ? ") followed" : place->state == TYPE_WAITED ? ") waited" : ")");
}

/* One of the texts between bars begins it: whether it was declared or followed depends on the compiler, mostly. */
static bool is_expected(const char *text, const char *expected)
{
	for (;;) {
		size_t len = strcspn(expected, "|");

		if (!strncmp(text, expected, len))
			return true;
		if (!expected[len])
			return false;
		expected += len + 1;
	}
}

static void each_probe_reads_what_it_says(void **state)
{
	struct dso self = { .kind = DSO_FILE, .path = self_path, .name = self_path, .pid = -1 };
	const struct sym_options options = { .no_demangle = true };
	struct info info;
	const struct recording_info recording = { .info = &info };
	struct symbols *symbols;
	struct types *types;
	bool failed = false;

	(void)state;
	need_all();
	info_init(&info);
	symbols = symbols_new(&options, &recording);
	types = types_new(symbols);
	for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
		struct type_place place = types_at(types, &self, offset_of(probes[i].at), false);
		struct str text = STR_INIT;

		add_place(&place, &text);
		if (!is_expected(text.s, probes[i].expected)) {
			printf("# %s: %s, not %s\n", probes[i].name, text.s, probes[i].expected);
			failed = true;
		}
		str_release(&text);
	}
	assert_int_equal(types_at(types, &self, offset_of(probe_waited), true).state, TYPE_NO_ACCESS);
	types_free(types);
	symbols_free(symbols);
	info_release(&info);
	assert_false(failed);
}

/* ---- samples: 6 of one member, 2 behind it, 3 of another, 1 of no memory ---- */

static void open_samples(struct reader *reader)
{
	static const struct {
		const char *at;
		int n;
	} samples[] = { { probe_member, 6 }, { probe_nested, 3 }, { probe_waited, 2 }, { probe_nothing, 1 } };
	struct record_body map = recording_map_body(1000, PID, 0x400000, 0x10000000, 0, self_path);
	struct made_recording recording;
	struct str bytes, err = STR_INIT;

	map.mmap.inode = 0;
	recording_init(&recording);
	recording_add(&recording, &map);
	for (size_t s = 0; s < ARRAY_SIZE(samples); s++)
		for (int i = 0; i < samples[s].n; i++)
			recording_sample(&recording, 2000, PID, PID, 0x400000 + offset_of(samples[s].at));
	recording_bytes(&recording, false, &bytes);
	if (reader_open_fd(reader, fix_memory_file(bytes.s, bytes.len), "recording", &err))
		fail_msg("%s", err.s);
	recording_release(&recording);
	str_release(&bytes);
	str_release(&err);
}

static void samples_are_counted_by_type(void **state)
{
	const struct query query = { .sort = "type,typeoff,typecln", .needs = NEED_ENTRIES, .no_chains = true };
	struct str text = STR_INIT, err = STR_INIT;
	struct reader reader;
	struct asked asked;

	(void)state;
	need_all();
	open_samples(&reader);
	if (asked_alone(&asked, &query, &reader, &err))
		fail_msg("%s", err.s);
	for (size_t i = 0; i < asked.table->hists[0].n; i++) {
		const struct entry *entry = asked.table->hists[0].entries[i];

		str_addf(&text, "%llu", (unsigned long long)entry->self.n_samples);
		for (size_t c = 0; c < asked.table->n_columns; c++)
			if (asked.table->columns[c].kind == COLUMN_KEY) {
				str_add(&text, "|");
				table_key_text(asked.table, entry, &asked.table->columns[c], &text);
			}
		str_add(&text, "\n");
	}
	assert_string_equal(text.s, "8|struct node|struct node +0x8 (key)|struct node: cache-line 0\n"
				    "3|struct node|struct node +0x18 (inner.second)|struct node: cache-line 0\n"
				    "1|(unknown)|(unknown)|(unknown): cache-line 0\n");
	assert_int_equal(asked.table->notes.n, 2);
	assert_string_equal(asked.table->notes.v[0].text,
			    "types: 8.3 % of 12 samples have none (8.3 %: the instruction has no operand in memory)");
	assert_string_equal(asked.table->notes.v[1].text,
			    "types: 16.7 % of 12 samples are at the instruction after the one that reads it");
	asked_release(&asked);
	reader_close(&reader);
	str_release(&text);
	str_release(&err);
}

/* Some compilers call it "long", others "long int". */
static void shorten(struct str *text)
{
	static const char longer[] = "long int";
	char *at;

	while ((at = strstr(text->s, longer))) {
		memmove(at + 4, at + strlen(longer), strlen(at + strlen(longer)) + 1);
		text->len -= 4;
	}
}

#define JSON_NUMBER(name, number) ", \"" name "\": " #number
#define JSON_ROW(type, rest, offset, size, n, sum)                                                                     \
	"{\"type\": \"" type "\"" rest JSON_NUMBER("offset", offset) JSON_NUMBER("size", size) \
	JSON_NUMBER("samples", n) JSON_NUMBER("period", sum)
#define JSON_NAME(name) ", \"name\": \"" name "\""
static void expect_json(const struct type_uses *uses)
{
	struct output output = { .text = STR_INIT };
	struct str types = STR_INIT;

	type_uses_print_json(uses, "an event", &output);
	shorten(&output.text);
	assert_non_null(strstr(output.text.s, "{\"format\": \"pstat annotate data-type\", \"format_version\": 1, "
					      "\"event\": \"an event\", \"known\": 3, \"known_after_load\": 1, "
					      "\"known_by_address\": 0, "
					      "\"unknown\": {\"the instruction has no operand in memory\": 1}, "
					      "\"instructions\": [{"));
	assert_non_null(strstr(output.text.s, "{\"name\": \"nop\", \"known\": 1, \"unknown\": 1}], \"types\": ["));
	str_add(&types, "\"types\": [{\"file\": ");
	str_add_json(&types, self_path);
	str_add(&types, ", \"type\": \"struct node\", \"offset\": 0, \"size\": 80, \"samples\": 11, \"period\": 11000, "
			"\"members\": [" JSON_ROW("struct node*", JSON_NAME("next"), 0, 8, 0, 0) "}, ");
	assert_non_null(strstr(output.text.s, types.s));
	assert_non_null(strstr(output.text.s,
			       JSON_ROW("struct pair", JSON_NAME("inner"), 16, 16, 3, 3000) ", \"members\": ["
			       JSON_ROW("long", JSON_NAME("first"), 16, 8, 0, 0) "}, "
			       JSON_ROW("long", JSON_NAME("second"), 24, 8, 3, 3000) "}]}, "
			       JSON_ROW("long[]", JSON_NAME("numbers"), 32, 32, 0, 0) "}, "));
	assert_non_null(strstr(output.text.s, "{\"hole\": true, \"offset\": 73, \"size\": 7, \"samples\": 0, "
					      "\"period\": 0}]}], \"cut\": 0}\n"));
	str_release(&output.text);
	str_release(&types);
}

static void a_type_is_shown_with_the_samples_of_its_members(void **state)
{
	const struct profile_options options = { .shape = { .facts = PROFILE_WHOLE }, .session.no_unwind = true };
	const struct annotation_look look = { .value = ANNOTATION_PERCENT };
	struct output output = { .text = STR_INIT };
	struct str err = STR_INIT, head = STR_INIT;
	struct profile *profile;
	struct type_uses *uses;
	struct reader reader;
	struct types *types;

	(void)state;
	need_all();
	open_samples(&reader);
	if (profile_new(&profile, &options, &reader, &err) || profile_read(profile, NULL, NULL, &err))
		fail_msg("%s", err.s);
	types = types_new(profile->session.symbols);
	uses = type_uses_new(profile, types, &(struct type_query){ .instructions = true });
	assert_int_equal(uses->n, 1);
	type_uses_print(uses, NULL, &look, &output);
	shorten(&output.text);
	str_addf(&head, "Annotate type: 'struct node' in %s (11 samples):\n", self_path);
	assert_memory_equal(output.text.s, head.s, head.len);
	assert_string_equal(strchr(output.text.s + head.len, '\n') + 1,
			    " Percent     offset       size  field\n"
			    "  100.00          0       0x50  struct node\t {\n"
			    "    0.00          0        0x8      struct node*\tnext;\n"
			    "   72.73        0x8        0x8      long\tkey;\n"
			    "   27.27       0x10       0x10      struct pair\tinner {\n"
			    "    0.00       0x10        0x8          long\tfirst;\n"
			    "   27.27       0x18        0x8          long\tsecond;\n"
			    "                                    };\n"
			    "    0.00       0x20       0x20      long[]\tnumbers;\n"
			    "                                    -- cache line 1 --\n"
			    "    0.00       0x40        0x8      union (unnamed)\teither {\n"
			    "    0.00       0x40        0x8          long\twhole;\n"
			    "    0.00       0x40        0x8          double\treal;\n"
			    "                                    };\n"
			    "    0.00       0x48        0x1      char\tflag;\n"
			    "    0.00       0x49        0x7      (hole)\n"
			    "                                };\n\n");
	str_reset(&output.text);
	type_uses_print_states(uses, &output);
	/* How many were followed depends on the compiler. */
	assert_non_null(strstr(output.text.s, "Annotate data type stats\ntotal 4, ok 3 (75.0%), bad 1 (25.0%)\n"));
	assert_non_null(strstr(output.text.s, "\n         1 : no_mem_ops\n"));
	assert_int_equal(uses->n_instructions, 2); /* a load and a nop */
	expect_json(uses);
	type_uses_keep(uses, "node");
	assert_int_equal(uses->n, 1);
	type_uses_keep(uses, "struct pair");
	assert_int_equal(uses->n, 0);
	type_uses_free(uses);
	types_free(types);
	profile_free(profile);
	reader_close(&reader);
	str_release(&output.text);
	str_release(&head);
	str_release(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_probe_reads_what_it_says),
		cmocka_unit_test(samples_are_counted_by_type),
		cmocka_unit_test(a_type_is_shown_with_the_samples_of_its_members),
	};

	return cmocka_run_group_tests(tests, find_self, NULL);
}
