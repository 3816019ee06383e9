"""For tools that compare what perf and pstat print of one recording, option set by option set.

For each of the option sets (one argument each, split at blanks) a line on stdout: `ok` or the path of a file with the
difference, a tab and the options. beside_perf.bash reads these lines.
"""
import concurrent.futures
import subprocess

LINES_MOST = 60


def run(program, path, arguments):
    """(status, stdout, stderr); the recording - is standard input, for every program from ./pipe."""
    stdin = open("pipe", "rb") if path == "-" else subprocess.DEVNULL
    done = subprocess.run([program] + arguments, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    return (done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


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
