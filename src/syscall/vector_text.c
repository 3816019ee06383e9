/* SPDX-License-Identifier: MIT */
/*
 * vector_text.c: arrays of buffers, and messages with a socket's address and such an array, in the layout of
 * socket_address.c. The bytes are what bpf/texts.bpf.c has made of the thread's memory:
 *
 *   a message:  bytes 0 to 39   addresses of the socket's address and of the control data, length of that, address of
 *                               the array, number of its elements: 8 bytes each
 *                     40 to 47  length of the address, flags: 4 bytes each
 *                     48 to 55  how many bytes of the address were read, nothing
 *                     56 to 183 the socket's address; then the array
 *   an element: bytes 0 to 15   address and length of the buffer
 *                     16 to 19  how many of its bytes are valid; all bits: they could not be read
 *                     20 to 23  how many of them follow, and fill a whole number of 8 bytes
 *
 * What is read may be anything: lengths are held against what there is.
 */
#include "syscall/line.h"

#include <inttypes.h>

enum { ELEMENT_BYTES = 24, MESSAGE_BYTES = 184, ADDRESS_AT = 56 };
static const uint32_t not_read = UINT32_MAX;

/* Adds { .base: "abc"..., len: 7 }, and returns how many bytes it takes of n, which are ELEMENT_BYTES at least. */
static size_t add_element(const uint8_t *bytes, size_t n, bool swap, struct str *out)
{
	const uint64_t address = syscall_load(bytes, 8, swap), valid = syscall_load(bytes + 16, 4, swap);
	size_t there = (size_t)syscall_load(bytes + 20, 4, swap);

	if (there > n - ELEMENT_BYTES)
		there = n - ELEMENT_BYTES;
	str_add(out, "{ .base: ");
	if (!address) {
		str_add(out, "NULL");
	} else if (valid == not_read) {
		line_add_hex(out, address);
	} else {
		line_add_text(out, (const char *)bytes + ELEMENT_BYTES, there, "\"\"");
		str_add(out, valid > there ? "..." : "");
	}
	str_addf(out, ", len: %" PRIu64 " }", syscall_load(bytes + 8, 8, swap));
	return ELEMENT_BYTES + (there + 7) / 8 * 8;
}

static void add_pointer(uint64_t address, struct str *out)
{
	if (address)
		line_add_hex(out, address);
	else
		str_add(out, "NULL");
}

/* The array is an address where none of it could be read. */
static void add_elements(uint64_t array, const char *bytes, size_t n, bool goes_on, bool swap, struct str *out)
{
	size_t at = 0;

	if (goes_on && n < ELEMENT_BYTES) {
		add_pointer(array, out);
		return;
	}
	str_addc(out, '[');
	while (at < n && n - at >= ELEMENT_BYTES) {
		str_add(out, at ? ", " : "");
		at += add_element((const uint8_t *)bytes + at, n - at, swap, out);
	}
	if (goes_on)
		str_add(out, at ? ", ..." : "...");
	str_addc(out, ']');
}

bool syscall_vector_add(const struct syscall_text *text, bool swap, struct str *out)
{
	if (text->kind != TEXT_VECTOR && text->kind != TEXT_VECTOR_LATE)
		return false;
	add_elements(text->address, text->bytes, text->len, text->goes_on, swap, out);
	return true;
}

static void add_name(const struct syscall_words *words, const uint8_t *bytes, bool swap, struct str *out)
{
	const uint64_t len = syscall_load(bytes + 40, 4, swap);
	uint64_t there = syscall_load(bytes + 48, 4, swap);
	struct syscall_text name = { .kind = TEXT_BYTES, .bytes = (const char *)bytes + ADDRESS_AT };

	if (there > MESSAGE_BYTES - ADDRESS_AT)
		there = MESSAGE_BYTES - ADDRESS_AT;
	name.len = (size_t)there;
	name.goes_on = len > there;
	str_add(out, "{ .name: ");
	if (there)
		syscall_address_add(words, &name, swap, out);
	else
		add_pointer(syscall_load(bytes, 8, swap), out);
	str_addf(out, ", namelen: %" PRId32, (int32_t)len);
}

bool syscall_message_add(const struct syscall_words *words, const struct syscall_text *text, bool swap,
			 struct str *out)
{
	const uint8_t *bytes = (const uint8_t *)text->bytes;
	uint64_t flags;

	if ((text->kind != TEXT_MESSAGE && text->kind != TEXT_MESSAGE_LATE) || text->len < MESSAGE_BYTES)
		return false;
	flags = syscall_load(bytes + 44, 4, swap);
	add_name(words, bytes, swap, out);
	str_add(out, ", iov: ");
	add_elements(syscall_load(bytes + 24, 8, swap), text->bytes + MESSAGE_BYTES, text->len - MESSAGE_BYTES,
		     text->goes_on, swap, out);
	str_addf(out, ", iovlen: %" PRIu64 ", control: ", syscall_load(bytes + 32, 8, swap));
	add_pointer(syscall_load(bytes + 8, 8, swap), out);
	str_addf(out, ", controllen: %" PRIu64 ", flags: ", syscall_load(bytes + 16, 8, swap));
	syscall_words_add(words, syscall_kind_find(words, "msg", strlen("msg"), false), flags, out);
	str_add(out, " }");
	return true;
}
