/*
 * folder.c: see folder.h. A binary heap: the head at [0] was handed out by the last call and is replaced
 * by its file's next record in this one, since a file's record is good only until its next is read.
 */
#include "replay/folder.h"

#include <stdlib.h>

void folder_init(struct folder *folder, struct reader *reader)
{
	*folder = (struct folder){ .reader = reader };
	folder->heap = xcalloc(reader->n_streams, sizeof(*folder->heap));
}

void folder_release(struct folder *folder)
{
	free(folder->heap);
	folder->heap = NULL;
}

static bool before(const struct folder_head *a, const struct folder_head *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->stream < b->stream;
}

static void sink(struct folder *folder, size_t at)
{
	struct folder_head *heap = folder->heap;

	for (;;) {
		size_t child = 2 * at + 1;
		struct folder_head head = heap[at];

		if (child + 1 < folder->n && before(&heap[child + 1], &heap[child]))
			child++;
		if (child >= folder->n || !before(&heap[child], &heap[at]))
			return;
		heap[at] = heap[child];
		heap[child] = head;
		at = child;
	}
}

/* False: the file has ended. */
static bool advance(struct folder *folder, struct folder_head *head, struct str *err)
{
	struct str why = STR_INIT;
	uint64_t time_ns;
	int rc = reader_next_of(folder->reader, head->stream, &head->record, &why);

	if (rc < 0 && !folder->failed) {
		folder->failed = rc;
		str_addn(err, why.s, why.len);
	}
	str_release(&why);
	if (rc <= 0)
		return false;
	if (record_time(&folder->reader->decoder, &head->record, &time_ns))
		head->time_ns = time_ns;
	return true;
}

static void begin(struct folder *folder, struct str *err)
{
	folder->begun = true;
	for (size_t i = 0; i < folder->reader->n_streams; i++) {
		struct folder_head *head = &folder->heap[folder->n];

		*head = (struct folder_head){ .stream = i };
		folder->n += advance(folder, head, err);
	}
	for (size_t i = folder->n / 2; i-- > 0;)
		sink(folder, i);
}

int folder_next(struct folder *folder, struct record *record, struct str *err)
{
	if (folder->reader->n_streams < 2)
		return reader_next(folder->reader, record, err);
	if (!folder->begun) {
		begin(folder, err);
	} else if (folder->n) {
		if (!advance(folder, &folder->heap[0], err))
			folder->heap[0] = folder->heap[--folder->n];
		sink(folder, 0);
	}
	if (!folder->n)
		return folder->failed;
	*record = folder->heap[0].record;
	return 1;
}
