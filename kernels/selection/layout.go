package selection

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// viewBytes is the size of a string view.
const viewBytes = arrow.ViewHeaderSizeBytes

// layoutOf returns the memory layout of a type. The error wraps column.ErrInvalid.
func layoutOf(t arrow.DataType) (layout.Layout, error) {
	l, err := layout.Of(t)
	if err != nil {
		return l, fmt.Errorf("%w: %w", err, column.ErrInvalid)
	}
	return l, nil
}

// bitmapBytes returns the size in bytes of a bitmap of count bits.
func bitmapBytes(count int) uint64 { return (uint64(count) + 7) / 8 }
