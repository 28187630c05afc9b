//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// copyTable copies a table into memory of a manager. Copies within a device and between
// two GPUs run in stream order without waiting. Copies between the host and a GPU go
// through staging memory. The caller releases the copy.
func copyTable(b *buffer.Buffer, m *memory.Manager) (*buffer.Buffer, error) {
	ctx := context.Background()
	dev := b.Device()
	if dev == nil || dev.Kind() != m.Device().Kind() {
		record, err := b.Record(ctx)
		if err != nil {
			return nil, err
		}
		defer record.Release()
		return buffer.FromRecord(m, record)
	}
	columns, err := columnsOf(b)
	defer releaseColumns(columns)
	if err != nil {
		return nil, err
	}
	rows, err := b.NumRows(ctx) // known already if there are columns
	if err != nil {
		return nil, err
	}
	copied, err := copyColumnsTo(ctx, columns, m)
	defer releaseColumns(copied)
	if err != nil {
		return nil, err
	}
	return buffer.New(b.Schema(), copied, buffer.Rows{Count: rows, Manager: m})
}

// copyColumn is copyTable for a column.
func copyColumn(c *column.Column, m *memory.Manager) (*column.Column, error) {
	ctx := context.Background()
	dev := c.Device()
	if dev == nil || dev.Kind() != m.Device().Kind() {
		values, err := c.Array(ctx)
		if err != nil {
			return nil, err
		}
		defer values.Release()
		return column.FromArray(ctx, m, values, column.UploadOptions{Tag: copyTag})
	}
	copied, err := copyColumnsTo(ctx, []*column.Column{c}, m)
	if err != nil {
		return nil, err
	}
	return copied[0], nil
}

const copyTag = "copy"

// copyColumnsTo copies columns of one device into one block on a device of the same kind.
// Elements outside a slice are not copied.
func copyColumnsTo(ctx context.Context, columns []*column.Column, m *memory.Manager) (copied []*column.Column, err error) {
	var p copyPlan
	nodes := make([]*copyNode, len(columns))
	for i, c := range columns {
		shown, err := compacted(ctx, c, m)
		if err != nil {
			return nil, err
		}
		defer shown.Release()
		nodes[i] = p.add(shown, 0, shown.Len())
	}
	regions, err := p.run(m)
	if err != nil {
		return nil, err
	}
	defer regions.release()
	for _, node := range nodes {
		c, err := node.column(regions, m)
		if err != nil {
			releaseColumns(copied)
			return nil, err
		}
		copied = append(copied, c)
	}
	return copied, nil
}

// compacted returns the column with a new reference, or a copy on its device if a slice
// of strings or lists hides data. Only the offsets, which are on the device, show the
// extent of that data.
func compacted(ctx context.Context, c *column.Column, m *memory.Manager) (*column.Column, error) {
	if !hidesData(c.Data()) {
		return c, c.Retain()
	}
	if c.Device().Same(m.Device()) {
		return concatenated(ctx, c, kernels.Options{Manager: m, Tag: copyTag})
	}
	return concatenated(ctx, c, kernels.Options{Tag: copyTag})
}

func concatenated(ctx context.Context, c *column.Column, options kernels.Options) (*column.Column, error) {
	empty, err := c.Slice(0, 0)
	if err != nil {
		return nil, err
	}
	whole, err := selection.ConcatColumns(ctx, []*column.Column{c, empty}, options)
	return whole, errors.Join(err, empty.Release())
}
