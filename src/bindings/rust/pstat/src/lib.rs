// SPDX-License-Identifier: MIT
//! Counts what this program, others and whole machines do with the perf events of Linux, by libpstat.
//!
//! ```no_run
//! let (sum, readings) = pstat::measure("{cycles,instructions},page-faults", || (1..1000u64).sum::<u64>())?;
//! for reading in readings.iter() {
//!     match reading.value() {
//!         Some(value) => println!("{}: {} {}", reading.name(), value, reading.unit()),
//!         None => println!("{}: {}", reading.name(), reading.reason().unwrap_or_default()),
//!     }
//! }
//! # let _ = sum;
//! # Ok::<(), pstat::Error>(())
//! ```
//!
//! An event that this machine or this user cannot count is no error: its reading says so in `state()` and `reason()`, and
//! has no `value()`. Handles are closed when they are dropped. A handle may be sent to another thread, and is not used by
//! two at once. Names, units and meanings are those of libpstat.h, which libpstat(3) describes.
use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::fmt;
use std::mem::{size_of, zeroed};
use std::os::raw::{c_char, c_int, c_void};
use std::ptr::{null, null_mut};
use std::time::Duration;

use pstat_sys as sys;

/// The version of the library in use.
pub fn version() -> Cow<'static, str> {
    text_of(unsafe { sys::pstat_version() }).unwrap_or_default()
}

// ---- errors and text ----

/// A call of the library that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// errno(3)
    pub errno: i32,
    /// One sentence; further lines say where, and what to do.
    pub text: String,
}

pub type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Error {}

impl From<Error> for std::io::Error {
    fn from(e: Error) -> Self {
        std::io::Error::new(std::io::Error::from_raw_os_error(e.errno).kind(), e)
    }
}

/// The count that a call returned, or its negative errno as an error with the sentence that it wrote.
fn check(code: c_int, written: Option<&sys::pstat_error>) -> Result<usize> {
    if code >= 0 {
        return Ok(code as usize);
    }
    let sentence = written.and_then(|e| text_of(e.text.as_ptr())).filter(|text| !text.is_empty());
    let text = match sentence {
        Some(text) => text.into_owned(),
        None => std::io::Error::from_raw_os_error(-code).to_string(),
    };
    Err(Error { errno: -code, text })
}

/// A call that writes a sentence where it fails.
fn call(f: impl FnOnce(*mut sys::pstat_error) -> c_int) -> Result<usize> {
    let mut error: sys::pstat_error = unsafe { zeroed() };
    error.size = size_of::<sys::pstat_error>();
    let code = f(&mut error);
    check(code, Some(&error))
}

/// Text of the library, which lives as long as its handle; None for NULL.
fn text_of<'a>(text: *const c_char) -> Option<Cow<'a, str>> {
    if text.is_null() {
        return None;
    }
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy())
}

fn c_text(text: &str) -> Result<CString> {
    const EINVAL: i32 = 22;
    CString::new(text).map_err(|_| Error { errno: EINVAL, text: format!("{:?}: a NUL in it", text) })
}

/// The texts of a call that has one for each index, and NULL after the last.
fn texts(each: impl Fn(usize) -> *const c_char) -> Vec<String> {
    (0..).map_while(|i| text_of(each(i)).map(Cow::into_owned)).collect()
}

// ---- events ----

/// A list of events: what to count.
pub struct Events(*mut sys::pstat_events);

unsafe impl Send for Events {}

impl Drop for Events {
    fn drop(&mut self) {
        unsafe { sys::pstat_events_free(self.0) }
    }
}

impl Events {
    pub fn new() -> Result<Events> {
        let mut events = null_mut();
        check(unsafe { sys::pstat_events_new(&mut events) }, None)?;
        Ok(Events(events))
    }

    /// The events of a text, as `pstat stat -e` understands it: "{cycles,instructions}:u,page-faults".
    pub fn parse(text: &str) -> Result<Events> {
        let mut events = Events::new()?;
        events.add(text)?;
        Ok(events)
    }

