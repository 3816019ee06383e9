// SPDX-License-Identifier: MIT

// The files whose pages a command's page faults are in.
//
//	page_faults COMMAND [ARGUMENTS]
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"sort"

	"pstat"
)

// start starts a command that waits until the function that it returns is called.
func start(words []string) (*exec.Cmd, func()) {
	r, w, err := os.Pipe()
	if err != nil {
		log.Fatal(err)
	}
	command := exec.Command("sh", append([]string{"-c", `read line <&3; exec 3<&- "$@"`, "sh"}, words...)...)
	command.Stdin, command.Stdout, command.Stderr, command.ExtraFiles = os.Stdin, os.Stdout, os.Stderr, []*os.File{r}
	if err := command.Start(); err != nil {
		log.Fatal(err)
	}
	r.Close()
	return command, func() { w.Close() }
}

func main() {
	if len(os.Args) < 2 {
		log.Fatal("which command?")
	}
	command, goOn := start(os.Args[1:])
	sampler, err := pstat.Sample(pstat.Event("page-faults:u"), command.Process.Pid, pstat.AnyCPU, pstat.SamplingOptions{
		Period: 1, Fields: pstat.FieldIP | pstat.FieldAddr, Track: pstat.TrackMaps | pstat.TrackDataMaps,
	}, &pstat.Options{EnableOnExec: true})
	if err != nil {
		log.Fatal(err)
	}
	defer sampler.Close()
	goOn()
	maps, faults := []*pstat.MapRecord{}, map[string]int{}
	for {
		record, err := sampler.ReadRecord(context.Background())
		if err == io.EOF {
			break
		} else if err != nil {
			log.Fatal(err)
		}
		switch r := record.(type) {
		case *pstat.MapRecord:
			maps = append(maps, r)
		case *pstat.SampleRecord:
			faults[fileOf(maps, r.Addr)]++
		}
	}
	command.Wait()
	names := []string{}
	for name := range faults {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool { return faults[names[i]] > faults[names[j]] })
	for _, name := range names {
		fmt.Printf("%6d  %s\n", faults[name], name)
	}
	fmt.Printf("%6d  lost\n", sampler.Lost())
}

// fileOf is the newest map that has an address.
func fileOf(maps []*pstat.MapRecord, addr uint64) string {
	for i := len(maps) - 1; i >= 0; i-- {
		if addr-maps[i].Start < maps[i].Length {
			return maps[i].Path
		}
	}
	return "elsewhere"
}
