/* SPDX-License-Identifier: MIT */
/*
 * PMUs out of sysfs: which PMUs a word means, where a term's bits go, what an alias
 * brings, and that nothing is read that the words do not need. The machines are trees of files.
 */
#include "fake_machine.h"
#include "source_case.h"

#include "event/pmu.h"

#include <errno.h>
#include <fcntl.h>

struct pmu_file {
	const char *pmu, *file, *text;
};

/* Modelled on a server: one kind of core, numbered memory controllers, package energy. */
static const struct pmu_file server_files[] = {
	{ "cpu", "type", "4\n" },
	{ "cpu", "format/event", "config:0-7,32-35\n" },
	{ "cpu", "format/umask", "config:8-15\n" },
	{ "cpu", "format/edge", "config:18\n" },
	{ "cpu", "format/ldlat", "config1:0-15\n" },
	{ "cpu", "format/wide", "config2:0-63\n" },
	{ "cpu", "format/split", "config:60-63,config1:60-61\n" },
	{ "cpu", "format/broken", "config:9-3\n" },
	{ "cpu", "format/newer", "config3:0-3\n" },
	{ "cpu", "format/newest", "config4:4-7\n" },
	{ "cpu", "events/cpu-cycles", "event=0x3c\n" },
	{ "cpu", "events/slots", "event=0x00,umask=0x4\n" },
	{ "cpu", "events/topdown-retiring", "event=0x00,umask=0x80,edge\n" },
	{ "cpu", "events/mem-loads", "event=0xcd,umask=0x1,ldlat=3\n" },
	{ "cpu", "events/wrong", "event=0x1,nofield=2\n" },
	{ "cpu", "events/umask", "event=0x77\n" },
	{ "uncore_imc_0", "type", "10\n" },
	{ "uncore_imc_0", "cpumask", "0,18\n" },
	{ "uncore_imc_0", "format/event", "config:0-7\n" },
	{ "uncore_imc_0", "format/umask", "config:8-15\n" },
	{ "uncore_imc_0", "events/cas_count_read", "event=0x04,umask=0x03\n" },
	{ "uncore_imc_0", "events/cas_count_read.scale", "6.103515625e-5\n" },
	{ "uncore_imc_0", "events/cas_count_read.unit", "MiB\n" },
	{ "uncore_imc_10", "type", "12\n" },
	{ "uncore_imc_10", "cpumask", "0,18\n" },
	{ "uncore_imc_10", "format/event", "config:0-7\n" },
	{ "uncore_imc_2", "type", "11\n" },
	{ "uncore_imc_2", "cpumask", "0,18\n" },
	{ "uncore_imc_2", "format/event", "config:0-7\n" },
	{ "uncore_imc_2", "format/umask", "config:8-15\n" },
	{ "uncore_imc_2", "events/cas_count_read", "event=0x04,umask=0x03\n" },
	{ "uncore_imc_2", "events/cas_count_read.scale", "6.103515625e-5\n" },
	{ "uncore_imc_2", "events/cas_count_read.unit", "MiB\n" },
	{ "uncore_imc_free_running", "type", "15\n" },
	{ "uncore_cbox0", "type", "20\n" },
	{ "uncore_cbox0", "alias", "uncore_type_0_0\n" },
	{ "uncore_cbox0", "format/event", "config:0-7\n" },
	{ "uncore_cbox1", "type", "21\n" },
	{ "uncore_cbox1", "format/event", "config:0-7\n" },
	{ "power", "type", "30\n" },
	{ "power", "cpumask", "0\n" },
	{ "power", "format/event", "config:0-7\n" },
	{ "power", "events/energy-pkg", "event=0x02\n" },
	{ "power", "events/energy-pkg.scale", "2.3283064365386962890625e-10\n" },
	{ "power", "events/energy-pkg.unit", "Joules\n" },
	{ "power", "events/energy-pkg.per-pkg", "1\n" },
	{ "power", "events/energy-pkg.snapshot", "1\n" },
	{ "power", "events/energy-cores", "event=0x01\n" },
	{ "power", "events/energy-cores.unit", "Joules\n" },
	{ "hv_24x7", "type", "40\n" },
	{ "hv_24x7", "format/domain", "config:0-3\n" },
	{ "hv_24x7", "format/core", "config:16-31\n" },
	{ "hv_24x7", "events/CYCLES", "domain=0x2,core=?\n" },
	{ "software", "type", "1\n" },
	{ "no_type", "format/event", "config:0-7\n" },
};