    /// Appends the events of a text.
    pub fn add(&mut self, text: &str) -> Result<&mut Self> {
        let text = c_text(text)?;
        call(|error| unsafe { sys::pstat_events_parse(self.0, text.as_ptr(), error) })?;
        Ok(self)
    }

    /// Appends events that are counted at the same times, or not at all.
    pub fn add_group(&mut self, texts: &[&str]) -> Result<&mut Self> {
        let first = self.len();
        for text in texts {
            self.add(text)?;
        }
        let n = self.len() - first;
        call(|error| unsafe { sys::pstat_events_group(self.0, first, n, error) })?;
        Ok(self)
    }

    /// Appends a ready-made set: "hardware", "software", "cache-l1d", ...
    pub fn add_set(&mut self, set: &str) -> Result<&mut Self> {
        let set = c_text(set)?;
        call(|error| unsafe { sys::pstat_events_add_set(self.0, set.as_ptr(), error) })?;
        Ok(self)
    }

    /// The filter of a tracepoint, set when it is opened.
    pub fn set_filter(&mut self, index: usize, filter: &str) -> Result<&mut Self> {
        let filter = c_text(filter)?;
        call(|error| unsafe { sys::pstat_events_set_filter(self.0, index, filter.as_ptr(), error) })?;
        Ok(self)
    }

    /// A field of a tracepoint, to be taken out of the bytes of its samples.
    pub fn field(&self, index: usize, name: &str) -> Result<TracepointField> {
        let name = c_text(name)?;
        let mut field: sys::pstat_field = unsafe { zeroed() };
        field.size = size_of::<sys::pstat_field>();
        call(|error| unsafe { sys::pstat_events_field(self.0, index, name.as_ptr(), &mut field, error) })?;
        Ok(TracepointField(field))
    }

    pub fn len(&self) -> usize {
        unsafe { sys::pstat_events_count(self.0) }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn names(&self) -> Vec<String> {
        texts(|i| unsafe { sys::pstat_events_name(self.0, i) })
    }

    /// Words that were understood in another way than they were written.
    pub fn notes(&self) -> Vec<String> {
        texts(|i| unsafe { sys::pstat_events_note(self.0, i) })
    }
}

// ---- counters ----

/// Whose events count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// The thread that opens them.
    #[default]
    CallingThread,
    Threads(Vec<i32>),
    /// Processes with all their threads.
    Processes(Vec<i32>),
    Cpus(Vec<i32>),
    /// Every CPU that is online.
    AllCpus,
}

/// How counters are opened; those of pstat_open(3). The default counts the calling thread, from enable() on.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub target: Target,
    /// Of CPUs: only what runs in this control group.
    pub cgroup: Option<String>,
    /// Children and new threads count, too.
    pub inherit: bool,
    /// Counting begins when all are open.
    pub enabled: bool,
    pub enable_on_exec: bool,
    pub may_move_thread: bool,
    pub may_raise_limit: bool,
    pub overflows: bool,
    pub user_read: bool,
}

/// An event as it was opened.
#[derive(Clone, Debug)]
pub struct Counter {
    pub name: String,
    pub pmu: String,
    pub unit: String,
    pub scale: f64,
    pub supported: bool,
    pub errno: i32,
    pub reason: Option<String>,
    pub remedy: Option<String>,
    /// Index of the event that leads its group; its own outside groups.
    pub leader: usize,
    pub n_members: usize,
    pub n_descriptors: usize,
}

/// Events that are open.
pub struct Counters(*mut sys::pstat_counters);

unsafe impl Send for Counters {}

impl Drop for Counters {
    fn drop(&mut self) {
        unsafe { sys::pstat_close(self.0) }
    }
}

