package exec

import (
	"context"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// Exact returns a table with a known row count that is as long as its rows, and keeps no
// more memory than they need, or little memory. A table that is so already is not copied.
// Exact takes over the table.
func Exact(ctx context.Context, table *buffer.Buffer, settings Settings) (*buffer.Buffer, error) {
	if isExact(table, settings.Manager) {
		return table, nil
	}
	if isSmall(table, settings.Manager) {
		view, err := first(ctx, table)
		return release.OnError(view, err, table.Release())
	}
	s := stage{settings: settings}
	exact, err := selection.Compact(ctx, table, s.options())
	return release.OnError(exact, err, table.Release())
}

// exactToMove is [Exact] for a table that moves to another device. Whole tables of other managers,
// such as those of the user, are not copied: their memory does not count for the query.
func exactToMove(ctx context.Context, table *buffer.Buffer, settings Settings) (*buffer.Buffer, error) {
	if isWhole(table) {
		return table, nil
	}
	return Exact(ctx, table, settings)
}

// smallBytes is the memory of a table that is not copied to save a part of it.
const smallBytes = 64 << 10

// isSmall reports whether all memory of a table is little, and a manager's own.
func isSmall(table *buffer.Buffer, m *memory.Manager) bool {
	if table.Manager() != m || table.Bytes() > smallBytes {
		return false
	}
	for i := range table.NumColumns() {
		for block := range table.Column(i).Blocks {
			if block.External() {
				return false
			}
		}
	}
	return true
}

// first returns the rows of a table without a copy.
func first(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error) {
	rows, err := table.NumRows(ctx)
	if err != nil {
		return nil, err
	}
	return table.Slice(0, rows)
}

// isExact reports whether a copy of a table would need about as much memory of a manager as
// the table itself.
func isExact(table *buffer.Buffer, m *memory.Manager) bool {
	return table.Manager() == m && isWhole(table)
}

// isWhole reports whether a copy of a table would need about as much memory as the table itself.
func isWhole(table *buffer.Buffer) bool {
	rows, known := table.HostRows()
	if !known || rows != table.Capacity() {
		return false
	}
	var used uint64
	for i := range table.NumColumns() {
		bytes, ok := exactBytes(table.Column(i))
		if !ok {
			return false
		}
		used += bytes
	}
	// An eighth, and padding, is not worth a copy.
	padding := uint64(512 * table.NumColumns())
	return table.Bytes() <= used+used/8+padding
}

// exactBytes returns the bytes that a column's rows need, unless it is part of a longer column,
// its memory is another library's, or it has children.
func exactBytes(c *column.Column) (bytes uint64, ok bool) {
	l, err := layout.Of(c.Type())
	if err != nil || c.Offset() != 0 || c.NumChildren() > 0 || c.Dictionary() != nil {
		return 0, false
	}
	for block := range c.Blocks {
		if block.External() {
			return 0, false
		}
	}
	rows := uint64(c.Len())
	bitmap := (rows + 7) / 8
	switch l.Kind {
	case layout.Bits:
		return 2 * bitmap, true
	case layout.Fixed:
		return rows*uint64(l.Width) + bitmap, true
	case layout.Binary:
		offsets := (rows + 1) * uint64(l.Width)
		// A part has the text of the whole column, and its offsets.
		if c.Buffer(1).Bytes() > offsets+offsets/8+64 {
			return 0, false
		}
		return offsets + c.Buffer(2).Bytes() + bitmap, true
	}
	return 0, false
}
