/* SPDX-License-Identifier: MIT */
/*
 * x86_vector: how long an instruction with a vector prefix is (VEX: AVX; EVEX: AVX-512). Disassemblers are mostly a few
 * years behind the processors: one that passes over a byte of such an instruction takes the others for code, and all
 * that follows, samples as well, goes astray. So its length is told from the prefix, opcode and operands' form alone:
 *
 *	C5 p        opcode ModRM [SIB] [displacement] [immediate]
 *	C4 p p      opcode ...
 *	62 p p p    opcode ...
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, 2.3 and 2.7.
 */
#include "annotate/annotate_internal.h"

/* Which table of opcodes; as prefixes number them. */
enum { MAP_0F = 1, MAP_0F3A = 3, VZEROUPPER = 0x77 };

/* Opcodes of the first table that have an immediate byte; all of the third one do. */
static bool has_immediate(unsigned map, uint8_t opcode)
{
	static const uint8_t opcodes[] = { 0x70, 0x71, 0x72, 0x73, 0xc2, 0xc4, 0xc5, 0xc6 };

	for (size_t i = 0; map == MAP_0F && i < ARRAY_SIZE(opcodes); i++)
		if (opcodes[i] == opcode)
			return true;
	return map == MAP_0F3A;
}

/* ModRM, SIB and displacement. The second byte need not be there where the first says that it is none of them. */
static unsigned operand_bytes(const uint8_t *bytes, size_t n)
{
	unsigned mode, length = 1;
	bool base_is_far;

	if (!n)
		return 0;
	mode = bytes[0] >> 6;
	base_is_far = (bytes[0] & 7) == 5;
	if (mode != 3 && (bytes[0] & 7) == 4 && n > 1) {
		base_is_far = (bytes[1] & 7) == 5;
		length++;
	}
	if (mode == 2 || (!mode && base_is_far))
		length += 4;
	return length + (mode == 1);
}

unsigned x86_vector_length(const uint8_t *bytes, size_t n)
{
	unsigned map = MAP_0F, opcode_at, length;

	if (n < 4)
		return 0;
	switch (bytes[0]) {
	case 0xc5:
		opcode_at = 2;
		break;
	case 0xc4:
		opcode_at = 3;
		map = bytes[1] & 0x1f;
		break;
	case 0x62:
		opcode_at = 4;
		map = bytes[1] & 7;
		break;
	default:
		return 0;
	}
	length = opcode_at + 1;
	if (length > n)
		return 0;
	if (bytes[0] != 0x62 && map == MAP_0F && bytes[opcode_at] == VZEROUPPER)
		return length;
	length += operand_bytes(bytes + length, n - length);
	length += has_immediate(map, bytes[opcode_at]);
	return length > opcode_at + 1 && length <= n ? length : 0;
}
