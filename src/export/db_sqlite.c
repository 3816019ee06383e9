/*
 * Databases by libsqlite3, which is loaded when one is written; the only file that knows it. Statements are prepared
 * once; one thread has it; there is one transaction and no journal: until it has ended the file is nobody's, and what
 * was begun and not ended is thrown away by the caller.
 *
 * Source: sqlite3.h, sqlite.org/c3ref.
 */
#include "export/db.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>

#define LIBSQLITE "libsqlite3.so.0"

#define SQLITE_FUNCTIONS(FN)                                                                     \
	FN(sqlite3_open_v2) FN(sqlite3_close) FN(sqlite3_exec) FN(sqlite3_prepare_v2)             \
	FN(sqlite3_finalize) FN(sqlite3_step) FN(sqlite3_reset) FN(sqlite3_bind_int64)            \
	FN(sqlite3_bind_null) FN(sqlite3_bind_text) FN(sqlite3_errmsg) FN(sqlite3_config)

struct sqlite {
#define MEMBER(name) __typeof__(name) *name;
	SQLITE_FUNCTIONS(MEMBER)
#undef MEMBER
};

struct db {
	const struct sqlite *lib;
	sqlite3 *handle;
};
struct db_insert {
	struct db *db;
	sqlite3_stmt *statement;
	unsigned n_columns;
	int at; /* the column before the next */
	struct str text;
};

static const struct sqlite *load(struct str *err)
{
	static const struct library_symbol symbols[] = {
#define ROW(name) { #name, offsetof(struct sqlite, name) },
		SQLITE_FUNCTIONS(ROW)
#undef ROW
	};
	static struct sqlite functions;
	static bool loaded;

	if (loaded)
		return &functions;
	if (!library_load(LIBSQLITE, symbols, ARRAY_SIZE(symbols), &functions, err))
		return NULL;
	loaded = true;
	/* One thread of this program has it, and nobody asks how much memory it takes: a lock less at each turn. */
	functions.sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	functions.sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	return &functions;
}

int db_try(struct str *err)
{
	return load(err) ? 0 : -ENOENT;
}

static int fail_db(const struct db *db, struct str *err)
{
	return fail(err, -EIO, "the database can't be written: %s", db->lib->sqlite3_errmsg(db->handle));
}

int db_execute(struct db *db, const char *sql, struct str *err)
{
	return db->lib->sqlite3_exec(db->handle, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail_db(db, err);
}

int db_open(struct db **result, const char *path, struct str *err)
{
	const struct sqlite *lib = load(err);
	struct db *db;

	*result = NULL;
	if (!lib)
		return -ENOENT;
	*result = db = xcalloc(1, sizeof(*db));
	db->lib = lib;
	if (lib->sqlite3_open_v2(path, &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return fail_db(db, err);
	return db_execute(db,
			  "PRAGMA page_size=16384; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
			  "PRAGMA locking_mode=EXCLUSIVE; BEGIN",
			  err);
}

int db_commit(struct db *db, struct str *err)
{
	return db_execute(db, "COMMIT", err);
}

void db_close(struct db *db)
{
	if (db && db->handle)
		db->lib->sqlite3_close(db->handle);
	free(db);
}

int db_insert_new(struct db_insert **result, struct db *db, const char *table, unsigned n_columns, struct str *err)
{
	struct db_insert *insert = xcalloc(1, sizeof(*insert));
	struct str sql = STR_INIT;
	int code = 0;

	*result = insert;
	*insert = (struct db_insert){ .db = db, .n_columns = n_columns, .text = STR_INIT };
	str_addf(&sql, "INSERT INTO %s VALUES(", table);
	for (unsigned i = 0; i < n_columns; i++)
		str_add(&sql, i ? ",?" : "?");
	str_addc(&sql, ')');
	if (db->lib->sqlite3_prepare_v2(db->handle, sql.s, -1, &insert->statement, NULL) != SQLITE_OK)
		code = fail_db(db, err);
	str_release(&sql);
	return code;
}

void db_insert_free(struct db_insert *insert)
{
	if (!insert)
		return;
	insert->db->lib->sqlite3_finalize(insert->statement);
	str_release(&insert->text);
	free(insert);
}

void db_number(struct db_insert *insert, int64_t value)
{
	insert->db->lib->sqlite3_bind_int64(insert->statement, ++insert->at, value);
}

void db_null(struct db_insert *insert)
{
	insert->db->lib->sqlite3_bind_null(insert->statement, ++insert->at);
}

void db_text(struct db_insert *insert, const char *text)
{
	if (!text) {
		db_null(insert);
		return;
	}
	str_reset(&insert->text);
	str_add_printable(&insert->text, text, strlen(text));
	insert->db->lib->sqlite3_bind_text(insert->statement, ++insert->at, insert->text.s, (int)insert->text.len,
					   SQLITE_TRANSIENT);
}

int db_row(struct db_insert *insert, struct str *err)
{
	const struct sqlite *lib = insert->db->lib;

	while (insert->at < (int)insert->n_columns)
		db_null(insert);
	insert->at = 0;
	if (lib->sqlite3_step(insert->statement) != SQLITE_DONE || lib->sqlite3_reset(insert->statement) != SQLITE_OK)
		return fail_db(insert->db, err);
	return 0;
}
