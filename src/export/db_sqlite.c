/* SPDX-License-Identifier: MIT */
/*
 * Databases by libsqlite3, which is loaded when one is written; the only file that knows it. Statements are prepared
 * once; one thread has it; there is one transaction and no journal: until it has ended the file is nobody's, and what
 * was begun and not ended is thrown away by the caller.
 *
 * SQLite opens files by name, and follows links on the way. A file system of its own (a VFS) gives it the descriptor
 * that the caller has, whose number is the name; the files that it sorts in are its usual ones.
 *
 * Source: sqlite3.h, sqlite.org/c3ref, sqlite.org/vfs.html.
 */
#include "export/db.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBSQLITE "libsqlite3.so.0"

#define SQLITE_FUNCTIONS(FN)                                                                     \
	FN(sqlite3_open_v2) FN(sqlite3_close) FN(sqlite3_exec) FN(sqlite3_prepare_v2)             \
	FN(sqlite3_finalize) FN(sqlite3_step) FN(sqlite3_reset) FN(sqlite3_bind_int64)            \
	FN(sqlite3_bind_null) FN(sqlite3_bind_text) FN(sqlite3_errmsg) FN(sqlite3_config)         \
	FN(sqlite3_vfs_find) FN(sqlite3_vfs_register)

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

/* ---- the file, by its descriptor ---- */

#define VFS_NAME "pstat-descriptor"

struct db_file {
	sqlite3_file base; /* first: SQLite is given this */
	int fd;
};

static int file_close(sqlite3_file *file)
{
	(void)file; /* the descriptor is the caller's */
	return SQLITE_OK;
}

/* Reads zeros after the end of the file, as SQLite asks for. */
static int file_read(sqlite3_file *file, void *to, int size, sqlite3_int64 at)
{
	size_t n = (size_t)size, done = 0;

	while (done < n) {
		ssize_t got = pread(((struct db_file *)file)->fd, (char *)to + done, n - done, at + (off_t)done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return SQLITE_IOERR_READ;
		if (!got)
			break;
		done += (size_t)got;
	}
	memset((char *)to + done, 0, n - done);
	return done < n ? SQLITE_IOERR_SHORT_READ : SQLITE_OK;
}

static int file_write(sqlite3_file *file, const void *from, int n, sqlite3_int64 at)
{
	int rc = write_all_at(((struct db_file *)file)->fd, from, (size_t)n, (uint64_t)at);

	return rc == -ENOSPC ? SQLITE_FULL : rc ? SQLITE_IOERR_WRITE : SQLITE_OK;
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	return ftruncate(((struct db_file *)file)->fd, size) ? SQLITE_IOERR_TRUNCATE : SQLITE_OK;
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size)
{
	struct stat st;

	if (fstat(((struct db_file *)file)->fd, &st))
		return SQLITE_IOERR_FSTAT;
	*size = st.st_size;
	return SQLITE_OK;
}

/* Does nothing for locks and for syncing: there is one writer, and no journal that waits for the disk. */
static int file_no_op(sqlite3_file *file, int how)
{
	(void)file;
	(void)how;
	return SQLITE_OK;
}

static int file_is_locked(sqlite3_file *file, int *is)
{
	(void)file;
	*is = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *file, int what, void *arg)
{
	(void)file;
	(void)what;
	(void)arg;
	return SQLITE_NOTFOUND;
}

static int file_number(sqlite3_file *file)
{
	(void)file;
	return 0; /* sectors: the usual size; the device: nothing is known of it */
}

static const sqlite3_io_methods file_methods = {
	.iVersion = 1,
	.xClose = file_close,
	.xRead = file_read,
	.xWrite = file_write,
	.xTruncate = file_truncate,
	.xSync = file_no_op,
	.xFileSize = file_size,
	.xLock = file_no_op,
	.xUnlock = file_no_op,
	.xCheckReservedLock = file_is_locked,
	.xFileControl = file_control,
	.xSectorSize = file_number,
	.xDeviceCharacteristics = file_number,
};

static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out_flags)
{
	sqlite3_vfs *usual = vfs->pAppData;
	uint64_t fd;

	if (!name)
		return usual->xOpen(usual, name, file, flags, out_flags);
	file->pMethods = NULL;
	if (!(flags & SQLITE_OPEN_MAIN_DB) || parse_u64(name, 10, &fd))
		return SQLITE_CANTOPEN;
	((struct db_file *)file)->fd = (int)fd;
	file->pMethods = &file_methods;
	if (out_flags)
		*out_flags = flags;
	return SQLITE_OK;
}

static int vfs_full_name(sqlite3_vfs *vfs, const char *name, int n, char *full)
{
	(void)vfs;
	return snprintf(full, (size_t)n, "%s", name) < n ? SQLITE_OK : SQLITE_CANTOPEN;
}

/* No other file stands beside a descriptor. */
static int vfs_access(sqlite3_vfs *vfs, const char *name, int how, int *is)
{
	(void)vfs;
	(void)name;
	(void)how;
	*is = 0;
	return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	(void)name;
	(void)sync;
	return SQLITE_OK;
}

/* Copies the usual file system, for what is not about files (the time, random numbers), and replaces the rest. */
static int add_vfs(const struct sqlite *lib)
{
	static sqlite3_vfs vfs;
	sqlite3_vfs *usual = lib->sqlite3_vfs_find(NULL);

	if (!usual)
		return SQLITE_ERROR;
	vfs = *usual;
	vfs.zName = VFS_NAME;
	vfs.pAppData = usual;
	if (vfs.szOsFile < (int)sizeof(struct db_file))
		vfs.szOsFile = sizeof(struct db_file);
	vfs.xOpen = vfs_open;
	vfs.xFullPathname = vfs_full_name;
	vfs.xAccess = vfs_access;
	vfs.xDelete = vfs_delete;
	return lib->sqlite3_vfs_register(&vfs, 0);
}

/* ---- the library ---- */

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
	/* One thread of this program has it, and nobody asks how much memory it takes: a lock less at each turn. */
	functions.sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	functions.sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	if (add_vfs(&functions) != SQLITE_OK) {
		fail(err, -EIO, "%s can't be set up", LIBSQLITE);
		return NULL;
	}
	loaded = true;
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

int db_open(struct db **result, int fd, struct str *err)
{
	const struct sqlite *lib = load(err);
	struct db *db;
	char name[16];

	*result = NULL;
	if (!lib)
		return -ENOENT;
	*result = db = xcalloc(1, sizeof(*db));
	db->lib = lib;
	snprintf(name, sizeof(name), "%d", fd);
	if (lib->sqlite3_open_v2(name, &db->handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, VFS_NAME) != SQLITE_OK)
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
