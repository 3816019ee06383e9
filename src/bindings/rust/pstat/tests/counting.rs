// SPDX-License-Identifier: MIT
//! Counting through the safe wrapper. A test whose machine lacks something prints "skip: why" and ends.
use pstat::{Counters, Error, Events, Options, Reading, State, Target};
use std::time::{Duration, Instant};

const PAGE: usize = 4096;
/// More than malloc() keeps for later: 40 MB. Of huge pages one fault is enough for 512.
const MANY: usize = 10_000;
const FAULTS_OF_MANY: u64 = MANY as u64 / 512;
const ENOENT: i32 = 2;
const EACCES: i32 = 13;
const EINVAL: i32 = 22;
const EBADMSG: i32 = 74;

/// Touches n pages of new memory.
fn touch(n: usize) {
    let mut memory: Vec<u8> = Vec::with_capacity(n * PAGE);
    for page in 0..n {
        unsafe { memory.as_mut_ptr().add(page * PAGE).write_volatile(1) }
    }
}

fn faults(reading: &Reading) -> u64 {
    assert_eq!(reading.state(), State::Counted);
    assert!(reading.enabled() == reading.running() && reading.running() > Duration::ZERO);
    reading.raw()
}

fn open(events: &str, options: &Options) -> Result<Counters, Error> {
    Counters::open(&Events::parse(events)?, options)
}

#[test]
fn counts_a_function() {
    let (result, readings) = pstat::measure("page-faults", || {
        touch(MANY);
        7
    })
    .unwrap();
    let reading = readings.of("page-faults").unwrap();
    assert_eq!(result, 7);
    assert!(faults(&reading) >= FAULTS_OF_MANY, "{}", reading.raw());
    assert_eq!(reading.value(), Some(reading.raw() as f64));
    assert_eq!(readings.json().unwrap(), format!("{{\"{}\":{}}}", reading.name(), reading.raw()));
}

#[test]
fn a_group_counts_the_same() {
    let mut events = Events::new().unwrap();
    events.add("task-clock").unwrap().add_group(&["page-faults", "minor-faults", "major-faults"]).unwrap();
    let mut counters = Counters::open(&events, &Options::default()).unwrap();
    let leaders: Vec<usize> = (0..counters.len()).map(|i| counters.counter(i).unwrap().leader).collect();
    assert_eq!(leaders, [0, 1, 1, 1]);
    assert_eq!(counters.counter(1).unwrap().n_members, 3);
    let ((), readings) = counters.measure(|| touch(MANY)).unwrap();
    let raw: Vec<u64> = readings.iter().skip(1).map(|r| faults(&r)).collect();
    assert_eq!(raw[0], raw[1] + raw[2]);
    assert!(readings.at(0).unwrap().unit() == "msec" && readings.at(4).is_none());
}

#[test]
fn repeated_measurements_are_apart() {
    let mut counters = open("page-faults", &Options::default()).unwrap();
    let ((), many) = counters.measure(|| touch(MANY)).unwrap();
    let ((), none) = counters.measure(|| ()).unwrap();
    assert!(faults(&many.at(0).unwrap()) >= FAULTS_OF_MANY);
    assert!(faults(&none.at(0).unwrap()) < FAULTS_OF_MANY);
}

#[test]
fn errors_have_the_sentence() {
    let error = Events::parse("no-such-event").map(drop).unwrap_err();
    assert_eq!(error.errno, ENOENT);
    assert!(error.text.starts_with("unknown event 'no-such-event'"), "{}", error);
    assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::NotFound);
    assert_eq!(Events::parse("a\0b").map(drop).unwrap_err().errno, EINVAL);
    let nobody = Options { target: Target::Processes(vec![]), ..Options::default() };
    assert_eq!(open("page-faults", &nobody).map(drop).unwrap_err().errno, EINVAL);
}

#[test]
fn what_cannot_be_counted_says_why() {
    let ((), readings) = pstat::measure("cycles,page-faults", || touch(MANY)).unwrap();
    let cycles = readings.of("cycles").unwrap();
    if cycles.state() == State::NotSupported {
        assert_eq!(cycles.value(), None);
        assert!(!cycles.reason().unwrap().is_empty());
    } else {
        assert!(cycles.value() > Some(0.0) || cycles.state() == State::NotCounted);
    }
    faults(&readings.of("page-faults").unwrap());
}

