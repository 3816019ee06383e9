/* SPDX-License-Identifier: MIT */
/*
 * texts.bpf.c: runs in the kernel where a system call begins and where it ends, before the record of either is written,
 * and copies what its arguments point at into the same ring, each as a record of its own.
 *
 *   begins: wanted[number] -> each text, buffer, socket's address -> read it -> record     -> then that of the begin
 *                          |                                 '-> not in memory, or a result: unread
 *                          '> each descriptor -> names from its file to the root -> record
 *   ends:   unread -> read it now -> record                                                -> then that of the end
 *
 * The thread is in the kernel meanwhile, so what was copied is what it asked for. A program may not wait for a page to
 * be brought into memory; the call itself does, so what could not be read when it began is read when it ends, unless
 * the memory is another one by then: exec. What the call writes is read when it ends, as far as it was written.
 *
 * Programs of a tracepoint run for all tasks. The kernel's own list of a task's events says whether those of this run
 * are among them, as children are born with them; of others, also those that other runs follow, nothing is copied.
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

/* The verifier knows how many bytes of an array are before others at most, and how many come; but not the sum. */
struct text_scratch {
	struct bpf_text text;
	char room[BPF_VECTOR_BYTES];
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct text_scratch);
} scratches SEC(".maps");

/* Arguments that are to be read at the end of a thread's call. Threads that never come there make room for others. */
struct unread_texts {
	__u64 addresses[BPF_CALL_ARGS]; /* of all arguments */
	const void *memory; /* struct mm_struct */
	__u32 number, arguments; /* bits, by their index */
	__u32 room; /* for the socket's address that it writes: no call has two */
	__u32 unused;
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

/* ---- whose calls ---- */

/* Identities of the events that this run has opened for tasks; what children are born with has them as parents. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, BPF_FOLLOWING_EVENTS);
	__type(key, __u64);
	__type(value, __u8);
} following SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, BPF_CGROUPS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} cgroups SEC(".maps");

/* A kernel has one context for each task, an earlier one has one for each kind of unit. */
struct list_head {
	struct list_head *next;
} __attribute__((preserve_access_index));
struct perf_event {
	struct list_head event_entry;
	struct perf_event *parent;
	__u64 id;
} __attribute__((preserve_access_index));
struct perf_event_context {
	struct list_head event_list;
} __attribute__((preserve_access_index));
struct task_struct {
	struct perf_event_context *perf_event_ctxp;
	struct files_struct *files;
	struct fs_struct *fs;
	struct mm_struct *mm;
} __attribute__((preserve_access_index));
struct task_struct___earlier {
	struct perf_event_context *perf_event_ctxp[2];
} __attribute__((preserve_access_index));

struct event_walk {
	const struct list_head *at, *head;
	bool found;
};

/* 1: no further one. */
static long look_at_event(__u32 step, struct event_walk *walk)
{
	const struct list_head *at = walk->at;
	const struct perf_event *event = (const void *)at - bpf_core_field_offset(struct perf_event, event_entry);
	const struct perf_event *parent;
	__u64 id;

	(void)step;
	if (!at || at == walk->head)
		return 1;
	parent = BPF_CORE_READ(event, parent);
	id = parent ? BPF_CORE_READ(parent, id) : BPF_CORE_READ(event, id);
	walk->found = bpf_map_lookup_elem(&following, &id);
	walk->at = BPF_CORE_READ(at, next);
	return walk->found;
}

static __always_inline bool has_event(const struct perf_event_context *context)
{
	struct event_walk walk = {
		.head = (const void *)context + bpf_core_field_offset(struct perf_event_context, event_list),
	};

	if (!context)
		return false;
	walk.at = BPF_CORE_READ(context, event_list.next);
	bpf_loop(BPF_TASK_EVENTS, look_at_event, &walk, 0);
	return walk.found;
}

static __always_inline bool task_has_event(void)
{
	const void *task = (const void *)bpf_get_current_task();
	const struct task_struct___earlier *earlier = task;
	const struct task_struct *now = task;

	if (bpf_core_field_size(now->perf_event_ctxp) == sizeof(void *))
		return has_event(BPF_CORE_READ(now, perf_event_ctxp));
	return has_event(BPF_CORE_READ(earlier, perf_event_ctxp[1])) ||
	       has_event(BPF_CORE_READ(earlier, perf_event_ctxp[0]));
}

/* 1: no further one. */
static long look_in_cgroup(__u32 i, bool *found)
{
	const long under = bpf_current_task_under_cgroup(&cgroups, i);

	*found = under == 1;
	return under != 0;
}

static __always_inline bool is_followed(void)
{
	bool found = false;

	switch (constants.whose) {
	case BPF_CALLS_OF_TASKS:
		return task_has_event();
	case BPF_CALLS_OF_CGROUPS:
		bpf_loop(BPF_CGROUPS, look_in_cgroup, &found, 0);
		return found;
	default:
		return true;
	}
}

static __always_inline union bpf_call_wants wanted(__s64 number)
{
	const union bpf_call_wants nothing = { .any = 0 };

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

/* ---- what arguments point at ---- */

struct traced_call {
	void *context;
	union bpf_call_wants wants;
	__s64 returned;
	bool at_end;
	struct unread_texts values;
};

/* Buffers that are written to are valid as far as the call returns. */
static __always_inline __u64 valid_bytes(const struct traced_call *call)
{
	return call->at_end ? (__u64)call->returned : ~0ULL;
}

/* A record of this argument, without its bytes. NULL: never. */
static __always_inline struct bpf_text *begin_record(const struct traced_call *call, __u32 argument, __u64 address,
						     enum bpf_text_kind what)
{
	const __u32 zero = 0;
	struct bpf_text *text = bpf_map_lookup_elem(&scratches, &zero);

	if (text) {
		text->address = address;
		text->number = call->values.number;
		text->argument = argument;
		text->what = what;
		text->len = 0;
		text->whole = 0;
	}
	return text;
}

/* Each of these is false where memory cannot be read. A record that has no room is counted by the ring. */
static __always_inline bool copy_text(const struct traced_call *call, __u32 argument, __u64 address)
{
	struct bpf_text *text =
		begin_record(call, argument, address, call->at_end ? BPF_TEXT_LATE : BPF_TEXT_EARLY);
	long bytes;

	if (!text)
		return false;
	bytes = bpf_probe_read_user_str(text->bytes, sizeof(text->bytes), (const void *)address);
	if (bytes < 1 || bytes > (long)sizeof(text->bytes))
		return false;
	text->len = bytes - 1;
	bpf_perf_event_output(call->context, &outputs, BPF_F_CURRENT_CPU, text,
			      offsetof(struct bpf_text, bytes) + bytes);
	return true;
}

/* There are n bytes, of which no more than `most` are copied. */
static __always_inline bool copy_bytes(const struct traced_call *call, __u32 argument, __u64 address, __u64 n,
				       __u32 most)
{
	struct bpf_text *text =
		begin_record(call, argument, address, call->at_end ? BPF_TEXT_BYTES_LATE : BPF_TEXT_BYTES_EARLY);
	const __u32 len = n < most ? n : most;

	if (!text || len > BPF_BUFFER_BYTES || bpf_probe_read_user(text->bytes, len, (const void *)address))
		return false;
	text->len = len;
	text->whole = len == n;
	bpf_perf_event_output(call->context, &outputs, BPF_F_CURRENT_CPU, text,
			      offsetof(struct bpf_text, bytes) + len);
	return true;
}

/* Adds the string that an array's element points at. 1: no further one. */
static long add_string(__u32 index, const __u64 *array)
{
	const __u32 zero = 0;
	struct bpf_text *text = bpf_map_lookup_elem(&scratches, &zero);
	const char *string;
	__u32 len;
	long n;

	if (!text || bpf_probe_read_user(&string, sizeof(string), (const void *)(*array + index * sizeof(string))))
		return 1;
	text->whole = !string;
	len = text->len;
	if (!string || len > BPF_STRINGS_BYTES - BPF_STRING_BYTES)
		return 1;
	n = bpf_probe_read_user_str(text->bytes + len, BPF_STRING_BYTES, string);
	if (n < 1)
		return 1;
	text->len = len + n;
	return 0;
}

static __always_inline void copy_strings(const struct traced_call *call, __u32 argument, __u64 address)
{
	struct bpf_text *text = begin_record(call, argument, address, BPF_TEXT_STRINGS);
	__u32 len;

	if (!text)
		return;
	bpf_loop(BPF_STRINGS, add_string, &address, 0);
	len = *(volatile __u16 *)&text->len;
	if (len <= BPF_STRINGS_BYTES && (len || text->whole))
		bpf_perf_event_output(call->context, &outputs, BPF_F_CURRENT_CPU, text,
				      offsetof(struct bpf_text, bytes) + len);
}

/* 1: that was the last one. */
static long count_pointer(__u32 index, __u64 *array)
{
	const __u32 zero = 0;
	struct bpf_text *text = bpf_map_lookup_elem(&scratches, &zero);
	__u64 pointer;

	if (!text || bpf_probe_read_user(&pointer, sizeof(pointer), (const void *)(*array + index * sizeof(pointer))))
		return 1;
	text->whole = !pointer;
	if (pointer)
		++*(__u64 *)text->bytes;
	return !pointer;
}

static __always_inline void copy_count(const struct traced_call *call, __u32 argument, __u64 address)
{
	struct bpf_text *text = begin_record(call, argument, address, BPF_TEXT_COUNT);

	if (!text)
		return;
	text->len = sizeof(__u64);
	*(__u64 *)text->bytes = 0;
	bpf_loop(BPF_POINTERS, count_pointer, &address, 0);
	if (!text->whole && !*(__u64 *)text->bytes)
		return;
	bpf_perf_event_output(call->context, &outputs, BPF_F_CURRENT_CPU, text,
			      offsetof(struct bpf_text, bytes) + sizeof(__u64));
}

/* A way through an array of buffers. */
struct vector_walk {
	__u64 array, left; /* bytes that are valid in those that follow */
	bool has_unread;
};

/* Adds an element to the record. 1: no further one, and the record is not whole. */
static long add_element(__u32 index, struct vector_walk *walk)
{
	const __u32 zero = 0;
	struct bpf_text *text = bpf_map_lookup_elem(&scratches, &zero);
	struct bpf_element *element;
	__u64 buffer[2], valid, at, n, most = constants.buffer_bytes;

	if (!text)
		return 1;
	at = text->len & ~7;
	barrier_var(at); /* what is known of it then stays known */
	if (bpf_probe_read_user(buffer, sizeof(buffer), (const void *)(walk->array + index * sizeof(buffer)))) {
		walk->has_unread = true;
		text->whole = 0;
	}
	if (at > BPF_VECTOR_BYTES - sizeof(*element))
		text->whole = 0;
	if (!text->whole || at > BPF_VECTOR_BYTES - sizeof(*element))
		return 1;
	valid = buffer[1] < walk->left ? buffer[1] : walk->left;
	walk->left -= valid;
	n = BPF_VECTOR_BYTES - sizeof(*element) - at;
	if (n > most)
		n = most;
	if (n > valid)
		n = valid;
	element = (void *)text->bytes + at;
	element->address = buffer[0];
	element->len = buffer[1];
	element->filled = valid < BPF_NOT_READ ? valid : BPF_NOT_READ - 1;
	barrier_var(n);
	if (n > BPF_VECTOR_BYTES)
		return 1;
	if (!most || (n && bpf_probe_read_user(text->bytes + at + sizeof(*element), n, (const void *)buffer[0]))) {
		walk->has_unread |= most > 0;
		element->filled = BPF_NOT_READ;
		n = 0;
	}
	element->n = n;
	text->len = at + sizeof(*element) + ((n + 7) & ~7);
	return 0;
}

/*
 * Adds an array of n buffers to the record that was begun, and writes it. False: some could not be read, and nothing
 * was written, as there will be another time.
 */
static __always_inline bool write_vector(const struct traced_call *call, struct bpf_text *text, __u64 array, __u64 n)
{
	struct vector_walk walk = { .array = array, .left = valid_bytes(call) };
	__u32 len;

	text->whole = 1;
	bpf_loop(n < BPF_ELEMENTS ? n : BPF_ELEMENTS, add_element, &walk, 0);
	if (n > BPF_ELEMENTS)
		text->whole = 0;
	if (walk.has_unread && !call->at_end)
		return false;
	len = *(volatile __u16 *)&text->len;
	if (len <= BPF_VECTOR_BYTES)
		bpf_perf_event_output(call->context, &outputs, BPF_F_CURRENT_CPU, text,
				      offsetof(struct bpf_text, bytes) + len);
	return true;
}

static __always_inline bool copy_vector(const struct traced_call *call, __u32 argument, __u64 address, __u64 n)
{
	struct bpf_text *text = begin_record(call, argument, address,
					     call->at_end ? BPF_TEXT_VECTOR_LATE : BPF_TEXT_VECTOR_EARLY);

	return text && write_vector(call, text, address, n);
}

/* struct msghdr, as programs of 64 bits have it. */
struct user_message {
	__u64 name;
	__u32 name_len, unused;
	__u64 vector, vector_len, control, control_len;
	__u32 flags, unused_too;
};

static __always_inline bool copy_message(struct traced_call *call, __u32 argument, __u64 address, bool is_filled)
{
	struct bpf_text *text = begin_record(call, argument, address,
					     call->at_end ? BPF_TEXT_MESSAGE_LATE : BPF_TEXT_MESSAGE_EARLY);
	struct bpf_message *message;
	struct user_message from;
	__u32 n;

	if (!text || bpf_probe_read_user(&from, sizeof(from), (const void *)address))
		return false;
	if (is_filled && !call->at_end) {
		call->values.room = from.name_len;
		return false;
	}
	n = is_filled && from.name_len > call->values.room ? call->values.room : from.name_len;
	if (n > BPF_ADDRESS_BYTES)
		n = BPF_ADDRESS_BYTES;
	message = (void *)text->bytes;
	*message = (struct bpf_message){
		.name = from.name, .control = from.control, .control_len = from.control_len, .vector = from.vector,
		.vector_len = from.vector_len, .name_len = from.name_len, .flags = from.flags, .name_bytes = n,
	};
	if (!from.name || bpf_probe_read_user(message->address, n, (const void *)from.name))
		message->name_bytes = 0;
	text->len = sizeof(*message);
	if (from.name && n && !message->name_bytes && !call->at_end)
		return false;
	return write_vector(call, text, from.vector, from.vector_len);
}

/* Buffers that the call writes to are read when it has ended well. */
static __always_inline bool copy_when_filled(struct traced_call *call, __u32 argument, __u64 address, __u64 next)
{
	const bool is_message = call->wants.v[argument] == BPF_WANT_MESSAGE_FILLED;

	if (call->at_end && call->returned < 0)
		return true;
	if (is_message)
		return copy_message(call, argument, address, true);
	return call->at_end && copy_vector(call, argument, address, next);
}

/* The call has written as much as it returns, and no more than there is room for. */
static __always_inline bool copy_filled(const struct traced_call *call, __u32 argument, __u64 address, __u64 room)
{
	const __u64 n = call->returned, most = constants.buffer_bytes;

	if (call->at_end && call->returned >= 0)
		copy_bytes(call, argument, address, n, room < most ? room : most);
	return call->at_end;
}

static __always_inline bool copy_peer(struct traced_call *call, __u32 argument, __u64 address, const void *length)
{
	const __u32 most = BPF_ADDRESS_BYTES;
	__u32 len;

	if (bpf_probe_read_user(&len, sizeof(len), length))
		return true;
	if (!call->at_end)
		call->values.room = len;
	else if (call->returned >= 0)
		copy_bytes(call, argument, address, len, call->values.room < most ? call->values.room : most);
	return call->at_end;
}

/* Copies an argument; those that are to be read when the call ends, or again then, are among the bits. */
static long copy_argument(__u32 i, struct traced_call *call)
{
	__u64 value, next;
	bool done = true;

	if (i >= BPF_CALL_ARGS)
		return 1;
	value = call->values.addresses[i];
	next = i + 1 < BPF_CALL_ARGS ? call->values.addresses[i + 1] : 0;
	if (call->wants.v[i] == BPF_WANT_FILE && !call->at_end)
		copy_file(call->context, value, call->values.number, i);
	if (!value || (call->at_end && !(call->values.arguments >> i & 1)))
		return 0;
	switch (call->wants.v[i]) {
	case BPF_WANT_TEXT:
		done = copy_text(call, i, value);
		break;
	case BPF_WANT_BYTES:
		done = copy_bytes(call, i, value, next, constants.buffer_bytes);
		break;
	case BPF_WANT_FILLED:
		done = copy_filled(call, i, value, next);
		break;
	case BPF_WANT_ADDRESS:
		done = copy_bytes(call, i, value, (__u32)next, BPF_ADDRESS_BYTES);
		break;
	case BPF_WANT_PEER:
		done = copy_peer(call, i, value, (const void *)next);
		break;
	case BPF_WANT_STRINGS:
		copy_strings(call, i, value);
		break;
	case BPF_WANT_COUNT:
		copy_count(call, i, value);
		break;
	case BPF_WANT_VECTOR:
		done = copy_vector(call, i, value, next);
		break;
	case BPF_WANT_MESSAGE:
		done = copy_message(call, i, value, false);
		break;
	case BPF_WANT_VECTOR_FILLED:
	case BPF_WANT_MESSAGE_FILLED:
		done = copy_when_filled(call, i, value, next);
		break;
	}
	if (!done)
		call->values.arguments |= 1 << i;
	return 0;
}

/* ---- calls ---- */

static __always_inline const void *memory_of_task(void)
{
	return BPF_CORE_READ((const struct task_struct *)bpf_get_current_task(), mm);
}

SEC("tracepoint")
int call_begins(struct enter_context *context)
{
	struct traced_call call = { .context = context, .wants = wanted(context->number) };
	__u64 thread;

	if (!call.wants.any || !is_followed())
		return 1;
	call.values.number = context->number;
#pragma unroll
	for (__u32 i = 0; i < BPF_CALL_ARGS; i++)
		call.values.addresses[i] = context->args[i];
	bpf_loop(BPF_CALL_ARGS, copy_argument, &call, 0);
	if (!call.values.arguments)
		return 1;
	call.values.memory = memory_of_task();
	thread = bpf_get_current_pid_tgid();
	bpf_map_update_elem(&unread, &thread, &call.values, BPF_ANY);
	return 1;
}

SEC("tracepoint")
int call_ends(struct exit_context *context)
{
	const __u64 thread = bpf_get_current_pid_tgid();
	struct traced_call call = { .context = context, .wants = wanted(context->number), .returned = context->returned,
			     .at_end = true };
	const struct unread_texts *missing = call.wants.any ? bpf_map_lookup_elem(&unread, &thread) : 0;

	if (!missing)
		return 1;
	call.values = *missing;
	if (missing->number == context->number && missing->memory == memory_of_task())
		bpf_loop(BPF_CALL_ARGS, copy_argument, &call, 0);
	bpf_map_delete_elem(&unread, &thread);
	return 1;
}
