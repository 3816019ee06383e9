/* SPDX-License-Identifier: MIT */
/*
 * page_frame: what pages for a browser have in common: their head and style, and the script that prepares canvases. A
 * page is one file, which asks nobody for anything.
 */
#include "util/util.h"

extern const char page_frame_css[], page_frame_js[];

void page_begin(struct str *out, const char *title, const char *css, const char *body)
{
	str_addf(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width\">\n"
		      "<title>%s</title>\n<style>\n", title);
	str_add(out, page_frame_css);
	str_add(out, css);
	str_add(out, "</style>\n</head>\n<body>\n");
	str_add(out, body);
	str_add(out, "<script type=\"application/json\" id=\"data\">\n");
}

void page_end(struct str *out, const char *const *scripts, size_t n)
{
	str_add(out, "</script>\n<script>\n");
	str_add(out, page_frame_js);
	for (size_t i = 0; i < n; i++)
		str_add(out, scripts[i]);
	str_add(out, "</script>\n</body>\n</html>\n");
}
