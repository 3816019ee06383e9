// SPDX-License-Identifier: MIT

package pstat

// #include <errno.h>
// #include <libpstat.h>
// #include <poll.h>
// #include <stdlib.h>
//
// /* 1: the ring's descriptor is readable; 0: only the other one is. */
// static int wait_for(int ring, int other)
// {
//	struct pollfd fds[] = { { ring, POLLIN, 0 }, { other, POLLIN, 0 } };
//
//	while (poll(fds, 2, -1) < 0)
//		if (errno != EINTR)
//			return -errno;
//	return (fds[0].revents & POLLIN) != 0;
// }
import "C"

import (
	"context"
	"io"
	"os"
	"unsafe"
)

// Fields that samples have besides thread, time and event: the kernel's PERF_SAMPLE_*.
const (
	FieldIP          = 1 << 0
	FieldAddr        = 1 << 3
	FieldRead        = 1 << 4
	FieldCallchain   = 1 << 5
	FieldCPU         = 1 << 7
	FieldPeriod      = 1 << 8
	FieldRaw         = 1 << 10
	FieldBranchStack = 1 << 11
	FieldWeight      = 1 << 14
	FieldDataSource  = 1 << 15
	FieldTransaction = 1 << 17
)

// Records besides samples.
const (
	TrackMaps     = C.PSTAT_TRACK_MAPS
	TrackDataMaps = C.PSTAT_TRACK_DATA_MAPS
	TrackNames    = C.PSTAT_TRACK_NAMES
	TrackTasks    = C.PSTAT_TRACK_TASKS
	TrackSwitches = C.PSTAT_TRACK_SWITCHES
)

// SamplingOptions: a sample after so many (Period), or about so many in a second (Frequency), and what samples have.
type SamplingOptions struct {
	Period, Frequency         uint64
	Fields                    uint64 // Field bits; 0: FieldIP
	Track                     uint32 // Track bits
	Branches                  uint64 // PERF_SAMPLE_BRANCH_* for FieldBranchStack
	MaxStack                  uint32 // frames of a call chain at most; 0: as many as the kernel takes
	RingBytes                 uint64 // of each ring; 0: 256 KiB
	WakeupBytes, WakeupEvents uint32 // when ReadRecord wakes up; both 0: when half of the ring is full
}

// Sampler is events with a ring for each CPU or thread. Its Counters enable, disable and count them.
type Sampler struct {
	Counters
	sampler *C.struct_pstat_sampler
}

// Sample opens the group with rings; pid and cpu are those of the function Open.
func (g *Group) Sample(pid, cpu int, how SamplingOptions) (*Sampler, error) {
	events, err := g.events()
	if err != nil {
		return nil, err
	}
	defer C.pstat_events_free(events)
	target, free, err := g.Options.target(pid, cpu)
	if err != nil {
		return nil, err
	}
	defer free()
	if how.Fields == 0 {
		how.Fields = FieldIP
	}
	// C's memory, as Go's may not point to Go's.
	open := (*C.struct_pstat_open_options)(C.malloc(C.sizeof_struct_pstat_open_options))
	defer C.free(unsafe.Pointer(open))
	*open = target
	options := C.struct_pstat_sampling_options{size: C.sizeof_struct_pstat_sampling_options, open: open,
		period: C.uint64_t(how.Period), frequency: C.uint64_t(how.Frequency), fields: C.uint64_t(how.Fields),
		branches: C.uint64_t(how.Branches), track: C.uint32_t(how.Track), ring_bytes: C.uint64_t(how.RingBytes),
		max_stack:    C.uint32_t(how.MaxStack),
		wakeup_bytes: C.uint32_t(how.WakeupBytes), wakeup_events: C.uint32_t(how.WakeupEvents)}
	s, text := &Sampler{}, newError()
	if code := C.pstat_sampler_open(&s.sampler, events, &options, text); code != 0 {
		return nil, errorOf(code, text)
	}
	s.handle, s.labels = C.pstat_sampler_counters(s.sampler), g.labels(int(C.pstat_events_count(events)))
	if err := s.makeReadings(); err != nil {
		C.pstat_sampler_close(s.sampler)
		return nil, err
	}
	return s, nil
}

// Sample opens one event with rings.
func Sample(event Configurator, pid, cpu int, how SamplingOptions, options *Options) (*Sampler, error) {
	var g Group
	g.Add(event)
	if options != nil {
		g.Options = *options
	}
	return g.Sample(pid, cpu, how)
}

