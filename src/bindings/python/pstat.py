# SPDX-License-Identifier: MIT
"""libpstat for Python: count and sample with the perf events of Linux.

    import pstat

    with pstat.measure("cycles,instructions,page-faults") as m:
        work()
    for reading in m:
        print(reading.name, reading.value, reading.state, reading.reason)

    events = pstat.Events("{cycles,instructions}", "sched:sched_switch")    what to count
    counters = pstat.Counters(events, pid=1234)                             open: enable, disable, read
    readings = counters.read()                                              what they said
    sampler = pstat.Sampler("cpu-clock", frequency=999)                     events with rings: records
    names = pstat.Names()                                                   addresses in records: functions

One module over ctypes: nothing is compiled, and libpstat.so.0 is looked for as each library is (ldconfig,
LD_LIBRARY_PATH); the variable PSTAT_LIBRARY names another file.

A call that fails raises pstat.Error, an OSError whose text is the library's. An event that this machine or this user
cannot count is no error: its reading says so in `state` and `reason`, and its `value` is None. Handles are closed by
`with`, by close(), or when nobody has them any more. As in C a handle is for one thread at a time.

Names, units and meanings are those of libpstat.h, which libpstat(3) describes.
"""
import collections
import ctypes
import enum
import errno
import json
import os
import select
import time
import typing

__all__ = ["Attr", "Branch", "BranchParts", "Counter", "Counters", "DataSource", "Error", "Events", "Field", "Known", "Map",
           "Mode", "Name", "Names", "Reading", "Readings", "Sample", "Sampler", "State", "TracepointField", "Track",
           "Transaction", "decode_branch", "decode_data_source", "decode_transaction", "event_label", "known", "max_stack",
           "measure", "sets", "supported", "version"]

SONAME = "libpstat.so.0"
__version__ = "0.1"


def _load():
    """The library. Its calls are short and keep the interpreter's lock, so that two threads never meet in a handle."""
    path = os.environ.get("PSTAT_LIBRARY") or SONAME
    try:
        return ctypes.PyDLL(path)
    except OSError as e:
        raise ImportError("libpstat: %s: install it (make install-library, then ldconfig), or name the file in "
                          "PSTAT_LIBRARY" % e, name="pstat", path=path) from None


# ---- the header: structs and calls as libpstat.h declares them ----

_text, _size, _handle = ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p
_int, _u8, _u16, _u32, _u64 = ctypes.c_int, ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64


_u8_p, _u64_p = ctypes.POINTER(_u8), ctypes.POINTER(_u64)


class _Struct(ctypes.Structure):
    """A struct of the header with the same tag and fields; one that begins with its size has it set."""

    def __init__(self, **fields):
        super().__init__(**fields)
        if self._fields_[0][0] == "size":
            self.size = ctypes.sizeof(self)


class pstat_error(_Struct):
    _fields_ = [("size", _size), ("code", _int), ("text", ctypes.c_char * 1000)]


class pstat_open_options(_Struct):
    _fields_ = [("size", _size), ("target", _int), ("ids", ctypes.POINTER(_int)), ("n_ids", _size), ("cgroup", _text),
                ("inherit", _int), ("enabled", _int), ("enable_on_exec", _int), ("may_move_thread", _int),
                ("may_raise_limit", _int), ("overflows", _int), ("user_read", _int)]


class pstat_known_event(_Struct):
    _fields_ = [("size", _size), ("topic", _text), ("name", _text), ("alias", _text), ("description", _text),
                ("pmu", _text), ("unit", _text), ("scale", ctypes.c_double)]


class pstat_counter(_Struct):
    _fields_ = [("size", _size), ("name", _text), ("pmu", _text), ("unit", _text), ("scale", ctypes.c_double),
                ("supported", _int), ("error", _int), ("reason", _text), ("remedy", _text), ("leader", _size),
                ("n_members", _size), ("n_descriptors", _size), ("attr", ctypes.c_void_p)]


class pstat_reading(_Struct):
    _fields_ = [("size", _size), ("name", _text), ("unit", _text), ("state", _int), ("way", _int), ("raw", _u64),
                ("scaled", _u64), ("value", ctypes.c_double), ("enabled_ns", _u64), ("running_ns", _u64),
                ("error", _int), ("reason", _text), ("remedy", _text)]


class Attr(_Struct):
    """struct perf_event_attr of perf_event_open(2), for Events.add_attr(): Attr(type=1, config=2)."""
    _fields_ = ([("type", _u32), ("size", _u32), ("config", _u64), ("sample_period", _u64), ("sample_type", _u64),
                 ("read_format", _u64)]
                + [(name, _u64, bits) for name, bits in (
                    ("disabled", 1), ("inherit", 1), ("pinned", 1), ("exclusive", 1), ("exclude_user", 1),
                    ("exclude_kernel", 1), ("exclude_hv", 1), ("exclude_idle", 1), ("mmap", 1), ("comm", 1), ("freq", 1),
                    ("inherit_stat", 1), ("enable_on_exec", 1), ("task", 1), ("watermark", 1), ("precise_ip", 2),
                    ("mmap_data", 1), ("sample_id_all", 1), ("exclude_host", 1), ("exclude_guest", 1),
                    ("exclude_callchain_kernel", 1), ("exclude_callchain_user", 1), ("mmap2", 1), ("comm_exec", 1),
                    ("use_clockid", 1), ("context_switch", 1), ("write_backward", 1), ("namespaces", 1), ("ksymbol", 1),
                    ("bpf_event", 1), ("aux_output", 1), ("cgroup", 1), ("text_poke", 1), ("build_id", 1),
                    ("inherit_thread", 1), ("remove_on_exec", 1), ("sigtrap", 1))]
                + [("wakeup_events", _u32), ("bp_type", _u32), ("config1", _u64), ("config2", _u64),
                   ("branch_sample_type", _u64), ("sample_regs_user", _u64), ("sample_stack_user", _u32),
                   ("clockid", ctypes.c_int32), ("sample_regs_intr", _u64), ("aux_watermark", _u32),
                   ("sample_max_stack", _u16), ("reserved_2", _u16), ("aux_sample_size", _u32), ("reserved_3", _u32),
                   ("sig_data", _u64)])

    def __init__(self, **fields):
        super().__init__(**dict(fields, size=ctypes.sizeof(self)))


