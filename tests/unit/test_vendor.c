/* SPDX-License-Identifier: MIT */
/*
 * Vendors' files on machines of three vendors: which of them are the CPU's, what a field becomes, and what is made of
 * damaged ones. All files are written here; their numbers are of no real CPU.
 */
#include "fake_machine.h"
#include "source_case.h"

#include "event/vendor.h"
#include "event/json.h"

#include <errno.h>

/* ---- JSON ---- */

static void expect_tokens(const char *text, const char *kinds)
{
	struct json_reader reader = { .text = text, .len = strlen(text) };
	struct str got = STR_INIT;
	struct json_token token;

	do {
		token = json_next(&reader);
		str_addc(&got, ".!{[)TNW"[token.kind]);
	} while (token.kind > JSON_DAMAGED);
	assert_string_equal(got.s, kinds);
	str_release(&got);
}

static void test_json_tokens(void **state)
{
	(void)state;
	expect_tokens("", ".");
	expect_tokens("[{\"a\": [1, -2.5e3, true]}, \"\\\"]\"]", "[{T[NNW))T).");
	expect_tokens("{\"a\": \"cut", "{T!");
	expect_tokens("\"\\", "!");
	expect_tokens("]", "!");
	expect_tokens("{} @", "{)!");
}

static void test_json_text(void **state)
{
	static const char text[] = "\"a\\n\\u00e9\\ud83d\\ude00\\u0000\\ud800\\q\\u12\"";
	struct json_reader reader = { .text = text, .len = strlen(text) };
	struct json_token token = json_next(&reader);
	struct str out = STR_INIT;

	(void)state;
	json_add_text(&out, &token);
	assert_string_equal(out.s, "a\n\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbdqu12");
	str_release(&out);
}

/* ---- machines ---- */

struct machine_file {
	const char *path, *text;
};

static void build(struct fake_machine *m, const struct machine_file *files, size_t n)
{
	fake_machine_init(m);
	for (size_t i = 0; i < n; i++)
		fake_machine_file(m, files[i].path, files[i].text);
	m->host.events = m->root;
}

#define DEVICES "sys/bus/event_source/devices/"

