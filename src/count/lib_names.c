/* SPDX-License-Identifier: MIT */
/*
 * Names of addresses: sym/live_names.c in memory scopes. What is read is a piece by itself until nothing can fail any
 * more.
 */
#include "count/lib.h"
#include "sym/sym.h"

#include <errno.h>

struct pstat_names {
	struct live_names *live;
};

static int new_body(void *data, struct str *err)
{
	struct pstat_names **names = data;

	(void)err;
	*names = xcalloc(1, sizeof(**names));
	(*names)->live = live_names_new();
	return 0;
}

int pstat_names_new(struct pstat_names **names, struct pstat_error *error)
{
	struct pstat_names *new = NULL;
	int rc = names ? lib_run(new_body, &new, error) : lib_error(error, -EINVAL, "there is no place for the names");

	if (names)
		*names = rc ? NULL : new;
	return rc;
}

void pstat_names_free(struct pstat_names *names)
{
	if (!names)
		return;
	live_names_free(names->live);
	free(names);
}

struct names_call {
	const struct live_names *live;
	struct live_question question;
	struct live_piece *piece;
};

static int read_body(void *data, struct str *err)
{
	struct names_call *call = data;

	return live_names_read(call->live, &call->question, &call->piece, err);
}

int pstat_name_of(struct pstat_names *names, int pid, uint64_t address, struct pstat_name *name,
		  struct pstat_error *error)
{
	struct names_call call = { .question = { .pid = pid, .address = address } };
	struct live_name found;
	struct pstat_name all;

	if (!names || !name || name->size <= sizeof(name->size) || pid < 0)
		return lib_error(error, -EINVAL, "there are no names, no such process, or no place for the name");
	call.live = names->live;
	while (!live_names_find(names->live, &call.question, &found)) {
		int rc = lib_run(read_body, &call, error);

		if (rc < 0)
			return rc;
		live_names_put(names->live, &call.question, call.piece);
	}
	all = (struct pstat_name){
		.function = found.function,
		.offset = found.offset,
		.file = found.file,
		.file_address = found.file_address,
		.reason = found.reason,
	};
	lib_give_struct(name, name->size, &all, sizeof(all));
	return found.function != NULL;
}

void pstat_names_forget(struct pstat_names *names, int pid)
{
	if (names)
		live_names_forget(names->live, pid);
}
