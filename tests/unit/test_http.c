/* SPDX-License-Identifier: MIT */
/*
 * The exporter's HTTP server, over socket pairs and a clock that the tests move: nothing here waits for a time.
 */
#include "exporter/exporter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { CONNECTIONS = 16, BIG = 4000000 };
#define SECOND NS_PER_S

static size_t n_rendered, body_bytes;

static void render(void *data, enum exposition_format format, struct str *body)
{
	(void)data;
	n_rendered++;
	str_add(body, format == EXPOSITION_OPENMETRICS ? "open\n" : "text\n");
	str_pad(body, 'x', body_bytes);
}

static int begin(void **state)
{
	n_rendered = body_bytes = 0;
	*state = http_server_new(-1, render, NULL);
	return 0;
}

static int end(void **state)
{
	http_server_free(*state);
	return 0;
}

/* A client's end of a new connection. */
static int connect_to(struct http_server *server, uint64_t now)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
	http_server_take(server, pair[1], now);
	return pair[0];
}

static void say(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

/* Reads until the server closes, or has no more to say for now: true then. */
static bool hear(struct http_server *server, int fd, uint64_t now, struct str *heard)
{
	char bytes[65536];

	for (;;) {
		ssize_t n;

		http_server_work(server, now);
		n = read(fd, bytes, sizeof(bytes));
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n <= 0)
			return false;
		str_addn(heard, bytes, (size_t)n);
	}
}

/* What one request brings; the connection is closed after it. */
static void ask(struct http_server *server, const char *request, uint64_t now, struct str *heard)
{
	int fd = connect_to(server, now);

	str_reset(heard);
	say(fd, request);
	assert_false(hear(server, fd, now, heard));
	close(fd);
	http_server_work(server, now);
}

static bool is_open(struct http_server *server, int fd, uint64_t now)
{
	struct str heard = STR_INIT;
	bool open = hear(server, fd, now, &heard);

	str_release(&heard);
	return open;
}

static void test_whole_responses(void **state)
{
	struct str heard = STR_INIT;

	ask(*state, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", 0, &heard);
	assert_string_equal(heard.s, "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
				     "Content-Length: 5\r\nConnection: close\r\n\r\ntext\n");
	ask(*state, "GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text\r\n\r\n", 0, &heard);
	assert_string_equal(heard.s, "HTTP/1.1 200 OK\r\n"
				     "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"
				     "Content-Length: 5\r\nConnection: close\r\n\r\nopen\n");
	ask(*state, "POST /metrics HTTP/1.1\r\n\r\n", 0, &heard);
	assert_string_equal(heard.s, "HTTP/1.1 405 Method Not Allowed\r\nContent-Type: text/plain; charset=utf-8\r\n"
				     "Content-Length: 23\r\nAllow: GET\r\nConnection: close\r\n\r\n"
				     "405 Method Not Allowed\n");
	str_release(&heard);
}

static void test_statuses(void **state)
{
	static const struct {
		const char *request, *status;
		size_t n_rendered;
	} rows[] = {
		{ "GET /metrics?x=1 HTTP/1.1\r\n\r\n", "200 ", 1 },
		{ "GET /metrics HTTP/1.0\n\n", "200 ", 1 },
		{ "GET / HTTP/1.1\r\n\r\n", "200 ", 0 },
		{ "GET /metrics/ HTTP/1.1\r\n\r\n", "404 ", 0 },
		{ "GET /etc/passwd HTTP/1.1\r\n\r\n", "404 ", 0 },
		{ "HEAD /metrics HTTP/1.1\r\n\r\n", "405 ", 0 },
		{ "DELETE / HTTP/1.1\r\n\r\n", "405 ", 0 },
		{ "GET /metrics\r\n\r\n", "400 ", 0 },
		{ "GET metrics HTTP/1.1\r\n\r\n", "400 ", 0 },
		{ "GET /metrics HTTP/2\r\n\r\n", "400 ", 0 },
		{ " / HTTP/1.1\r\n\r\n", "400 ", 0 },
		{ "\r\n\r\n", "400 ", 0 },
		{ "GET \r\n\r\n", "400 ", 0 },
	};
	struct str heard = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		n_rendered = 0;
		ask(*state, rows[i].request, 0, &heard);
		assert_int_equal(strncmp(heard.s, "HTTP/1.1 ", 9), 0);
		assert_int_equal(strncmp(heard.s + 9, rows[i].status, 4), 0);
		assert_int_equal(n_rendered, rows[i].n_rendered);
	}
	str_release(&heard);
}

