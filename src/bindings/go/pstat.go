// SPDX-License-Identifier: MIT

// Package pstat counts and samples with the perf events of Linux, by libpstat.
//
//	counts, err := pstat.Measure("cycles,instructions,page-faults", work)
//
//	var g pstat.Group
//	g.Add(pstat.Instructions, pstat.CPUCycles)
//	counters, err := g.Open(pstat.CallingThread, pstat.AnyCPU)
//	counts, err := counters.MeasureGroup(work)
//
// An event that this machine or this user cannot count is no error: its Count says so in State and Reason. Errors have
// the library's sentence, and the errno for errors.Is.
//
// CallingThread is the thread of the operating system that calls: a goroutine that counts itself first calls
// runtime.LockOSThread, as Measure does by itself. A handle is for one goroutine at a time. Names, units and meanings
// are those of libpstat.h, which libpstat(3) describes.
package pstat

// #cgo pkg-config: pstat
// #include <libpstat.h>
// #include <linux/perf_event.h>
// #include <stdlib.h>
// #include <string.h>
//
// /* Go knows no bit fields. */
// static int add_numbers(struct pstat_events *events, const char *name, uint32_t kind, const uint64_t *config,
//                        const int *exclude, struct pstat_error *error)
// {
//	struct perf_event_attr attr;
//
//	memset(&attr, 0, sizeof(attr));
//	attr.size = sizeof(attr);
//	attr.type = kind;
//	attr.config = config[0];
//	attr.config1 = config[1];
//	attr.config2 = config[2];
//	attr.exclude_user = exclude[0] != 0;
//	attr.exclude_kernel = exclude[1] != 0;
//	attr.exclude_hv = exclude[2] != 0;
//	return pstat_events_add_attr(events, name, &attr, error);
// }
import "C"

