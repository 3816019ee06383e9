/* SPDX-License-Identifier: MIT */
/*
 * socket_address.c: addresses of sockets as the kernel takes and gives them, in perf trace's layout: a family of two
 * bytes, then what that family has, by sockaddr(3type). Families without a row, and addresses that are too short for
 * theirs, have their bytes as "data". Whoever made the call may have put anything there.
 */
#include "syscall/line.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <sys/socket.h>

enum { FAMILY_BYTES = 2, PORT_BYTES = 2 };

static void add_port(const uint8_t *port, struct str *out)
{
	str_addf(out, ", port: %u", (unsigned)(port[0] << 8 | port[1]));
}

static void add_inet(const uint8_t *bytes, size_t n, bool swap, struct str *out)
{
	char text[INET_ADDRSTRLEN];

	(void)n, (void)swap;
	add_port(bytes, out);
	str_addf(out, ", addr: %s", inet_ntop(AF_INET, bytes + PORT_BYTES, text, sizeof(text)));
}

/* Port, flow, address, scope. */
static void add_inet6(const uint8_t *bytes, size_t n, bool swap, struct str *out)
{
	const uint64_t scope = syscall_load(bytes + 22, 4, swap);
	char text[INET6_ADDRSTRLEN];

	(void)n;
	add_port(bytes, out);
	str_addf(out, ", addr: %s", inet_ntop(AF_INET6, bytes + PORT_BYTES + 4, text, sizeof(text)));
	if (scope)
		str_addf(out, ", scope: %" PRIu64, scope);
}

/* A path that ends with NUL or with the address; a name in no filesystem has NUL in front, which is printed as @. */
static void add_unix(const uint8_t *bytes, size_t n, bool swap, struct str *out)
{
	const char *path = (const char *)bytes;
	const bool is_abstract = n && !*path;

	(void)swap;
	if (!n)
		return;
	str_add(out, ", path: ");
	if (is_abstract)
		str_addc(out, '@');
	line_add_text(out, path + is_abstract, is_abstract ? n - 1 : strnlen(path, n), "\"\"");
}

/* Two bytes that are not used, the port's number, groups. */
static void add_netlink(const uint8_t *bytes, size_t n, bool swap, struct str *out)
{
	(void)n;
	str_addf(out, ", pid: %" PRIu64 ", groups: %#" PRIx64, syscall_load(bytes + 2, 4, swap),
		 syscall_load(bytes + 6, 4, swap));
}

/* To add a family: a row, a function that gets what follows the family, a case in test_socket_addresses. */
static const struct family {
	unsigned number;
	size_t least_bytes; /* after the family */
	void (*add)(const uint8_t *bytes, size_t n, bool swap, struct str *out);
} families[] = {
	{ AF_INET, PORT_BYTES + 4, add_inet },
	{ AF_INET6, PORT_BYTES + 4 + 16 + 4, add_inet6 },
	{ AF_UNIX, 0, add_unix },
	{ AF_NETLINK, 2 + 4 + 4, add_netlink },
};

static const struct family *find_family(uint64_t number, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (families[i].number == number && n >= families[i].least_bytes)
			return &families[i];
	return NULL;
}

void syscall_address_add(const struct syscall_words *words, const struct syscall_text *text, bool swap,
			 struct str *out)
{
	const uint8_t *bytes = (const uint8_t *)text->bytes;
	const size_t n = text->len < FAMILY_BYTES ? 0 : text->len - FAMILY_BYTES;
	const struct family *family;
	uint64_t number;

	if (text->len < FAMILY_BYTES) {
		line_add_text(out, text->bytes, text->len, "\"\"");
	} else {
		number = syscall_load(bytes, FAMILY_BYTES, swap);
		family = find_family(number, n);
		str_add(out, "{ .family: ");
		syscall_words_add(words, syscall_kind_find(words, "family", strlen("family"), false), number, out);
		if (family) {
			family->add(bytes + FAMILY_BYTES, n, swap, out);
		} else if (n) {
			str_add(out, ", data: ");
			line_add_text(out, text->bytes + FAMILY_BYTES, n, "\"\"");
		}
		str_add(out, " }");
	}
	if (text->goes_on)
		str_add(out, "...");
}
