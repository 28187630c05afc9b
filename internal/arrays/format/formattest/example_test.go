package formattest_test

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/arrays/format/formattest"
)

func Example() {
	for _, c := range formattest.Leaves()[:3] {
		fmt.Println(c.Format, c.Type)
	}
	// Output:
	// n null
	// b bool
	// c int8
}