#[test]
fn a_panic_ends_counting() {
    let mut counters = open("page-faults", &Options::default()).unwrap();
    let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ = counters.measure(|| -> () { std::panic::resume_unwind(Box::new("wanted")) });
    }));
    assert!(told.is_err());
    let before = counters.read().unwrap().at(0).unwrap().raw();
    touch(MANY);
    assert_eq!(counters.read().unwrap().at(0).unwrap().raw(), before);
}

#[test]
fn enabled_on_cpus_counts_from_the_beginning() {
    let options = Options { target: Target::AllCpus, enabled: true, ..Options::default() };
    let mut counters = match open("cpu-clock", &options) {
        Ok(counters) => counters,
        Err(error) if error.errno == EACCES => return println!("skip: needs the right to count whole CPUs"),
        Err(error) => panic!("{}", error),
    };
    let mut idle = open("cpu-clock", &Options { enabled: false, ..options }).unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while counters.read().unwrap().at(0).unwrap().raw() == 0 {
        assert!(Instant::now() < end, "it counts nothing");
    }
    let readings = counters.read().unwrap();
    let cells = readings.cells().unwrap();
    assert_eq!(cells.len(), counters.descriptors(0).unwrap().len());
    assert_eq!(cells.iter().map(|cell| cell.raw).sum::<u64>(), readings.at(0).unwrap().raw());
    assert!(cells.iter().all(|cell| cell.cpu.is_some() && cell.tid.is_none() && cell.index == 0));
    assert_eq!(idle.read().unwrap().at(0).unwrap().raw(), 0);
}

#[test]
fn counts_a_process_or_a_cpu() {
    let options = Options { target: Target::Processes(vec![std::process::id() as i32]), ..Options::default() };
    let mut counters = open("page-faults", &options).unwrap();
    let ((), readings) = counters.measure(|| touch(MANY)).unwrap();
    assert!(faults(&readings.at(0).unwrap()) >= FAULTS_OF_MANY);
    match open("cpu-clock", &Options { target: Target::Cpus(vec![0]), ..Options::default() }) {
        Ok(counters) => assert_eq!(counters.counter(0).unwrap().n_descriptors, 1),
        Err(error) => assert_eq!(error.errno, EACCES),
    }
}

#[test]
fn reads_its_own_counters() {
    let mut counters = open("page-faults", &Options { enabled: true, user_read: true, ..Options::default() }).unwrap();
    touch(MANY);
    let first = counters.user_read(0).unwrap();
    assert!(first >= FAULTS_OF_MANY && counters.user_read(0).unwrap() >= first);
    assert!(counters.user_read_reason(0).is_some(), "no PMU counts page faults");
    assert!(counters.user_read(1).is_err());
}

#[test]
fn handles_go_to_other_threads() {
    let mut counters = open("page-faults", &Options { enabled: true, ..Options::default() }).unwrap();
    touch(MANY);
    let readings = std::thread::spawn(move || counters.read().unwrap()).join().unwrap();
    assert!(faults(&readings.at(0).unwrap()) >= FAULTS_OF_MANY);
}

/// The cheapest of several passes, since other programs only make them dearer.
fn cost(what: &str, n: u32, mut call: impl FnMut()) {
    let passes = (0..20).map(|_| {
        let begun = Instant::now();
        (0..n).for_each(|_| call());
        begun.elapsed() / n
    });
    println!("cost: {}: {} ns", what, passes.min().unwrap().as_nanos());
}

#[test]
#[ignore = "measures, for make bench"]
fn costs() {
    const GROUP: &str = "{page-faults,minor-faults}";
    println!();
    let mut counters = open(GROUP, &Options { enabled: true, ..Options::default() }).unwrap();
    let mut readings = counters.readings().unwrap();
    cost("read a group of two, into readings", 1000, || counters.read_into(&mut readings).unwrap());
    cost("measure(), counters that are open", 100, || drop(counters.measure(|| ()).unwrap()));
    cost("measure(), events", 100, || drop(pstat::measure(GROUP, || ()).unwrap()));
}

