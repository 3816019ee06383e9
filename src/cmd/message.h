/* SPDX-License-Identifier: MIT */
/*
 * message: the only place that prints errors, notes and warnings: "pstat: <what>: <why>" and, where
 * there is something to do about it, one indented line more. Each goes to stderr in one write, after
 * what stdout has so far.
 */
#ifndef PSTAT_MESSAGE_H
#define PSTAT_MESSAGE_H

#include "kern/kern.h"

/* Prints an error. The text may have several lines; each is made printable. */
void message_error(const char *fmt, ...) PRINTF_LIKE(1, 2);
void message_error_of(const char *fmt, va_list ap);
/* Prints that standard output could not be written, errno's number saying why. EXIT_PSTAT_FAILED. */
int message_stdout_failed(int code);

/* Notes from `from` on, verbose ones only if asked for. Returns how many there are in the list now. */
size_t message_notes(const struct note_list *notes, size_t from, bool verbose);

/* -v, of an event: where it is open, or the call that failed and what to do about it. */
void message_counter(const struct counter *counter);

/* All of text to stdout; 0, or EXIT_PSTAT_FAILED with a message. Buffered output goes first. */
int message_stdout(const struct str *text);

/* Adds what became of the waits: those that are no samples have a line for each reason. */
struct off_cpu_totals;
struct sampling;
void message_add_waits(struct str *out, const struct off_cpu_totals *off, const struct sampling *sampling);

/* Flushes stdout at the end of pstat: `status`, or a failure with a message where it could not be written. */
int message_flush_stdout(int status);

#endif
