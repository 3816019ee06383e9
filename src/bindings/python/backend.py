# SPDX-License-Identifier: MIT
"""What pip calls to install pstat.py (PEP 517): a wheel of one module, made with the standard library alone.

A wheel is a zip file with the module and a folder that says what it is:
https://packaging.python.org/specifications/binary-distribution-format/
"""
import base64
import hashlib
import os
import re
import tarfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODULE, PROJECT, SUMMARY = "pstat.py", ("pyproject.toml", "backend.py", "pstat.py"), \
    "count and sample with the perf events of Linux"


def version():
    """That of the library which the module goes with."""
    with open(os.path.join(HERE, MODULE), encoding="utf-8") as f:
        return re.search(r'^__version__ = "(.*)"', f.read(), re.M).group(1)


def name():
    return "libpstat-" + version()


def metadata():
    return "Metadata-Version: 2.1\nName: libpstat\nVersion: %s\nSummary: %s\nLicense: MIT\n" \
           "Requires-Python: >=3.6\n" % (version(), SUMMARY)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    info = name() + ".dist-info/"
    with open(os.path.join(HERE, MODULE), "rb") as f:
        files = {MODULE: f.read(), info + "METADATA": metadata().encode(),
                 info + "WHEEL": b"Wheel-Version: 1.0\nGenerator: pstat\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    record = "".join("%s,sha256=%s,%d\n" % (path, base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("="),
                                           len(data)) for path, data in files.items())
    files[info + "RECORD"] = (record + info + "RECORD,,\n").encode()
    wheel = name() + "-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(path, data)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    sdist = name() + ".tar.gz"
    with tarfile.open(os.path.join(sdist_directory, sdist), "w:gz") as archive:
        for path in PROJECT:
            archive.add(os.path.join(HERE, path), name() + "/" + path)
    return sdist
