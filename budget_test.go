package gpuframe_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/internal/testing/race"
	"github.com/gpuframe/gpuframe/memory"
)

// drawn returns records of random rows: a unique id, a key with some nulls, one of few
// values, a string.
func drawn(t *testing.T, seed uint64, batches, rows int) []arrow.Record {
	random := rand.New(rand.NewPCG(seed, 1))
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "key", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "few", Type: arrow.PrimitiveTypes.Int8}, {Name: "text", Type: arrow.BinaryTypes.String},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	var list []arrow.Record
	for i := range batches * rows {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		if key := b.Field(1).(*array.Int32Builder); random.IntN(20) == 0 {
			key.AppendNull()
		} else {
			key.Append(random.Int32N(int32(batches * rows / 2)))
		}
		b.Field(2).(*array.Int8Builder).Append(int8(random.IntN(3)))
		b.Field(3).(*array.StringBuilder).Append(fmt.Sprintf("text %08d", random.IntN(1_000_000)))
		if (i+1)%rows == 0 {
			list = append(list, b.NewRecord())
			t.Cleanup(list[len(list)-1].Release)
		}
	}
	return list
}

// lines returns the rows of a query as text, without having all of them in device memory.
func lines(t *testing.T, q gpuframe.Query) []string {
	t.Helper()
	list, err := linesOf(t.Context(), q)
	require.NoError(t, err)
	return list
}

// linesOf is lines for a query that may fail.
func linesOf(ctx context.Context, q gpuframe.Query) (list []string, err error) {
	for f, err := range q.Batches(ctx) {
		if err != nil {
			return nil, err
		}
		record, err := f.Record(ctx)
		if err = errors.Join(err, f.Release()); err != nil {
			return nil, err
		}
		for i := range int(record.NumRows()) {
			line := ""
			for _, c := range record.Columns() {
				line += c.ValueStr(i) + "|"
			}
			list = append(list, line)
		}
		record.Release()
	}
	return list, nil
}

// TestLargeLimits takes the first rows of a sort with limits that the budget has no room for, and with
// limits of more rows than there are.
func TestLargeLimits(t *testing.T) {
	few, many := drawn(t, 1, 1, 5), drawn(t, 2, 6, 4000)
	id, key, text := gpuframe.Col("id"), gpuframe.Col("key"), gpuframe.Col("text")
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		large := engineOn(t, dev)
		small, err := gpuframe.Open(gpuframe.Device(dev.Name()), gpuframe.Budget(ample))
		require.NoError(t, err)
		for name, query := range map[string]func(gpuframe.Query) gpuframe.Query{
			"top":          func(q gpuframe.Query) gpuframe.Query { return q.Top(11_000, key, text.Desc()) },
			"all":          func(q gpuframe.Query) gpuframe.Query { return q.Top(math.MaxInt, key.Desc(), id) },
			"head":         func(q gpuframe.Query) gpuframe.Query { return q.Sort(text).Head(23_000) },
			"stable":       func(q gpuframe.Query) gpuframe.Query { return q.Sort(gpuframe.Col("few")).Head(17_000) },
			"sample":       func(q gpuframe.Query) gpuframe.Query { return q.SampleRows(9000, gpuframe.SampleOptions{Seed: 3}) },
			"sampled more": func(q gpuframe.Query) gpuframe.Query { return q.SampleRows(1<<60, gpuframe.SampleOptions{Seed: 3}) },
		} {
			for _, records := range [][]arrow.Record{few, many} {
				q := query(small.Records(nil, records...))
				needs, err := q.Needs(t.Context())
				require.NoError(t, err)
				require.Less(t, needs.Smallest, uint64(800_000), name)
				require.NoError(t, small.Manager().SetBudget(needs.Smallest))
				require.True(t, slices.Equal(lines(t, query(large.Records(nil, records...))), lines(t, q)), name)
			}
		}
		require.NoError(t, small.Close())
	})
}

