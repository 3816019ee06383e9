/* SPDX-License-Identifier: MIT */
/*
 * demangle: names of C++, Rust and D as people wrote them, by libiberty; of OCaml by demangle_ocaml.c.
 *
 * Without parameters what is printed for C++ and Rust is, letter by letter, what perf prints: "ns::Box<int>::sum",
 * without Rust's hash. What follows the mangled part ("foo.cold") is left out then, as there.
 *
 * Mangled names can be made that need more stack than there is, or whose text doubles with each of
 * their letters. libiberty bounds the depth of C++ and Rust, and D, where it bounds nothing, is looked at before. Text
 * is given up after TEXT_BYTES_MAX; where there is more of it than any but big templates have, the name has a second
 * try, of which all names together have so many that what they cost is a fraction of a second, and 64 MiB. Names whose
 * text is given up stay as they are in the file.
 *
 * libiberty's bound for C++ is that it refuses names of more than 1,024 letters, which big templates exceed: it takes
 * stack for each letter. Told not to, it gets a thread with as much stack as the letters can need at most.
 *
 * Source: D's ABI specification, "Name Mangling", for the back references of D.
 */
#include "sym/sym_internal.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>

/* libiberty.h declares functions that banned.h forbids; demangle.h needs nothing of it. */
#define LIBIBERTY_H
#include <libiberty/demangle.h>

#ifndef DMGL_NO_RECURSE_LIMIT
#define DMGL_NO_RECURSE_LIMIT (1 << 18) /* since binutils 2.32; before, there was no limit */
#endif

enum {
	SHORT_BYTES_MAX = 1024, /* DEMANGLE_RECURSION_LIMIT is of two parts for each letter */
	/* Several times what names take that are as deep as they are long; memory that is not touched costs nothing. */
	STACK_BYTES_PER_LETTER = 4096,
	STACK_BYTES_MORE = 1 << 20,
};
enum {
	RAW_BYTES_MAX = 64 << 10,
	TEXT_BYTES_MAX = 64 << 10,
	LONG_TEXT_BYTES_MAX = 256 << 10, /* of one of DEMANGLE_LONG_NAMES; takes libiberty a millisecond */
	D_EXPANDED_BYTES_MAX = 8 << 10,
};

/*
 * libiberty's D calls xmalloc and xrealloc. Its own lie in one object file, whose xmalloc would collide with
 * that of util/; so this one is here.
 */
void *xrealloc(void *old, size_t bytes);

void *xrealloc(void *old, size_t bytes)
{
	return xreallocarray(old, bytes, 1);
}

struct demangle_request {
	const char *raw;
	int options;
	size_t text_max;
	struct str *out;
	bool too_long; /* there was more text */
	bool done;
};

struct demangled {
	const struct demangle_request *request;
	size_t begin;
	jmp_buf too_long; /* the library has no other way to be stopped */
};

static void take_text(const char *text, size_t n, void *context)
{
	struct demangled *output = context;
	struct str *out = output->request->out;

	if (n > output->request->text_max - (out->len - output->begin))
		longjmp(output->too_long, 1);
	str_addn(out, text, n);
}

typedef int demangler(const char *mangled, int options, demangle_callbackref callback,
		      void *context);

static void cut_back(struct str *out, size_t len)
{
	out->len = len;
	if (out->cap)
		out->s[len] = '\0';
}

static bool by_callback(demangler *function, struct demangle_request *request, int more_options)
{
	struct demangled output = { .request = request, .begin = request->out->len };

	if (setjmp(output.too_long))
		request->too_long = true;
	else if (function(request->raw, request->options | more_options, take_text, &output) &&
		 request->out->len > output.begin)
		return true;
	cut_back(request->out, output.begin);
	return false;
}

static void *run_long(void *data)
{
	struct demangle_request *request = data;

	request->done = by_callback(cplus_demangle_v3_callback, request, DMGL_NO_RECURSE_LIMIT);
	return NULL;
}

