package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// bench is one run.
type bench struct {
	dev    *device.Device
	mgr    *memory.Manager
	stream *device.Stream
	rows   int
	rounds int
	// match selects sorts, group-bys, joins and functions by their names.
	match  *regexp.Regexp
	rivals rivals
	// copied is the device's copy rate in bytes per second; bytes read and bytes
	// written count.
	copied float64
	// held are the tables of the figures.
	held []*buffer.Buffer
}

func (b *bench) options() kernels.Options {
	return kernels.Options{Stream: b.stream, Manager: b.mgr}
}

var parts = []struct {
	name    string
	measure func(*bench, context.Context) error
}{
	{"large", (*bench).large},
	{"small", (*bench).small},
	{"first", (*bench).first},
	{"curve", (*bench).curve},
	{"sort", (*bench).sortAll},
	{"sort-ablation", (*bench).ablate},
	{"group", (*bench).groupAll},
	{"join", (*bench).joinAll},
	{"join-ablation", (*bench).joinAblation},
	{"functions", (*bench).functionsAll},
	{"windows", (*bench).windowsAll},
}

func run(ctx context.Context) (err error) {
	var b bench
	name := flag.String("device", "cuda:0", "device to measure")
	peers := flag.String("peers", "", "file with the figures of others, as peers.py and peers.cu print them")
	only := flag.String("only", "large,small,first", "parts to run, with commas between them: large, small, first, curve, sort, sort-ablation, group, join, join-ablation, functions, windows")
	flag.IntVar(&b.rows, "rows", 1<<27, "rows of the large inputs")
	flag.IntVar(&b.rounds, "rounds", 11, "rounds, of which the median is taken")
	match := flag.String("match", "", "regular expression for the names of the sorts, group-bys, joins, functions and windows to measure")
	flag.Parse()
	if b.match, err = regexp.Compile(*match); err != nil {
		return fmt.Errorf("-match: %w", err)
	}
	if b.rivals, err = readRivals(*peers); err != nil {
		return err
	}
	if b.dev, err = device.Open(*name); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.dev.Close()) }()
	if b.mgr, err = memory.NewManager(b.dev, memory.Options{}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.mgr.Close()) }()
	b.stream = b.mgr.Stream()
	fmt.Printf("%s: %s\n", b.dev, b.dev.Info().Name)
	for _, part := range parts {
		if !strings.Contains(","+*only+",", ","+part.name+",") {
			continue
		}
		if err := part.measure(&b, ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

func show(heading string, t *table.Table) error {
	fmt.Printf("\n## %s\n\n", heading)
	return t.Print(os.Stdout)
}

// verdict returns the text for a met or a missed bar.
func verdict(met bool) string {
	if met {
		return "OK"
	}
	return "MISSED"
}

func milliseconds(took time.Duration) string { return fmt.Sprintf("%.3f ms", took.Seconds()*1e3) }
func microseconds(took time.Duration) string { return fmt.Sprintf("%.1f µs", took.Seconds()*1e6) }
