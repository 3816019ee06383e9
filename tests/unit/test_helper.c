/*
 * Helpers: packets go both ways, with a file beside them; one that works is told from one that waits, so that a busy
 * machine is not taken for a file system that does not answer.
 */
#include "util/helper.h"
#include "util/util.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Answers each packet with itself, and with the file of that name where it begins with '/'; "work": never ends. */
static void serve(int socket, void *data)
{
	char packet[64];
	int fd;

	(void)data;
	for (;;) {
		ssize_t n = helper_receive(socket, packet, sizeof(packet) - 1, 0, &fd);

		if (n <= 0)
			return;
		packet[n] = '\0';
		for (volatile int forever = !strcmp(packet, "work"); forever;)
			;
		fd = packet[0] == '/' ? open(packet, O_RDONLY | O_CLOEXEC) : -1;
		helper_send(socket, packet, (size_t)n, fd);
		if (fd >= 0)
			close(fd);
	}
}

static struct helper started(void)
{
	struct helper helper;

	assert_int_equal(helper_start(&helper, serve, NULL), 0);
	return helper;
}

/* What it becomes sooner or later: the runner ends what waits for ever. */
static void becomes(const struct helper *helper, bool runnable)
{
	while (helper_is_runnable(helper) != runnable)
		usleep(1000);
}

static void test_packets(void **state)
{
	struct helper helper = started();
	char packet[64] = "", byte = 1;
	int fd;

	(void)state;
	assert_int_equal(helper_send(helper.socket, "word", 4, -1), 0);
	assert_int_equal(helper_receive(helper.socket, packet, sizeof(packet), 0, &fd), 4);
	assert_string_equal(packet, "word");
	assert_int_equal(fd, -1);
	assert_int_equal(helper_send(helper.socket, "/dev/null", 9, -1), 0);
	assert_int_equal(helper_receive(helper.socket, packet, sizeof(packet), 0, &fd), 9);
	assert_true(fd >= 0);
	assert_int_equal(read(fd, &byte, 1), 0);
	close(fd);
	helper_leave(&helper);
	assert_int_equal(helper.pid, 0);
}

static void test_work_and_waiting(void **state)
{
	struct helper helper = started();

	(void)state;
	becomes(&helper, false); /* it waits for a packet */
	assert_int_equal(helper_send(helper.socket, "work", 4, -1), 0);
	becomes(&helper, true);
	assert_int_equal(kill(helper.pid, SIGSTOP), 0);
	becomes(&helper, false);
	assert_int_equal(kill(helper.pid, SIGCONT), 0);
	becomes(&helper, true);
	assert_int_equal(kill(helper.pid, SIGKILL), 0);
	assert_int_equal(waitpid(helper.pid, NULL, 0), helper.pid);
	assert_false(helper_is_runnable(&helper));
	close(helper.socket);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets),
		cmocka_unit_test(test_work_and_waiting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