class pstat_values(_Struct):
    _fields_ = [("format", _u64), ("enabled_ns", _u64), ("running_ns", _u64), ("n", _u64), ("words", _u64_p)]


class pstat_registers(_Struct):
    _fields_ = [("abi", _u64), ("mask", _u64), ("v", _u64_p), ("n", _u32)]


class pstat_branch(_Struct):
    _fields_ = [("from_addr", _u64), ("to_addr", _u64), ("flags", _u64)]


class pstat_sample(_Struct):
    _fields_ = [("ip", _u64), ("addr", _u64), ("period", _u64), ("values", pstat_values), ("n_ips", _u64),
                ("ips", _u64_p), ("raw_bytes", _u32), ("raw", _u8_p), ("n_branches", _u64), ("branch_hw_index", _u64),
                ("branches", ctypes.POINTER(pstat_branch)), ("branch_counters", _u64_p),
                ("user_registers", pstat_registers), ("interrupted_registers", pstat_registers), ("stack_bytes", _u64),
                ("stack_used_bytes", _u64), ("stack", _u8_p), ("weight", _u64), ("data_source", _u64),
                ("transaction", _u64), ("physical_addr", _u64), ("cgroup", _u64), ("data_page_bytes", _u64),
                ("code_page_bytes", _u64), ("aux_bytes", _u64), ("aux", _u8_p)]


class pstat_map(_Struct):
    _fields_ = [("pid", _u32), ("tid", _u32), ("start", _u64), ("length", _u64), ("file_offset", _u64), ("path", _text),
                ("data", _int), ("protection", _u32), ("flags", _u32), ("device_major", _u32), ("device_minor", _u32),
                ("inode", _u64), ("inode_generation", _u64), ("build_id_bytes", _u8), ("build_id", _u8 * 20)]


class pstat_task(_Struct):
    _fields_ = [("pid", _u32), ("parent_pid", _u32), ("tid", _u32), ("parent_tid", _u32), ("time_ns", _u64)]


class pstat_lost(_Struct):
    _fields_ = [("id", _u64), ("n", _u64)]


class pstat_comm(_Struct):
    _fields_ = [("pid", _u32), ("tid", _u32), ("name", _text), ("exec", _int)]


class pstat_throttle(_Struct):
    _fields_ = [("time_ns", _u64), ("id", _u64), ("stream_id", _u64)]


class pstat_task_read(_Struct):
    _fields_ = [("pid", _u32), ("tid", _u32), ("values", pstat_values)]


class pstat_aux(_Struct):
    _fields_ = [("offset", _u64), ("bytes", _u64), ("flags", _u64)]


class pstat_itrace_start(_Struct):
    _fields_ = [("pid", _u32), ("tid", _u32)]


class pstat_switch(_Struct):
    _fields_ = [("out", _int), ("preempted", _int), ("other_pid", _u32), ("other_tid", _u32)]


class pstat_namespace(_Struct):
    _fields_ = [("device", _u64), ("inode", _u64)]


class pstat_namespaces(_Struct):
    _fields_ = [("pid", _u32), ("tid", _u32), ("n", _u64), ("v", ctypes.POINTER(pstat_namespace))]


class pstat_ksymbol(_Struct):
    _fields_ = [("addr", _u64), ("length", _u32), ("kind", _u16), ("flags", _u16), ("name", _text)]


class pstat_bpf_event(_Struct):
    _fields_ = [("kind", _u16), ("flags", _u16), ("id", _u32), ("tag", _u8 * 8)]


class pstat_cgroup_path(_Struct):
    _fields_ = [("id", _u64), ("path", _text)]


class pstat_text_poke(_Struct):
    _fields_ = [("addr", _u64), ("old_bytes", _u16), ("new_bytes", _u16), ("code", _u8_p)]


class pstat_hw_id(_Struct):
    _fields_ = [("hw_id", _u64)]


class pstat_deferred_chain(_Struct):
    _fields_ = [("cookie", _u64), ("n_ips", _u64), ("ips", _u64_p)]


class _Body(ctypes.Union):
    _fields_ = [("sample", pstat_sample), ("map", pstat_map), ("task", pstat_task), ("lost", pstat_lost),
                ("comm", pstat_comm), ("throttle", pstat_throttle), ("read", pstat_task_read), ("aux", pstat_aux),
                ("itrace_start", pstat_itrace_start), ("sched", pstat_switch), ("namespaces", pstat_namespaces),
                ("ksymbol", pstat_ksymbol), ("bpf", pstat_bpf_event), ("cgroup", pstat_cgroup_path),
                ("text_poke", pstat_text_poke), ("hw_id", pstat_hw_id), ("deferred", pstat_deferred_chain)]


class pstat_record(_Struct):
    _fields_ = [("size", _size), ("record_type", _u32), ("misc", _u16), ("mode", _u16), ("event", _int),
                ("ring_cpu", _int), ("has", _u64), ("pid", _u32), ("tid", _u32), ("time_ns", _u64), ("id", _u64),
                ("stream_id", _u64), ("cpu", _u32), ("n_bytes", _u32), ("bytes", _u8_p), ("body", _Body)]


class pstat_sampling_options(_Struct):
    _fields_ = [("size", _size), ("open", ctypes.POINTER(pstat_open_options)), ("period", _u64), ("frequency", _u64),
                ("fields", _u64), ("user_registers", _u64), ("interrupted_registers", _u64), ("branches", _u64),
                ("stack_bytes", _u32), ("track", _u32), ("ring_bytes", _u64), ("wakeup_bytes", _u32),
                ("wakeup_events", _u32), ("max_stack", _u32)]


class pstat_sampler_counts(_Struct):
    _fields_ = [("size", _size), ("delivered", _u64), ("samples", _u64), ("lost", _u64), ("not_taken", _u64),
                ("broken", _u64), ("lost_now", _u64), ("lost_now_known", _int)]


class pstat_branch_parts(_Struct):
    _fields_ = [("size", _size)] + [(name, _u32) for name in (
        "mispredicted", "predicted", "in_transaction", "aborted", "cycles", "branch_type", "speculation", "privilege")]


