package tree_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/arraytest"
	"github.com/gpuframe/gpuframe/kernels/internal/tree"
)

// TestHashStaysAsItIs pins the function: its values may be kept by users.
func TestHashStaysAsItIs(t *testing.T) {
	require.Equal(t, uint64(0x8ca982c42ee4cb0), tree.HashWord(tree.HashSeed, 0))
	require.Equal(t, uint64(0xfb4fb9459985a73f), tree.HashWord(tree.HashSeed, 1))
	require.Equal(t, tree.HashWord(tree.HashSeed, 0), tree.HashBytes(tree.HashSeed, ""))
	require.Equal(t, tree.HashWord(tree.HashWord(tree.HashSeed, 0x6261), 2), tree.HashBytes(tree.HashSeed, "ab"))
	require.Equal(t, tree.HashBytes(tree.HashSeed, "abcdefghi"), tree.HashBytes(tree.HashSeed, []byte("abcdefghi")))
	require.Equal(t, tree.HashFloat(0), tree.HashFloat(math.Copysign(0, -1)))
	require.Equal(t, tree.HashNaN, tree.HashFloat(math.Float64frombits(0xfff8_0000_0000_0001)))
	require.Equal(t, math.Float64bits(1.5), tree.HashFloat(1.5))
}

// TestHashSpreads counts how evenly consecutive numbers fall into buckets, and that
// each bit of a word moves half of the bits of the hash.
func TestHashSpreads(t *testing.T) {
	var buckets [256]int
	flips := 0
	for i := range uint64(1 << 16) {
		h := tree.HashWord(tree.HashSeed, i)
		buckets[h>>56]++
		other := h ^ tree.HashWord(tree.HashSeed, i^1<<(i%64))
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
	all := tree.TemporalCast{Least: math.MinInt64, Most: math.MaxInt64}
	with := func(modulo, divide, multiply int64) tree.TemporalCast {
		return tree.TemporalCast{Modulo: modulo, Divide: divide, Multiply: multiply, Least: all.Least, Most: all.Most}
	}
	cases := []struct {
		from, to arrow.DataType
		want     tree.TemporalCast
	}{
		{stamp(arrow.Second), stamp(arrow.Second), all},
		{stamp(arrow.Second), stamp(arrow.Nanosecond), with(0, 0, 1e9)},
		{stamp(arrow.Microsecond), stamp(arrow.Millisecond), with(0, 1e3, 0)},
		{stamp(arrow.Millisecond), date64, with(0, 86_400_000, 86_400_000)},
		{date64, stamp(arrow.Second), with(0, 1e3, 0)},
		{date32, date64, with(0, 0, 86_400_000)},
		{date32, stamp(arrow.Microsecond), with(0, 0, 86_400e6)},
		{date64, date32, tree.TemporalCast{Divide: 86_400_000, Least: math.MinInt32, Most: math.MaxInt32}},
		{stamp(arrow.Second), arrow.FixedWidthTypes.Time64us, with(86_400, 0, 1e6)},
		{stamp(arrow.Nanosecond), arrow.FixedWidthTypes.Time32s, tree.TemporalCast{Modulo: 86_400e9, Divide: 1e9, Least: math.MinInt32, Most: math.MaxInt32}},
		{span(arrow.Second), arrow.FixedWidthTypes.Time32ms, tree.TemporalCast{Multiply: 1e3, Least: 0, Most: 86_399_999}},
		{arrow.FixedWidthTypes.Time32ms, span(arrow.Second), with(0, 1e3, 0)},
	}
	for _, c := range cases {
		got, ok := tree.TemporalCastOf(c.from, c.to)
		require.True(t, ok)
		require.Equal(t, c.want, got, "%v to %v", c.from, c.to)
		require.True(t, tree.CanCast(c.from, c.to, false))
	}
	for _, refused := range [][2]arrow.DataType{
		{date32, arrow.FixedWidthTypes.Time32s}, {arrow.FixedWidthTypes.Time32s, date32}, {span(arrow.Second), date32},
		{date32, arrow.PrimitiveTypes.Float64}, {arrow.FixedWidthTypes.Boolean, date32}, {date32, arrow.BinaryTypes.String},
	} {
		require.False(t, tree.CanCast(refused[0], refused[1], false), "%v", refused)
	}
}

func TestKinds(t *testing.T) {
	for _, dataType := range arraytest.AllTypes() {
		kind := tree.KindOf(dataType)
		require.NotEmpty(t, tree.Code(dataType))
		if kind == tree.Other {
			require.Equal(t, "other", tree.Code(dataType))
			continue
		}
		if fixed, ok := dataType.(arrow.FixedWidthDataType); ok && kind != tree.String {
			require.Equal(t, fixed.BitWidth(), kind.Bits(), "%v", dataType)
		}
		require.Equal(t, kind.IsNumber(), kind.IsInteger() || kind.IsFloat())
		require.Equal(t, kind.IsInteger(), kind.IsSigned() != kind.IsUnsigned())
	}
	require.Equal(t, tree.Other, tree.KindOf(nil))
	require.Equal(t, tree.Other, tree.KindOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int8}))
}

