// Command csv measures how fast a CSV file becomes tables of a device.
//
//	go -C bench run ./csv [-device cuda:0] [-rounds 5] [-size 10GB] [-seed 1] -file FILE
//
// A file that does not exist is written: numbers, dates and text in eight columns, rows of about 100 bytes. Tables are
// released as soon as they are on the device. Rates are those of the bytes of the file; the fastest of the rounds after
// the first counts. On a GPU it also prints the time of decoding alone, of a text of 128 MiB that is there. "go run . -csv FILE" in bench/tpch/duckdb reads the same file with DuckDB.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/bench/internal/session"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/processor"
	"github.com/gpuframe/gpuframe/memory"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "csv:", err)
		os.Exit(1)
	}
}

// selection is columns that are read together, or nil for all.
type selection struct {
	name    string
	columns []string
}

var selections = []selection{
	{"integers", []string{"order", "quantity"}},
	{"floats", []string{"price", "discount"}},
	{"dates", []string{"day", "at"}},
	{"text", []string{"city", "comment"}},
	{"all columns", nil},
}

func run(ctx context.Context) error {
	name := flag.String("device", "", "device to measure; without it the first GPU, or the host")
	rounds := flag.Int("rounds", 5, "readings after the first one")
	size := flag.String("size", "10GB", "length of the file that is written")
	seed := flag.Uint64("seed", 1, "seed of its values")
	file := flag.String("file", "", "the file")
	flag.Parse()
	bytes, err := humanize.ParseBytes(*size)
	if err != nil {
		return err
	}
	if _, err := os.Stat(*file); errors.Is(err, fs.ErrNotExist) {
		if err := generate(*file, int64(bytes), *seed); err != nil {
			return err
		}
	}
	return session.Run(*name, func(dev *device.Device, m *memory.Manager) error {
		fmt.Printf("%s: %s\n", dev, dev.Info().Name)
		if dev.Kind() != device.Host {
			if err := measureKernels(ctx, *file, m, *rounds); err != nil {
				return err
			}
		}
		for _, s := range selections {
			var best reading
			for i := range *rounds + 1 {
				r, err := read(ctx, *file, m, s.columns)
				if err != nil {
					return err
				}
				if i == 1 || i > 1 && r.took < best.took {
					best = r
				}
			}
			fmt.Printf("%-14s %4d tables of %d rows together, %9s in the file, %9s in tables %8.1f ms %6.2f GB/s %8.1f ms of processors, first table after %.1f ms\n", s.name, best.tables, best.rows,
				humanize.IBytes(uint64(best.file)), humanize.IBytes(uint64(best.bytes)), best.took.Seconds()*1e3, float64(best.file)/best.took.Seconds()/1e9, best.processors.Seconds()*1e3, best.first.Seconds()*1e3)
		}
		return nil
	})
}

// reading is one reading of all rows.
type reading struct {
	took, processors, first time.Duration
	rows, bytes, file       int64
	tables                  int
}

// read reads a file. The types are inferred each time.
func read(ctx context.Context, file string, m *memory.Manager, columns []string) (r reading, err error) {
	var counters source.Counters
	began, before := time.Now(), processor.Time()
	s, err := source.Files{}.CSV([]string{file}, source.CSVOptions{})
	if err != nil {
		return r, err
	}
	reader, err := s.Open(ctx, m, source.Request{Columns: columns, Counters: &counters})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	for {
		t, err := reader.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return r, err
		}
		if r.tables == 0 {
			r.first = time.Since(began)
		}
		r.tables++
		if err := t.Release(); err != nil {
			return r, err
		}
	}
	err = m.Stream().Synchronize(ctx)
	r.took, r.processors = time.Since(began), processor.Time()-before
	r.rows, r.bytes, r.file = counters.Rows.Load(), counters.Bytes.Load(), counters.FileBytes.Load()
	return r, err
}