class pstat_data_source(_Struct):
    _fields_ = [("size", _size)] + [(name, _u32) for name in (
        "operation", "level", "snoop", "lock", "tlb", "level_number", "remote", "snoop_more", "blocked", "hops")]


class pstat_transaction(_Struct):
    _fields_ = [("size", _size)] + [(name, _u32) for name in (
        "elision", "transaction", "synchronous", "asynchronous", "retry", "conflict", "capacity_write", "capacity_read",
        "abort_code")]


class pstat_field(_Struct):
    _fields_ = [("size", _size), ("offset", _u32), ("bytes", _u32)] + [(name, _int) for name in (
        "is_signed", "is_array", "is_text", "is_dynamic", "is_relative")]


class pstat_name(_Struct):
    _fields_ = [("size", _size), ("function", _text), ("offset", _u64), ("file", _text), ("file_address", _u64),
                ("reason", _text)]


_out = ctypes.POINTER(_handle)
_error_p = ctypes.POINTER(pstat_error)
_cell_fn = ctypes.CFUNCTYPE(_int, ctypes.c_void_p, _size, _int, _int, ctypes.POINTER(pstat_reading))

# Name, without its "pstat_": what it returns, and its arguments.
_CALLS = {
    "version": (_text,),
    "events_new": (_int, _out),
    "events_free": (None, _handle),
    "events_parse": (_int, _handle, _text, _error_p),
    "events_add_attr": (_int, _handle, _text, ctypes.POINTER(Attr), _error_p),
    "events_group": (_int, _handle, _size, _size, _error_p),
    "events_add_set": (_int, _handle, _text, _error_p),
    "set_name": (_text, _size, ctypes.POINTER(_text)),
    "events_set_filter": (_int, _handle, _size, _text, _error_p),
    "events_set_period": (_int, _handle, _size, _u64, _error_p),
    "events_set_frequency": (_int, _handle, _size, _u64, _error_p),
    "events_count": (_size, _handle),
    "events_name": (_text, _handle, _size),
    "events_note": (_text, _handle, _size),
    "supported": (_int,),
    "max_stack": (_int,),
    "event_label": (_int, _u32, _u64, ctypes.c_char_p, _size),
    "known_new": (_int, _out, _text, _text, _error_p),
    "known_free": (None, _handle),
    "known_count": (_size, _handle),
    "known_at": (ctypes.POINTER(pstat_known_event), _handle, _size),
    "open": (_int, _out, _handle, ctypes.POINTER(pstat_open_options), _error_p),
    "close": (None, _handle),
    "state_name": (_text, _int),
    "counters_count": (_size, _handle),
    "counter": (ctypes.POINTER(pstat_counter), _handle, _size),
    "counters_note": (_text, _handle, _size),
    "enable": (_int, _handle),
    "disable": (_int, _handle),
    "reset": (_int, _handle),
    "descriptors": (_int, _handle, _size, ctypes.POINTER(_int), _size),
    "ids": (_int, _handle, _size, _u64_p, _size),
    "set_filter": (_int, _handle, _size, _text, _error_p),
    "set_period": (_int, _handle, _size, _u64),
    "attach_bpf": (_int, _handle, _size, _int),
    "bpf_programs": (_int, _handle, _size, ctypes.POINTER(_u32), _size),
    "refresh": (_int, _handle, _size, _int),
    "readings_new": (_int, _out, _handle),
    "readings_free": (None, _handle),
    "readings_count": (_size, _handle),
    "reading_at": (ctypes.POINTER(pstat_reading), _handle, _size),
    "reading_of": (ctypes.POINTER(pstat_reading), _handle, _text),
    "read": (_int, _handle, _handle),
    "readings_subtract": (_int, _handle, _handle),
    "explain": (_int, _handle, _handle),
    "readings_json_with": (_int, _handle, ctypes.c_uint, ctypes.c_char_p, _size),
    "readings_cells": (_int, _handle, _cell_fn, ctypes.c_void_p),
    "user_read_times": (_int, _handle, _size) + (_u64_p,) * 3,
    "user_read_reason": (_text, _handle, _size),
    "record_name": (_text, _u32),
    "value": (_int, ctypes.POINTER(pstat_values), _u64) + (_u64_p,) * 3,
    "branch_decode": (None, ctypes.POINTER(pstat_branch), ctypes.POINTER(pstat_branch_parts)),
    "data_source_decode": (None, _u64, ctypes.POINTER(pstat_data_source)),
    "transaction_decode": (None, _u64, ctypes.POINTER(pstat_transaction)),
    "events_field": (_int, _handle, _size, _text, ctypes.POINTER(pstat_field), _error_p),
    "field_number": (_int, ctypes.POINTER(pstat_field), ctypes.POINTER(pstat_sample), ctypes.POINTER(ctypes.c_int64)),
    "field_text": (_int, ctypes.POINTER(pstat_field), ctypes.POINTER(pstat_sample), ctypes.c_char_p, _size),
    "sampler_open": (_int, _out, _handle, ctypes.POINTER(pstat_sampling_options), _error_p),
    "sampler_close": (None, _handle),
    "sampler_counters": (_handle, _handle),
    "sampler_next": (_int, _handle, ctypes.POINTER(ctypes.POINTER(pstat_record)), _error_p),
    "sampler_wait": (_int, _handle, _int),
    "sampler_pause": (_int, _handle, _int),
    "sampler_fd": (_int, _handle),
    "sampler_count": (None, _handle, ctypes.POINTER(pstat_sampler_counts)),
    "names_new": (_int, _out, _error_p),
    "names_free": (None, _handle),
    "name_of": (_int, _handle, _int, _u64, ctypes.POINTER(pstat_name), _error_p),
    "names_forget": (None, _handle, _int),
}


class _Library:
    """The calls of _CALLS, each by its short name."""

    def __init__(self):
        library = _load()
        for name, (result, *arguments) in _CALLS.items():
            call = getattr(library, "pstat_" + name)
            call.restype, call.argtypes = result, arguments
            setattr(self, name, call)


_lib = _Library()


# ---- errors and text ----

class Error(OSError):
    """A call of the library failed: `errno`, and in `strerror` its sentence, with further lines that say what to do."""

    def __str__(self):
        return self.strerror


