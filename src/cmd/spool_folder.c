/* SPDX-License-Identifier: MIT */
/*
 * spool_folder.c: see spool_folder.h. In this order: names, folders, the index of an hour, what is there, what goes,
 * what comes. All but opening happens under the lock, so a file beside its place is an ended writer's when it is seen
 * by another one.
 *
 * Hours that have not changed since they were counted are not read again: what a new file costs does not grow with the
 * files that are there, but with the hours.
 */
#include "cmd/spool_folder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	BOOT_DIGITS = 32,
	SEQ_DIGITS = 8, /* at least: names are in the order of their numbers */
	INDEX_BYTES_MAX = 64 << 20,
	LOCK_TRIES = 500,
	LOCK_PAUSE_NS = 20000000,
	SETTLED_S = 2, /* times of files are coarser than changes: a folder that changed later may change unseen */
	SECONDS_OF_HOUR = 3600,
};

static const char ending[] = ".pb.gz", index_name[] = "index.jsonl";

/* A date and an hour, and what was counted there. */
struct spool_hour {
	char date[11], hour[3];
	struct timespec changed; /* the folder, at that time */
	bool settled;
	uint64_t bytes;
	size_t n;
};

/* ---- names ---- */

/* Digits where the pattern has 0, else the same; the pattern's end need not be the text's. */
static bool is_like(const char *text, const char *pattern)
{
	for (; *pattern; text++, pattern++)
		if (*pattern == '0' ? !isdigit((unsigned char)*text) : *text != *pattern)
			return false;
	return true;
}

static bool is_date(const char *name)
{
	return is_like(name, "0000-00-00") && !name[10];
}

static bool is_hour(const char *name)
{
	return is_like(name, "00") && !name[2] && strcmp(name, "24") < 0;
}

static bool is_host_character(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '.';
}

/* A name of this form, as far as it goes. */
struct spool_name {
	const char *host;
	size_t host_len;
	const char *boot; /* BOOT_DIGITS of them */
	uint64_t seq;
	uint64_t time_s; /* since 1970 */
	size_t len; /* of all */
};

/* Reads a name at the start of the text: false: it has another form, or is of another hour. */
static bool parse_name(const char *text, const struct spool_hour *at, struct spool_name *name)
{
	const char *p = text;
	struct tm tm = { 0 };
	size_t digits;

	if (!is_like(text, "00000000T000000Z_") || memcmp(text, at->date, 4) || memcmp(text + 4, at->date + 5, 2) ||
	    memcmp(text + 6, at->date + 8, 2) || memcmp(text + 9, at->hour, 2) ||
	    !strptime(text, "%Y%m%dT%H%M%SZ_", &tm))
		return false;
	*name = (struct spool_name){ .host = text + strlen("00000000T000000Z_"), .time_s = (uint64_t)timegm(&tm) };
	for (p = name->host; is_host_character(*p); p++)
		;
	name->host_len = (size_t)(p - name->host);
	if (!name->host_len || name->host_len > 64 || *p++ != '_')
		return false;
	name->boot = p;
	p += strspn(p, "0123456789abcdef");
	if (p - name->boot != BOOT_DIGITS || *p++ != '_')
		return false;
	for (digits = 0; isdigit((unsigned char)p[digits]) && digits < 18; digits++)
		name->seq = name->seq * 10 + (uint64_t)(p[digits] - '0');
	p += digits;
	name->len = (size_t)(p - text) + strlen(ending);
	return digits >= SEQ_DIGITS && !strncmp(p, ending, strlen(ending));
}

static bool is_name(const char *text, const struct spool_hour *at, struct spool_name *name)
{
	return parse_name(text, at, name) && !text[name->len];
}

/* NAME.PID.new or NAME.PID.RANDOM.new, as destination.h has it, of a file or an index. */
static bool is_beside(const char *text, const struct spool_hour *at)
{
	struct spool_name name;
	size_t n = parse_name(text, at, &name) ? name.len :
	     !strncmp(text, index_name, strlen(index_name)) ? strlen(index_name) : 0;
	const char *p = text + n;

	if (!n || *p++ != '.' || !isdigit((unsigned char)*p))
		return false;
	p += strspn(p, "0123456789");
	if (*p == '.' && strspn(p + 1, "0123456789abcdef") == 8)
		p += 9;
	return !strcmp(p, ".new");
}

