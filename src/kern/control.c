/*
 * Control lines -> calls. The descriptor's flags are left as they are: it may be shared with other
 * programs, so only as much is read as one read(2) gives after poll(2) said that there is something.
 */
#include "kern/kern.h"

#include <errno.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 1024 }; /* no command is near that long */

static void answer(struct control *control, struct note_list *notes)
{
	/* Once: whoever does not read its answers is not waited for, where the descriptor does not block. */
	if (control->ack_fd < 0 || write(control->ack_fd, "ack\n", 4) == 4)
		return;
	note_add(notes, false, NULL, "--control: cannot answer: %s", strerror(errno));
	control->ack_fd = -1;
}

/* "'x' is none of enable, disable and stop" */
static void note_unknown(const char *line, const struct control_command *commands,
			 struct note_list *notes)
{
	struct str names = STR_INIT;

	for (const struct control_command *c = commands; c->name; c++)
		str_addf(&names, "%s%s", c == commands ? "" : c[1].name ? ", " : " and ", c->name);
	note_add(notes, false, NULL, "--control: '%s' is none of %s", line, names.s);
	str_release(&names);
}

static void run_line(struct control *control, const struct control_command *commands, void *data,
		     struct note_list *notes)
{
	const struct control_command *command = commands;
	struct str *line = &control->line;
	size_t len;

	/* Shells and terminals may add these. */
	while (line->len && strchr(" \r\t", line->s[line->len - 1]))
		line->s[--line->len] = '\0';
	if (!line->len)
		return;
	len = strcspn(line->s, " ");
	while (command->name &&
	       (strlen(command->name) != len || strncmp(command->name, line->s, len) ||
		(line->s[len] && !command->takes_words)))
		command++;
	if (!command->name)
		note_unknown(line->s, commands, notes);
	else if (!command->run(data, line->s + len + strspn(line->s + len, " ")))
		answer(control, notes);
}

static void take(struct control *control, const char *bytes, size_t n,
		 const struct control_command *commands, void *data, struct note_list *notes)
{
	for (size_t i = 0; i < n; i++) {
		/* A NUL ends a line too: some programs send one behind it. */
		if (bytes[i] == '\n' || bytes[i] == '\0') {
			run_line(control, commands, data, notes);
			str_reset(&control->line);
		} else if (control->line.len < LINE_MAX_BYTES) {
			str_addc(&control->line, bytes[i]);
		}
	}
}

bool control_read(struct control *control, const struct control_command *commands, void *data,
		  struct note_list *notes)
{
	char bytes[512];
	ssize_t n = read(control->fd, bytes, sizeof(bytes));

	if (n > 0) {
		take(control, bytes, (size_t)n, commands, data, notes);
		return true;
	}
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	/* The last line may lack its newline. */
	take(control, "\n", 1, commands, data, notes);
	return false;
}

void control_release(struct control *control)
{
	str_release(&control->line);
}
