package exprtree_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
)

// TestHashStaysAsItIs fixes the function, because users may store its values.
func TestHashStaysAsItIs(t *testing.T) {
	require.Equal(t, uint64(0x8ca982c42ee4cb0), exprtree.HashWord(exprtree.HashSeed, 0))
	require.Equal(t, uint64(0xfb4fb9459985a73f), exprtree.HashWord(exprtree.HashSeed, 1))
	require.Equal(t, exprtree.HashWord(exprtree.HashSeed, 0), exprtree.HashBytes(exprtree.HashSeed, ""))
	require.Equal(t, exprtree.HashWord(exprtree.HashWord(exprtree.HashSeed, 0x6261), 2), exprtree.HashBytes(exprtree.HashSeed, "ab"))
	require.Equal(t, exprtree.HashBytes(exprtree.HashSeed, "abcdefghi"), exprtree.HashBytes(exprtree.HashSeed, []byte("abcdefghi")))
	require.Equal(t, exprtree.HashFloat(0), exprtree.HashFloat(math.Copysign(0, -1)))
	require.Equal(t, exprtree.HashNaN, exprtree.HashFloat(math.Float64frombits(0xfff8_0000_0000_0001)))
	require.Equal(t, math.Float64bits(1.5), exprtree.HashFloat(1.5))
}

// TestHashSpreads checks that consecutive numbers are distributed evenly over buckets,
// and that each bit of a word changes half of the bits of the hash.
func TestHashSpreads(t *testing.T) {
	var buckets [256]int
	flips := 0
	for i := range uint64(1 << 16) {
		h := exprtree.HashWord(exprtree.HashSeed, i)
		buckets[h>>56]++
		other := h ^ exprtree.HashWord(exprtree.HashSeed, i^1<<(i%64))
		for ; other != 0; other &= other - 1 {
			flips++
		}
	}
	for _, count := range buckets {
		require.InDelta(t, 256, count, 100)
	}
	require.InDelta(t, 32, float64(flips)/(1<<16), 0.2)
}

func TestTemporalCasts(t *testing.T) {
	stamp := func(unit arrow.TimeUnit) arrow.DataType { return &arrow.TimestampType{Unit: unit} }
	span := func(unit arrow.TimeUnit) arrow.DataType { return &arrow.DurationType{Unit: unit} }
	date32, date64 := arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64
	all := exprtree.TemporalCast{Least: math.MinInt64, Most: math.MaxInt64}
	with := func(modulo, divide, multiply int64) exprtree.TemporalCast {
		return exprtree.TemporalCast{Modulo: modulo, Divide: divide, Multiply: multiply, Least: all.Least, Most: all.Most}
	}
	cases := []struct {
		from, to arrow.DataType
		want     exprtree.TemporalCast
	}{
		{stamp(arrow.Second), stamp(arrow.Second), all},
		{stamp(arrow.Second), stamp(arrow.Nanosecond), with(0, 0, 1e9)},
		{stamp(arrow.Microsecond), stamp(arrow.Millisecond), with(0, 1e3, 0)},
		{stamp(arrow.Millisecond), date64, with(0, 86_400_000, 86_400_000)},
		{date64, stamp(arrow.Second), with(0, 1e3, 0)},
		{date32, date64, with(0, 0, 86_400_000)},
		{date32, stamp(arrow.Microsecond), with(0, 0, 86_400e6)},
		{date64, date32, exprtree.TemporalCast{Divide: 86_400_000, Least: math.MinInt32, Most: math.MaxInt32}},
		{stamp(arrow.Second), arrow.FixedWidthTypes.Time64us, with(86_400, 0, 1e6)},
		{stamp(arrow.Nanosecond), arrow.FixedWidthTypes.Time32s, exprtree.TemporalCast{Modulo: 86_400e9, Divide: 1e9, Least: math.MinInt32, Most: math.MaxInt32}},
		{span(arrow.Second), arrow.FixedWidthTypes.Time32ms, exprtree.TemporalCast{Multiply: 1e3, Least: 0, Most: 86_399_999}},
		{arrow.FixedWidthTypes.Time32ms, span(arrow.Second), with(0, 1e3, 0)},
	}
	for _, c := range cases {
		got, ok := exprtree.TemporalCastOf(c.from, c.to)
		require.True(t, ok)
		require.Equal(t, c.want, got, "%v to %v", c.from, c.to)
		require.True(t, exprtree.CanCast(c.from, c.to, false))
	}
	for _, refused := range [][2]arrow.DataType{
		{date32, arrow.FixedWidthTypes.Time32s}, {arrow.FixedWidthTypes.Time32s, date32}, {span(arrow.Second), date32},
		{date32, arrow.PrimitiveTypes.Float64}, {arrow.FixedWidthTypes.Boolean, date32}, {date32, arrow.BinaryTypes.String},
	} {
		require.False(t, exprtree.CanCast(refused[0], refused[1], false), "%v", refused)
	}
}

