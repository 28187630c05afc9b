package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"time"

	"github.com/gpuframe/gpuframe/bench/internal/peer"
	"github.com/gpuframe/gpuframe/bench/internal/session"
	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

func main() {
	name := session.Device()
	gigabytes := flag.Float64("large", 1, "size of the large record, in GiB")
	flag.Parse()
	if err := run(*name, uint64(*gigabytes*(1<<30))); err != nil {
		log.Fatal(err)
	}
}

// bench is one run: a device, a manager, and the table that is printed last.
type bench struct {
	dev   *device.Device
	mgr   *memory.Manager
	large uint64
	rows  []row
}

// row is a line of the table. A row without a ratio has no peer; a row without a bar
// has no requirement.
type row struct {
	what, ours, peer, theirs string
	ratio                    float64
	bar                      string
	met                      bool
}

func run(name string, large uint64) error {
	return session.Run(name, func(dev *device.Device, mgr *memory.Manager) error {
		return (&bench{dev: dev, mgr: mgr, large: large}).run()
	})
}

func (b *bench) run() error {
	if b.onGPU() {
		if err := peer.Open(b.dev.Info().Ordinal); err != nil {
			return err
		}
	}
	for _, measure := range []func() error{b.largeRecord, b.smallRecord, b.allocate, b.launch, b.exchange} {
		if err := measure(); err != nil {
			return err
		}
	}
	return b.print()
}

func (b *bench) onGPU() bool { return b.dev.Kind() == device.CUDA }

// atLeast adds a line with a ratio, ours to theirs, that must reach the bar.
func (b *bench) atLeast(what, ours, peer, theirs string, ratio, bar float64) {
	b.rows = append(b.rows, row{what, ours, peer, theirs, ratio, fmt.Sprintf("≥ %g", bar), ratio >= bar})
}

// atMost adds a line with a ratio that must not exceed the bar.
func (b *bench) atMost(what, ours, peer, theirs string, ratio, bar float64) {
	b.rows = append(b.rows, row{what, ours, peer, theirs, ratio, fmt.Sprintf("≤ %g", bar), ratio <= bar})
}

// note adds a line without a bar.
func (b *bench) note(what, ours, peer, theirs string, ratio float64) {
	b.rows = append(b.rows, row{what: what, ours: ours, peer: peer, theirs: theirs, ratio: ratio, met: true})
}

func (b *bench) print() error {
	info := b.dev.Info()
	fmt.Printf("%s: %s, driver CUDA %d.%d, %d multiprocessors\n\n", b.dev, info.Name,
		info.DriverVersion/1000, info.DriverVersion%1000/10, info.Multiprocessors)
	t := table.New("what", "gpuframe", "other side", "its figure", "ratio", "bar")
	for _, r := range b.rows {
		ratio, bar := "", r.bar
		if r.ratio != 0 {
			ratio = fmt.Sprintf("%.2f", r.ratio)
		}
		if !r.met {
			bar += " MISSED"
		}
		t.Add(r.what, r.ours, r.peer, r.theirs, ratio, bar)
	}
	return t.Print(os.Stdout)
}

// median times f n times, after two runs that do not count, and returns the median.
func median(n int, f func() error) (time.Duration, error) {
	times := make([]time.Duration, 0, n)
	for i := range n + 2 {
		start := time.Now()
		if err := f(); err != nil {
			return 0, err
		}
		if i >= 2 {
			times = append(times, time.Since(start))
		}
	}
	return middle(times), nil
}

// medianOf is median for an operation that measures its time itself.
func medianOf(n int, f func() (time.Duration, error)) (time.Duration, error) {
	times := make([]time.Duration, 0, n)
	for i := range n + 1 {
		took, err := f()
		if err != nil {
			return 0, err
		}
		if i >= 1 {
			times = append(times, took)
		}
	}
	return middle(times), nil
}

func middle(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// rate returns gigabytes a second.
func rate(bytes uint64, took time.Duration) float64 {
	return float64(bytes) / took.Seconds() / 1e9
}

func gigabytes(bytes uint64, took time.Duration) string {
	return fmt.Sprintf("%.1f GB/s", rate(bytes, took))
}

func microseconds(took time.Duration) string {
	return fmt.Sprintf("%.2f µs", float64(took.Nanoseconds())/1e3)
}
