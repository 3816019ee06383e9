/* SPDX-License-Identifier: MIT */
/*
 * users: names of users, by the C library's name service, which may ask servers.
 *
 * Source: getpwnam(3), getpwent(3).
 */
#include "util/util.h"

#include <errno.h>
#include <pwd.h>

int user_find(const char *name, uid_t *uid, struct str *err)
{
	const struct passwd *user = getpwnam(name);

	if (!user)
		return fail(err, -EINVAL, "there is no user with this name");
	*uid = user->pw_uid;
	return 0;
}

void users_each(void (*take)(void *context, const struct passwd *user), void *context)
{
	const struct passwd *user;

	setpwent();
	while ((user = getpwent()) != NULL)
		take(context, user);
	endpwent();
}
