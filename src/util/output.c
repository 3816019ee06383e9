/* SPDX-License-Identifier: MIT */
/*
 * Text on its way to whoever writes it: collected, handed on in big pieces, and no more of it after the
 * first error.
 */
#include "util/util.h"

enum { STEP_BYTES = 64 << 10 };

static int flush(struct output *output)
{
	int code;

	if (output->failed || !output->text.len)
		return output->failed;
	code = output->write ? output->write(output->context, &output->text) : 0;
	if (code < 0)
		output->failed = code;
	return output->failed;
}

int output_step(struct output *output)
{
	if (output->failed)
		str_reset(&output->text); /* nobody will take it */
	return output->text.len >= STEP_BYTES ? flush(output) : output->failed;
}

int output_end(struct output *output)
{
	return flush(output);
}
