/*
 * text_out.c: text on its way to the output: as it is, or through gzip. Formats write into `text` and call
 * text_out_step now and then.
 */
#include "export/export_internal.h"

enum { STEP_BYTES = 64 << 10 };

void text_out_init(struct text_out *out, struct output *output, bool gzip, struct str *why)
{
	*out = (struct text_out){ .text = STR_INIT, .output = output };
	if (gzip)
		out->gzip = gzip_new(GZIP_FAST, why);
}

static int hand_on(struct text_out *out)
{
	if (out->gzip)
		gzip_add(out->gzip, out->text.s, out->text.len, &out->output->text);
	else
		str_addn(&out->output->text, out->text.s, out->text.len);
	str_reset(&out->text);
	return output_step(out->output);
}

int text_out_step(struct text_out *out)
{
	return out->text.len < STEP_BYTES ? out->output->failed : hand_on(out);
}

int text_out_end(struct text_out *out)
{
	hand_on(out);
	if (out->gzip)
		gzip_end(out->gzip, &out->output->text);
	gzip_free(out->gzip);
	str_release(&out->text);
	return output_step(out->output);
}