impl Counters {
    pub fn open(events: &Events, options: &Options) -> Result<Counters> {
        let all = Vec::new();
        let (target, ids) = match &options.target {
            Target::CallingThread => (sys::PSTAT_SELF, &all),
            Target::Threads(ids) => (sys::PSTAT_TID, ids),
            Target::Processes(ids) => (sys::PSTAT_PID, ids),
            Target::Cpus(ids) => (sys::PSTAT_CPUS, ids),
            Target::AllCpus => (sys::PSTAT_CPUS, &all),
        };
        const EINVAL: i32 = 22;
        if ids.is_empty() && !matches!(options.target, Target::CallingThread | Target::AllCpus) {
            return Err(Error { errno: EINVAL, text: "an empty list of threads, processes or CPUs".into() });
        }
        let cgroup = options.cgroup.as_deref().map(c_text).transpose()?;
        let mut c: sys::pstat_open_options = unsafe { zeroed() };
        c.size = size_of::<sys::pstat_open_options>();
        c.target = target;
        c.ids = ids.as_ptr();
        c.n_ids = ids.len();
        c.cgroup = cgroup.as_ref().map_or(null(), |path| path.as_ptr());
        c.inherit = options.inherit.into();
        c.enabled = options.enabled.into();
        c.enable_on_exec = options.enable_on_exec.into();
        c.may_move_thread = options.may_move_thread.into();
        c.may_raise_limit = options.may_raise_limit.into();
        c.overflows = options.overflows.into();
        c.user_read = options.user_read.into();
        let mut counters = null_mut();
        call(|error| unsafe { sys::pstat_open(&mut counters, events.0, &c, error) })?;
        Ok(Counters(counters))
    }

    pub fn enable(&mut self) -> Result<()> {
        check(unsafe { sys::pstat_enable(self.0) }, None).map(drop)
    }

    pub fn disable(&mut self) -> Result<()> {
        check(unsafe { sys::pstat_disable(self.0) }, None).map(drop)
    }

    /// From now on readings begin at 0 again, times too.
    pub fn reset(&mut self) -> Result<()> {
        check(unsafe { sys::pstat_reset(self.0) }, None).map(drop)
    }

    /// Room for readings of these counters.
    pub fn readings(&self) -> Result<Readings> {
        let mut readings = null_mut();
        check(unsafe { sys::pstat_readings_new(&mut readings, self.0) }, None)?;
        Ok(Readings(readings))
    }

    /// Reads all counters, each group with one system call. Nothing is allocated.
    pub fn read_into(&mut self, readings: &mut Readings) -> Result<()> {
        check(unsafe { sys::pstat_read(self.0, readings.0) }, None).map(drop)
    }

    /// Reads all counters into new readings.
    pub fn read(&mut self) -> Result<Readings> {
        let mut readings = self.readings()?;
        self.read_into(&mut readings)?;
        Ok(readings)
    }

    /// Finds the reason and the remedy for each reading that is not what was asked for.
    pub fn explain(&mut self, readings: &mut Readings) -> Result<()> {
        check(unsafe { sys::pstat_explain(self.0, readings.0) }, None).map(drop)
    }

    /// Counts what happens in f, with reasons for what was not counted. A panic in f goes on, and ends counting.
    pub fn measure<T>(&mut self, f: impl FnOnce() -> T) -> Result<(T, Readings)> {
        struct Enabled(*mut sys::pstat_counters);
        impl Drop for Enabled {
            fn drop(&mut self) {
                unsafe { sys::pstat_disable(self.0) };
            }
        }
        let before = self.read()?;
        let mut after = self.readings()?;
        self.enable()?;
        let enabled = Enabled(self.0);
        let result = f();
        drop(enabled);
        self.read_into(&mut after)?;
        after.subtract(&before)?;
        self.explain(&mut after)?;
        Ok((result, after))
    }

