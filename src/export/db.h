/* SPDX-License-Identifier: MIT */
/*
 * db: a database file that is written once, from nothing, in one transaction. db_sqlite.c has libsqlite3 for it,
 * db_sqlite_none.c stands where it was left out; no caller knows which.
 *
 * Functions return 0, or a negative errno with a sentence.
 */
#ifndef PSTAT_DB_H
#define PSTAT_DB_H

#include "util/util.h"

struct db;
struct db_insert; /* rows of one table */

/* Can databases be written? -ENOSYS: left out of the build; another: it can't be loaded. */
int db_try(struct str *err);

/* fd: an empty file, open for reading and writing; borrowed. The transaction has begun. Close it in every case. */
int db_open(struct db **db, int fd, struct str *err);
/* Ends the transaction; without it nothing of what was written is there. */
int db_commit(struct db *db, struct str *err);
void db_close(struct db *db); /* NULL is fine */
int db_execute(struct db *db, const char *sql, struct str *err);

/* Rows of n_columns. The caller frees it before the database is closed. */
int db_insert_new(struct db_insert **insert, struct db *db, const char *table, unsigned n_columns, struct str *err);
void db_insert_free(struct db_insert *insert); /* NULL is fine */
/* The columns of the next row, from the first on; those that are not set are NULL. */
void db_number(struct db_insert *insert, int64_t value);
void db_null(struct db_insert *insert);
/* Characters that cannot be printed, and bytes that are not UTF-8, become \xNN; NULL: no value. */
void db_text(struct db_insert *insert, const char *text);
int db_row(struct db_insert *insert, struct str *err);

#endif
