/* SPDX-License-Identifier: MIT */
/*
 * line: what the lines of calls and of other events have in common. Private to syscall/.
 */
#ifndef PSTAT_SYSCALL_LINE_H
#define PSTAT_SYSCALL_LINE_H

#include "syscall/syscall.h"

void line_add_hex(struct str *out, uint64_t value);
void line_add_signed(struct str *out, int64_t value);
/* Bytes between two quotes. None of "<>\ and of line feeds and tabs is bare in between; others are \xNN. */
void line_add_text(struct str *out, const char *bytes, size_t len, const char quotes[2]);
/* "     0.054" */
void line_add_when(const struct syscall_lines *lines, uint64_t ns, struct str *out);
/* " [001]", where CPUs are printed; sample NULL: it is not known. */
void line_add_cpu(const struct syscall_lines *lines, const struct replay_sample *sample, struct str *out);
/* "ls/10623 " */
void line_add_who(const struct syscall_lines *lines, const struct thread *thread, struct str *out);
/* " (ls)": the name of the thread with this number, where it is known. */
void line_add_task(const struct syscall_lines *lines, int64_t tid, struct str *out);
/* The name that the kernel gives to what is mapped, raw bytes. */
const char *line_file(const struct dso *dso);
/* "time": seconds with all digits */
void line_add_json_time(struct str *out, uint64_t ns);
/* ,"comm":"ls","pid":10623,"tid":10623 */
void line_add_json_who(const struct syscall_lines *lines, const struct thread *thread, struct str *out);

#endif
