/* SPDX-License-Identifier: MIT */
/*
 * Numbers from a sample's bytes, as C works them out; what C leaves undefined (a division by 0, a shift by more
 * bits than there are, an element that is not in the array) is 0 here.
 */
#include "trace/trace_internal.h"

/* ---- the sample's bytes ---- */

uint64_t trace_read(const struct trace_raw *raw, size_t at, size_t bytes)
{
	const uint8_t *p = raw->bytes + at;
	uint16_t half;
	uint32_t word;
	uint64_t value;

	switch (bytes) {
	case 1:
		return *p;
	case 2:
		memcpy(&half, p, sizeof(half));
		return raw->machine->swap ? __builtin_bswap16(half) : half;
	case 4:
		memcpy(&word, p, sizeof(word));
		return raw->machine->swap ? __builtin_bswap32(word) : word;
	case 8:
		memcpy(&value, p, sizeof(value));
		return raw->machine->swap ? __builtin_bswap64(value) : value;
	default:
		return 0;
	}
}

bool trace_field_place(const struct trace_raw *raw, const struct trace_field *field, size_t *at, size_t *len)
{
	size_t end = (size_t)field->offset + field->size; /* both are less than 1 << 20 */
	uint64_t where;

	if (end > raw->len)
		return false;
	*at = field->offset;
	*len = field->size ? field->size : raw->len - field->offset; /* 0: all the rest */
	if (!field->is_dynamic)
		return true;
	if (field->size != 4 && field->size != 2)
		return false;
	where = trace_read(raw, field->offset, field->size);
	*at = (where & 0xffff) + (field->is_relative ? end : 0);
	if (*at > raw->len)
		return false;
	*len = field->size == 2 ? raw->len - *at : where >> 16;
	return *len <= raw->len - *at;
}

bool trace_node_place(const struct trace_raw *raw, const struct trace_node *node, size_t *at, size_t *len)
{
	while (node->kind == TRACE_CAST)
		node = node->a;
	return (node->kind == TRACE_FIELD || node->kind == TRACE_DYNAMIC) &&
	       trace_field_place(raw, node->field, at, len);
}

/* ---- operations ---- */

static uint64_t divide(uint64_t left, uint64_t right, bool is_signed)
{
	if (!right)
		return 0;
	if (!is_signed)
		return left / right;
	/* The least number divided by -1 has no place in its type: it stays what it is. */
	return right == UINT64_MAX ? -left : (uint64_t)((int64_t)left / (int64_t)right);
}

static uint64_t remainder_of(uint64_t left, uint64_t right, bool is_signed)
{
	if (!right || (is_signed && right == UINT64_MAX))
		return 0;
	return is_signed ? (uint64_t)((int64_t)left % (int64_t)right) : left % right;
}

static bool less(uint64_t left, uint64_t right, bool is_signed)
{
	return is_signed ? (int64_t)left < (int64_t)right : left < right;
}

/* The operation on two values of that type. */
static uint64_t operate(unsigned sign, uint64_t left, uint64_t right, uint8_t bytes, bool is_signed)
{
	switch (sign) {
	case TRACE_SIGN('|', '|'):
		return left || right;
	case TRACE_SIGN('&', '&'):
		return left && right;
	case TRACE_SIGN('=', '='):
		return left == right;
	case TRACE_SIGN('!', '='):
		return left != right;
	case TRACE_SIGN('<', '='):
		return !less(right, left, is_signed);
	case TRACE_SIGN('>', '='):
		return !less(left, right, is_signed);
	case '<':
		return less(left, right, is_signed);
	case '>':
		return less(right, left, is_signed);
	case TRACE_SIGN('<', '<'):
		return right < 8u * bytes ? left << right : 0;
	case TRACE_SIGN('>', '>'):
		if (right >= 8u * bytes)
			return 0;
		return is_signed ? (uint64_t)((int64_t)left >> right) : left >> right;
	case '|':
		return left | right;
	case '^':
		return left ^ right;
	case '&':
		return left & right;
	case '+':
		return left + right;
	case '-':
		return left - right;
	case '*':
		return left * right;
	case '/':
		return divide(left, right, is_signed);
	default:
		return remainder_of(left, right, is_signed);
	}
}

static uint64_t eval_unary(const struct trace_raw *raw, const struct trace_node *node)
{
	uint64_t value = trace_eval(raw, node->a);

	switch (node->sign) {
	case '!':
		return !value;
	case '~':
		return ~value;
	case '-':
		return -value;
	default:
		return value;
	}
}

static uint64_t eval_binary(const struct trace_raw *raw, const struct trace_node *node)
{
	uint64_t left = trace_eval(raw, node->a), right = trace_eval(raw, node->b);
	uint8_t bytes = node->element_bytes ? node->element_bytes : node->bytes;
	bool is_signed = node->element_bytes ? node->element_signed : node->is_signed;
	bool is_shift = node->sign == TRACE_SIGN('<', '<') || node->sign == TRACE_SIGN('>', '>');

	return operate(node->sign, trace_extend(left, bytes, is_signed),
			     is_shift ? right : trace_extend(right, bytes, is_signed), bytes, is_signed);
}

static uint64_t eval_index(const struct trace_raw *raw, const struct trace_node *node)
{
	uint64_t index = trace_eval(raw, node->b);
	size_t at, len;

	if (!trace_node_place(raw, node->a, &at, &len) || index >= len || (index + 1) * node->bytes > len)
		return 0;
	return trace_read(raw, at + (size_t)index * node->bytes, node->bytes);
}

static uint64_t eval_field(const struct trace_raw *raw, const struct trace_field *field)
{
	if ((uint64_t)field->offset + field->size > raw->len)
		return 0;
	return trace_read(raw, field->offset, field->size);
}

static uint64_t eval(const struct trace_raw *raw, const struct trace_node *node)
{
	size_t at, len;

	switch (node->kind) {
	case TRACE_CONST:
		return node->value;
	case TRACE_FIELD:
		return eval_field(raw, node->field);
	case TRACE_INDEX:
		return eval_index(raw, node);
	case TRACE_UNARY:
		return eval_unary(raw, node);
	case TRACE_BINARY:
		return eval_binary(raw, node);
	case TRACE_COND:
		return trace_eval(raw, trace_eval(raw, node->a) ? node->b : node->c);
	case TRACE_CAST:
		return trace_eval(raw, node->a);
	case TRACE_DYNAMIC:
		return trace_field_place(raw, node->field, &at, &len) ? at : 0;
	case TRACE_DYNAMIC_LEN:
		return trace_field_place(raw, node->field, &at, &len) ? len : 0;
	default:
		return 0; /* a text */
	}
}

uint64_t trace_eval(const struct trace_raw *raw, const struct trace_node *node)
{
	return trace_extend(eval(raw, node), node->bytes, node->is_signed);
}