// Queries of data of several times the budget have the results that they have without one.
func TestMoreThanTheBudget(t *testing.T) {
	const batches = 12
	rows, onFiles := 4000, []string{"sort", "full", "two windows"}
	if testing.Short() {
		rows, onFiles = 2000, onFiles[:1]
	}
	records := drawn(t, 1, batches, rows)
	others := drawn(t, 2, batches, rows)
	dev := devicetest.Open(t, "host")
	budget := uint64(batches * rows * 29 / 3)
	small, err := gpuframe.Open(gpuframe.Device(dev.Name()), gpuframe.Budget(budget))
	require.NoError(t, err)
	directory := t.TempDir()
	files, err := gpuframe.Open(gpuframe.Device(dev.Name()), gpuframe.Budget(budget), gpuframe.SpillBudget(1), gpuframe.SpillDirectory(directory))
	require.NoError(t, err)
	large := engineOn(t, dev)
	key, id, text := gpuframe.Col("key"), gpuframe.Col("id"), gpuframe.Col("text")
	for name, c := range map[string]struct {
		query   func(e *gpuframe.Engine) gpuframe.Query
		ordered bool
	}{
		"sort": {func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, records...).Sort(key.Desc().NullsFirst(), text)
		}, true},
		"sort of few values": {func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, records...).Sort(gpuframe.Col("few"), text)
		}, true},
		"sort of ties": {func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, records...).Sort(gpuframe.Col("few").Desc())
		}, true},
		"sort of one value": {func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, records...).Sort(id.Lt(-1), gpuframe.Col("few").Gt(5))
		}, true},
		"groups": {func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, records...).GroupBy(key).Agg(id.Sum(), text.Min(), gpuframe.Count())
		}, false},
		"inner": {func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, records...).Join(e.Records(nil, others...), gpuframe.Inner, key)
		}, false},
		"full": {func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, records...).Join(e.Records(nil, others...), gpuframe.Full, key).Drop("text")
		}, false},
		"anti": {func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, records...).Join(e.Records(nil, others...), gpuframe.Anti, key)
		}, false},
		"windows": {func(e *gpuframe.Engine) gpuframe.Query {
			w := gpuframe.By(key).OrderBy(text, id.Desc())
			return e.Records(nil, records...).With(gpuframe.RowNumber().Over(w).As("number"), text.Lag(1).Over(w).As("before"),
				id.Mean().Over(w.Rows(-2, 1)).As("mean"))
		}, true},
		"two windows": {func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, records...).With(gpuframe.Rank().Over(gpuframe.By(key).OrderBy(id)).As("rank")).
				With(text.Last().Over(gpuframe.By(id.Mod(997)).OrderBy(gpuframe.Col("rank"))).As("last"))
		}, true},
		"windows of aggregates": {func(e *gpuframe.Engine) gpuframe.Query {
			return e.Records(nil, records...).With(text.Max().Over(gpuframe.By(key)).As("last"), id.Mean().Over(gpuframe.By(key)).As("mean"))
		}, true},
		"top": {func(e *gpuframe.Engine) gpuframe.Query { return e.Records(nil, records...).Top(50, text, id) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && strings.Contains(name, "windows") {
				t.Skip("TestWindowsUnderBudgets has smaller ones")
			}
			if race.Enabled && !slices.Contains([]string{"sort", "groups", "full"}, name) {
				t.Skip("the others share memory between goroutines in the same way")
			}
			want := lines(t, c.query(large))
			if !c.ordered {
				slices.Sort(want)
			}
			for _, e := range []*gpuframe.Engine{small, files} {
				if e == files && !slices.Contains(onFiles, name) {
					continue
				}
				// Two windows need more than a third of the few rows of short tests.
				needs, err := c.query(e).Needs(t.Context())
				require.NoError(t, err)
				limit := max(budget, needs.Smallest)
				require.Less(t, limit, 2*budget)
				require.NoError(t, e.Manager().SetBudget(limit))
				e.Manager().ResetPeak()
				got := lines(t, c.query(e))
				if !c.ordered {
					slices.Sort(got)
				}
				require.Equal(t, len(want), len(got))
				require.True(t, slices.Equal(want, got))
				stats := e.Manager().Stats()
				require.LessOrEqual(t, stats.Peak, limit)
				require.Zero(t, stats.InUse)
			}
		})
	}
	require.NoError(t, small.Close())
	require.NoError(t, files.Close())
	left, err := os.ReadDir(directory)
	require.NoError(t, err)
	require.Empty(t, left)
}

// TestResultLargerThanTheBudget collects more rows than fit: the error names the way out.
func TestResultLargerThanTheBudget(t *testing.T) {
	e, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(256<<10))
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	list := drawn(t, 1, 16, 1000)
	q := e.Records(list[0].Schema(), list...).Filter(gpuframe.Col("few").Ge(0))
	_, err = q.Collect(t.Context())
	require.ErrorIs(t, err, memory.ErrBudget)
	require.ErrorContains(t, err, "tables, does not fit the budget as one: read it in parts with Batches")
	require.Zero(t, e.Manager().Stats().InUse)
	require.Len(t, lines(t, q), 16_000)
}