def _raise_if(code, error=None):
    """The count that a call returned; a negative errno is raised."""
    if code >= 0:
        return code
    raise Error(-code, (_str(error.text) if error else "") or os.strerror(-code))


def _str(text):
    """Text of the library; None for NULL. Bytes that are no UTF-8 are shown as \\xNN."""
    return None if text is None else text.decode("utf-8", "backslashreplace")


def _bytes(text):
    return None if text is None else os.fsencode(text)


def _list_of(call, *arguments):
    """The texts of a call that returns one for each index, and NULL after the last."""
    texts = []
    while True:
        text = call(*arguments, len(texts))
        if text is None:
            return texts
        texts.append(_str(text))


def _new(call, *arguments):
    """The handle that a call makes in its first argument."""
    handle = _handle()
    error = pstat_error() if call.argtypes[-1] is _error_p else None
    _raise_if(call(ctypes.byref(handle), *arguments, *([ctypes.byref(error)] if error else [])), error)
    return handle.value


def _call(call, *arguments):
    """A call that writes a sentence where it fails."""
    error = pstat_error()
    return _raise_if(call(*arguments, ctypes.byref(error)), error)


def _written(call, *arguments):
    """The text that a call writes as snprintf(3) does."""
    n = _raise_if(call(*arguments, None, 0))
    text = ctypes.create_string_buffer(n + 1)
    _raise_if(call(*arguments, text, n + 1))
    return _str(text.value)


class _Owner:
    """What has a handle: closed by with, by close(), at the end by the interpreter. A closed one raises ValueError."""

    _free, _open = None, None

    @property
    def _handle(self):
        if self._open is None:
            raise ValueError("%s: it is closed" % type(self).__name__)
        return self._open

    def close(self):
        handle, self._open = self._open, None
        if handle is not None:
            type(self)._free(handle)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    __del__ = close


def version():
    """The version of the library in use."""
    return _str(_lib.version())


# ---- events ----

def sets():
    """The ready-made sets of events for Events.add_set(): {name: what it counts}."""
    found, text = {}, _text()
    while True:
        name = _lib.set_name(len(found), ctypes.byref(text))
        if name is None:
            return found
        found[_str(name)] = _str(text.value)


def supported():
    """Does this kernel have perf events?"""
    return bool(_lib.supported())


def max_stack():
    """The longest call chain that the kernel takes, in frames."""
    return _raise_if(_lib.max_stack())


def event_label(event_type, config):
    """The name of an event in the kernel's numbers, attr.type and attr.config."""
    return _written(_lib.event_label, event_type, config)


class Known(typing.NamedTuple):
    """An event that this machine knows; texts that it does not have are ""."""
    topic: str
    name: str
    alias: str
    description: str
    pmu: str
    unit: str
    scale: float


def known(topic=None, glob=None):
    """The events that are known here: of one topic, or all; whose names match, or contain, glob."""
    handle, found = _new(_lib.known_new, _bytes(topic), _bytes(glob)), []
    try:
        for i in range(_lib.known_count(handle)):
            c = _lib.known_at(handle, i).contents
            found.append(Known(*map(_str, (c.topic, c.name, c.alias, c.description, c.pmu, c.unit)), scale=c.scale))
    finally:
        _lib.known_free(handle)
    return found


class Events(_Owner):
    """A list of events: what to count. Each text is what `pstat stat -e` understands."""

    _free = _lib.events_free

    def __init__(self, *texts):
        self._open = _new(_lib.events_new)
        for text in texts:
            self.add(text)

    def add(self, text):
        _call(_lib.events_parse, self._handle, _bytes(text))
        return self

    def add_group(self, *texts):
        """Events that are counted at the same times, or not at all."""
        first = len(self)
        for text in texts:
            self.add(text)
        return self.group(first, len(self) - first)

    def add_set(self, name):
        _call(_lib.events_add_set, self._handle, _bytes(name))
        return self

    def add_attr(self, attr, name=None):
        _call(_lib.events_add_attr, self._handle, _bytes(name), attr)
        return self

    def group(self, first, n):
        """Makes n events from `first` on one group."""
        _call(_lib.events_group, self._handle, first, n)
        return self

    def set_filter(self, index, text):
        """The filter of a tracepoint, set when it is opened; None takes it away."""
        _call(_lib.events_set_filter, self._handle, index, _bytes(text))
        return self

    def set_period(self, index, period):
        """A sample after so many."""
        _call(_lib.events_set_period, self._handle, index, period)
        return self

    def set_frequency(self, index, hz):
        """About so many samples in a second."""
        _call(_lib.events_set_frequency, self._handle, index, hz)
        return self

    def field(self, index, name):
        """A field of a tracepoint, to be taken out of samples that have Field.RAW."""
        field = pstat_field()
        _call(_lib.events_field, self._handle, index, _bytes(name), field)
        return TracepointField(name, field)

    @property
    def names(self):
        return _list_of(_lib.events_name, self._handle)

    @property
    def notes(self):
        """Words that were understood in another way than they were written."""
        return _list_of(_lib.events_note, self._handle)

    def __len__(self):
        return _lib.events_count(self._handle)

    def __iter__(self):
        return iter(self.names)

    def __repr__(self):
        return "pstat.Events(%s)" % ("closed" if self._open is None else ", ".join(map(repr, self.names)))


def _events_of(events):
    return events if isinstance(events, Events) else Events(events) if isinstance(events, str) else Events(*events)


# ---- counters ----

class State(enum.IntEnum):
    """How far a reading can be trusted; str() is the library's word for it."""
    COUNTED = 0
    SCALED = 1
    LOWER_BOUND = 2
    NOT_COUNTED = 3
    NOT_SUPPORTED = 4
    READ_FAILED = 5

    def __str__(self):
        return _str(_lib.state_name(self))

    def __format__(self, spec):
        return format(str(self), spec)


_STATES = tuple(State)


class Counter(typing.NamedTuple):
    """An event as it was opened. `leader` is the index of the event that leads its group, its own outside groups."""
    name: str
    pmu: str
    unit: str
    scale: float
    supported: bool
    error: int
    reason: typing.Optional[str]
    remedy: typing.Optional[str]
    leader: int
    n_members: int
    n_descriptors: int


