//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #include "native.h"
import "C"

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/dlpack"
)

// exportTable makes a tensor of rows × columns.
func exportTable(h handle, stream int64, flags C.uint32_t) (unsafe.Pointer, error) {
	b, err := wholeTable(h)
	if err != nil {
		return nil, err
	}
	defer b.Release()
	options, err := optionsOf(b.Device(), stream, flags)
	if err != nil {
		return nil, err
	}
	columns, err := columnsOf(b)
	defer releaseColumns(columns)
	if err != nil {
		return nil, err
	}
	alone, err := copyColumns(columns, flags)
	if err != nil {
		return nil, err
	}
	tensor, err := dlpack.ExportMatrix(columns, options)
	if err != nil {
		return nil, err
	}
	if flags&C.EXPORT_NO_COPY != 0 && tensor.Copied() {
		err := fmt.Errorf("copy=False: the columns are not adjacent values of one type; call table.matrix() first: %w", dlpack.ErrUnsupported)
		return nil, errors.Join(err, tensor.Release())
	}
	pointer := tensor.Detach()
	if alone && !options.Legacy {
		C.gpuframe_mark_copied(pointer)
	}
	return pointer, nil
}

// copyColumns replaces columns by copies, as the flags require, and reports whether the
// tensor will contain only copies.
func copyColumns(columns []*column.Column, flags C.uint32_t) (alone bool, err error) {
	targets := columns
	switch {
	case flags&C.EXPORT_TO_HOST != 0:
		alone = true
	case flags&C.EXPORT_COPY != 0 && len(columns) > 0 && columns[0].Type().ID() != arrow.BOOL:
		// A column apart from the others makes gathering of all columns necessary.
		targets, alone = columns[:1], true
	default:
		return false, nil
	}
	for i, c := range targets {
		copied, err := copyFor(c, flags)
		if err != nil {
			return false, fmt.Errorf("column %d: %w", i, err)
		}
		columns[i] = copied
		_ = c.Release() // the table holds it
	}
	return alone, nil
}

// columnsOf returns references to a table's columns, without the capacity beyond the
// rows. It fetches a row count that only the device knows.
func columnsOf(b *buffer.Buffer) (columns []*column.Column, err error) {
	for i := range b.NumColumns() {
		c, err := b.Column(i).WithHostRows(context.Background())
		if err != nil {
			return columns, err
		}
		columns = append(columns, c)
	}
	return columns, nil
}

func releaseColumns(columns []*column.Column) {
	for _, c := range columns {
		_ = c.Release() // a separate reference
	}
}

// gpuframe_table_matrix makes a table with adjacent columns. It shares the memory of
// columns that are adjacent already, and otherwise copies them within their budget.
//
//export gpuframe_table_matrix
func gpuframe_table_matrix(h C.uint64_t, out *C.uint64_t) *C.char {
	return withTable(h, func(b *buffer.Buffer) error {
		columns, err := columnsOf(b)
		defer releaseColumns(columns)
		if err != nil {
			return err
		}
		for i, c := range columns {
			if c.Type().ID() == arrow.BOOL {
				return fmt.Errorf("column %q: a matrix has no boolean columns, which are bits; select columns of one numeric type: %w", b.Schema().Field(i).Name, dlpack.ErrUnsupported)
			}
		}
		matrix, err := sideBySide(b, columns)
		return give(matrix, err, out)
	})
}

func sideBySide(b *buffer.Buffer, columns []*column.Column) (*buffer.Buffer, error) {
	tensor, err := dlpack.ExportMatrix(columns)
	if err != nil {
		return nil, err
	}
	if !tensor.Copied() {
		return b, errors.Join(tensor.Release(), b.Retain())
	}
	moved, err := dlpack.ImportMatrix(b.Manager(), tensor.Detach())
	defer releaseColumns(moved)
	if err != nil {
		return nil, err
	}
	return buffer.New(b.Schema(), moved, buffer.Rows{Count: int64(columns[0].Len()), Manager: b.Manager()})
}
