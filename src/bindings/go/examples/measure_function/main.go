// SPDX-License-Identifier: MIT

// Counts one function: what it took, or why that cannot be said here.
//
//	measure_function [EVENTS]
package main

import (
	"fmt"
	"log"
	"os"

	"pstat"
)

func work() uint64 {
	numbers := make([]uint64, 1000000)
	sum := uint64(0)
	for i := range numbers {
		numbers[i] = uint64(i)
		sum += numbers[i]
	}
	return sum
}

func main() {
	events, sum := "{cycles,instructions},page-faults,task-clock", uint64(0)
	if len(os.Args) > 1 {
		events = os.Args[1]
	}
	counts, err := pstat.Measure(events, func() { sum = work() })
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range counts {
		if c.State.HasValue() {
			fmt.Printf("%-16s %v %s\n", c.Label, c.Value, c.Unit)
		} else {
			fmt.Printf("%-16s %s: %s\n", c.Label, c.State, c.Reason)
		}
	}
	cycles, instructions := counts.Of("cycles"), counts.Of("instructions")
	if cycles != nil && instructions != nil && cycles.State.HasValue() && cycles.Value > 0 {
		fmt.Printf("%.2f instructions in a cycle\n", instructions.Value/cycles.Value)
	}
	fmt.Println("sum", sum)
}