class Reading(typing.NamedTuple):
    """What one counter said. `value` is in `unit`, scaled where the counter was shared, and None where there is none."""
    name: str
    value: typing.Union[int, float, None]
    unit: str
    state: State
    raw: int
    scaled: int
    enabled_ns: int
    running_ns: int
    by_user: bool
    error: int
    reason: typing.Optional[str]
    remedy: typing.Optional[str]


def _reading(c):
    state = _STATES[c.state]
    value = None if state > State.LOWER_BOUND else c.scaled if c.value == c.scaled else c.value
    return Reading(_str(c.name), value, _str(c.unit), state, c.raw, c.scaled, c.enabled_ns, c.running_ns, c.way == 1,
                   c.error, _str(c.reason), _str(c.remedy))


TARGET_SELF, TARGET_TID, TARGET_PID, TARGET_CPUS = range(4)


def _open_options(tid=None, pid=None, cpus=None, cgroup=None, **flags):
    """struct pstat_open_options of the keywords that Counters and Sampler take."""
    options, ids = pstat_open_options(cgroup=_bytes(cgroup)), []
    given = [(target, value) for target, value in ((TARGET_TID, tid), (TARGET_PID, pid), (TARGET_CPUS, cpus))
             if value is not None]
    if len(given) > 1:
        raise ValueError("pstat: tid, pid, cpus: one of them")
    for options.target, value in given:
        if not (options.target == TARGET_CPUS and value == "all"):
            ids = [value] if isinstance(value, int) else list(value)
            if not ids:
                raise ValueError("pstat: an empty list of threads, processes or CPUs; cpus=\"all\" is every CPU")
    options.ids, options.n_ids = (_int * len(ids))(*ids), len(ids)
    for name, value in flags.items():
        if name not in _OPEN_FLAGS:
            raise TypeError("pstat: %s is no option" % name)
        setattr(options, name, int(value))
    return options


_OPEN_FLAGS = {"inherit", "enabled", "enable_on_exec", "may_move_thread", "may_raise_limit", "overflows", "user_read"}


class Counters(_Owner):
    """Events that are open on a target: the calling thread, or

        tid=, pid=     a thread or process, or several
        cpus=          a CPU, several, or "all" that are online; with cgroup= only what runs in that control group

    and as further keywords the options of pstat_open(3): inherit, enabled, enable_on_exec, may_move_thread,
    may_raise_limit, overflows, user_read. Without enabled=True counting begins with enable().
    """

    _free = _lib.close

    def __init__(self, events, **options):
        events = _events_of(events)
        self._open = _new(_lib.open, events._handle, ctypes.byref(_open_options(**options)))
        self._init_times()

    def _init_times(self):
        self._times = [_u64(), _u64(), _u64()]
        self._time_refs = [ctypes.byref(word) for word in self._times]

    def enable(self):
        _raise_if(_lib.enable(self._handle))

    def disable(self):
        _raise_if(_lib.disable(self._handle))

    def reset(self):
        """From now on readings begin at 0 again, times too."""
        _raise_if(_lib.reset(self._handle))

    def read(self, into=None):
        """Reads all counters, each group with one system call. `into`: earlier readings of them, to be overwritten."""
        readings = Readings(self) if into is None else into
        _raise_if(_lib.read(self._handle, readings._handle))
        return readings

    def explain(self, readings):
        """Finds the reason and the remedy for each reading that is not what was asked for."""
        _raise_if(_lib.explain(self._handle, readings._handle))
        return readings

    def descriptors(self, index):
        """An event's descriptors, which stay the counters' own."""
        return self._numbers(_lib.descriptors, _int, index)

    def ids(self, index):
        """The kernel's ids of an event's descriptors."""
        return self._numbers(_lib.ids, _u64, index)

    def _numbers(self, call, kind, index):
        n = _raise_if(call(self._handle, index, None, 0))
        numbers = (kind * n)()
        _raise_if(call(self._handle, index, numbers, n))
        return list(numbers)

    def set_filter(self, index, text):
        _call(_lib.set_filter, self._handle, index, _bytes(text))

    def set_period(self, index, period):
        _raise_if(_lib.set_period(self._handle, index, period))

    def attach_bpf(self, index, program_fd):
        _raise_if(_lib.attach_bpf(self._handle, index, program_fd))

    def bpf_programs(self, index):
        """The kernel's ids of the BPF programs that run at a tracepoint."""
        return self._numbers(_lib.bpf_programs, _u32, index)

    def refresh(self, index, n):
        """Enables one event of a sampler for n more samples, after which the kernel disables it."""
        _raise_if(_lib.refresh(self._handle, index, n))

    def user_read(self, index=0):
        """The raw value of one counter, without a system call where that can be had; needs user_read=True."""
        value, enabled, running = self._time_refs
        code = _lib.user_read_times(self._handle, index, value, enabled, running)
        if code < 0:
            _raise_if(code)
        return self._times[0].value

    def user_read_reason(self, index=0):
        """Why a counter cannot be read without a system call; None: it can."""
        return _str(_lib.user_read_reason(self._handle, index))

    @property
    def notes(self):
        """Notes of what was done in another way than it was asked for."""
        return _list_of(_lib.counters_note, self._handle)

    def __len__(self):
        return _lib.counters_count(self._handle)

    def __getitem__(self, index):
        found = _lib.counter(self._handle, index if index >= 0 else len(self) + index)
        if not found:
            raise IndexError("pstat: no counter %d of %d" % (index, len(self)))
        c = found.contents
        return Counter(_str(c.name), _str(c.pmu), _str(c.unit), c.scale, bool(c.supported), c.error, _str(c.reason),
                       _str(c.remedy), c.leader, c.n_members, c.n_descriptors)


# ---- readings ----

