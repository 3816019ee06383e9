// SPDX-License-Identifier: MIT

// Counts what a process does, in intervals; without a pid, this one.
//
//	watch_process [PID [INTERVALS [MILLISECONDS]]]
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	"pstat"
)

func number(i, otherwise int) int {
	if len(os.Args) <= i {
		return otherwise
	}
	n, err := strconv.Atoi(os.Args[i])
	if err != nil {
		log.Fatal(err)
	}
	return n
}

func main() {
	events := pstat.Event("task-clock,context-switches,page-faults,{cycles,instructions}")
	counters, err := pstat.Open(events, number(1, os.Getpid()), pstat.AnyCPU, &pstat.Options{Enabled: true})
	if err != nil {
		log.Fatal(err)
	}
	defer counters.Close()
	for i := 0; i < number(2, 3); i++ {
		if err := counters.Reset(); err != nil {
			log.Fatal(err)
		}
		time.Sleep(time.Duration(number(3, 100)) * time.Millisecond)
		counts, err := counters.ReadGroupCount()
		if err != nil {
			log.Fatal(err)
		}
		line := map[string]*float64{}
		for i, c := range counts {
			line[c.Label] = nil
			if c.State.HasValue() {
				line[c.Label] = &counts[i].Value
			}
		}
		text, err := json.Marshal(line)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(text))
	}
}
