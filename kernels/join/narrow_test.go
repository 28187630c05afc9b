package join_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
	"github.com/gpuframe/gpuframe/memory"
)

// span is a row of a test of conditions: two numbers, either of which may be null.
type span [2]*float64

// drawSpans draws a table of spans of a type, and the row numbers.
func drawSpans(t *testing.T, mgr *memory.Manager, r *rand.Rand, of arrow.DataType, rows int) (*buffer.Buffer, []span) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "s", Type: of, Nullable: true}, {Name: "e", Type: of, Nullable: true}, {Name: "row", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	spans := make([]span, rows)
	for row := range spans {
		begin := float64(r.IntN(400) - 200)
		for i, value := range []float64{begin, begin + float64(r.IntN(9)-1)} {
			switch {
			case r.IntN(20) == 0:
				b.Field(i).AppendNull()
				continue
			case arrow.IsFloating(of.ID()) && r.IntN(15) == 0:
				value = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0}[r.IntN(5)]
			}
			spans[row][i] = &value
			switch column := b.Field(i).(type) {
			case *array.Int16Builder:
				column.Append(int16(value))
			case *array.Date32Builder:
				column.Append(arrow.Date32(value))
			case *array.TimestampBuilder:
				column.Append(arrow.Timestamp(value))
			case *array.Uint64Builder:
				value += 300
				column.Append(uint64(value))
			case *array.Float32Builder:
				column.Append(float32(value))
			case *array.Float64Builder:
				column.Append(value)
			}
		}
		b.Field(2).(*array.Int64Builder).Append(int64(row))
	}
	record := b.NewRecord()
	defer record.Release()
	table, err := buffer.FromRecord(mgr, record)
	require.NoError(t, err)
	return table, spans
}

// compareSpans compares two numbers as expressions do.
func compareSpans(a, b *float64, holds func(sign int) bool) bool {
	if a == nil || b == nil {
		return false
	}
	switch aNaN, bNaN := math.IsNaN(*a), math.IsNaN(*b); {
	case aNaN && bNaN:
		return holds(0)
	case aNaN || !bNaN && *a > *b:
		return holds(1)
	case bNaN || *a < *b:
		return holds(-1)
	}
	return holds(0)
}

// spanCondition is a condition on pairs of spans, and the same in Go.
type spanCondition struct {
	where expr.Expr
	model func(a, b span) bool
}

// spanConditions are conditions by their names. All but one have bounds of both kinds.
func spanConditions() map[string]spanCondition {
	less, atMost, greater := func(sign int) bool { return sign < 0 }, func(sign int) bool { return sign <= 0 }, func(sign int) bool { return sign > 0 }
	s, e, s2, e2 := expr.Col("s"), expr.Col("e"), expr.Col("s_right"), expr.Col("e_right")
	return map[string]spanCondition{
		"overlap":            {s.Lt(e2).And(s2.Lt(e)), func(a, b span) bool { return compareSpans(a[0], b[1], less) && compareSpans(b[0], a[1], less) }},
		"closed overlap":     {s.Le(e2).And(e.Ge(s2)), func(a, b span) bool { return compareSpans(a[0], b[1], atMost) && compareSpans(b[0], a[1], atMost) }},
		"value in a range":   {s.Ge(s2).And(s.Lt(e2)), func(a, b span) bool { return compareSpans(b[0], a[0], atMost) && compareSpans(a[0], b[1], less) }},
		"range around value": {s2.Gt(s).And(s2.Le(e)), func(a, b span) bool { return compareSpans(b[0], a[0], greater) && compareSpans(b[0], a[1], atMost) }},
		"and more": {s.Lt(e2).And(s2.Lt(e)).And(e.Ne(e2)), func(a, b span) bool {
			return compareSpans(a[0], b[1], less) && compareSpans(b[0], a[1], less) && compareSpans(a[1], b[1], func(sign int) bool { return sign != 0 })
		}},
		"one bound": {s.Gt(e2), func(a, b span) bool { return compareSpans(a[0], b[1], greater) }},
	}
}