func TestKinds(t *testing.T) {
	for _, dataType := range arraytest.AllTypes() {
		kind := exprtree.KindOf(dataType)
		require.NotEmpty(t, exprtree.Code(dataType))
		if kind == exprtree.Other {
			require.Equal(t, "other", exprtree.Code(dataType))
			continue
		}
		if fixed, ok := dataType.(arrow.FixedWidthDataType); ok && kind != exprtree.String {
			require.Equal(t, fixed.BitWidth(), kind.Bits(), "%v", dataType)
		}
		require.Equal(t, kind.IsNumber(), kind.IsInteger() || kind.IsFloat())
		require.Equal(t, kind.IsInteger(), kind.IsSigned() != kind.IsUnsigned())
	}
	require.Equal(t, exprtree.Other, exprtree.KindOf(nil))
	require.Equal(t, exprtree.Other, exprtree.KindOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int8}))
}

func TestEveryOperationHasAName(t *testing.T) {
	seen := make(map[string]bool)
	for op := exprtree.Column; op < exprtree.Ops; op++ {
		require.NotContains(t, op.String(), "operation", "%d", op)
		require.False(t, seen[op.String()])
		seen[op.String()] = true
	}
	require.Equal(t, "operation 0", exprtree.Invalid.String())
}

func ExampleNewProgram() {
	int64s := arrow.PrimitiveTypes.Int64
	delay := &exprtree.Node{Op: exprtree.Column, Type: int64s}
	fifteen := &exprtree.Node{Op: exprtree.Literal, Type: int64s, Value: int64(15)}
	late := &exprtree.Node{Op: exprtree.Greater, Type: arrow.FixedWidthTypes.Boolean, Arguments: []*exprtree.Node{delay, fifteen}}
	program := exprtree.NewProgram([]int{3}, []arrow.DataType{int64s}, []*exprtree.Node{late})
	fmt.Println(program.Key)
	fmt.Println(len(program.Nodes), "nodes,", len(program.Literals), "literal")
	// Output:
	// int64 column:int64@0;literal:int64;greater:bool,0,1;= 2
	// 3 nodes, 1 literal
}

func TestAlwaysDefined(t *testing.T) {
	i16, u64 := arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint64
	column := &exprtree.Node{Op: exprtree.Column, Type: i16}
	for _, c := range []struct {
		op      exprtree.Op
		of      arrow.DataType
		by      any
		defined bool
	}{
		{exprtree.Divide, i16, int64(2), true}, {exprtree.Divide, i16, int64(-1), true}, {exprtree.Divide, i16, int64(0), false},
		{exprtree.Remainder, u64, uint64(10), true}, {exprtree.Remainder, u64, uint64(0), false}, {exprtree.Divide, i16, nil, false},
		{exprtree.Divide, arrow.PrimitiveTypes.Float64, 2.0, false},
		{exprtree.ShiftLeft, i16, int64(15), true}, {exprtree.ShiftLeft, i16, int64(16), false}, {exprtree.ShiftRight, i16, int64(-1), false},
		{exprtree.ShiftRight, u64, uint64(63), true}, {exprtree.ShiftRight, u64, uint64(64), false}, {exprtree.Add, i16, int64(2), false},
	} {
		literal := &exprtree.Node{Op: exprtree.Literal, Type: c.of, Value: c.by}
		n := &exprtree.Node{Op: c.op, Type: c.of, Arguments: []*exprtree.Node{column, literal}}
		require.Equal(t, c.defined, n.AlwaysDefined(), "%v by %v", c.op, c.by)
	}
	n := &exprtree.Node{Op: exprtree.Divide, Type: i16, Arguments: []*exprtree.Node{column, column}}
	require.False(t, n.AlwaysDefined())
}
