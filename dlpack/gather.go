package dlpack

import (
	"fmt"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/bitmap"
	"github.com/gpuframe/gpuframe/memory"
)

// gather makes one allocation for all columns, on the stream of the first one. put
// enqueues the copies of column i, and possibly of some that follow, to their
// positions, and returns the number of columns that it has copied. The result holds a
// reference.
func (m *matrixColumns) gather(put func(to column.Bytes, i int) (int, error)) (column.Bytes, error) {
	stream := m.block.WorkStream()
	all, err := memory.NewSlice[uint8](m.block.Manager(), len(m.columns)*int(m.bytes), memory.AllocateOptions{Stream: stream, Tag: tag})
	if err != nil {
		return column.Bytes{}, faulty("columns", "gather %d columns: %w", len(m.columns), err)
	}
	for i := 0; i < len(m.columns); {
		var done int
		rest, err := all.Slice(i*int(m.bytes), all.Len())
		if err == nil {
			done, err = put(rest, i)
		}
		if err != nil {
			return column.Bytes{}, also(faulty(fmt.Sprintf("columns[%d]", i), "gather: %w", err), all.Release())
		}
		i += done
	}
	return all, nil
}

// expandColumn writes a column of booleans.
func (m *matrixColumns) expandColumn(to column.Bytes, i int) (int, error) {
	bits, stream := m.columns[i].column.Buffer(1), to.Block().Stream()
	if err := bits.Block().OrderBefore(stream); err != nil {
		return 0, err
	}
	return 1, bitmap.Expand(stream, to, bits, m.columns[i].first, m.rows)
}

// copyColumns copies a column, together with the following columns that are adjacent
// in memory as in the tensor.
func (m *matrixColumns) copyColumns(to column.Bytes, values []column.Bytes, i int) (int, error) {
	first, count := values[i], 1
	for i+count < len(values) && values[i+count].Block() == first.Block() &&
		values[i+count].Offset() == first.Offset()+uint64(count)*m.bytes {
		count++
	}
	block, stream := first.Block(), to.Block().Stream()
	if err := block.OrderBefore(stream); err != nil {
		return 0, err
	}
	from, err := memory.View[uint8](block, first.Offset(), count*int(m.bytes))
	if err != nil {
		return 0, err
	}
	if to, err = to.Slice(0, from.Len()); err != nil {
		return 0, err
	}
	return count, to.CopyFrom(stream, from)
}