// Close closes rings and descriptors. It always returns nil, and may be called again.
func (s *Sampler) Close() error {
	C.pstat_readings_free(s.readings)
	C.pstat_readings_free(s.before)
	C.pstat_sampler_close(s.sampler)
	s.readings, s.before, s.handle, s.sampler = nil, nil, nil, nil
	return nil
}

// FD is readable when ReadRecord would return at once.
func (s *Sampler) FD() int {
	if s.sampler == nil {
		return -1
	}
	return int(C.pstat_sampler_fd(s.sampler))
}

// Lost is how many records found no room so far, as records that were read said.
func (s *Sampler) Lost() uint64 {
	counts := C.struct_pstat_sampler_counts{size: C.sizeof_struct_pstat_sampler_counts}
	if s.sampler != nil {
		C.pstat_sampler_count(s.sampler, &counts)
	}
	return uint64(counts.lost)
}

// ---- records ----

// RecordHeader is what all records have.
type RecordHeader struct {
	Type     uint32 // PERF_RECORD_*
	Misc     uint16
	Mode     uint16 // enum pstat_mode: 1 kernel, 2 user
	Event    int    // index of its event; -1: not known
	RingCPU  int    // of the ring that it came from; -1: a thread's
	Pid, Tid uint32 // who ran
	Time     uint64 // ns
	CPU      uint32 // with FieldCPU
}

// Header makes every record a Record.
func (h *RecordHeader) Header() *RecordHeader { return h }

// Name is that of the type: "SAMPLE", "MMAP2".
func (h *RecordHeader) Name() string { return C.GoString(C.pstat_record_name(C.uint32_t(h.Type))) }

// Record is one of the types below.
type Record interface {
	Header() *RecordHeader
}

// Branch is one of a branch stack, newest first; Flags as in struct perf_branch_entry, from bit 0: see Parts.
type Branch struct {
	From, To, Flags uint64
}

// SampleRecord has what was asked for; the rest is 0 or nil.
type SampleRecord struct {
	RecordHeader
	IP, Addr, Period   uint64
	Callchain          []uint64 // innermost first, with PERF_CONTEXT_* marks between kernel and user
	Raw                []byte   // a tracepoint's fields: see Group.Field
	Branches           []Branch
	Weight, DataSource uint64 // see DecodeDataSource
	Transaction        uint64 // see DecodeTransaction
}

// MapRecord is MMAP or MMAP2: a mapping.
type MapRecord struct {
	RecordHeader
	Start, Length, FileOffset uint64
	Path                      string
	Data                      bool // not executable
	Protection, Flags         uint32
	Inode                     uint64
	BuildID                   []byte
}

// TaskRecord is FORK or EXIT.
type TaskRecord struct {
	RecordHeader
	TaskPid, TaskTid, ParentPid, ParentTid uint32
}

// CommRecord is a new name of a task.
type CommRecord struct {
	RecordHeader
	TaskPid, TaskTid uint32
	Name             string
	Exec             bool
}

// LostRecord says that so many records found no room, or samples were not taken.
type LostRecord struct {
	RecordHeader
	N uint64
}

// ThrottleRecord is THROTTLE or UNTHROTTLE.
type ThrottleRecord struct {
	RecordHeader
	Throttled bool
}

// SwitchRecord is SWITCH or SWITCH_CPU_WIDE: the task stops running (Out), or begins to.
type SwitchRecord struct {
	RecordHeader
	Out, Preempted     bool
	OtherPid, OtherTid uint32
}

// OtherRecord is any other, as its bytes.
type OtherRecord struct {
	RecordHeader
	Bytes []byte // with the kernel's header
}