// TestWindowsUnderBudgets runs random windows, up to three in a row, with the least budget that
// each query reports: the rows have the order and the values that they have with any budget.
func TestWindowsUnderBudgets(t *testing.T) {
	large, small := engineOn(t, devicetest.Open(t, "host")), engineOn(t, devicetest.Open(t, "host"))
	first, seeds := 20*(property.Turn(t)%3), 20
	switch {
	case race.Enabled:
		seeds = 4
	case testing.Short():
		seeds = 8
	}
	id, key, text := gpuframe.Col("id"), gpuframe.Col("key"), gpuframe.Col("text")
	for seed := first; seed < first+seeds; seed++ {
		random := rand.New(rand.NewPCG(uint64(seed), 5))
		records := drawn(t, uint64(seed), 2+random.IntN(14), 300+random.IntN(1200))
		windows := func(e *gpuframe.Engine) gpuframe.Query {
			random := rand.New(rand.NewPCG(uint64(seed), 6))
			q := e.Records(nil, records...)
			for i := range 1 + random.IntN(3) {
				by := []gpuframe.Expression{key, id.Mod(61 + random.Int64N(200)), text.Substring(6, 6)}[random.IntN(3)]
				w := gpuframe.By(by).OrderBy([]gpuframe.Ordering{text, id.Desc(), key.Desc().NullsFirst()}[random.IntN(3)])
				function := []gpuframe.Expr{
					gpuframe.RowNumber().Over(w), gpuframe.DenseRank().Over(w), text.Lag(1).Over(w), id.Lead(2).Over(w),
					id.CumSum().Over(w), text.Max().Over(gpuframe.By(by)), id.Cast(arrow.PrimitiveTypes.Float64).Div(7.0).Sum().Over(w.Rows(-40, 3)),
					key.Median().Over(w.Rows(-2, 2)), text.First().Over(w), id.Mean().Over(gpuframe.By(by)),
				}[random.IntN(10)]
				q = q.With(function.As(fmt.Sprint("made ", i)))
			}
			return q
		}
		q := windows(small)
		needs, err := q.Needs(t.Context())
		require.NoError(t, err)
		require.NoError(t, small.Manager().SetBudget(needs.Smallest))
		got := lines(t, q)
		require.True(t, slices.Equal(lines(t, windows(large)), got), "seed %d: %s", seed, q.ExplainPlan())
		require.Zero(t, small.Manager().Stats().InUse)
	}
}

// TestSpillDirectory refuses a directory that cannot be used, and fails without one that was
// removed. An error and the end of the context leave nothing behind.
func TestSpillDirectory(t *testing.T) {
	directory := t.TempDir()
	for _, path := range []string{filepath.Join(directory, "none"), os.Args[0]} {
		_, err := gpuframe.Open(gpuframe.SpillDirectory(path))
		require.ErrorContains(t, err, "gpuframe: open: SpillDirectory: ")
		require.ErrorContains(t, err, path)
	}
	records := drawn(t, 1, 8, 3000)
	inner := filepath.Join(directory, "inner")
	require.NoError(t, os.Mkdir(inner, 0o700))
	e, err := gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(300_000), gpuframe.SpillBudget(1), gpuframe.SpillDirectory(inner))
	require.NoError(t, err)
	sorted := e.Records(nil, records...).Sort(gpuframe.Col("text"))
	require.Len(t, lines(t, sorted), 24000)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for f, err := range sorted.Batches(ctx) {
		if err != nil {
			require.ErrorIs(t, err, context.Canceled)
			break
		}
		require.NoError(t, f.Release())
		cancel()
	}
	left, err := os.ReadDir(inner)
	require.NoError(t, err)
	require.Empty(t, left)
	require.NoError(t, os.Remove(inner))
	var failure *gpuframe.SpillError
	for _, err = range sorted.Batches(t.Context()) {
		if err != nil {
			break
		}
	}
	require.ErrorAs(t, err, &failure)
	require.Equal(t, inner, failure.Path)
	require.Positive(t, failure.Bytes)
	require.ErrorIs(t, err, memory.ErrBudget)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Zero(t, e.Manager().Stats().InUse)
	require.NoError(t, e.Close())
}

// TestCountReadsNothing counts the rows of a file of which only the footer can be read.
func TestCountReadsNothing(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		e := engineOn(t, dev)
		path := filepath.Join(t.TempDir(), "rows.parquet")
		_, err := e.Records(nil, drawn(t, 1, 2, 5000)...).WriteFile(t.Context(), path, gpuframe.Parquet())
		require.NoError(t, err)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		footer := len(data) - 8 - int(binary.LittleEndian.Uint32(data[len(data)-8:]))
		clear(data[4:footer])
		require.NoError(t, os.WriteFile(path, data, 0o600))
		_, err = linesOf(t.Context(), e.Parquet(path))
		require.Error(t, err)
		require.Equal(t, []string{"10000|"}, lines(t, e.Parquet(path).Select(gpuframe.Count())))
		require.Equal(t, []string{"10000|"}, lines(t, e.Parquet(path).With(gpuframe.Col("id").Add(1).As("next")).Select(gpuframe.Count())))
	})
}
