/*
 * record_lines.c: what a dump's line says of a record behind its name, where that is more than its fields:
 * the functions in the rows of records[] in record.c. Their words are those that perf's users search for.
 */
#include "data/decode.h"

typedef unsigned long long ull;

static void text_print(const char *text, struct str *out)
{
	if (text)
		str_add_printable(out, text, strlen(text));
}

void mmap_print(const struct record_body *body, struct str *out)
{
	const struct record_mmap *m = &body->mmap;

	str_addf(out, " %d/%d: [%#llx(%#llx) @ ", (int)m->pid, (int)m->tid, (ull)m->start,
		 (ull)m->len);
	str_addf(out, m->pgoff ? "%#llx" : "%llu", (ull)m->pgoff);
	if (body->type == RECORD_MMAP) {
		str_addf(out, "]: %c ", body->misc & MISC_MMAP_DATA ? 'r' : 'x');
		text_print(m->path, out);
		return;
	}
	if (body->misc & MISC_MMAP_BUILD_ID) {
		str_add(out, " <");
		for (unsigned i = 0; i < m->build_id_size; i++)
			str_addf(out, "%02x", m->build_id[i]);
		str_addc(out, '>');
	} else {
		str_addf(out, " %02x:%02x %llu %llu", m->major, m->minor, (ull)m->inode,
			 (ull)m->inode_generation);
	}
	/* PROT_READ 1, PROT_WRITE 2, PROT_EXEC 4; MAP_SHARED 1 */
	str_addf(out, "]: %c%c%c%c ", m->prot & 1 ? 'r' : '-', m->prot & 2 ? 'w' : '-',
		 m->prot & 4 ? 'x' : '-', m->flags & 1 ? 's' : 'p');
	text_print(m->path, out);
}

void comm_print(const struct record_body *body, struct str *out)
{
	str_add(out, body->misc & MISC_COMM_EXEC ? " exec: " : ": ");
	text_print(body->comm.comm, out);
	str_addf(out, ":%d/%d", (int)body->comm.pid, (int)body->comm.tid);
}

void task_print(const struct record_body *body, struct str *out)
{
	const struct record_task *t = &body->task;

	str_addf(out, "(%d:%d):(%d:%d)", (int)t->pid, (int)t->tid, (int)t->ppid, (int)t->ptid);
}

void sample_line_print(const struct record_body *body, struct str *out)
{
	const struct sample *s = &body->sample;

	str_addf(out, "(IP, %#x): %d/%d: %#llx period: %llu addr: %#llx", body->misc, (int)s->pid,
		 (int)s->tid, (ull)s->ip, (ull)s->period, (ull)s->addr);
	sample_print(s, out);
}

void switch_print(const struct record_body *body, struct str *out)
{
	bool out_of_cpu = body->misc & MISC_SWITCH_OUT;
	bool preempted = body->misc & MISC_SWITCH_OUT_PREEMPT;

	str_addf(out, " %-11s", !out_of_cpu ? "IN" : preempted ? "OUT preempt" : "OUT");
	if (body->type == RECORD_SWITCH_CPU_WIDE)
		str_addf(out, "  %s pid/tid: %5d/%-5d", out_of_cpu ? "next" : "prev",
			 (int)body->sched.other_pid, (int)body->sched.other_tid);
}

void namespaces_print(const struct record_body *body, struct str *out)
{
	static const char *const names[] = { "net", "uts", "ipc", "pid", "user", "mnt", "cgroup" };
	const struct record_words *links = &body->namespaces.links;

	str_addf(out, " %d/%d - nr_namespaces: %llu [", (int)body->namespaces.pid,
		 (int)body->namespaces.tid, (ull)links->n);
	for (uint64_t i = 0; i < links->n; i++)
		str_addf(out, "%s%llu/%s: %#llx/%#llx", i ? ", " : "", (ull)i,
			 i < ARRAY_SIZE(names) ? names[i] : "unknown", (ull)links->v[2 * i],
			 (ull)links->v[2 * i + 1]);
	str_addc(out, ']');
}

void id_index_print(const struct record_body *body, struct str *out)
{
	const struct record_words *rows = &body->id_index;

	str_addf(out, " nr: %llu", (ull)rows->n);
	for (uint64_t i = 0; i < rows->n; i++)
		str_addf(out, "\n ... id: %llu  idx: %llu  cpu: %lld  tid: %lld",
			 (ull)rows->v[4 * i], (ull)rows->v[4 * i + 1],
			 (long long)rows->v[4 * i + 2], (long long)rows->v[4 * i + 3]);
}

void stat_config_print(const struct record_body *body, struct str *out)
{
	static const char *const tags[] = { "aggr_mode", "interval", "scale", "aggr_level" };
	const struct record_words *rows = &body->stat_config;

	for (uint64_t i = 0; i < rows->n; i++) {
		uint64_t tag = rows->v[2 * i];

		if (tag < ARRAY_SIZE(tags))
			str_addf(out, "\n... %s ", tags[tag]);
		else
			str_addf(out, "\n... tag %llu ", (ull)tag);
		str_addf(out, "%llu", (ull)rows->v[2 * i + 1]);
	}
}

void feature_record_print(const struct record_body *body, struct str *out)
{
	uint64_t id = body->feature.feature;
	const char *name = id < FEATURE_BITS ? feature_name((unsigned)id) : NULL;

	str_addf(out, " %s (%llu), %llu bytes", name ? name : "unknown", (ull)id,
		 (ull)body->feature.bytes.n);
}
