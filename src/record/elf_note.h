/*
 * elf_note: GNU build-ids out of ELF notes. Private to record/.
 */
#ifndef PSTAT_ELF_NOTE_H
#define PSTAT_ELF_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct build_id {
	uint8_t size; /* 0: none */
	uint8_t bytes[20];
};

struct elf_notes; /* libelf, once it is loaded */
struct elf_notes *elf_notes_new(void);
void elf_notes_free(struct elf_notes *notes);

/* Of a file, from its program headers. False: not ELF, damaged, without a build-id, or no libelf. */
bool elf_file_build_id(struct elf_notes *notes, int fd, struct build_id *id);
/* Of an image in memory, such as the vDSO. */
bool elf_image_build_id(struct elf_notes *notes, const void *image, size_t bytes, struct build_id *id);
/* Of notes in native byte order, as /sys/kernel/notes has them; align: 4 or 8. */
bool notes_build_id(const void *bytes, size_t size, size_t align, struct build_id *id);

#endif
