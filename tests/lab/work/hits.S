/* SPDX-License-Identifier: MIT */
/*
 * hits N: N times a store to `cell`, a load from it, and a call of `called`: for breakpoints. A test
 * finds the addresses in the symbol table, written beside the program: it is not relocated.
 */
	.text
	.global	_start, called
_start:
	ldr	x1, [sp, #16]
	mov	x0, #0
	mov	x3, #10
digit:
	ldrb	w2, [x1], #1
	cbz	w2, number
	sub	w2, w2, #'0'
	madd	x0, x0, x3, x2
	b	digit
number:
	adrp	x4, cell
	add	x4, x4, :lo12:cell
hit:
	str	w0, [x4]
	ldr	w5, [x4]
	bl	called
	subs	x0, x0, #1
	b.ne	hit
	mov	x0, #0
	mov	x8, #93
	svc	#0
	brk	#0			/* the call would return to here, not to the next function */
called:
	ret

	.bss
	.global	cell
	.balign	8
cell:	.skip	8
