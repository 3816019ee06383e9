# SPDX-License-Identifier: MIT
"""For tools that compare what perf and pstat print of one recording, option set by option set.

For each of the option sets (one argument each, split at blanks) a line on stdout: `ok` or the path of a file with the
difference, a tab and the options. beside_perf.bash reads these lines.
"""
import concurrent.futures
import functools
import re
import shutil
import subprocess

LINES_MOST = 60


def symbols_of(path):
    """Address and name of each, or nothing."""
    done = subprocess.run(["readelf", "-sW", path], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    rows = [line.split() for line in done.stdout.decode("utf-8", "replace").split("\n")]
    return [(row[1], row[7]) for row in rows if len(row) > 7 and row[6].isdigit() and row[3] in ("FUNC", "IFUNC")]


@functools.lru_cache(1)
def names_of_libc():
    """Of this machine, which has most functions with several names; also by its debug file: name -> one for all."""
    with open("/proc/self/maps", encoding="utf-8") as f:
        libc = re.search(r"/\S*/libc\.so\.6$", f.read(), re.M)
    if not libc or not shutil.which("readelf"):
        return {}
    notes = subprocess.run(["readelf", "-n", libc[0]], capture_output=True, text=True, check=False).stdout
    build_id = re.search(r"Build ID: (..)(\w+)", notes)
    debug = "/usr/lib/debug/.build-id/%s/%s.debug" % build_id.groups() if build_id else ""
    return {name.partition("@@")[0]: "at_" + value for path in (libc[0], debug) for value, name in symbols_of(path)}


def one_name(text):
    """Functions with several names: the exported name of today, without its version; perf prefers local ones."""
    names = names_of_libc()
    return re.sub(r"[\w@.]+", lambda word: names.get(word[0].partition("@@")[0], word[0]), text)


def run(program, path, arguments):
    """(status, stdout, stderr); the recording - is standard input, for every program from ./pipe."""
    stdin = open("pipe", "rb") if path == "-" else subprocess.DEVNULL
    done = subprocess.run([program] + arguments, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    return (done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def may_be_empty(options):
    """Of a part of the time: a busy machine may let the program wait all through it."""
    return any(re.match(r"[\d.]+%", option) for option in options)


def compare(differences, texts, options):
    """differences(perf's lines, pstat's lines): a list, empty where they agree; texts(program, options)."""
    try:
        return differences(*[texts(program, options.split()) for program in ("perf", "pstat")])
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return str(error).split("\n")


def print_all(differences, texts, option_sets):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda options: compare(differences, texts, options), option_sets)
        for number, (options, diff) in enumerate(zip(option_sets, found)):
            verdict = "ok"
            if diff:
                verdict = "diff.%d" % number
                with open(verdict, "w", encoding="utf-8", errors="replace") as f:
                    f.write("\n".join(diff[:LINES_MOST]) + "\n")
            print("%s\t%s" % (verdict, options))
