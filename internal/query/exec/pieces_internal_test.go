package exec

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/memory"
)

// A table whose join has too many rows is cut into halves until it has not, as one that memory does
// not suffice for.
func TestPiecesOfTooManyRows(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	numbers, err := column.FromSlice(t.Context(), m, make([]int32, 1000), column.SliceOptions{})
	require.NoError(t, err)
	table, err := buffer.New(arrow.NewSchema([]arrow.Field{{Name: "n", Type: numbers.Type()}}, nil), []*column.Column{numbers}, buffer.Rows{Count: 1000})
	require.NoError(t, err)
	require.NoError(t, numbers.Release())
	var p pieces
	p.push(table)
	var worked []int64
	for !p.isEmpty() {
		_, err := p.next(t.Context(), func(piece *buffer.Buffer) (*buffer.Buffer, error) {
			rows, _ := piece.HostRows()
			if rows > 300 {
				return nil, fmt.Errorf("joined: %w", &join.TooManyRowsError{Rows: rows, Limit: 300})
			}
			worked = append(worked, rows)
			return nil, nil
		})
		require.NoError(t, err)
	}
	require.Equal(t, []int64{250, 250, 250, 250}, worked)
}
