// SPDX-License-Identifier: MIT

package pstat

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

const (
	page   = 4096
	many   = 4096       // pages
	faults = many / 512 // so many at least: a huge page has 512

	doNotMakeHuge = 15 // MADV_NOHUGEPAGE
)

// mapped is new memory, which no page fault has made yet, and of which each page has its own.
func mapped(t testing.TB, pages int) []byte {
	memory, err := syscall.Mmap(-1, 0, pages*page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(memory) })
	return memory
}

func touch(memory []byte) {
	for i := 0; i < len(memory); i += page {
		memory[i] = 1
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func onThisThread(t testing.TB) {
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
}

func TestMeasure(t *testing.T) {
	memory := mapped(t, many)
	counts, err := Measure("page-faults,task-clock", func() { touch(memory) })
	must(t, err)
	c := counts[0]
	if c.State != Counted || c.Raw < faults || c.Value != float64(c.Raw) || c.Enabled != c.Running || c.Running <= 0 {
		t.Errorf("%+v", c)
	}
	if clock := counts.Of(counts[1].Label); clock.Unit != "msec" || clock.Value <= 0 || clock.State.String() != "counted" {
		t.Errorf("%+v", clock)
	}
	if counts.Of("nothing") != nil {
		t.Error("a count that is not there")
	}
}

func TestGroup(t *testing.T) {
	onThisThread(t)
	var g Group
	g.Add(&Attr{Label: "all", Event: "page-faults"}, MinorPageFaults,
		&Attr{Label: "major", Type: 1, Config: 6, ExcludeKernel: true, ExcludeHypervisor: true})
	c, err := g.Open(CallingThread, AnyCPU)
	must(t, err)
	defer c.Close()
	memory := mapped(t, many)
	counts, err := c.MeasureGroup(func() { touch(memory) })
	must(t, err)
	if counts[0].Label != "all" || counts[2].Label != "major" || counts[0].Raw < faults {
		t.Errorf("%+v", counts)
	}
	if counts[0].Enabled != counts[1].Enabled || counts[0].Running != counts[2].Running {
		t.Errorf("not at the same times: %+v", counts)
	}
	var raw [3]uint64
	must(t, c.Reset())
	must(t, c.ReadRaw(raw[:]))
	if raw != [3]uint64{} {
		t.Errorf("after a reset: %v", raw)
	}
	if fds, err := c.FDs(1); err != nil || len(fds) != 1 {
		t.Error(fds, err)
	}
}

func TestRepeatedMeasurementsAreApart(t *testing.T) {
	onThisThread(t)
	c, err := Open(PageFaults, CallingThread, AnyCPU, nil)
	must(t, err)
	defer c.Close()
	memory := mapped(t, many)
	for i, f := range []func(){func() { touch(memory) }, func() {}} {
		count, err := c.Measure(f)
		must(t, err)
		if (count.Raw >= faults) != (i == 0) {
			t.Errorf("%d: %+v", i, count)
		}
	}
}

func TestPanicEndsCounting(t *testing.T) {
	onThisThread(t)
	c, err := Open(PageFaults, CallingThread, AnyCPU, nil)
	must(t, err)
	defer c.Close()
	func() {
		defer func() { recover() }()
		c.Measure(func() { panic("wanted") })
	}()
	before, err := c.ReadCount()
	must(t, err)
	touch(mapped(t, many))
	after, err := c.ReadCount()
	must(t, err)
	if before.Raw != after.Raw {
		t.Errorf("it goes on: %d, %d", before.Raw, after.Raw)
	}
}

func TestErrors(t *testing.T) {
	_, err := Measure("no-such-event", func() { t.Error("it was called") })
	if !errors.Is(err, syscall.ENOENT) || !strings.HasPrefix(err.Error(), "unknown event 'no-such-event'") {
		t.Error(err)
	}
	if _, err := Open(PageFaults, os.Getpid(), 0, nil); !errors.Is(err, syscall.EINVAL) {
		t.Error(err)
	}
	c, err := Open(PageFaults, CallingThread, AnyCPU, nil)
	must(t, err)
	must(t, c.Close())
	must(t, c.Close())
	if err := c.Enable(); !errors.Is(err, syscall.EBADF) {
		t.Error(err)
	}
	if err := c.ReadRaw(nil); !errors.Is(err, syscall.EBADF) {
		t.Error(err)
	}
}

func TestWhatCannotBeCountedSaysWhy(t *testing.T) {
	counts, err := Measure("cycles,page-faults", func() { touch(mapped(t, many)) })
	must(t, err)
	switch c := counts[0]; {
	case c.State == NotSupported && c.Reason == "", c.State.HasValue() && c.Value == 0:
		t.Errorf("%+v", c)
	}
	if counts[1].State != Counted {
		t.Errorf("%+v", counts[1])
	}
}

func TestEnabledOnCPUs(t *testing.T) {
	c, err := Open(CPUClock, AllThreads, AnyCPU, &Options{Enabled: true})
	if errors.Is(err, syscall.EACCES) {
		t.Skip("needs the right to count whole CPUs")
	}
	must(t, err)
	defer c.Close()
	idle, err := Open(CPUClock, AllThreads, AnyCPU, nil)
	must(t, err)
	defer idle.Close()
	for end := time.Now().Add(time.Minute); ; {
		count, err := c.ReadCount()
		must(t, err)
		if count.Raw > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it counts nothing")
		}
	}
	if count, err := idle.ReadCount(); err != nil || count.Raw != 0 {
		t.Error("counted without being enabled:", count, err)
	}
}

func TestUserRead(t *testing.T) {
	onThisThread(t)
	c, err := Open(PageFaults, CallingThread, AnyCPU, &Options{Enabled: true, UserRead: true})
	must(t, err)
	defer c.Close()
	touch(mapped(t, many))
	if value, err := c.UserRead(0); err != nil || value < faults {
		t.Error(value, err)
	}
	if _, err := c.UserRead(1); err == nil {
		t.Error("an event that is not there")
	}
}

// Each page that is touched is a sample with its address.
func TestSampler(t *testing.T) {
	onThisThread(t)
	s, err := Sample(Event("page-faults:u"), CallingThread, AnyCPU,
		SamplingOptions{Period: 1, Fields: FieldIP | FieldAddr | FieldCallchain}, nil)
	must(t, err)
	defer s.Close()
	const n = 50
	memory := mapped(t, n)
	syscall.Madvise(memory, doNotMakeHuge)
	must(t, s.Enable())
	touch(memory)
	must(t, s.Disable())
	first := uint64(uintptr(unsafe.Pointer(&memory[0])))
	seen := map[uint64]bool{}
	for {
		record, err := s.TryRecord()
		must(t, err)
		if record == nil {
			break
		}
		sample, ok := record.(*SampleRecord)
		if !ok || sample.Addr < first || sample.Addr >= first+n*page {
			continue
		}
		seen[sample.Addr/page] = true
		if sample.IP == 0 || len(sample.Callchain) == 0 || sample.Header().Time == 0 || sample.Name() != "SAMPLE" ||
			int(sample.Tid) != syscall.Gettid() || sample.Mode != 2 || sample.Event != 0 {
			t.Errorf("%+v", sample)
		}
	}
	if len(seen) != n || s.Lost() != 0 {
		t.Errorf("%d pages, %d lost", len(seen), s.Lost())
	}
}

// A context that ends is what ReadRecord waits for no longer than.
func TestReadRecordUntilTheContextEnds(t *testing.T) {
	onThisThread(t)
	s, err := Sample(PageFaults, CallingThread, AnyCPU, SamplingOptions{Period: 1}, nil)
	must(t, err)
	defer s.Close()
	ctx, cancel := context.WithCancel(context.Background())
	go cancel()
	if record, err := s.ReadRecord(ctx); record != nil || err != context.Canceled {
		t.Error(record, err)
	}
}

// Names, tasks and the end of another program; it waits until the sampler is open.
func TestReadRecordUntilTheProgramEnds(t *testing.T) {
	command := exec.Command("sh", "-c", "read line; exec true")
	stdin, err := command.StdinPipe()
	must(t, err)
	must(t, command.Start())
	s, err := Sample(Event("page-faults:u"), command.Process.Pid, AnyCPU,
		SamplingOptions{Period: 1, Fields: FieldAddr, Track: TrackNames | TrackTasks | TrackMaps}, &Options{Enabled: true})
	must(t, err)
	defer s.Close()
	must(t, stdin.Close())
	var exec, exit, samples, maps bool
	for {
		record, err := s.ReadRecord(context.Background())
		if err == io.EOF {
			break
		}
		must(t, err)
		switch r := record.(type) {
		case *CommRecord:
			exec = exec || r.Exec && r.Name == "true" && int(r.TaskPid) == command.Process.Pid
		case *TaskRecord:
			exit = exit || r.Name() == "EXIT" && int(r.TaskTid) == command.Process.Pid
		case *SampleRecord:
			samples = samples || r.Addr != 0
		case *MapRecord:
			maps = maps || strings.HasPrefix(r.Path, "/") && r.Length > 0 && !r.Data
		}
	}
	command.Wait()
	if !exec || !exit || !samples || !maps {
		t.Error("exec, exit, samples, maps:", exec, exit, samples, maps)
	}
}

func TestTracepoint(t *testing.T) {
	onThisThread(t)
	c, err := Open(&Attr{Event: "raw_syscalls:sys_enter", Filter: "id == 39"}, CallingThread, AnyCPU, nil)
	if err != nil || runtime.GOARCH != "amd64" {
		t.Skip("needs tracefs that this user may read, and x86-64")
	}
	defer c.Close()
	count, err := c.Measure(func() {
		for i := 0; i < 100; i++ {
			syscall.RawSyscall(syscall.SYS_GETPID, 0, 0, 0)
		}
	})
	must(t, err)
	if count.State != NotSupported && count.Raw != 100 {
		t.Errorf("%+v", count)
	}
	if err := c.SetFilter(0, "no_such_field == 1"); count.State != NotSupported && err == nil {
		t.Error("a field that is not there")
	}
}

func TestDecodedWords(t *testing.T) {
	branch := Branch{1, 2, 1 | 1<<3 | 77<<4 | 5<<20 | 2<<24 | 3<<30}
	if parts := branch.Parts(); parts != (BranchParts{true, false, false, true, 77, 5, 2, 3}) {
		t.Errorf("%+v", parts)
	}
	source := DecodeDataSource(2 | 8<<5 | 4<<19 | 2<<24 | 10<<26 | 3<<33 | 1<<37 | 1<<38 | 2<<40 | 3<<43)
	if source != (DataSource{2, 8, 4, 2, 10, 3, 1, 1, 2, 3}) {
		t.Errorf("%+v", source)
	}
	if x := DecodeTransaction(1<<1 | 1<<5 | 0x42<<32); x != (Transaction{Transaction: true, Conflict: true, AbortCode: 0x42}) {
		t.Errorf("%+v", x)
	}
}

func TestRefresh(t *testing.T) {
	onThisThread(t)
	s, err := Sample(Event("page-faults:u"), CallingThread, AnyCPU, SamplingOptions{Period: 1}, nil)
	must(t, err)
	defer s.Close()
	must(t, s.Refresh(0, 3))
	touch(mapped(t, 5000)) // of huge pages one fault is enough for 512
	samples := 0
	for record, err := s.TryRecord(); record != nil || err != nil; record, err = s.TryRecord() {
		must(t, err)
		if _, ok := record.(*SampleRecord); ok {
			samples++
		}
	}
	if err := s.Refresh(0, 0); samples != 3 || !errors.Is(err, syscall.EINVAL) {
		t.Error(samples, err)
	}
	if _, err := s.BPFPrograms(0); err == nil {
		t.Error("page faults are no tracepoint")
	}
}

func TestTracepointField(t *testing.T) {
	onThisThread(t)
	var g Group
	g.Add(&Attr{Event: "raw_syscalls:sys_enter", Filter: "id == 39"})
	id, err := g.Field(0, "id")
	if err != nil || runtime.GOARCH != "amd64" {
		t.Skip("needs tracefs that this user may read, and x86-64")
	}
	if _, err := g.Field(0, "no_such_field"); !errors.Is(err, syscall.ENOENT) || !strings.Contains(err.Error(), "no_such_field") {
		t.Error(err)
	}
	s, err := g.Sample(CallingThread, AnyCPU, SamplingOptions{Period: 1, Fields: FieldRaw})
	must(t, err)
	defer s.Close()
	if count, err := s.ReadCount(); err != nil || count.State == NotSupported {
		t.Skip("needs the right to use tracepoints")
	}
	must(t, s.Enable())
	for i := 0; i < 10; i++ {
		syscall.RawSyscall(syscall.SYS_GETPID, 0, 0, 0)
	}
	must(t, s.Disable())
	seen := 0
	for record, err := s.TryRecord(); record != nil || err != nil; record, err = s.TryRecord() {
		must(t, err)
		sample, ok := record.(*SampleRecord)
		if !ok {
			continue
		}
		if number, err := id.Number(sample.Raw); err != nil || number != syscall.SYS_GETPID {
			t.Error(number, err)
		}
		if _, err := id.Text(sample.Raw); !errors.Is(err, syscall.EINVAL) || id.IsText {
			t.Error("a number is no text:", err)
		}
		seen++
	}
	if _, err := id.Number(nil); !errors.Is(err, syscall.EBADMSG) || seen < 10 {
		t.Error(seen, err)
	}
	if _, err := s.BPFPrograms(0); err != nil {
		t.Error(err)
	}
}

// A function of Go's, which is in .symtab.
func TestNames(t *testing.T) {
	names, err := NewNames()
	must(t, err)
	defer names.Close()
	at := uint64(reflect.ValueOf(touch).Pointer())
	name, err := names.Of(0, at+1)
	must(t, err)
	if name.Function != "pstat.touch" || name.Offset != 1 || !strings.HasPrefix(name.File, "/") || name.Reason != "" {
		t.Errorf("%+v", name)
	}
	again, err := names.Of(syscall.Getpid(), at)
	if err != nil || again.Function != name.Function || again.FileAddress != name.FileAddress-1 {
		t.Errorf("%+v %v", again, err)
	}
	if nothing, err := names.Of(0, 16); err != nil || nothing.Function != "" || nothing.Reason != "nothing is mapped there" {
		t.Errorf("%+v %v", nothing, err)
	}
	names.Forget(0)
	ended := exec.Command("true")
	must(t, ended.Run())
	if _, err := names.Of(ended.Process.Pid, at); !errors.Is(err, syscall.ESRCH) {
		t.Error(err)
	}
}

func TestSetsAndVersion(t *testing.T) {
	if Sets()["software"] == "" || Version() == "" {
		t.Error(Sets(), Version())
	}
}

func BenchmarkReadRaw(b *testing.B) {
	onThisThread(b)
	c, err := Open(Event("{page-faults,minor-faults}"), CallingThread, AnyCPU, &Options{Enabled: true})
	must(b, err)
	defer c.Close()
	var raw [2]uint64
	for i := 0; i < b.N; i++ {
		must(b, c.ReadRaw(raw[:]))
	}
}

func BenchmarkReadGroupCount(b *testing.B) {
	onThisThread(b)
	c, err := Open(Event("{page-faults,minor-faults}"), CallingThread, AnyCPU, &Options{Enabled: true})
	must(b, err)
	defer c.Close()
	for i := 0; i < b.N; i++ {
		_, err := c.ReadGroupCount()
		must(b, err)
	}
}

func BenchmarkMeasure(b *testing.B) {
	onThisThread(b)
	for i := 0; i < b.N; i++ {
		_, err := Measure("page-faults", func() {})
		must(b, err)
	}
}

func BenchmarkReadRecord(b *testing.B) {
	onThisThread(b)
	s, err := Sample(Event("page-faults:u"), CallingThread, AnyCPU,
		SamplingOptions{Period: 1, Fields: FieldIP | FieldAddr, RingBytes: 1 << 20}, nil)
	must(b, err)
	defer s.Close()
	const pages = 1024
	for n := 0; n < b.N; {
		b.StopTimer()
		memory := mapped(b, pages)
		syscall.Madvise(memory, doNotMakeHuge)
		must(b, s.Enable())
		touch(memory)
		must(b, s.Disable())
		b.StartTimer()
		for {
			record, err := s.TryRecord()
			must(b, err)
			if record == nil {
				break
			}
			n++
		}
	}
}
