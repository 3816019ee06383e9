#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""speedscope, as a page that opens one file and shows its table.

speedscope_opens.py put APP FILE FOLDER    the page in FOLDER, of the package in APP
speedscope_opens.py rows DOM               the table of the page that a browser made of it: "self name" a line"""
import base64
import html
import json
import re
import shutil
import sys

# A click on the tab with the table, as soon as it is there.
SCRIPT = """<script>"use strict";
const waiting = setInterval(() => {
	const tab = Array.from(document.querySelectorAll("div")).find(div => !div.querySelector("div") &&
		div.textContent.endsWith("Sandwich"));
	if (tab) {
		clearInterval(waiting);
		tab.click();
	}
}, 50);
</script></body>"""


def put(app, path, folder):
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(app + "/dist/release", folder)
    with open(folder + "/index.html", encoding="utf-8") as f:
        page = f.read().replace("</body>", SCRIPT)
    with open(folder + "/index.html", "w", encoding="utf-8") as f:
        f.write(page)
    with open(path, "rb") as f:
        data = base64.b64encode(f.read()).decode()
    with open(folder + "/load.js", "w", encoding="utf-8") as f:
        f.write("speedscope.loadFileFromBase64(%s, %s)" % (json.dumps(path), json.dumps(data)))


def rows(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for row in re.findall(r"<tr\b.*?</tr>", text, re.S):
        cells = [html.unescape(re.sub(r"<[^>]*>", "", cell)).strip() for cell in re.findall(r"<td\b.*?</td>", row, re.S)]
        if len(cells) == 3:
            print(cells[1].split(" ")[0], cells[2])


{"put": put, "rows": rows}[sys.argv[1]](*sys.argv[2:])
