package dlpack

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// ExportMatrix hands several columns of one type and length to another library as one
// tensor of two dimensions, rows × columns. Each column is contiguous in it: the
// strides are 1 and the distance of the columns.
//
// If the columns lie in one [memory.Block], in their order, without overlap and at a
// constant distance, which is a whole number of elements, the tensor is a view of
// them. Otherwise, and for booleans, the values are gathered on the device in a new
// allocation of the first column's manager, column by column without gaps. Such a
// tensor has the copy flag and counts against the budget until its deleter runs.
// [Tensor.Copied] reports which case applies.
//
// The columns may have every type that [Export] accepts, except lists. Errors name
// the column at fault as "columns[i]". The rest is as for [Export].
func ExportMatrix(columns []*column.Column, options ...ExportOptions) (*Tensor, error) {
	tensor, err := exportMatrix(columns, options)
	return tensor, during("export matrix", err)
}

func exportMatrix(columns []*column.Column, options []ExportOptions) (*Tensor, error) {
	if !cabi.Available {
		return nil, notInThisBuild()
	}
	o, err := only(options)
	if err != nil {
		return nil, err
	}
	rows, err := withHostRows(o.context(), columns)
	if err != nil {
		return nil, err
	}
	tensor, err := exportRows(rows, &o)
	if releasing := release.All(rows); releasing != nil {
		return nil, also(also(err, releasing), tensor.Release())
	}
	return tensor, err
}

// withHostRows returns references to the columns, cut to their actual row counts.
func withHostRows(ctx context.Context, columns []*column.Column) ([]*column.Column, error) {
	rows := make([]*column.Column, 0, len(columns))
	for i, c := range columns {
		err := c.Check()
		if err == nil {
			c, err = c.WithHostRows(ctx)
		}
		if err != nil {
			return nil, also(faulty(fmt.Sprintf("columns[%d]", i), "%w", err), release.All(rows))
		}
		rows = append(rows, c)
	}
	return rows, nil
}

func exportRows(columns []*column.Column, o *ExportOptions) (*Tensor, error) {
	m, err := matrixOf(o.context(), columns)
	if err != nil {
		return nil, err
	}
	shown, err := m.contents()
	if err != nil {
		return nil, err
	}
	return shown.handOver(o)
}

// matrixColumns are the columns of one matrix.
type matrixColumns struct {
	columns  []elements
	rows     int
	dataType cabi.DataType
	// bytes is the length of one column of the tensor.
	bytes uint64
	// block is the block of one of the columns, or nil.
	block *memory.Block
}

func matrixOf(ctx context.Context, columns []*column.Column) (m matrixColumns, err error) {
	if len(columns) == 0 {
		return m, faulty("columns", "empty, expected at least one column: %w", device.ErrInvalidValue)
	}
	m.columns = make([]elements, len(columns))
	for i, c := range columns {
		if err := m.add(ctx, i, c); err != nil {
			var known *Error
			if errors.As(err, &known) {
				err = known.Err
			}
			return m, faulty(fmt.Sprintf("columns[%d]", i), "%w", err)
		}
	}
	high, bytes := bits.Mul64(uint64(len(columns)), m.bytes)
	if high != 0 || bytes > math.MaxInt {
		return m, faulty("columns", "%d columns of %d bytes exceed the address space: %w", len(columns), m.bytes, device.ErrInvalidValue)
	}
	return m, nil
}

// add checks a column against those before it.
func (m *matrixColumns) add(ctx context.Context, i int, c *column.Column) error {
	e, err := elementsOf(ctx, c)
	if err != nil {
		return err
	}
	if len(e.inner) > 0 {
		return fmt.Errorf("%v: lists are a dimension already: export the column alone: %w", c, ErrUnsupported)
	}
	if i == 0 {
		m.rows, m.dataType = e.count, e.dataType
		m.bytes = uint64(e.count) * uint64(e.dataType.Bits) / 8
	}
	if e.dataType != m.dataType {
		return fmt.Errorf("its type is %v, the first column's type differs: cast it first: %w", c.Type(), ErrUnsupported)
	}
	if e.count != m.rows {
		return fmt.Errorf("it has %d rows, expected the first column's %d: %w", e.count, m.rows, device.ErrInvalidValue)
	}
	for block := range c.Blocks {
		if m.block == nil {
			m.block = block
		}
		if !block.Device().Same(m.block.Device()) {
			return fmt.Errorf("it is on %s, the other columns on %s: copy it first: %w", block.Device(), m.block.Device(), ErrDevice)
		}
	}
	m.columns[i] = e
	return nil
}

// contents returns the contents of the tensor: the columns themselves, or a copy.
func (m *matrixColumns) contents() (shown contents, err error) {
	shown = contents{length: m.rows, inner: []int64{int64(len(m.columns))}, dataType: m.dataType, distance: max(m.rows, 1), home: m.columns[0].column.Manager()}
	if m.rows == 0 {
		if m.block != nil {
			shown.region, err = memory.View[uint8](m.block, 0, 0)
		}
		return shown, err
	}
	if m.dataType == boolType {
		shown.region, err = m.gather(m.expandColumn)
		shown.copied = err == nil
		return shown, err
	}
	values := make([]column.Bytes, len(m.columns))
	for i := range m.columns {
		if values[i], err = m.columns[i].values(); err != nil {
			return shown, faulty(fmt.Sprintf("columns[%d]", i), "%w", err)
		}
	}
	if distance, ok := m.distanceOf(values); ok {
		shown.distance = int(distance / (uint64(m.dataType.Bits) / 8))
		bytes := uint64(len(values)-1)*distance + m.bytes
		shown.region, err = memory.View[uint8](values[0].Block(), values[0].Offset(), int(bytes))
		return shown, err
	}
	shown.region, err = m.gather(func(to column.Bytes, i int) (int, error) { return m.copyColumns(to, values, i) })
	shown.copied = err == nil
	return shown, err
}

// distanceOf returns the distance of the columns in bytes, if a tensor can be a view
// of them.
func (m *matrixColumns) distanceOf(values []column.Bytes) (distance uint64, ok bool) {
	width := uint64(m.dataType.Bits) / 8
	if uint64(values[0].Pointer())%width != 0 {
		return 0, false
	}
	if len(values) == 1 {
		return m.bytes, true
	}
	first, second := values[0], values[1]
	distance = second.Offset() - first.Offset()
	if second.Offset() < first.Offset() || distance < m.bytes || distance%width != 0 {
		return 0, false
	}
	for i, each := range values {
		if each.Block() != first.Block() || each.Offset() != first.Offset()+uint64(i)*distance {
			return 0, false
		}
	}
	return distance, true
}
