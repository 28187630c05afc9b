package exec

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

const (
	// divisions is the number of parts that rows are divided into if memory does not
	// suffice for all of them. Parts that are still too large are divided again.
	divisions = 8
	// sampled is the number of rows from which bounds are chosen, about as many of each
	// of sampledTables tables at most: the sample of a table needs separate blocks.
	sampled       = 64 * divisions
	sampledTables = 16
	// leastRows is the number of rows below which a table is not divided.
	leastRows = 256
)

// mostLevels is how often rows are divided before memory does not suffice.
const mostLevels = 8

// errIndivisible is the error for rows with keys that are all in one part.
var errIndivisible = errors.New("the rows have too few distinct keys to be divided")

// checkDivided returns an error if fewer than two of some parts have rows. Then the parts are
// released.
func checkDivided(parts []*held) error {
	filled := 0
	for _, p := range parts {
		if !p.isEmpty() {
			filled++
		}
	}
	if filled < 2 {
		return errors.Join(errIndivisible, release.All(parts))
	}
	return nil
}

// byRange divides the rows by ranges of keys, so that all rows of a part come before those
// of the next one. Rows of equal keys are in one part, unless that part would have all rows:
// then places divide them. It keeps h.
func (h *held) byRange(ctx context.Context, keys []order.Key) ([]*held, error) {
	parts, err := h.byBounds(ctx, keys, false)
	if !errors.Is(err, errIndivisible) {
		return parts, err
	}
	return h.byBounds(ctx, append(slices.Clone(keys), order.Key{Column: placeName}), true)
}

// placeName is the name of a column with the places of rows among those that are divided.
var placeName = plan.Computed("place")

// byBounds divides the rows by bounds, which are rows of a sample. If they are placed, rows
// get their places as a column while they are divided.
func (h *held) byBounds(ctx context.Context, keys []order.Key, placed bool) ([]*held, error) {
	bounds, err := h.sample(ctx, keys, placed)
	if err != nil {
		return nil, err
	}
	parts, err := h.divide(ctx, bounds, keys, placed)
	if err = errors.Join(err, bounds.Release()); err != nil {
		return nil, errors.Join(err, release.All(parts))
	}
	return parts, checkDivided(parts)
}