static const struct pmu_file hybrid_files[] = {
	{ "cpu_core", "type", "4\n" },
	{ "cpu_core", "cpus", "0-3\n" },
	{ "cpu_core", "format/event", "config:0-7\n" },
	{ "cpu_core", "events/inst_retired", "event=0xc0\n" },
	{ "cpu_core", "events/only_core", "event=0x11\n" },
	{ "cpu_atom", "type", "8\n" },
	{ "cpu_atom", "cpus", "4-7\n" },
	{ "cpu_atom", "format/event", "config:0-7\n" },
	{ "cpu_atom", "events/inst_retired", "event=0xc1\n" },
	{ "uncore_x", "type", "9\n" },
	{ "uncore_x", "cpumask", "0\n" },
	{ "uncore_x", "events/inst_retired", "event=0xff\n" },
};

static const struct pmu_file arm_files[] = {
	{ "armv8_pmuv3_0", "type", "8\n" },
	{ "armv8_pmuv3_0", "cpus", "0-1\n" },
	{ "armv8_pmuv3_0", "format/event", "config:0-15\n" },
	{ "armv8_pmuv3_0", "format/long", "config1:0\n" },
	{ "armv8_pmuv3_0", "events/cpu_cycles", "event=0x0011\n" },
};

/* PMUs that are named by an address, and names that only look as if they were. */
static const struct pmu_file addressed_files[] = {
	{ "arm_dmc620_10008c000", "type", "20\n" },
	{ "arm_dmc620_10008c000", "cpumask", "0\n" },
	{ "arm_dmc620_10008c400", "type", "21\n" },
	{ "arm_dmc620_10008c400", "cpumask", "0\n" },
	{ "arm_dmc620_9008c000", "type", "22\n" },
	{ "arm_dmc620_9008c000", "cpumask", "0\n" },
	{ "mrvl_ddr_pmu_87e1b0000000", "type", "23\n" },
	{ "smmuv3_pmcg_2b442", "type", "24\n" },
	{ "smmuv3_pmcg_3", "type", "25\n" },
	{ "cpum_cf", "type", "26\n" },
	{ "cpum_cf_diag", "type", "27\n" },
	{ "cpu_atom", "type", "28\n" },
	{ "cpu_atom", "cpus", "0\n" },
	{ "uncore_cafe", "type", "29\n" },
	{ "uncoreadd", "type", "30\n" },
};

static struct fake_machine server, hybrid, arm, addressed;

static void build(struct fake_machine *m, const struct pmu_file *files, size_t n)
{
	fake_machine_init(m);
	for (size_t i = 0; i < n; i++)
		fake_machine_pmu(m, files[i].pmu, files[i].file, files[i].text);
}

static int make_machines(void **state)
{
	(void)state;
	build(&server, server_files, ARRAY_SIZE(server_files));
	build(&hybrid, hybrid_files, ARRAY_SIZE(hybrid_files));
	build(&arm, arm_files, ARRAY_SIZE(arm_files));
	build(&addressed, addressed_files, ARRAY_SIZE(addressed_files));
	return 0;
}

static int remove_machines(void **state)
{
	(void)state;
	fake_machine_release(&server);
	fake_machine_release(&hybrid);
	fake_machine_release(&arm);
	fake_machine_release(&addressed);
	return 0;
}

/* ---- bit fields ---- */

