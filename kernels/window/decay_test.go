package window_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowalloc "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/window"
	"github.com/gpuframe/gpuframe/memory"
)

// decayRow is a value at a time of a partition. NaN stands for null.
type decayRow struct {
	part      int32
	at, value float64
}

// decayRecord is a table of rows with times of a type. Times and values that are NaN are null.
func decayRecord(t *testing.T, rows []decayRow, times arrow.DataType, valueType arrow.DataType) arrow.Record {
	builder := array.NewRecordBuilder(arrowalloc.DefaultAllocator, arrow.NewSchema([]arrow.Field{
		{Name: "p", Type: arrow.PrimitiveTypes.Int32}, {Name: "at", Type: times, Nullable: true}, {Name: "x", Type: valueType, Nullable: true}}, nil))
	defer builder.Release()
	add := func(to array.Builder, x float64) {
		switch b := to.(type) {
		case interface{ AppendNull() }:
			if math.IsNaN(x) {
				b.AppendNull()
				return
			}
		}
		switch b := to.(type) {
		case *array.Float64Builder:
			b.Append(x)
		case *array.Int64Builder:
			b.Append(int64(x))
		case *array.Uint32Builder:
			b.Append(uint32(x))
		case *array.Date32Builder:
			b.Append(arrow.Date32(x))
		case *array.TimestampBuilder:
			b.Append(arrow.Timestamp(x))
		default:
			t.Fatalf("a builder of %v", to)
		}
	}
	for _, r := range rows {
		builder.Field(0).(*array.Int32Builder).Append(r.part)
		add(builder.Field(1), r.at)
		add(builder.Field(2), r.value)
	}
	return builder.NewRecord()
}

// decayModel is the mean of each row, one row after the other.
func decayModel(rows []decayRow, halfLife float64) []float64 {
	means := make([]float64, len(rows))
	type state struct{ at, mean float64 }
	states := map[int32]state{}
	for _, i := range sortedRows(rows) {
		r := rows[i]
		s, began := states[r.part]
		switch {
		case math.IsNaN(r.at) || math.IsNaN(r.value):
		case !began:
			s, began = state{r.at, r.value}, true
		default:
			d := math.Exp(-math.Ln2 * (r.at - s.at) / halfLife)
			s = state{r.at, (1-d)*r.value + d*s.mean}
		}
		if means[i] = math.NaN(); began {
			states[r.part], means[i] = s, s.mean
		}
	}
	return means
}

// sortedRows are the numbers of the rows by their times, with those without one last.
func sortedRows(rows []decayRow) []int {
	list := make([]int, len(rows))
	for i := range list {
		list[i] = i
	}
	key := func(i int) float64 {
		if math.IsNaN(rows[i].at) {
			return math.Inf(1)
		}
		return rows[i].at
	}
	// Insertion keeps rows with equal times in order; the tests have few rows out of order.
	for i := 1; i < len(list); i++ {
		for j := i; j > 0 && key(list[j-1]) > key(list[j]); j-- {
			list[j-1], list[j] = list[j], list[j-1]
		}
	}
	return list
}

func requireMeans(t *testing.T, mgr *memory.Manager, record arrow.Record, f window.Function, want []float64) {
	t.Helper()
	ctx := context.Background()
	table, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	defer func() { require.NoError(t, table.Release()) }()
	columns, err := window.Over(ctx, table, window.Windows{PartitionBy: []order.Key{{Column: "p"}}, OrderBy: []order.Key{{Column: "at"}}}, []window.Function{f})
	require.NoError(t, err)
	means, err := columns[0].Array(ctx)
	require.NoError(t, err)
	defer means.Release()
	require.NoError(t, columns[0].Release())
	for i, x := range want {
		require.Equal(t, math.IsNaN(x), means.IsNull(i), "row %d", i)
		if !math.IsNaN(x) {
			require.InDelta(t, x, means.(*array.Float64).Value(i), 1e-9*(1+math.Abs(x)), "row %d", i)
		}
	}
}

// TestPolarsMeans has the example of ewm_mean_by in the documents of Polars. Its row without a value has no mean there.
func TestPolarsMeans(t *testing.T) {
	day := func(n int) float64 { return float64(time.Date(2020, 1, n, 0, 0, 0, 0, time.UTC).Unix() / 86400) }
	rows := []decayRow{{0, day(1), 0}, {0, day(3), 1}, {0, day(10), 2}, {0, day(15), math.NaN()}, {0, day(17), 4}}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		record := decayRecord(t, rows, arrow.FixedWidthTypes.Date32, arrow.PrimitiveTypes.Int64)
		defer record.Release()
		f := window.ExponentialMeanBy(expr.Col("x"), expr.Col("at"), 4*24*time.Hour)
		table, err := buffer.FromRecord(mgr, record)
		require.NoError(t, err)
		defer func() { require.NoError(t, table.Release()) }()
		columns, err := window.Over(context.Background(), table, window.Windows{OrderBy: []order.Key{{Column: "at"}}}, []window.Function{f})
		require.NoError(t, err)
		means, err := columns[0].Array(context.Background())
		require.NoError(t, err)
		defer means.Release()
		require.NoError(t, columns[0].Release())
		require.InDeltaSlice(t, []float64{0, 0.292893, 1.492474, 1.492474, 3.254508}, means.(*array.Float64).Float64Values(), 1e-6)
	})
}

