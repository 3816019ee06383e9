#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is in a flame graph, read as a browser reads it.

flamegraph.py folded PAGE      its stacks as lines of `report --folded`, sorted
flamegraph.py sums PAGE        one line an event: name, samples, period, groups, lanes, buckets
flamegraph.py caption PAGE     the title and the lines of the caption
flamegraph.py groups PAGE      samples of each group
flamegraph.py times PAGE       samples of each lane and bucket, and whether they are within the bounds
flamegraph.py chart PAGE       a line for each span of the flame chart: thread, begin and end in us, innermost function; or
                               why there is none
flamegraph.py inert FILE       no markup but the page's own: exit 1 with what is there beside it
flamegraph.py whole PAGE SVG   sums and inert of both
flamegraph.py speedscope FILE  a file for speedscope as lines of --folded, if it is one
flamegraph.py speedscope_tracks FILE  a line for each of its profiles: thread, samples, unit, first and last function
flamegraph.py speedscope_weight FILE FUNCTION LAST  us of samples in a function that end in another one
flamegraph.py drive PAGE JS TO the page with a script behind its own, which the page's policy lets run"""
import collections
import html.parser
import json
import re
import sys
import xml.parsers.expat

SCRIPT = re.compile(r'<script type="application/json" id="data">\n(.*?)\n</script>', re.S)


