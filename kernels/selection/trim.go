package selection

import (
	"context"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels"
)

// Compact copies the rows of a table to memory of exactly their size. A table that a
// filter has made on a GPU has the capacity of its input, even if few rows were kept,
// and a slice keeps all memory of its table: release them and keep the compact table.
// Dictionaries, the data of string views and the children of list views and dense
// unions are shared as in [Concat]. The host knows the number of rows of the result.
// The caller releases it.
//
// # Waiting
//
// Compact waits, until the context ends, for a row count on the device and, once per
// level of nesting, for the ends of strings and lists.
func Compact(ctx context.Context, table *buffer.Buffer, options ...kernels.Options) (*buffer.Buffer, error) {
	return operation("compact", options, func(only kernels.Options) (*buffer.Buffer, error) {
		return compactTable(ctx, table, only)
	})
}

// CompactColumn is [Compact] for one column.
func CompactColumn(ctx context.Context, c *column.Column, options ...kernels.Options) (*column.Column, error) {
	return operation("compact", options, func(only kernels.Options) (*column.Column, error) {
		return concatColumns(ctx, []*column.Column{c}, only)
	})
}

func compactTable(ctx context.Context, table *buffer.Buffer, options kernels.Options) (*buffer.Buffer, error) {
	if err := table.Check(); err != nil {
		return nil, err
	}
	if table.NumColumns() == 0 {
		return table, table.Retain()
	}
	call, columns, err := begin(ctx, options, table)
	if err != nil {
		return nil, err
	}
	rows, err := rowsOf(ctx, table, options)
	if err != nil {
		return nil, err
	}
	pieces := make([][]part, len(columns))
	for i, c := range columns {
		p := whole(c)
		p.length = int(rows)
		pieces[i] = []part{p}
	}
	compacted, err := concatAll(ctx, &call, pieces)
	if err != nil {
		return nil, err
	}
	return tableWith(schemaOf(table.Schema(), compacted, false), compacted, buffer.Rows{Count: rows, Manager: call.Manager})
}
