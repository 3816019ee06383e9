/* SPDX-License-Identifier: MIT */
/*
 * texts.bpf.c: runs in the kernel where a system call begins and where it ends, before the record of either is written,
 * and copies the texts that its arguments point at into the same ring, each as a record of its own.
 *
 *   begins: wanted[number] -> each argument that is a text -> read it -> record          -> then that of the begin
 *                          |                                   '-> not in memory: unread
 *                          '> each descriptor -> names from its file to the root -> record
 *   ends:   unread -> read it now -> record                                              -> then that of the end
 *
 * The thread is in the kernel meanwhile, so what was copied is what it asked for. A program may not wait for a page to
 * be brought into memory; the call itself does, so what could not be read when it began is read when it ends, unless
 * the memory is another one by then: exec.
 *
 * Programs of a tracepoint run for all tasks. A task that perf events follow has a context of them, which its children
 * are born with: so no list of tasks is needed.
 *
 * Source: bpf-helpers(7), include/linux/sched.h, include/trace/events/syscalls.h.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "layout.h"

/* Reading memory of the user is for programs whose licence is compatible with the GPL. */
const char program_license[] SEC("license") = "Dual MIT/GPL";

const volatile struct bpf_text_constants constants;

/* The event of each CPU that takes the records. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} outputs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_text);
} scratches SEC(".maps");

/* Arguments that are to be read at the end of a thread's call. Threads that never come there make room for others. */
struct unread_texts {
	__u64 addresses[BPF_CALL_ARGS];
	__u32 number, arguments; /* bits, by their index */
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct unread_texts);
} unread SEC(".maps");

/* Contexts of the two tracepoints. Their formats, in tracefs, are a part of the kernel's ABI. */
struct enter_context {
	__u64 common;
	__s64 number;
	__u64 args[BPF_CALL_ARGS];
};
struct exit_context {
	__u64 common;
	__s64 number, returned;
};

/* A kernel has one context for each task, an earlier one has one for each kind of unit. */
struct task_struct {
	void *perf_event_ctxp;
	struct files_struct *files;
	struct fs_struct *fs;
} __attribute__((preserve_access_index));
struct task_struct___earlier {
	void *perf_event_ctxp[2];
} __attribute__((preserve_access_index));

static __always_inline bool is_followed(void)
{
	const void *task = (const void *)bpf_get_current_task();
	const struct task_struct___earlier *earlier = task;
	const struct task_struct *now = task;

	if (!constants.of_tasks)
		return true;
	if (bpf_core_field_exists(now->perf_event_ctxp))
		return BPF_CORE_READ(now, perf_event_ctxp);
	return BPF_CORE_READ(earlier, perf_event_ctxp[0]) || BPF_CORE_READ(earlier, perf_event_ctxp[1]);
}

static __always_inline struct bpf_call_wants wanted(__s64 number)
{
	const struct bpf_call_wants nothing = { 0 };

	return number >= 0 && number < BPF_CALL_NUMBERS ? constants.wanted[number] : nothing;
}

/* ---- files of descriptors ---- */

/* Members of the kernel's structures that are read, wherever the running kernel has them. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct qstr {
	const unsigned char *name;
};
struct hlist_bl_node {
	struct hlist_bl_node **pprev;
};
struct super_block {
	unsigned long s_magic;
};
struct inode___kernel {
	unsigned long i_ino;
};
struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
	struct super_block *d_sb;
};
struct vfsmount {
	struct dentry *mnt_root;
};
struct mount___kernel {
	struct mount___kernel *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};
struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};
struct file {
	struct path f_path;
	struct inode___kernel *f_inode;
};
struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};
struct files_struct {
	struct fdtable *fdt;
};
struct fs_struct {
	struct path root;
};
#pragma clang attribute pop

/* NULL: the descriptor is not open. */
static __always_inline struct file *file_of(__s32 fd)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();
	const struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **files = BPF_CORE_READ(table, fd), *file = 0;

	if (fd >= 0 && (__u32)fd < BPF_CORE_READ(table, max_fds))
		bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	return file;
}

static __always_inline const struct mount___kernel *mount_of(const void *vfsmount)
{
	return vfsmount - bpf_core_field_offset(struct mount___kernel, mnt);
}

/* A way from a file to the root: where it has come to, and the task's root, where it ends, if not at that of mounts. */
struct way_to_root {
	const struct dentry *dentry, *root;
	const struct mount___kernel *mount, *root_mount;
};

/* Takes one step, and adds the name that is left. 1: no further step. */
static long add_name(__u32 step, struct way_to_root *way)
{
	const __u32 zero = 0;
	struct bpf_text *text = bpf_map_lookup_elem(&scratches, &zero);
	const struct dentry *dentry = way->dentry, *parent = BPF_CORE_READ(dentry, d_parent);
	const struct mount___kernel *mount = way->mount, *above = BPF_CORE_READ(mount, mnt_parent);
	const bool is_mounted = dentry == BPF_CORE_READ(mount, mnt.mnt_root);
	__u32 len;
	long n;

	(void)step;
	if (!text)
		return 1;
	if ((dentry == way->root && mount == way->root_mount) || (is_mounted && mount == above)) {
		text->whole = 1;
		return 1;
	}
	if (is_mounted) {
		way->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
		way->mount = above;
		return 0;
	}
	len = text->len;
	if (len > BPF_FILE_BYTES - BPF_NAME_BYTES)
		return 1;
	n = bpf_probe_read_kernel_str(text->bytes + len, BPF_NAME_BYTES, BPF_CORE_READ(dentry, d_name.name));
	if (n < 1)
		return 1;
	text->len = len + n;
	text->whole = dentry == parent;
	way->dentry = parent;
	return text->whole;
}

