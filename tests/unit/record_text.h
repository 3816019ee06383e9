/* SPDX-License-Identifier: MIT */
/*
 * Records as one line each, collected: what synth_tasks and synth_kernel hand over.
 */
#ifndef RECORD_TEXT_H
#define RECORD_TEXT_H

#include "record/synth.h"

struct record_text {
	struct str text;
	size_t n;
	size_t stop_after; /* 0: never; else the n-th record returns stop_code */
	int stop_code;
};

static inline void record_text_map(struct str *out, const struct record_body *body)
{
	const struct record_mmap *m = &body->mmap;

	str_addf(out, "%s %d/%u %#llx+%#llx@%#llx", body->type == RECORD_MMAP ? "MMAP" : "MMAP2",
		 (int)m->pid, m->tid, (unsigned long long)m->start, (unsigned long long)m->len,
		 (unsigned long long)m->pgoff);
	if (body->type == RECORD_MMAP2 && body->misc & MISC_MMAP_BUILD_ID)
		str_addf(out, " build-id %u %02x prot %u flags %u", m->build_id_size, m->build_id[0], m->prot,
			 m->flags);
	else if (body->type == RECORD_MMAP2)
		str_addf(out, " %x:%x/%llu prot %u flags %u", m->major, m->minor,
			 (unsigned long long)m->inode, m->prot, m->flags);
	str_addf(out, " misc %#x ", body->misc);
	str_add_printable(out, m->path, strlen(m->path));
}

static inline int record_text_add(void *data, const struct record_body *body)
{
	struct record_text *to = data;
	struct str *out = &to->text;

	switch (body->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
		record_text_map(out, body);
		break;
	case RECORD_FORK:
		str_addf(out, "FORK %u/%u of %u/%u misc %#x", body->task.pid, body->task.tid,
			 body->task.ppid, body->task.ptid, body->misc);
		break;
	case RECORD_COMM:
		str_addf(out, "COMM %u/%u ", body->comm.pid, body->comm.tid);
		str_add_printable(out, body->comm.comm, strlen(body->comm.comm));
		break;
	case RECORD_NAMESPACES:
		str_addf(out, "NAMESPACES %u/%u", body->namespaces.pid, body->namespaces.tid);
		for (uint64_t i = 0; i < body->namespaces.links.n; i++)
			str_addf(out, " %s", body->namespaces.links.v[2 * i + 1] ? "x" : "-");
		break;
	case RECORD_KSYMBOL:
		str_addf(out, "KSYMBOL %#llx+%#x kind %u flags %u %s", (unsigned long long)body->ksymbol.addr,
			 body->ksymbol.len, body->ksymbol.kind, body->ksymbol.flags, body->ksymbol.name);
		break;
	case RECORD_CGROUP:
		str_addf(out, "CGROUP %s", body->cgroup.path);
		break;
	default:
		str_addf(out, "type %u", body->type);
	}
	str_addc(out, '\n');
	return ++to->n == to->stop_after ? to->stop_code : 0;
}

#endif
