# SPDX-License-Identifier: MIT
"""What the lints share: results as TAP, the files of the repository, C without comments and strings.

To add a lint: an executable file here that prints TAP; the runner finds it. One result per rule (or
per file, where each file is a job of its own); a failed one lists every place as path:line: why.
"""
import functools
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_n = 0


def point(name, complaints=(), skip=None):
    """One result: passed when there is no complaint."""
    global _n
    _n += 1
    complaints = list(complaints)
    print("%sok %d - %s%s" % ("not " if complaints else "", _n, name,
                              " # SKIP " + skip if skip else ""))
    for line in complaints:
        print("# " + line)
    sys.stdout.flush()


def done():
    print("1..%d" % _n)


def tree(*folders, ends=()):
    """Paths, relative to the repository, of all files below the folders that end in one of `ends`."""
    found = []
    for folder in folders:
        for path, _, names in os.walk(os.path.join(ROOT, folder)):
            if "__pycache__" in path:
                continue
            found += [os.path.relpath(os.path.join(path, n), ROOT) for n in names
                      if not ends or n.endswith(tuple(ends))]
    return sorted(found)


@functools.lru_cache(maxsize=None)
def text(path):
    with open(os.path.join(ROOT, path), errors="replace") as f:
        return f.read()


def _blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|//[^\n]*|/\*.*?\*/', re.S)


@functools.lru_cache(maxsize=None)
def code(path):
    """A C file with comments, strings and character constants blanked; lines stay where they are."""
    return _TOKEN.sub(_blank, text(path))


def without_comments(path):
    return _COMMENT.sub(lambda m: m.group(1) or _blank(m), text(path))
