package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe/bench/internal/peer"
	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/device"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// bench is one run: a device, and the extent of the measurement.
type bench struct {
	dev *device.Device
	// quick reduces the rounds, for fast and less exact figures.
	quick bool
	// count and sizes are for the random part: the number of allocations, their maximum
	// in MiB, and the maximum of MiB in use.
	count int
	sizes []uint64
	most  uint64
	// limit ends a sequence of requests that takes too long.
	limit time.Duration
	log   string
}

// The parts in the order in which they run.
var parts = []struct {
	name    string
	measure func(*bench) error
}{
	{"pairs", (*bench).pairs},
	{"threads", (*bench).threads},
	{"random", (*bench).random},
	{"streams", (*bench).streams},
	{"replay", (*bench).replay},
	{"segments", (*bench).segments},
}

func run() (err error) {
	var b bench
	name := flag.String("device", "cuda:0", "device to measure")
	only := flag.String("only", "", "parts to run, with commas between them; empty for all of them")
	sizes := flag.String("sizes", "1,64,1024", "random: largest allocations, in MiB; RMM has 1,4,64,256,1024,4096")
	flag.BoolVar(&b.quick, "quick", false, "measure for a short time, and less")
	flag.IntVar(&b.count, "n", 100_000, "random: allocations; RMM has 1000, 10000 and 100000")
	flag.Uint64Var(&b.most, "most", 16_000, "random: MiB that may be in use at a time")
	flag.DurationVar(&b.limit, "limit", 20*time.Second, "random, segments: give a sequence up after that")
	flag.StringVar(&b.log, "log", "", "replay: the log, as RMM and adaptor.Logging write it")
	flag.Parse()
	chosen, err := choose(*only, b.log)
	if err != nil {
		return err
	}
	for _, text := range strings.Split(*sizes, ",") {
		size, err := strconv.ParseUint(text, 10, 32)
		if err != nil || size == 0 {
			return fmt.Errorf("-sizes %s: %q is not a number of MiB", *sizes, text)
		}
		b.sizes = append(b.sizes, size)
	}
	if b.count < 1 || b.most < 1 {
		return errors.New("-n and -most must be at least 1")
	}
	if b.quick {
		b.count = min(b.count, 2000)
	}
	if b.dev, err = device.Open(*name); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.dev.Close()) }()
	if b.onGPU() {
		if err := peer.Open(b.dev.Info().Ordinal); err != nil {
			return err
		}
	}
	return b.measure(chosen)
}

// choose reads -only. The replay runs only with a log.
func choose(only, log string) (map[string]bool, error) {
	chosen := map[string]bool{}
	var names []string
	for _, part := range parts {
		names = append(names, part.name)
		chosen[part.name] = only == "" && (part.name != "replay" || log != "")
	}
	if only == "" {
		return chosen, nil
	}
	for _, name := range strings.Split(only, ",") {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("-only %s: there is no part %q; there are %s", only, name, strings.Join(names, ", "))
		}
		if name == "replay" && log == "" {
			return nil, errors.New("-only replay needs -log FILE")
		}
		chosen[name] = true
	}
	return chosen, nil
}

func (b *bench) measure(chosen map[string]bool) error {
	info := b.dev.Info()
	fmt.Printf("%s: %s, driver CUDA %d.%d, %s\n", b.dev, info.Name, info.DriverVersion/1000, info.DriverVersion%1000/10,
		gibibytes(info.TotalMemory))
	for _, part := range parts {
		if !chosen[part.name] {
			continue
		}
		if err := part.measure(b); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

func (b *bench) onGPU() bool { return b.dev.Kind() == device.CUDA }

// show prints a table under a heading.
func show(heading string, t *table.Table) error {
	fmt.Printf("\n## %s\n\n", heading)
	return t.Print(os.Stdout)
}

// half returns half of the free memory, the size with which RMM primes its pools.
func (b *bench) half() (uint64, error) {
	const page = 2 << 20
	free, _, err := b.dev.MemoryInfo()
	return free / 2 / page * page, err
}
