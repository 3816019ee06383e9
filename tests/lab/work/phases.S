/* SPDX-License-Identifier: MIT */
/*
 * Phases whose rate of instructions in user mode differs by far: phases N does N times
 *
 *   a loop of 1 to 8 million turns, which is nothing but user mode (4 ms each million, mode exact)
 *   1 to 8 times 10 reads of a megabyte of zeros, which are nothing but the kernel's
 *
 * How many is pseudo-random, and the same in each run.
 */
	.text
	.global	_start
_start:
	.cfi_startproc
	.cfi_undefined x30		/* nothing called it, though x30 is used below */
	ldr	x1, [sp, #16]		/* argv[1] */
	mov	x12, #0
	mov	x3, #10
digit:
	ldrb	w2, [x1], #1
	cbz	w2, start
	sub	w2, w2, #'0'
	madd	x12, x12, x3, x2
	b	digit
start:
	mov	x0, #-100		/* AT_FDCWD */
	ldr	x1, =zeros
	mov	x2, #0
	mov	x8, #56			/* openat */
	svc	#0
	mov	x16, x0
	ldr	x13, =1103515245
	ldr	x14, =1000000
	mov	x15, #10
	mov	x9, #42
phase:
	bl	random
	mul	x10, x10, x14
fast:
	subs	x10, x10, #1
	b.ne	fast
	bl	random
	mul	x10, x10, x15
slow:
	mov	x0, x16
	ldr	x1, =buffer
	mov	x2, #0x100000
	mov	x8, #63			/* read */
	svc	#0
	subs	x10, x10, #1
	b.ne	slow
	subs	x12, x12, #1
	b.ne	phase
	mov	x0, #0
	mov	x8, #93			/* exit */
	svc	#0
	brk	#0			/* the call would return to here, not to the next function */
	.cfi_endproc
random:					/* x10: 1 to 8 */
	.cfi_startproc
	madd	x9, x9, x13, x14
	ubfx	x10, x9, #16, #3
	add	x10, x10, #1
	ret
	.cfi_endproc
	.ltorg
zeros:
	.asciz	"/dev/zero"
	.comm	buffer, 0x100000, 4096
