package vector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Dense are vectors of one length as float32. Values has the elements of the first vector, then those of the second one: Rows × Dim
// rows without nulls. Valid is a column of Rows bools without nulls, which are false for null vectors, or nil if there are
// no null vectors. Null vectors have elements too, of any value.
// Values may begin anywhere in its memory, Valid begins with the first bit. The host knows the row counts of both.
type Dense struct {
	Values, Valid *column.Column
	Rows, Dim     int
}

// Release releases both columns.
func (d *Dense) Release() error {
	if d == nil {
		return nil
	}
	return errors.Join(d.Values.Release(), d.Valid.Release())
}

// columns are the columns that exist.
func (d *Dense) columns() []*column.Column {
	if d.Valid == nil {
		return []*column.Column{d.Values}
	}
	return []*column.Column{d.Values, d.Valid}
}

func (d *Dense) check() error {
	switch {
	case d == nil || d.Values == nil:
		return fmt.Errorf("vectors are nil: %w", device.ErrInvalidValue)
	case d.Values.Type().ID() != arrow.FLOAT32:
		return fmt.Errorf("the values are %v, expected float32: %w", d.Values.Type(), device.ErrInvalidValue)
	case d.Rows < 0 || d.Dim < 1 || d.Values.Len() != d.Rows*d.Dim:
		return fmt.Errorf("%d values of %d vectors with %d elements, expected their product and one element or more: %w",
			d.Values.Len(), d.Rows, d.Dim, device.ErrInvalidValue)
	case d.Valid != nil && (d.Valid.Type().ID() != arrow.BOOL || d.Valid.Len() != d.Rows):
		return fmt.Errorf("valid has %d rows of %v, expected %d bools: %w", d.Valid.Len(), d.Valid.Type(), d.Rows, device.ErrInvalidValue)
	}
	return nil
}

// matrix is dense vectors in the form that kernels take: rows × dim values, and a bit for each row, or no bits.
type matrix struct {
	values memory.Slice[float32]
	valid  memory.Slice[uint8]
	rows   int
}

func (d *Dense) matrix() (m matrix, err error) {
	if m.rows = d.Rows; d.Rows == 0 {
		return m, nil
	}
	if m.values, err = column.Elements[float32](d.Values); err == nil && d.Valid != nil {
		m.valid, err = d.Valid.Buffer(1).Slice(0, (d.Rows+7)/8)
	}
	return m, err
}

// hostMatrix is a matrix in memory that the processor reads.
type hostMatrix struct {
	values []float32
	valid  []byte
	dim    int
}

func (m matrix) host(dim int) (h hostMatrix, err error) {
	h.dim = dim
	if h.values, err = m.values.Host(); err == nil {
		h.valid, err = m.valid.Host()
	}
	return h, err
}

func (h *hostMatrix) row(i int) []float32 { return h.values[i*h.dim : (i+1)*h.dim : (i+1)*h.dim] }

func (h *hostMatrix) isValid(i int) bool { return len(h.valid) == 0 || h.valid[i/8]>>(i%8)&1 != 0 }

// DenseOf returns the vectors of a column of lists: those with dim elements. Other lists, null ones and lists with
// null elements are null vectors. Elements become float32, the nearest one, ties to even; integers become the nearest
// float64 first. Lists of float32 of a fixed size without nulls share their memory. The call
// waits for the number of rows, if only the device knows it. The caller releases the vectors.
//
// # Errors
//
// The error wraps [device.ErrNotSupported] for a column of another type.
func DenseOf(ctx context.Context, c *column.Column, dim int, options kernels.Options) (*Dense, error) {
	d, err := denseOf(ctx, c, dim, options)
	if err != nil {
		return nil, fmt.Errorf("vector: vectors of %d elements of %v: %w", dim, c.Type(), err)
	}
	return d, nil
}