/* false also where the thread can't be had. */
static bool by_thread(struct demangle_request *request, size_t len)
{
	pthread_attr_t attributes;
	pthread_t thread;

	if (pthread_attr_init(&attributes))
		return false;
	request->done = false;
	if (!pthread_attr_setstacksize(&attributes, STACK_BYTES_MORE + len * STACK_BYTES_PER_LETTER) &&
	    !pthread_create(&thread, &attributes, run_long, request))
		pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
	return request->done;
}

static bool by_cxx(struct demangle_request *request)
{
	size_t len = strlen(request->raw);

	if (strncmp(request->raw, "_Z", 2) || len <= SHORT_BYTES_MAX)
		return by_callback(cplus_demangle_v3_callback, request, 0);
	return by_thread(request, len);
}

/* Finds where a back reference at `at` ("Q", then the distance to base 26, its last digit small) leads; else at. */
static size_t d_target(const char *raw, size_t at)
{
	size_t distance = 0;

	for (size_t i = at + 1; distance < RAW_BYTES_MAX; i++) {
		bool last = raw[i] >= 'a' && raw[i] <= 'z';

		if (!last && !(raw[i] >= 'A' && raw[i] <= 'Z'))
			return at;
		distance = distance * 26 + (size_t)(raw[i] - (last ? 'a' : 'A'));
		if (last)
			return distance <= at ? at - distance : at;
	}
	return at;
}

/*
 * No more than this many bytes are read when back references are followed: one leads to a name, which has
 * no more of them, or to a type, which ends before it and has those in between.
 */
static bool d_is_small(const char *raw, size_t len)
{
	uint32_t sums[D_EXPANDED_BYTES_MAX + 1]; /* [i]: bytes read for raw[0 .. i) */

	if (len > D_EXPANDED_BYTES_MAX)
		return false;
	sums[0] = 0;
	for (size_t i = 0; i < len; i++) {
		size_t target = raw[i] == 'Q' ? d_target(raw, i) : i;
		bool to_name = raw[target] >= '0' && raw[target] <= '9';

		sums[i + 1] = sums[i] + 1;
		if (!to_name)
			sums[i + 1] += sums[i] - sums[target];
		if (sums[i + 1] > D_EXPANDED_BYTES_MAX)
			return false;
	}
	return true;
}

static bool by_d(const char *raw, struct str *out)
{
	char *text;
	bool any;

	if (strncmp(raw, "_D", 2) || !d_is_small(raw, strlen(raw)))
		return false;
	text = dlang_demangle(raw, DMGL_DLANG);
	any = text && text[0];
	if (any)
		str_add(out, text);
	free(text);
	return any;
}

static bool by_any(struct demangle_request *request)
{
	return by_callback(rust_demangle_callback, request, 0) || by_cxx(request) ||
	       by_d(request->raw, request->out);
}

static bool by_any_long(const char *raw, bool parameters, unsigned *long_names, struct str *out)
{
	struct demangle_request request = { .raw = raw,
				   .options = parameters ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS,
				   .text_max = TEXT_BYTES_MAX,
				   .out = out };

	if (by_any(&request))
		return true;
	if (!request.too_long || !long_names || !*long_names)
		return false;
	(*long_names)--;
	request.text_max = LONG_TEXT_BYTES_MAX;
	return by_any(&request);
}

/* "_Zxyz@plt", "_Zxyz@@VERSION": what follows the @ is no part of the mangled name. */
bool demangle(const char *raw, bool parameters, unsigned *long_names, struct str *out)
{
	size_t len = strnlen(raw, RAW_BYTES_MAX + 1);
	const char *at;
	char *front;
	bool done;

	if (len > RAW_BYTES_MAX)
		return false;
	if (raw[0] != '_')
		return demangle_ocaml(raw, out);
	at = strchr(raw, '@');
	if (!at)
		return by_any_long(raw, parameters, long_names, out);
	front = xstrndup(raw, (size_t)(at - raw));
	done = by_any_long(front, parameters, long_names, out);
	if (done && !strcmp(at, "@plt"))
		str_add(out, at);
	free(front);
	return done;
}