// ReadRecord returns the next record, and waits for it. io.EOF: all tasks of the rings have ended, and their records
// have been read. ctx.Err(): the context ended first.
func (s *Sampler) ReadRecord(ctx context.Context) (Record, error) {
	for {
		record, err := s.TryRecord()
		if record != nil || err != nil {
			return record, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch code := C.pstat_sampler_wait(s.sampler, 0); {
		case code == 1:
		case code == -C.ENODATA:
			if record, err := s.TryRecord(); record != nil || err != nil {
				return record, err
			}
			return nil, io.EOF
		case code < 0:
			return nil, errorOf(code, nil)
		default:
			if err := s.waitFor(ctx); err != nil {
				return nil, err
			}
		}
	}
}

// waitFor waits for the ring's descriptor, or for a pipe that is closed when the context ends.
func (s *Sampler) waitFor(ctx context.Context) error {
	other := -1
	if ctx.Done() != nil {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		done := make(chan struct{})
		defer close(done)
		defer r.Close()
		go func() {
			select {
			case <-ctx.Done():
			case <-done:
			}
			w.Close()
		}()
		other = int(r.Fd())
	}
	return errorOf(C.wait_for(C.pstat_sampler_fd(s.sampler), C.int(other)), nil)
}

// TryRecord returns the next record, or nil where none is ready.
func (s *Sampler) TryRecord() (Record, error) {
	if s.sampler == nil {
		return nil, s.closed()
	}
	var record *C.struct_pstat_record
	text := C.struct_pstat_error{size: C.sizeof_struct_pstat_error}
	switch code := C.pstat_sampler_next(s.sampler, &record, &text); {
	case code < 0:
		return nil, errorOf(code, &text)
	case code == 0:
		return nil, nil
	}
	return recordOf(record), nil
}

// recordOf copies a record, which is good until the next one is asked for.
func recordOf(r *C.struct_pstat_record) Record {
	header := RecordHeader{uint32(r.record_type), uint16(r.misc), uint16(r.mode), int(r.event), int(r.ring_cpu), uint32(r.pid),
		uint32(r.tid), uint64(r.time_ns), uint32(r.cpu)}
	body := unsafe.Pointer(&r.body) // a union, which is bytes to Go
	switch r.record_type {
	case C.PSTAT_RECORD_SAMPLE:
		return sampleOf(header, (*C.struct_pstat_sample)(body))
	case C.PSTAT_RECORD_MMAP, C.PSTAT_RECORD_MMAP2:
		m := (*C.struct_pstat_map)(body)
		return &MapRecord{header, uint64(m.start), uint64(m.length), uint64(m.file_offset), C.GoString(m.path), m.data != 0,
			uint32(m.protection), uint32(m.flags), uint64(m.inode),
			C.GoBytes(unsafe.Pointer(&m.build_id[0]), C.int(m.build_id_bytes))}
	case C.PSTAT_RECORD_FORK, C.PSTAT_RECORD_EXIT:
		t := (*C.struct_pstat_task)(body)
		return &TaskRecord{header, uint32(t.pid), uint32(t.tid), uint32(t.parent_pid), uint32(t.parent_tid)}
	case C.PSTAT_RECORD_COMM:
		c := (*C.struct_pstat_comm)(body)
		return &CommRecord{header, uint32(c.pid), uint32(c.tid), C.GoString(c.name), c.exec != 0}
	case C.PSTAT_RECORD_LOST, C.PSTAT_RECORD_LOST_SAMPLES:
		return &LostRecord{header, uint64((*C.struct_pstat_lost)(body).n)}
	case C.PSTAT_RECORD_THROTTLE, C.PSTAT_RECORD_UNTHROTTLE:
		header.Time = uint64((*C.struct_pstat_throttle)(body).time_ns)
		return &ThrottleRecord{header, r.record_type == C.PSTAT_RECORD_THROTTLE}
	case C.PSTAT_RECORD_SWITCH, C.PSTAT_RECORD_SWITCH_CPU_WIDE:
		s := (*C.struct_pstat_switch)(body)
		return &SwitchRecord{header, s.out != 0, s.preempted != 0, uint32(s.other_pid), uint32(s.other_tid)}
	}
	return &OtherRecord{header, C.GoBytes(unsafe.Pointer(r.bytes), C.int(r.n_bytes))}
}

func sampleOf(header RecordHeader, s *C.struct_pstat_sample) *SampleRecord {
	sample := &SampleRecord{RecordHeader: header, IP: uint64(s.ip), Addr: uint64(s.addr), Period: uint64(s.period),
		Weight: uint64(s.weight), DataSource: uint64(s.data_source), Transaction: uint64(s.transaction)}
	if s.n_ips > 0 {
		sample.Callchain = append(sample.Callchain, unsafe.Slice((*uint64)(unsafe.Pointer(s.ips)), int(s.n_ips))...)
	}
	if s.raw_bytes > 0 {
		sample.Raw = C.GoBytes(unsafe.Pointer(s.raw), C.int(s.raw_bytes))
	}
	if s.n_branches > 0 {
		for _, b := range unsafe.Slice(s.branches, int(s.n_branches)) {
			sample.Branches = append(sample.Branches, Branch{uint64(b.from_addr), uint64(b.to_addr), uint64(b.flags)})
		}
	}
	return sample
}