// sample returns rows that divide the others into parts of about the same size.
func (h *held) sample(ctx context.Context, keys []order.Key, placed bool) (*buffer.Buffer, error) {
	var samples []*buffer.Buffer
	tables := min(max(len(h.tables), 1), sampledTables)
	step, number, first := (max(len(h.tables), 1)+tables-1)/tables, -1, int64(0)
	err := h.each(ctx, func(table *buffer.Buffer) error {
		rows, err := table.NumRows(ctx)
		if err != nil {
			return err
		}
		before := first
		first += rows
		if number++; number%step != 0 {
			return nil
		}
		sample, numbers, err := h.spread(ctx, table, min(rows, int64(max(sampled/tables, divisions))), rows)
		if err == nil && placed {
			for i := range numbers {
				numbers[i] += before
			}
			sample, err = h.withPlaces(ctx, sample, numbers)
		}
		if err == nil {
			samples = append(samples, sample)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, release.All(samples))
	}
	all, err := selection.Concat(ctx, samples, h.options())
	if all, err = release.OnError(all, err, release.All(samples)); err != nil {
		return nil, err
	}
	sorted, err := order.Sort(ctx, all, keys, h.options())
	if sorted, err = release.OnError(sorted, err, all.Release()); err != nil {
		return nil, err
	}
	rows, err := sorted.NumRows(ctx)
	if err != nil {
		return nil, errors.Join(err, sorted.Release())
	}
	bounds, _, err := h.spread(ctx, sorted, min(rows, divisions-1), rows)
	return release.OnError(bounds, err, sorted.Release())
}

// withPlaces adds a column with the places of rows. It takes the table over.
func (s *stage) withPlaces(ctx context.Context, table *buffer.Buffer, places []int64) (*buffer.Buffer, error) {
	c, err := column.FromSlice(ctx, table.Manager(), places, column.SliceOptions{Stream: table.Manager().Stream(), Tag: s.settings.Tag})
	if err != nil {
		return nil, errors.Join(err, table.Release())
	}
	extended, err := table.AppendColumn(arrow.Field{Name: placeName, Type: c.Type()}, c)
	return release.OnError(extended, err, c.Release(), table.Release())
}

// spread returns some rows of a table with equal distances between them, and their numbers.
func (s *stage) spread(ctx context.Context, table *buffer.Buffer, wanted, rows int64) (*buffer.Buffer, []int64, error) {
	numbers := make([]int64, wanted)
	for i := range numbers {
		numbers[i] = int64(float64(rows) * (float64(i) + 1) / float64(wanted+1))
	}
	indices, err := column.FromSlice(ctx, table.Manager(), numbers, column.SliceOptions{Stream: table.Manager().Stream(), Tag: s.settings.Tag})
	if err != nil {
		return nil, nil, err
	}
	sample, err := selection.Take(ctx, table, indices, s.options())
	if failure := indices.Release(); failure != nil && err == nil {
		sample, err = nil, errors.Join(failure, sample.Release())
	}
	return sample, numbers, err
}

// hashName is the name of a column of hashes.
var hashName = plan.Computed("hash")

// byHash divides the rows by a hash: rows with equal hashes are in the same part. level
// selects other bits of the hash, for parts that are divided again. It keeps h.
func (h *held) byHash(ctx context.Context, hash expr.Expr, level int) ([]*held, error) {
	return h.byHashNumbered(ctx, hash, level, "")
}

// byHashNumbered is byHash. If name is not empty, rows get a column of that name with their
// number among those of h, behind the others.
func (h *held) byHashNumbered(ctx context.Context, hash expr.Expr, level int, name string) ([]*held, error) {
	bounds, err := h.hashBounds(ctx)
	if err != nil {
		return nil, err
	}
	for range level {
		// A further hash of the hash is as good as other bits.
		hash = expr.Hash(hash)
	}
	parts, err := h.divideComputed(ctx, bounds, hash, name)
	if err = errors.Join(err, bounds.Release()); err != nil {
		return nil, errors.Join(err, release.All(parts))
	}
	return parts, nil
}

// hashBounds returns a table of hashes that divide all hashes into parts of one size.
func (h *held) hashBounds(ctx context.Context) (*buffer.Buffer, error) {
	schema := arrow.NewSchema([]arrow.Field{{Name: hashName, Type: arrow.PrimitiveTypes.Uint64}}, nil)
	builder := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer builder.Release()
	for i := uint64(1); i < divisions; i++ {
		builder.Field(0).(*array.Uint64Builder).Append(i * (math.MaxUint64/divisions + 1))
	}
	record := builder.NewRecord()
	defer record.Release()
	return buffer.FromRecordWith(ctx, h.settings.Manager, record, buffer.LoadOptions{Stream: h.settings.stream(), Tag: h.settings.Tag})
}

// divideComputed divides the rows by the value of an expression, for which they get a column
// while they are divided. If name is not empty, they keep a column with their numbers.
func (h *held) divideComputed(ctx context.Context, bounds *buffer.Buffer, value expr.Expr, name string) ([]*held, error) {
	schema, first := h.schema, int64(0)
	if name != "" {
		schema = withField(schema, name)
	}
	value, encoded := hashable(value, schema)
	expressions := []expr.Expr{value.As(hashName)}
	for _, f := range schema.Fields() {
		expressions = append(expressions, expr.Col(f.Name))
	}
	parts, err := h.divideTables(ctx, func(table *buffer.Buffer) ([]*buffer.Buffer, error) {
		rows, err := table.NumRows(ctx)
		if err != nil {
			return nil, err
		}
		if name == "" {
			err = table.Retain()
		} else {
			table, err = h.withNumbers(ctx, table, name, first)
		}
		if err == nil {
			table, err = h.withDecoded(ctx, table, encoded)
		}
		if err != nil {
			return nil, err
		}
		wide, err := expr.Project(ctx, table, expressions, h.options())
		if wide, err = release.OnError(wide, err, table.Release()); err != nil {
			return nil, err
		}
		parts, err := h.partition(ctx, wide, bounds, []order.Key{{Column: hashName}})
		if err = errors.Join(err, wide.Release()); err != nil {
			return nil, err
		}
		if parts, err = narrow(parts, schema); err == nil {
			first += rows
		}
		return parts, err
	})
	for _, part := range parts {
		part.schema = schema
	}
	return parts, err
}

// withField returns a schema with a further column of int64.
func withField(schema *arrow.Schema, name string) *arrow.Schema {
	return arrow.NewSchema(append(schema.Fields(), arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64}), nil)
}