    /// The raw value of one event of the calling thread, without a system call where that can be had; it needs
    /// `Options::user_read`.
    pub fn user_read(&mut self, index: usize) -> Result<u64> {
        let mut value = 0;
        check(unsafe { sys::pstat_user_read(self.0, index, &mut value) }, None)?;
        Ok(value)
    }

    /// Why an event cannot be read without a system call; None: it can.
    pub fn user_read_reason(&self, index: usize) -> Option<Cow<'_, str>> {
        text_of(unsafe { sys::pstat_user_read_reason(self.0, index) })
    }

    /// The filter of a tracepoint from now on.
    pub fn set_filter(&mut self, index: usize, filter: &str) -> Result<()> {
        let filter = c_text(filter)?;
        call(|error| unsafe { sys::pstat_set_filter(self.0, index, filter.as_ptr(), error) }).map(drop)
    }

    /// The period from now on, or the frequency.
    pub fn set_period(&mut self, index: usize, period: u64) -> Result<()> {
        check(unsafe { sys::pstat_set_period(self.0, index, period) }, None).map(drop)
    }

    /// A BPF program, by its descriptor, runs at each overflow, or at each hit of a tracepoint.
    pub fn attach_bpf(&mut self, index: usize, program_fd: i32) -> Result<()> {
        check(unsafe { sys::pstat_attach_bpf(self.0, index, program_fd) }, None).map(drop)
    }

    /// The kernel's ids of the BPF programs that run at a tracepoint.
    pub fn bpf_programs(&self, index: usize) -> Result<Vec<u32>> {
        let n = check(unsafe { sys::pstat_bpf_programs(self.0, index, null_mut(), 0) }, None)?;
        let mut ids = vec![0; n];
        let found = check(unsafe { sys::pstat_bpf_programs(self.0, index, ids.as_mut_ptr(), n) }, None)?;
        ids.truncate(found);
        Ok(ids)
    }

    /// Enables one event that takes samples for n more, after which the kernel disables it.
    pub fn refresh(&mut self, index: usize, n: i32) -> Result<()> {
        check(unsafe { sys::pstat_refresh(self.0, index, n) }, None).map(drop)
    }

    /// An event's descriptors, which stay the counters' own.
    pub fn descriptors(&self, index: usize) -> Result<Vec<i32>> {
        let n = check(unsafe { sys::pstat_descriptors(self.0, index, null_mut(), 0) }, None)?;
        let mut fds = vec![-1; n];
        check(unsafe { sys::pstat_descriptors(self.0, index, fds.as_mut_ptr(), n) }, None)?;
        Ok(fds)
    }

    pub fn len(&self) -> usize {
        unsafe { sys::pstat_counters_count(self.0) }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// None: there is no such event.
    pub fn counter(&self, index: usize) -> Option<Counter> {
        let c = unsafe { sys::pstat_counter(self.0, index).as_ref() }?;
        let owned = |text| text_of(text).map(Cow::into_owned);
        Some(Counter {
            name: owned(c.name).unwrap_or_default(),
            pmu: owned(c.pmu).unwrap_or_default(),
            unit: owned(c.unit).unwrap_or_default(),
            scale: c.scale,
            supported: c.supported != 0,
            errno: c.error,
            reason: owned(c.reason),
            remedy: owned(c.remedy),
            leader: c.leader,
            n_members: c.n_members,
            n_descriptors: c.n_descriptors,
        })
    }

    /// Notes of what was done in another way than it was asked for.
    pub fn notes(&self) -> Vec<String> {
        texts(|i| unsafe { sys::pstat_counters_note(self.0, i) })
    }
}

// ---- readings ----

/// How far a reading can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The whole time.
    Counted,
    /// A part of the time: `scaled()` is extrapolated from it.
    Scaled,
    /// A part of what was asked for, and nothing tells how big a part.
    LowerBound,
    /// It never ran.
    NotCounted,
    /// It could not be opened.
    NotSupported,
    /// It could not be read.
    ReadFailed,
}

