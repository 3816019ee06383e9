# SPDX-License-Identifier: MIT
"""A script that was written for perf, run by a Python of its own: pstat sends calls of the script's functions.

Arguments: a descriptor that lists of calls are read from (script_python.c), one that the names of functions are written
to, "NUMBER NAME ARGUMENTS" a line, the line that is their end, what Ctrl-C does, the script, and its own arguments.

Both descriptors are open while the script's own code runs, which may do anything to them. What comes from pstat has an
end that it says, after how many lists: calls that are missing or cannot be read are an error, and never an end.

Ctrl-C ends the calls, and the script shows what it has. With "stop" they end here, between two lists; with "go on" the
recorder at the other end of a pipe has had it, too, and the last calls are still to come.
"""
import collections
import errno
import functools
import os
import pickle
import signal
import struct
import sys
import time
import traceback
import types


def module(name, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made
    return made


# ---- perf_trace_context: what a script asks about the sample that it was called with ----

NO_CONTEXT = 0, 0, 0
# What is known of the code of the sample at hand, by the function that answers it.
code = {"perf_sample_insn": None, "perf_sample_srcline": (None, 0), "perf_sample_srccode": (None, 0, None)}
itrace_options = []


def perf_set_itrace_options(context, options):
    """No decoder of hardware traces is here: 0 for the first ones, 1 for those that come too late, as perf says."""
    itrace_options.append(options)
    return int(len(itrace_options) > 1)


def perf_config_get(name):
    """A value of perf's configuration, of which pstat knows the files. Words that mean more to it are no names."""
    if name.startswith("-") or "=" in name:
        return None
    import subprocess
    asked = subprocess.run([os.environ["PSTAT"], "config", name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    found = asked.stdout.decode(errors="replace").splitlines()
    return found[-1].partition("=")[2] if asked.returncode == 0 and found else None


context_functions = module("perf_trace_context", perf_script_context=NO_CONTEXT,
                           common_pc=lambda context: context[0], common_flags=lambda context: context[1],
                           common_lock_depth=lambda context: context[2],
                           perf_set_itrace_options=perf_set_itrace_options, perf_config_get=perf_config_get)
for question in code:
    setattr(context_functions, question, lambda context, question=question: code[question])


# ---- Core: names of flags and states ----

class Fields(collections.defaultdict):
    """A dictionary of dictionaries, each made when it is asked for."""

    def __init__(self):
        super().__init__(Fields)


class FieldNames:
    def __init__(self):
        self.delimiter, self.names = "", {}


flag_fields = collections.defaultdict(FieldNames) # by event and field
symbolic_fields = collections.defaultdict(FieldNames)
TRACE_FLAGS = ((1, "IRQS_OFF"), (2, "IRQS_NOSUPPORT"), (4, "NEED_RESCHED"), (8, "HARDIRQ"), (16, "SOFTIRQ"))
TASK_STATES = {0: "R", 1: "S", 2: "D", 64: "DEAD"}


def define_flag_field(event, field, delimiter):
    flag_fields[event, field].delimiter = delimiter


def define_flag_value(event, field, value, name):
    flag_fields[event, field].names[value] = name


def define_symbolic_field(event, field):
    symbolic_fields[event, field].names.clear()


def define_symbolic_value(event, field, value, name):
    symbolic_fields[event, field].names[value] = name


def names_of_bits(value, names, delimiter):
    found = []
    for bits, name in names:
        if bits and value & bits == bits:
            found.append(name)
            value &= ~bits
    return delimiter.join(found)


def flag_str(event, field, value):
    known = flag_fields[event, field]
    if not value:
        return known.names.get(0, "")
    return names_of_bits(value, sorted(known.names.items()), " %s " % known.delimiter if known.delimiter else "")


def symbol_str(event, field, value):
    return symbolic_fields[event, field].names.get(value, "")


def trace_flag_str(value):
    return names_of_bits(value, TRACE_FLAGS, " | ") if value else "NONE"


class EventHeaders:
    def __init__(self, common_cpu, common_secs, common_nsecs, common_pid, common_comm, common_callchain):
        self.cpu, self.secs, self.nsecs = common_cpu, common_secs, common_nsecs
        self.pid, self.comm, self.callchain = common_pid, common_comm, common_callchain

    def ts(self):
        return self.secs * 10 ** 9 + self.nsecs

    def ts_format(self):
        return "%d.%d" % (self.secs, self.nsecs // 1000)


core = module("Core", autodict=Fields, define_flag_field=define_flag_field, define_flag_value=define_flag_value,
              define_symbolic_field=define_symbolic_field, define_symbolic_value=define_symbolic_value,
              flag_str=flag_str, symbol_str=symbol_str, trace_flag_str=trace_flag_str,
              taskState=lambda state: TASK_STATES.get(state, "Unknown"), EventHeaders=EventHeaders)
DEFINITIONS = [name for name in vars(core) if name.startswith("define_")]


# ---- Util: times, statistics, names of system calls ----

NSECS_PER_SEC = 10 ** 9


def add_stats(stats, key, value):
    """(least, greatest, average, how many), where the average is perf's: of the one before and the value."""
    least, greatest, average, n = stats.get(key, (value, value, value, 0))
    stats[key] = min(least, value), max(greatest, value), (average + value) / 2 if n else value, n + 1


def syscall_name(number):
    """By the module audit, where it is installed."""
    try:
        import audit
        return audit.audit_syscall_to_name(number, audit.audit_detect_machine()) or str(number)
    except ImportError:
        return str(number)


FUTEX_PRIVATE_FLAG, FUTEX_CLOCK_REALTIME = 128, 256
module("Util", FUTEX_WAIT=0, FUTEX_WAKE=1, FUTEX_PRIVATE_FLAG=FUTEX_PRIVATE_FLAG,
       FUTEX_CLOCK_REALTIME=FUTEX_CLOCK_REALTIME, FUTEX_CMD_MASK=~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME),
       NSECS_PER_SEC=NSECS_PER_SEC, avg=lambda total, n: total / n,
       nsecs=lambda secs, nsecs: secs * NSECS_PER_SEC + nsecs, nsecs_secs=lambda nsecs: nsecs / NSECS_PER_SEC,
       nsecs_nsecs=lambda nsecs: nsecs % NSECS_PER_SEC,
       # A tuple of one, as scripts print it since perf has it.
       nsecs_str=lambda nsecs: ("%5u.%09u" % divmod(nsecs, NSECS_PER_SEC),),
       add_stats=add_stats, clear_term=lambda: print("\x1b[H\x1b[2J"), syscall_name=syscall_name,
       strerror=lambda number: errno.errorcode.get(abs(number), "Unknown %d errno" % number))


# ---- EventClass: raw bytes of Intel's PEBS ----

EVTYPE_GENERIC, EVTYPE_PEBS, EVTYPE_PEBS_LL, EVTYPE_IBS = range(4)


class PerfEvent:
    event_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=EVTYPE_GENERIC):
        self.name, self.comm, self.dso, self.symbol = name, comm, dso, symbol
        self.raw_buf, self.ev_type = raw_buf, ev_type
        PerfEvent.event_num += 1

    def show(self):
        print("PMU event: name=%12s, symbol=%24s, comm=%8s, dso=%12s" % (self.name, self.symbol, self.comm, self.dso))


class PebsEvent(PerfEvent):
    pebs_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=EVTYPE_PEBS):
        (self.flags, self.ip, self.ax, self.bx, self.cx, self.dx, self.si, self.di, self.bp,
         self.sp) = struct.unpack_from("10Q", raw_buf)
        super().__init__(name, comm, dso, symbol, raw_buf, ev_type)
        PebsEvent.pebs_num += 1


class PebsNHM(PebsEvent):
    pebs_nhm_num = 0

    def __init__(self, name, comm, dso, symbol, raw_buf, ev_type=EVTYPE_PEBS_LL):
        self.status, self.dla, self.dse, self.lat = struct.unpack_from("4Q", raw_buf, 144)
        super().__init__(name, comm, dso, symbol, raw_buf, ev_type)
        PebsNHM.pebs_nhm_num += 1


def create_event(name, comm, dso, symbol, raw_buf):
    """The kind is known by nothing but its size."""
    kind = {144: PebsEvent, 176: PebsNHM}.get(len(raw_buf), PerfEvent)
    return kind(name, comm, dso, symbol, raw_buf)


module("EventClass", EVTYPE_GENERIC=EVTYPE_GENERIC, EVTYPE_PEBS=EVTYPE_PEBS, EVTYPE_PEBS_LL=EVTYPE_PEBS_LL,
       EVTYPE_IBS=EVTYPE_IBS, PerfEvent=PerfEvent, PebsEvent=PebsEvent, PebsNHM=PebsNHM, create_event=create_event)


# ---- the script ----

# What a script asks for by giving these a value; they are named like functions and are not called.
WISHES = "perf_db_export_mode", "perf_db_export_callchains"


def load(path):
    """Runs the script as the main module, as far as it defines things; its text and its names."""
    main = types.ModuleType("__main__")
    main.__file__ = path
    main.perf_script_context = NO_CONTEXT
    sys.modules["__main__"] = main
    sys.path[0] = os.path.dirname(path)
    with open(path, "rb") as f:
        text = f.read()
    exec(compile(text, path, "exec"), main.__dict__)
    return text, main.__dict__


def fail(sentence):
    """Ends the script; where pstat was killed the signal for that comes first."""
    time.sleep(0.1)
    sys.exit("pstat: script: %s: %s" % (sys.modules["__main__"].__file__, sentence))


def lose_calls():
    fail("it has read, closed or replaced a descriptor that is pstat's: there are no more calls")


def is_function(name, member):
    """What pstat looks for by its name: that has no blanks, and is no longer than any event's."""
    return isinstance(name, str) and name.isprintable() and " " not in name and len(name) < 1000 and callable(member)


def name_functions(functions, fd, last_line):
    """functions: [(name, function)]"""
    try:
        with open(fd, "w", encoding="utf-8") as out:
            for number, (name, function) in enumerate(functions):
                compiled = getattr(function, "__code__", None)
                own = isinstance(function, types.MethodType) # its object is none of the arguments
                out.write("%d %s %d\n" % (number, name, compiled.co_argcount - own if compiled else 0))
            out.write(last_line + "\n")
    except OSError:
        lose_calls()


interrupts = []
forks = []


def next_list(load_calls):
    """Calls, or the end: after how many lists it is, or None where Ctrl-C was for pstat alone."""
    try:
        return load_calls()
    except Exception: # any text can be there instead of calls, and each has its own
        return lose_calls()


def run(calls, functions):
    lists = 0
    with open(calls, "rb", buffering=1 << 20, closefd=False) as stream:
        load_calls = pickle.Unpickler(stream).load
        while not interrupts and not forks:
            batch = next_list(load_calls)
            if not isinstance(batch, list):
                if batch not in (None, lists):
                    lose_calls()
                return
            lists += 1
            for number, arguments in batch:
                functions[number](*arguments)
    if forks:
        fail("a process that it has made gets no calls")


def show_error(kind, error, trace):
    """What the script did, without what is above it."""
    while trace and trace.tb_frame.f_globals is globals():
        trace = trace.tb_next
    traceback.print_exception(kind, error, trace)


def leave(calls):
    """In a process that the script has made: were the pipe open there, pstat would wait for it to read the calls."""
    forks.append(os.getpid())
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, calls, inheritable=False)
    os.close(nothing)


def start():
    sys.excepthook = show_error
    calls, names, last_line = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    os.set_inheritable(calls, False)
    os.set_inheritable(names, False)
    os.register_at_fork(after_in_child=lambda: leave(calls))
    stops = sys.argv[4] == "stop"
    sys.argv = sys.argv[5:]
    text, members = load(sys.argv[0])
    functions = [(name, members.get(name) or getattr(core, name)) for name in DEFINITIONS]
    functions += [(wish, None) for wish in WISHES if members.get(wish)]
    functions += [("answer." + question, functools.partial(code.__setitem__, question))
                  for question in code if question.encode() in text]
    functions += [(name, member) for name, member in members.items()
                  if is_function(name, member) and name not in DEFINITIONS]
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda number, frame: stops and interrupts.append(number))
    name_functions(functions, names, last_line)
    members.get("trace_begin", lambda: None)()
    run(calls, [function for name, function in functions])
    members.get("trace_end", lambda: None)()


start()