func TestEveryOperationHasAName(t *testing.T) {
	seen := make(map[string]bool)
	for op := tree.Column; op < tree.Ops; op++ {
		require.NotContains(t, op.String(), "operation", "%d", op)
		require.False(t, seen[op.String()])
		seen[op.String()] = true
	}
	require.Equal(t, "operation 0", tree.Invalid.String())
}

func ExampleNewProgram() {
	int64s := arrow.PrimitiveTypes.Int64
	delay := &tree.Node{Op: tree.Column, Type: int64s}
	fifteen := &tree.Node{Op: tree.Literal, Type: int64s, Value: int64(15)}
	late := &tree.Node{Op: tree.Greater, Type: arrow.FixedWidthTypes.Boolean, Arguments: []*tree.Node{delay, fifteen}}
	program := tree.NewProgram([]int{3}, []arrow.DataType{int64s}, []*tree.Node{late})
	fmt.Println(program.Key)
	fmt.Println(len(program.Nodes), "nodes,", len(program.Literals), "literal")
	// Output:
	// int64 column:int64@0;literal:int64;greater:bool,0,1;= 2
	// 3 nodes, 1 literal
}

func TestAlwaysDefined(t *testing.T) {
	i16, u64 := arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint64
	column := &tree.Node{Op: tree.Column, Type: i16}
	for _, c := range []struct {
		op      tree.Op
		of      arrow.DataType
		by      any
		defined bool
	}{
		{tree.Divide, i16, int64(2), true}, {tree.Divide, i16, int64(-1), true}, {tree.Divide, i16, int64(0), false},
		{tree.Remainder, u64, uint64(10), true}, {tree.Remainder, u64, uint64(0), false}, {tree.Divide, i16, nil, false},
		{tree.Divide, arrow.PrimitiveTypes.Float64, 2.0, false},
		{tree.ShiftLeft, i16, int64(15), true}, {tree.ShiftLeft, i16, int64(16), false}, {tree.ShiftRight, i16, int64(-1), false},
		{tree.ShiftRight, u64, uint64(63), true}, {tree.ShiftRight, u64, uint64(64), false}, {tree.Add, i16, int64(2), false},
	} {
		literal := &tree.Node{Op: tree.Literal, Type: c.of, Value: c.by}
		n := &tree.Node{Op: c.op, Type: c.of, Arguments: []*tree.Node{column, literal}}
		require.Equal(t, c.defined, n.AlwaysDefined(), "%v by %v", c.op, c.by)
	}
	n := &tree.Node{Op: tree.Divide, Type: i16, Arguments: []*tree.Node{column, column}}
	require.False(t, n.AlwaysDefined())
}