static void make_host(char host[65], const char *name)
{
	size_t n = 0;

	for (; *name && n < 64; name++)
		host[n++] = is_host_character(*name) ? *name : '-';
	host[n] = '\0';
	if (!n)
		memcpy(host, "unknown", sizeof("unknown"));
}

/* The letters of the boot id without its dashes; what there is none of is 0. */
static void make_boot(char boot[BOOT_DIGITS + 1], const char *id)
{
	size_t n = 0;

	for (; *id && n < BOOT_DIGITS; id++)
		if (isdigit((unsigned char)*id) || (*id >= 'a' && *id <= 'f'))
			boot[n++] = *id;
	while (n < BOOT_DIGITS)
		boot[n++] = '0';
	boot[n] = '\0';
}

/* ---- folders ---- */

static int fail_at(const struct spool_folder *folder, int code, const char *what, struct str *err)
{
	return fail(err, code, "%s: %s: %s", folder->options.path, what, strerror(-code));
}

/* A folder in another one, no link; -1 with errno. */
static int open_folder(int in, const char *name)
{
	return openat(in, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The same, made where it is not there. -errno. */
static int make_folder(int in, const char *name)
{
	int made = mkdirat(in, name, 0777), fd;

	if (made && errno != EEXIST)
		return -errno;
	fd = open_folder(in, name);
	if (fd < 0)
		return -errno;
	if (!made)
		(void)fsync(in); /* the file in it is synced, and says what there is to say */
	return fd;
}

static int open_hour(const struct spool_folder *folder, const struct spool_hour *at, bool make)
{
	int date = make ? make_folder(folder->v1, at->date) : open_folder(folder->v1, at->date), fd, code;

	if (date < 0)
		return make ? date : -errno;
	fd = make ? make_folder(date, at->hour) : open_folder(date, at->hour);
	code = make || fd >= 0 ? fd : -errno;
	close(date);
	return code;
}

struct spool_entry {
	char *name;
	uint64_t bytes;
};
struct spool_list {
	struct spool_entry *v;
	size_t n, cap;
};

static void list_release(struct spool_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->v[i].name);
	free(list->v);
	*list = (struct spool_list){ 0 };
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct spool_entry *)a)->name, ((const struct spool_entry *)b)->name);
}

static void list_add(struct spool_list *list, const char *name, uint64_t bytes)
{
	VEC_GROW(list->v, list->n, list->cap);
	list->v[list->n++] = (struct spool_entry){ xstrdup(name), bytes };
}

/* All names in the folder, sorted. 0 or -errno; release the list in every case. */
static int list_names(int fd, struct spool_list *list)
{
	int again = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = again < 0 ? NULL : fdopendir(again);
	const struct dirent *entry;
	int code = dir ? 0 : -errno;

	*list = (struct spool_list){ 0 };
	if (!dir && again >= 0)
		close(again);
	while (dir && (entry = readdir(dir)))
		list_add(list, entry->d_name, 0);
	if (dir)
		closedir(dir);
	if (list->n)
		qsort(list->v, list->n, sizeof(*list->v), by_name);
	return code;
}

/* The files of an hour, with their sizes. clean: what an ended writer has left beside is removed. */
static int list_files(int fd, const struct spool_hour *at, bool clean, struct spool_list *files)
{
	struct spool_list all;
	struct spool_name name;
	struct stat st;
	int code = list_names(fd, &all);

	*files = (struct spool_list){ 0 };
	for (size_t i = 0; i < all.n; i++) {
		const char *text = all.v[i].name;
		bool whole = is_name(text, at, &name);

		if ((!whole && !is_beside(text, at)) || fstatat(fd, text, &st, AT_SYMLINK_NOFOLLOW) ||
		    !S_ISREG(st.st_mode))
			continue;
		if (whole)
			list_add(files, text, (uint64_t)st.st_size);
		else if (clean)
			unlinkat(fd, text, 0);
	}
	list_release(&all);
	return code;
}

static int lock_folder(const struct spool_folder *folder, struct str *err)
{
	const struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };

	for (int i = 0; flock(folder->lock, LOCK_EX | LOCK_NB); i++) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return fail_at(folder, -errno, "lock", err);
		if (i >= LOCK_TRIES)
			return fail(err, -EBUSY, "%s: another writer has held the lock for %d s", folder->options.path,
				    (int)(LOCK_TRIES * (LOCK_PAUSE_NS / 1e9)));
		nanosleep(&pause, NULL);
	}
	return 0;
}

static void unlock_folder(const struct spool_folder *folder)
{
	flock(folder->lock, LOCK_UN);
}

