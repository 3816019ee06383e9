/* SPDX-License-Identifier: MIT */
/*
 * loaded_libbpf_none: in place of loaded_libbpf.c where the build leaves libbpf out (make WITH_LIBBPF=0), or has no
 * clang that makes BPF programs. Nothing is ever loaded, so only the attempt is made.
 */
#include "bpf/bpf.h"
#include "bpf/loaded.h"

#include <errno.h>

static int left_out(struct str *err)
{
	return fail(err, -ENOSYS, "this pstat was built without libbpf, which loads BPF programs\n"
		    "build it with clang and libbpf's headers installed, or with WITH_LIBBPF=1");
}

int bpf_try(struct str *err)
{
	return left_out(err);
}

int bpf_load(struct bpf_loaded **loaded, const struct bpf_load_options *options, struct str *err)
{
	(void)options;
	*loaded = NULL;
	return left_out(err);
}

void bpf_unload(struct bpf_loaded *loaded)
{
	(void)loaded;
}

int bpf_loaded_program(const struct bpf_loaded *loaded, size_t program)
{
	(void)loaded, (void)program;
	return -1;
}

uint64_t bpf_loaded_bytes(const struct bpf_loaded *loaded)
{
	(void)loaded;
	return 0;
}

int bpf_loaded_take(struct bpf_loaded *loaded, const struct bpf_receiver *receiver, struct str *err)
{
	(void)loaded, (void)receiver, (void)err;
	return -ENOSYS;
}

int bpf_loaded_stop_waits(struct bpf_loaded *loaded, uint64_t time_ns)
{
	(void)loaded, (void)time_ns;
	return -ENOSYS;
}

int bpf_loaded_take_waits(struct bpf_loaded *loaded, const struct bpf_receiver *receiver, struct str *err)
{
	(void)loaded, (void)receiver, (void)err;
	return -ENOSYS;
}

int bpf_loaded_counts(const struct bpf_loaded *loaded, enum bpf_run_kind kind, struct bpf_run_counts *counts)
{
	(void)loaded, (void)kind, (void)counts;
	return -ENOSYS;
}

int bpf_load_texts(struct bpf_texts **loaded, const struct bpf_text_constants *constants, struct str *err)
{
	(void)constants;
	*loaded = NULL;
	return left_out(err);
}

void bpf_texts_free(struct bpf_texts *loaded)
{
	(void)loaded;
}

enum bpf_callers bpf_loaded_texts_whose(const struct bpf_texts *loaded)
{
	(void)loaded;
	return BPF_CALLS_OF_ALL;
}

int bpf_loaded_texts_output(const struct bpf_texts *loaded, int cpu, int event_fd)
{
	(void)loaded, (void)cpu, (void)event_fd;
	return -ENOSYS;
}

int bpf_loaded_texts_follow(const struct bpf_texts *loaded, uint64_t event_id)
{
	(void)loaded, (void)event_id;
	return -ENOSYS;
}

int bpf_loaded_texts_cgroup(const struct bpf_texts *loaded, uint32_t index, int cgroup_fd)
{
	(void)loaded, (void)index, (void)cgroup_fd;
	return -ENOSYS;
}