class Readings(_Owner):
    """One reading of all counters: a sequence of Reading, by index, or by name as a mapping is asked.

    `later -= earlier` leaves what happened between them. They need the counters no more.
    """

    _free = _lib.readings_free

    def __init__(self, counters):
        self._open = _new(_lib.readings_new, counters._handle)

    def __isub__(self, earlier):
        _raise_if(_lib.readings_subtract(self._handle, earlier._handle))
        return self

    def get(self, name, default=None):
        """The first reading of that name, or that was given that name."""
        found = _lib.reading_of(self._handle, _bytes(name))
        return _reading(found.contents) if found else default

    def json(self, details=False, perf_utils=False):
        """The values under the names of the events, None where there is none; with details each has its times, state
        and reason beside it; perf_utils: under the names that perf-utils has."""
        return json.loads(_written(_lib.readings_json_with, self._handle, details + 2 * perf_utils))

    def cells(self):
        """The pieces: (index, cpu, tid, Reading) for each event, CPU and thread; -1 where it is about all."""
        found = []

        def add(_, index, cpu, tid, reading):
            found.append((index, cpu, tid, _reading(reading.contents)))
            return 0
        _raise_if(_lib.readings_cells(self._handle, _cell_fn(add), None))
        return found

    def __len__(self):
        return _lib.readings_count(self._handle)

    def __getitem__(self, key):
        if isinstance(key, str):
            found = _lib.reading_of(self._handle, _bytes(key))
            if not found:
                raise KeyError(key)
        else:
            found = _lib.reading_at(self._handle, key if key >= 0 else len(self) + key)
            if not found:
                raise IndexError("pstat: no reading %d of %d" % (key, len(self)))
        return _reading(found.contents)


# ---- records: what a ring delivers ----

class Field(enum.IntFlag):
    """What samples have besides their pid, tid, time and event: the kernel's PERF_SAMPLE_*."""
    IP = 1 << 0
    TID = 1 << 1
    TIME = 1 << 2
    ADDR = 1 << 3
    READ = 1 << 4
    CALLCHAIN = 1 << 5
    ID = 1 << 6
    CPU = 1 << 7
    PERIOD = 1 << 8
    STREAM_ID = 1 << 9
    RAW = 1 << 10
    BRANCH_STACK = 1 << 11
    REGS_USER = 1 << 12
    STACK_USER = 1 << 13
    WEIGHT = 1 << 14
    DATA_SRC = 1 << 15
    IDENTIFIER = 1 << 16
    TRANSACTION = 1 << 17
    REGS_INTR = 1 << 18
    PHYS_ADDR = 1 << 19
    AUX = 1 << 20
    CGROUP = 1 << 21
    DATA_PAGE_SIZE = 1 << 22
    CODE_PAGE_SIZE = 1 << 23
    WEIGHT_STRUCT = 1 << 24


class Track(enum.IntFlag):
    """Records besides samples."""
    MAPS = 1
    DATA_MAPS = 2
    NAMES = 4
    TASKS = 8
    SWITCHES = 16
    NAMESPACES = 32
    KSYMBOLS = 64
    CGROUPS = 128
    TEXT_POKES = 256
    READS = 512
    BUILD_IDS = 1024


class Mode(enum.IntEnum):
    """The owner of the code of an ip, or of a map."""
    UNKNOWN = 0
    KERNEL = 1
    USER = 2
    HYPERVISOR = 3
    GUEST_KERNEL = 4
    GUEST_USER = 5


Branch = collections.namedtuple("Branch", "from_addr to_addr flags")
Registers = collections.namedtuple("Registers", "abi mask values")
Value = collections.namedtuple("Value", "value id lost")
Values = collections.namedtuple("Values", "enabled_ns running_ns values")
Namespace = collections.namedtuple("Namespace", "device inode")


# Numbers as the header's structs of the same names have them; what has two values is a bool.
BranchParts = collections.namedtuple("BranchParts", [name for name, _ in pstat_branch_parts._fields_[1:]])
DataSource = collections.namedtuple("DataSource", [name for name, _ in pstat_data_source._fields_[1:]])
Transaction = collections.namedtuple("Transaction", [name for name, _ in pstat_transaction._fields_[1:]])


def _decoded(kind, numbers, c):
    return kind(*(getattr(c, name) if name in numbers else bool(getattr(c, name)) for name in kind._fields))


def decode_branch(branch):
    """What a Branch of a sample says besides its addresses."""
    parts = pstat_branch_parts()
    _lib.branch_decode(pstat_branch(**branch._asdict()), parts)
    return _decoded(BranchParts, ("cycles", "branch_type", "speculation", "privilege"), parts)


def decode_data_source(word):
    """The parts of Sample.data_source: bits of the kernel's PERF_MEM_*."""
    parts = pstat_data_source()
    _lib.data_source_decode(word, parts)
    return _decoded(DataSource, DataSource._fields, parts)


def decode_transaction(word):
    """The parts of Sample.transaction."""
    parts = pstat_transaction()
    _lib.transaction_decode(word, parts)
    return _decoded(Transaction, ("abort_code",), parts)


class TracepointField:
    """A field of a tracepoint, from Events.field(): its value in a sample, or in the bytes of Sample.raw."""

    def __init__(self, name, field):
        self.name, self._field = name, field
        self.is_text = bool(field.is_text)

    def _take(self, call, sample, *result):
        raw = sample if isinstance(sample, bytes) else sample.raw
        c = pstat_sample(raw_bytes=len(raw), raw=ctypes.cast(ctypes.c_char_p(raw), _u8_p))
        return _raise_if(call(self._field, c, *result))

    def number(self, sample):
        value = ctypes.c_int64()
        self._take(_lib.field_number, sample, value)
        return value.value

    def text(self, sample):
        n = self._take(_lib.field_text, sample, None, 0)
        text = ctypes.create_string_buffer(n + 1)
        self._take(_lib.field_text, sample, text, n + 1)
        return _str(text.value)


def _values(c):
    words, values = (_u64(), _u64(), _u64()), []
    for i in range(c.n):
        _raise_if(_lib.value(ctypes.byref(c), i, *map(ctypes.byref, words)))
        values.append(Value(*(word.value for word in words)))
    return Values(c.enabled_ns, c.running_ns, tuple(values))


def _registers(c):
    return Registers(c.abi, c.mask, tuple(c.v[:c.n]))


def _branches(c):
    return tuple(Branch(b.from_addr, b.to_addr, b.flags) for b in c.branches[:c.n_branches])