#[test]
fn words_are_decoded() {
    let parts = pstat::decode_branch(1 | 1 << 3 | 77 << 4 | 5 << 20 | 2 << 24 | 3 << 30);
    assert!(parts.mispredicted && !parts.predicted && !parts.in_transaction && parts.aborted);
    assert_eq!((parts.cycles, parts.branch_type, parts.speculation, parts.privilege), (77, 5, 2, 3));
    let word = 2 | 8 << 5 | 4 << 19 | 2 << 24 | 10 << 26 | 3 << 33 | 1 << 37 | 1 << 38 | 2 << 40 | 3 << 43;
    let source = pstat::decode_data_source(word);
    assert_eq!((source.operation, source.level, source.snoop, source.lock, source.tlb), (2, 8, 4, 2, 10));
    assert_eq!((source.level_number, source.remote, source.snoop_more, source.blocked, source.hops), (3, 1, 1, 2, 3));
    let expected = pstat::Transaction { transaction: true, conflict: true, abort_code: 0x42, ..Default::default() };
    assert_eq!(pstat::decode_transaction(1 << 1 | 1 << 5 | 0x42 << 32), expected);
}

#[test]
fn fields_of_tracepoints() {
    let events = match Events::parse("sched:sched_process_exec") {
        Ok(events) => events,
        Err(error) => return println!("skip: needs tracefs: {}", error.text.lines().next().unwrap_or("")),
    };
    let (pid, file) = (events.field(0, "common_pid").unwrap(), events.field(0, "filename").unwrap());
    assert_eq!(events.field(0, "no_such_field").map(drop).unwrap_err().errno, ENOENT);
    // Bytes as the kernel has them: common_pid is at 4, filename a word at 8 that says where the text is.
    let mut raw = vec![0u8; 32];
    raw[4..8].copy_from_slice(&4321i32.to_ne_bytes());
    raw[8..12].copy_from_slice(&(6u32 << 16 | 20).to_ne_bytes());
    raw[20..26].copy_from_slice(b"/a/b\0\0");
    assert_eq!(pid.number(&raw).unwrap(), 4321);
    assert_eq!(file.text(&raw).unwrap(), "/a/b");
    assert!(file.is_text() && !pid.is_text());
    assert_eq!(pid.text(&raw).unwrap_err().errno, EINVAL);
    assert_eq!(file.text(&raw[..24]).unwrap_err().errno, EBADMSG);
    assert_eq!(pid.number(&[]).unwrap_err().errno, EBADMSG);
}

#[test]
fn refresh_and_programs_say_why_not() {
    let mut counters = open("page-faults", &Options::default()).unwrap();
    assert_eq!(counters.refresh(0, 0).unwrap_err().errno, EINVAL);
    assert_eq!(counters.refresh(0, 1).unwrap_err().errno, EINVAL); // it takes no samples
    assert!(counters.bpf_programs(0).is_err());
    if let Ok(counters) = open("sched:sched_process_exec", &Options::default()) {
        if counters.counter(0).unwrap().supported {
            counters.bpf_programs(0).unwrap();
        }
    }
}

#[inline(never)]
#[no_mangle]
pub extern "C" fn names_known_function(n: u32) -> u32 {
    unsafe { std::ptr::read_volatile(&n) + 1 }
}

#[test]
fn addresses_have_names() {
    let mut names = pstat::Names::new().unwrap();
    let at = names_known_function as *const () as usize as u64;
    let name = names.of(0, at + 1).unwrap();
    assert_eq!(name.function.as_deref(), Some("names_known_function"), "{:?}", name);
    assert!(name.offset == 1 && name.file.as_ref().unwrap().starts_with('/') && name.reason.is_none(), "{:?}", name);
    let again = names.of(std::process::id() as i32, at).unwrap();
    assert_eq!((again.function, again.file_address + 1), (name.function, name.file_address));
    let nothing = names.of(0, 16).unwrap();
    assert!(nothing.function.is_none() && nothing.reason.as_deref() == Some("nothing is mapped there"), "{:?}", nothing);
    names.forget(0);
    let mut ended = std::process::Command::new("true").spawn().unwrap();
    ended.wait().unwrap();
    const ESRCH: i32 = 3;
    assert_eq!(names.of(ended.id() as i32, at).unwrap_err().errno, ESRCH);
}
