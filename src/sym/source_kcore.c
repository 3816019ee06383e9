/* SPDX-License-Identifier: MIT */
/*
 * source_kcore: the code of a kernel and its modules as it was patched while it ran: /proc/kcore of the running kernel,
 * the copy that belongs to the recording (record --kcore), or one of those that the cache of files keeps
 * (cache_kcore.c), which may be of another boot.
 *
 *	the running kernel is the recorded one --> /proc/kcore --can't be read--> a copy
 *	it is another one                      -------------------------------> a copy
 *
 * A copy fits a module if it has that module where it was recorded; the kernel if the symbol by which the recording
 * tells where the kernel lay is there, or else if it is anywhere, as all of a kernel's code moves together.
 *
 * Source of kcore's layout: fs/proc/kcore.c of Linux: an ELF core file whose segments are the kernel's memory.
 */
#include "sym/cached_files.h"
#include "sym/dso_names.h"
#include "sym/kallsyms.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { KCORE_SEGMENTS_MAX = 32768 };

/* ---- one kcore ---- */

static bool read_whole(int fd, void *bytes, size_t n, uint64_t at)
{
	return at <= INT64_MAX && pread(fd, bytes, n, (off_t)at) == (ssize_t)n;
}

/* Reads as many of out->n bytes as the segment has. */
static int read_code(int fd, uint64_t vaddr, struct symbol_code *out)
{
	Elf64_Ehdr head;
	Elf64_Phdr segment;

	if (!read_whole(fd, &head, sizeof(head), 0) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof(segment))
		return -EINVAL;
	for (unsigned i = 0; i < head.e_phnum && i < KCORE_SEGMENTS_MAX; i++) {
		ssize_t got;
		uint64_t into;

		if (!read_whole(fd, &segment, sizeof(segment), head.e_phoff + i * sizeof(segment)))
			return -EINVAL;
		into = vaddr - segment.p_vaddr;
		if (segment.p_type != PT_LOAD || vaddr < segment.p_vaddr || into >= segment.p_filesz ||
		    segment.p_offset > INT64_MAX - into)
			continue;
		got = pread(fd, out->bytes, segment.p_filesz - into < out->n ? segment.p_filesz - into : out->n,
			    (off_t)(segment.p_offset + into));
		if (got <= 0)
			return got < 0 ? -errno : -ENODATA;
		out->n = (size_t)got;
		out->machine = head.e_machine;
		return 0;
	}
	return -ENODATA;
}

static int read_kcore(const char *path, uint64_t vaddr, struct symbol_code *out)
{
	const struct foreign_options options = { .kernel_file = true };
	struct str ignored = STR_INIT;
	struct stat st;
	int fd = foreign_open(path, &options, &st, &ignored), rc = fd < 0 ? fd : read_code(fd, vaddr, out);

	if (fd >= 0)
		close(fd);
	if (!rc)
		symbol_code_set_from(out, path);
	str_release(&ignored);
	return rc;
}

/* ---- which copy ---- */

struct copy_search {
	const struct dso *dso;
	bool anywhere; /* the kernel may have lain elsewhere */
	uint64_t slide; /* by how much the recorded kernel was moved against that copy */
	char *folder; /* of the copy that fits; NULL: none so far */
};

static bool has_module(const struct dso *dso, const char *folder)
{
	char *path = xasprintf("%s/modules", folder), *name = module_name_of(dso->path);
	bool has = module_in_list(path, name) == dso->start && dso->start;

	free(path);
	free(name);
	return has;
}

static bool copy_fits(struct copy_search *search, const char *folder)
{
	const struct dso *dso = search->dso;
	struct kallsyms_list list;
	uint64_t listed;
	char *path;

	if (dso->kind == DSO_MODULE)
		return has_module(dso, folder);
	if (!dso->ref_symbol || !dso->ref_addr)
		return search->anywhere;
	path = xasprintf("%s/kallsyms", folder);
	kallsyms_list_read(&list, path, dso->ref_symbol);
	listed = list.ref_addr;
	kallsyms_list_release(&list);
	free(path);
	search->slide = dso->ref_addr - listed;
	return listed && (search->anywhere || !search->slide);
}

static int look_at_copy(void *context, const struct cache_kcore *kcore)
{
	struct copy_search *search = context;

	if (copy_fits(search, kcore->path))
		search->folder = xstrdup(kcore->path);
	return search->folder != NULL;
}

/* The newest copy that fits. */
char *kcore_copy_of(struct symbols *symbols, const struct dso *dso, uint64_t *slide)
{
	struct build_id id = recorded_kernel_id(symbols, dso);
	struct copy_search search = { .dso = dso };
	const char *own = symbols->options.kcore_dir;

	if (own && copy_fits(&search, own))
		search.folder = xstrdup(own);
	else
		cached_kcores(symbols->cached, &id, look_at_copy, &search);
	search.anywhere = true;
	if (!search.folder && dso->kind == DSO_KERNEL)
		cached_kcores(symbols->cached, &id, look_at_copy, &search);
	*slide = dso->ref_symbol && dso->ref_addr && dso->kind == DSO_KERNEL ? search.slide : 0;
	return search.folder;
}

struct kcore_source {
	char *folder; /* of the copy; NULL: there is none */
	uint64_t slide;
};

static int of_copy(struct symbols *symbols, const struct dso *dso, struct names_slot *slot, uint64_t addr,
		   struct symbol_code *out)
{
	struct kcore_source *source = slot->state;
	char *path;
	int rc;

	if (!source) {
		source = slot->state = xcalloc(1, sizeof(*source));
		source->folder = kcore_copy_of(symbols, dso, &source->slide);
	}
	if (!source->folder)
		return -ENOENT;
	path = xasprintf("%s/kcore", source->folder);
	rc = read_kcore(path, addr - source->slide, out);
	free(path);
	return rc;
}

static void release(void *state)
{
	struct kcore_source *source = state;

	free(source->folder);
	free(source);
}

/* The names are from the list of the kernel that runs, and that is the recorded one. */
static bool is_running(struct symbols *symbols, const struct dso_names *names, struct str *why)
{
	struct build_id id = recorded_kernel_id(symbols, names->dso);
	char *list = procfs_path(symbols, "kallsyms");
	bool running = text_same(names->origin, list) && kernel_is_here(symbols, &id, why);

	free(list);
	return running;
}

static int code(struct symbols *symbols, struct dso_names *names, struct names_slot *slot, uint64_t addr,
		uint32_t number, struct symbol_code *out, struct str *why)
{
	const struct names_table *table = dso_names_table(names);
	/* Modules are where they were, or their names are not from the list. */
	uint64_t listed = addr - (table ? table->slide : 0);
	bool is_here = is_running(symbols, names, why);
	char *path = procfs_path(symbols, "kcore");
	int rc = is_here ? read_kcore(path, listed, out) : -ENOENT;

	(void)number;
	if (rc && !of_copy(symbols, names->dso, slot, addr, out))
		rc = 0;
	else if (rc && is_here)
		fail(why, rc, "%s %s; -k with that kernel's vmlinux has the code too", path,
		     rc == -ENOENT                   ? "does not exist"
		     : rc == -EACCES || rc == -EPERM ? "can be read by root only"
						     : "does not have it");
	else if (rc)
		fail(why, rc, "%sno file with its code was found; use -k with that kernel's vmlinux",
		     why->len ? ": " : "");
	out->shown = listed;
	free(path);
	return rc;
}

const struct names_source source_kcore = {
	.kinds = NAMES_OF_KERNELS, .code = code, .release = release,
};
