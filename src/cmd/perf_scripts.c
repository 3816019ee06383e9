/* SPDX-License-Identifier: MIT */
/*
 * perf_scripts: finds the scripts of a package of perf, lists them, and runs their shell commands by a shell that takes
 * this program for perf.
 */
#include "cmd/perf_scripts.h"

#include "cmd/command.h"
#include "cmd/message.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Folders of perf-core, where distributions put perf's scripts. */
static const char *const perf_folders[] = { "/usr/lib/perf-core", "/usr/libexec/perf-core", "/usr/share/perf-core" };

static const char *scripts_folder(void)
{
	const char *said = getenv("PERF_EXEC_PATH");

	if (said)
		return said;
	for (size_t i = 0; i < ARRAY_SIZE(perf_folders); i++)
		if (!access(perf_folders[i], R_OK))
			return perf_folders[i];
	return perf_folders[0];
}

void perf_scripts_environment(void)
{
	char own[4096];
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[len > 0 ? len : 0] = '\0';
	setenv("PSTAT", own, 1);
	setenv("PERF_EXEC_PATH", scripts_folder(), 0);
}

char *perf_scripts_find(const char *name)
{
	const char *language = strncmp(name, "py:", 3) ? strncmp(name, "python:", 7) ? name : name + 7 : name + 3;
	struct str path = STR_INIT;

	if (!strncmp(name, "pl:", 3) || !strncmp(name, "perl:", 5) ||
	    (strlen(name) > 3 && !strcmp(name + strlen(name) - 3, ".pl"))) {
		message_error("script: '%s': scripts in Perl are not run; those in Python are", name);
		return NULL;
	}
	if (!access(language, R_OK))
		return xstrdup(language);
	str_addf(&path, "%s/scripts/python/%s.py", scripts_folder(), language);
	if (!strchr(language, '/') && !access(path.s, R_OK))
		return str_detach(&path);
	message_error("script: '%s': %s, nor is there %s", name, strerror(ENOENT), path.s);
	str_release(&path);
	return NULL;
}

/* ---- a script by its name ---- */

/*
 * The shell's part: what is called perf there is this program. The name is $0, and all else are the script's arguments.
 */
#define AS_PERF "perf() { \"$PSTAT\" \"$@\"; }\n"
static const char record_commands[] = AS_PERF ". \"$0-record\"\n";
static const char report_commands[] = AS_PERF ". \"$0-report\"\n";
static const char live_commands[] = AS_PERF "( set -- -q -o - \"$@\"; . \"$0-record\" ) | "
					    "( set -- -i -; . \"$0-report\" )\n";

/* A word that is no option: a command to record. Values of options are taken for one, as perf does. */
static bool has_command(char *const *argv)
{
	for (; *argv; argv++)
		if (**argv != '-')
			return true;
	return false;
}

/* "PATH-record" or "PATH-report" is there. */
static bool has_part(const char *path, const char *part)
{
	struct str file = STR_INIT;
	bool found;

	str_addf(&file, "%s-%s", path, part);
	found = !access(file.s, R_OK);
	str_release(&file);
	return found;
}

static int execute(const char *shell_text, const char *path, bool records, char *const *argv)
{
	char shell[] = "sh", flag[] = "-c", all[] = "-a";
	char **words;
	size_t n = 0;

	while (argv[n])
		n++;
	words = xcalloc(n + 6, sizeof(*words));
	words[0] = shell;
	words[1] = flag;
	words[2] = (char *)(uintptr_t)shell_text;
	words[3] = (char *)(uintptr_t)path;
	if (records && !has_command(argv))
		words[4] = all;
	memcpy(words + (words[4] ? 5 : 4), argv, n * sizeof(*words));
	perf_scripts_environment();
	execvp(shell, words);
	message_error("script: sh: %s", strerror(errno));
	free(words);
	return EXIT_PSTAT_FAILED;
}

int perf_scripts_run(char *const *argv)
{
	bool record = !strcmp(argv[0], "record"), report = !strcmp(argv[0], "report");
	const char *name = record || report ? argv[1] : argv[0];
	struct str path = STR_INIT;
	int status;

	if (!name || strchr(name, '/'))
		return bad_usage("script: %s: the name of a script follows; -l lists them", argv[0]);
	str_addf(&path, "%s/scripts/python/bin/%s", scripts_folder(), name);
	if ((!report && !has_part(path.s, "record")) || (!record && !has_part(path.s, "report")))
		status = bad_usage("script: '%s' is neither an option nor a script; -i names a recording, "
				   "-l lists scripts", name);
	else
		status = execute(record ? record_commands : report ? report_commands : live_commands, path.s, !report,
				 argv + (record || report ? 2 : 1));
	str_release(&path);
	return status;
}

/* ---- the list ---- */

static int is_report(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 7 && !strcmp(entry->d_name + len - 7, "-report");
}

/* The rest of the line that begins so; the caller frees it. NULL: there is none. */
static char *line_of(const char *path, const char *begins)
{
	FILE *in = fopen(path, "re");
	char *line = NULL, *found = NULL;
	size_t cap = 0;

	while (in && !found && getline(&line, &cap, in) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, begins, strlen(begins)))
			found = xstrdup(line + strlen(begins));
	}
	free(line);
	if (in)
		fclose(in);
	return found;
}

void perf_scripts_list(struct str *out)
{
	struct dirent **entries = NULL;
	struct str folder = STR_INIT;
	int n;

	str_addf(&folder, "%s/scripts/python/bin", scripts_folder());
	n = scandir(folder.s, &entries, is_report, alphasort);
	str_add(out, n > 0 ? "List of available trace scripts:\n" : "");
	for (int i = 0; i < n; i++) {
		struct str path = STR_INIT, name = STR_INIT;
		char *description, *arguments;

		str_addf(&path, "%s/%s", folder.s, entries[i]->d_name);
		description = line_of(path.s, "# description: ");
		arguments = line_of(path.s, "# args: ");
		str_addf(&name, "%.*s%s%s", (int)strlen(entries[i]->d_name) - 7, entries[i]->d_name,
			 arguments ? " " : "", arguments ? arguments : "");
		str_add(out, "  ");
		str_add_printable(out, name.s, name.len);
		if (description) {
			str_pad(out, ' ', name.len < 36 ? 37 - name.len : 1);
			str_add_printable(out, description, strlen(description));
		}
		str_addc(out, '\n');
		free(description);
		free(arguments);
		free(entries[i]);
		str_release(&path);
		str_release(&name);
	}
	free(entries);
	str_release(&folder);
}
