/* SPDX-License-Identifier: MIT */
/*
 * The memory scope: all that a call has allocated and opened, so that nothing of it is left when memory runs out.
 *
 *	lib_run ---> body ---> event/, kern/, util/ ---> malloc, open, ... of this file ---> the ledger, and libc's
 *	   ^                                                  | no memory
 *	   '------------------- longjmp ----------------------'   then all in the ledger is freed and closed: -ENOMEM
 *
 * The linker puts __wrap_malloc and so on in place of malloc and so on where the library is made (--wrap in the
 * Makefile); in the program nobody calls them. The memory that they hand out is libc's own, so that it may be freed
 * anywhere; the ledger lies beside it. Outside a scope, which is after opening, they are what they stand for.
 *
 * A call of libc that fails for want of memory is the end of the scope, whichever it is: no caller has to tell a file
 * that is not there from a file that could not be opened for that.
 *
 * The pointer to the scope is the thread's; it is not NULL only while a call of the library runs.
 */
#include "count/lib.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { NOTHING, MEMORY, DESCRIPTOR, FOLDER, STREAM, CPUS, MAPPING };

struct ledger_entry {
	enum kind kind; /* NOTHING: a free place */
	uintptr_t key;
	size_t bytes; /* of a mapping */
};

/* Most calls need no more than this. */
enum { ENTRIES_AT_FIRST = 64 };

struct scope {
	struct ledger_entry *v; /* open addressing, a power of two, at most half full */
	size_t cap, n;
	struct ledger_entry at_first[ENTRIES_AT_FIRST];
	jmp_buf out;
	struct scope *outer;
};

static _Thread_local struct scope *current __attribute__((tls_model("initial-exec")));

/* ---- the ledger ---- */

static size_t place_of(const struct scope *scope, enum kind kind, uintptr_t key)
{
	return (size_t)((key ^ (key >> 17) ^ (uintptr_t)kind) * 0x9e3779b97f4a7c15ull >> 20) & (scope->cap - 1);
}

static struct ledger_entry *find(const struct scope *scope, enum kind kind, uintptr_t key)
{
	size_t i = place_of(scope, kind, key);

	while (scope->v[i].kind && (scope->v[i].kind != kind || scope->v[i].key != key))
		i = (i + 1) & (scope->cap - 1);
	return &scope->v[i];
}

static void put(struct scope *scope, enum kind kind, uintptr_t key, size_t bytes)
{
	*find(scope, kind, key) = (struct ledger_entry){ kind, key, bytes };
	scope->n++;
}

/* Entries after it move up, so that each is still found from its own place. */
static void strike(struct scope *scope, enum kind kind, uintptr_t key)
{
	struct ledger_entry *hole = find(scope, kind, key);
	size_t i = (size_t)(hole - scope->v);

	if (!hole->kind)
		return;
	scope->n--;
	for (size_t k = (i + 1) & (scope->cap - 1); scope->v[k].kind; k = (k + 1) & (scope->cap - 1)) {
		size_t home = place_of(scope, scope->v[k].kind, scope->v[k].key);

		if (((k - home) & (scope->cap - 1)) < ((k - i) & (scope->cap - 1)))
			continue;
		scope->v[i] = scope->v[k];
		i = k;
	}
	scope->v[i].kind = NOTHING;
}

_Noreturn static void out_of_memory(void)
{
	longjmp(current->out, 1);
}

/* Room for one more entry is there before anything is taken. */
static void make_room(void)
{
	struct scope *scope = current, grown;

	if (!scope || scope->n < scope->cap / 2)
		return;
	grown.cap = scope->cap * 2;
	grown.n = 0;
	grown.v = calloc(grown.cap, sizeof(*grown.v));
	if (!grown.v)
		out_of_memory();
	for (size_t i = 0; i < scope->cap; i++)
		if (scope->v[i].kind)
			put(&grown, scope->v[i].kind, scope->v[i].key, scope->v[i].bytes);
	if (scope->v != scope->at_first)
		free(scope->v);
	scope->v = grown.v;
	scope->cap = grown.cap;
}

static void give_back(const struct ledger_entry *entry)
{
	switch (entry->kind) {
	case NOTHING:
		break;
	case MEMORY:
		free((void *)entry->key);
		break;
	case DESCRIPTOR:
		close((int)entry->key);
		break;
	case FOLDER:
		closedir((DIR *)entry->key);
		break;
	case STREAM:
		fclose((FILE *)entry->key);
		break;
	case CPUS:
		CPU_FREE((cpu_set_t *)entry->key);
		break;
	case MAPPING:
		munmap((void *)entry->key, entry->bytes);
		break;
	}
}

static void begin(struct scope *scope)
{
	memset(scope->at_first, 0, sizeof(scope->at_first));
	scope->v = scope->at_first;
	scope->cap = ENTRIES_AT_FIRST;
	scope->n = 0;
	scope->outer = current;
	current = scope;
}

static void end(struct scope *scope, bool keep)
{
	current = scope->outer;
	for (size_t i = 0; !keep && i < scope->cap; i++)
		give_back(&scope->v[i]);
	if (scope->v != scope->at_first)
		free(scope->v);
}

