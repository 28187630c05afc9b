//go:build linux && cgo && (amd64 || arm64)

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe/gorgoniacu/internal/calls"
)

func main() {
	rounds := flag.Int("rounds", 201, "rounds of each, of which the median counts")
	flag.Parse()
	if err := run(*rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(rounds int) (err error) {
	if rounds < 1 {
		return fmt.Errorf("-rounds %d: there is at least one", rounds)
	}
	work, err := calls.New()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, work.Close()) }()
	fmt.Printf("| call, ns | %s |\n", strings.Join(calls.Ways, " | "))
	fmt.Printf("| --- |%s\n", strings.Repeat(" ---: |", len(calls.Ways)))
	for _, call := range work.Calls {
		medians, err := measure(work, call, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", call.Name, err)
		}
		fmt.Printf("| %s |", call.Name)
		for _, way := range calls.Ways {
			fmt.Printf(" %d |", medians[way].Nanoseconds())
		}
		fmt.Println()
	}
	return nil
}

// measure times rounds of a call through every binding alternately, so that
// disturbances affect all of them, and returns the median time of one call through
// each. It waits for the device between rounds, which is not timed.
func measure(work *calls.Work, call calls.Call, rounds int) (map[string]time.Duration, error) {
	const warmUp = 3
	times := map[string][]time.Duration{}
	for round := range rounds + warmUp {
		for _, way := range calls.Ways {
			var took time.Duration
			timed := func() error {
				once := call.By[way]
				start := time.Now()
				for range call.InRound {
					if err := once(); err != nil {
						return err
					}
				}
				took = time.Since(start)
				return nil
			}
			var err error
			if way == calls.Direct {
				err = work.OnThread(timed)
			} else {
				err = timed()
			}
			if err := errors.Join(err, work.Wait()); err != nil {
				return nil, fmt.Errorf("through %s: %w", way, err)
			}
			if round >= warmUp {
				times[way] = append(times[way], took)
			}
		}
	}
	medians := map[string]time.Duration{}
	for way, all := range times {
		slices.Sort(all)
		medians[way] = all[len(all)/2] / time.Duration(call.InRound)
	}
	return medians, nil
}
