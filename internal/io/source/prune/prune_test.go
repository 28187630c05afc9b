package prune_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/decimal128"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/io/source/prune"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// domain is a type with a generator of values, which includes the extremes, and of
// literals that a condition may compare it with.
type domain struct {
	dataType arrow.DataType
	// value appends a value and returns it as a bound.
	value   func(r *rand.Rand, builder array.Builder) any
	literal func(r *rand.Rand) any
}

var may = time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)

func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

func domains() []domain {
	number := func(r *rand.Rand) any {
		return pick[any](r, r.IntN(40)-20, float64(r.IntN(80)-40)/2, uint64(r.IntN(30)), int64(math.MinInt64), uint64(math.MaxUint64), 0.1, math.NaN(), math.Inf(1),
			float64(1<<53), int64(1<<53+1), int8(-3), float32(0.1))
	}
	signed := func(t arrow.DataType, least, greatest int64) domain {
		return domain{t, func(r *rand.Rand, builder array.Builder) any {
			v := pick(r, r.Int64N(30)-15, r.Int64N(30)-15, r.Int64N(30)-15, least, greatest, min(greatest, 1<<53+1))
			switch b := builder.(type) {
			case *array.Int8Builder:
				b.Append(int8(v))
			case *array.Int64Builder:
				b.Append(v)
			}
			return v
		}, number}
	}
	instant := func(unit arrow.TimeUnit) domain {
		return domain{&arrow.TimestampType{Unit: unit, TimeZone: "UTC"}, func(r *rand.Rand, builder array.Builder) any {
			v, err := arrow.TimestampFromTime(may.Add(time.Duration(r.IntN(100)-50)*time.Second), unit)
			if err != nil {
				panic(err)
			}
			v = pick(r, v, v, v, math.MaxInt64, math.MinInt64)
			builder.(*array.TimestampBuilder).Append(v)
			return int64(v)
		}, func(r *rand.Rand) any {
			return may.Add(time.Duration(r.IntN(100)-50)*time.Second + pick(r, 0, time.Nanosecond))
		}}
	}
	return []domain{
		signed(arrow.PrimitiveTypes.Int8, math.MinInt8, math.MaxInt8),
		signed(arrow.PrimitiveTypes.Int64, math.MinInt64, math.MaxInt64),
		{arrow.PrimitiveTypes.Uint64, func(r *rand.Rand, builder array.Builder) any {
			v := pick(r, r.Uint64N(30), r.Uint64N(30), 0, math.MaxUint64)
			builder.(*array.Uint64Builder).Append(v)
			return v
		}, number},
		{arrow.PrimitiveTypes.Float32, func(r *rand.Rand, builder array.Builder) any {
			v := pick(r, float32(r.IntN(30)-15)/2, 0.1, float32(math.NaN()), float32(math.Inf(-1)), float32(math.Copysign(0, -1)))
			builder.(*array.Float32Builder).Append(v)
			return float64(v)
		}, number},
		{arrow.PrimitiveTypes.Float64, func(r *rand.Rand, builder array.Builder) any {
			v := pick(r, float64(r.IntN(30)-15)/2, 0.1, math.NaN(), 1<<53, math.Copysign(0, -1))
			builder.(*array.Float64Builder).Append(v)
			return v
		}, number},
		{&arrow.Decimal128Type{Precision: 10, Scale: 2}, func(r *rand.Rand, builder array.Builder) any {
			v := int64(r.IntN(6000) - 3000)
			builder.(*array.Decimal128Builder).Append(decimal128.FromI64(v))
			return big.NewInt(v)
		}, number},
		{arrow.FixedWidthTypes.Boolean, func(r *rand.Rand, builder array.Builder) any {
			v := r.IntN(2) == 0
			builder.(*array.BooleanBuilder).Append(v)
			return v
		}, func(r *rand.Rand) any { return r.IntN(2) == 0 }},
		{arrow.FixedWidthTypes.Date32, func(r *rand.Rand, builder array.Builder) any {
			v := arrow.Date32FromTime(may.AddDate(0, 0, r.IntN(60)-30))
			builder.(*array.Date32Builder).Append(v)
			return int64(v)
		}, func(r *rand.Rand) any {
			return pick[any](r, arrow.Date32FromTime(may.AddDate(0, 0, r.IntN(60)-30)), may.Add(time.Duration(r.IntN(1000))*time.Hour))
		}},
		instant(arrow.Second), instant(arrow.Microsecond), instant(arrow.Nanosecond),
		{arrow.BinaryTypes.String, func(r *rand.Rand, builder array.Builder) any {
			v := word(r)
			builder.(*array.StringBuilder).Append(v)
			return []byte(v)
		}, func(r *rand.Rand) any { return word(r) }},
	}
}