int lib_run(int (*body)(void *data, struct str *err), void *data, struct pstat_error *error)
{
	struct scope scope;
	struct str err = STR_INIT;
	int rc;

	begin(&scope);
	if (setjmp(scope.out)) {
		end(&scope, false);
		return lib_error(error, -ENOMEM, "out of memory");
	}
	rc = body(data, &err);
	if (rc < 0)
		lib_own_sentence(&err);
	lib_error(error, rc, err.s);
	str_release(&err);
	end(&scope, rc >= 0);
	return rc;
}

/* ---- in place of libc's ---- */

void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_reallocarray(void *old, size_t n, size_t bytes);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
void __wrap_free(void *p);
int __wrap_open(const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);
int __wrap_epoll_create1(int flags);
int __wrap_close(int fd);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
DIR *__wrap_opendir(const char *path);
int __wrap_closedir(DIR *folder);
FILE *__wrap_fopen(const char *path, const char *mode);
int __wrap_fclose(FILE *file);
cpu_set_t *__wrap___sched_cpualloc(size_t n);
void __wrap___sched_cpufree(cpu_set_t *cpus);
void *__wrap_mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *addr, size_t bytes);

static void *taken(enum kind kind, void *p)
{
	if (!current)
		return p;
	if (!p && errno == ENOMEM)
		out_of_memory();
	if (p)
		put(current, kind, (uintptr_t)p, 0);
	return p;
}

static int taken_fd(int fd)
{
	if (!current)
		return fd;
	if (fd < 0 && errno == ENOMEM)
		out_of_memory();
	if (fd >= 0)
		put(current, DESCRIPTOR, (uintptr_t)fd, 0);
	return fd;
}

static void given_back(enum kind kind, uintptr_t key)
{
	if (current)
		strike(current, kind, key);
}

void *__wrap_malloc(size_t bytes)
{
	make_room();
	return taken(MEMORY, malloc(bytes));
}

void *__wrap_calloc(size_t n, size_t bytes)
{
	make_room();
	return taken(MEMORY, calloc(n, bytes));
}

void *__wrap_reallocarray(void *old, size_t n, size_t bytes)
{
	void *p;

	make_room();
	if (current && old)
		strike(current, MEMORY, (uintptr_t)old);
	p = reallocarray(old, n, bytes);
	if (current && old && !p)
		put(current, MEMORY, (uintptr_t)old, 0); /* it is still there */
	return taken(MEMORY, p);
}

void *__wrap_realloc(void *old, size_t bytes)
{
	return __wrap_reallocarray(old, 1, bytes);
}

char *__wrap_strdup(const char *s)
{
	make_room();
	return taken(MEMORY, strdup(s));
}

char *__wrap_strndup(const char *s, size_t n)
{
	make_room();
	return taken(MEMORY, strndup(s, n));
}

void __wrap_free(void *p)
{
	given_back(MEMORY, (uintptr_t)p);
	free(p);
}

int __wrap_openat(int folder, const char *path, int flags, ...)
{
	make_room();
	return taken_fd(openat(folder, path, flags)); /* the library makes no files: there is no mode */
}

int __wrap_open(const char *path, int flags, ...)
{
	make_room();
	return taken_fd(open(path, flags));
}

int __wrap_epoll_create1(int flags)
{
	make_room();
	return taken_fd(epoll_create1(flags));
}

int __wrap_close(int fd)
{
	given_back(DESCRIPTOR, (uintptr_t)fd);
	return close(fd);
}

/* System calls that libc has no function for, and that open a descriptor. */
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (number != SYS_perf_event_open && number != SYS_openat2)
		return syscall(number, a, b, c, d, e, f);
	make_room();
	return taken_fd((int)syscall(number, a, b, c, d, e, f));
}

DIR *__wrap_opendir(const char *path)
{
	make_room();
	return taken(FOLDER, opendir(path));
}

int __wrap_closedir(DIR *folder)
{
	given_back(FOLDER, (uintptr_t)folder);
	return closedir(folder);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	make_room();
	return taken(STREAM, fopen(path, mode));
}

int __wrap_fclose(FILE *file)
{
	given_back(STREAM, (uintptr_t)file);
	return fclose(file);
}

cpu_set_t *__wrap___sched_cpualloc(size_t n)
{
	make_room();
	return taken(CPUS, CPU_ALLOC(n));
}

void __wrap___sched_cpufree(cpu_set_t *cpus)
{
	given_back(CPUS, (uintptr_t)cpus);
	CPU_FREE(cpus);
}

void *__wrap_mmap(void *addr, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	void *p;

	make_room();
	p = mmap(addr, bytes, prot, flags, fd, offset);
	if (current && p == MAP_FAILED && errno == ENOMEM)
		out_of_memory();
	if (current && p != MAP_FAILED)
		put(current, MAPPING, (uintptr_t)p, bytes);
	return p;
}

int __wrap_munmap(void *addr, size_t bytes)
{
	given_back(MAPPING, (uintptr_t)addr);
	return munmap(addr, bytes);
}