static void test_formats(void **state)
{
	static const struct {
		const char *accept;
		bool open;
	} rows[] = {
		/* Prometheus 2 and 3, as they ask. */
		{ "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
		  "text/plain;version=0.0.4;q=0.5,*/*;q=0.1", true },
		{ "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
		  "application/openmetrics-text;version=0.0.1;q=0.5,"
		  "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
		  "text/plain;version=0.0.4;q=0.3,*/*;q=0.2", true },
		{ "text/plain; version=0.0.4", false },
		{ "*/*", false },
		{ "text/html", false },
		{ "", false },
		{ "application/openmetrics-text; version=\"1.0.0\"", true },
		{ "application/openmetrics-text; version=0.0.1", false },
		{ "application/openmetrics-text; version=1.0.0; q=0.2, text/plain; q=0.3", false },
		{ "application/openmetrics-text; q=0", false },
		{ "application/openmetrics-text; q=x", false },
		{ ",;,=;;,\t", false },
	};
	struct str heard = STR_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *request = xasprintf("GET /metrics HTTP/1.1\r\nhost: x\r\nACCEPT: %s\r\n\r\n", rows[i].accept);

		ask(*state, request, 0, &heard);
		assert_non_null(strstr(heard.s, rows[i].open ? "\r\n\r\nopen\n" : "\r\n\r\ntext\n"));
		free(request);
	}
	str_release(&heard);
}

/* A byte at a time, and more bytes than a request may have. */
static void test_pieces_and_limits(void **state)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nA: b\r\n\r\n";
	struct str heard = STR_INIT, much = STR_INIT;
	int fd = connect_to(*state, 0);

	for (size_t i = 0; i < strlen(request); i++) {
		assert_true(is_open(*state, fd, 0));
		assert_int_equal(write(fd, &request[i], 1), 1);
	}
	assert_false(hear(*state, fd, 0, &heard));
	assert_non_null(strstr(heard.s, "200 OK"));
	close(fd);
	str_add(&much, "GET /metrics HTTP/1.1\r\nA: ");
	str_pad(&much, 'a', 4096);
	ask(*state, much.s, 0, &heard);
	assert_int_equal(strncmp(heard.s, "HTTP/1.1 431 ", 13), 0);
	str_release(&heard);
	str_release(&much);
}

static void test_silent_clients_delay_nobody(void **state)
{
	struct str heard = STR_INIT;
	int silent[CONNECTIONS];

	for (size_t i = 0; i < CONNECTIONS; i++)
		silent[i] = connect_to(*state, i);
	say(silent[0], "GET /metrics HTTP/1.1\r\n"); /* not whole */
	ask(*state, "GET /metrics HTTP/1.1\r\n\r\n", CONNECTIONS, &heard);
	assert_non_null(strstr(heard.s, "200 OK"));
	assert_false(is_open(*state, silent[0], CONNECTIONS));
	for (size_t i = 1; i < CONNECTIONS; i++)
		assert_true(is_open(*state, silent[i], CONNECTIONS));
	/* Each is given 2 s, and not a moment more. */
	assert_int_equal(http_server_due(*state), 1 + 2 * SECOND);
	assert_true(is_open(*state, silent[1], 2 * SECOND));
	assert_false(is_open(*state, silent[1], 1 + 2 * SECOND));
	assert_true(is_open(*state, silent[2], 1 + 2 * SECOND));
	http_server_work(*state, 3 * SECOND);
	assert_int_equal(http_server_due(*state), UINT64_MAX);
	for (size_t i = 0; i < CONNECTIONS; i++)
		close(silent[i]);
	str_release(&heard);
}

/* Bytes now and then buy no time. */
static void test_slow_client(void **state)
{
	int fd = connect_to(*state, 0);

	say(fd, "GET ");
	assert_true(is_open(*state, fd, SECOND));
	say(fd, "/metrics");
	assert_true(is_open(*state, fd, 2 * SECOND - 1));
	assert_false(is_open(*state, fd, 2 * SECOND));
	assert_int_equal(n_rendered, 0);
	close(fd);
}