# A field of Sample, the bits of `has` that say it is there, and where it is in the body.
_SAMPLE_FIELDS = (
    ("ip", Field.IP, lambda c: c.ip),
    ("addr", Field.ADDR, lambda c: c.addr),
    ("period", Field.PERIOD, lambda c: c.period),
    ("ips", Field.CALLCHAIN, lambda c: tuple(c.ips[:c.n_ips])),
    ("values", Field.READ, lambda c: _values(c.values)),
    ("raw", Field.RAW, lambda c: ctypes.string_at(c.raw, c.raw_bytes)),
    ("branches", Field.BRANCH_STACK, _branches),
    ("user_registers", Field.REGS_USER, lambda c: _registers(c.user_registers)),
    ("interrupted_registers", Field.REGS_INTR, lambda c: _registers(c.interrupted_registers)),
    ("stack", Field.STACK_USER, lambda c: ctypes.string_at(c.stack, c.stack_used_bytes)),
    ("weight", Field.WEIGHT | Field.WEIGHT_STRUCT, lambda c: c.weight),
    ("data_source", Field.DATA_SRC, lambda c: c.data_source),
    ("transaction", Field.TRANSACTION, lambda c: c.transaction),
    ("physical_addr", Field.PHYS_ADDR, lambda c: c.physical_addr),
    ("cgroup", Field.CGROUP, lambda c: c.cgroup),
    ("data_page_bytes", Field.DATA_PAGE_SIZE, lambda c: c.data_page_bytes),
    ("code_page_bytes", Field.CODE_PAGE_SIZE, lambda c: c.code_page_bytes),
    ("aux", Field.AUX, lambda c: ctypes.string_at(c.aux, c.aux_bytes)))

# Fields that all records begin with: `pid` and `tid` are whose record it is, None where that is not known.
_COMMON = {
    "type": (0, lambda r, c: _str(_lib.record_name(r.record_type))),
    "event": (0, lambda r, c: None if r.event < 0 else r.event),
    "mode": (0, lambda r, c: Mode(r.mode)),
    "pid": (Field.TID, lambda r, c: r.pid),
    "tid": (Field.TID, lambda r, c: r.tid),
    "time_ns": (Field.TIME, lambda r, c: r.time_ns),
    "cpu": (Field.CPU, lambda r, c: r.cpu),
    "ring_cpu": (0, lambda r, c: None if r.ring_cpu < 0 else r.ring_cpu),
}


class _Kind:
    """How records of some types become a named tuple: the body's member, its fields, and how to get those that are
    no plain numbers. A field of the body stands for a common one of the same name."""

    def __init__(self, title, member, fields="", **special):
        self.fields = dict(_COMMON)
        self.member = member
        for field in fields.split():
            self.fields[field] = (0, special.get(field) or _plain(field))
        self.tuple = collections.namedtuple(title, self.fields)
        self.makers = {}

    def maker(self, has):
        """The function that makes the tuple of a record that has those fields."""
        getters = [get if not bits or has & bits else _nothing for bits, get in self.fields.values()]
        make, member = self.tuple._make, self.member

        def made(record):
            body = getattr(record.body, member)
            return make([get(record, body) for get in getters])
        return self.makers.setdefault(has, made)

    def of(self, record):
        return (self.makers.get(record.has) or self.maker(record.has))(record)


def _plain(field):
    return lambda r, c: getattr(c, field)


def _nothing(r, c):
    return None


def _text_of(field):
    return lambda r, c: _str(getattr(c, field))


def _bool_of(field):
    return lambda r, c: bool(getattr(c, field))


def _bytes_of(field, size):
    return lambda r, c: ctypes.string_at(getattr(c, field), size(c))


def _sample_kind():
    kind = _Kind("Sample", "sample")
    for field, bits, get in _SAMPLE_FIELDS:
        kind.fields[field] = int(bits), lambda r, c, get=get: get(c)
    kind.tuple = collections.namedtuple("Sample", kind.fields)
    return kind


_MAP = _Kind("Map", "map", "pid tid start length file_offset path data protection flags device_major device_minor inode "
             "inode_generation build_id", path=_text_of("path"), data=_bool_of("data"),
             build_id=lambda r, c: bytes(c.build_id[:c.build_id_bytes]) or None)
_LOST = _Kind("Lost", "lost", "id n")
_THROTTLE = _Kind("Throttle", "throttle", "time_ns id")
_SWITCH = _Kind("Switch", "sched", "out preempted other_pid other_tid", out=_bool_of("out"),
                preempted=_bool_of("preempted"))
_TASK = _Kind("Task", "task", "pid parent_pid tid parent_tid time_ns")
_UNKNOWN = _Kind("Unknown", "lost", "number bytes", number=lambda r, c: r.record_type,
                 bytes=lambda r, c: ctypes.string_at(r.bytes, r.n_bytes))
_KINDS = {
    1: _MAP, 10: _MAP,
    2: _LOST, 13: _LOST,
    3: _Kind("Comm", "comm", "pid tid name exec", name=_text_of("name"), exec=_bool_of("exec")),
    4: _TASK, 7: _TASK,
    5: _THROTTLE, 6: _THROTTLE,
    8: _Kind("TaskRead", "read", "pid tid values", values=lambda r, c: _values(c.values)),
    9: _sample_kind(),
    11: _Kind("Aux", "aux", "offset bytes flags"),
    12: _Kind("ItraceStart", "itrace_start", "pid tid"),
    14: _SWITCH, 15: _SWITCH,
    16: _Kind("Namespaces", "namespaces", "pid tid namespaces",
              namespaces=lambda r, c: tuple(Namespace(v.device, v.inode) for v in c.v[:c.n])),
    17: _Kind("Ksymbol", "ksymbol", "addr length kind flags name", name=_text_of("name")),
    18: _Kind("BpfEvent", "bpf", "kind flags id tag", tag=lambda r, c: bytes(c.tag)),
    19: _Kind("Cgroup", "cgroup", "id path", path=_text_of("path")),
    20: _Kind("TextPoke", "text_poke", "addr old_code new_code",
              old_code=_bytes_of("code", lambda c: c.old_bytes),
              new_code=lambda r, c: ctypes.string_at(c.code, c.old_bytes + c.new_bytes)[c.old_bytes:]),
    21: _Kind("HwId", "hw_id", "hw_id"),
    22: _Kind("DeferredChain", "deferred", "cookie ips", ips=lambda r, c: tuple(c.ips[:c.n_ips])),
}
Sample, Map, Lost, Throttle, Switch, Task, Comm = (
    kind.tuple for kind in (_KINDS[9], _MAP, _LOST, _THROTTLE, _SWITCH, _TASK, _KINDS[3]))


