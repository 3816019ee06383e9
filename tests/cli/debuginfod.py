#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""debuginfod.py FOLDER PORT_FILE [SECONDS]: serves FOLDER/ID as /buildid/ID/debuginfo on a port of the loopback, which it
writes into PORT_FILE; each request's path goes into FOLDER/asked. With SECONDS an answer takes so long."""
import http.server
import os
import sys
import time

folder, port_file = sys.argv[1:3]
delay_s = float(sys.argv[3]) if len(sys.argv) > 3 else 0


class Files(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(os.path.join(folder, "asked"), "a") as f:
            f.write(self.path + "\n")
        time.sleep(delay_s)
        words = self.path.split("/")
        path = os.path.join(folder, os.path.basename(words[2])) if len(words) == 4 else ""
        if len(words) == 4 and words[3] == "debuginfo" and os.path.isfile(path):
            with open(path, "rb") as f:
                data = f.read()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        else:
            self.send_error(404)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
with open(port_file + ".new", "w") as out:
    out.write(str(server.server_address[1]))
os.rename(port_file + ".new", port_file)
server.serve_forever()