/* Intel's layout, on a machine with two kinds of cores. */
static const struct machine_file intel[] = {
	{ "proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 151\n"
			  "model name\t: Test\nstepping\t: 2\n\nprocessor\t: 1\nmodel\t\t: 1\n" },
	{ DEVICES "cpu_core/type", "4" },
	{ DEVICES "cpu_core/cpus", "0-1" },
	{ DEVICES "cpu_core/format/event", "config:0-7" },
	{ DEVICES "cpu_core/format/umask", "config:8-15" },
	{ DEVICES "cpu_core/format/cmask", "config:24-31" },
	{ DEVICES "cpu_core/format/frontend", "config1:0-23" },
	{ DEVICES "cpu_atom/type", "10" },
	{ DEVICES "cpu_atom/cpus", "2-3" },
	{ DEVICES "cpu_atom/format/event", "config:0-7" },
	{ DEVICES "cpu_atom/format/umask", "config:8-15" },
	{ DEVICES "uncore_imc_0/type", "12" },
	{ DEVICES "uncore_imc_0/cpumask", "0" },
	{ DEVICES "uncore_imc_0/format/event", "config:0-7" },
	{ DEVICES "uncore_imc_1/type", "13" },
	{ DEVICES "uncore_imc_1/cpumask", "0" },
	{ DEVICES "uncore_imc_1/format/event", "config:0-7" },
	{ DEVICES "uncore_imc_free_running_0/type", "14" },
	{ DEVICES "uncore_imc_free_running_0/cpumask", "0" },
	{ DEVICES "uncore_imc_free_running_0/format/event", "config:0-7" },
	{ DEVICES "uncore_imc_free_running_0/format/umask", "config:8-15" },
	{ "mapfile.csv", "Family-model,Version,Filename,EventType,Core Type,Native Model ID,Core Role Name\r\n"
			 "GenuineIntel-6-9,V1,/T/events/none.json,core,,,\r\n"
			 "GenuineIntel-6-97,V1,/T/events/small.json,hybridcore,0x20,0x000001,Atom\r\n"
			 "GenuineIntel-6-97,V1,/T/events/big.json,hybridcore,0x40,0x000001,Core\r\n"
			 "GenuineIntel-6-97,V1,/T/events/uncore.json,uncore,,,\r\n"
			 "GenuineIntel-6-97,V1,/../outside.json,uncore,,,\r\n" },
	{ "T/events/small.json", "{\"Header\": {\"Info\": [1, {\"EventName\": \"HEADER\"}]}, \"Events\": ["
				 "{\"EventCode\": \"0xc0\", \"UMask\": \"0x00\", \"EventName\": \"INST.ALL\"},"
				 "{\"EventCode\": 23, \"UMask\": [1], \"CounterMask\": \"0\", "
				 "\"EventName\": \"NUMBER\"}]}" },
	{ "T/events/big.json", "{\"Events\": ["
			       "{\"EventCode\": \"0xc1\", \"UMask\": \"0x02\", \"EventName\": \"INST.ALL\"},"
			       "{\"EventCode\": \"0xc6\", \"UMask\": \"0x01\", \"MSRIndex\": \"0x3F7\", "
			       "\"MSRValue\": \"0x12\", \"CounterMask\": \"3\", \"EventName\": \"BIG.ONLY\"},"
			       "{\"EventCode\": \"0x00\", \"UMask\": \"0x01\", \"EventName\": \"INST_RETIRED.ANY\"},"
			       "{\"EventCode\": \"0xA\", \"Counter\": \"Fixed counter 2\", "
			      "\"EventName\": \"CPU_CLK_UNHALTED.CORE\"},"
			      "{\"Counter\": \"Fixed counter 3\", \"EventName\": \"CPU_CLK_UNHALTED.REF\"},"
			      "{\"EventCode\": \"0x3C\", \"UMask\": \"0x1\", \"Counter\": \"0,1\", "
			      "\"EventName\": \"CPU_CLK_UNHALTED.THREAD\"},"
			      "{\"EventCode\": \"7\", \"EventName\": \"WITH.METRIC\", \"MetricName\": \"of_both\", "
			      "\"MetricExpr\": \"WITH.METRIC / 2\"},"
			      "{\"EventCode\": \"1\", \"MSRIndex\": \"0x999\", \"MSRValue\": \"7\", "
			       "\"EventName\": \"STRANGE.MSR\"},"
			       "{\"EventCode\": \"1\", \"Invert\": \"1\", \"EventName\": \"NO.FIELD\"}]}" },
	{ "T/events/uncore.json", "\xef\xbb\xbf{\"Events\": ["
				  "{\"Unit\": \"iMC\", \"EventCode\": \"0x05\", \"EventName\": \"UNC_M_READS\", "
				  "\"CounterType\": \"PGMABLE\", \"PerPkg\": \"1\", \"ScaleUnit\": \"6.25e-2MiB\"},"
				  "{\"Unit\": \"iMC\", \"EventCode\": \"0xff\", \"UMask\": \"0x20\", "
				  "\"EventName\": \"UNC_MC0_READS_FREERUN\", \"CounterType\": \"FREERUN\"}]}" },
};

/* A record that is an event and a metric is both. */
static void expect_both(const struct host_paths *host)
{
	const struct event_metric *metrics;
	struct event_list list;
	size_t n;

	expect_events("WITH.METRIC", host, "WITH.METRIC @cpu_core 4:7 cpus=0-1 core\n");
	event_list_init(&list);
	metrics = event_metrics(&list, host, &n);
	assert_int_equal(n, 1);
	assert_string_equal(metrics[0].name, "of_both");
	assert_string_equal(metrics[0].formula, "WITH.METRIC / 2");
	event_list_release(&list);
}

