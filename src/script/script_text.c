/*
 * script_text: a sample as perf script prints it, because so many programs parse that:
 *
 *	comm  tid [cpu] seconds.microseconds:  period event: what
 *		address symbol+0xoff (file)
 *		...
 *
 * Numbers are put together by hand: this runs once per sample.
 */
#include "script/script_internal.h"

#include <time.h>

/* Only decoders of hardware traces know what kind of branch a sample was. */
enum { FLAGS_COLUMNS = 24 };

void script_add_number(struct str *out, uint64_t value, unsigned width, char fill)
{
	char text[32];
	unsigned at = sizeof(text);

	do
		text[--at] = (char)('0' + value % 10);
	while (value /= 10);
	while (sizeof(text) - at < width && at)
		text[--at] = fill;
	str_addn(out, text + at, sizeof(text) - at);
}

static void add_left(struct str *out, int64_t value, unsigned width)
{
	size_t start = out->len;

	if (value < 0)
		str_addc(out, '-');
	script_add_number(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 1, ' ');
	if (out->len - start < width)
		str_pad(out, ' ', width - (out->len - start));
}

static void add_right(struct str *out, int64_t value, unsigned width)
{
	if (value >= 0)
		script_add_number(out, (uint64_t)value, width, ' ');
	else
		str_addf(out, "%*lld", (int)width, (long long)value);
}

static void add_time(struct script *script, uint64_t time_ns, struct str *out)
{
	uint64_t shown = time_ns;
	size_t start;

	if (script->options.reltime)
		shown = script->first_ns ? time_ns - script->first_ns : 0;
	else if (script->options.deltatime)
		shown = script->last_ns ? time_ns - script->last_ns : 0;
	if (!script->first_ns)
		script->first_ns = time_ns;
	script->last_ns = time_ns;
	start = out->len;
	if (script->options.ns) {
		script_add_number(out, shown / NS_PER_S, 5, ' ');
		str_addc(out, '.');
		script_add_number(out, shown % NS_PER_S, 9, '0');
	} else {
		char text[40];
		unsigned len;

		script_add_number(out, shown / NS_PER_S, 1, ' ');
		str_addc(out, '.');
		script_add_number(out, shown % NS_PER_S / 1000, 6, '0');
		len = (unsigned)(out->len - start);
		if (len < 12) {
			memcpy(text, out->s + start, len);
			out->len = start;
			str_pad(out, ' ', 12 - len);
			str_addn(out, text, len);
		}
	}
	str_addn(out, ": ", 2);
}

/* "2026-11-21 12:06:12.660768 ": by the moment that the recording knows on both clocks. */
static void add_time_of_day(struct script *script, uint64_t time_ns, struct str *out)
{
	const struct info *info = script->session.recording->info;
	uint64_t wall_ns = info->wall_clock_ns + (time_ns - info->clockid_time_ns);
	uint64_t ns = wall_ns % NS_PER_S;
	struct tm tm;
	time_t s = (time_t)(wall_ns / NS_PER_S);

	if (!*script->tod || script->tod_s != (uint64_t)s) {
		script->tod_s = (uint64_t)s;
		if (!localtime_r(&s, &tm) || !strftime(script->tod, sizeof(script->tod), "%F %T", &tm))
			memcpy(script->tod, "?", sizeof("?"));
	}
	str_add(out, script->tod);
	str_addc(out, '.');
	script_add_number(out, script->options.ns ? ns : ns / 1000, script->options.ns ? 9 : 6, '0');
	str_addc(out, ' ');
}

/* The letters of -F misc: what was running, and what a record's own bits say. */
static void add_misc(uint16_t misc, uint32_t type, struct str *out)
{
	static const struct {
		uint16_t mode;
		char letter;
	} modes[] = {
		{ MISC_KERNEL, 'K' },       { MISC_USER, 'U' },       { MISC_HYPERVISOR, 'H' },
		{ MISC_GUEST_KERNEL, 'G' }, { MISC_GUEST_USER, 'g' },
	};
	size_t start = out->len;

	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if ((misc & MISC_CPUMODE_MASK) == modes[i].mode)
			str_addc(out, modes[i].letter);
	if ((type == RECORD_MMAP || type == RECORD_MMAP2) && (misc & MISC_MMAP_DATA))
		str_addc(out, 'M');
	if (type == RECORD_COMM && (misc & MISC_COMM_EXEC))
		str_addc(out, 'E');
	if ((type == RECORD_SWITCH || type == RECORD_SWITCH_CPU_WIDE) && (misc & MISC_SWITCH_OUT)) {
		str_addc(out, 'S');
		if (misc & MISC_SWITCH_OUT_PREEMPT)
			str_addc(out, 'p');
	}
	str_pad(out, ' ', out->len - start < 6 ? 6 - (out->len - start) : 0);
}