const STATES: [State; 6] = [
    State::Counted,
    State::Scaled,
    State::LowerBound,
    State::NotCounted,
    State::NotSupported,
    State::ReadFailed,
];

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&text_of(unsafe { sys::pstat_state_name(*self as sys::pstat_state) }).unwrap_or_default())
    }
}

/// What one counter said.
#[derive(Clone, Copy)]
pub struct Reading<'a>(&'a sys::pstat_reading);

impl<'a> Reading<'a> {
    pub fn name(&self) -> Cow<'a, str> {
        text_of(self.0.name).unwrap_or_default()
    }

    /// In its unit, scaled where the counter was shared; None where there is none.
    pub fn value(&self) -> Option<f64> {
        match self.state() {
            State::Counted | State::Scaled | State::LowerBound => Some(self.0.value),
            _ => None,
        }
    }

    /// "Joules", "msec", or "".
    pub fn unit(&self) -> Cow<'a, str> {
        text_of(self.0.unit).unwrap_or_default()
    }

    pub fn state(&self) -> State {
        STATES.get(self.0.state as usize).copied().unwrap_or(State::ReadFailed)
    }

    /// As counted, all CPUs and threads together.
    pub fn raw(&self) -> u64 {
        self.0.raw
    }

    /// With what multiplexing left out.
    pub fn scaled(&self) -> u64 {
        self.0.scaled
    }

    pub fn enabled(&self) -> Duration {
        Duration::from_nanos(self.0.enabled_ns)
    }

    pub fn running(&self) -> Duration {
        Duration::from_nanos(self.0.running_ns)
    }

    /// errno(3), where it could not be opened or read.
    pub fn errno(&self) -> i32 {
        self.0.error
    }

    pub fn reason(&self) -> Option<Cow<'a, str>> {
        text_of(self.0.reason)
    }

    /// What to do, one line.
    pub fn remedy(&self) -> Option<Cow<'a, str>> {
        text_of(self.0.remedy)
    }
}

/// A piece of a reading: of an event, a CPU and a thread. None: it is about all.
pub struct Cell {
    pub index: usize,
    pub cpu: Option<i32>,
    pub tid: Option<i32>,
    pub raw: u64,
    pub value: Option<f64>,
    pub state: State,
}

/// One reading of all counters, which it does not need any more.
pub struct Readings(*mut sys::pstat_readings);

unsafe impl Send for Readings {}

impl Drop for Readings {
    fn drop(&mut self) {
        unsafe { sys::pstat_readings_free(self.0) }
    }
}

impl Readings {
    pub fn len(&self) -> usize {
        unsafe { sys::pstat_readings_count(self.0) }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// In the order of the events. None: there is no such one.
    pub fn at(&self, index: usize) -> Option<Reading<'_>> {
        unsafe { sys::pstat_reading_at(self.0, index).as_ref() }.map(Reading)
    }

    /// The first of that name, or that was given that name.
    pub fn of(&self, name: &str) -> Option<Reading<'_>> {
        let name = CString::new(name).ok()?;
        unsafe { sys::pstat_reading_of(self.0, name.as_ptr()).as_ref() }.map(Reading)
    }

    pub fn iter(&self) -> impl Iterator<Item = Reading<'_>> {
        (0..self.len()).filter_map(move |i| self.at(i))
    }

    /// What happened since an earlier reading of the same counters.
    pub fn subtract(&mut self, earlier: &Readings) -> Result<()> {
        check(unsafe { sys::pstat_readings_subtract(self.0, earlier.0) }, None).map(drop)
    }

    /// {"cycles":1200345,"instructions":null}
    pub fn json(&self) -> Result<String> {
        let n = check(unsafe { sys::pstat_readings_json(self.0, null_mut(), 0) }, None)?;
        let mut text = vec![0u8; n + 1];
        check(unsafe { sys::pstat_readings_json(self.0, text.as_mut_ptr() as *mut c_char, n + 1) }, None)?;
        text.truncate(n);
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The pieces: one for each event, CPU and thread that has a descriptor.
    pub fn cells(&self) -> Result<Vec<Cell>> {
        unsafe extern "C" fn add(
            data: *mut c_void,
            index: usize,
            cpu: c_int,
            tid: c_int,
            reading: *const sys::pstat_reading,
        ) -> c_int {
            let some = |number| if number < 0 { None } else { Some(number) };
            let reading = Reading(&*reading);
            let (raw, value, state) = (reading.raw(), reading.value(), reading.state());
            (*(data as *mut Vec<Cell>)).push(Cell { index, cpu: some(cpu), tid: some(tid), raw, value, state });
            0
        }
        let mut cells: Vec<Cell> = Vec::new();
        let data = &mut cells as *mut Vec<Cell> as *mut c_void;
        check(unsafe { sys::pstat_readings_cells(self.0, Some(add), data) }, None)?;
        Ok(cells)
    }
}