func word(r *rand.Rand) string {
	return strings.Repeat(pick(r, "", "a", "b", "ab", "é", "\x00", "zz"), r.IntN(4)) + pick(r, "", "a", "q")
}

func compareBounds(a, b any) int {
	switch a := a.(type) {
	case int64:
		return cmp.Compare(a, b.(int64))
	case uint64:
		return cmp.Compare(a, b.(uint64))
	case float64:
		return cmp.Compare(a, b.(float64))
	case *big.Int:
		return a.Cmp(b.(*big.Int))
	case []byte:
		return bytes.Compare(a, b.([]byte))
	case bool:
		if a == b.(bool) {
			return 0
		} else if a {
			return 1
		}
		return -1
	}
	panic(fmt.Sprint(a))
}

// statistics returns the range of values, as writers of files describe it: without NaN,
// sometimes without some of the figures, with a text that is cut short.
func statistics(r *rand.Rand, values []any, nulls int) prune.Range {
	s := prune.Range{Nulls: int64(nulls), Valid: int64(len(values))}
	values = slices.DeleteFunc(slices.Clone(values), func(v any) bool { f, ok := v.(float64); return ok && math.IsNaN(f) })
	if len(values) > 0 {
		s.Low, s.High = slices.MinFunc(values, compareBounds), slices.MaxFunc(values, compareBounds)
	}
	if text, ok := s.High.([]byte); ok && r.IntN(3) == 0 {
		s.High = text[:min(len(text), 2)]
		s.Low = s.Low.([]byte)[:min(len(s.Low.([]byte)), 2)]
	}
	if r.IntN(2) == 0 {
		s.Has = func(value any) bool {
			return slices.ContainsFunc(values, func(v any) bool { return assert.ObjectsAreEqual(v, value) })
		}
	}
	for _, forget := range []func(){func() { s.Low = nil }, func() { s.High = nil }, func() { s.Nulls = -1 }, func() { s.Valid = -1 }} {
		if r.IntN(8) == 0 {
			forget()
		}
	}
	return s
}

// condition makes a random condition on the columns, and how to test it on text, which
// package expr compares only for equality.
func condition(r *rand.Rand, all []domain, depth int) expr.Expr {
	if depth > 0 && r.IntN(3) > 0 {
		a, b := condition(r, all, depth-1), condition(r, all, depth-1)
		return pick(r, a.And(b), a.Or(b), a.And(b))
	}
	i := r.IntN(len(all))
	column := expr.Col(fmt.Sprint(i))
	if _, ok := all[i].dataType.(*arrow.BooleanType); ok && r.IntN(2) == 0 {
		return pick(r, column, column.Not())
	}
	literal := expr.Lit(all[i].literal(r))
	if _, ok := all[i].dataType.(*arrow.StringType); ok {
		return pick(r, column.Eq(literal), column.Ne(literal), column.HasPrefix(literal), column.IsNull(), column.IsValid(), literal.Eq(column))
	}
	return pick(r, column.Eq(literal), column.Ne(literal), column.Lt(literal), column.Le(literal), column.Gt(literal), column.Ge(literal),
		literal.Lt(column), literal.Ge(column), column.IsNull(), column.IsValid(), column.IsValid().Not())
}