// narrow returns parts without the columns that rows got while they were divided, and takes
// the parts over.
func narrow(parts []*buffer.Buffer, schema *arrow.Schema) ([]*buffer.Buffer, error) {
	for i, part := range parts {
		narrowed, err := columns(part, schema)
		if parts[i], err = release.OnError(narrowed, err, part.Release()); err != nil {
			return nil, errors.Join(err, release.All(append(parts[:i], parts[i+1:]...)))
		}
	}
	return parts, nil
}

// divide divides the rows by bounds.
func (h *held) divide(ctx context.Context, bounds *buffer.Buffer, keys []order.Key, placed bool) ([]*held, error) {
	if !placed {
		return h.divideTables(ctx, func(table *buffer.Buffer) ([]*buffer.Buffer, error) {
			return h.partition(ctx, table, bounds, keys)
		})
	}
	first := int64(0)
	return h.divideTables(ctx, func(table *buffer.Buffer) ([]*buffer.Buffer, error) {
		rows, err := table.NumRows(ctx)
		if err != nil {
			return nil, err
		}
		wide, err := h.withNumbers(ctx, table, placeName, first)
		if err != nil {
			return nil, err
		}
		parts, err := h.partition(ctx, wide, bounds, keys)
		if err = errors.Join(err, wide.Release()); err != nil {
			return nil, err
		}
		if parts, err = narrow(parts, h.schema); err == nil {
			first += rows
		}
		return parts, err
	})
}

// divideTables divides each table. Parts of the same number belong together; they are in
// order.
func (h *held) divideTables(ctx context.Context, partition func(*buffer.Buffer) ([]*buffer.Buffer, error)) ([]*held, error) {
	parts := make([]*held, divisions)
	for i := range parts {
		parts[i] = &held{stage: h.stage, schema: h.schema}
	}
	err := h.each(ctx, func(table *buffer.Buffer) error {
		var rest pieces
		if err := table.Retain(); err != nil {
			return err
		}
		rest.push(table)
		err := rest.all(ctx, func(piece *buffer.Buffer) error {
			divided, err := partition(piece)
			if err != nil {
				return err
			}
			for i := range divided {
				if err := parts[i].add(ctx, divided[i]); err != nil {
					return errors.Join(begunError{fmt.Errorf("hold part %d: %w", i, err)}, release.All(divided[i+1:]))
				}
			}
			return nil
		})
		return errors.Join(err, rest.Release())
	})
	if err != nil {
		return nil, errors.Join(err, release.All(parts))
	}
	return parts, nil
}

// partition divides a table by bounds, into as many parts as there are divisions. Each part
// has separate memory, so that it can move by itself.
func (h *held) partition(ctx context.Context, table, bounds *buffer.Buffer, keys []order.Key) (parts []*buffer.Buffer, err error) {
	divided, err := order.Partition(ctx, table, bounds, keys, h.options())
	if err != nil {
		return nil, err
	}
	defer func() {
		if failure := divided.Release(); failure != nil || err != nil {
			err = errors.Join(err, failure, release.All(parts))
			parts = nil
		}
	}()
	offsets, err := divided.Offsets.Array(ctx)
	if err != nil {
		return nil, err
	}
	defer offsets.Release()
	at := offsets.(*array.Uint32).Uint32Values()
	for i := range len(at) - 1 {
		slice, err := divided.Rows.Slice(int64(at[i]), int64(at[i+1]-at[i]))
		if err != nil {
			return parts, err
		}
		part, err := selection.Compact(ctx, slice, h.options())
		if part, err = release.OnError(part, err, slice.Release()); err == nil {
			part, err = h.withUsedValues(ctx, part)
		}
		if err != nil {
			return parts, err
		}
		parts = append(parts, part)
	}
	for len(parts) < divisions {
		empty, err := Empty(ctx, h.settings.Manager, table.Schema(), h.settings.Tag)
		if err != nil {
			return parts, err
		}
		parts = append(parts, empty)
	}
	return parts, nil
}