// ---- words in samples, which pstat_sys takes ----

/// What a branch of a sample says besides its addresses, `PERF_BR_*` among it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BranchParts {
    /// This and `predicted` false: the unit does not say.
    pub mispredicted: bool,
    pub predicted: bool,
    pub in_transaction: bool,
    pub aborted: bool,
    /// Since the branch before; 0: not known.
    pub cycles: u32,
    pub branch_type: u32,
    pub speculation: u32,
    pub privilege: u32,
}

/// Takes the flags of a `pstat_branch` apart.
pub fn decode_branch(flags: u64) -> BranchParts {
    let branch = sys::pstat_branch { from_addr: 0, to_addr: 0, flags };
    let mut c: sys::pstat_branch_parts = unsafe { zeroed() };
    c.size = size_of::<sys::pstat_branch_parts>();
    unsafe { sys::pstat_branch_decode(&branch, &mut c) };
    BranchParts {
        mispredicted: c.mispredicted != 0,
        predicted: c.predicted != 0,
        in_transaction: c.in_transaction != 0,
        aborted: c.aborted != 0,
        cycles: c.cycles,
        branch_type: c.branch_type,
        speculation: c.speculation,
        privilege: c.privilege,
    }
}

/// Where data came from: bits of the kernel's `PERF_MEM_*`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataSource {
    pub operation: u32,
    pub level: u32,
    pub snoop: u32,
    pub lock: u32,
    pub tlb: u32,
    pub level_number: u32,
    pub remote: u32,
    pub snoop_more: u32,
    pub blocked: u32,
    pub hops: u32,
}

/// Takes the word `data_source` of a sample apart.
pub fn decode_data_source(word: u64) -> DataSource {
    let mut c: sys::pstat_data_source = unsafe { zeroed() };
    c.size = size_of::<sys::pstat_data_source>();
    unsafe { sys::pstat_data_source_decode(word, &mut c) };
    DataSource {
        operation: c.operation,
        level: c.level,
        snoop: c.snoop,
        lock: c.lock,
        tlb: c.tlb,
        level_number: c.level_number,
        remote: c.remote,
        snoop_more: c.snoop_more,
        blocked: c.blocked,
        hops: c.hops,
    }
}

/// What happened to a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transaction {
    pub elision: bool,
    pub transaction: bool,
    pub synchronous: bool,
    pub asynchronous: bool,
    pub retry: bool,
    pub conflict: bool,
    pub capacity_write: bool,
    pub capacity_read: bool,
    /// Of an abort that the program asked for.
    pub abort_code: u32,
}

