package join_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/float16"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/strategy"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/memory"
)

// asOfKind is a pair of types of as-of keys. A key is a number of units; tolerance makes
// one of a distance.
type asOfKind struct {
	left, right arrow.DataType
	append      func(b array.Builder, key float64)
	tolerance   func(distance int) any
	// Without it the keys have no distances. span is the number of keys, if it is not 35.
	span int
}

func asInt(distance int) any { return distance }

// asOfKinds have keys from −4 to 30 in steps of one unit.
var asOfKinds = map[string]asOfKind{
	"int32":   {arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int32, appendNumber, asInt, 0},
	"widths":  {arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int64, appendNumber, func(d int) any { return uint64(d) }, 0},
	"int8":    {arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int8, appendNumber, asInt, 0},
	"far":     {arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64, appendFar, func(d int) any { return int64(d) << farBits }, 0},
	"float64": {arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float64, appendNumber, func(d int) any { return float64(d) }, 0},
	"float32": {arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float32, appendNumber, asInt, 0},
	"float16": {arrow.FixedWidthTypes.Float16, arrow.FixedWidthTypes.Float16, appendNumber, nil, 0},
	"units":   {arrow.FixedWidthTypes.Timestamp_s, arrow.FixedWidthTypes.Timestamp_us, appendNumber, func(d int) any { return time.Duration(d)*time.Second + time.Nanosecond }, 0},
	"date32":  {arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date32, appendNumber, func(d int) any { return time.Duration(d) * 24 * time.Hour }, 0},
}

// farBits is the distance of keys that do not fit 64 bits together with the number of a row.
const farBits = 56

func appendFar(builder array.Builder, key float64) {
	builder.(*array.Int64Builder).Append(int64(key) << farBits)
}

func appendNumber(builder array.Builder, key float64) {
	switch b := builder.(type) {
	case *array.Int8Builder:
		b.Append(int8(key))
	case *array.Int32Builder:
		b.Append(int32(key))
	case *array.Int64Builder:
		b.Append(int64(key))
	case *array.Float16Builder:
		b.Append(float16.New(float32(key)))
	case *array.Float32Builder:
		b.Append(float32(key))
	case *array.Float64Builder:
		b.Append(key)
	case *array.Date32Builder:
		b.Append(arrow.Date32(key))
	case *array.TimestampBuilder:
		unit := b.Type().(*arrow.TimestampType).Unit
		b.Append(arrow.Timestamp(key * float64(time.Second/unit.Multiplier())))
	}
}

// timed is a table of as-of keys and symbols. A key of NaN matches nothing.
type timed struct {
	keys    []float64
	symbols []string
	table   *buffer.Buffer
	random  *rand.Rand // drew the table
}

// drawTimed draws a table with columns t, s and row.
func drawTimed(t *testing.T, mgr *memory.Manager, r *rand.Rand, kind asOfKind, right bool, rows int, ascending bool) *timed {
	t.Helper()
	of := kind.left
	if right {
		of = kind.right
	}
	keys := array.NewBuilder(arrowmemory.DefaultAllocator, of)
	defer keys.Release()
	symbols, numbers := array.NewStringBuilder(arrowmemory.DefaultAllocator), array.NewInt32Builder(arrowmemory.DefaultAllocator)
	defer symbols.Release()
	defer numbers.Release()
	d := &timed{random: r}
	last := -4.0
	isFloat := arrow.IsFloating(of.ID())
	for row := range rows {
		key, symbol := float64(r.IntN(max(kind.span, 35))-4), string(rune('a'+r.IntN(3)))
		if ascending {
			last += float64(r.IntN(3))
			key = math.Min(last, 100)
		}
		switch {
		case !ascending && r.IntN(8) == 0:
			key = math.NaN()
			if isFloat && r.IntN(2) == 0 {
				kind.append(keys, key)
			} else {
				keys.AppendNull()
			}
		case isFloat && !ascending && r.IntN(10) == 0:
			key = math.Inf(1 - 2*r.IntN(2))
			kind.append(keys, key)
		default:
			kind.append(keys, key)
		}
		if r.IntN(9) == 0 {
			symbol = null
			symbols.AppendNull()
		} else {
			symbols.Append(symbol)
		}
		numbers.Append(int32(row))
		d.keys, d.symbols = append(d.keys, key), append(d.symbols, symbol)
	}
	arrays := []arrow.Array{keys.NewArray(), symbols.NewArray(), numbers.NewArray()}
	record := array.NewRecord(arrow.NewSchema([]arrow.Field{
		{Name: "t", Type: of, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "row", Type: arrow.PrimitiveTypes.Int32},
	}, nil), arrays, int64(rows))
	defer record.Release()
	for _, a := range arrays {
		a.Release()
	}
	var err error
	d.table, err = buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.table.Release()) })
	return d
}

// asOfModel returns the right row of each left row, or −1.
func asOfModel(a, b *timed, o join.AsOfOptions, tolerance float64) []int {
	rows := make([]int, len(a.keys))
	for i, key := range a.keys {
		back, ahead := -1, -1
		for j, other := range b.keys {
			equal := key == other
			switch {
			case key != key || other != other || equal && o.NotEqual || key != other && math.Abs(key-other) > tolerance:
				continue
			case len(o.By) > 0 && (a.symbols[i] != b.symbols[j] || a.symbols[i] == null):
				continue
			}
			if other <= key && (back < 0 || other >= b.keys[back]) {
				back = j
			}
			if other >= key && (ahead < 0 || other < b.keys[ahead]) {
				ahead = j
			}
		}
		switch {
		case o.Direction == join.Backward:
			ahead = -1
		case o.Direction == join.Forward:
			back = -1
		}
		rows[i] = back
		if back < 0 || ahead >= 0 && math.Abs(b.keys[ahead]-key) < math.Abs(key-b.keys[back]) {
			rows[i] = ahead
		}
	}
	return rows
}

