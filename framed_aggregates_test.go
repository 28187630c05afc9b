package gpuframe_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// gatheredAggregates are aggregates whose frames are gathered.
func gatheredAggregates() []gpuframe.Expr {
	v, s, vector := gpuframe.Col("v"), gpuframe.Col("s"), gpuframe.Col("x")
	return []gpuframe.Expr{
		v.List(), s.List().SkipNulls(), s.JoinStrings("-"), s.Largest(2), v.Smallest(3), v.Skewness(), v.Kurtosis(), v.KurtosisPop(),
		v.QuantileWith(0.3, "nearest"), s.QuantileWith(0.5, "discrete"), v.Mad(), s.Entropy(), s.Histogram(), v.ApproxQuantile(0.5), s.ApproxTopK(2), s.HLLSketch(8).HLLEstimate(),
		vector.Sum(), vector.Mean(), v.List().Where(s.Eq("a")), v.Skewness().Where(s.Ne("b")), gpuframe.Count().Add(v.Largest(9).ListLength()),
	}
}

// frameRows draws rows with a partition k, an order t, numbers v, strings s and vectors x.
func frameRows(r *rand.Rand, n int) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "k", Type: arrow.PrimitiveTypes.Int32}, {Name: "t", Type: arrow.PrimitiveTypes.Int64}, {Name: "v", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "x", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for range n {
		b.Field(0).(*array.Int32Builder).Append(int32(r.IntN(3)))
		b.Field(1).(*array.Int64Builder).Append(int64(r.IntN(12)))
		for i, text := range []string{fmt.Sprint(float64(r.IntN(20)) / 4), string('a' + rune(r.IntN(4))), fmt.Sprintf("[%d, %v]", r.IntN(5), float64(r.IntN(9))/8)} {
			if r.IntN(5) == 0 {
				b.Field(2 + i).AppendNull()
			} else if err := b.Field(2 + i).AppendValueFromString(text); err != nil {
				panic(err)
			}
		}
	}
	return b.NewRecord()
}

// drawnFrame is a frame of rows or of a range.
type drawnFrame struct {
	low, high        int64
	isRange, isWhole bool
}

func (f drawnFrame) window(w gpuframe.Window) gpuframe.Window {
	if f.isWhole {
		return w
	}
	if f.isRange {
		return w.Range(f.low, f.high)
	}
	return w.Rows(f.low, f.high)
}

// rows returns the rows of the frame of each row, in order.
func (f drawnFrame) rows(record arrow.Record) [][]int {
	k, at := record.Column(0).(*array.Int32), record.Column(1).(*array.Int64)
	order := make([]int, record.NumRows())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(at.Value(a) - at.Value(b)) })
	frames := make([][]int, len(order))
	for row := range frames {
		var partition []int
		for _, other := range order {
			if k.Value(other) == k.Value(row) {
				partition = append(partition, other)
			}
		}
		place := slices.Index(partition, row)
		for i, other := range partition {
			distance := int64(i - place)
			if f.isRange {
				distance = at.Value(other) - at.Value(row)
			}
			if f.isWhole || distance >= f.low && distance <= f.high {
				frames[row] = append(frames[row], other)
			}
		}
	}
	return frames
}

// aggregatesOf returns the aggregates of some rows of a record, as texts.
func aggregatesOf(t *testing.T, host *gpuframe.Engine, record arrow.Record, rows []int, aggregates []gpuframe.Expression) []string {
	t.Helper()
	parts := []arrow.Record{record.NewSlice(0, 0)}
	for _, row := range rows {
		parts = append(parts, record.NewSlice(int64(row), int64(row+1)))
	}
	return textRows(t, host.Records(record.Schema(), parts...).GroupBy().Agg(aggregates...))[0]
}

// textRows returns the rows of a query as texts.
func textRows(t *testing.T, q gpuframe.Query) [][]string {
	t.Helper()
	f, err := q.Collect(t.Context())
	require.NoError(t, err)
	record, err := f.Record(t.Context())
	require.NoError(t, err)
	defer record.Release()
	require.NoError(t, f.Release())
	rows := make([][]string, record.NumRows())
	for i := range rows {
		for _, c := range record.Columns() {
			rows[i] = append(rows[i], c.ValueStr(i))
		}
	}
	return rows
}

// TestGatheredFrames compares aggregates of frames that are gathered with those of each frame's rows.
func TestGatheredFrames(t *testing.T) {
	host := engineOn(t, devicetest.Open(t, "host"))
	r := property.Random(t)
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		e := engineOn(t, dev)
		cases := 6
		if dev.Name() != "host" {
			cases = 2
		}
		for i := range cases {
			record := frameRows(r, 1+r.IntN(30))
			defer record.Release()
			low := int64(r.IntN(7) - 4)
			f := drawnFrame{low, low + int64(r.IntN(5)), i%2 == 1, i%5 == 4}
			list := gatheredAggregates()
			aggregates := make([]gpuframe.Expression, len(list))
			w := f.window(gpuframe.By(gpuframe.Col("k")).OrderBy(gpuframe.Col("t")))
			windows := make([]gpuframe.Key, len(list))
			for j, a := range list {
				aggregates[j] = a.As(fmt.Sprint("a", j))
				windows[j] = a.Over(w).As(fmt.Sprint("a", j))
			}
			got := textRows(t, e.Records(record.Schema(), record).Select(windows...))
			for row, members := range f.rows(record) {
				want := aggregatesOf(t, host, record, members, aggregates)
				for j := range aggregates {
					require.Equal(t, want[j], got[row][j], "%v, frame %+v of row %d: %v", windows[j], f, row, members)
				}
			}
		}
	})
}

// TestGatheredFramesUnderBudgets computes frames with less and less memory: the result is the same, or the query is refused.
func TestGatheredFramesUnderBudgets(t *testing.T) {
	dev := devicetest.Open(t, "host")
	m := devicetest.Manager(t, dev, memory.Options{})
	e := gpuframe.EngineOn(m)
	defer func() { require.NoError(t, e.Close()) }()
	record := frameRows(rand.New(rand.NewPCG(1, 2)), 2000)
	defer record.Release()
	v, w := gpuframe.Col("v"), gpuframe.By(gpuframe.Col("k")).OrderBy(gpuframe.Col("t")).Rows(-100, 0)
	q := e.Records(record.Schema(), record).Select(v.Skewness().Over(w).As("a"), gpuframe.Col("s").Largest(2).Over(w).As("b"), v.KurtosisPop().Over(w.AtLeast(90)).As("c"))
	want := textRows(t, q)
	require.Contains(t, want[0], "(null)") // of fewer than 90 values
	computed, refused := 0, 0
	for budget := uint64(64 << 20); budget > 64<<10; budget /= 2 {
		require.NoError(t, m.SetBudget(budget))
		f, err := q.Collect(t.Context())
		if err != nil {
			require.ErrorIs(t, err, memory.ErrBudget)
			refused++
			continue
		}
		require.NoError(t, f.Release())
		require.Equal(t, want, textRows(t, q), "budget %d", budget)
		computed++
	}
	require.Greater(t, computed, 4)
	require.Positive(t, refused)
	require.Zero(t, m.Stats().InUse)
}