static void test_intel(void **state)
{
	struct fake_machine m;

	(void)state;
	build(&m, intel, ARRAY_SIZE(intel));
	/* In the order of the files: each kind of core by its own code. */
	expect_events("inst.all", &m.host,
		      "inst.all @cpu_atom a:c0 cpus=2-3 core expansion=1/cores\n"
		      "inst.all @cpu_core 4:2c1 cpus=0-1 core expansion=1/cores\n");
	expect_events("BIG.ONLY", &m.host, "BIG.ONLY @cpu_core 4:30001c6,12,0 cpus=0-1 core\n");
	expect_events("cpu_core/INST.ALL,umask=7/", &m.host,
		      "cpu_core/INST.ALL,umask=7/ @cpu_core 4:7c1 cpus=0-1 core\n");
	expect_events("INST_RETIRED.ANY:u", &m.host, "INST_RETIRED.ANY:u @cpu_core 4:c0 cpus=0-1 core\n");
	/* A number is as good as a text; a field that is neither does not count. */
	expect_events("NUMBER", &m.host, "NUMBER @cpu_atom a:17 cpus=2-3 core\n");
	/* Fixed counters have codes of the kernel's; what other counters count keeps its own. */
	expect_events("CPU_CLK_UNHALTED.CORE", &m.host, "CPU_CLK_UNHALTED.CORE @cpu_core 4:3c cpus=0-1 core\n");
	expect_events("CPU_CLK_UNHALTED.REF", &m.host, "CPU_CLK_UNHALTED.REF @cpu_core 4:300 cpus=0-1 core\n");
	expect_events("CPU_CLK_UNHALTED.THREAD", &m.host, "CPU_CLK_UNHALTED.THREAD @cpu_core 4:13c cpus=0-1 core\n");
	expect_both(&m.host);
	expect_events("UNC_M_READS", &m.host,
		      "UNC_M_READS @uncore_imc_0 c:5 cpus=0 x0.0625 MiB per-pkg expansion=1/pmus\n"
		      "UNC_M_READS @uncore_imc_1 d:5 cpus=0 x0.0625 MiB per-pkg expansion=1/pmus\n");
	expect_events("UNC_MC0_READS_FREERUN", &m.host,
		      "UNC_MC0_READS_FREERUN @uncore_imc_free_running_0 e:20ff cpus=0\n");
	expect_error("STRANGE.MSR", &m.host, -EINVAL, "it needs the register 0x999");
	expect_error("NO.FIELD", &m.host, -EINVAL, "which its unit cpu_core lacks");
	expect_error("cpu_atom/BIG.ONLY/", &m.host, -EINVAL, "unknown term 'BIG.ONLY'");
	expect_error("HEADER", &m.host, -ENOENT, "unknown event 'HEADER'");
	expect_error("BIG.ONLX", &m.host, -ENOENT, "did you mean 'BIG.ONLY'?");
	fake_machine_release(&m);
}

/* perf's layout, reached from the folder of a kernel's source. */
#define PERF_AMD "tools/perf/pmu-events/arch/x86/"
static const struct machine_file amd[] = {
	{ "proc/cpuinfo", "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 97\nstepping\t: 2\n" },
	{ DEVICES "cpu/type", "4" },
	{ DEVICES "cpu/format/event", "config:0-7,32-35" },
	{ DEVICES "cpu/format/umask", "config:8-15" },
	{ DEVICES "amd_l3/type", "11" },
	{ DEVICES "amd_l3/cpumask", "0" },
	{ DEVICES "amd_l3/format/event", "config:0-7" },
	{ DEVICES "amd_l3/format/umask", "config:8-15" },
	{ DEVICES "amd_l3/format/enallcores", "config:47" },
	{ PERF_AMD "mapfile.csv", "Family-model,Version,Filename,EventType\n"
				  "AuthenticAMD-23-[[:xdigit:]]+,v2,old,core\n"
				  "(((((AuthenticAMD-25,v2,old,core\n"
				  "AuthenticAMD-25-([245][[:xdigit:]]|[[:xdigit:]]),v1,old,core\n"
				  "AuthenticAMD-25-[[:xdigit:]]+,v1,new,core\n"
				  "AuthenticAMD-[[:xdigit:]]+-.*,v1,other,core\n" },
	{ PERF_AMD "other/core.json", "[{\"EventName\": \"other_name\", \"EventCode\": \"0x12\"}]" },
	{ PERF_AMD "old/core.json", "[{\"EventName\": \"old_name\", \"EventCode\": \"0x11\"}]" },
	{ PERF_AMD "new/core.json", "[{\"EventName\": \"de_stalls.front\", \"EventCode\": \"0x1a0\", "
				   "\"UMask\": \"0x01\"}]" },
	{ PERF_AMD "new/l3.json", "[{\"EventName\": \"l3_misses\", \"EventCode\": \"0x04\", \"UMask\": \"0x01\", "
				  "\"EnAllCores\": \"0x1\", \"Unit\": \"L3PMC\"}]" },
	{ PERF_AMD "new/readme.txt", "{\"EventName\": \"text\"}" },
};