func TestAsOfAgainstNestedLoops(t *testing.T) {
	for name, kind := range asOfKinds {
		t.Run(name, func(t *testing.T) {
			devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
				r := property.Random(t)
				mgr := devicetest.Manager(t, dev, memory.Options{})
				rounds := 20
				if devicetest.Emulated(dev) {
					rounds = 3
				}
				for round := range rounds {
					if !chosen(r, dev, 3) {
						continue
					}
					left, right := lengths(r, dev)
					o := join.AsOfOptions{Direction: join.Direction(round % 3), NotEqual: r.IntN(2) == 0, Sorted: r.IntN(3) == 0, MatchedOnly: r.IntN(4) == 0}
					tolerance := math.Inf(1)
					if kind.tolerance == nil {
						o.Direction = join.Direction(round % 2)
					} else if r.IntN(2) == 0 {
						units := r.IntN(4)
						tolerance, o.Tolerance = float64(units), kind.tolerance(units)
					}
					if r.IntN(2) == 0 {
						o.By = join.Using("s")
					}
					a := drawTimed(t, mgr, r, kind, false, left, false)
					b := drawTimed(t, mgr, r, kind, true, right, o.Sorted)
					checkAsOf(t, a, b, o, tolerance)
				}
			})
		})
	}
}

// TestAsOfOfManyRows has tiles of left rows with few and with many right rows between them.
func TestAsOfOfManyRows(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		if testing.Short() {
			t.Skip("the model compares 26 million pairs")
		}
		mgr := devicetest.Manager(t, dev, memory.Options{})
		for _, span := range []int{35, 20_000} {
			r := property.Random(t)
			kind := asOfKinds["int32"]
			kind.span = span
			a, b := drawTimed(t, mgr, r, kind, false, 2600, false), drawTimed(t, mgr, r, kind, true, 10_000, false)
			checkAsOf(t, a, b, join.AsOfOptions{Direction: join.Nearest, By: join.Using("s")}, math.Inf(1))
			checkAsOf(t, a, b, join.AsOfOptions{NotEqual: true}, math.Inf(1))
		}
	})
}

func checkAsOf(t *testing.T, a, b *timed, o join.AsOfOptions, tolerance float64) {
	t.Helper()
	on := join.On{Left: "t", Right: "t"}
	ways := []strategy.JoinStrategy{"", strategy.Merge, strategy.SortedMerge, strategy.Searched}
	ctx := strategy.WithJoin(t.Context(), strategy.Join{Find: ways[a.random.IntN(len(ways))]})
	result, err := join.AsOf(ctx, a.table, b.table, on, o)
	require.NoError(t, err)
	schema, err := join.AsOfSchema(a.table.Schema(), b.table.Schema(), on, o)
	require.NoError(t, err)
	require.True(t, schema.Equal(result.Schema()))
	record := columntest.Fetch(t, result)
	var want [][2]string
	for i, j := range asOfModel(a, b, o, tolerance) {
		switch {
		case j >= 0:
			want = append(want, [2]string{fmt.Sprint(i), fmt.Sprint(j)})
		case !o.MatchedOnly:
			want = append(want, [2]string{fmt.Sprint(i), columntest.Null})
		}
	}
	left, right := record.Column(2), record.Column(int(record.NumCols())-1)
	var got [][2]string
	rights := columntest.Texts(right)
	for i, text := range columntest.Texts(left) {
		got = append(got, [2]string{text, rights[i]})
	}
	require.Equal(t, want, got, "%+v, %+v", o, strategy.OfJoin(ctx))
}

// TestAsOfRefusals names the options that are at fault.
func TestAsOfRefusals(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	r := rand.New(rand.NewPCG(1, 1))
	a := drawTimed(t, mgr, r, asOfKinds["int32"], false, 5, false)
	on, text := join.On{Left: "t", Right: "t"}, join.On{Left: "s", Right: "s"}
	for _, c := range []struct {
		on   join.On
		o    join.AsOfOptions
		is   error
		says string
	}{
		{on, join.AsOfOptions{Direction: 5}, device.ErrInvalidValue, "Direction is 5"},
		{on, join.AsOfOptions{Tolerance: -1}, device.ErrInvalidValue, "Tolerance is -1 of type int"},
		{on, join.AsOfOptions{Tolerance: 1.5}, device.ErrInvalidValue, "Tolerance is 1.5"},
		{on, join.AsOfOptions{Tolerance: time.Second}, device.ErrInvalidValue, "the key has type int32"},
		{text, join.AsOfOptions{Direction: join.Nearest}, device.ErrNotSupported, `key 0, "s" = "s": values of type utf8 have no distance`},
		{join.On{Left: "t", Right: "s"}, join.AsOfOptions{}, device.ErrNotSupported, "the left key has type int32"},
	} {
		_, err := join.AsOf(t.Context(), a.table, a.table, c.on, c.o)
		require.ErrorIs(t, err, c.is)
		require.ErrorContains(t, err, "join: as of: ")
		require.ErrorContains(t, err, c.says)
	}
	result, err := join.AsOf(t.Context(), a.table, a.table, text, join.AsOfOptions{})
	require.NoError(t, err, "texts have an order, which is enough without distances")
	require.NoError(t, result.Release())
}
