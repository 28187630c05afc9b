package gpubeam

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

const sumByKey = `{"version": 1, "steps": [{"verb": "given", "number": 0}, {"verb": "group", "inputs": [0],
	"keys": [{"function": "column", "name": "k"}],
	"aggregates": [{"function": "sum", "arguments": [{"function": "column", "name": "x"}]}, {"function": "as", "name": "n", "arguments": [{"function": "count_rows"}]}]}]}`

// keyed returns a record with the columns k and x.
func keyed(first, rows int) arrow.Record {
	b := array.NewRecordBuilder(allocator, arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int64}, {Name: "x", Type: arrow.PrimitiveTypes.Float64},
	}, nil))
	defer b.Release()
	for i := first; i < first+rows; i++ {
		b.Field(0).(*array.Int64Builder).Append(int64(i % 13))
		b.Field(1).(*array.Float64Builder).Append(1 / float64(i+1))
	}
	return b.NewRecord()
}

// emitted are the elements of finished bundles, by partitions.
type emitted map[int64][]Batch

// bundle runs a bundle like a runner. It abandons the DoFn before element failAt, if it is not
// negative; then nothing was emitted to the runner.
func bundle(t *testing.T, f *partFn, records []arrow.Record, failAt int, to emitted) {
	t.Helper()
	made := emitted{}
	emit := func(number int64, b Batch) { made[number] = append(made[number], b) }
	f.StartBundle(t.Context(), emit)
	for i, r := range records {
		if i == failAt {
			return
		}
		encoded, err := encodeBatch(NewBatch(r))
		require.NoError(t, err)
		b, err := decodeBatch(encoded)
		require.NoError(t, err)
		require.NoError(t, f.ProcessElement(t.Context(), b, emit))
	}
	require.NoError(t, f.FinishBundle(t.Context(), emit))
	for number, batches := range made {
		to[number] = append(to[number], batches...)
	}
}

// merged returns the rows of the merged partitions as sorted texts.
func merged(t *testing.T, f *mergeFn, of emitted) (rows []string) {
	t.Helper()
	for number, batches := range of {
		next := func(b *Batch) bool {
			if len(batches) == 0 {
				return false
			}
			*b, batches = batches[0], batches[1:]
			return true
		}
		require.NoError(t, f.ProcessElement(t.Context(), number, next, func(b Batch) {
			for row := range int(b.record.NumRows()) {
				rows = append(rows, fmt.Sprintf("%d %x %d", b.record.Column(0).(*array.Int64).Value(row),
					b.record.Column(1).(*array.Float64).Value(row), b.record.Column(2).(*array.Int64).Value(row)))
			}
		}))
	}
	slices.Sort(rows)
	return rows
}

func newFns(options Options) (*partFn, *mergeFn) {
	of := reducing{Verb: "group", Document: sumByKey}
	return &partFn{Stage: stage{"GroupBy, parts", options}, Of: of}, &mergeFn{Stage: stage{"GroupBy, merge", options}, Of: of}
}

// TestRepeatedBundles abandons bundles in the middle and runs them again with new DoFns, and
// requires the same bits for every division. The engine closes with the last Teardown.
func TestRepeatedBundles(t *testing.T) {
	options, err := Options{Device: "host", Budget: 1 << 20, Partitions: 5}.withDefaults("GroupBy")
	require.NoError(t, err)
	_, m := newFns(options)
	require.NoError(t, m.Setup())
	var want []string
	for _, size := range []int{600, 37, 10} {
		var records []arrow.Record
		for first := 0; first < 600; first += size {
			records = append(records, keyed(first, min(size, 600-first)))
		}
		all := emitted{}
		for from := 0; from < len(records); from += 20 {
			part := records[from:min(from+20, len(records))]
			failing, _ := newFns(options)
			require.NoError(t, failing.Setup())
			bundle(t, failing, part, len(part)/2, all)
			// The SDK does not tear a DoFn down that has failed. Its device memory is free.
			require.Zero(t, Engines()[0].InUse)
			again, _ := newFns(options)
			require.NoError(t, again.Setup())
			bundle(t, again, part, -1, all)
			require.NoError(t, again.Teardown())
			require.NoError(t, failing.Teardown())
		}
		rows := merged(t, m, all)
		require.Len(t, rows, 13)
		if want == nil {
			want = rows
		}
		require.Equal(t, want, rows)
		require.Equal(t, 1, Engines()[0].DoFns)
	}
	require.NoError(t, m.Teardown())
	require.Empty(t, Engines())
}

// TestLostDevice requires that a lost device is opened again, up to the number of attempts.
func TestLostDevice(t *testing.T) {
	before := open
	t.Cleanup(func() { open = before })
	opened := 0
	open = func(o engineOptions) (*gpuframe.Engine, error) {
		opened++
		return before(o)
	}
	s := &stage{Name: "test", Options: Options{Device: "host", Budget: 1 << 21, Attempts: 3}}
	require.NoError(t, s.Setup())
	lost := fmt.Errorf("the test: %w", device.ErrDeviceLost)
	calls := 0
	require.NoError(t, s.run(t.Context(), noPartition, func(*gpuframe.Engine) error {
		if calls++; calls < 3 {
			return lost
		}
		return nil
	}))
	require.Equal(t, []int{3, 3}, []int{calls, opened})
	var failed *StageError
	err := s.run(t.Context(), 7, func(*gpuframe.Engine) error { return lost })
	require.ErrorAs(t, err, &failed)
	require.ErrorIs(t, err, device.ErrDeviceLost)
	require.Equal(t, []any{"test", int64(7), 3}, []any{failed.Stage, failed.Partition, failed.Attempts})
	calls = 0
	require.Error(t, s.run(t.Context(), 7, func(*gpuframe.Engine) error { calls++; return errors.New("another") }))
	require.Equal(t, 1, calls, "other errors are not tried again")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, s.Teardown())
	require.Empty(t, Engines())
	require.Error(t, s.run(ctx, 7, func(*gpuframe.Engine) error { return ctx.Err() }))
	require.NoError(t, Close())
}

