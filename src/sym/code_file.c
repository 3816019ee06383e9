/* SPDX-License-Identifier: MIT */
/*
 * code_file.c: see code_file.h.
 */
#include "sym/code_file.h"

#include "sym/processes.h"

#include <errno.h>
#include <unistd.h>

static bool is_trusted(const struct code_rules *rules, uint32_t user)
{
	return rules->anyone || !user || user == geteuid() ||
	       (rules->user_known && user == rules->user);
}

/* Whom it belongs to: the file or, where that one is not trusted, a link that leads to it. */
static uint32_t owner_of(const char *path, const struct code_rules *rules, const struct stat *st)
{
	struct stat link;

	if (foreign_root_bytes(path) || !is_trusted(rules, st->st_uid) || lstat(path, &link))
		return st->st_uid;
	return link.st_uid;
}

static int check_owner(const char *path, const struct code_rules *rules, const struct stat *st,
		       struct str *err)
{
	uint32_t owner = owner_of(path, rules, st);
	const char *process = "";
	char *user = NULL;

	if (is_trusted(rules, owner))
		return 0;
	if (rules->user_known)
		process = user = xasprintf(", nor by the process's user (%u)", rules->user);
	fail(err, -EPERM, "%s: owned by user %u, not by you (user %u) or root%s", path, owner,
	     (unsigned)geteuid(), process);
	free(user);
	return -EPERM;
}

static int check(int fd, const char *path, const struct code_rules *rules, const struct stat *st,
		 struct str *err)
{
	int64_t written_ns = timespec_ns(&st->st_mtim);
	int rc = check_owner(path, rules, st, err);

	if (rc)
		return rc;
	if (rules->mapped.inode && !mapped_file_is(&rules->mapped, fd, st, NULL))
		return fail(err, -ESTALE, "%s: not the file that was mapped", path);
	if (rules->not_before_ns && written_ns + PROCESS_CLOCK_SLACK_NS < rules->not_before_ns)
		return fail(err, -ESTALE,
			    "%s: of an earlier process: it was written before this one began", path);
	if (rules->not_after_ns && written_ns + PROCESS_CLOCK_SLACK_NS >= rules->not_after_ns)
		return fail(err, -ESTALE,
			    "%s: of a later process: another one has the number now, and has written it",
			    path);
	return 0;
}

int code_file_open(const char *path, const struct code_rules *rules, uint64_t bytes_max,
		   struct stat *st, struct str *err)
{
	const struct foreign_options options = {
		.bytes_max = bytes_max,
		.no_link = foreign_root_bytes(path) != 0,
	};
	struct str why = STR_INIT;
	int rc, fd = foreign_open(path, &options, st, &why);

	if (fd < 0)
		fail(err, fd, "%s: %s", path, why.s);
	str_release(&why);
	if (fd < 0)
		return fd;
	rc = check(fd, path, rules, st, err);
	if (!rc)
		return fd;
	close(fd);
	return rc;
}