def page_data(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    found = SCRIPT.findall(text)
    assert len(found) == 1, "%d data elements" % len(found)
    data = json.loads(found[0])
    assert data["format"] == "pstat flamegraph" and data["format_version"] == 1
    return data


def column(rows, name):
    n = len(rows["node"])
    values = rows[name]
    if values is None:
        return [0] * n
    if isinstance(values, int):
        return [values * samples for samples in rows["samples"]]
    assert len(values) == n, name
    return values


def stacks(event):
    """(group, names from the outside in, samples, lane, bucket, period) of each row."""
    path, paths = [0], [()]
    for depth, frame in zip(event["nodes"]["depth"], event["nodes"]["frame"]):
        assert 1 <= depth <= len(path), "the walk jumps"
        del path[depth:]
        paths.append(paths[path[-1]] + (event["frames"]["name"][frame],))
        path.append(len(paths) - 1)
    rows, node = event["rows"], 0
    for i, step in enumerate(rows["node"]):
        node += step
        yield (event["groups"][column_at(rows, "group", i)], paths[node], rows["samples"][i],
               column_at(rows, "lane", i), column_at(rows, "bucket", i))


def column_at(rows, name, i):
    return rows[name][i] if rows[name] else 0


def folded(path):
    events = page_data(path)["events"]
    sums = collections.Counter()
    for group, names, samples, _, _ in stacks(events[0]) if events else ():
        sums[";".join(name.replace(";", ":") for name in (group,) + names)] += samples
    for line, samples in sorted(sums.items()):
        print(line, samples)


def sums(path):
    for event in page_data(path)["events"]:
        rows = event["rows"]
        assert sum(rows["samples"]) == event["samples"] and sum(column(rows, "period")) == event["period"]
        for name, n in (("group", len(event["groups"])), ("lane", len(event["lanes"])), ("bucket", event["buckets"])):
            assert max(column(rows, name), default=0) < max(n, 1), name
        for name in ("kind", "file", "source", "line"):
            assert len(event["frames"][name]) == len(event["frames"]["name"]), name
        print(event["name"], event["samples"], event["period"], len(event["groups"]), len(event["lanes"]),
              event["buckets"])


def caption(path):
    data = page_data(path)
    print("\n".join([data["title"]] + data["caption"]))


def groups(path):
    for event in page_data(path)["events"]:
        counts = collections.Counter()
        for group, _, samples, _, _ in stacks(event):
            counts[group] += samples
        for group, samples in sorted(counts.items()):
            print(group, samples)


def times(path):
    for event in page_data(path)["events"]:
        lanes, buckets = collections.Counter(), set()
        for _, _, samples, lane, bucket in stacks(event):
            lanes[event["lanes"][lane]] += samples
            buckets.add(bucket)
        print("in bounds" if len(event["lanes"]) <= 64 and event["buckets"] <= 256 else "too many",
              "several buckets" if len(buckets) > 1 else "one bucket", *sorted(lanes.values()))


def chart(path):
    for event in page_data(path)["events"]:
        spans, names = event["chart"], [""] + [event["frames"]["name"][frame] for frame in event["nodes"]["frame"]]
        if isinstance(spans, str):
            print("none:", spans)
            continue
        assert len(spans["lanes"]) == len(spans["spans"]) <= 64 and sum(spans["spans"]) <= 100000
        for column in ("gap", "length", "node", "several"):
            assert (spans[column] is None and column == "several") or len(spans[column]) == sum(spans["spans"]), column
        several, first = spans["several"] or [0] * sum(spans["spans"]), 0
        for lane, n in zip(spans["lanes"], spans["spans"]):
            time = node = 0
            for i in range(first, first + n):
                time, node = time + spans["gap"][i], node + spans["node"][i]
                print(lane, time, time + spans["length"][i], names[node] + ", several" * several[i])
                time += spans["length"][i]
            first += n


ELEMENTS = {"html", "head", "meta", "title", "style", "body", "header", "h1", "ul", "noscript", "div", "label", "select",
            "input", "output", "button", "option", "li", "canvas", "p", "script", "details", "summary", "table", "thead",
            "tbody", "tr", "th", "svg"}
SVG = {"svg", "title", "style", "defs", "pattern", "rect", "path", "circle", "g", "text", "script"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.strange, self.scripts = [], 0

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        names = {name for name, _ in attrs}
        if tag not in ELEMENTS or names & {"src", "href", "action", "srcdoc"} or any(n.startswith("on") for n in names):
            self.strange.append(self.get_starttag_text())


def inert(path):
    with open(path, "rb") as f:
        raw = f.read()
    text = raw.decode("utf-8")
    if path.endswith(".svg"):
        strange = []
        parser = xml.parsers.expat.ParserCreate()
        parser.StartElementHandler = lambda tag, attrs: (tag not in SVG or any(
            n.startswith("on") or "href" in n for n in attrs)) and strange.append(tag)
        parser.Parse(raw, True)
        links = re.findall(r"https?://[^\"' ]+", text.split("<g id=\"boxes\"")[0])
        strange += [link for link in links if link != "http://www.w3.org/2000/svg"]
    else:
        page = Page()
        page.feed(text)
        strange = page.strange + (["%d scripts" % page.scripts] if page.scripts != 2 else [])
        strange += re.findall(r"[<>&]", SCRIPT.findall(text)[0])
    strange += re.findall("[\x00-\x08\x0b-\x1f\x7f]", text)
    if strange:
        print(strange[:10])
        sys.exit(1)


def whole(page, picture):
    sums(page)
    inert(page)
    inert(picture)


def speedscope(path):
    with open(path, encoding="utf-8") as f:
        data = json.load(f)
    assert data["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames, counts = data["shared"]["frames"], collections.Counter()
    for profile in data["profiles"]:
        in_time = re.search(r" \d+$", profile["name"]) is not None
        assert profile["type"] == "sampled" and profile["unit"] in ("none", "milliseconds") and profile["startValue"] == 0
        assert len(profile["samples"]) == len(profile["weights"])
        assert abs(sum(profile["weights"]) - profile["endValue"]) <= 1e-6 * profile["endValue"]
        for stack, weight in zip(profile["samples"], profile["weights"]):
            group = re.sub(r" \d+$", "", profile["name"].split(": ", 1)[1])
            names = [group] + [frames[i]["name"] for i in stack]
            counts[";".join(name.replace(";", ":") for name in names)] += 1 if in_time else weight
    for line, weight in sorted(counts.items()):
        print(line, weight)


def speedscope_tracks(path):
    """tid, samples, unit, innermost function of the first and of the last sample of each profile"""
    with open(path, encoding="utf-8") as f:
        data = json.load(f)
    frames = data["shared"]["frames"]
    for profile in data["profiles"]:
        innermost = [frames[profile["samples"][i][-1]]["name"] for i in (0, -1)]
        print(profile["name"].split(" ")[-1], len(profile["samples"]), profile["unit"], *innermost)


def speedscope_weight(path, within, innermost):
    """us of samples in a function that are in another one at last"""
    with open(path, encoding="utf-8") as f:
        data = json.load(f)
    frames, total = [frame["name"] for frame in data["shared"]["frames"]], 0
    for profile in data["profiles"]:
        for stack, weight in zip(profile["samples"], profile["weights"]):
            names = [frames[i] for i in stack]
            total += weight if within in names and names[-1] == innermost else 0
    print(round(total * 1000))


def drive(path, script, to):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with open(script, encoding="utf-8") as f:
        text = text.replace("</body>", "<script>\n%s</script>\n</body>" % f.read()) if "</body>" in text else \
            text.replace("</svg>", "<script><![CDATA[\n%s]]></script>\n</svg>" % f.read())
    with open(to, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