// TestDividedPartition merges a partition that the budget has no room for in smaller parts.
func TestDividedPartition(t *testing.T) {
	large, err := Options{Device: "host", Partitions: 1}.withDefaults("GroupBy")
	require.NoError(t, err)
	f, m := newFns(large)
	require.NoError(t, errors.Join(f.Setup(), m.Setup()))
	all := emitted{}
	var records []arrow.Record
	for i := range 8 {
		b := array.NewRecordBuilder(allocator, keyed(0, 0).Schema())
		for k := range 500 {
			b.Field(0).(*array.Int64Builder).Append(int64(500*i + k))
			b.Field(1).(*array.Float64Builder).Append(float64(k) / 7)
		}
		records = append(records, b.NewRecord())
		b.Release()
	}
	bundle(t, f, records, -1, all)
	require.Len(t, all, 1)
	want := merged(t, m, all)
	peak := Engines()[0].Peak
	require.NoError(t, errors.Join(f.Teardown(), m.Teardown()))
	require.Len(t, want, 4000)
	small := large
	small.Budget = peak / 2
	_, m = newFns(small)
	require.NoError(t, m.Setup())
	parts := make([]arrow.Record, len(all[0]))
	for i, b := range all[0] {
		parts[i] = b.record
	}
	require.ErrorIs(t, m.Stage.run(t.Context(), 0, func(e *gpuframe.Engine) error {
		_, err := m.Of.reduction.finish(t.Context(), e, parts)
		return err
	}), memory.ErrBudget)
	require.Equal(t, want, merged(t, m, all))
	require.LessOrEqual(t, Engines()[0].Peak, small.Budget)
	require.NoError(t, m.Teardown())
	require.Empty(t, Engines())
}

// TestHashClasses requires that equal keys of different types are in the same partition.
func TestHashClasses(t *testing.T) {
	integers, floats := make([]string, 60), make([]string, 60)
	for i := range integers {
		integers[i], floats[i] = fmt.Sprint(i), fmt.Sprintf("%d.25", i)
	}
	integers[7], floats[7] = "", ""
	for _, c := range []struct {
		class  string
		values []string
		types  []arrow.DataType
	}{
		{"integer", integers, []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64}},
		{"float", floats, []arrow.DataType{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64}},
		{"string", floats, []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString,
			&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}}},
	} {
		var want [][]string
		for _, of := range c.types {
			require.Equal(t, c.class, hashClass(of))
			b := array.NewRecordBuilder(allocator, arrow.NewSchema([]arrow.Field{{Name: "k", Type: of, Nullable: true}}, nil))
			for _, text := range c.values {
				if text == "" {
					b.Field(0).AppendNull()
				} else {
					require.NoError(t, b.Field(0).AppendValueFromString(text))
				}
			}
			var got [][]string
			require.NoError(t, compute(t.Context(), engineOptions{device: "host"}, func(e *gpuframe.Engine) error {
				parts, err := partition(t.Context(), e, b.NewRecord(), []expr.Expr{expr.Col("k")}, 5, 0)
				for _, part := range parts {
					texts := []string{}
					for row := range int(part.NumRows()) {
						texts = append(texts, part.Column(0).ValueStr(row))
					}
					got = append(got, texts)
				}
				return err
			}))
			if want == nil {
				want = got
			}
			require.Equal(t, want, got, "%v", of)
		}
	}
	require.NoError(t, Close())
}

func TestCoderRefusals(t *testing.T) {
	_, err := encodeBatch(Batch{})
	require.ErrorIs(t, err, ErrBatch)
	encoded, err := encodeBatch(NewBatch(keyed(0, 3)))
	require.NoError(t, err)
	for _, bytes := range [][]byte{nil, []byte("no stream"), encoded[:len(encoded)/2], encoded[:100], append(slices.Clone(encoded), encoded...)} {
		_, err := decodeBatch(bytes)
		require.ErrorIs(t, err, ErrBatch, "%d bytes", len(bytes))
	}
}

// A batch with changed bytes is an error or another batch, and lengths that it claims are not
// allocated before its bytes were compared with them.
func TestDamagedBatches(t *testing.T) {
	encoded, err := encodeBatch(NewBatch(keyed(0, 3)))
	require.NoError(t, err)
	for at := range encoded {
		for _, value := range []byte{0, 0x7f, 0xff} {
			damaged := slices.Clone(encoded)
			damaged[at] = value
			if b, err := decodeBatch(damaged); err != nil {
				require.ErrorIs(t, err, ErrBatch)
				require.Nil(t, b.Record())
			}
		}
		if at%4 == 0 && at+4 <= len(encoded) {
			damaged := slices.Clone(encoded)
			copy(damaged[at:], []byte{0xf0, 0xff, 0xff, 0x7f})
			if _, err := decodeBatch(damaged); err != nil {
				require.ErrorIs(t, err, ErrBatch)
			}
		}
	}
}

// FuzzDecodeBatch requires an error or a record for all bytes.
func FuzzDecodeBatch(f *testing.F) {
	encoded, err := encodeBatch(NewBatch(keyed(0, 3)))
	require.NoError(f, err)
	f.Add(encoded)
	f.Add(encoded[:60])
	f.Fuzz(func(t *testing.T, bytes []byte) {
		b, err := decodeBatch(bytes)
		require.Equal(t, err == nil, b.Record() != nil)
	})
}
