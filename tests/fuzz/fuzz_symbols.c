/* SPDX-License-Identifier: MIT */
/*
 * fuzz_symbols: any bytes as the names that are in a recording itself (feature SYMBOLS). Also as what is in it once it
 * is unpacked, so that what lies behind the packing is reached. The claim: no crash, no sanitizer report, no endless
 * loop; memory bounded.
 */
#include "sym/embedded_names.h"

#include "sym/code_times.h"
#include "sym/dso_names.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const struct embedded_dso *dso)
{
	struct dwarf_inline inlines[EMBEDDED_DEPTH_MAX + 1];

	for (size_t i = 0; i < dso->n_addrs; i++) {
		const struct embedded_addr *addr = &dso->addrs[i];

		if (!embedded_addr_find(dso, addr->addr) || addr->function1 > dso->n_functions)
			abort();
		if (embedded_inlines(dso, addr, true, inlines, ARRAY_SIZE(inlines)) > ARRAY_SIZE(inlines))
			abort();
	}
	for (size_t i = 0; i < dso->n_functions; i++) {
		const struct embedded_function *function = &dso->functions[i];

		bool nameless = function->kind & EMBEDDED_NAMELESS;

		if (function->end < function->start || !embedded_function_at(dso, function->start, nameless) ||
		    (size_t)function->alias + function->n_aliases > dso->n_aliases)
			abort();
	}
}

static void read_dso(struct embedded_names *names, const struct embedded_dso *recorded)
{
	char *path = xstrdup(recorded->path);
	struct dso dso = { .kind = recorded->kind, .path = path, .name = path, .pid = recorded->pid,
			   .build_id = recorded->build_id, .start = recorded->start };
	uint64_t pages_left = 256;
	struct str why = STR_INIT;
	struct embedded_dso *found = embedded_names_find(names, &dso, &why);

	if (!found && !why.len)
		abort();
	if (found) {
		ask(found);
		embedded_image_path(found, &pages_left, &why);
		embedded_image_close(found);
	}
	str_release(&why);
	free(path);
}

static void read_all(const void *bytes, size_t n)
{
	struct embedded_names *names;
	struct str err = STR_INIT;
	int rc = embedded_names_open(&names, bytes, n, &err);

	if (!!rc != !!err.len || !!rc != !names)
		abort();
	for (size_t i = 0; names && embedded_names_at(names, i); i++)
		read_dso(names, embedded_names_at(names, i));
	embedded_names_free(names);
	str_release(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str plain = STR_INIT;

	read_all(data, size);
	str_addc(&plain, EMBEDDED_VERSION);
	str_addc(&plain, 0);
	put_number(&plain, size);
	str_addn(&plain, (const char *)data, size);
	read_all(plain.s, plain.len);
	str_release(&plain);
	return 0;
}