static void test_amd(void **state)
{
	struct fake_machine m;

	(void)state;
	build(&m, amd, ARRAY_SIZE(amd));
	expect_events("DE_STALLS.FRONT", &m.host, "DE_STALLS.FRONT @cpu 4:1000001a0 core\n");
	expect_events("l3_misses", &m.host, "l3_misses @amd_l3 b:800000000104 cpus=0\n");
	expect_error("old_name", &m.host, -ENOENT, "unknown event");
	/* The first row is the CPU's, whatever later ones are for. */
	expect_error("other_name", &m.host, -ENOENT, "unknown event");
	fake_machine_release(&m);
}

/* Two kinds of cores, of which mapfile.csv has one by another revision; events of the architecture by their names. */
#define PERF_ARM "arch/arm64/"
static const struct machine_file arm[] = {
	{ DEVICES "armv8_big/type", "8" },
	{ DEVICES "armv8_big/cpus", "2-3" },
	{ DEVICES "armv8_big/format/event", "config:0-15" },
	{ DEVICES "armv8_little/type", "9" },
	{ DEVICES "armv8_little/cpus", "0-1" },
	{ DEVICES "armv8_little/format/event", "config:0-15" },
	{ DEVICES "arm_cmn_0/type", "20" },
	{ DEVICES "arm_cmn_0/cpumask", "0" },
	{ DEVICES "arm_cmn_0/format/eventid", "config:16-23" },
	{ DEVICES "arm_cmn_0/format/type", "config:0-15" },
	{ "sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "0x00000000410fd034" },
	{ "sys/devices/system/cpu/cpu2/regs/identification/midr_el1", "0x00000000413fd0c1" },
	{ PERF_ARM "mapfile.csv", "# MIDR,Version,JSON,Type\n"
				  "0x00000000410fd030,v1,arm/little,core\n"
				  "0x00000000410fd0c0,v1,arm/big,core\n"
				  "0x00000000420fd0c0,v1,arm/other,core\n" },
	{ PERF_ARM "common.json", "[{\"EventName\": \"STALL_SLOT\", \"EventCode\": \"0x3F\", "
				  "\"BriefDescription\": \"of all\"},"
				  "{\"EventName\": \"INST_RETIRED\", \"EventCode\": \"0x08\"}]" },
	{ PERF_ARM "arm/little/core.json", "[{\"ArchStdEvent\": \"INST_RETIRED\"}]" },
	{ PERF_ARM "arm/big/core.json", "[{\"ArchStdEvent\": \"STALL_SLOT\", \"BriefDescription\": \"its own\"},"
					"{\"ArchStdEvent\": \"INST_RETIRED\"},"
					"{\"EventName\": \"RAW_CODE\", \"ConfigCode\": \"0x4005\"},"
					"{\"EventName\": \"CMN_X\", \"EventidCode\": \"0x2\", \"NodeType\": \"0x5\", "
					"\"Unit\": \"arm_cmn\"}]" },
};

static void test_arm(void **state)
{
	struct fake_machine m;
	struct str out = STR_INIT, err = STR_INIT;

	(void)state;
	build(&m, arm, ARRAY_SIZE(arm));
	expect_events("stall_slot", &m.host, "stall_slot @armv8_big 8:3f cpus=2-3 core\n");
	expect_events("INST_RETIRED", &m.host,
		      "INST_RETIRED @armv8_big 8:8 cpus=2-3 core expansion=1/cores\n"
		      "INST_RETIRED @armv8_little 9:8 cpus=0-1 core expansion=1/cores\n");
	expect_events("RAW_CODE", &m.host, "RAW_CODE @armv8_big 8:4005 cpus=2-3 core\n");
	expect_events("CMN_X", &m.host, "CMN_X @arm_cmn_0 14:20005 cpus=0\n");
	assert_int_equal(event_walk("vendor", "STALL*", &m.host, list_source_row, &out, &err), 0);
	assert_string_equal(out.s, "STALL_SLOT||its own|\n");
	str_release(&out);
	str_release(&err);
	fake_machine_release(&m);
}

/* ---- damage ---- */

#define CPU                                                                                                    \
	{ "proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 1\nstepping\t: 0\n" },       \
	{ DEVICES "cpu/type", "4" }, { DEVICES "cpu/format/event", "config:0-7" },                             \
	{ "mapfile.csv", "GenuineIntel-6-1,v1,cpu,core\n" }
static const struct machine_file damaged[] = {
	CPU,
	{ "cpu/a.json", "[{\"EventName\": \"WHOLE\", \"EventCode\": \"0x01\", \"SampleAfterValue\": \"2000003\"},"
			"{\"EventName\": \"CUT\", \"EventCo" },
	{ "cpu/b.json", "[[[{\"EventName\": \"DEEP\"}]], 3, \"text\", {\"EventName\": 5}, {\"EventName\": \"\"}, {},"
			"{\"EventName\": \"A\\u001b[31m\", \"EventCode\": \"2\"},"
			"{\"EventName\": \"AFTER\", \"EventCode\": \"0x3\"}]" },
	{ "cpu/c.json", "" },
};

static void test_damaged_files(void **state)
{
	struct fake_machine m;
	struct event_list list;
	struct str err = STR_INIT;

	(void)state;
	build(&m, damaged, ARRAY_SIZE(damaged));
	expect_events("AFTER", &m.host, "AFTER @cpu 4:3 core\n");
	expect_error("CUT", &m.host, -ENOENT, "a.json: it is cut or damaged at byte ");
	expect_error("DEEP", &m.host, -ENOENT, "unknown event");
	event_list_init(&list);
	assert_int_equal(event_list_parse(&list, "WHOLE", &m.host, &err), 0);
	assert_int_equal(list.v[0].usual_period, 2000003);
	assert_int_equal(list.notes.n, 1);
	assert_non_null(strstr(list.notes.v[0].text, "a.json: it is cut or damaged"));
	event_list_release(&list);
	str_release(&err);
	fake_machine_release(&m);
}

/* Whatever byte a file ends at, what is before it is known, and nothing else happens. */
static void test_cut_anywhere(void **state)
{
	static const char whole[] = "[{\"EventName\": \"ONE\", \"EventCode\": \"0x1\", "
				    "\"X\": [1, {\"y\": \"\\u00e9\"}]},\n"
				    "{\"EventName\": \"TWO\", \"EventCode\": \"0x2\"}]";
	const struct machine_file files[] = { CPU };
	const char *end_of_one = strchr(whole, '\n') - 1;
	struct fake_machine m;

	(void)state;
	build(&m, files, ARRAY_SIZE(files));
	for (size_t n = 1; n < sizeof(whole); n++) {
		char *cut = xstrndup(whole, n);
		struct str out = STR_INIT;
		int code;

		fake_machine_file(&m, "cpu/x.json", cut);
		parse_source_spec(&out, "ONE", &m.host, &code);
		assert_int_equal(code, whole + n >= end_of_one ? 0 : -ENOENT);
		parse_source_spec(&out, "TWO", &m.host, &code);
		assert_int_equal(code, n + 1 >= sizeof(whole) - 1 ? 0 : -ENOENT);
		str_release(&out);
		free(cut);
	}
	fake_machine_release(&m);
}

static void test_no_files(void **state)
{
	const struct machine_file files[] = { CPU };
	struct fake_machine m;

	(void)state;
	build(&m, files, ARRAY_SIZE(files));
	expect_error("NO_NAME", &m.host, -ENOENT, "No such file");
	fake_machine_file(&m, "mapfile.csv", "GenuineIntel-6-2,v1,cpu,core\n");
	expect_error("NO_NAME", &m.host, -ENOENT, "no row of mapfile.csv is for this CPU, GenuineIntel-6-1-0");
	m.host.events = "/nonexistent";
	expect_error("NO_NAME", &m.host, -ENOENT, "/nonexistent: no mapfile.csv is there");
	fake_machine_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_tokens),  cmocka_unit_test(test_json_text),
		cmocka_unit_test(test_intel),	     cmocka_unit_test(test_amd),
		cmocka_unit_test(test_arm),	     cmocka_unit_test(test_damaged_files),
		cmocka_unit_test(test_cut_anywhere), cmocka_unit_test(test_no_files),
	};

	/* Files that the user has fetched do not belong to these machines. */
	unsetenv("PSTAT_EVENTS");
	setenv("XDG_CACHE_HOME", "/nonexistent", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