/* Others do not wait for one that does not read; it has the page of the moment in which it asked. */
static void test_slow_reader(void **state)
{
	struct str heard = STR_INIT, slow = STR_INIT;
	int fd = connect_to(*state, 0);

	body_bytes = BIG;
	say(fd, "GET /metrics HTTP/1.1\r\n\r\n");
	http_server_work(*state, 0);
	assert_int_equal(n_rendered, 1);
	body_bytes = 0;
	ask(*state, "GET /metrics HTTP/1.1\r\n\r\n", SECOND, &heard);
	assert_non_null(strstr(heard.s, "\r\n\r\ntext\n"));
	assert_false(hear(*state, fd, 2 * SECOND - 1, &slow));
	assert_true(slow.len > BIG);
	assert_int_equal(n_rendered, 2);
	close(fd);
	/* One that reads nothing is left after 2 s without progress. */
	body_bytes = BIG;
	fd = connect_to(*state, 10 * SECOND);
	say(fd, "GET /metrics HTTP/1.1\r\n\r\n");
	http_server_work(*state, 11 * SECOND);
	assert_int_equal(http_server_due(*state), 13 * SECOND);
	http_server_work(*state, 13 * SECOND);
	assert_int_equal(http_server_due(*state), UINT64_MAX);
	str_reset(&slow);
	assert_false(hear(*state, fd, 13 * SECOND, &slow));
	assert_true(slow.len < BIG);
	close(fd);
	str_release(&heard);
	str_release(&slow);
}

/* Readers that take a little each second hold no place against one that comes. */
static void test_slow_readers_make_room(void **state)
{
	struct str heard = STR_INIT;
	int slow[CONNECTIONS];

	body_bytes = BIG;
	for (size_t i = 0; i < CONNECTIONS; i++) {
		slow[i] = connect_to(*state, i);
		say(slow[i], "GET /metrics HTTP/1.1\r\n\r\n");
		http_server_work(*state, i);
	}
	body_bytes = 0;
	ask(*state, "GET /metrics HTTP/1.1\r\n\r\n", SECOND, &heard);
	assert_non_null(strstr(heard.s, "\r\n\r\ntext\n"));
	for (size_t i = 0; i < CONNECTIONS; i++)
		close(slow[i]);
	str_release(&heard);
}

static void test_client_goes(void **state)
{
	int fd = connect_to(*state, 0);

	say(fd, "GET /met");
	close(fd);
	http_server_work(*state, 0); /* reads what was said */
	http_server_work(*state, 0); /* and that there is no more */
	assert_int_equal(http_server_due(*state), UINT64_MAX);
	body_bytes = BIG;
	fd = connect_to(*state, 0);
	say(fd, "GET /metrics HTTP/1.1\r\n\r\n");
	http_server_work(*state, 0);
	close(fd);
	http_server_work(*state, 0);
	assert_int_equal(http_server_due(*state), UINT64_MAX);
}

static void test_places(void **state)
{
	static const struct {
		const char *text, *starts; /* NULL: it is wrong */
	} rows[] = {
		{ "127.0.0.1:0", "127.0.0.1:" },	{ ":0", "127.0.0.1:" },	  { "localhost:0", "127.0.0.1:" },
		{ "0.0.0.0:0", "0.0.0.0:" },		{ "127.0.0.1", NULL },	  { "127.0.0.1:", NULL },
		{ "127.0.0.1:65536", NULL },		{ "127.0.0.1:-1", NULL }, { "*:0", NULL },
		{ "::1:0", NULL },			{ "[::1:0", NULL },	  { "[]:0", NULL },
		{ "example.org:0", NULL },		{ "", NULL },		  { "[:0", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct str place = STR_INIT, err = STR_INIT;
		int fd = http_listen(rows[i].text, &place, &err);

		if (rows[i].starts) {
			assert_true(fd >= 0);
			assert_int_equal(strncmp(place.s, rows[i].starts, strlen(rows[i].starts)), 0);
			assert_string_not_equal(strrchr(place.s, ':'), ":0");
			close(fd);
		} else {
			assert_int_equal(fd, -EINVAL);
			assert_non_null(strstr(err.s, "--listen: "));
		}
		str_release(&place);
		str_release(&err);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_whole_responses),
		TEST(test_statuses),
		TEST(test_formats),
		TEST(test_pieces_and_limits),
		TEST(test_silent_clients_delay_nobody),
		TEST(test_slow_client),
		TEST(test_slow_reader),
		TEST(test_slow_readers_make_room),
		TEST(test_client_goes),
		TEST(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