// TestNarrowed compares cross joins with conditions that have bounds with nested loops.
func TestNarrowed(t *testing.T) {
	types := []arrow.DataType{arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Timestamp_us}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr, r := devicetest.Manager(t, dev, memory.Options{}), property.Random(t)
		for name, c := range spanConditions() {
			for _, dataType := range types {
				if !chosen(r, dev, 12) {
					continue
				}
				a, left := drawSpans(t, mgr, r, dataType, 130+r.IntN(60))
				b, right := drawSpans(t, mgr, r, dataType, 130+r.IntN(60))
				var want [][2]int64
				for i := range left {
					for j := range right {
						if c.model(left[i], right[j]) {
							want = append(want, [2]int64{int64(i), int64(j)})
						}
					}
				}
				for _, order := range []join.Order{join.LeftOrder, join.Unspecified} {
					options := join.Options{Kind: join.Cross, Where: c.where, Order: order}
					result, err := join.Tables(t.Context(), a, b, nil, options)
					require.NoError(t, err)
					got := pairsOfRows(t, result)
					if order == join.Unspecified {
						slices.SortFunc(got, func(x, y [2]int64) int { return slices.Compare(x[:], y[:]) })
					}
					require.Equal(t, want, got, fmt.Sprint(name, dataType))
				}
				for _, kind := range []join.Kind{join.Inner, join.Left, join.Semi, join.Anti} {
					result, err := join.Tables(t.Context(), a, b, nil, join.Options{Kind: kind, Where: c.where, Order: join.LeftOrder})
					require.NoError(t, err)
					require.Equal(t, ofKind(kind, want, len(left)), pairsOfRows(t, result), fmt.Sprint(name, dataType, kind))
				}
				index, err := join.Build(t.Context(), a.Schema(), b, nil, join.Options{Kind: join.Cross, Where: c.where})
				require.NoError(t, err)
				result, err := index.Probe(t.Context(), a)
				require.NoError(t, err)
				require.Equal(t, want, pairsOfRows(t, result), fmt.Sprint(name, dataType))
				require.NoError(t, index.Release())
				require.NoError(t, a.Release())
				require.NoError(t, b.Release())
			}
		}
	})
}

// TestNarrowedWithKeys compares joins by few keys with conditions that have bounds with nested loops.
func TestNarrowedWithKeys(t *testing.T) {
	row := expr.Col("row")
	third := row.Mod(expr.Lit(10)).Div(expr.Lit(4)).Div(row.Mod(expr.Lit(11)).Sign()) // null for rows 0, 11, …
	parity := row.BitAnd(expr.Lit(1)).Cast(arrow.PrimitiveTypes.Float64)
	lists := map[string][]join.On{
		"a key":    {{LeftExpr: third, RightExpr: third}},
		"two keys": {{LeftExpr: third, RightExpr: third}, {LeftExpr: parity, RightExpr: parity}},
	}
	equal := func(name string, i, j int) bool {
		return i%11 > 0 && j%11 > 0 && i%10/4 == j%10/4 && (name == "a key" || i%2 == j%2)
	}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr, r := devicetest.Manager(t, dev, memory.Options{}), property.Random(t)
		for name, c := range spanConditions() {
			for keys, on := range lists {
				if !chosen(r, dev, 4) {
					continue
				}
				dataType := []arrow.DataType{arrow.PrimitiveTypes.Float32, arrow.FixedWidthTypes.Timestamp_us}[r.IntN(2)]
				a, left := drawSpans(t, mgr, r, dataType, 420+r.IntN(60))
				b, right := drawSpans(t, mgr, r, dataType, 420+r.IntN(60))
				var want [][2]int64
				for i := range left {
					for j := range right {
						if equal(keys, i, j) && c.model(left[i], right[j]) {
							want = append(want, [2]int64{int64(i), int64(j)})
						}
					}
				}
				for _, kind := range []join.Kind{join.Inner, join.Left, join.Semi, join.Anti} {
					result, err := join.Tables(t.Context(), a, b, on, join.Options{Kind: kind, Where: c.where, Order: join.LeftOrder})
					require.NoError(t, err)
					require.Equal(t, ofKind(kind, want, len(left)), pairsOfRows(t, result), fmt.Sprint(name, dataType, kind, keys))
				}
				index, err := join.Build(t.Context(), a.Schema(), b, on, join.Options{Kind: join.Inner, Where: c.where})
				require.NoError(t, err)
				result, err := index.Probe(t.Context(), a)
				require.NoError(t, err)
				require.Equal(t, want, pairsOfRows(t, result), fmt.Sprint(name, dataType, keys))
				require.NoError(t, index.Release())
				require.NoError(t, a.Release())
				require.NoError(t, b.Release())
			}
		}
	})
}

// ofKind returns the rows of a join of a kind of all pairs that match, −1 for no right row.
func ofKind(kind join.Kind, pairs [][2]int64, left int) (rows [][2]int64) {
	if kind == join.Inner {
		return pairs
	}
	for row := range int64(left) {
		matches := 0
		for matches < len(pairs) && pairs[matches][0] == row {
			matches++
		}
		switch {
		case kind == join.Left && matches > 0:
			rows = append(rows, pairs[:matches]...)
		case kind == join.Left || (matches > 0) == (kind == join.Semi):
			rows = append(rows, [2]int64{row, -1})
		}
		pairs = pairs[matches:]
	}
	return rows
}

// pairsOfRows returns the numbers of the rows of both sides of a result, which it releases.
func pairsOfRows(t *testing.T, result *buffer.Buffer) (pairs [][2]int64) {
	t.Helper()
	record := columntest.Fetch(t, result)
	left := record.Column(2).(*array.Int64)
	for i := range left.Len() {
		pair := [2]int64{left.Value(i), -1}
		if record.NumCols() > 5 && record.Column(5).IsValid(i) {
			pair[1] = record.Column(5).(*array.Int64).Value(i)
		}
		pairs = append(pairs, pair)
	}
	return pairs
}