import (
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// Version is that of the library in use.
func Version() string { return C.GoString(C.pstat_version()) }

// ---- errors ----

// Error is a call of the library that failed. errors.Is(err, syscall.EACCES) and the like look at Errno.
type Error struct {
	Errno syscall.Errno
	Text  string // one sentence; further lines say where, and what to do
}

func (e *Error) Error() string { return e.Text }
func (e *Error) Unwrap() error { return e.Errno }

// errorOf is nil where a call returned no negative errno. text may be nil.
func errorOf(code C.int, text *C.struct_pstat_error) error {
	if code >= 0 {
		return nil
	}
	e := &Error{Errno: syscall.Errno(-code)}
	if text != nil {
		e.Text = C.GoString(&text.text[0])
	}
	if e.Text == "" {
		e.Text = e.Errno.Error()
	}
	return e
}

func newError() *C.struct_pstat_error {
	return &C.struct_pstat_error{size: C.sizeof_struct_pstat_error}
}

// ---- events ----

// Attr is one event and how it is to be counted or sampled.
type Attr struct {
	Label  string // what counts call it; "": the name of the event
	Event  string // as `pstat stat -e` understands it; or, where it is "", Type and the three after it
	Filter string // of a tracepoint

	Type                                          uint32 // of perf_event_open(2)
	Config, Config1, Config2                      uint64
	ExcludeUser, ExcludeKernel, ExcludeHypervisor bool
}

// Configure makes a an Attr that can be given wherever a Configurator can.
func (a *Attr) Configure(to *Attr) error {
	*to = *a
	return nil
}

// Configurator fills in an Attr.
type Configurator interface {
	Configure(attr *Attr) error
}

// Event is an event by its name, in the language of `pstat stat -e`: Event("page-faults"), Event("cycles:u").
type Event string

// Configure sets the event.
func (e Event) Configure(attr *Attr) error {
	attr.Event = string(e)
	return nil
}

// Events that every machine has a name for; whether it can count them is another thing.
const (
	CPUCycles             = Event("cycles")
	Instructions          = Event("instructions")
	CacheReferences       = Event("cache-references")
	CacheMisses           = Event("cache-misses")
	BranchInstructions    = Event("branches")
	BranchMisses          = Event("branch-misses")
	BusCycles             = Event("bus-cycles")
	StalledCyclesFrontend = Event("stalled-cycles-frontend")
	StalledCyclesBackend  = Event("stalled-cycles-backend")
	RefCPUCycles          = Event("ref-cycles")
	CPUClock              = Event("cpu-clock")
	TaskClock             = Event("task-clock")
	PageFaults            = Event("page-faults")
	ContextSwitches       = Event("context-switches")
	CPUMigrations         = Event("cpu-migrations")
	MinorPageFaults       = Event("minor-faults")
	MajorPageFaults       = Event("major-faults")
	AlignmentFaults       = Event("alignment-faults")
	EmulationFaults       = Event("emulation-faults")
)

// Tracepoint is an event of tracefs: Tracepoint("syscalls", "sys_enter_getpid").
func Tracepoint(category, event string) Event { return Event(category + ":" + event) }

// Group is events that are counted at the same times, or not at all. The zero value is an empty group.
type Group struct {
	Options Options
	attrs   []Attr
	err     error
}

// Add appends events. What is wrong with one is said by Open.
func (g *Group) Add(events ...Configurator) {
	for _, event := range events {
		var attr Attr
		if err := event.Configure(&attr); err != nil && g.err == nil {
			g.err = err
		}
		g.attrs = append(g.attrs, attr)
	}
}

// events is the library's list of them, one group; the caller frees it.
func (g *Group) events() (*C.struct_pstat_events, error) {
	var events *C.struct_pstat_events
	if g.err != nil {
		return nil, g.err
	}
	if code := C.pstat_events_new(&events); code != 0 {
		return nil, errorOf(code, nil)
	}
	for i := range g.attrs {
		if err := g.attrs[i].add(events); err != nil {
			C.pstat_events_free(events)
			return nil, err
		}
	}
	if n := C.pstat_events_count(events); len(g.attrs) > 1 {
		text := newError()
		if code := C.pstat_events_group(events, 0, n, text); code != 0 {
			C.pstat_events_free(events)
			return nil, errorOf(code, text)
		}
	}
	return events, nil
}

func (a *Attr) add(events *C.struct_pstat_events) error {
	index, text := C.pstat_events_count(events), newError()
	var err error
	if a.Event != "" {
		event := C.CString(a.Event)
		defer C.free(unsafe.Pointer(event))
		err = errorOf(C.pstat_events_parse(events, event, text), text)
	} else {
		err = a.addNumbers(events, text)
	}
	if err == nil && a.Filter != "" {
		filter := C.CString(a.Filter)
		defer C.free(unsafe.Pointer(filter))
		err = errorOf(C.pstat_events_set_filter(events, index, filter, text), text)
	}
	return err
}

func (a *Attr) addNumbers(events *C.struct_pstat_events, text *C.struct_pstat_error) error {
	var name *C.char
	if a.Label != "" {
		name = C.CString(a.Label)
		defer C.free(unsafe.Pointer(name))
	}
	config := [3]C.uint64_t{C.uint64_t(a.Config), C.uint64_t(a.Config1), C.uint64_t(a.Config2)}
	exclude := [3]C.int{flag(a.ExcludeUser), flag(a.ExcludeKernel), flag(a.ExcludeHypervisor)}
	return errorOf(C.add_numbers(events, name, C.uint32_t(a.Type), &config[0], &exclude[0], text), text)
}

func flag(on bool) C.int {
	if on {
		return 1
	}
	return 0
}

// Sets are the ready-made sets of events, for AddSet, and what each counts.
func Sets() map[string]string {
	sets := map[string]string{}
	for i := C.size_t(0); ; i++ {
		var help *C.char
		name := C.pstat_set_name(i, &help)
		if name == nil {
			return sets
		}
		sets[C.GoString(name)] = C.GoString(help)
	}
}

// ---- counters ----

// Whose events count: for Open, besides the number of a process or CPU.
const (
	CallingThread = 0
	AllThreads    = -1
	AnyCPU        = -1
)

// Options say what else there is to say of a target, and how it is opened; those of pstat_open(3).
type Options struct {
	Threads       []int  // in place of Open's pid and cpu
	Cgroup        string // of CPUs: only what runs in it
	Inherit       bool   // children and new threads count, too
	Enabled       bool   // counting begins when all are open, else with Enable
	EnableOnExec  bool
	MayMoveThread bool
	MayRaiseLimit bool
	Overflows     bool
	UserRead      bool
}

// target fills in C's options; the numbers that they point to are freed with free.
func (o *Options) target(pid, cpu int) (c C.struct_pstat_open_options, free func(), err error) {
	c = C.struct_pstat_open_options{size: C.sizeof_struct_pstat_open_options,
		inherit: flag(o.Inherit), enabled: flag(o.Enabled), enable_on_exec: flag(o.EnableOnExec),
		may_move_thread: flag(o.MayMoveThread), may_raise_limit: flag(o.MayRaiseLimit), overflows: flag(o.Overflows),
		user_read: flag(o.UserRead)}
	ids := o.Threads
	switch {
	case len(ids) > 0:
		c.target = C.PSTAT_TID
	case pid == AllThreads && cpu == AnyCPU:
		c.target = C.PSTAT_CPUS
	case pid == AllThreads:
		c.target, ids = C.PSTAT_CPUS, []int{cpu}
	case cpu != AnyCPU:
		return c, nil, &Error{syscall.EINVAL, "a thread or process is counted on any CPU, a CPU for all threads"}
	case pid != CallingThread:
		c.target, ids = C.PSTAT_PID, []int{pid}
	}
	if len(ids) > 0 {
		c.n_ids = C.size_t(len(ids))
		c.ids = (*C.int)(C.calloc(c.n_ids, C.sizeof_int))
		for i, id := range ids {
			unsafe.Slice((*C.int)(unsafe.Pointer(c.ids)), len(ids))[i] = C.int(id)
		}
	}
	if o.Cgroup != "" {
		c.cgroup = C.CString(o.Cgroup)
	}
	held := c
	return c, func() {
		C.free(unsafe.Pointer(held.ids))
		C.free(unsafe.Pointer(held.cgroup))
	}, nil
}

// Counters are events that are open. Close ends them.
type Counters struct {
	handle   *C.struct_pstat_counters
	readings *C.struct_pstat_readings // of ReadGroupCount; made once
	before   *C.struct_pstat_readings // of MeasureGroup
	labels   []string
}

// Open opens one event: of a process with all its threads (pid, AnyCPU), of the calling thread (CallingThread, AnyCPU),
// of a CPU (AllThreads, cpu), or of every CPU (AllThreads, AnyCPU).
func Open(event Configurator, pid, cpu int, options *Options) (*Counters, error) {
	var g Group
	g.Add(event)
	if options != nil {
		g.Options = *options
	}
	return g.Open(pid, cpu)
}

// Open opens the group; pid and cpu are those of the function Open.
func (g *Group) Open(pid, cpu int) (*Counters, error) {
	events, err := g.events()
	if err != nil {
		return nil, err
	}
	defer C.pstat_events_free(events)
	options, free, err := g.Options.target(pid, cpu)
	if err != nil {
		return nil, err
	}
	defer free()
	c, text := &Counters{labels: g.labels(int(C.pstat_events_count(events)))}, newError()
	if code := C.pstat_open(&c.handle, events, &options, text); code != 0 {
		return nil, errorOf(code, text)
	}
	if err := c.makeReadings(); err != nil {
		C.pstat_close(c.handle)
		return nil, err
	}
	return c, nil
}

// labels are those that were given, where each Attr became one event.
func (g *Group) labels(n int) []string {
	labels := make([]string, n)
	for i := range g.attrs {
		if n == len(g.attrs) {
			labels[i] = g.attrs[i].Label
		}
	}
	return labels
}

func (c *Counters) makeReadings() error {
	if code := C.pstat_readings_new(&c.readings, c.handle); code != 0 {
		return errorOf(code, nil)
	}
	if code := C.pstat_readings_new(&c.before, c.handle); code != 0 {
		C.pstat_readings_free(c.readings)
		return errorOf(code, nil)
	}
	return nil
}

// Close closes the descriptors. It always returns nil, and may be called again.
func (c *Counters) Close() error {
	C.pstat_readings_free(c.readings)
	C.pstat_readings_free(c.before)
	C.pstat_close(c.handle)
	c.readings, c.before, c.handle = nil, nil, nil
	return nil
}

// closed is what each call of closed counters returns.
func (c *Counters) closed() error {
	if c.handle == nil {
		return &Error{syscall.EBADF, "the counters are closed"}
	}
	return nil
}

// do makes a call of the library on counters that are open.
func (c *Counters) do(call func() C.int) error {
	if err := c.closed(); err != nil {
		return err
	}
	return errorOf(call(), nil)
}

// Enable begins counting.
func (c *Counters) Enable() error { return c.do(func() C.int { return C.pstat_enable(c.handle) }) }

// Disable ends counting.
func (c *Counters) Disable() error { return c.do(func() C.int { return C.pstat_disable(c.handle) }) }

// Reset lets counts begin at 0 again, times too.
func (c *Counters) Reset() error { return c.do(func() C.int { return C.pstat_reset(c.handle) }) }

// SetPeriod sets the period, or the frequency, of the event with that index.
func (c *Counters) SetPeriod(index int, period uint64) error {
	return c.do(func() C.int { return C.pstat_set_period(c.handle, C.size_t(index), C.uint64_t(period)) })
}

// SetBPF lets a BPF program, by its descriptor, run at each overflow, or at each hit of a tracepoint.
func (c *Counters) SetBPF(index, program int) error {
	return c.do(func() C.int { return C.pstat_attach_bpf(c.handle, C.size_t(index), C.int(program)) })
}

// BPFPrograms are the kernel's ids of the BPF programs that run at a tracepoint.
func (c *Counters) BPFPrograms(index int) ([]uint32, error) {
	if err := c.closed(); err != nil {
		return nil, err
	}
	n := C.pstat_bpf_programs(c.handle, C.size_t(index), nil, 0)
	if n <= 0 {
		return nil, errorOf(n, nil)
	}
	ids := make([]uint32, n)
	n = C.pstat_bpf_programs(c.handle, C.size_t(index), (*C.uint32_t)(&ids[0]), C.size_t(len(ids)))
	if n < 0 {
		return nil, errorOf(n, nil)
	}
	if int(n) < len(ids) { // one has gone meanwhile
		ids = ids[:n]
	}
	return ids, nil
}

// Refresh enables one event of a sampler for n more samples, after which the kernel disables it.
func (c *Counters) Refresh(index, n int) error {
	return c.do(func() C.int { return C.pstat_refresh(c.handle, C.size_t(index), C.int(n)) })
}

// SetFilter sets the filter of a tracepoint.
func (c *Counters) SetFilter(index int, filter string) error {
	if err := c.closed(); err != nil {
		return err
	}
	text, words := newError(), C.CString(filter)
	defer C.free(unsafe.Pointer(words))
	return errorOf(C.pstat_set_filter(c.handle, C.size_t(index), words, text), text)
}

// FDs are an event's descriptors, which stay the counters' own.
func (c *Counters) FDs(index int) ([]int, error) {
	if err := c.closed(); err != nil {
		return nil, err
	}
	n := C.pstat_descriptors(c.handle, C.size_t(index), nil, 0)
	if n <= 0 {
		return nil, errorOf(n, nil)
	}
	found := make([]C.int, n)
	C.pstat_descriptors(c.handle, C.size_t(index), &found[0], C.size_t(n))
	fds := make([]int, n)
	for i := range fds {
		fds[i] = int(found[i])
	}
	return fds, nil
}

// Notes say what was done in another way than it was asked for.
func (c *Counters) Notes() []string {
	var notes []string
	for i := C.size_t(0); c.handle != nil; i++ {
		note := C.pstat_counters_note(c.handle, i)
		if note == nil {
			break
		}
		notes = append(notes, C.GoString(note))
	}
	return notes
}

// UserRead is the raw value of one event of the calling thread, without a system call where that can be had. It needs
// Options.UserRead.
func (c *Counters) UserRead(index int) (uint64, error) {
	var value C.uint64_t
	if c.handle == nil {
		return 0, c.closed()
	}
	if code := C.pstat_user_read(c.handle, C.size_t(index), &value); code < 0 {
		return 0, errorOf(code, nil)
	}
	return uint64(value), nil
}

// ---- counts ----

// State says how far a count can be trusted.
type State int

// Counted: the whole time. Scaled: a part of it, Count.Scaled is extrapolated. LowerBound: a part, and nothing tells
// how big a part. NotCounted: it never ran. NotSupported: it could not be opened. ReadFailed: Count.Errno says why.
const (
	Counted      = State(C.PSTAT_COUNTED)
	Scaled       = State(C.PSTAT_SCALED)
	LowerBound   = State(C.PSTAT_LOWER_BOUND)
	NotCounted   = State(C.PSTAT_NOT_COUNTED)
	NotSupported = State(C.PSTAT_NOT_SUPPORTED)
	ReadFailed   = State(C.PSTAT_READ_FAILED)
)

func (s State) String() string { return C.GoString(C.pstat_state_name(uint32(s))) }

// HasValue is false where there is no value, and 0 would be taken for one.
func (s State) HasValue() bool { return s <= LowerBound }

// Count is what one event counted.
type Count struct {
	Label            string
	Value            float64 // Scaled in its unit
	Unit             string
	Raw, Scaled      uint64
	Enabled, Running time.Duration // of all CPUs and threads together
	State            State
	Errno            syscall.Errno
	Reason, Remedy   string // "": there is none
}

// Counts are those of all events, in their order.
type Counts []Count

// Of is the count of that label; nil: there is none.
func (c Counts) Of(label string) *Count {
	for i := range c {
		if c[i].Label == label {
			return &c[i]
		}
	}
	return nil
}

func countOf(r *C.struct_pstat_reading, label string) Count {
	if label == "" {
		label = C.GoString(r.name)
	}
	return Count{Label: label, Value: float64(r.value), Unit: C.GoString(r.unit), Raw: uint64(r.raw), Scaled: uint64(r.scaled),
		Enabled: time.Duration(r.enabled_ns), Running: time.Duration(r.running_ns), State: State(r.state),
		Errno: syscall.Errno(r.error), Reason: C.GoString(r.reason), Remedy: C.GoString(r.remedy)}
}

func countsOf(readings *C.struct_pstat_readings, labels []string) Counts {
	counts := make(Counts, C.pstat_readings_count(readings))
	for i := range counts {
		label := ""
		if i < len(labels) {
			label = labels[i]
		}
		counts[i] = countOf(C.pstat_reading_at(readings, C.size_t(i)), label)
	}
	return counts
}

// ReadGroupCount reads all counters, each group with one system call.
func (c *Counters) ReadGroupCount() (Counts, error) {
	if err := c.do(func() C.int { return C.pstat_read(c.handle, c.readings) }); err != nil {
		return nil, err
	}
	return countsOf(c.readings, c.labels), nil
}

// ReadCount is the first event's count.
func (c *Counters) ReadCount() (Count, error) {
	counts, err := c.ReadGroupCount()
	if err != nil || len(counts) == 0 {
		return Count{}, err
	}
	return counts[0], nil
}

// ReadRaw reads all counters into raw, as far as it goes, and makes nothing new.
func (c *Counters) ReadRaw(raw []uint64) error {
	if c.handle == nil {
		return c.closed()
	}
	if code := C.pstat_read(c.handle, c.readings); code < 0 {
		return errorOf(code, nil)
	}
	for i := range raw {
		if reading := C.pstat_reading_at(c.readings, C.size_t(i)); reading != nil {
			raw[i] = uint64(reading.raw)
		}
	}
	return nil
}

// MeasureGroup counts what happens in f, with reasons for what was not counted. The goroutine stays on its thread.
func (c *Counters) MeasureGroup(f func()) (Counts, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := c.do(func() C.int { return C.pstat_read(c.handle, c.before) }); err != nil {
		return nil, err
	}
	if err := c.Enable(); err != nil {
		return nil, err
	}
	stopped := false
	defer func() { // f may panic
		if !stopped {
			C.pstat_disable(c.handle)
		}
	}()
	f()
	stopped = true
	for _, call := range []func() C.int{
		func() C.int { return C.pstat_disable(c.handle) },
		func() C.int { return C.pstat_read(c.handle, c.readings) },
		func() C.int { return C.pstat_readings_subtract(c.readings, c.before) },
		func() C.int { return C.pstat_explain(c.handle, c.readings) },
	} {
		if err := c.do(call); err != nil {
			return nil, err
		}
	}
	return countsOf(c.readings, c.labels), nil
}

// Measure is MeasureGroup of the first event.
func (c *Counters) Measure(f func()) (Count, error) {
	counts, err := c.MeasureGroup(f)
	if err != nil || len(counts) == 0 {
		return Count{}, err
	}
	return counts[0], nil
}

// Measure opens events on the calling thread and counts what it, and what it starts meanwhile, does in f. Other
// goroutines run on other threads, whose work is theirs.
func Measure(events string, f func()) (Counts, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	counters, err := Open(Event(events), CallingThread, AnyCPU, &Options{Inherit: true})
	if err != nil {
		return nil, err
	}
	defer counters.Close()
	return counters.MeasureGroup(f)
}
