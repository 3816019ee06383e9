// SPDX-License-Identifier: MIT

// Each call of getpid(2) with its time: samples of a tracepoint. Needs the rights to read tracefs, as root has them.
//
//	trace_getpid
package main

import (
	"context"
	"fmt"
	"log"
	"runtime"
	"syscall"
	"time"

	"pstat"
)

const calls = 10

func main() {
	runtime.LockOSThread()
	sampler, err := pstat.Sample(pstat.Tracepoint("syscalls", "sys_enter_getpid"), pstat.CallingThread, pstat.AnyCPU,
		pstat.SamplingOptions{Period: 1, Fields: pstat.FieldRaw}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer sampler.Close()
	count, err := sampler.Measure(func() {
		for i := 0; i < calls; i++ {
			syscall.RawSyscall(syscall.SYS_GETPID, 0, 0, 0)
		}
	})
	if err != nil {
		log.Fatal(err)
	}
	if !count.State.HasValue() {
		log.Fatal(count.Label, ": ", count.Reason)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var first uint64
	for n := 0; n < calls; {
		record, err := sampler.ReadRecord(ctx)
		if err != nil {
			log.Fatal(err)
		}
		if sample, ok := record.(*pstat.SampleRecord); ok {
			if n++; n == 1 {
				first = sample.Time
			}
			fmt.Printf("getpid %d after %v, %d bytes of fields\n", n, time.Duration(sample.Time-first), len(sample.Raw))
		}
	}
}
