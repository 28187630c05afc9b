// Command files measures how fast Parquet files become tables of a device.
//
//	go -C bench run ./files [-device cuda:0] [-rounds 5] [-nested 16] -folder DIR
//
// With -nested N it writes N copies of a file of lists, structs and nulls to the folder, of a million rows, and reads those.
//
// The folder has the files of TPC-H's lineitem, which "go -C bench run ./tpch -sf 10 -parquet -folder DIR"
// writes, or those of other writers with the same columns. Tables are released as soon as they are on the
// device. Rates are those of the bytes of the tables; the fastest of the rounds after the first counts.
package main

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/bench/internal/reading"
	"github.com/gpuframe/gpuframe/bench/internal/session"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/memory"
)

func main() { session.Main("files", run) }

// selection is columns that are read together.
type selection struct {
	name    string
	columns []string
}

var selections = []selection{
	{"decimals", []string{"l_quantity", "l_extendedprice", "l_discount", "l_tax"}},
	{"integers", []string{"l_orderkey", "l_partkey", "l_suppkey", "l_linenumber"}},
	{"dates", []string{"l_shipdate", "l_commitdate", "l_receiptdate"}},
	{"short strings", []string{"l_returnflag", "l_linestatus", "l_shipmode", "l_shipinstruct"}},
	{"comments", []string{"l_comment"}},
	{"all columns", nil},
}

func run(ctx context.Context) error {
	name := session.Device()
	rounds := flag.Int("rounds", 5, "readings after the first one")
	folder := flag.String("folder", "", "folder with lineitem-*.parquet")
	nested := flag.Int("nested", 0, "copies of a file of nested columns, which are written and read instead")
	flag.Parse()
	pattern := "lineitem-*.parquet"
	if *nested > 0 {
		pattern, selections = "nested-*.parquet", nestedSelections
		if err := writeNested(*folder, *nested); err != nil {
			return err
		}
	}
	files, err := source.Files{}.Parquet([]string{filepath.Join(*folder, pattern)})
	if err != nil {
		return err
	}
	return session.Run(*name, func(dev *device.Device, m *memory.Manager) error {
		fmt.Printf("%s: %s\n", dev, dev.Info().Name)
		for _, s := range selections {
			best, err := reading.Best(ctx, m, *rounds, s.columns, func() (source.Source, error) { return files, nil })
			if err != nil {
				return err
			}
			fmt.Printf("%-16s %4d tables %9s in the files %9s %8.1f ms %6.1f GB/s %8.1f ms of processors, first table after %.1f ms\n", s.name, best.Tables, humanize.IBytes(uint64(best.File)),
				humanize.IBytes(uint64(best.Bytes)), best.Took.Seconds()*1e3, float64(best.Bytes)/best.Took.Seconds()/1e9, best.Processors.Seconds()*1e3, best.First.Seconds()*1e3)
		}
		return nil
	})
}
