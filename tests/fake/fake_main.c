/* SPDX-License-Identifier: MIT */
/*
 * pstat-fake: pstat's own main program on the scripted kernel.
 */
#include "cmd/cmd.h"
#include "fake.h"

#include <stdlib.h>

static const char *variable(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

int main(int argc, char **argv)
{
	const struct kern kern = {
		.sys = &fake_sys,
		.host = { .sysfs = variable("FAKE_SYSFS", "/sys"),
			  .procfs = variable("FAKE_PROCFS", "/proc"),
			  .tracefs = variable("FAKE_TRACEFS", "/sys/kernel/tracing") },
	};

	if (getenv("FAKE_SCRIPT"))
		fake_script_read(getenv("FAKE_SCRIPT"));
	if (getenv("FAKE_LOG"))
		fake_log_open(getenv("FAKE_LOG"));
	return pstat_main(argc, argv, &kern);
}
