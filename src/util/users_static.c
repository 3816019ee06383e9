/* SPDX-License-Identifier: MIT */
/*
 * users in the static file, in place of users.c: those of /etc/passwd. The name service would load libraries, and ask
 * servers by them.
 *
 * Source: fgetpwent(3).
 */
#include "util/util.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>

#define USERS_FILE "/etc/passwd"

int user_find(const char *name, uid_t *uid, struct str *err)
{
	FILE *file = fopen(USERS_FILE, "re");
	const struct passwd *user;

	if (!file)
		return fail(err, -EINVAL, USERS_FILE ": %s", strerror(errno));
	while ((user = fgetpwent(file)) != NULL && strcmp(user->pw_name, name))
		;
	if (user)
		*uid = user->pw_uid;
	fclose(file);
	if (user)
		return 0;
	return fail(err, -EINVAL, USERS_FILE " has none of this name, and this static file asks nobody else");
}

void users_each(void (*take)(void *context, const struct passwd *user), void *context)
{
	FILE *file = fopen(USERS_FILE, "re");
	const struct passwd *user;

	while (file && (user = fgetpwent(file)) != NULL)
		take(context, user);
	if (file)
		fclose(file);
}
