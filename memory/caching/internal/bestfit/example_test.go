package bestfit_test

import (
	"fmt"

	"github.com/gpuframe/gpuframe/memory/caching/internal/bestfit"
)

// The life of one allocation: find a run, split off the rest and put it back, and
// join both again when the allocation is freed.
func Example() {
	var (
		space bestfit.Space
		free  bestfit.Set
	)
	free.Insert(&space, space.Add(0x10000, 8192))

	run := free.Find(&space, 512)
	free.Remove(&space, run)
	rest := space.Split(run, 512)
	free.Insert(&space, rest)
	fmt.Printf("in use: %d bytes at %#x; free: %d bytes in %d run\n",
		run.Bytes, run.Address, free.Bytes(), free.Len())

	free.Remove(&space, rest)
	space.Join(run)
	free.Insert(&space, run)
	fmt.Printf("free: %d bytes in %d run\n", free.Bytes(), free.Len())

	// Output:
	// in use: 512 bytes at 0x10000; free: 7680 bytes in 1 run
	// free: 8192 bytes in 1 run
}
