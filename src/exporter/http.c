/* SPDX-License-Identifier: MIT */
/*
 * HTTP/1.1 for one page. Each connection brings one request and is closed after its response:
 *
 *   READING ---a whole request---> ANSWERING ---all is sent---> LEAVING ---the client has closed---> gone
 *      |            4 KiB at most, 2 s        2 s without progress              2 s
 *      '--> gone: too slow, closed by the client, or longest without a request when another one comes
 *
 * A response is rendered as a whole before its first byte goes out, so that its length is known and no client gets a
 * part of one. LEAVING reads on until the client closes: a socket that is closed with bytes unread takes back what is
 * still on the way (RFC 9112, 9.6).
 *
 * An epoll descriptor knows all sockets. The one that listens is edge-triggered: when there is no file left for
 * accept(2), it does not keep the loop awake, and the next call tries again.
 */
#include "exporter/exporter.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS = 16, REQUEST_BYTES = 4096, BACKLOG = 64 };
#define PATIENCE_NS (2 * NS_PER_S)

enum connection_state { CONNECTION_FREE, CONNECTION_READING, CONNECTION_ANSWERING, CONNECTION_LEAVING };

struct http_connection {
	enum connection_state state;
	int fd;
	uint64_t since_ns; /* accepted, or the last progress of the response */
	char request[REQUEST_BYTES + 1];
	size_t n;
	struct str response;
	size_t sent;
};

struct http_server {
	int listen_fd, epoll_fd;
	exposition_fn render;
	void *data;
	struct http_connection connections[CONNECTIONS];
};

/* ---- the request ---- */

/* Parameters of a media range of Accept. */
struct media_range {
	char *type;
	double q;
	char *version; /* or NULL */
};

static char *trim(char *text)
{
	char *end;

	text += strspn(text, " \t\"");
	end = text + strlen(text);
	while (end > text && strchr(" \t\"\r", end[-1]))
		end--;
	*end = '\0';
	return text;
}

/* In place. */
static void parse_range(char *text, struct media_range *range)
{
	char *parameter;

	*range = (struct media_range){ .q = 1 };
	range->type = trim(strsep(&text, ";"));
	while ((parameter = strsep(&text, ";")) != NULL) {
		char *name = trim(strsep(&parameter, "=")), *value = parameter ? trim(parameter) : NULL;

		if (value && !strcasecmp(name, "q") && parse_double(value, &range->q))
			range->q = 0;
		if (value && !strcasecmp(name, "version"))
			range->version = value;
	}
}

/* OpenMetrics where the client wants it no less than text. list: a value of Accept, changed. */
static void weigh_accept(char *list, double *open, double *text)
{
	struct media_range range;
	char *item;

	while ((item = strsep(&list, ",")) != NULL) {
		parse_range(item, &range);
		if (!strcasecmp(range.type, "application/openmetrics-text") &&
		    (!range.version || !strcmp(range.version, "1.0.0")) && range.q > *open)
			*open = range.q;
		if (!strcasecmp(range.type, "text/plain") && range.q > *text)
			*text = range.q;
	}
}

/* lines: of the header, changed. */
static enum exposition_format choose_format(char *lines)
{
	double open = 0, text = 0;
	char *line;

	while ((line = strsep(&lines, "\n")) != NULL) {
		char *value = strchr(line, ':');

		if (!value)
			continue;
		*value++ = '\0';
		if (!strcasecmp(line, "accept"))
			weigh_accept(value, &open, &text);
	}
	return open > 0 && open >= text ? EXPOSITION_OPENMETRICS : EXPOSITION_TEXT;
}

/* ---- the response ---- */

