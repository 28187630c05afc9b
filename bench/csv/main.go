// Command csv measures how fast a CSV file, or one of JSON lines, becomes tables of a device.
//
//	go -C bench run ./csv [-device cuda:0] [-rounds 5] [-size 10GB] [-seed 1] -file FILE.csv|FILE.jsonl
//
// A file that does not exist is written: numbers, dates and text in eight columns, rows of about 100 bytes, or 190 of JSON. Tables are
// released as soon as they are on the device. Rates are those of the bytes of the file; the fastest of the rounds after
// the first counts. On a GPU it also prints the time of decoding alone, of a text of 128 MiB that is there. "go run . -csv FILE" in bench/tpch/duckdb reads the same file with DuckDB.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/bench/internal/reading"
	"github.com/gpuframe/gpuframe/bench/internal/session"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/memory"
)

func main() { session.Main("csv", run) }

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
	name := session.Device()
	rounds := flag.Int("rounds", 5, "readings after the first one")
	bytes := session.Bytes("size", 10_000_000_000, "length of the file that is written")
	seed := flag.Uint64("seed", 1, "seed of its values")
	file := flag.String("file", "", "the file")
	flag.Parse()
	if _, err := os.Stat(*file); errors.Is(err, fs.ErrNotExist) {
		if err := generate(*file, int64(*bytes), *seed); err != nil {
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
			best, err := reading.Best(ctx, m, *rounds, s.columns, func() (source.Source, error) { return open(*file) })
			if err != nil {
				return err
			}
			fmt.Printf("%-14s %4d tables of %d rows together, %9s in the file, %9s in tables %8.1f ms %6.2f GB/s %8.1f ms of processors, first table after %.1f ms\n", s.name, best.Tables, best.Rows,
				humanize.IBytes(uint64(best.File)), humanize.IBytes(uint64(best.Bytes)), best.Took.Seconds()*1e3, float64(best.File)/best.Took.Seconds()/1e9, best.Processors.Seconds()*1e3, best.First.Seconds()*1e3)
		}
		return nil
	})
}

// open infers the types of a file.
func open(file string) (source.Source, error) {
	if hasObjects(file) {
		return source.Files{}.JSON([]string{file}, source.JSONOptions{})
	}
	return source.Files{}.CSV([]string{file}, source.CSVOptions{})
}
