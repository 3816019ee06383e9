/* SPDX-License-Identifier: MIT */
/*
 * Helpers: questions and answers, with a file beside them; one that works or gives signs of life is told from one that
 * waits, so that a busy machine is not taken for a file system that does not answer.
 */
#include "util/helper.h"
#include "util/util.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { WORD_BYTES = 16 };
#define EVER_NS (UINT64_MAX / 4)

/* Answers a word with itself, and with the file of that name where it begins with '/'. "work", "sleep": never ends. */
static int answer(void *data, const struct helper_question *question, void *word)
{
	const char *asked = question->bytes;

	assert_ptr_equal(data, NULL);
	for (volatile int forever = !strcmp(asked, "work"); forever;)
		;
	while (!strcmp(asked, "sleep")) {
		usleep(1000);
		atomic_fetch_add(question->signs, 1);
	}
	memcpy(word, asked, question->n);
	return *asked == '/' ? open(asked, O_RDONLY | O_CLOEXEC) : -1;
}

static struct helper started(void)
{
	const struct helper_work work = { WORD_BYTES, WORD_BYTES, answer, NULL };
	struct helper helper;

	assert_int_equal(helper_start(&helper, &work), 0);
	return helper;
}

static void asks(struct helper *helper, const char *word)
{
	assert_int_equal(helper_ask(helper, word, strlen(word), -1), 0);
}

/* Returns the descriptor that came beside the answer. */
static int is_answered(struct helper *helper, const char *word)
{
	struct pollfd pollfd = { .fd = helper->socket, .events = POLLIN };
	char got[WORD_BYTES];
	int fd;

	assert_int_equal(poll(&pollfd, 1, -1), 1);
	assert_int_equal(helper_take_answer(helper, got, sizeof(got), &fd), 1);
	assert_string_equal(got, word);
	return fd;
}

/* It becomes so sooner or later: the runner ends what waits for ever. */
static void becomes_stuck(struct helper *helper, bool stuck)
{
	while (helper_is_stuck(helper, 0, EVER_NS) != stuck)
		usleep(1000);
}

static void test_questions(void **state)
{
	struct helper helper = started();
	char byte, none[WORD_BYTES];
	int fd;

	(void)state;
	assert_int_equal(helper_take_answer(&helper, none, sizeof(none), &fd), 0);
	assert_int_equal(fd, -1);
	asks(&helper, "word");
	asks(&helper, "/dev/null");
	assert_int_equal(is_answered(&helper, "word"), -1);
	fd = is_answered(&helper, "/dev/null");
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
	assert_false(helper_is_stuck(&helper, 0, 0)); /* nothing was asked */
	asks(&helper, "work");
	becomes_stuck(&helper, false);
	assert_true(helper_is_stuck(&helper, EVER_NS, 0)); /* however it works */
	assert_int_equal(kill(helper.pid, SIGSTOP), 0);
	becomes_stuck(&helper, true);
	assert_false(helper_is_stuck(&helper, EVER_NS, EVER_NS));
	assert_int_equal(kill(helper.pid, SIGCONT), 0);
	becomes_stuck(&helper, false);
	assert_int_equal(kill(helper.pid, SIGKILL), 0);
	becomes_stuck(&helper, true);
	helper_leave(&helper);
}

static void test_signs(void **state)
{
	struct helper helper = started();

	(void)state;
	asks(&helper, "sleep");
	for (unsigned i = 0; i < 3; i++) {
		uint64_t before = helper.sign_ns;

		/* Each sign begins the patience anew. */
		while (helper.sign_ns == before) {
			assert_false(helper_is_stuck(&helper, EVER_NS, EVER_NS));
			usleep(1000);
		}
	}
	helper_leave(&helper);
}

static void test_end(void **state)
{
	struct helper helper = started();
	struct pollfd pollfd = { .fd = helper.socket, .events = POLLIN };
	char none[WORD_BYTES];
	int fd;

	(void)state;
	assert_int_equal(kill(helper.pid, SIGKILL), 0);
	assert_int_equal(waitpid(helper.pid, NULL, 0), helper.pid);
	assert_int_equal(poll(&pollfd, 1, -1), 1);
	assert_true(helper_take_answer(&helper, none, sizeof(none), &fd) < 0);
	assert_int_equal(fd, -1);
	helper_leave(&helper);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_questions),
		cmocka_unit_test(test_work_and_waiting),
		cmocka_unit_test(test_signs),
		cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