func denseOf(ctx context.Context, c *column.Column, dim int, options kernels.Options) (*Dense, error) {
	if dim < 1 {
		return nil, fmt.Errorf("expected 1 or more: %w", device.ErrInvalidValue)
	}
	known, err := c.WithHostRows(ctx)
	if err != nil {
		return nil, err
	}
	d, err := func() (*Dense, error) {
		call, err := op.Begin(ctx, options, known)
		if err != nil {
			return nil, err
		}
		if shared, err := sharedDense(known, dim); shared != nil || err != nil {
			return shared, err
		}
		return copiedDense(&call, known, dim)
	}()
	return release.OnError(d, err, known.Release())
}

// sharedDense returns vectors in the memory of the elements, or nil if they need a copy.
func sharedDense(c *column.Column, dim int) (*Dense, error) {
	list, ok := layout.Storage(c.Type()).(*arrow.FixedSizeListType)
	if !ok || int(list.Len()) != dim || list.Elem().ID() != arrow.FLOAT32 || op.Nullable(c) || op.Nullable(c.Child(0)) || c.Child(0).RowCount() != nil {
		return nil, nil
	}
	values, err := c.Child(0).Slice(c.Offset()*dim, c.Len()*dim)
	if err != nil {
		return nil, err
	}
	return &Dense{Values: values, Rows: c.Len(), Dim: dim}, nil
}

// copiedDense copies the elements.
func copiedDense(call *op.Call, c *column.Column, dim int) (*Dense, error) {
	x, err := listsOf(call, c)
	if err != nil {
		return nil, err
	}
	rows := c.Len()
	high, count := bits.Mul64(uint64(rows), uint64(dim))
	if high != 0 || count > math.MaxInt/8 {
		return nil, fmt.Errorf("%d vectors: %w", rows, memory.ErrOverflow)
	}
	d := &Dense{Rows: rows, Dim: dim}
	block, buffers, err := call.Allocate(4*count, op.BitmapBytes(rows))
	if err != nil {
		return nil, err
	}
	if rows > 0 {
		if call.OnHost() {
			err = denseOnHost(call, buffers, x, rows, dim)
		} else {
			err = denseOnDevice(call, buffers, x, rows, dim)
		}
	}
	if err == nil {
		d.Values, err = newColumn(call, arrow.PrimitiveTypes.Float32, int(count), buffers[0])
	}
	if err == nil {
		d.Valid, err = newColumn(call, arrow.FixedWidthTypes.Boolean, rows, buffers[1])
	}
	if err = errors.Join(err, block.Release()); err != nil {
		return nil, errors.Join(err, d.Release())
	}
	return d, nil
}

func denseOnDevice(call *op.Call, to []memory.Slice[uint8], x lists, rows, dim int) error {
	kernel, err := call.Kernel(&set, "vectors", "dense_vectors")
	if err != nil {
		return err
	}
	l := x.layout()
	return kernel.Launch(call.Stream, kernels.GridFor((rows+63)/64*64, threads), device.Dim3{X: threads}, 0, to[0], to[1], l.asArgument(), uint64(rows), uint64(dim))
}

func denseOnHost(call *op.Call, to []memory.Slice[uint8], x lists, rows, dim int) error {
	h, _, err := x.host()
	values, valuesErr := to[0].Host()
	valid, validErr := to[1].Host()
	if err := errors.Join(err, valuesErr, validErr); err != nil {
		return err
	}
	clear(valid)
	all := op.Elements[float32](values)
	return parallel.Run(call.Context(), rows, parallel.Parts(rows*dim), func(_, from, end int) {
		var scratch []float64
		for row := from; row < end; row++ {
			vector := all[row*dim : (row+1)*dim]
			begin, count, ok := h.span(row)
			switch {
			case !ok || count != dim:
				clear(vector)
				continue
			case h.number == float4:
				copy(vector, op.Elements[float32](h.values)[begin:begin+dim])
			default:
				for i, v := range h.float64s(begin, dim, &scratch) {
					vector[i] = float32(v)
				}
			}
			valid[row/8] |= 1 << (row % 8)
		}
	})
}