static void test_format_texts(void **state)
{
	static const struct {
		const char *text;
		int ret;
		uint64_t max;
	} cases[] = {
		{ "config:0-7", 0, 0xff },
		{ "config:0-7,32-35", 0, 0xfff },
		{ "config:23", 0, 1 },
		{ "config1:0-63", 0, UINT64_MAX },
		{ "config:0-31,config2:0-31", 0, UINT64_MAX },
		{ "config:0-63,config1:0", -EINVAL, 0 },
		{ "config:7-0", -EINVAL, 0 },
		{ "config:64", -EINVAL, 0 },
		{ "config:99999999999", -EINVAL, 0 },
		{ "config:0-", -EINVAL, 0 },
		{ "config:", -EINVAL, 0 },
		{ "config:0-7,", -EINVAL, 0 },
		{ "config:0-7 ", -EINVAL, 0 },
		{ "config3:0-7", 0, 0xff },
		{ "config:0-7,config4:8-15", 0, 0xffff },
		{ "config5:0-7", -EINVAL, 0 },
		{ "config9:0-7", -EINVAL, 0 },
		{ "0-7", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct pmu_format format = { 0 };

		assert_int_equal(pmu_format_parse(&format, cases[i].text), cases[i].ret);
		if (!cases[i].ret)
			assert_true(pmu_format_max(&format) == cases[i].max);
		pmu_format_release(&format);
	}
}

static void test_bits_go_where_the_format_says(void **state)
{
	const struct host_paths *host = &server.host;

	(void)state;
	expect_events("cpu/event=0x3c/", host, "cpu/event=0x3c/ @cpu 4:3c core\n");
	expect_events("cpu/event=0xabc/", host, "cpu/event=0xabc/ @cpu 4:a000000bc core\n");
	expect_events("cpu/umask=255,event=1,edge/", host,
		      "cpu/umask=255,event=1,edge/ @cpu 4:4ff01 core\n");
	expect_events(
		"cpu/ldlat=0xffff,wide=0xffffffffffffffff/", host,
		"cpu/ldlat=0xffff,wide=0xffffffffffffffff/ @cpu 4:0,ffff,ffffffffffffffff core\n");
	expect_events("cpu/split=0x2f/", host,
		      "cpu/split=0x2f/ @cpu 4:f000000000000000,2000000000000000,0 core\n");
	/* A later term replaces the bits of an earlier one, and no others. */
	expect_events("cpu/config=0xffff,event=0/", host,
		      "cpu/config=0xffff,event=0/ @cpu 4:ff00 core\n");
	expect_events("cpu/event=5,event=2/", host, "cpu/event=5,event=2/ @cpu 4:2 core\n");
}

static void test_values_that_do_not_fit(void **state)
{
	const struct host_paths *host = &server.host;

	(void)state;
	expect_error("cpu/umask=256/", host, -EINVAL, "at most 255 (0xff)");
	expect_error("cpu/event=0x1000/", host, -EINVAL, "at most 4095 (0xfff)");
	expect_error("cpu/edge=2/", host, -EINVAL, "at most 1");
	expect_error("cpu/wide=0x10000000000000000/", host, -EINVAL, "too big");
	expect_error("cpu/event=1,umask=0x100/", host, -EINVAL,
		     "  cpu/event=1,umask=0x100/\n"
		     "                    ^");
	expect_error("cpu/umask=x/", host, -EINVAL, "umask needs a number");
	expect_error("cpu/broken=1/", host, -EINVAL, "cpu/format/broken: ");
}

/* Where attr has the word the value goes there, else the message says what is missing. */
static void expect_word_at(const char *spec, size_t offset, uint64_t value, const char *message)
{
	struct event_list list;
	struct str err = STR_INIT;
	uint64_t word;

	event_list_init(&list);
	if (sizeof(struct perf_event_attr) >= offset + sizeof(word)) {
		assert_int_equal(event_list_parse(&list, spec, &server.host, &err), 0);
		memcpy(&word, (char *)&list.v[0].attr + offset, sizeof(word));
		assert_int_equal(word, value);
	} else {
		expect_error(spec, &server.host, -EOPNOTSUPP, message);
	}
	event_list_release(&list);
	str_release(&err);
}

static void test_words_of_newer_kernels(void **state)
{
	(void)state;
	expect_word_at("cpu/newer=5/", 128, 5,
		       "cpu/newer/ is a part of config3, which the kernel headers that pstat was "
		       "built with do not have");
	expect_word_at("cpu/newest=5/", 136, 0x50,
		       "cpu/newest/ is a part of config4, which the kernel headers that pstat was "
		       "built with do not have");
}

/* ---- names ---- */

static void test_aliases(void **state)
{
	const struct host_paths *host = &server.host;

	(void)state;
	expect_events("cpu/slots/", host, "cpu/slots/ @cpu 4:400 core\n");
	expect_events("cpu/SLOTS/", host, "cpu/SLOTS/ @cpu 4:400 core\n");
	expect_events("cpu/slots=1/", host, "cpu/slots=1/ @cpu 4:400 core\n");
	expect_events("cpu/event=slots/u", host, "cpu/event=slots/u @cpu 4:400 core\n");
	expect_events("cpu/slots,umask=2/", host, "cpu/slots,umask=2/ @cpu 4:200 core\n");
	expect_events("cpu/umask=2,slots/", host, "cpu/umask=2,slots/ @cpu 4:400 core\n");
	expect_events("topdown-retiring", host, "topdown-retiring @cpu 4:48000 core\n");
	expect_events("slots:u", host, "slots:u @cpu 4:400 core\n");
	expect_events("mem-loads/name=x,ldlat=9/", host, "x @cpu 4:1cd,9,0 core\n");
	/* A field of the same name wins; the alias is still to be had. */
	expect_events("cpu/umask/", host, "cpu/umask/ @cpu 4:100 core\n");
	expect_events("cpu/event=umask/", host, "cpu/event=umask/ @cpu 4:77 core\n");
	expect_error("cpu/event=slot/", host, -EINVAL, "did you mean 'slots'?");
	expect_error("cpu/slots=2/", host, -EINVAL, "unknown term 'slots'");
	expect_error("cpu/wrong/", host, -EINVAL, "'nofield', which its unit cpu lacks");
	expect_error("cpu/slots.scale/", host, -EINVAL, "unknown term");
	expect_error("cpu/../type/", host, -EINVAL, "");
}

static void test_alias_brings_scale_and_unit(void **state)
{
	const struct host_paths *host = &server.host;

	(void)state;
	expect_events(
		"power/energy-pkg/", host,
		"power/energy-pkg/ @power 1e:2 cpus=0 x2.328306437e-10 Joules per-pkg snapshot\n");
	expect_events("energy-pkg", host,
		      "energy-pkg @power 1e:2 cpus=0 x2.328306437e-10 Joules per-pkg snapshot\n");
	expect_error("power/energy-pkg,energy-cores/", host, -EINVAL,
		     "already has a unit or a scale");
}

static void test_alias_with_a_parameter(void **state)
{
	const struct host_paths *host = &server.host;

	(void)state;
	expect_events("hv_24x7/CYCLES,core=3/", host, "hv_24x7/CYCLES,core=3/ @hv_24x7 28:30002\n");
	expect_error("hv_24x7/CYCLES/", host, -EINVAL,
		     "CYCLES needs a value for 'core': hv_24x7/CYCLES,core=N/");
	/* Without a number the field is 1, which nobody asked for. */
	expect_error("hv_24x7/CYCLES,core/", host, -EINVAL, "needs a value for 'core'");
	expect_error("CYCLES", host, -EINVAL, "hv_24x7/CYCLES,core=N/");
}

static void test_generic_names_as_terms(void **state)
{
	const struct host_paths *host = &server.host;

	(void)state;
	expect_events("cpu/cycles/", host, "cpu/cycles/ @cpu 0:0 core\n");
	expect_events("cpu/L1-dcache-load-miss/", host,
		      "cpu/L1-dcache-load-miss/ @cpu 3:10000 core\n");
	expect_events("software/cs/", host, "software/cs/ @software 1:3\n");
	expect_events("software/r1a/", host, "software/r1a/ @software 1:1a\n");
	expect_events("cpu/r0x1a,umask=1/", host, "cpu/r0x1a,umask=1/ @cpu 4:11a core\n");
	expect_error("cpu/page-faults/", host, -EINVAL, "unknown term 'page-faults'");
	expect_error("power/cycles/", host, -EINVAL, "unknown term 'cycles'");
}

/* ---- PMUs ---- */

static void test_words_that_mean_several_pmus(void **state)
{
	const struct host_paths *host = &server.host;

	(void)state;
	expect_events("uncore_imc/event=4/", host,
		      "uncore_imc/event=4/ @uncore_imc_0 a:4 cpus=0,18 expansion=1/pmus\n"
		      "uncore_imc/event=4/ @uncore_imc_2 b:4 cpus=0,18 expansion=1/pmus\n"
		      "uncore_imc/event=4/ @uncore_imc_10 c:4 cpus=0,18 expansion=1/pmus\n");
	expect_events("cbox/event=1/", host,
		      "cbox/event=1/ @uncore_cbox0 14:1 expansion=1/pmus\n"
		      "cbox/event=1/ @uncore_cbox1 15:1 expansion=1/pmus\n");
	expect_events("imc_2/event=1/", host, "imc_2/event=1/ @uncore_imc_2 b:1 cpus=0,18\n");
	expect_events("uncore_imc_free_running/config=1/", host,
		      "uncore_imc_free_running/config=1/ @uncore_imc_free_running f:1\n");
	expect_events(
		"cas_count_read", host,
		"cas_count_read @uncore_imc_0 a:304 cpus=0,18 x6.103515625e-05 MiB expansion=1/pmus\n"
		"cas_count_read @uncore_imc_2 b:304 cpus=0,18 x6.103515625e-05 MiB "
		"expansion=1/pmus\n");
	expect_events("uncore_imc_0/event=1/,uncore_cbox/event=1/,imc/event=2/u", host,
		      "uncore_imc_0/event=1/ @uncore_imc_0 a:1 cpus=0,18\n"
		      "uncore_cbox/event=1/ @uncore_cbox0 14:1 expansion=1/pmus\n"
		      "uncore_cbox/event=1/ @uncore_cbox1 15:1 expansion=1/pmus\n"
		      "imc/event=2/u @uncore_imc_0 a:2 cpus=0,18 expansion=2/pmus\n"
		      "imc/event=2/u @uncore_imc_2 b:2 cpus=0,18 expansion=2/pmus\n"
		      "imc/event=2/u @uncore_imc_10 c:2 cpus=0,18 expansion=2/pmus\n");
}

/* As perf: behind _ any decimal number, or three hexadecimal digits and more. */
static void test_hexadecimal_suffixes(void **state)
{
	const struct host_paths *host = &addressed.host;

	(void)state;
	expect_events("arm_dmc620/config=1/", host,
		      "arm_dmc620/config=1/ @arm_dmc620_9008c000 16:1 cpus=0 expansion=1/pmus\n"
		      "arm_dmc620/config=1/ @arm_dmc620_10008c000 14:1 cpus=0 expansion=1/pmus\n"
		      "arm_dmc620/config=1/ @arm_dmc620_10008c400 15:1 cpus=0 expansion=1/pmus\n");
	expect_events("arm_dmc620_10008c400/config=1/", host,
		      "arm_dmc620_10008c400/config=1/ @arm_dmc620_10008c400 15:1 cpus=0\n");
	expect_events("mrvl_ddr_pmu/config=1/", host,
		      "mrvl_ddr_pmu/config=1/ @mrvl_ddr_pmu_87e1b0000000 17:1\n");
	expect_events("smmuv3_pmcg/config=1/", host,
		      "smmuv3_pmcg/config=1/ @smmuv3_pmcg_2b442 18:1 expansion=1/pmus\n"
		      "smmuv3_pmcg/config=1/ @smmuv3_pmcg_3 19:1 expansion=1/pmus\n");
	expect_error("cpum/config=1/", host, -ENOENT, "cpum");
	expect_error("cpu/config=1/", host, -ENOENT, "cpu");
	expect_events("uncore/config=1/", host, "uncore/config=1/ @uncore_cafe 1d:1\n");
}

static void test_patterns_take_the_pmus_that_know_the_terms(void **state)
{
	const struct host_paths *host = &server.host;

	(void)state;
	expect_events("uncore_*/cas_count_read/", host,
		      "uncore_*/cas_count_read/ @uncore_imc_0 a:304 cpus=0,18 x6.103515625e-05 MiB "
		      "expansion=1/pmus\n"
		      "uncore_*/cas_count_read/ @uncore_imc_2 b:304 cpus=0,18 x6.103515625e-05 MiB "
		      "expansion=1/pmus\n");
	expect_events("imc_[02]/event=1/", host,
		      "imc_[02]/event=1/ @uncore_imc_0 a:1 cpus=0,18 expansion=1/pmus\n"
		      "imc_[02]/event=1/ @uncore_imc_2 b:1 cpus=0,18 expansion=1/pmus\n");
	expect_events("pow*/event=1/", host, "pow*/event=1/ @power 1e:1 cpus=0\n");
	expect_error("uncore_*/nosuch/", host, -EINVAL, "unknown term 'nosuch'");
	expect_error("nosuch*/event=1/", host, -ENOENT, "nosuch*");
}

static void test_sysfs_alias_of_a_pmu(void **state)
{
	(void)state;
	expect_events("uncore_type_0_0/event=1/", &server.host,
		      "uncore_type_0_0/event=1/ @uncore_cbox0 14:1\n");
}

static void test_unknown_pmus_and_terms(void **state)
{
	const struct host_paths *host = &server.host;

	(void)state;
	expect_error("cpx/event=1/", host, -ENOENT, "did you mean 'cpu'?");
	expect_error("no_type/event=1/", host, -ENOENT, "no_type");
	expect_error("cpu/evnt=1/", host, -EINVAL, "did you mean 'event'?");
	expect_error("cpu/evnt=1/", host, -EINVAL, "slots");
	expect_error("cpu/event=1,slotz/u", host, -EINVAL,
		     "  cpu/event=1,slotz/u\n"
		     "              ^");
	expect_error("slotz", host, -ENOENT, "did you mean 'slots'?");
}

static void test_hybrid(void **state)
{
	const struct host_paths *host = &hybrid.host;

	(void)state;
	expect_events("cpu_core/event=1/", host, "cpu_core/event=1/ @cpu_core 4:1 cpus=0-3 core\n");
	expect_events("cpu_atom/cycles/", host,
		      "cpu_atom/cycles/ @cpu_atom 0:800000000 cpus=4-7 core\n");
	expect_events("cpu_core/LLC-loads/", host,
		      "cpu_core/LLC-loads/ @cpu_core 3:400000002 cpus=0-3 core\n");
	/* The PMUs of the cores come before others that have the name as well. */
	expect_events("inst_retired", host,
		      "inst_retired @cpu_atom 8:c1 cpus=4-7 core expansion=1/cores\n"
		      "inst_retired @cpu_core 4:c0 cpus=0-3 core expansion=1/cores\n");
	expect_events("only_core", host, "only_core @cpu_core 4:11 cpus=0-3 core\n");
	expect_events("cpu_*/event=2/", host,
		      "cpu_*/event=2/ @cpu_atom 8:2 cpus=4-7 core expansion=1/cores\n"
		      "cpu_*/event=2/ @cpu_core 4:2 cpus=0-3 core expansion=1/cores\n");
}

static void test_arm(void **state)
{
	const struct host_paths *host = &arm.host;

	(void)state;
	expect_events("armv8_pmuv3/cpu_cycles/", host,
		      "armv8_pmuv3/cpu_cycles/ @armv8_pmuv3_0 8:11 cpus=0-1 core\n");
	expect_events("armv8_pmuv3_0/instructions,long/u", host,
		      "armv8_pmuv3_0/instructions,long/u @armv8_pmuv3_0 0:1,1,0 cpus=0-1 core\n");
	expect_events("cpu_cycles", host, "cpu_cycles @armv8_pmuv3_0 8:11 cpus=0-1 core\n");
}

/* A number is as good as the PMU's name: what it says about CPUs and values holds. */
static void test_type_numbers(void **state)
{
	(void)state;
	expect_events("10:0x304", &server.host, "10:0x304 @uncore_imc_0 a:304 cpus=0,18\n");
	expect_events("30:2/name=joules/", &server.host,
		      "joules @power 1e:2 cpus=0 per-pkg snapshot\n");
	expect_events("30:1", &server.host, "30:1 @power 1e:1 cpus=0\n");
	expect_events("4:0x3c", &server.host, "4:0x3c @ 4:3c core\n");
	expect_events("1:3:u", &server.host, "1:3:u @ 1:3\n");
	expect_events("99:1", &server.host, "99:1 @ 63:1\n");
	expect_events("8:0x11", &arm.host, "8:0x11 @armv8_pmuv3_0 8:11 cpus=0-1 core\n");
	expect_events("8:1:u", &hybrid.host, "8:1:u @cpu_atom 8:1 cpus=4-7 core\n");
	expect_events("0:0x800000001", &hybrid.host,
		      "0:0x800000001 @cpu_atom 0:800000001 cpus=4-7 core\n");
	expect_events("cycles/config=0x800000000/", &server.host,
		      "cycles/config=0x800000000/ @ 0:800000000 core\n");
}

static void test_pmus_of_the_machine(void **state)
{
	struct event_pmu_list pmus = { 0 };
	struct str out = STR_INIT;
	const struct host_paths nowhere = { "/nonexistent", "/proc", "/nonexistent", NULL };

	(void)state;
	assert_int_equal(event_pmus_read(&pmus, &hybrid.host), 0);
	for (size_t i = 0; i < pmus.n; i++) {
		str_addf(&out, "%s %u %s ", pmus.v[i].name, pmus.v[i].type,
			 pmus.v[i].is_core ? "core" : "-");
		intset_format(&pmus.v[i].cpus, &out);
		str_addc(&out, '\n');
	}
	assert_string_equal(out.s, "cpu_atom 8 core 4-7\ncpu_core 4 core 0-3\nuncore_x 9 - 0\n");
	event_pmu_list_release(&pmus);
	assert_int_equal(event_pmus_read(&pmus, &nowhere), -ENOENT);
	event_pmu_list_release(&pmus);
	str_release(&out);
}

static void test_list(void **state)
{
	struct str out = STR_INIT, err = STR_INIT;

	(void)state;
	assert_int_equal(event_walk("pmu", "power/*", &server.host, list_source_row, &out, &err),
			 0);
	assert_string_equal(
		out.s, "power/energy-cores/|energy-cores|event=0x01|Joules\n"
		       "power/energy-pkg/|energy-pkg|event=0x02, counted once per package|Joules\n"
		       "power/.../||terms: event=0..0xff|\n");
	str_reset(&out);
	event_walk("pmu", "CYCLES", &server.host, list_source_row, &out, &err);
	assert_string_equal(out.s, "hv_24x7/CYCLES,core=?/|CYCLES|domain=0x2,core=?|\n");
	str_reset(&out);
	/* A word finds what contains it. */
	event_walk("pmu", "cas_", &server.host, list_source_row, &out, &err);
	assert_int_equal(strncmp(out.s, "uncore_imc_0/cas_count_read/|", 29), 0);
	str_release(&out);
	str_release(&err);
}

/* ---- laziness: on a tree whose other files cannot be opened without it being seen ---- */

static bool was_read(const struct fake_machine *m, const char *path)
{
	char *full = xasprintf("%s/sys/bus/event_source/devices/%s", m->root, path);
	struct stat st;

	assert_int_equal(stat(full, &st), 0);
	free(full);
	return st.st_atim.tv_sec != 1;
}

/* Access times far in the past: with relatime, too, a read moves them on. */
static void forget_reads(const struct fake_machine *m, const char *path)
{
	const struct timespec past[2] = { { .tv_sec = 1 }, { .tv_sec = 2 } };
	char *full = xasprintf("%s/sys/bus/event_source/devices/%s", m->root, path);

	assert_int_equal(utimensat(AT_FDCWD, full, past, 0), 0);
	free(full);
}

static void test_reads_only_what_is_needed(void **state)
{
	static const char *const paths[] = { "cpu/type", "cpu/format/event", "cpu/format/umask",
					     "cpu/events/slots", "power/type" };
	const struct host_paths *host = &server.host;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		forget_reads(&server, paths[i]);
	expect_events("cs", host, "cs @ 1:3\n");
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		assert_false(was_read(&server, paths[i]));
	expect_events("cpu/event=1/", host, "cpu/event=1/ @cpu 4:1 core\n");
	if (!was_read(&server, "cpu/type"))
		skip_because("the file system of the temporary folder keeps no access times");
	assert_true(was_read(&server, "cpu/format/event"));
	assert_false(was_read(&server, "cpu/format/umask"));
	assert_false(was_read(&server, "cpu/events/slots"));
	assert_false(was_read(&server, "power/type"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format_texts),
		cmocka_unit_test(test_bits_go_where_the_format_says),
		cmocka_unit_test(test_values_that_do_not_fit),
		cmocka_unit_test(test_words_of_newer_kernels),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_alias_brings_scale_and_unit),
		cmocka_unit_test(test_alias_with_a_parameter),
		cmocka_unit_test(test_generic_names_as_terms),
		cmocka_unit_test(test_words_that_mean_several_pmus),
		cmocka_unit_test(test_hexadecimal_suffixes),
		cmocka_unit_test(test_patterns_take_the_pmus_that_know_the_terms),
		cmocka_unit_test(test_sysfs_alias_of_a_pmu),
		cmocka_unit_test(test_unknown_pmus_and_terms),
		cmocka_unit_test(test_hybrid),
		cmocka_unit_test(test_arm),
		cmocka_unit_test(test_type_numbers),
		cmocka_unit_test(test_pmus_of_the_machine),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_reads_only_what_is_needed),
	};

	return cmocka_run_group_tests(tests, make_machines, remove_machines);
}
