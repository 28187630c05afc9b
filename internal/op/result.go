package op

import (
	"errors"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/memory"
)

// Result describes a column that an operator makes: of a fixed width or of booleans,
// with as many rows as its input.
type Result struct {
	Type arrow.DataType
	// Length is the capacity, RowCount the number of rows on the device or nil.
	Length   int
	RowCount *column.RowCount
	// Nullable gives the result a bitmap.
	Nullable bool
}

// Like returns a result with the type, the rows and the nullability of a view.
func Like(v View) Result {
	return Result{
		Type: v.Column.Type(), Length: v.Column.Len(), RowCount: v.Column.RowCount(), Nullable: v.Valid.Len() > 0,
	}
}

// Sizes returns the bytes of the bitmap and of the values.
func (r Result) Sizes() [2]uint64 {
	var sizes [2]uint64
	if r.Nullable {
		sizes[0] = BitmapBytes(r.Length)
	}
	if width, ok := column.ElementBytes(r.Type); ok {
		sizes[1] = uint64(r.Length) * uint64(width)
	} else {
		sizes[1] = BitmapBytes(r.Length)
	}
	return sizes
}

// BitmapBytes returns the length of a bitmap that is written in whole words of 64 bits.
func BitmapBytes(rows int) uint64 { return (uint64(rows) + 63) / 64 * 8 }

// Buffers is the memory of a result. Valid is empty if the result is not nullable. Kernels
// write both as a whole.
type Buffers struct{ Values, Valid memory.Slice[uint8] }

// NewColumn allocates a result, has write fill it in, and makes a column of it. If write
// fails the memory is released.
func (c *Call) NewColumn(r Result, write func(Buffers) error) (*column.Column, error) {
	sizes := r.Sizes()
	block, buffers, err := c.Allocate(sizes[:]...)
	if err != nil {
		return nil, err
	}
	err = write(Buffers{Valid: buffers[0], Values: buffers[1]})
	var written *column.Column
	if err == nil {
		data := column.Data{Type: r.Type, Length: r.Length, Rows: r.RowCount, Buffers: buffers}
		if r.Nullable {
			data.NullCount = column.UnknownNullCount
		}
		written, err = column.New(data)
	}
	if releaseErr := block.Release(); releaseErr != nil {
		return nil, errors.Join(err, releaseErr, written.Release())
	}
	return written, err
}

// HostBuffers is the memory of a result on the host.
type HostBuffers struct{ Values, Valid []byte }

// Host returns the memory on the host, with all rows null.
func (b Buffers) Host() (HostBuffers, error) {
	values, valuesErr := b.Values.Host()
	valid, validErr := b.Valid.Host()
	if err := errors.Join(valuesErr, validErr); err != nil {
		return HostBuffers{}, err
	}
	if len(valid) == 0 {
		valid = nil
	}
	clear(valid)
	return HostBuffers{values, valid}, nil
}

// SetValid marks a row as not null.
func (b HostBuffers) SetValid(row int) {
	if b.Valid != nil {
		b.Valid[row/8] |= 1 << (row % 8)
	}
}

// SetTrue makes a row's boolean true.
func (b HostBuffers) SetTrue(row int) { b.Values[row/8] |= 1 << (row % 8) }