# ---- samplers: events with rings ----

SamplerCounts = collections.namedtuple("SamplerCounts", [name for name, _ in pstat_sampler_counts._fields_[1:]])


class Sampler(_Owner):
    """Events with a ring for each CPU or thread. Targets and options are those of Counters, and

        period=, frequency=     a sample after so many, or about so many in a second; neither: events count only
        fields=, track=         Field and Track bits: what samples have, and which records come besides
        user_registers, interrupted_registers, branches, stack_bytes, ring_bytes, wakeup_bytes, wakeup_events, max_stack

    It is iterated over: once by itself over the records that are there, with follow() for as long as they come. A
    record is a named tuple by its type: Sample, Map, Comm, Task, Lost ..., with None where a field was not asked for.
    """

    _free = _lib.sampler_close

    def __init__(self, events, period=0, frequency=0, fields=Field.IP, track=0, **options):
        ours = {name: int(options.pop(name)) for name in _SAMPLING_NUMBERS if name in options}
        opened = _open_options(**options)
        options = pstat_sampling_options(open=ctypes.pointer(opened), period=period, frequency=frequency,
                                         fields=int(fields), track=int(track), **ours)
        events = _events_of(events)
        self._open = _new(_lib.sampler_open, events._handle, ctypes.byref(options))
        self._record, self._error = ctypes.POINTER(pstat_record)(), pstat_error()
        self._next = ctypes.byref(self._record), ctypes.byref(self._error)
        self._poll = select.poll()
        self._poll.register(_lib.sampler_fd(self._handle), select.POLLIN)

    def __iter__(self):
        """The records that lie in the rings. One that makes no sense raises Error; what follows it can be asked for."""
        record, error = self._next
        while True:
            code = _lib.sampler_next(self._handle, record, error)
            if code != 1:
                _raise_if(code, self._error)
                return
            found = self._record.contents
            yield _KINDS.get(found.record_type, _UNKNOWN).of(found)

    def wait(self, seconds=None):
        """Until a ring has something: True; False when the time is over; None when all tasks of the rings have ended."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            code = _lib.sampler_wait(self._handle, 0)
            if code == -errno.ENODATA:
                return None
            if _raise_if(code):
                return True
            left = None if end is None else max(0, (end - time.monotonic()) * 1000)
            if not self._poll.poll(left) and left is not None:
                return bool(_lib.sampler_wait(self._handle, 0) == 1)

    def follow(self, seconds=None):
        """Records as they come, until all tasks have ended or the time is over."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            yield from self
            if not self.wait(None if end is None else max(0, end - time.monotonic())):
                yield from self
                return

    @property
    def counters(self):
        """Its counters, to read and to set; they are the sampler's and end with it."""
        return _SamplersCounters(self)

    def enable(self):
        self.counters.enable()

    def disable(self):
        self.counters.disable()

    def pause(self, paused=True):
        """While paused no record is written: the kernel counts them as lost."""
        _raise_if(_lib.sampler_pause(self._handle, paused))

    @property
    def counts(self):
        """How many records were delivered, and how many were lost, and where."""
        counts = pstat_sampler_counts()
        _lib.sampler_count(self._handle, ctypes.byref(counts))
        return SamplerCounts(*(getattr(counts, name) for name in SamplerCounts._fields))

    def fileno(self):
        """A descriptor for select and asyncio: readable when wait() would return at once."""
        return _lib.sampler_fd(self._handle)


_SAMPLING_NUMBERS = ("user_registers", "interrupted_registers", "branches", "stack_bytes", "ring_bytes", "wakeup_bytes",
                     "wakeup_events", "max_stack")


class _SamplersCounters(Counters):
    """The counters of a sampler: to be used while that is open, and never closed."""

    _free = staticmethod(lambda handle: None)

    def __init__(self, sampler):
        self._sampler = sampler
        self._open = _lib.sampler_counters(sampler._handle)
        self._init_times()

    @property
    def _handle(self):
        return self._open if self._sampler._handle else None


# ---- names: which function an address is in ----

class Name(typing.NamedTuple):
    """The function that an address is in. `reason` says why there is none; `file_address` is for addr2line(1)."""
    function: typing.Optional[str]
    offset: int
    file: typing.Optional[str]
    file_address: int
    reason: typing.Optional[str]


class Names(_Owner):
    """Names of addresses, of this process, of others and of the kernel. What is read stays in memory until it is closed."""

    _free = _lib.names_free

    def __init__(self):
        self._open = _new(_lib.names_new)

    def of(self, address, pid=0):
        """The Name of an address in a process; 0: in this one."""
        c = pstat_name()
        _call(_lib.name_of, self._handle, pid, address, c)
        return Name(_str(c.function), c.offset, _str(c.file), c.file_address, _str(c.reason))

    def forget(self, pid=0):
        """The process has called exec, or its number may have come again: ask anew."""
        _lib.names_forget(self._handle, pid)


# ---- measure: the counts of a block ----

class measure:
    """A context manager that counts what the calling thread, and what it starts meanwhile, does in the block.

    `events` is text, Events, or Counters that are open: then only this is added to the block, two calls that enable and
    disable them. Afterwards it is a sequence of Reading, also by name, and `readings` has the rest; before, it is empty.
    The interpreter's own work in the block counts too, and some thousand instructions of the calls at its two ends.
    """

    def __init__(self, events, **options):
        self._is_own = not isinstance(events, Counters)
        self._counters = Counters(events, **dict({"inherit": True}, **options)) if self._is_own else events
        self.readings, self._before = None, None

    def __enter__(self):
        self._before = self._counters.read()
        self._after = Readings(self._counters)
        self.readings = None
        self._counters.enable()
        return self

    def __exit__(self, *exception):
        try:
            self._counters.disable()
            self._after = self._counters.read(self._after)
            self._after -= self._before
            self.readings = self._counters.explain(self._after)
        finally:
            if self._is_own:
                self._counters.close()

    def __getitem__(self, key):
        return self.readings[key]

    def __len__(self):
        return 0 if self.readings is None else len(self.readings)

    def json(self, **how):
        return self.readings.json(**how)
