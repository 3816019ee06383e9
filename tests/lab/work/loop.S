/* SPDX-License-Identifier: MIT */
/*
 * A loop whose instructions can be counted by hand, without a C library around it.
 *
 *   loop N        2 * N + 5 * (digits of N) + 10 instructions in user mode, the last is the system call
 *   loop N wait   first reads a byte '1' to '9' from descriptor 0 and loops so many times N, T below:
 *                 2 * T + 5 * (digits of N) + 19 instructions, of these 2 * T + 6 after the read
 *
 * N is 1 or more. No instruction touches memory that is not there from the start but argv's, so that
 * the first faults on stack and text are all there are.
 */
	.text
	.global	_start
_start:
	ldr	x1, [sp, #16]		/* argv[1] */
	mov	x0, #0
	mov	x3, #10
digit:					/* 5 for each digit, 2 for the end */
	ldrb	w2, [x1], #1
	cbz	w2, number
	sub	w2, w2, #'0'
	madd	x0, x0, x3, x2
	b	digit
number:
	ldr	x4, [sp, #24]		/* argv[2] */
	cbz	x4, loop
	mov	x5, x0
	mov	x0, #0
	sub	x1, sp, #16
	mov	x2, #1
	mov	x8, #63			/* read */
	svc	#0
	ldrb	w1, [sp, #-16]
	sub	w1, w1, #'0'
	mul	x0, x5, x1
loop:
	subs	x0, x0, #1
	b.ne	loop
	mov	x0, #0
	mov	x8, #93			/* exit */
	svc	#0