static void add_comm(struct script *script, const struct script_event *event, const struct thread *thread,
		     int32_t tid, struct str *out)
{
	const char *comm = thread ? session_comm(&script->session, thread->comm) : NULL;
	size_t start, len;

	str_reset(&script->scratch);
	if (comm)
		str_add_printable(&script->scratch, comm, strlen(comm));
	else
		str_addf(&script->scratch, ":%d", tid);
	len = script->scratch.len;
	start = !event->chain && len < 16 ? 16 - len : 0;
	str_pad(out, ' ', start);
	str_addn(out, script->scratch.s, len);
	str_addc(out, ' ');
}

void script_add_start(struct script *script, const struct script_event *event, const struct script_start *start)
{
	struct str *out = &script->output->text;
	bool pid = script_prints(event, FIELD_PID), tid = script_prints(event, FIELD_TID);

	if (script_prints(event, FIELD_COMM))
		add_comm(script, event, start->thread,
			 start->has & PERF_SAMPLE_TID ? start->tid : -1, out);
	if (pid)
		add_right(out, start->pid, 5);
	if (pid && tid)
		str_addc(out, '/');
	if (pid && tid)
		add_left(out, start->tid, 5);
	else if (tid)
		add_right(out, start->tid, 5);
	if (pid || tid)
		str_addc(out, ' ');
	if (script_prints(event, FIELD_CPU) && (start->has & PERF_SAMPLE_CPU)) {
		str_addc(out, '[');
		script_add_number(out, start->cpu, 3, '0');
		str_addn(out, "] ", 2);
	}
	if (script_prints(event, FIELD_MISC))
		add_misc(start->misc, start->type, out);
	if (script_prints(event, FIELD_TOD) && (start->has & PERF_SAMPLE_TIME))
		add_time_of_day(script, start->time_ns, out);
	if (script_prints(event, FIELD_TIME) && (start->has & PERF_SAMPLE_TIME))
		add_time(script, start->time_ns, out);
}

static void add_trace(struct script *script, const struct replay_sample *sample, struct str *out)
{
	struct tracepoints *tracepoints = script_tracepoints(script);

	if (tracepoints && !tracepoint_print(tracepoints, sample->event, sample->sample, out))
		script->without_trace++;
}

/* A chain is on lines of its own, a lone address on the sample's. */
static void add_code(struct script *script, const struct script_event *event, const struct chain *frames)
{
	str_addc(&script->output->text, event->chain ? '\n' : ' ');
	for (size_t i = 0; i < frames->n; i++)
		if (!script_add_frame(script, event, &frames->v[i]))
			break;
}

void script_text_sample(struct script *script, const struct script_event *event, const struct sink_sample *taken,
			const struct script_start *start)
{
	const struct replay_sample *sample = taken->sample;
	struct str *out = &script->output->text;

	script_add_start(script, event, start);
	if (script_prints(event, FIELD_PERIOD)) {
		script_add_number(out, taken->period, 10, ' ');
		str_addc(out, ' ');
	}
	if (script_prints(event, FIELD_EVENT)) {
		str_pad(out, ' ', script->name_width - event->name_len);
		str_addn(out, event->name, event->name_len);
		str_addn(out, ": ", 2);
	}
	if (script_prints(event, FIELD_FLAGS))
		str_pad(out, ' ', FLAGS_COLUMNS);
	if (script_prints(event, FIELD_TRACE))
		add_trace(script, sample, out);
	script_mem_before(script, event, sample);
	if (script_prints(event, FIELD_IP))
		add_code(script, event, &taken->frames);
	script_mem_after(script, event, sample);
	str_addc(out, '\n');
}
