// Package hostrows computes columns row by row on the host, for every device: the operands are copied to host memory,
// computed by several goroutines, and the result is copied back.
package hostrows

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Append appends the value of a row to a column.
type Append func(row int, to array.Builder)

// Rows returns the function of one goroutine for the rows of the operands. Rows with a null operand are null, and it is
// not called for them. Extension types are their storage.
type Rows func(ctx context.Context, operands []arrow.Array) (Append, error)

// Run computes a column of a type from operands of equal length. The caller releases it.
func Run(ctx context.Context, operands []*column.Column, result arrow.DataType, options kernels.Options, rows Rows) (*column.Column, error) {
	call, err := op.Begin(ctx, options, operands...)
	if err != nil {
		return nil, err
	}
	arrays, err := column.ToArrays(call.Context(), operands, column.DownloadOptions{Stream: call.Stream})
	if err != nil {
		return nil, err
	}
	defer release.Arrow(arrays)
	chunks, err := values(&call, result, storageOf(arrays), rows)
	defer release.Arrow(chunks)
	if err != nil {
		return nil, err
	}
	chunks = append(chunks, nullsOfType(result, operands[0].Len()-arrays[0].Len()))
	columns, err := column.FromArrays(call.Context(), call.Manager, [][]arrow.Array{chunks}, column.UploadOptions{Stream: call.Stream, Tag: call.Tag, Unchecked: true})
	if err != nil || operands[0].RowCount() == nil {
		return first(columns), err
	}
	counted, err := columns[0].WithRows(operands[0].RowCount())
	return release.OnError(counted, err, columns[0].Release())
}

func first(columns []*column.Column) *column.Column {
	if len(columns) == 0 {
		return nil
	}
	return columns[0]
}

// storageOf returns the arrays with the storage in place of those of extension types.
func storageOf(arrays []arrow.Array) []arrow.Array {
	list := slices.Clone(arrays)
	for i := range list {
		for {
			extension, ok := list[i].(array.ExtensionArray)
			if !ok {
				break
			}
			list[i] = extension.Storage()
		}
	}
	return list
}

// nullsOfType is the values of rows behind those that are counted on the device.
func nullsOfType(t arrow.DataType, rows int) arrow.Array {
	b := array.NewBuilder(arrowmemory.DefaultAllocator, t)
	defer b.Release()
	b.AppendNulls(rows)
	return b.NewArray()
}

// values computes the rows, in parts by several goroutines.
func values(call *op.Call, result arrow.DataType, operands []arrow.Array, rows Rows) ([]arrow.Array, error) {
	n := operands[0].Len()
	chunks, failures := make([]arrow.Array, parallel.Parts(n)), make([]error, parallel.Parts(n))
	most := strategy.MaximumOffset(call.Context(), 4)
	err := parallel.Run(call.Context(), n, len(chunks), func(part, begin, end int) {
		b := array.NewBuilder(arrowmemory.DefaultAllocator, result)
		defer b.Release()
		b.Reserve(end - begin)
		add, err := rows(call.Context(), operands)
		for row := begin; row < end && err == nil; row++ {
			if isNull(operands, row) {
				b.AppendNull()
				continue
			}
			add(row, b)
			if row%checkedRows == 0 || row == end-1 {
				err = errors.Join(checkExtent(b, most), call.Context().Err())
			}
		}
		chunks[part], failures[part] = b.NewArray(), err
	})
	return chunks, errors.Join(append(failures, err)...)
}

// checkedRows is the number of rows after which the bytes of a result are compared with what offsets reach.
const checkedRows = 64

// checkExtent refuses more bytes than the offsets of 32 bits of a result reach, also in lists and structs.
func checkExtent(b array.Builder, most int64) error {
	bytes := 0
	switch b := b.(type) {
	case *array.ListBuilder:
		return checkExtent(b.ValueBuilder(), most)
	case *array.StructBuilder:
		for field := range b.NumField() {
			if err := checkExtent(b.FieldBuilder(field), most); err != nil {
				return err
			}
		}
	case *array.StringBuilder:
		bytes = b.DataLen()
	case *array.BinaryBuilder:
		if b.Type().ID() == arrow.BINARY {
			bytes = b.DataLen()
		}
	}
	if int64(bytes) > most {
		return fmt.Errorf("strings of %d bytes, their offsets reach to %d: use a column with large offsets: %w", bytes, most, memory.ErrOverflow)
	}
	return nil
}

func isNull(operands []arrow.Array, row int) bool {
	for _, a := range operands {
		if a.IsNull(row) {
			return true
		}
	}
	return false
}
