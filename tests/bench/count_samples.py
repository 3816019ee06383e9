# SPDX-License-Identifier: MIT
"""For a row of tests/bench/run: a script that looks at each sample and at each of its frames."""
samples, frames = 0, {}


def process_event(sample):
    global samples
    samples += sample["sample"]["period"] > 0
    for frame in sample["callchain"]:
        name = frame["sym"]["name"] if "sym" in frame else frame["ip"]
        frames[name] = frames.get(name, 0) + 1


def trace_end():
    print(samples, len(frames))
