package reduce_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/reduce"
	"github.com/gpuframe/gpuframe/memory"
)

// BenchmarkReach compares reductions with the device's copy rate of the same run:
// "reach" is the rate at which the bytes of the rows are read, including validity
// bitmaps, as a fraction of the copy rate.
//
//	GPUFRAME_REQUIRE_CUDA=1 go test ./kernels/reduce -run - -bench Reach
func BenchmarkReach(b *testing.B) {
	dev := devicetest.Open(b, "cuda:0")
	mgr, err := memory.NewManager(dev, memory.Options{})
	require.NoError(b, err)
	defer mgr.Close()
	clock := newClock(b, dev, mgr)
	copyRate := clock.copyRate(b)

	x, y := expr.Col("x"), expr.Col("y")
	for _, kind := range []arrow.DataType{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int32} {
		for _, nulls := range []bool{false, true} {
			table := benchTable(b, mgr, kind, 1<<27, nulls)
			width := float64(kind.(arrow.FixedWidthDataType).Bytes())
			if nulls {
				width += 1. / 8
			}
			for _, c := range []struct {
				name       string
				columns    float64
				aggregates []reduce.Aggregate
			}{
				{"sum", 1, []reduce.Aggregate{reduce.Sum(x)}},
				{"minmax", 1, []reduce.Aggregate{reduce.Min(x), reduce.Max(x)}},
				{"mean+variance", 1, []reduce.Aggregate{reduce.Mean(x), reduce.Variance(x, 1)}},
				{"argmin", 1, []reduce.Aggregate{reduce.ArgMin(x)}},
				{"sum-where-other", 2, []reduce.Aggregate{reduce.Sum(x).Where(y.Gt(expr.Lit(1)))}},
				{"sum-where-same", 1, []reduce.Aggregate{reduce.Sum(x).Where(x.Gt(expr.Lit(1)))}},
				{"sum-of-product", 2, []reduce.Aggregate{reduce.Sum(x.Mul(y))}},
			} {
				b.Run(fmt.Sprintf("%s/%v/nulls=%v", c.name, kind, nulls), func(b *testing.B) {
					seconds := clock.best(b, func() error { return once(b, table, c.aggregates) })
					b.ReportMetric(seconds*1e6, "µs/run")
					b.ReportMetric(width*c.columns*(1<<27)/seconds/copyRate, "reach")
					b.ReportMetric((1<<27)/seconds/1e9, "Grows/s")
				})
			}
			require.NoError(b, table.Release())
		}
	}
}

// BenchmarkRows measures a sum of few and many rows, from the call until the result is
// complete on the device.
func BenchmarkRows(b *testing.B) {
	dev := devicetest.Open(b, "cuda:0")
	mgr, err := memory.NewManager(dev, memory.Options{})
	require.NoError(b, err)
	defer mgr.Close()
	aggregates := []reduce.Aggregate{reduce.Sum(expr.Col("x"))}
	for _, shift := range []int{10, 12, 14, 16, 18, 20, 22, 24, 26, 28} {
		table := benchTable(b, mgr, arrow.PrimitiveTypes.Float64, 1<<shift, true)
		b.Run(fmt.Sprintf("2^%d", shift), func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, once(b, table, aggregates))
				require.NoError(b, mgr.Stream().Synchronize(b.Context()))
			}
		})
		require.NoError(b, table.Release())
	}
}

// BenchmarkFirstUse measures the time to the result of aggregates without a compiled
// kernel. The driver may find a kernel of an earlier run on disk.
func BenchmarkFirstUse(b *testing.B) {
	dev := devicetest.Open(b, "cuda:0")
	mgr, err := memory.NewManager(dev, memory.Options{})
	require.NoError(b, err)
	defer mgr.Close()
	table := benchTable(b, mgr, arrow.PrimitiveTypes.Float64, 1000, true)
	defer table.Release()
	x := expr.Col("x")
	freedom := int(time.Now().UnixNano() & 0xffffff)
	for b.Loop() {
		freedom++ // a constant in the kernel's code
		require.NoError(b, once(b, table, []reduce.Aggregate{reduce.Sum(x), reduce.Variance(x, freedom)}))
		require.NoError(b, mgr.Stream().Synchronize(b.Context()))
	}
}

func once(b *testing.B, table *buffer.Buffer, aggregates []reduce.Aggregate) error {
	result, err := reduce.Table(b.Context(), table, aggregates)
	if err != nil {
		return err
	}
	return result.Release()
}

// benchTable has columns x and y of zeros. If nulls is true, every second bit of their
// bitmaps is set.
func benchTable(b *testing.B, mgr *memory.Manager, kind arrow.DataType, n int, nulls bool) *buffer.Buffer {
	var columns []*column.Column
	var fields []arrow.Field
	for _, name := range []string{"x", "y"} {
		c := zeros(b, mgr, kind, n)
		if nulls {
			bits, err := memory.NewSlice[uint8](mgr, (n+7)/8, memory.AllocateOptions{})
			require.NoError(b, err)
			require.NoError(b, bits.Fill(nil, 0x55))
			data := c.Data()
			data.Buffers = []column.Bytes{bits, data.Buffers[1]}
			data.NullCount = column.UnknownNullCount
			withNulls, err := column.New(data)
			require.NoError(b, err)
			require.NoError(b, bits.Release())
			require.NoError(b, c.Release())
			c = withNulls
		}
		defer c.Release()
		columns, fields = append(columns, c), append(fields, arrow.Field{Name: name, Type: kind, Nullable: true})
	}
	table, err := buffer.New(arrow.NewSchema(fields, nil), columns, buffer.Rows{Count: int64(n)})
	require.NoError(b, err)
	return table
}

// clock measures time on the device.
type clock struct {
	mgr        *memory.Manager
	start, end *device.Event
}

func newClock(b *testing.B, dev *device.Device, mgr *memory.Manager) *clock {
	c := &clock{mgr: mgr}
	for _, event := range []**device.Event{&c.start, &c.end} {
		var err error
		*event, err = dev.NewTimingEvent()
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, (*event).Close()) })
	}
	return c
}

// best returns the shortest of several measurements of f, in seconds. Each measurement
// runs f often enough to take some milliseconds.
func (c *clock) best(b *testing.B, f func() error) float64 {
	const runs = 10
	shortest := 1e9
	for range 12 {
		require.NoError(b, f())
		require.NoError(b, c.start.Record(c.mgr.Stream()))
		for range runs {
			if err := f(); err != nil {
				b.Fatal(err)
			}
		}
		require.NoError(b, c.end.Record(c.mgr.Stream()))
		require.NoError(b, c.end.Wait(b.Context()))
		milliseconds, err := c.end.Elapsed(c.start)
		require.NoError(b, err)
		shortest = min(shortest, float64(milliseconds)/1e3/runs)
	}
	return shortest
}

// copyRate returns the rate of a copy on the device, in bytes read and written per
// second.
func (c *clock) copyRate(b *testing.B) float64 {
	const bytes = 1 << 30
	var halves [2]memory.Slice[uint8]
	for i := range halves {
		var err error
		halves[i], err = memory.NewSlice[uint8](c.mgr, bytes, memory.AllocateOptions{})
		require.NoError(b, err)
		require.NoError(b, halves[i].Fill(nil, 1))
	}
	seconds := c.best(b, func() error { return halves[0].CopyFrom(nil, halves[1]) })
	for i := range halves {
		require.NoError(b, halves[i].Release())
	}
	b.Logf("a copy on the device moves %.0f GB/s", 2*bytes/seconds/1e9)
	return 2 * bytes / seconds
}
