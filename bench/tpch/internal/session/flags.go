package session

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe/bench/tpch/data"
	"github.com/gpuframe/gpuframe/bench/tpch/queries"
)

// DefaultSeed is a seed with which every query has rows in its answer at scale factor 0.01.
const DefaultSeed = 12

// Flags are the flags of programs that run the queries.
type Flags struct {
	Scale  float64
	Seed   uint64
	Rounds int
	// Parquet is whether queries read files.
	Parquet bool

	options Options
	chosen  string
	folder  string
}

// Register adds the flags to a set.
func (f *Flags) Register(set *flag.FlagSet) {
	set.Float64Var(&f.Scale, "sf", 1, "scale factor")
	set.Uint64Var(&f.Seed, "seed", DefaultSeed, "seed of the data")
	set.IntVar(&f.Rounds, "rounds", 3, "times that a query runs after the first; the fastest is printed")
	set.BoolVar(&f.Parquet, "parquet", false, "queries read Parquet files, not tables in memory")
	set.StringVar(&f.folder, "folder", "", "folder of the Parquet files, which are written if they are not there; empty for a temporary one")
	set.BoolVar(&f.options.SQL, "sql", false, "the queries are the statements in SQL, translated at each run, not the calls in Go")
	set.StringVar(&f.chosen, "queries", "", "numbers of the queries, for example 1,6; empty for all")
	set.StringVar(&f.options.Device, "device", "", "device, or several separated by commas; empty for the first GPU, or the host")
	set.BoolVar(&f.options.Spread, "spread", false, "divide tables in memory among the devices; otherwise they are on the first one")
	set.BoolVar(&f.options.Host, "host-tables", false, "tables stay in host memory, from which each query reads its columns")
	set.BoolVar(&f.options.Plain, "plain", false, "tables in host memory are not packed")
	set.Int64Var(&f.options.DivideFrom, "divide-from", 0, "rows from which several devices divide a scan; 0 for the engine's choice")
	set.Uint64Var(&f.options.Budget, "budget", 0, "memory of a query in bytes, without the tables; 0 for no limit")
	set.Int64Var(&f.options.TableRows, "table-rows", DefaultTableRows, "rows of a table in device memory; larger ones are several tables")
}

// Options returns the options of a session. Queries read the files of the folder, if
// Parquet is set.
func (f *Flags) Options(folder string) Options {
	options := f.options
	if f.Parquet {
		options.Folder = folder
	}
	return options
}

// Chosen returns the queries to run.
func (f *Flags) Chosen() []queries.Query {
	if f.chosen == "" {
		return queries.All
	}
	numbers := strings.Split(f.chosen, ",")
	return slices.DeleteFunc(slices.Clone(queries.All), func(q queries.Query) bool {
		return !slices.Contains(numbers, strconv.Itoa(q.Number))
	})
}

// Files makes the generator, and the Parquet files, if they are not in the folder yet. The
// caller calls remove at the end.
func (f *Flags) Files(ctx context.Context) (g *data.Generator, folder string, remove func() error, err error) {
	if g, err = data.New(f.Scale, f.Seed); err != nil {
		return nil, "", nil, err
	}
	remove = func() error { return nil }
	if folder = f.folder; folder == "" {
		if folder, err = os.MkdirTemp("", "tpch"); err != nil {
			return nil, "", nil, err
		}
		remove = func() error { return os.RemoveAll(folder) }
	}
	// The last file to be written marks a folder with all files of the same data.
	mark := filepath.Join(folder, fmt.Sprintf("sf%v-seed%d", f.Scale, f.Seed))
	if _, err := os.Stat(mark); err == nil {
		return g, folder, remove, nil
	}
	if err = g.WriteParquet(ctx, folder); err == nil {
		err = os.WriteFile(mark, nil, 0o644)
	}
	if err != nil {
		_ = remove()
		return nil, "", nil, err
	}
	return g, folder, remove, nil
}

// Milliseconds returns a duration in milliseconds.
func Milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
