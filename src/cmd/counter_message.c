/*
 * One counter's cells in words.
 */
#include "cmd/counter_message.h"

#include "cmd/message.h"

static void add_places(struct str *text, const struct counter *counter)
{
	size_t n_open = 0, n = counter->n_cpus * counter->n_threads;

	for (size_t i = 0; i < n; i++)
		n_open += counter->fds[i] >= 0;
	str_addf(text, "perf_event_open worked %zu times: ", n_open);
	if (counter->cpus.n)
		str_add(text, "CPU ");
	else
		str_add(text, "any CPU");
	intset_format(&counter->cpus, text);
	str_addf(text, ", tasks: %zu", counter->n_threads);
}

void message_counter(const struct counter *counter)
{
	struct str text = STR_INIT;

	str_addf(&text, "%s: ", counter->name ? counter->name : counter->event->name);
	switch (counter->state) {
	case COUNTER_SOFTWARE:
		str_add(&text, "measured by pstat itself");
		break;
	case COUNTER_OPEN:
		add_places(&text, counter);
		break;
	case COUNTER_NOT_SUPPORTED:
		if (counter->call)
			str_add(&text, counter->call);
		else
			str_addf(&text, "errno %d (%s)", counter->err, strerror(counter->err));
		if (counter->remedy)
			str_addf(&text, "\n%s", counter->remedy);
		break;
	case COUNTER_LEFT_OUT:
		str_add(&text, "not tried");
		break;
	}
	message_error(text.s);
	str_release(&text);
}
