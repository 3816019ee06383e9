/* SPDX-License-Identifier: MIT */
/*
 * protobuf: the encoding of Protocol Buffers' messages: each field is its number and type in a varint, then a varint,
 * or a length and bytes. A library (protobuf-c) and its generator would be a dependency of the build for what these
 * four functions are: the one format that needs it has a dozen message types, all of numbers, texts and messages.
 *
 * A message in a message is made by itself and then added with pb_add_bytes.
 *
 * Source: protobuf.dev, "Encoding".
 */
#ifndef PSTAT_PROTOBUF_H
#define PSTAT_PROTOBUF_H

#include "util/util.h"

/* A field of type int64, uint64 or bool; 0 is what a field is that is not there, and adds nothing. */
void pb_add_u64(struct str *out, unsigned field, uint64_t value);
/* A field of type string, bytes or message. */
void pb_add_bytes(struct str *out, unsigned field, const char *bytes, size_t n);
/* A repeated field of numbers, packed; none of them: nothing. */
void pb_add_packed(struct str *out, unsigned field, const uint64_t *values, size_t n);

#endif
