//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

import (
	"context"
	"errors"
	"slices"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/memory"
)

// readParquet reads a Parquet file as a query does. The path is that of one file, whatever characters it has.
func readParquet(r reading, m *memory.Manager, path string) (b *buffer.Buffer, err error) {
	opened, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	engine, err := engineOf(m)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	query := engine.ParquetReaderAt(path, opened, size)
	if len(r.Columns) > 0 {
		schema, err := query.Schema(ctx)
		if err != nil {
			return nil, err
		}
		var columns []gpuframe.Key
		for i, name := range r.Columns {
			if !schema.HasField(name) {
				return nil, noColumn(name, schema)
			}
			if !slices.Contains(r.Columns[:i], name) {
				columns = append(columns, gpuframe.Col(name))
			}
		}
		query = query.Select(columns...)
	}
	frame, err := query.Collect(ctx, gpuframe.Tag("read"))
	if err != nil {
		return nil, err
	}
	return frame.Table(), nil
}
