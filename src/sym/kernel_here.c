/* SPDX-License-Identifier: MIT */
/*
 * kernel_here: is the kernel that runs now the one that was recorded? Then its /proc/kallsyms has the names.
 *
 * The build-id decides where the recording has it: it is in a note that the kernel shows in /sys/kernel/notes.
 * Without it, release and host name have to be the same.
 *
 * Sources: proc(5), sysfs(5); kernel/kallsyms.c of Linux on who sees addresses.
 */
#include "sym/dso_names.h"
#include "sym/text_lines.h"

#include <stdlib.h>
#include <unistd.h>

enum { NOTE_ALIGN = 4 }; /* of the kernel's notes */

struct kernel_here {
	struct build_id id;
	struct str release, hostname; /* empty: not known */
};

char *procfs_path(const struct symbols *symbols, const char *name)
{
	const char *procfs = symbols->options.procfs ? symbols->options.procfs : "/proc";

	return xasprintf("%s/%s", procfs, name);
}

static void read_line(const struct symbols *symbols, const char *name, struct str *out)
{
	char *path = procfs_path(symbols, name);

	read_line_file(path, out);
	free(path);
}

static const struct kernel_here *kernel_here(struct symbols *symbols)
{
	const char *sysfs = symbols->options.sysfs ? symbols->options.sysfs : "/sys";
	struct kernel_here *here = symbols->here;
	struct str notes = STR_INIT;
	char *path;

	if (here)
		return here;
	here = symbols->here = xcalloc(1, sizeof(*here));
	str_init(&here->release);
	str_init(&here->hostname);
	read_line(symbols, "sys/kernel/osrelease", &here->release);
	read_line(symbols, "sys/kernel/hostname", &here->hostname);
	path = xasprintf("%s/kernel/notes", sysfs);
	if (!read_text_file(path, &notes))
		elf_build_id_of_notes(notes.s, notes.len, NOTE_ALIGN, &here->id);
	free(path);
	str_release(&notes);
	return here;
}

const struct build_id *kernel_here_id(struct symbols *symbols)
{
	return &kernel_here(symbols)->id;
}

void kernel_here_free(struct kernel_here *here)
{
	if (!here)
		return;
	str_release(&here->release);
	str_release(&here->hostname);
	free(here);
}

static bool differ(const char *recorded, const struct str *now)
{
	return recorded && now->len && strcmp(recorded, now->s) != 0;
}

bool kernel_is_here(struct symbols *symbols, const struct build_id *id, struct str *why)
{
	const struct kernel_here *here = kernel_here(symbols);
	const struct info *info = symbols->recording->info;
	const char *symfs = symbols->options.symfs;

	/* A tree that stands for another machine has no kernel that runs. */
	if (symfs && symfs[0] && strcmp(symfs, "/") != 0) {
		str_add(why, "with --symfs the running kernel's names are not used");
		return false;
	}
	if (id->size && here->id.size) {
		if (build_id_same(id, &here->id))
			return true;
		str_add(why, "of another kernel than the running one: the recording has build-id ");
		build_id_text(id, why);
		return false;
	}
	if (differ(info->os_release, &here->release)) {
		str_addf(why, "of another kernel than the running one: it was recorded on Linux %s",
			 info->os_release);
		return false;
	}
	if (differ(info->hostname, &here->hostname)) {
		str_addf(why, "of another machine's kernel: it was recorded on %s", info->hostname);
		return false;
	}
	return true;
}

/* Lines of modules: "ext4 1081344 1 - Live 0xffffffffc0201000". Who may not see addresses reads 0. */
uint64_t module_in_list(const char *path, const char *name)
{
	struct str text = STR_INIT;
	size_t len = strlen(name);
	uint64_t addr = 0;

	read_line_file(path, &text);
	for (const char *line = text.s; line && *line; line = strchr(line, '\n')) {
		size_t n;
		const char *hex;

		line += *line == '\n';
		n = strcspn(line, "\n");
		hex = memmem(line, n, " 0x", 3);
		if (hex && !strncmp(line, name, len) && line[len] == ' ') {
			hex += 3;
			if (!text_hex(&hex, &addr))
				addr = 0;
			break;
		}
	}
	str_release(&text);
	return addr;
}

uint64_t module_here(const struct symbols *symbols, const char *name)
{
	char *path = procfs_path(symbols, "modules");
	uint64_t addr = module_in_list(path, name);

	free(path);
	return addr;
}

/* Reads a setting that decides who sees addresses; one that is unreadable counts as the strictest. */
static long setting(const struct symbols *symbols, const char *name)
{
	struct str text = STR_INIT;
	long value;

	read_line(symbols, name, &text);
	if (parse_int(text.s, -1, 4, &value))
		value = 4;
	str_release(&text);
	return value;
}

const char *kallsyms_remedy(const struct symbols *symbols)
{
	long restricted = setting(symbols, "sys/kernel/kptr_restrict");

	if (restricted >= 2 || geteuid() == 0)
		return "sysctl kernel.kptr_restrict=0";
	if (restricted == 1)
		return "sudo, or sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1";
	return "sudo, or sysctl kernel.perf_event_paranoid=1";
}