static const char *const content_types[] = {
	[EXPOSITION_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
	[EXPOSITION_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

static const char front_page[] = "<!DOCTYPE html>\n<html lang=\"en\"><head><title>pstat exporter</title></head>\n"
				 "<body><h1>pstat exporter</h1><p><a href=\"/metrics\">Metrics</a></p></body></html>\n";

static void add_response(struct str *out, const char *status, const char *type, const struct str *body)
{
	str_addf(out, "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n%sConnection: close\r\n\r\n", status,
		 type, body->len, strncmp(status, "405", 3) ? "" : "Allow: GET\r\n");
	str_addn(out, body->s, body->len);
}

static void refuse(struct str *out, const char *status)
{
	struct str body = STR_INIT;

	str_addf(&body, "%s\n", status);
	add_response(out, status, "text/plain; charset=utf-8", &body);
	str_release(&body);
}

/* The place of "GET /metrics HTTP/1.1" without what follows a question mark; NULL: the line is none. In place. */
static char *parse_line(char *line, char **method)
{
	char *path, *version;

	*method = strsep(&line, " ");
	path = strsep(&line, " ");
	version = line ? trim(line) : NULL;
	if (!version || strncmp(version, "HTTP/1.", 7) != 0 || !**method || *path != '/')
		return NULL;
	path[strcspn(path, "?")] = '\0';
	return path;
}

static void answer_request(struct http_server *server, struct http_connection *c)
{
	char *lines = c->request, *line = strsep(&lines, "\n"), *method, *path = parse_line(line, &method);
	struct str body = STR_INIT;
	enum exposition_format format;

	if (!path) {
		refuse(&c->response, "400 Bad Request");
	} else if (strcmp(method, "GET") != 0) {
		refuse(&c->response, "405 Method Not Allowed");
	} else if (!strcmp(path, "/metrics")) {
		format = choose_format(lines);
		server->render(server->data, format, &body);
		add_response(&c->response, "200 OK", content_types[format], &body);
	} else if (!strcmp(path, "/")) {
		str_add(&body, front_page);
		add_response(&c->response, "200 OK", "text/html; charset=utf-8", &body);
	} else {
		refuse(&c->response, "404 Not Found");
	}
	str_release(&body);
}

/* ---- connections ---- */

static void drop(struct http_connection *c)
{
	close(c->fd);
	str_release(&c->response);
	c->state = CONNECTION_FREE;
	c->fd = -1;
}

static void wait_for(const struct http_server *server, struct http_connection *c, int how, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = c };

	if (epoll_ctl(server->epoll_fd, how, c->fd, &event))
		drop(c);
}

static bool would_block(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

static void send_more(struct http_server *server, struct http_connection *c, uint64_t now)
{
	while (c->sent < c->response.len) {
		ssize_t n = send(c->fd, c->response.s + c->sent, c->response.len - c->sent,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && would_block())
			return;
		if (n < 0) {
			drop(c);
			return;
		}
		c->sent += (size_t)n;
		c->since_ns = now;
	}
	c->state = CONNECTION_LEAVING;
	str_release(&c->response);
	shutdown(c->fd, SHUT_WR);
	wait_for(server, c, EPOLL_CTL_MOD, EPOLLIN);
}

static void begin_answer(struct http_server *server, struct http_connection *c, uint64_t now)
{
	c->state = CONNECTION_ANSWERING;
	c->sent = 0;
	c->since_ns = now;
	wait_for(server, c, EPOLL_CTL_MOD, EPOLLOUT);
	if (c->state == CONNECTION_ANSWERING)
		send_more(server, c, now);
}

static bool is_whole(const char *request)
{
	return strstr(request, "\r\n\r\n") || strstr(request, "\n\n");
}

/* A byte 0 is in no request: what follows it is not looked at. */
static void read_more(struct http_server *server, struct http_connection *c, uint64_t now)
{
	ssize_t n = recv(c->fd, c->request + c->n, REQUEST_BYTES - c->n, MSG_DONTWAIT);

	if (n < 0 && would_block())
		return;
	if (n <= 0) {
		drop(c);
		return;
	}
	c->n += (size_t)n;
	c->request[c->n] = '\0';
	if (is_whole(c->request))
		answer_request(server, c);
	else if (c->n == REQUEST_BYTES)
		refuse(&c->response, "431 Request Header Fields Too Large");
	else
		return;
	begin_answer(server, c, now);
}

static void read_away(struct http_connection *c)
{
	ssize_t n = recv(c->fd, c->request, REQUEST_BYTES, MSG_DONTWAIT);

	if (n == 0 || (n < 0 && !would_block()))
		drop(c);
}

static void go_on(struct http_server *server, struct http_connection *c, uint64_t now)
{
	switch (c->state) {
	case CONNECTION_FREE:
		break;
	case CONNECTION_READING:
		read_more(server, c, now);
		break;
	case CONNECTION_ANSWERING:
		send_more(server, c, now);
		break;
	case CONNECTION_LEAVING:
		read_away(c);
		break;
	}
}

/* A free one; else one that has had its response, or has been without a request for longest. */
static struct http_connection *make_room(struct http_server *server)
{
	struct http_connection *oldest = &server->connections[0];

	for (size_t i = 0; i < CONNECTIONS; i++) {
		struct http_connection *c = &server->connections[i];

		if (c->state == CONNECTION_FREE)
			return c;
		if ((c->state == CONNECTION_LEAVING) > (oldest->state == CONNECTION_LEAVING) ||
		    ((c->state == CONNECTION_LEAVING) == (oldest->state == CONNECTION_LEAVING) &&
		     c->since_ns < oldest->since_ns))
			oldest = c;
	}
	drop(oldest);
	return oldest;
}

void http_server_take(struct http_server *server, int fd, uint64_t now)
{
	struct http_connection *c = make_room(server);

	c->state = CONNECTION_READING;
	c->fd = fd;
	c->since_ns = now;
	c->n = 0;
	str_init(&c->response);
	wait_for(server, c, EPOLL_CTL_ADD, EPOLLIN);
	go_on(server, c, now);
}

/* ---- the server ---- */

struct http_server *http_server_new(int listen_fd, exposition_fn render, void *data)
{
	struct http_server *server = xcalloc(1, sizeof(*server));
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	server->listen_fd = listen_fd;
	server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	server->render = render;
	server->data = data;
	if (listen_fd >= 0)
		epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, listen_fd, &event);
	return server;
}

void http_server_free(struct http_server *server)
{
	if (!server)
		return;
	for (size_t i = 0; i < CONNECTIONS; i++)
		if (server->connections[i].state != CONNECTION_FREE)
			drop(&server->connections[i]);
	if (server->listen_fd >= 0)
		close(server->listen_fd);
	close(server->epoll_fd);
	free(server);
}

int http_server_fd(const struct http_server *server)
{
	return server->epoll_fd;
}

uint64_t http_server_due(const struct http_server *server)
{
	uint64_t due = UINT64_MAX;

	for (size_t i = 0; i < CONNECTIONS; i++) {
		const struct http_connection *c = &server->connections[i];

		if (c->state != CONNECTION_FREE && c->since_ns + PATIENCE_NS < due)
			due = c->since_ns + PATIENCE_NS;
	}
	return due;
}

static void drop_late(struct http_server *server, uint64_t now)
{
	for (size_t i = 0; i < CONNECTIONS; i++) {
		struct http_connection *c = &server->connections[i];

		if (c->state != CONNECTION_FREE && now >= c->since_ns + PATIENCE_NS)
			drop(c);
	}
}

/* Accepts no more at once than there are places, so that each may have its turn before it has to make room. */
static void accept_some(struct http_server *server, uint64_t now)
{
	for (size_t i = 0; i < CONNECTIONS && server->listen_fd >= 0; i++) {
		int fd = accept4(server->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0)
			return;
		http_server_take(server, fd, now);
	}
}

void http_server_work(struct http_server *server, uint64_t now)
{
	struct epoll_event events[CONNECTIONS + 1];
	int n = epoll_wait(server->epoll_fd, events, CONNECTIONS + 1, 0);

	for (int i = 0; i < n; i++)
		if (events[i].data.ptr)
			go_on(server, events[i].data.ptr, now);
	drop_late(server, now);
	accept_some(server, now);
}

/* ---- the place ---- */

union socket_place {
	struct sockaddr any;
	struct sockaddr_in ip4;
	struct sockaddr_in6 ip6;
	struct sockaddr_storage all;
};

/* host: without its brackets; changed. */
static int parse_host(const char *host, bool brackets, uint16_t port, union socket_place *place, socklen_t *size)
{
	memset(place, 0, sizeof(*place));
	if (brackets) {
		place->ip6 = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(port) };
		*size = sizeof(place->ip6);
		return inet_pton(AF_INET6, host, &place->ip6.sin6_addr) == 1 ? 0 : -EINVAL;
	}
	place->ip4 = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
	*size = sizeof(place->ip4);
	if (!*host || !strcmp(host, "localhost"))
		host = "127.0.0.1";
	return inet_pton(AF_INET, host, &place->ip4.sin_addr) == 1 ? 0 : -EINVAL;
}

static int parse_place(const char *text, union socket_place *place, socklen_t *size, struct str *err)
{
	const char *colon = strrchr(text, ':');
	bool brackets = *text == '[' && colon > text && colon[-1] == ']';
	char *host = xstrndup(text + brackets, colon ? (size_t)(colon - text) - 2 * brackets : 0);
	long port;
	int rc = -EINVAL;

	if (colon && !parse_int(colon + 1, 0, 65535, &port))
		rc = parse_host(host, brackets, (uint16_t)port, place, size);
	free(host);
	if (!rc)
		return 0;
	fail(err, 0, "--listen: '");
	str_add_printable(err, text, strlen(text));
	str_add(err, "' is not a numeric address and port, like 127.0.0.1:9101 or [::]:9101");
	return -EINVAL;
}

static void format_place(int fd, struct str *out)
{
	char host[INET6_ADDRSTRLEN] = "";
	union socket_place place;
	socklen_t size = sizeof(place);

	memset(&place, 0, sizeof(place));
	getsockname(fd, &place.any, &size);
	if (place.any.sa_family == AF_INET6) {
		inet_ntop(AF_INET6, &place.ip6.sin6_addr, host, sizeof(host));
		str_addf(out, "[%s]:%u", host, ntohs(place.ip6.sin6_port));
	} else {
		inet_ntop(AF_INET, &place.ip4.sin_addr, host, sizeof(host));
		str_addf(out, "%s:%u", host, ntohs(place.ip4.sin_port));
	}
}

int http_listen(const char *text, struct str *place, struct str *err)
{
	union socket_place address;
	socklen_t size = 0;
	int on = 1, fd, rc = parse_place(text, &address, &size, err);

	if (rc)
		return rc;
	fd = socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) && !bind(fd, &address.any, size) &&
	    !listen(fd, BACKLOG)) {
		format_place(fd, place);
		return fd;
	}
	rc = -errno;
	if (fd >= 0)
		close(fd);
	return fail(err, rc, "--listen: %s: %s", text, strerror(-rc));
}
