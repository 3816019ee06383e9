/* SPDX-License-Identifier: MIT */
/*
 * db_sqlite_none: in place of db_sqlite.c where the build leaves libsqlite3 out (make WITH_SQLITE=0). No database can
 * be written.
 */
#include "export/db.h"

#include <errno.h>

static int left_out(struct str *err)
{
	return fail(err, -ENOSYS,
		    "this pstat was built without libsqlite3, which writes databases\n"
		    "build it with sqlite3's headers installed, or with WITH_SQLITE=1");
}

int db_try(struct str *err)
{
	return left_out(err);
}

int db_open(struct db **db, int fd, struct str *err)
{
	(void)fd;
	*db = NULL;
	return left_out(err);
}

int db_commit(struct db *db, struct str *err)
{
	(void)db;
	return left_out(err);
}

void db_close(struct db *db)
{
	(void)db;
}

int db_execute(struct db *db, const char *sql, struct str *err)
{
	(void)db, (void)sql;
	return left_out(err);
}

int db_insert_new(struct db_insert **insert, struct db *db, const char *table, unsigned n_columns, struct str *err)
{
	(void)db, (void)table, (void)n_columns;
	*insert = NULL;
	return left_out(err);
}

void db_insert_free(struct db_insert *insert)
{
	(void)insert;
}

void db_number(struct db_insert *insert, int64_t value)
{
	(void)insert, (void)value;
}

void db_null(struct db_insert *insert)
{
	(void)insert;
}

void db_text(struct db_insert *insert, const char *text)
{
	(void)insert, (void)text;
}

int db_row(struct db_insert *insert, struct str *err)
{
	(void)insert;
	return left_out(err);
}