/* ---- the index of an hour ---- */

static void add_time(struct str *out, uint64_t ns)
{
	const time_t seconds = (time_t)(ns / NS_PER_S);
	char text[32] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	str_addf(out, "%s.%06uZ", text, (unsigned)(ns % NS_PER_S / NS_PER_US));
}

/* Adds the line of a file: what its name says, and facts. start_ns: by the time of day; 0: the name's. */
static void add_line(struct str *out, const struct spool_hour *at, const struct spool_entry *file, uint64_t start_ns,
		     const char *facts)
{
	struct spool_name name;

	if (!is_name(file->name, at, &name))
		return;
	str_addf(out, "{\"path\":\"v1/%s/%s/%s\",\"host\":\"%.*s\",\"boot\":\"%.*s\",\"seq\":%llu,\"start\":\"",
		 at->date, at->hour, file->name, (int)name.host_len, name.host, BOOT_DIGITS, name.boot,
		 (unsigned long long)name.seq);
	add_time(out, start_ns ? start_ns : name.time_s * NS_PER_S);
	str_addf(out, "\",\"bytes\":%llu%s}\n", (unsigned long long)file->bytes, facts);
}

/* The text of the index; empty where there is none. */
static int read_index(int hour, struct str *text)
{
	int fd = openat(hour, index_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), code = 0;
	struct stat st;
	ssize_t n = 1;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &st))
		code = -errno;
	else if (!S_ISREG(st.st_mode))
		code = -EINVAL;
	else if (st.st_size > INDEX_BYTES_MAX)
		code = -EFBIG;
	while (!code && n > 0 && text->len <= INDEX_BYTES_MAX) {
		str_reserve(text, 64 << 10);
		n = read(fd, text->s + text->len, 64 << 10);
		if (n > 0)
			text->len += (size_t)n;
		else if (n < 0)
			code = -errno;
	}
	text->s[text->len] = '\0';
	close(fd);
	return code;
}

/* Which of the files a line of the index is of; SIZE_MAX: of none. */
static size_t file_of_line(const char *line, size_t len, const struct spool_hour *at, const struct spool_list *files)
{
	char start[64];
	int n = snprintf(start, sizeof(start), "{\"path\":\"v1/%s/%s/", at->date, at->hour);
	const char *name = line + n, *end = len > (size_t)n ? memchr(name, '"', len - (size_t)n) : NULL;
	size_t i;

	if (!end || memcmp(line, start, (size_t)n) || line[len - 1] != '}')
		return SIZE_MAX;
	i = BISECT(k, 0, files->n, strncmp(files->v[k].name, name, (size_t)(end - name)) < 0);
	return i < files->n && strlen(files->v[i].name) == (size_t)(end - name) &&
	       !memcmp(files->v[i].name, name, (size_t)(end - name)) ? i : SIZE_MAX;
}

/* The old lines of files that are there, then files that had none. */
static void make_index(const struct str *old, const struct spool_hour *at, const struct spool_list *files,
		       struct str *out)
{
	bool *seen = xcalloc(files->n + 1, sizeof(*seen));
	const char *end;

	for (const char *line = old->s; (end = strchr(line, '\n')); line = end + 1) {
		size_t i = file_of_line(line, (size_t)(end - line), at, files);

		if (i == SIZE_MAX || seen[i])
			continue;
		seen[i] = true;
		str_addn(out, line, (size_t)(end + 1 - line));
	}
	for (size_t i = 0; i < files->n; i++)
		if (!seen[i])
			add_line(out, at, &files->v[i], 0, "");
	free(seen);
}

/* Brings the index of an hour to what is there. more: lines of new files. 0, or -errno with a clause. */
static int update_index(int hour, const struct spool_hour *at, const struct str *more, struct str *err)
{
	struct str old = STR_INIT, text = STR_INIT;
	struct destination to = { .fd = -1 };
	struct spool_list files;
	int code = list_files(hour, at, false, &files);

	if (!code)
		code = read_index(hour, &old);
	if (code)
		fail(err, code, "%s", strerror(-code));
	if (!code) {
		struct str lines = STR_INIT;

		str_addn(&lines, old.s, old.len);
		str_addn(&lines, more->s, more->len);
		make_index(&lines, at, &files, &text);
		str_release(&lines);
	}
	if (!code && (text.len != old.len || memcmp(text.s, old.s, text.len))) {
		code = destination_begin_in(&to, hour, index_name, err);
		if (!code)
			code = destination_fill(&to, &text, err);
		if (!code)
			code = destination_put(&to, true, err);
		if (!code)
			code = destination_sync_name(&to, err);
		destination_end(&to);
	}
	list_release(&files);
	str_release(&old);
	str_release(&text);
	return code;
}

