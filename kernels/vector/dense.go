package vector

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// Dense are vectors of one length as float32, one after another. Values has Rows × Dim rows and no nulls. Valid, unless it is
// nil, is a column of Rows bools without nulls, which are false for null vectors; their values are read by nobody, but exist.
// Both columns begin at element 0 of their memory, and the host knows their row counts.
type Dense struct {
	Values, Valid *column.Column
	Rows, Dim     int
}

// Release releases both columns.
func (d *Dense) Release() error {
	if d == nil {
		return nil
	}
	err := d.Values.Release()
	if d.Valid != nil && err == nil {
		err = d.Valid.Release()
	}
	return err
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
