package nccl_test

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/internal/exchange/nccl"
)

// A program that runs without NCCL, too.
func Example() {
	version, err := nccl.Version()
	if errors.Is(err, nccl.ErrNotAvailable) {
		version = "another way"
	}
	fmt.Println(version != "")
	// Output: true
}