func TestNoPartWithAMatchIsLeftOut(t *testing.T) {
	all := domains()
	fields := make([]arrow.Field, len(all))
	for i, d := range all {
		fields[i] = arrow.Field{Name: fmt.Sprint(i), Type: d.dataType, Nullable: true}
	}
	schema := arrow.NewSchema(fields, nil)
	excluded := 0
	rounds := 150
	if testing.Short() {
		rounds = 12
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		const parts = 6
		records := make([]arrow.Record, parts)
		ranges := make([][]prune.Range, parts)
		for part := range records {
			builder := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
			rows := 1 + r.IntN(3)
			for i, d := range all {
				var values []any
				for range rows {
					if r.IntN(4) == 0 {
						builder.Field(i).AppendNull()
					} else {
						values = append(values, d.value(r, builder.Field(i)))
					}
				}
				ranges[part] = append(ranges[part], statistics(r, values, rows-len(values)))
			}
			records[part] = builder.NewRecord()
			builder.Release()
		}
		for range 60 {
			wanted := condition(r, all, 2)
			possible, err := prune.Possible(t.Context(), schema, []expr.Expr{wanted}, parts, func(part int, column string) prune.Range {
				return ranges[part][schema.FieldIndices(column)[0]]
			})
			require.NoError(t, err)
			for part, record := range records {
				results, err := expr.EvaluateRecord(t.Context(), record, []expr.Expr{wanted})
				require.NoError(t, err, wanted)
				matches := results[0].(*array.Boolean)
				for row := range matches.Len() {
					if matches.IsValid(row) && matches.Value(row) {
						require.True(t, possible[part], "seed %d, part %d, row %d meets %v: %v, %+v", seed, part, row, wanted, record, ranges[part])
					}
				}
				if !possible[part] {
					excluded++
				}
			}
		}
	}
	assert.Greater(t, excluded, rounds*50, "parts are left out")
}

func TestText(t *testing.T) {
	of := func(low, high string) prune.Range {
		return prune.Range{Low: []byte(low), High: []byte(high), Nulls: 0, Valid: 9}
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.LargeString}}, nil)
	s := expr.Col("s")
	for _, test := range []struct {
		condition expr.Expr
		of        prune.Range
		want      bool
	}{
		{s.Eq(expr.Lit("m")), of("a", "c"), false},
		{s.Eq(expr.Lit("b")), of("a", "c"), true},
		{s.Eq(expr.Lit("cc")), of("a", "c"), true}, // c may be cut short
		{s.Lt(expr.Lit("a")), of("a", "c"), false},
		{s.Le(expr.Lit("a")), of("a", "c"), true},
		{s.Gt(expr.Lit("d")), of("a", "c"), false},
		{s.Ge(expr.Lit("c")), of("a", "c"), true},
		{expr.Lit("d").Lt(s), of("a", "c"), false},
		{s.HasPrefix(expr.Lit("b")), of("baa", "bzz"), true},
		{s.HasPrefix(expr.Lit("c")), of("baa", "bzz"), false},
		{s.HasPrefix(expr.Lit("a")), of("baa", "bzz"), false},
		{s.Eq(expr.Lit("b")), prune.Range{Nulls: 3, Valid: 0}, false},
		{s.Eq(expr.Lit("b")), prune.Unknown, true},
		{s.IsNull(), prune.Range{Nulls: 0, Valid: 3}, false},
		{s.Eq(expr.Lit(3)), of("a", "c"), true}, // an error of the query
		{s.Eq(expr.Col("none")), of("a", "c"), true},
	} {
		possible, err := prune.Possible(t.Context(), schema, []expr.Expr{test.condition}, 1, func(int, string) prune.Range { return test.of })
		require.NoError(t, err)
		assert.Equal(t, test.want, possible[0], "%v of %s to %s", test.condition, test.of.Low, test.of.High)
	}
}

func TestConditionsThatAreNotUnderstood(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "f", Type: arrow.PrimitiveTypes.Float64}}, nil)
	n, f := expr.Col("n"), expr.Col("f")
	for _, condition := range []expr.Expr{{}, n.Add(expr.Lit(1)).Gt(expr.Lit(100)), n.Gt(f), expr.Lit(true), expr.Col("none").IsNull(),
		n.Gt(expr.Lit("text")), f.Ne(expr.Lit(5.0)), n.Eq(expr.Null(arrow.PrimitiveTypes.Int64)), f.IsNaN(), n.Lt(expr.Lit(0)).Not()} {
		possible, err := prune.Possible(t.Context(), schema, []expr.Expr{condition}, 1, func(_ int, column string) prune.Range {
			if column == "f" {
				return prune.Range{Low: 5.0, High: 5.0, Nulls: 0, Valid: 3}
			}
			return prune.Range{Low: int64(5), High: int64(5), Nulls: 0, Valid: 3}
		})
		require.NoError(t, err)
		assert.Equal(t, []bool{true}, possible, "%v", condition)
	}
}