func TestMeansByTime(t *testing.T) {
	for name, c := range map[string]struct {
		times, values arrow.DataType
		halfLife      any
		units         float64
	}{
		"timestamps": {&arrow.TimestampType{Unit: arrow.Second}, arrow.PrimitiveTypes.Float64, 90 * time.Second, 90},
		"integers":   {arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int64, 40, 40},
		"floats":     {arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float64, 12.5, 12.5},
	} {
		t.Run(name, func(t *testing.T) {
			devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
				mgr := devicetest.Manager(t, dev, memory.Options{})
				random := rand.New(rand.NewPCG(3, uint64(c.units)))
				for _, n := range []int{0, 1, 70, 5000} {
					for _, sorted := range []bool{true, false} {
						rows := make([]decayRow, n)
						for i := range rows {
							rows[i] = decayRow{int32(i * 3 / n), float64(i*5 + random.IntN(6)), float64(random.IntN(100))}
							if !sorted {
								rows[i].part, rows[i].at = int32(random.IntN(3)), rows[i].at+float64(random.IntN(200))
							}
							if random.IntN(9) == 0 {
								rows[i].value = math.NaN()
							}
							if !sorted && random.IntN(50) == 0 {
								rows[i].at = math.NaN()
							}
						}
						record := decayRecord(t, rows, c.times, c.values)
						requireMeans(t, mgr, record, window.ExponentialMeanBy(expr.Col("x"), expr.Col("at"), c.halfLife), decayModel(rows, c.units))
						record.Release()
					}
				}
			})
		})
	}
}

// TestTimesFarApart has differences that int64 does not hold, and infinity without a weight.
func TestTimesFarApart(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, times := range []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64} {
			least := int64(math.MinInt64)
			if times.ID() == arrow.UINT64 {
				least = 0
			}
			schema := arrow.NewSchema([]arrow.Field{{Name: "at", Type: times}, {Name: "x", Type: arrow.PrimitiveTypes.Float64}, {Name: "p", Type: arrow.PrimitiveTypes.Int32}}, nil)
			b := array.NewRecordBuilder(arrowalloc.DefaultAllocator, schema)
			for i, x := range []float64{1, 3, math.Inf(1), 5} {
				at := uint64(least) + []uint64{0, 1 << 63, 1 << 63, 1<<64 - 1}[i]
				if times.ID() == arrow.UINT64 {
					b.Field(0).(*array.Uint64Builder).Append(at)
				} else {
					b.Field(0).(*array.Int64Builder).Append(int64(at))
				}
				b.Field(1).(*array.Float64Builder).Append(x)
				b.Field(2).(*array.Int32Builder).Append(0)
			}
			record := b.NewRecord()
			b.Release()
			second := 3 - 2*math.Exp2(-float64(1<<63)/1e18)
			last := 5 - (5-second)*math.Exp2(-float64(1<<63)/1e18)
			requireMeans(t, mgr, record, window.ExponentialMeanBy(expr.Col("x"), expr.Col("at"), 1e18), []float64{1, second, second, last})
			record.Release()
		}
	})
}

func TestHalfLivesThatDoNotFit(t *testing.T) {
	x, at := expr.Col("x"), expr.Col("at")
	for _, c := range []struct {
		times, values arrow.DataType
		halfLife      any
		text          string
	}{
		{arrow.FixedWidthTypes.Date32, arrow.PrimitiveTypes.Int64, 3, "the half-life 3 (int) of date32, expected a time.Duration above zero"},
		{arrow.FixedWidthTypes.Date32, arrow.PrimitiveTypes.Int64, -time.Hour, "expected a time.Duration above zero"},
		{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64, time.Hour, "expected a number, because the times are numbers"},
		{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64, 0.0, "expected a finite number above zero"},
		{arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int64, math.NaN(), "expected a finite number above zero"},
		{arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64, 1, "the times: "},
		{arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, 1, "integers, floats or decimals"},
	} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: c.values}, {Name: "at", Type: c.times}}, nil)
		_, err := window.ExponentialMeanBy(x, at, c.halfLife).Type(schema, window.Windows{})
		require.ErrorContains(t, err, c.text)
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64}}, nil)
	_, err := window.ExponentialMeanBy(x, expr.Expr{}, 1).Type(schema, window.Windows{})
	require.ErrorContains(t, err, "the times are the zero Expr")
	_, err = window.ExponentialMeanBy(x, x, 1).Rows(-1, 0).Type(schema, window.Windows{})
	require.ErrorContains(t, err, "exponential_mean_by has no frame")
	require.Equal(t, "exponential_mean_by(x, at, 1)", window.ExponentialMeanBy(x, at, 1).String())
}
