package table_test

import (
	"os"

	"github.com/gpuframe/gpuframe/bench/internal/table"
)

func Example() {
	t := table.New("what", "time")
	t.Add("a pair", "0.15 µs")
	t.Add("none")
	t.Print(os.Stdout)
	// Output:
	// | what   | time    |
	// | ---    | ---     |
	// | a pair | 0.15 µs |
	// | none   |         |
}
