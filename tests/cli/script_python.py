# SPDX-License-Identifier: MIT
"""For tests/cli/script_python.sh: a script that prints all that it is called with, but what perf 6.1 does not give."""
NEWER = ("id", "stream_id", "ins_lat", "map_pgoff", "values")


def shown(value):
    if isinstance(value, dict):
        return {k: shown(v) for k, v in sorted(value.items()) if k not in NEWER}
    return value


def trace_begin():
    print("begin")


def trace_end():
    print("end")


def process_event(sample):
    print(shown(sample))


def trace_unhandled(name, context, fields, sample):
    print(name, shown(fields), shown(sample))


def throttle(*arguments):
    print("throttle", arguments)


def unthrottle(*arguments):
    print("unthrottle", arguments)
