/* SPDX-License-Identifier: MIT */
/*
 * Names of addresses, and probes by function: see require.h.
 */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "libpstat.h"
#include "require.h"

static struct pstat_error error = { sizeof(error), 0, "" };
static struct pstat_name found;

/* Two functions that are in no other program; the second is called a known number of times. */
__attribute__((noinline)) static int names_static_function(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}
int names_probed_function(int n);
__attribute__((noinline)) int names_probed_function(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 2;
}

static struct pstat_names *names_new(void)
{
	struct pstat_names *names;

	REQUIRE(pstat_names_new(&names, &error) == 0);
	return names;
}

static int name_of(struct pstat_names *names, int pid, uintptr_t address)
{
	memset(&found, 0x55, sizeof(found));
	found.size = sizeof(found);
	return pstat_name_of(names, pid, address, &found, &error);
}

static char *own_path(void)
{
	static char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	REQUIRE(n > 0);
	path[n] = '\0';
	return path;
}

static uintptr_t static_function(void)
{
	return (uintptr_t)names_static_function;
}

static void is_static_function(int rc, uint64_t offset)
{
	REQUIRE(rc == 1 && !found.reason);
	REQUIRE(!strcmp(found.function, "names_static_function") && found.offset == offset);
}

static void own(void)
{
	struct pstat_names *names = names_new();
	char *program = own_path();
	uint64_t file_address;

	is_static_function(name_of(names, 0, static_function() + 2), 2);
	REQUIRE(!strcmp(found.file, program));
	file_address = found.file_address;
	is_static_function(name_of(names, getpid(), static_function()), 0);
	REQUIRE(!strcmp(found.file, program) && found.file_address == file_address - 2);
	/* What others have exported; a program at a fixed address has a piece of its own of that name. */
	REQUIRE(name_of(names, 0, (uintptr_t)getppid) == 1 && strstr(found.function, "getppid"));
	pstat_names_free(names);
}

/* Where there is no name a reason is given; and a struct that is shorter than ours is left alone after its end. */
static void no_name(void)
{
	struct pstat_names *names = names_new();
	char *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	REQUIRE(page != MAP_FAILED);
	REQUIRE(name_of(names, 0, (uintptr_t)page) == 0 && !found.function && !found.file);
	REQUIRE(!strcmp(found.reason, "no file is mapped there"));
	munmap(page, 4096);
	pstat_names_forget(names, 0);
	REQUIRE(name_of(names, 0, 16) == 0 && !found.function && !strcmp(found.reason, "nothing is mapped there"));
	REQUIRE(name_of(names, -1, 16) == -EINVAL);
	REQUIRE(pstat_name_of(NULL, 0, 16, &found, &error) == -EINVAL);
	memset(&found, 0x55, sizeof(found));
	found.size = offsetof(struct pstat_name, offset);
	REQUIRE(pstat_name_of(names, 0, static_function(), &found, NULL) == 1);
	REQUIRE(!strcmp(found.function, "names_static_function") && found.offset == 0x5555555555555555);
	pstat_names_free(names);
	pstat_names_free(NULL);
}

/* The executable part of the program's file that the function is in, mapped once more. */
static char *map_again(const char *path, uintptr_t *function)
{
	const uintptr_t page = static_function() & ~(uintptr_t)4095;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned long start, end, offset, at = 0;
	FILE *maps = fopen("/proc/self/maps", "r");
	char *again, line[5000];

	REQUIRE(fd >= 0 && maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && page >= start && page < end)
			at = offset + (page - start);
	fclose(maps);
	again = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)at);
	REQUIRE(again != MAP_FAILED);
	close(fd);
	*function = (uintptr_t)again + (static_function() - page);
	return again;
}

/* An address of none of the maps that were read may have been mapped since. */
static void mapped_later(void)
{
	struct pstat_names *names = names_new();
	uintptr_t again;

	is_static_function(name_of(names, 0, static_function()), 0);
	map_again(own_path(), &again);
	is_static_function(name_of(names, 0, again + 1), 1);
	pstat_names_free(names);
}

