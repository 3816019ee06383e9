#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Readers of what pstat exporter writes, for exporter.sh.

exporter.py get URL [ACCEPT]    prints the page, after a line with its content type
exporter.py faults URL          two scrapes with 2,000 page faults in between: they are there, and no counter falls
exporter.py parse OM TEXT       both files by the parsers of prometheus_client; each series once
exporter.py node FOLDER         node_exporter with FOLDER's textfiles: no error, and the metric is there
exporter.py prometheus URL      a Prometheus that scrapes URL: it is up, and has the metric
"""
import contextlib
import json
import mmap
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

PAGES, LIMIT_S, TRIES = 2000, 60, 5


def fetch(url, accept=None):
    request = urllib.request.Request(url, headers={"Accept": accept} if accept else {})
    with urllib.request.urlopen(request, timeout=LIMIT_S) as response:
        return response.headers["Content-Type"], response.read().decode()


def get(url, accept=None):
    kind, text = fetch(url, accept)
    print("# content-type: %s" % kind)
    sys.stdout.write(text)


def samples(text):
    """{series: value}, of a text that has each once."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        series, value = line.rsplit(" ", 1)
        if series in found:
            sys.exit("twice: " + series)
        found[series] = float(value)
    return found


def touch_pages():
    with mmap.mmap(-1, PAGES * mmap.PAGESIZE) as area:
        if hasattr(mmap, "MADV_NOHUGEPAGE"):
            with contextlib.suppress(OSError):  # a kernel without huge pages
                area.madvise(mmap.MADV_NOHUGEPAGE)
        for page in range(PAGES):
            area[page * mmap.PAGESIZE] = 1


def faults(url):
    before = samples(fetch(url)[1])
    touch_pages()
    after = samples(fetch(url)[1])
    fallen = [series for series in before if "_total" in series and after[series] < before[series]]
    if fallen:
        sys.exit("these fell: %s" % fallen)
    grown = sum(after[series] - before[series] for series in before
                if re.match(r'pstat_event_total\{event="page-faults"', series))
    if grown < PAGES:
        sys.exit("only %d page faults" % grown)


def parse(open_metrics, text):
    from prometheus_client import parser
    from prometheus_client.openmetrics import parser as open_parser
    for path, parse_families in ((open_metrics, open_parser.text_string_to_metric_families),
                                 (text, parser.text_string_to_metric_families)):
        with open(path, encoding="utf-8") as f:
            content = f.read()
        samples(content)
        names = {sample.name for family in parse_families(content) for sample in family.samples}
        wanted = {"pstat_event_total", "pstat_event_seconds_total", "pstat_event_enabled_seconds_total",
                  "pstat_event_running_seconds_total", "pstat_event_supported", "pstat_build_info",
                  "pstat_start_time_seconds", "pstat_reads_failed_total"}
        if not wanted <= names:
            sys.exit("%s: %s missing" % (path, sorted(wanted - names)))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def server(command, path):
    """Started on a port that was free a moment ago, and again on another one where somebody else took it: its URL."""
    for _ in range(TRIES):
        url = "http://127.0.0.1:%d" % free_port()
        with tempfile.TemporaryFile() as log:
            running = subprocess.Popen(command + ["--web.listen-address=" + url[len("http://"):]], stdout=log, stderr=log)
            try:
                end = time.monotonic() + LIMIT_S
                while running.poll() is None and time.monotonic() < end:
                    try:
                        fetch(url + path)
                        yield url
                        return
                    except (urllib.error.URLError, ConnectionError):
                        time.sleep(0.05)
            finally:
                running.terminate()
                running.wait()
            log.seek(0)
            told = log.read().decode()
    sys.exit("%s does not start:\n%s" % (command[0], told))


def node(folder):
    command = ["prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
               "--collector.textfile.directory=" + folder]
    with server(command, "/metrics") as url:
        text = fetch(url + "/metrics")[1]
    if "\nnode_textfile_scrape_error 0\n" not in text:
        sys.exit("an error:\n" + text)
    if not re.search(r'^node_perf_page_faults_total\{cpu="\d+"\} \d', text, re.M):
        sys.exit("no metric:\n" + text)


def query(url, words):
    answer = json.loads(fetch(url + "/api/v1/query?" + urllib.parse.urlencode({"query": words}))[1])
    return [(row["metric"], float(row["value"][1])) for row in answer["data"]["result"]]


def prometheus(target):
    with tempfile.TemporaryDirectory() as folder:
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as f:
            f.write("global:\n  scrape_interval: 1s\nscrape_configs:\n  - job_name: pstat\n    static_configs:\n"
                    "      - targets: ['%s']\n" % urllib.parse.urlsplit(target).netloc)
        command = ["prometheus", "--config.file=" + config, "--storage.tsdb.path=" + os.path.join(folder, "data")]
        with server(command, "/-/ready") as url:
            end = time.monotonic() + LIMIT_S
            while not query(url, 'pstat_event_total{event="page-faults",job="pstat"} > 0'):
                if time.monotonic() > end:
                    sys.exit("it has no metric; up: %s" % query(url, "up"))
                time.sleep(0.1)
            if [value for _, value in query(url, 'up{job="pstat"}')] != [1]:
                sys.exit("it is not up")


COMMANDS = {function.__name__: function for function in (get, faults, parse, node, prometheus)}
COMMANDS[sys.argv[1]](*sys.argv[2:])
