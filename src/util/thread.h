/* SPDX-License-Identifier: MIT */
/*
 * thread: threads that no signal interrupts. Signals are for the threads that were there before, which wait for what
 * handlers tell.
 */
#ifndef PSTAT_UTIL_THREAD_H
#define PSTAT_UTIL_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Calls pthread_create() with all signals masked, a mask that the new thread inherits: 0, or an errno. */
static inline int thread_start(pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *data)
{
	sigset_t all, before;
	int code;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	code = pthread_create(thread, attr, run, data);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code;
}

#endif
