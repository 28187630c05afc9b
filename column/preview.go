package column

import (
	"context"
	"fmt"
	"strings"

	"github.com/gpuframe/gpuframe/internal/arrays/arraytext"
)

// Preview returns the column's type and its first values as text.
//
// # Waiting
//
// Preview waits for the work on the column, and for the row count if only the device
// has it. String does not wait, and shows no values.
func (c *Column) Preview(ctx context.Context, rows int) (string, error) {
	total, err := c.NumRows(ctx)
	if err != nil {
		return "", fmt.Errorf("column: preview: %w", err)
	}
	shown := min(max(rows, 0), total)
	part, err := c.Slice(0, shown)
	if err != nil {
		return "", fmt.Errorf("column: preview: %w", err)
	}
	defer part.Release()
	values, err := part.Array(ctx)
	if err != nil {
		return "", fmt.Errorf("column: preview: %w", err)
	}
	defer values.Release()
	listed := make([]string, values.Len(), values.Len()+1)
	for i := range listed {
		listed[i] = arraytext.Value(values, i)
	}
	if shown < total {
		listed = append(listed, "…")
	}
	return fmt.Sprintf("%v: [%s]", c, strings.Join(listed, ", ")), nil
}