/* ---- what is there ---- */

static uint64_t bytes_of_all(const struct spool_folder *folder)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < folder->n_hours; i++)
		sum += folder->hours[i].bytes;
	return sum;
}

static bool is_same_hour(const struct spool_hour *a, const struct spool_hour *b)
{
	return !strcmp(a->date, b->date) && !strcmp(a->hour, b->hour);
}

static void take_numbers(struct spool_folder *folder, const struct spool_hour *at, const struct spool_list *files)
{
	const size_t host_len = strlen(folder->host);
	struct spool_name name;

	for (size_t i = 0; i < files->n; i++)
		if (is_name(files->v[i].name, at, &name) && name.host_len == host_len &&
		    !memcmp(name.host, folder->host, host_len) && !memcmp(name.boot, folder->boot, BOOT_DIGITS) &&
		    name.seq > folder->seq)
			folder->seq = name.seq;
}

/* first: the writer has just begun, and removes what others left, and mends the index. */
static int count_hour(struct spool_folder *folder, struct spool_hour *at, bool first, struct str *err)
{
	const struct str none = STR_INIT;
	struct str why = STR_INIT;
	int fd = open_hour(folder, at, false), code;
	struct spool_list files;

	if (fd < 0)
		return 0; /* a link, or of another user: not one of ours */
	code = list_files(fd, at, first, &files);
	at->n = files.n;
	at->bytes = 0;
	for (size_t i = 0; i < files.n; i++)
		at->bytes += files.v[i].bytes;
	take_numbers(folder, at, &files);
	if (code)
		fail_at(folder, code, at->date, err);
	else if (first && files.n)
		(void)update_index(fd, at, &none, &why); /* also without it the hour is counted */
	str_release(&why);
	list_release(&files);
	close(fd);
	return code;
}