static __always_inline void copy_file(void *context, __u64 argument, __s64 number, __u32 index)
{
	const __u32 zero = 0;
	const struct task_struct *task = (const void *)bpf_get_current_task();
	const struct file *file = file_of((__s32)argument);
	struct bpf_text *text = bpf_map_lookup_elem(&scratches, &zero);
	const struct dentry *dentry = BPF_CORE_READ(file, f_path.dentry);
	const struct mount___kernel *mount = mount_of(BPF_CORE_READ(file, f_path.mnt));
	struct way_to_root way = {
		.dentry = dentry, .root = BPF_CORE_READ(task, fs, root.dentry),
		.mount = mount, .root_mount = mount_of(BPF_CORE_READ(task, fs, root.mnt)),
	};
	__u32 len;

	if (!text || !file)
		return;
	text->address = argument;
	text->number = number;
	text->argument = index;
	text->what = BPF_TEXT_FILE;
	text->filesystem = BPF_CORE_READ(dentry, d_sb, s_magic);
	text->inode = BPF_CORE_READ(file, f_inode, i_ino);
	text->deleted = !BPF_CORE_READ(dentry, d_hash.pprev) && dentry != BPF_CORE_READ(mount, mnt.mnt_root);
	text->whole = 0;
	text->len = 0;
	bpf_loop(BPF_FILE_NAMES, add_name, &way, 0);
	len = *(volatile __u16 *)&text->len;
	if (len <= BPF_FILE_BYTES)
		bpf_perf_event_output(context, &outputs, BPF_F_CURRENT_CPU, text,
				      offsetof(struct bpf_text, bytes) + len);
}

/* ---- calls ---- */

/* Copies a text and writes its record; false: it cannot be read. A record that has no room is counted by the ring. */
static __always_inline bool copy(void *context, __u64 address, __s64 number, __u32 argument, bool at_end)
{
	const __u32 zero = 0;
	struct bpf_text *text = bpf_map_lookup_elem(&scratches, &zero);
	long bytes;

	if (!text)
		return false;
	bytes = bpf_probe_read_user_str(text->bytes, sizeof(text->bytes), (const void *)address);
	if (bytes < 1 || bytes > (long)sizeof(text->bytes))
		return false;
	text->address = address;
	text->number = number;
	text->argument = argument;
	text->what = at_end ? BPF_TEXT_LATE : BPF_TEXT_EARLY;
	text->len = bytes - 1;
	bpf_perf_event_output(context, &outputs, BPF_F_CURRENT_CPU, text, offsetof(struct bpf_text, bytes) + bytes);
	return true;
}

struct beginning_call {
	void *context;
	struct bpf_call_wants wants;
	struct unread_texts values; /* of all arguments; only texts that could not be read are among the bits */
};

static long copy_argument(__u32 i, struct beginning_call *call)
{
	__u64 value;

	if (i >= BPF_CALL_ARGS)
		return 1;
	value = call->values.addresses[i];
	if (call->wants.files >> i & 1)
		copy_file(call->context, value, call->values.number, i);
	else if (call->wants.texts >> i & 1 && value && !copy(call->context, value, call->values.number, i, false))
		call->values.arguments |= 1 << i;
	return 0;
}

SEC("tracepoint")
int call_begins(struct enter_context *context)
{
	struct beginning_call call = { .context = context, .wants = wanted(context->number) };
	__u64 thread;

	if (!(call.wants.texts | call.wants.files) || !is_followed())
		return 1;
	call.values.number = context->number;
#pragma unroll
	for (__u32 i = 0; i < BPF_CALL_ARGS; i++)
		call.values.addresses[i] = context->args[i];
	bpf_loop(BPF_CALL_ARGS, copy_argument, &call, 0);
	thread = bpf_get_current_pid_tgid();
	if (call.values.arguments)
		bpf_map_update_elem(&unread, &thread, &call.values, BPF_ANY);
	return 1;
}

SEC("tracepoint")
int call_ends(struct exit_context *context)
{
	const struct bpf_call_wants wants = wanted(context->number);
	const __u64 thread = bpf_get_current_pid_tgid();
	const struct unread_texts *missing = wants.texts ? bpf_map_lookup_elem(&unread, &thread) : 0;

	if (!missing)
		return 1;
	if (missing->number == context->number && (!(wants.texts & BPF_CALL_IS_EXEC) || context->returned)) {
#pragma unroll
		for (__u32 i = 0; i < BPF_CALL_ARGS; i++)
			if (missing->arguments >> i & 1)
				copy(context, missing->addresses[i], context->number, i, true);
	}
	bpf_map_delete_elem(&unread, &thread);
	return 1;
}
