/* SPDX-License-Identifier: MIT */
/*
 * smi_freeze: --smi-cost. A system management interrupt takes the CPU away without a word to the kernel. Its cycles
 * show where one counter goes on in it (APERF) and another stands still (cycles), which sysfs switches for the
 * whole machine. So it is put back to what it was, whatever ends the run.
 *
 * Sources: Linux, arch/x86/events/intel/core.c, freeze_on_smi; Intel SDM vol. 3B,
 * IA32_DEBUGCTL.FREEZE_WHILE_SMM.
 */
#include "stat/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static char *switch_path(const struct run *run)
{
	return xasprintf("%s/bus/event_source/devices/cpu/freeze_on_smi", run->plan->kern->host.sysfs);
}

static int set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int rc = fd < 0 ? -errno : write_all(fd, value, strlen(value));

	if (fd >= 0 && close(fd) && !rc)
		rc = -errno;
	return rc;
}

int smi_freeze_begin(struct run *run)
{
	uint64_t on = 1;
	char *path;
	int rc;

	if (!run->plan->smi_cost)
		return 0;
	path = switch_path(run);
	rc = read_u64_file(path, &on);
	if (rc)
		fail(run->err, rc, "--smi-cost: the core's unit does not freeze counters (%s: %s)", path,
		     strerror(-rc));
	else if (!on && (rc = set(path, "1")))
		fail(run->err, rc, "--smi-cost: %s: %s%s", path, strerror(-rc),
		     rc == -EACCES ? "\nrun pstat as root" : "");
	run->smis_frozen = !rc && !on;
	free(path);
	return rc;
}

void smi_freeze_end(struct run *run)
{
	char *path = switch_path(run);
	int rc = run->smis_frozen ? set(path, "0") : 0;

	if (rc)
		note_add(run->plan->notes, false, NULL, "--smi-cost: %s stays 1: %s", path, strerror(-rc));
	run->smis_frozen = false;
	free(path);
}