static void copy(const char *from, int to)
{
	int fd = open(from, O_RDONLY | O_CLOEXEC);
	static char bytes[65536];
	ssize_t n;

	REQUIRE(fd >= 0 && to >= 0);
	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		REQUIRE(write(to, bytes, (size_t)n) == n);
	close(fd);
}

/* A file that was deleted is reached by its map, by those who may; one in its place is never taken for it. */
static void replaced(void)
{
	char path[] = "/tmp/names-XXXXXX";
	struct pstat_names *names = names_new();
	int fd = mkstemp(path), rc;
	uintptr_t again;

	copy(own_path(), fd);
	close(fd);
	map_again(path, &again);
	/* Maps are read, symbols of the copy are not. */
	is_static_function(name_of(names, 0, static_function()), 0);
	REQUIRE(unlink(path) == 0);
	copy("/bin/sh", open(path, O_WRONLY | O_CREAT | O_EXCL, 0600));
	rc = name_of(names, 0, again + 1);
	REQUIRE(rc == 0 && strstr(found.reason, "replaced"));
	pstat_names_free(names);
	names = names_new();
	rc = name_of(names, 0, again + 1);
	unlink(path);
	REQUIRE(!strcmp(found.file, path));
	if (rc)
		is_static_function(rc, 1);
	else
		REQUIRE(found.reason[0] && !found.function);
	pstat_names_free(names);
}