/// Takes the word `transaction` of a sample apart.
pub fn decode_transaction(word: u64) -> Transaction {
    let mut c: sys::pstat_transaction = unsafe { zeroed() };
    c.size = size_of::<sys::pstat_transaction>();
    unsafe { sys::pstat_transaction_decode(word, &mut c) };
    Transaction {
        elision: c.elision != 0,
        transaction: c.transaction != 0,
        synchronous: c.synchronous != 0,
        asynchronous: c.asynchronous != 0,
        retry: c.retry != 0,
        conflict: c.conflict != 0,
        capacity_write: c.capacity_write != 0,
        capacity_read: c.capacity_read != 0,
        abort_code: c.abort_code,
    }
}

/// A field of a tracepoint by its name, from `Events::field()`.
#[derive(Clone)]
pub struct TracepointField(sys::pstat_field);

impl TracepointField {
    pub fn is_text(&self) -> bool {
        self.0.is_text != 0
    }

    fn sample_of(raw: &[u8]) -> sys::pstat_sample {
        let mut sample: sys::pstat_sample = unsafe { zeroed() };
        sample.raw = raw.as_ptr();
        sample.raw_bytes = raw.len() as u32;
        sample
    }

    /// The value in the raw bytes of a sample. EINVAL: it is no number; EBADMSG: they are too few.
    pub fn number(&self, raw: &[u8]) -> Result<i64> {
        let mut value = 0;
        check(unsafe { sys::pstat_field_number(&self.0, &Self::sample_of(raw), &mut value) }, None)?;
        Ok(value)
    }

    /// Bytes that are no UTF-8 are replaced. EINVAL: it is no text; EBADMSG: they are too few.
    pub fn text(&self, raw: &[u8]) -> Result<String> {
        let sample = Self::sample_of(raw);
        let n = check(unsafe { sys::pstat_field_text(&self.0, &sample, null_mut(), 0) }, None)?;
        let mut text = vec![0u8; n + 1];
        check(unsafe { sys::pstat_field_text(&self.0, &sample, text.as_mut_ptr() as *mut c_char, n + 1) }, None)?;
        text.truncate(n);
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}

// ---- names ----

/// The function that an address is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// As the file's symbol table has it: Rust's own are mangled. None: not known.
    pub function: Option<String>,
    /// Of the address in it.
    pub offset: u64,
    /// What is mapped there.
    pub file: Option<String>,
    /// As the file's symbols count, for addr2line(1).
    pub file_address: u64,
    /// Why there is no function.
    pub reason: Option<String>,
}

/// Names of addresses, of this process, of others and of the kernel. What is read stays in memory until it is dropped.
pub struct Names(*mut sys::pstat_names);

unsafe impl Send for Names {}

impl Drop for Names {
    fn drop(&mut self) {
        unsafe { sys::pstat_names_free(self.0) }
    }
}

impl Names {
    pub fn new() -> Result<Names> {
        let mut names = null_mut();
        call(|error| unsafe { sys::pstat_names_new(&mut names, error) })?;
        Ok(Names(names))
    }

    /// The name of an address in a process; 0: in this one.
    pub fn of(&mut self, pid: i32, address: u64) -> Result<Name> {
        let mut c: sys::pstat_name = unsafe { zeroed() };
        c.size = size_of::<sys::pstat_name>();
        call(|error| unsafe { sys::pstat_name_of(self.0, pid, address, &mut c, error) })?;
        let owned = |text| text_of(text).map(Cow::into_owned);
        Ok(Name {
            function: owned(c.function),
            offset: c.offset,
            file: owned(c.file),
            file_address: c.file_address,
            reason: owned(c.reason),
        })
    }

    /// Asks anew about a process, which has called exec, or whose number may have come again.
    pub fn forget(&mut self, pid: i32) {
        unsafe { sys::pstat_names_forget(self.0, pid) }
    }
}

// ---- measure ----

/// Opens events on the calling thread, and counts what it, and what it starts meanwhile, does in f.
pub fn measure<T>(events: &str, f: impl FnOnce() -> T) -> Result<(T, Readings)> {
    let options = Options { inherit: true, ..Options::default() };
    Counters::open(&Events::parse(events)?, &options)?.measure(f)
}
