// SPDX-License-Identifier: MIT

package pstat

// #include <libpstat.h>
// #include <stdlib.h>
//
// /* Go's memory, which C may look at while the call lasts, but not find in a struct. */
// static int field_number(const struct pstat_field *field, const void *raw, uint32_t n, int64_t *value)
// {
//	struct pstat_sample sample = { .raw = raw, .raw_bytes = n };
//
//	return pstat_field_number(field, &sample, value);
// }
// static int field_text(const struct pstat_field *field, const void *raw, uint32_t n, char *text, size_t bytes)
// {
//	struct pstat_sample sample = { .raw = raw, .raw_bytes = n };
//
//	return pstat_field_text(field, &sample, text, bytes);
// }
import "C"

import "unsafe"

// ---- words of bits ----

// BranchParts is what a Branch says besides its addresses. Neither Mispredicted nor Predicted: the unit does not say.
type BranchParts struct {
	Mispredicted, Predicted            bool
	InTransaction, Aborted             bool
	Cycles                             uint32 // since the branch before; 0: not known
	BranchType, Speculation, Privilege uint32 // PERF_BR_*, PERF_BR_SPEC_*, PERF_BR_PRIV_*
}

// Parts takes the branch's flags apart.
func (b *Branch) Parts() BranchParts {
	branch := C.struct_pstat_branch{flags: C.uint64_t(b.Flags)}
	c := C.struct_pstat_branch_parts{size: C.sizeof_struct_pstat_branch_parts}
	C.pstat_branch_decode(&branch, &c)
	return BranchParts{c.mispredicted != 0, c.predicted != 0, c.in_transaction != 0, c.aborted != 0, uint32(c.cycles),
		uint32(c.branch_type), uint32(c.speculation), uint32(c.privilege)}
}

// DataSource is where data came from: bits of the kernel's PERF_MEM_*.
type DataSource struct {
	Operation, Level, Snoop, Lock, TLB            uint32
	LevelNumber, Remote, SnoopMore, Blocked, Hops uint32
}

// DecodeDataSource takes a sample's DataSource apart.
func DecodeDataSource(word uint64) DataSource {
	c := C.struct_pstat_data_source{size: C.sizeof_struct_pstat_data_source}
	C.pstat_data_source_decode(C.uint64_t(word), &c)
	return DataSource{uint32(c.operation), uint32(c.level), uint32(c.snoop), uint32(c.lock), uint32(c.tlb),
		uint32(c.level_number), uint32(c.remote), uint32(c.snoop_more), uint32(c.blocked), uint32(c.hops)}
}

// Transaction is what happened to a transaction.
type Transaction struct {
	Elision, Transaction, Synchronous, Asynchronous, Retry, Conflict, CapacityWrite, CapacityRead bool
	AbortCode                                                                                     uint32
}

// DecodeTransaction takes a sample's Transaction apart.
func DecodeTransaction(word uint64) Transaction {
	c := C.struct_pstat_transaction{size: C.sizeof_struct_pstat_transaction}
	C.pstat_transaction_decode(C.uint64_t(word), &c)
	return Transaction{c.elision != 0, c.transaction != 0, c.synchronous != 0, c.asynchronous != 0, c.retry != 0,
		c.conflict != 0, c.capacity_write != 0, c.capacity_read != 0, uint32(c.abort_code)}
}

// ---- fields of tracepoints ----

// TracepointField is a field of a tracepoint by its name: its value in SampleRecord.Raw, with FieldRaw.
type TracepointField struct {
	field  C.struct_pstat_field
	IsText bool
}

// Field finds a field of the group's event with that index, which is a tracepoint.
func (g *Group) Field(index int, name string) (*TracepointField, error) {
	events, err := g.events()
	if err != nil {
		return nil, err
	}
	defer C.pstat_events_free(events)
	f, text, words := &TracepointField{}, newError(), C.CString(name)
	defer C.free(unsafe.Pointer(words))
	f.field.size = C.sizeof_struct_pstat_field
	if code := C.pstat_events_field(events, C.size_t(index), words, &f.field, text); code != 0 {
		return nil, errorOf(code, text)
	}
	f.IsText = f.field.is_text != 0
	return f, nil
}

// rawOf is C's view of a sample's bytes, of which there may be none.
func rawOf(raw []byte) (unsafe.Pointer, C.uint32_t) {
	if len(raw) == 0 {
		return nil, 0
	}
	return unsafe.Pointer(&raw[0]), C.uint32_t(len(raw))
}

// Number is the value of a field that is a number. syscall.EINVAL: it is none; EBADMSG: raw is too short.
func (f *TracepointField) Number(raw []byte) (int64, error) {
	var value C.int64_t
	bytes, n := rawOf(raw)
	code := C.field_number(&f.field, bytes, n, &value)
	return int64(value), errorOf(code, nil)
}

// Text is the value of a field that is text, as the program had it.
func (f *TracepointField) Text(raw []byte) (string, error) {
	bytes, n := rawOf(raw)
	length := C.field_text(&f.field, bytes, n, nil, 0)
	if length < 0 {
		return "", errorOf(length, nil)
	}
	text := make([]byte, int(length)+1)
	C.field_text(&f.field, bytes, n, (*C.char)(unsafe.Pointer(&text[0])), C.size_t(len(text)))
	return string(text[:length]), nil
}

// ---- names ----

// Name is the function that an address is in. Where there is none, Function is "" and Reason says why.
type Name struct {
	Function    string
	Offset      uint64 // of the address in it
	File        string // that is mapped there; "": none
	FileAddress uint64 // as the file's symbols count, for addr2line
	Reason      string
}

// Names are names of addresses, of this process, of others and of the kernel. What is read stays in memory until Close.
type Names struct {
	handle *C.struct_pstat_names
}

// NewNames knows nothing yet.
func NewNames() (*Names, error) {
	n, text := &Names{}, newError()
	return n, errorOf(C.pstat_names_new(&n.handle, text), text)
}

// Of is the name of an address in a process; 0: in this one.
func (n *Names) Of(pid int, address uint64) (Name, error) {
	c, text := C.struct_pstat_name{size: C.sizeof_struct_pstat_name}, newError()
	if err := errorOf(C.pstat_name_of(n.handle, C.int(pid), C.uint64_t(address), &c, text), text); err != nil {
		return Name{}, err
	}
	return Name{C.GoString(c.function), uint64(c.offset), C.GoString(c.file), uint64(c.file_address), C.GoString(c.reason)}, nil
}

// Forget asks anew about a process, which has called exec, or whose number may have come again.
func (n *Names) Forget(pid int) { C.pstat_names_forget(n.handle, C.int(pid)) }

// Close gives all of it back. It always returns nil, and may be called again.
func (n *Names) Close() error {
	C.pstat_names_free(n.handle)
	n.handle = nil
	return nil
}
