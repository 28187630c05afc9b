package gpubeam

import (
	"context"
	"errors"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
)

// hashName is the name of a column of hashes.
const hashName = "gpubeam hash"

// partition divides the rows of a record by a hash of keys: rows with equal keys are in the same
// part, on every device and in every process. level selects another hash. Without keys all rows are
// one part.
func partition(ctx context.Context, e *gpuframe.Engine, record arrow.Record, keys []expr.Expr, parts, level int) ([]arrow.Record, error) {
	if len(keys) == 0 || parts == 1 {
		return []arrow.Record{record}, nil
	}
	table, err := load(ctx, e, record)
	if err != nil {
		return nil, err
	}
	pieces, err := partitionTable(ctx, table, keys, parts, level)
	return pieces, errors.Join(err, table.Release())
}

func partitionTable(ctx context.Context, table *buffer.Buffer, keys []expr.Expr, parts, level int) (pieces []arrow.Record, err error) {
	hash := expr.Hash(keys...)
	for range level {
		hash = expr.Hash(hash)
	}
	expressions := []expr.Expr{hash.As(hashName)}
	for _, f := range table.Schema().Fields() {
		expressions = append(expressions, expr.Col(f.Name))
	}
	wide, err := expr.Project(ctx, table, expressions)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, wide.Release()) }()
	bounds, err := buffer.FromRecord(table.Manager(), hashBounds(parts))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bounds.Release()) }()
	divided, err := order.Partition(ctx, wide, bounds, []order.Key{{Column: hashName}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, divided.Release()) }()
	rows, err := divided.Rows.Record(ctx)
	if err != nil {
		return nil, err
	}
	ends, err := divided.Offsets.Array(ctx)
	if err != nil {
		return nil, err
	}
	narrow := array.NewRecord(table.Schema(), rows.Columns()[1:], rows.NumRows())
	at := ends.(*array.Uint32).Uint32Values()
	for i := range parts {
		pieces = append(pieces, narrow.NewSlice(int64(at[i]), int64(at[i+1])))
	}
	return pieces, nil
}

// hashBounds returns the hashes that divide all hashes into parts of one size.
func hashBounds(parts int) arrow.Record {
	b := array.NewRecordBuilder(allocator, arrow.NewSchema([]arrow.Field{{Name: hashName, Type: arrow.PrimitiveTypes.Uint64}}, nil))
	defer b.Release()
	step := math.MaxUint64/uint64(parts) + 1
	for i := 1; i < parts; i++ {
		b.Field(0).(*array.Uint64Builder).Append(uint64(i) * step)
	}
	return b.NewRecord()
}

// load copies a record to the device.
func load(ctx context.Context, e *gpuframe.Engine, record arrow.Record) (*buffer.Buffer, error) {
	return buffer.FromRecordWith(ctx, e.Manager(), record, buffer.LoadOptions{})
}