static pid_t sleeping_child(void)
{
	pid_t child = fork();

	REQUIRE(child >= 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return child;
}

/* What was read of a process is known after its end; then it is forgotten. */
static void others(void)
{
	struct pstat_names *names = names_new();
	pid_t child = sleeping_child();

	is_static_function(name_of(names, child, static_function() + 1), 1);
	kill(child, SIGKILL);
	/* A task that is ending has no maps any more. */
	REQUIRE(waitid(P_PID, (id_t)child, &(siginfo_t){ 0 }, WEXITED | WNOWAIT) == 0);
	REQUIRE(name_of(names, child, 16) == 0);
	is_static_function(name_of(names, child, static_function() + 2), 2);
	REQUIRE(waitpid(child, NULL, 0) == child);
	REQUIRE(name_of(names, child, 16) == 0);
	is_static_function(name_of(names, child, static_function() + 3), 3);
	pstat_names_forget(names, child);
	REQUIRE(name_of(names, child, static_function()) == -ESRCH);
	SAYS(error, "it has ended");
	pstat_names_free(names);
}

/* The kernel's addresses as /proc/kallsyms has them, where it shows them. */
static void kernel(void)
{
	struct pstat_names *names = names_new();
	FILE *list = fopen("/proc/kallsyms", "r");
	unsigned long long address = 0, first = 0;
	char type, name[600], one[600] = "";
	int rc;

	REQUIRE(list);
	/* The first function that no other name shares its address with. */
	while (fscanf(list, "%llx %c %599s%*[^\n]", &address, &type, name) == 3) {
		if (first && address > first + 1)
			break;
		first = type == 'T' && address != first ? address : 0;
		memcpy(one, name, sizeof(one));
	}
	fclose(list);
	rc = name_of(names, 0, first ? first + 1 : UINT64_MAX / 2 + 4096);
	REQUIRE(!strcmp(found.file, "[kernel]"));
	if (!first) {
		REQUIRE(rc == 0 && found.reason);
		SKIP("the kernel's addresses are hidden: %s", found.reason);
	}
	REQUIRE(rc == 1 && found.offset == 1 && !strcmp(found.function, one));
	pstat_names_free(names);
}

/* A probe on a function by its name counts its calls; where only its offset was known before. */
static void probe(void)
{
	char text[5000];
	struct pstat_events *events;
	struct pstat_counters *counters;
	struct pstat_readings *readings;
	int sum = 0;

	REQUIRE(pstat_events_new(&events) == 0);
	snprintf(text, sizeof(text), "uprobe/path=%s,func=no_such_function/", own_path());
	if (pstat_events_parse(events, text, &error) == -ENOENT && strstr(error.text, "no uprobes"))
		SKIP("%s", error.text);
	SAYS(error, "has no function 'no_such_function'");
	snprintf(text, sizeof(text), "uprobe/path=%s,func=names_probed_function/", own_path());
	REQUIRE(pstat_events_parse(events, text, &error) == 0);
	REQUIRE(!strcmp(pstat_events_name(events, 0), "probe_names:names_probed_function"));
	if (pstat_open(&counters, events, NULL, &error) || !pstat_counter(counters, 0)->supported)
		SKIP("a probe cannot be opened: %s",
		     error.text[0] ? error.text : pstat_counter(counters, 0)->reason);
	REQUIRE(pstat_readings_new(&readings, counters) == 0);
	REQUIRE(pstat_enable(counters) == 0);
	for (int i = 0; i < 77; i++)
		sum += names_probed_function(i);
	REQUIRE(pstat_disable(counters) == 0 && pstat_read(counters, readings) == 0);
	REQUIRE(sum == 77 * 78 / 2 + 77 && pstat_reading_at(readings, 0)->raw == 77);
	pstat_readings_free(readings);
	pstat_close(counters);
	pstat_events_free(events);
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

/* Files that are cut and changed at random places: an answer, whatever it is, and nothing else. */
static void hostile(void)
{
	static char bytes[1 << 20], text[200], path[] = "/tmp/names-XXXXXX";
	const char *from = getenv("SMALL_PROGRAM");
	int in = from ? open(from, O_RDONLY | O_CLOEXEC) : -1, fd = mkstemp(path);
	ssize_t n = read(in, bytes, sizeof(bytes));
	uint32_t state = 1;
	size_t answers = 0;

	REQUIRE(n > 4096 && fd >= 0);
	snprintf(text, sizeof(text), "uprobe/path=%s,func=main/", path);
	for (int round = 0; round < 400; round++) {
		struct pstat_events *events;
		struct pstat_names *names = names_new();
		size_t cut = round % 4 ? (size_t)n : next_random(&state) % (size_t)n;
		char *map;

		REQUIRE(pread(in, bytes, sizeof(bytes), 0) == n);
		/* The headers at both ends are what leads to all else. */
		for (uint32_t i = next_random(&state) % 16; i; i--) {
			size_t room = i % 2 ? 1024 : (size_t)n, at = next_random(&state) % room;

			bytes[i % 3 ? at : (size_t)n - 1 - at] = (char)next_random(&state);
		}
		REQUIRE(ftruncate(fd, 0) == 0 && pwrite(fd, bytes, cut, 0) == (ssize_t)cut);
		REQUIRE(pstat_events_new(&events) == 0);
		answers += pstat_events_parse(events, text, &error) == 0;
		pstat_events_free(events);
		map = mmap(NULL, 4096 * 16, PROT_READ, MAP_PRIVATE, fd, 0);
		REQUIRE(map != MAP_FAILED);
		for (size_t at = 0; at < 4096 * 16; at += 512)
			answers += name_of(names, 0, (uintptr_t)map + at) == 1;
		munmap(map, 4096 * 16);
		pstat_names_free(names);
	}
	unlink(path);
	REQUIRE(answers > 100);
}

static const struct use uses[] = {
	{ "own", own },	      { "no-name", no_name }, { "mapped-later", mapped_later }, { "replaced", replaced },
	{ "others", others }, { "kernel", kernel },   { "probe", probe },		{ "hostile", hostile },
};

int main(int argc, char **argv)
{
	return run_use(uses, sizeof(uses) / sizeof(*uses), argc, argv);
}
