package column

import (
	"fmt"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// viewBytes is the length of a string view.
const viewBytes = arrow.ViewHeaderSizeBytes

// layoutOf returns the memory layout of a type. The error wraps [ErrInvalid].
func layoutOf(t arrow.DataType) (layout.Layout, error) {
	l, err := layout.Of(t)
	if err != nil {
		return l, fmt.Errorf("%w: %w", err, ErrInvalid)
	}
	return l, nil
}

// sameLayout returns an error unless a type has the expected memory layout. It does
// not compare the types of children; they are compared with the children.
func sameLayout(expected layout.Layout, t arrow.DataType) error {
	l, err := layoutOf(t)
	if err != nil {
		return err
	}
	if !expected.Same(l) {
		return fmt.Errorf("it is %v where %v belongs: %w", t, expected.Storage, ErrInvalid)
	}
	return nil
}

// bitmapBytes returns the length of a bitmap in bytes.
func bitmapBytes(count int) int {
	whole := count / 8
	if count%8 != 0 {
		whole++
	}
	return whole
}

// multiply returns the product of two non-negative numbers, if it is an int.
func multiply(a, b int) (product int, ok bool) {
	high, low := bits.Mul64(uint64(a), uint64(b))
	return int(low), high == 0 && int(low) >= 0
}

// add returns the sum of two non-negative numbers, if it is an int.
func add(a, b int) (sum int, ok bool) { return a + b, a+b >= 0 }
