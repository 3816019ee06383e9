/* SPDX-License-Identifier: MIT */
/*
 * The border between a caller and a library that may be of different ages: structs that begin with their
 * size, sentences, and which version this is.
 */
#include "count/lib.h"

#include <errno.h>

const char *pstat_version(void)
{
	return PSTAT_VERSION;
}

int lib_error(struct pstat_error *error, int code, const char *text)
{
	const size_t before = offsetof(struct pstat_error, text);
	size_t room, n = strlen(text);

	if (!error || error->size <= before)
		return code;
	room = (error->size < sizeof(*error) ? error->size : sizeof(*error)) - before;
	n = n < room ? n : room - 1;
	error->code = code;
	memcpy(error->text, text, n);
	error->text[n] = '\0';
	return code;
}

int lib_take_struct(void *own, size_t own_bytes, const void *given)
{
	size_t given_bytes = 0;

	memset(own, 0, own_bytes);
	if (!given)
		return 0;
	memcpy(&given_bytes, given, sizeof(given_bytes));
	if (given_bytes < sizeof(given_bytes))
		return -EINVAL;
	for (size_t i = own_bytes; i < given_bytes; i++)
		if (((const char *)given)[i])
			return -E2BIG;
	memcpy(own, given, given_bytes < own_bytes ? given_bytes : own_bytes);
	return 0;
}

void lib_give_struct(void *to, size_t to_bytes, const void *own, size_t own_bytes)
{
	size_t n = to_bytes < own_bytes ? to_bytes : own_bytes;

	if (n > sizeof(size_t))
		memcpy((char *)to + sizeof(size_t), (const char *)own + sizeof(size_t), n - sizeof(size_t));
}

const char *pstat_state_name(enum pstat_state state)
{
	static const char *const names[] = {
		[PSTAT_COUNTED] = "counted",
		[PSTAT_SCALED] = "scaled",
		[PSTAT_LOWER_BOUND] = "lower bound",
		[PSTAT_NOT_COUNTED] = "not counted",
		[PSTAT_NOT_SUPPORTED] = "not supported",
		[PSTAT_READ_FAILED] = "read failed",
	};

	return (size_t)state < ARRAY_SIZE(names) ? names[state] : "unknown";
}