/* Counts an hour unless it is as it was. */
static int look_at_hour(struct spool_folder *folder, int date, const struct spool_hour *known, struct spool_hour *at,
			bool first, struct str *err)
{
	struct timespec now;
	struct stat st;

	if (fstatat(date, at->hour, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode))
		return 0;
	if (known && known->settled && is_same_hour(known, at) && known->changed.tv_sec == st.st_mtim.tv_sec &&
	    known->changed.tv_nsec == st.st_mtim.tv_nsec) {
		*at = *known;
		return 0;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	at->changed = st.st_mtim;
	at->settled = now.tv_sec - st.st_mtim.tv_sec > SETTLED_S;
	return count_hour(folder, at, first, err);
}

static int scan_date(struct spool_folder *folder, const char *date, const struct spool_hour *old, size_t n_old,
		     bool first, struct str *err)
{
	int fd = open_folder(folder->v1, date), code;
	struct spool_list hours;

	if (fd < 0)
		return 0;
	code = list_names(fd, &hours);
	if (code)
		fail_at(folder, code, date, err);
	for (size_t i = 0; i < hours.n && !code; i++) {
		struct spool_hour at = { .date = "" };
		size_t k;

		if (!is_hour(hours.v[i].name))
			continue;
		memcpy(at.date, date, sizeof(at.date));
		memcpy(at.hour, hours.v[i].name, sizeof(at.hour));
		k = BISECT(j, 0, n_old, strcmp(old[j].date, date) < 0 ||
			   (!strcmp(old[j].date, date) && strcmp(old[j].hour, at.hour) < 0));
		code = look_at_hour(folder, fd, k < n_old ? &old[k] : NULL, &at, first, err);
		if (!at.n)
			continue;
		VEC_GROW(folder->hours, folder->n_hours, folder->cap_hours);
		folder->hours[folder->n_hours++] = at;
	}
	list_release(&hours);
	close(fd);
	return code;
}

static int scan(struct spool_folder *folder, bool first, struct str *err)
{
	struct spool_hour *old = folder->hours;
	const size_t n_old = folder->n_hours;
	struct spool_list dates;
	int code = list_names(folder->v1, &dates);

	folder->hours = NULL;
	folder->n_hours = folder->cap_hours = 0;
	if (code)
		fail_at(folder, code, "v1", err);
	for (size_t i = 0; i < dates.n && !code; i++)
		if (is_date(dates.v[i].name))
			code = scan_date(folder, dates.v[i].name, old, n_old, first, err);
	list_release(&dates);
	free(old);
	return code;
}

/* ---- what goes ---- */

static bool is_too_large(const struct spool_folder *folder, uint64_t more)
{
	const uint64_t max = folder->options.max_bytes;

	return max && bytes_of_all(folder) + more > max;
}

/* age_ns: the time of day as it is by the steady clock. */
static bool is_too_old(const struct spool_folder *folder, uint64_t time_s, uint64_t age_ns)
{
	const uint64_t max = folder->options.max_age_ns;

	return max && time_s * NS_PER_S < age_ns && age_ns - time_s * NS_PER_S > max;
}

static bool hour_may_be_old(const struct spool_folder *folder, const struct spool_hour *at, uint64_t age_ns)
{
	char text[32];
	struct tm tm = { 0 };

	snprintf(text, sizeof(text), "%sT%s", at->date, at->hour);
	return strptime(text, "%Y-%m-%dT%H", &tm) && is_too_old(folder, (uint64_t)timegm(&tm), age_ns);
}

/* Folders that nothing is in any more; others may have put something there. */
static void remove_hour(const struct spool_folder *folder, int hour, const struct spool_hour *at)
{
	int date = open_folder(folder->v1, at->date);
	struct stat st;

	if (!fstatat(hour, index_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
		unlinkat(hour, index_name, 0);
	if (date >= 0) {
		unlinkat(date, at->hour, AT_REMOVEDIR);
		close(date);
	}
	unlinkat(folder->v1, at->date, AT_REMOVEDIR);
}

/*
 * Removes the oldest files of an hour as long as there is too much, or they are too old. An index that cannot be
 * written keeps lines of files that are gone until it can.
 */
static void thin_hour(struct spool_folder *folder, struct spool_hour *at, uint64_t more, uint64_t age_ns)
{
	const struct str none = STR_INIT;
	struct str why = STR_INIT;
	int hour = open_hour(folder, at, false), code;
	struct spool_list files;
	struct spool_name name;

	if (hour < 0)
		return;
	code = list_files(hour, at, false, &files);
	at->settled = false;
	for (size_t i = 0; i < files.n; i++) {
		bool old = is_name(files.v[i].name, at, &name) && is_too_old(folder, name.time_s, age_ns);

		if (!old && !is_too_large(folder, more))
			break;
		if (unlinkat(hour, files.v[i].name, 0) && errno != ENOENT)
			continue; /* it goes on counting */
		at->bytes -= files.v[i].bytes < at->bytes ? files.v[i].bytes : at->bytes;
		at->n -= at->n > 0;
	}
	if (!code && !at->n)
		remove_hour(folder, hour, at);
	else if (!code)
		(void)update_index(hour, at, &none, &why);
	str_release(&why);
	list_release(&files);
	close(hour);
}

static int make_room(struct spool_folder *folder, uint64_t more, uint64_t age_ns, struct str *err)
{
	for (size_t i = 0; i < folder->n_hours; i++) {
		if (!is_too_large(folder, more) && !hour_may_be_old(folder, &folder->hours[i], age_ns))
			break;
		thin_hour(folder, &folder->hours[i], more, age_ns);
	}
	if (is_too_large(folder, more))
		return fail(err, -EDQUOT, "%s: files that cannot be removed take all of --max-size",
			    folder->options.path);
	return 0;
}

static uint64_t age_clock_ns(const struct spool_folder *folder, const struct spool_moment *now)
{
	return folder->begun.wall_ns + (now->steady_ns - folder->begun.steady_ns);
}

/* ---- what comes ---- */

static int open_all(struct spool_folder *folder, struct str *err)
{
	const char *path = folder->options.path;
	int top;

	if (mkdir(path, 0777) && errno != EEXIST)
		return fail(err, -errno, "%s: %s", path, strerror(errno));
	top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return fail(err, -errno, "%s: %s", path, strerror(errno));
	folder->v1 = make_folder(top, "v1");
	close(top);
	if (folder->v1 < 0)
		return fail_at(folder, folder->v1, "v1", err);
	folder->lock = openat(folder->v1, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	return folder->lock < 0 ? fail_at(folder, -errno, "v1/lock", err) : 0;
}

int spool_folder_open(struct spool_folder *folder, const struct spool_options *options,
		      const struct spool_moment *now, struct str *err)
{
	int code;

	*folder = (struct spool_folder){ .options = *options, .v1 = -1, .lock = -1, .begun = *now };
	make_host(folder->host, options->host);
	make_boot(folder->boot, options->boot_id);
	code = open_all(folder, err);
	if (!code)
		code = lock_folder(folder, err);
	if (code)
		return code;
	code = scan(folder, true, err);
	if (!code)
		code = make_room(folder, 0, age_clock_ns(folder, now), err);
	unlock_folder(folder);
	return code;
}

void spool_folder_close(struct spool_folder *folder)
{
	if (folder->v1 >= 0)
		close(folder->v1);
	if (folder->lock >= 0)
		close(folder->lock);
	free(folder->hours);
	*folder = (struct spool_folder){ .v1 = -1, .lock = -1 };
}

/* The hour of a time, and the name of the next file in it, which the caller frees. */
static char *next_name(struct spool_folder *folder, struct spool_hour *at)
{
	const time_t seconds = (time_t)folder->last_s;
	char text[32] = "";
	struct tm tm;

	*at = (struct spool_hour){ .date = "" };
	if (gmtime_r(&seconds, &tm)) {
		strftime(at->date, sizeof(at->date), "%Y-%m-%d", &tm);
		strftime(at->hour, sizeof(at->hour), "%H", &tm);
		strftime(text, sizeof(text), "%Y%m%dT%H%M%SZ", &tm);
	}
	return xasprintf("%s_%s_%s_%0*llu%s", text, folder->host, folder->boot, SEQ_DIGITS,
			 (unsigned long long)++folder->seq, ending);
}

/* Writes the file and gives it its name; -EEXIST: another writer has one of the name. */
static int put_file(struct spool_folder *folder, int hour, const char *name, const struct str *bytes, uint64_t age_ns,
		    struct str *err)
{
	struct destination to;
	struct str why = STR_INIT;
	int code = destination_begin_in(&to, hour, name, &why);

	if (!code)
		code = destination_fill(&to, bytes, &why);
	if (!code)
		code = make_room(folder, bytes->len, age_ns, err);
	if (!code)
		code = destination_put(&to, false, &why);
	if (code && code != -EEXIST && why.len)
		fail(err, code, "%s: %s: %s", folder->options.path, name, why.s);
	destination_end(&to);
	str_release(&why);
	return code;
}

static int put_line(const struct spool_folder *folder, int hour, const struct spool_hour *at,
		    const struct spool_entry *file, uint64_t start_ns, const char *facts, struct str *err)
{
	struct str line = STR_INIT, why = STR_INIT;
	int code;

	add_line(&line, at, file, start_ns, facts);
	code = update_index(hour, at, &line, &why);
	if (code)
		fail(err, code, "%s/v1/%s/%s/%s: %s", folder->options.path, at->date, at->hour, index_name, why.s);
	str_release(&line);
	str_release(&why);
	return code;
}

static int put_all(struct spool_folder *folder, const struct str *bytes, uint64_t start_ns, const char *facts,
		   uint64_t age_ns, struct str *err)
{
	struct spool_hour at;
	struct spool_entry file = { .bytes = bytes->len };
	int hour = -1, code;

	do {
		free(file.name);
		file.name = next_name(folder, &at);
		if (hour < 0)
			hour = open_hour(folder, &at, true);
		code = hour < 0 ? fail_at(folder, hour, at.date, err) :
				  put_file(folder, hour, file.name, bytes, age_ns, err);
	} while (code == -EEXIST && hour >= 0);
	if (!code)
		code = put_line(folder, hour, &at, &file, start_ns, facts, err);
	free(file.name);
	if (hour >= 0)
		close(hour);
	return code;
}

int spool_folder_put(struct spool_folder *folder, const struct str *bytes, uint64_t duration_ns, const char *facts,
		     const struct spool_moment *now, struct str *err)
{
	const uint64_t start_ns = now->wall_ns > duration_ns ? now->wall_ns - duration_ns : 0;
	const uint64_t max = folder->options.max_bytes;
	int code;

	if (max && bytes->len > max)
		return fail(err, -EFBIG, "%s: a file of %zu bytes is larger than --max-size", folder->options.path,
			    bytes->len);
	if (start_ns / NS_PER_S > folder->last_s)
		folder->last_s = start_ns / NS_PER_S;
	code = lock_folder(folder, err);
	if (code)
		return code;
	code = scan(folder, false, err);
	if (!code)
		code = put_all(folder, bytes, start_ns, facts, age_clock_ns(folder, now), err);
	unlock_folder(folder);
	return code;
}
