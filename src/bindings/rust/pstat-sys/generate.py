#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libpstat.h -> src/lib.rs of the crate pstat-sys: structs, constants and calls, in the order of the header.

generate.py HEADER >src/lib.rs      after a change of the header; a test says when it was forgotten
"""
import re
import sys

HEAD = '''\
// SPDX-License-Identifier: MIT
//! libpstat.h as it stands: structs, constants and calls, made by generate.py. The crate `pstat` has a safe face of
//! the counting part.
//!
//! Meanings, units and who owns what are said in the header and in libpstat(3). Structs that begin with their size have
//! it set by the caller to `size_of`, and the rest zeroed.
#![allow(non_camel_case_types)]

use std::os::raw::{c_char, c_int, c_uint, c_void};

/// `struct perf_event_attr` of linux/perf_event.h, which programs fill in by themselves.
#[repr(C)]
pub struct perf_event_attr {
    _private: [u8; 0],
}
'''
TYPES = {"int64_t": "i64", "uint64_t": "u64", "uint32_t": "u32", "uint16_t": "u16", "uint8_t": "u8", "int": "c_int",
         "unsigned int": "c_uint", "size_t": "usize", "char": "c_char", "double": "f64", "void": "c_void"}
KEYWORDS = {"fn": "each", "type": "kind", "as": "body", "in": "input", "ref": "reference", "match": "matches"}
MAX_COLUMNS = 120


def rust_type(c):
    """const char ** -> *mut *const c_char"""
    base = re.sub(r"\b(?:const|struct|enum)\b|\*", "", c).strip()
    found = TYPES.get(base, base)
    for star in range(c.count("*")):
        found = "*%s %s" % ("const" if star == 0 and "const" in c else "mut", found)
    return found


def parameter(c):
    """const char *text -> text: *const c_char"""
    pointed = re.match(r"(.+?)\(\*(\w+)\)\((.*)\)$", c)
    if pointed: # to a function
        result, name, arguments = pointed.groups()
        return "%s: %s" % (KEYWORDS.get(name, name), callback(result, arguments))
    kind, name, array = re.match(r"(.*?)(\w+)(?:\[(\w+)\])?$", c).groups()
    found = rust_type(kind)
    return "%s: %s" % (KEYWORDS.get(name, name), "[%s; %s]" % (found, array) if array else found)


def split(arguments):
    return [] if arguments == "void" else re.split(r", (?![^(]*\))", arguments)


def returned(result):
    found = rust_type(result)
    return "" if found == "c_void" else " -> " + found


def callback(result, arguments):
    return "Option<unsafe extern \"C\" fn(%s)%s>" % (", ".join(map(parameter, split(arguments))), returned(result))


def fields(body):
    """uint32_t pid, *tids; -> pid: u32, tids: *mut u32"""
    for declaration in filter(None, (" ".join(d.split()) for d in body.split(";"))):
        kind, names = re.match(r"((?:const )?(?:struct |enum )?\w+) (.*)$", declaration).groups()
        for name in names.split(", "):
            yield parameter("%s %s" % (kind, name))


def record(kind, name, body, derived="#[derive(Clone, Copy)]\n"):
    return "#[repr(C)]\n%spub %s %s {\n%s}" % (derived, kind, name,
                                              "".join("    pub %s,\n" % field for field in fields(body)))


def call(result, name, arguments):
    parameters = [parameter(a) for a in split(arguments)]
    line = "    pub fn %s(%s)%s;" % (name, ", ".join(parameters), returned(result))
    if len(line) <= MAX_COLUMNS:
        return line
    return "    pub fn %s(\n%s    )%s;" % (name, "".join("        %s,\n" % p for p in parameters), returned(result))


def enumeration(name, body):
    lines, value = ["pub type %s = c_uint;" % name], 0
    for item, given in re.findall(r"(\w+)(?: = (\w+))?", body):
        value = int(given, 0) if given else value
        lines.append("pub const %s: %s = %d;" % (item, name, value))
        value += 1
    return "\n".join(lines)


ITEM = re.compile(r"#define (?P<macro>PSTAT_\w+) (?P<number>\d+)u\n"
                  r"|struct (?P<opaque>pstat_\w+);"
                  r"|enum (?P<enum>pstat_\w+) \{(?P<values>.*?)\};"
                  r"|struct (?P<struct>pstat_\w+) \{ *\n(?P<body>.*?)\n\};"
                  r"|typedef (?P<gives>.*?)\(\*(?P<pointer>\w+)\)\((?P<with>[^;]*)\);"
                  r"|(?P<result>(?:const )?(?:struct |enum )?\w+ \**)(?P<call>pstat_\w+)\((?P<arguments>[^;]*)\);",
                  re.S)


def items(header):
    """Blocks of Rust, a call for the extern block as (text,)."""
    union = re.compile(r"union \{(.*?)\} (\w+);", re.S)
    for m in ITEM.finditer(re.sub(r"/\*.*?\*/", "", header, flags=re.S)):
        if m["macro"]:
            yield "pub const %s: u32 = %s;" % (m["macro"], m["number"])
        elif m["opaque"]:
            yield "#[repr(C)]\npub struct %s {\n    _private: [u8; 0],\n}" % m["opaque"]
        elif m["enum"]:
            yield enumeration(m["enum"], m["values"])
        elif m["struct"]:
            inner = union.search(m["body"])
            if inner:
                yield record("union", m["struct"] + "_" + inner[2], inner[1])
            yield record("struct", m["struct"], union.sub("%s_%s %s;" % (m["struct"], inner[2], inner[2]), m["body"])
                         if inner else m["body"])
        elif m["pointer"]:
            yield "pub type %s = Option<\n    unsafe extern \"C\" fn(\n%s    )%s,\n>;" % (
                m["pointer"], "".join("        %s,\n" % parameter(a) for a in split(" ".join(m["with"].split()))),
                returned(m["gives"]))
        else:
            yield call(m["result"], m["call"], " ".join(m["arguments"].split())),


def generate(header):
    found = list(items(header))
    calls = [item[0] for item in found if isinstance(item, tuple)]
    return "%s\n%s\n\n#[link(name = \"pstat\")]\nextern \"C\" {\n%s\n}\n" % (
        HEAD, "\n\n".join(item for item in found if isinstance(item, str)), "\n".join(calls))


if __name__ == "__main__":
    with open(sys.argv[1]) as f:
        sys.stdout.write(generate(f.read()))
