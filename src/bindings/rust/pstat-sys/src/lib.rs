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

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_error {
    pub size: usize,
    pub code: c_int,
    pub text: [c_char; 1000],
}

#[repr(C)]
pub struct pstat_events {
    _private: [u8; 0],
}

#[repr(C)]
pub struct pstat_known {
    _private: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_known_event {
    pub size: usize,
    pub topic: *const c_char,
    pub name: *const c_char,
    pub alias: *const c_char,
    pub description: *const c_char,
    pub pmu: *const c_char,
    pub unit: *const c_char,
    pub scale: f64,
}

#[repr(C)]
pub struct pstat_counters {
    _private: [u8; 0],
}

pub type pstat_target = c_uint;
pub const PSTAT_SELF: pstat_target = 0;
pub const PSTAT_TID: pstat_target = 1;
pub const PSTAT_PID: pstat_target = 2;
pub const PSTAT_CPUS: pstat_target = 3;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_open_options {
    pub size: usize,
    pub target: pstat_target,
    pub ids: *const c_int,
    pub n_ids: usize,
    pub cgroup: *const c_char,
    pub inherit: c_int,
    pub enabled: c_int,
    pub enable_on_exec: c_int,
    pub may_move_thread: c_int,
    pub may_raise_limit: c_int,
    pub overflows: c_int,
    pub user_read: c_int,
    pub by_cgroup_fd: c_int,
    pub cgroup_fd: c_int,
    pub cpus: *const c_int,
    pub n_cpus: usize,
}

pub type pstat_state = c_uint;
pub const PSTAT_COUNTED: pstat_state = 0;
pub const PSTAT_SCALED: pstat_state = 1;
pub const PSTAT_LOWER_BOUND: pstat_state = 2;
pub const PSTAT_NOT_COUNTED: pstat_state = 3;
pub const PSTAT_NOT_SUPPORTED: pstat_state = 4;
pub const PSTAT_READ_FAILED: pstat_state = 5;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_counter {
    pub size: usize,
    pub name: *const c_char,
    pub pmu: *const c_char,
    pub unit: *const c_char,
    pub scale: f64,
    pub supported: c_int,
    pub error: c_int,
    pub reason: *const c_char,
    pub remedy: *const c_char,
    pub leader: usize,
    pub n_members: usize,
    pub n_descriptors: usize,
    pub attr: *const perf_event_attr,
}

#[repr(C)]
pub struct pstat_readings {
    _private: [u8; 0],
}

pub type pstat_way = c_uint;
pub const PSTAT_BY_READ: pstat_way = 0;
pub const PSTAT_BY_USER: pstat_way = 1;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_reading {
    pub size: usize,
    pub name: *const c_char,
    pub unit: *const c_char,
    pub state: pstat_state,
    pub way: pstat_way,
    pub raw: u64,
    pub scaled: u64,
    pub value: f64,
    pub enabled_ns: u64,
    pub running_ns: u64,
    pub error: c_int,
    pub reason: *const c_char,
    pub remedy: *const c_char,
}

pub const PSTAT_JSON_DETAILS: u32 = 1;

pub const PSTAT_JSON_PERF_UTILS: u32 = 2;

pub type pstat_cell_fn = Option<
    unsafe extern "C" fn(
        data: *mut c_void,
        index: usize,
        cpu: c_int,
        tid: c_int,
        reading: *const pstat_reading,
    ) -> c_int,
>;

pub type pstat_record_type = c_uint;
pub const PSTAT_RECORD_MMAP: pstat_record_type = 1;
pub const PSTAT_RECORD_LOST: pstat_record_type = 2;
pub const PSTAT_RECORD_COMM: pstat_record_type = 3;
pub const PSTAT_RECORD_EXIT: pstat_record_type = 4;
pub const PSTAT_RECORD_THROTTLE: pstat_record_type = 5;
pub const PSTAT_RECORD_UNTHROTTLE: pstat_record_type = 6;
pub const PSTAT_RECORD_FORK: pstat_record_type = 7;
pub const PSTAT_RECORD_READ: pstat_record_type = 8;
pub const PSTAT_RECORD_SAMPLE: pstat_record_type = 9;
pub const PSTAT_RECORD_MMAP2: pstat_record_type = 10;
pub const PSTAT_RECORD_AUX: pstat_record_type = 11;
pub const PSTAT_RECORD_ITRACE_START: pstat_record_type = 12;
pub const PSTAT_RECORD_LOST_SAMPLES: pstat_record_type = 13;
pub const PSTAT_RECORD_SWITCH: pstat_record_type = 14;
pub const PSTAT_RECORD_SWITCH_CPU_WIDE: pstat_record_type = 15;
pub const PSTAT_RECORD_NAMESPACES: pstat_record_type = 16;
pub const PSTAT_RECORD_KSYMBOL: pstat_record_type = 17;
pub const PSTAT_RECORD_BPF_EVENT: pstat_record_type = 18;
pub const PSTAT_RECORD_CGROUP: pstat_record_type = 19;
pub const PSTAT_RECORD_TEXT_POKE: pstat_record_type = 20;
pub const PSTAT_RECORD_AUX_OUTPUT_HW_ID: pstat_record_type = 21;
pub const PSTAT_RECORD_CALLCHAIN_DEFERRED: pstat_record_type = 22;

pub type pstat_mode = c_uint;
pub const PSTAT_MODE_UNKNOWN: pstat_mode = 0;
pub const PSTAT_MODE_KERNEL: pstat_mode = 1;
pub const PSTAT_MODE_USER: pstat_mode = 2;
pub const PSTAT_MODE_HYPERVISOR: pstat_mode = 3;
pub const PSTAT_MODE_GUEST_KERNEL: pstat_mode = 4;
pub const PSTAT_MODE_GUEST_USER: pstat_mode = 5;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_values {
    pub format: u64,
    pub enabled_ns: u64,
    pub running_ns: u64,
    pub n: u64,
    pub words: *const u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_registers {
    pub abi: u64,
    pub mask: u64,
    pub v: *const u64,
    pub n: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_branch {
    pub from_addr: u64,
    pub to_addr: u64,
    pub flags: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_sample {
    pub ip: u64,
    pub addr: u64,
    pub period: u64,
    pub values: pstat_values,
    pub n_ips: u64,
    pub ips: *const u64,
    pub raw_bytes: u32,
    pub raw: *const u8,
    pub n_branches: u64,
    pub branch_hw_index: u64,
    pub branches: *const pstat_branch,
    pub branch_counters: *const u64,
    pub user_registers: pstat_registers,
    pub interrupted_registers: pstat_registers,
    pub stack_bytes: u64,
    pub stack_used_bytes: u64,
    pub stack: *const u8,
    pub weight: u64,
    pub data_source: u64,
    pub transaction: u64,
    pub physical_addr: u64,
    pub cgroup: u64,
    pub data_page_bytes: u64,
    pub code_page_bytes: u64,
    pub aux_bytes: u64,
    pub aux: *const u8,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_map {
    pub pid: u32,
    pub tid: u32,
    pub start: u64,
    pub length: u64,
    pub file_offset: u64,
    pub path: *const c_char,
    pub data: c_int,
    pub protection: u32,
    pub flags: u32,
    pub device_major: u32,
    pub device_minor: u32,
    pub inode: u64,
    pub inode_generation: u64,
    pub build_id_bytes: u8,
    pub build_id: [u8; 20],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_task {
    pub pid: u32,
    pub parent_pid: u32,
    pub tid: u32,
    pub parent_tid: u32,
    pub time_ns: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_namespace {
    pub device: u64,
    pub inode: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_lost {
    pub id: u64,
    pub n: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_comm {
    pub pid: u32,
    pub tid: u32,
    pub name: *const c_char,
    pub exec: c_int,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_throttle {
    pub time_ns: u64,
    pub id: u64,
    pub stream_id: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_task_read {
    pub pid: u32,
    pub tid: u32,
    pub values: pstat_values,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_aux {
    pub offset: u64,
    pub bytes: u64,
    pub flags: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_itrace_start {
    pub pid: u32,
    pub tid: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_switch {
    pub out: c_int,
    pub preempted: c_int,
    pub other_pid: u32,
    pub other_tid: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_namespaces {
    pub pid: u32,
    pub tid: u32,
    pub n: u64,
    pub v: *const pstat_namespace,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_ksymbol {
    pub addr: u64,
    pub length: u32,
    pub kind: u16,
    pub flags: u16,
    pub name: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_bpf_event {
    pub kind: u16,
    pub flags: u16,
    pub id: u32,
    pub tag: [u8; 8],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_cgroup_path {
    pub id: u64,
    pub path: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_text_poke {
    pub addr: u64,
    pub old_bytes: u16,
    pub new_bytes: u16,
    pub code: *const u8,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_hw_id {
    pub hw_id: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_deferred_chain {
    pub cookie: u64,
    pub n_ips: u64,
    pub ips: *const u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub union pstat_record_body {
    pub sample: pstat_sample,
    pub map: pstat_map,
    pub task: pstat_task,
    pub lost: pstat_lost,
    pub comm: pstat_comm,
    pub throttle: pstat_throttle,
    pub read: pstat_task_read,
    pub aux: pstat_aux,
    pub itrace_start: pstat_itrace_start,
    pub sched: pstat_switch,
    pub namespaces: pstat_namespaces,
    pub ksymbol: pstat_ksymbol,
    pub bpf: pstat_bpf_event,
    pub cgroup: pstat_cgroup_path,
    pub text_poke: pstat_text_poke,
    pub hw_id: pstat_hw_id,
    pub deferred: pstat_deferred_chain,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_record {
    pub size: usize,
    pub record_type: u32,
    pub misc: u16,
    pub mode: u16,
    pub event: c_int,
    pub ring_cpu: c_int,
    pub has: u64,
    pub pid: u32,
    pub tid: u32,
    pub time_ns: u64,
    pub id: u64,
    pub stream_id: u64,
    pub cpu: u32,
    pub n_bytes: u32,
    pub bytes: *const u8,
    pub body: pstat_record_body,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_branch_parts {
    pub size: usize,
    pub mispredicted: u32,
    pub predicted: u32,
    pub in_transaction: u32,
    pub aborted: u32,
    pub cycles: u32,
    pub branch_type: u32,
    pub speculation: u32,
    pub privilege: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_data_source {
    pub size: usize,
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

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_transaction {
    pub size: usize,
    pub elision: u32,
    pub transaction: u32,
    pub synchronous: u32,
    pub asynchronous: u32,
    pub retry: u32,
    pub conflict: u32,
    pub capacity_write: u32,
    pub capacity_read: u32,
    pub abort_code: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_field {
    pub size: usize,
    pub offset: u32,
    pub bytes: u32,
    pub is_signed: c_int,
    pub is_array: c_int,
    pub is_text: c_int,
    pub is_dynamic: c_int,
    pub is_relative: c_int,
}

#[repr(C)]
pub struct pstat_sampler {
    _private: [u8; 0],
}

pub const PSTAT_TRACK_NAMESPACES: u32 = 32;

pub const PSTAT_TRACK_CGROUPS: u32 = 128;

pub const PSTAT_TRACK_TEXT_POKES: u32 = 256;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_sampling_options {
    pub size: usize,
    pub open: *const pstat_open_options,
    pub period: u64,
    pub frequency: u64,
    pub fields: u64,
    pub user_registers: u64,
    pub interrupted_registers: u64,
    pub branches: u64,
    pub stack_bytes: u32,
    pub track: u32,
    pub ring_bytes: u64,
    pub wakeup_bytes: u32,
    pub wakeup_events: u32,
    pub max_stack: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_sampler_counts {
    pub size: usize,
    pub delivered: u64,
    pub samples: u64,
    pub lost: u64,
    pub not_taken: u64,
    pub broken: u64,
    pub lost_now: u64,
    pub lost_now_known: c_int,
}

#[repr(C)]
pub struct pstat_names {
    _private: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pstat_name {
    pub size: usize,
    pub function: *const c_char,
    pub offset: u64,
    pub file: *const c_char,
    pub file_address: u64,
    pub reason: *const c_char,
}

#[link(name = "pstat")]
extern "C" {
    pub fn pstat_version() -> *const c_char;
    pub fn pstat_events_new(events: *mut *mut pstat_events) -> c_int;
    pub fn pstat_events_free(events: *mut pstat_events);
    pub fn pstat_events_parse(events: *mut pstat_events, text: *const c_char, error: *mut pstat_error) -> c_int;
    pub fn pstat_events_add_attr(
        events: *mut pstat_events,
        name: *const c_char,
        attr: *const perf_event_attr,
        error: *mut pstat_error,
    ) -> c_int;
    pub fn pstat_events_group(events: *mut pstat_events, first: usize, n: usize, error: *mut pstat_error) -> c_int;
    pub fn pstat_events_add_set(events: *mut pstat_events, set: *const c_char, error: *mut pstat_error) -> c_int;
    pub fn pstat_set_name(i: usize, help: *mut *const c_char) -> *const c_char;
    pub fn pstat_events_set_filter(
        events: *mut pstat_events,
        index: usize,
        filter: *const c_char,
        error: *mut pstat_error,
    ) -> c_int;
    pub fn pstat_events_set_period(
        events: *mut pstat_events,
        index: usize,
        period: u64,
        error: *mut pstat_error,
    ) -> c_int;
    pub fn pstat_events_set_frequency(
        events: *mut pstat_events,
        index: usize,
        hz: u64,
        error: *mut pstat_error,
    ) -> c_int;
    pub fn pstat_events_count(events: *const pstat_events) -> usize;
    pub fn pstat_events_name(events: *const pstat_events, index: usize) -> *const c_char;
    pub fn pstat_events_attr(events: *const pstat_events, index: usize) -> *const perf_event_attr;
    pub fn pstat_events_note(events: *const pstat_events, i: usize) -> *const c_char;
    pub fn pstat_supported() -> c_int;
    pub fn pstat_max_stack() -> c_int;
    pub fn pstat_event_label(event_type: u32, config: u64, text: *mut c_char, bytes: usize) -> c_int;
    pub fn pstat_known_new(
        known: *mut *mut pstat_known,
        topic: *const c_char,
        glob: *const c_char,
        error: *mut pstat_error,
    ) -> c_int;
    pub fn pstat_known_free(known: *mut pstat_known);
    pub fn pstat_known_count(known: *const pstat_known) -> usize;
    pub fn pstat_known_at(known: *const pstat_known, i: usize) -> *const pstat_known_event;
    pub fn pstat_open(
        counters: *mut *mut pstat_counters,
        events: *const pstat_events,
        options: *const pstat_open_options,
        error: *mut pstat_error,
    ) -> c_int;
    pub fn pstat_close(counters: *mut pstat_counters);
    pub fn pstat_state_name(state: pstat_state) -> *const c_char;
    pub fn pstat_counters_count(counters: *const pstat_counters) -> usize;
    pub fn pstat_counter(counters: *const pstat_counters, index: usize) -> *const pstat_counter;
    pub fn pstat_counters_note(counters: *const pstat_counters, i: usize) -> *const c_char;
    pub fn pstat_enable(counters: *mut pstat_counters) -> c_int;
    pub fn pstat_disable(counters: *mut pstat_counters) -> c_int;
    pub fn pstat_reset(counters: *mut pstat_counters) -> c_int;
    pub fn pstat_descriptors(counters: *const pstat_counters, index: usize, fds: *mut c_int, n: usize) -> c_int;
    pub fn pstat_ids(counters: *const pstat_counters, index: usize, ids: *mut u64, n: usize) -> c_int;
    pub fn pstat_descriptor_targets(
        counters: *const pstat_counters,
        index: usize,
        cpus: *mut c_int,
        tids: *mut c_int,
        n: usize,
    ) -> c_int;
    pub fn pstat_set_filter(
        counters: *mut pstat_counters,
        index: usize,
        filter: *const c_char,
        error: *mut pstat_error,
    ) -> c_int;
    pub fn pstat_set_period(counters: *mut pstat_counters, index: usize, period: u64) -> c_int;
    pub fn pstat_attach_bpf(counters: *mut pstat_counters, index: usize, program_fd: c_int) -> c_int;
    pub fn pstat_bpf_programs(counters: *const pstat_counters, index: usize, ids: *mut u32, n: usize) -> c_int;
    pub fn pstat_refresh(counters: *mut pstat_counters, index: usize, n: c_int) -> c_int;
    pub fn pstat_readings_new(readings: *mut *mut pstat_readings, counters: *const pstat_counters) -> c_int;
    pub fn pstat_readings_free(readings: *mut pstat_readings);
    pub fn pstat_readings_count(readings: *const pstat_readings) -> usize;
    pub fn pstat_reading_at(readings: *const pstat_readings, index: usize) -> *const pstat_reading;
    pub fn pstat_reading_of(readings: *const pstat_readings, name: *const c_char) -> *const pstat_reading;
    pub fn pstat_read(counters: *mut pstat_counters, readings: *mut pstat_readings) -> c_int;
    pub fn pstat_readings_subtract(later: *mut pstat_readings, earlier: *const pstat_readings) -> c_int;
    pub fn pstat_readings_copy(to: *mut pstat_readings, from: *const pstat_readings) -> c_int;
    pub fn pstat_explain(counters: *mut pstat_counters, readings: *mut pstat_readings) -> c_int;
    pub fn pstat_readings_json(readings: *const pstat_readings, text: *mut c_char, bytes: usize) -> c_int;
    pub fn pstat_readings_json_with(
        readings: *const pstat_readings,
        flags: c_uint,
        text: *mut c_char,
        bytes: usize,
    ) -> c_int;
    pub fn pstat_readings_cells(readings: *const pstat_readings, each: pstat_cell_fn, data: *mut c_void) -> c_int;
    pub fn pstat_measure(
        events: *const pstat_events,
        function: Option<unsafe extern "C" fn(argument: *mut c_void)>,
        argument: *mut c_void,
        readings: *mut *mut pstat_readings,
    ) -> c_int;
    pub fn pstat_measure_with(
        events: *const pstat_events,
        options: *const pstat_open_options,
        function: Option<unsafe extern "C" fn(argument: *mut c_void)>,
        argument: *mut c_void,
        readings: *mut *mut pstat_readings,
        error: *mut pstat_error,
    ) -> c_int;
    pub fn pstat_measure_counters(
        counters: *mut pstat_counters,
        readings: *mut pstat_readings,
        function: Option<unsafe extern "C" fn(argument: *mut c_void)>,
        argument: *mut c_void,
    ) -> c_int;
    pub fn pstat_user_read(counters: *mut pstat_counters, index: usize, value: *mut u64) -> c_int;
    pub fn pstat_user_read_times(
        counters: *mut pstat_counters,
        index: usize,
        value: *mut u64,
        enabled_ns: *mut u64,
        running_ns: *mut u64,
    ) -> c_int;
    pub fn pstat_user_read_reason(counters: *const pstat_counters, index: usize) -> *const c_char;
    pub fn pstat_record_name(record_type: u32) -> *const c_char;
    pub fn pstat_value(values: *const pstat_values, i: u64, value: *mut u64, id: *mut u64, lost: *mut u64) -> c_int;
    pub fn pstat_branch_decode(branch: *const pstat_branch, parts: *mut pstat_branch_parts);
    pub fn pstat_data_source_decode(data_source: u64, parts: *mut pstat_data_source);
    pub fn pstat_transaction_decode(transaction: u64, parts: *mut pstat_transaction);
    pub fn pstat_events_field(
        events: *const pstat_events,
        index: usize,
        name: *const c_char,
        field: *mut pstat_field,
        error: *mut pstat_error,
    ) -> c_int;
    pub fn pstat_field_number(field: *const pstat_field, sample: *const pstat_sample, value: *mut i64) -> c_int;
    pub fn pstat_field_text(
        field: *const pstat_field,
        sample: *const pstat_sample,
        text: *mut c_char,
        bytes: usize,
    ) -> c_int;
    pub fn pstat_record_sample(record: *const pstat_record) -> *const pstat_sample;
    pub fn pstat_record_map(record: *const pstat_record) -> *const pstat_map;
    pub fn pstat_record_task(record: *const pstat_record) -> *const pstat_task;
    pub fn pstat_record_lost(record: *const pstat_record) -> *const pstat_lost;
    pub fn pstat_record_comm(record: *const pstat_record) -> *const pstat_comm;
    pub fn pstat_record_throttle(record: *const pstat_record) -> *const pstat_throttle;
    pub fn pstat_record_read(record: *const pstat_record) -> *const pstat_task_read;
    pub fn pstat_record_aux(record: *const pstat_record) -> *const pstat_aux;
    pub fn pstat_record_itrace_start(record: *const pstat_record) -> *const pstat_itrace_start;
    pub fn pstat_record_switch(record: *const pstat_record) -> *const pstat_switch;
    pub fn pstat_record_namespaces(record: *const pstat_record) -> *const pstat_namespaces;
    pub fn pstat_record_ksymbol(record: *const pstat_record) -> *const pstat_ksymbol;
    pub fn pstat_record_bpf_event(record: *const pstat_record) -> *const pstat_bpf_event;
    pub fn pstat_record_cgroup(record: *const pstat_record) -> *const pstat_cgroup_path;
    pub fn pstat_record_text_poke(record: *const pstat_record) -> *const pstat_text_poke;
    pub fn pstat_record_hw_id(record: *const pstat_record) -> *const pstat_hw_id;
    pub fn pstat_record_deferred(record: *const pstat_record) -> *const pstat_deferred_chain;
    pub fn pstat_sampler_open(
        sampler: *mut *mut pstat_sampler,
        events: *const pstat_events,
        options: *const pstat_sampling_options,
        error: *mut pstat_error,
    ) -> c_int;
    pub fn pstat_sampler_close(sampler: *mut pstat_sampler);
    pub fn pstat_sampler_counters(sampler: *mut pstat_sampler) -> *mut pstat_counters;
    pub fn pstat_sampler_next(
        sampler: *mut pstat_sampler,
        record: *mut *const pstat_record,
        error: *mut pstat_error,
    ) -> c_int;
    pub fn pstat_sampler_wait(sampler: *mut pstat_sampler, timeout_ms: c_int) -> c_int;
    pub fn pstat_sampler_fd(sampler: *const pstat_sampler) -> c_int;
    pub fn pstat_sampler_pause(sampler: *mut pstat_sampler, paused: c_int) -> c_int;
    pub fn pstat_sampler_count(sampler: *mut pstat_sampler, counts: *mut pstat_sampler_counts);
    pub fn pstat_names_new(names: *mut *mut pstat_names, error: *mut pstat_error) -> c_int;
    pub fn pstat_names_free(names: *mut pstat_names);
    pub fn pstat_name_of(
        names: *mut pstat_names,
        pid: c_int,
        address: u64,
        name: *mut pstat_name,
        error: *mut pstat_error,
    ) -> c_int;
    pub fn pstat_names_forget(names: *mut pstat_names, pid: c_int);
}
