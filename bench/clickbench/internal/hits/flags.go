package hits

import (
	"flag"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe/internal/testing/clickbench"
)

// Flags are the flags of programs that run the questions.
type Flags struct {
	// Rows is the number of rows, FileRows that of a file, which is a table in device memory.
	Rows, FileRows int
	Rounds         int
	// Parquet is whether each question reads the files.
	Parquet bool
	Device  string
	// Budget limits the memory of questions in bytes, without the table, if it is not 0.
	Budget uint64
	Folder string

	seed   uint64
	chosen string
}

// Register adds the flags to a set.
func (f *Flags) Register(set *flag.FlagSet) {
	set.IntVar(&f.Rows, "rows", 1_000_000, "rows of hits")
	set.IntVar(&f.FileRows, "file-rows", 25_000_000, "rows of a Parquet file, and of a table in device memory")
	set.Uint64Var(&f.seed, "seed", 1, "seed of the data")
	set.IntVar(&f.Rounds, "rounds", 3, "times that a question runs after the first; the fastest is printed")
	set.BoolVar(&f.Parquet, "parquet", false, "questions read the files, not a table in memory")
	set.StringVar(&f.Device, "device", "", "device; empty for the first GPU, or the host")
	set.Uint64Var(&f.Budget, "budget", 0, "memory of a question in bytes, without the table; 0 for no limit")
	set.StringVar(&f.Folder, "folder", "", "folder of the Parquet files, which are written if they are not there; empty for a temporary one")
	set.StringVar(&f.chosen, "questions", "", "numbers of the questions, from 0, for example 1,6; empty for all")
}

// Chosen returns the numbers of the questions to run.
func (f *Flags) Chosen() (chosen []int) {
	numbers := strings.Split(f.chosen, ",")
	for n := range clickbench.Questions {
		if f.chosen == "" || slices.Contains(numbers, strconv.Itoa(n)) {
			chosen = append(chosen, n)
		}
	}
	return chosen
}

// Milliseconds returns a duration in milliseconds.
func Milliseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
