package codegen

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// TestNumbersDiffer: nodes that differ in anything that the code depends on are computed
// apart from one another.
func TestNumbersDiffer(t *testing.T) {
	timestamp := arrow.FixedWidthTypes.Timestamp_us
	x := &exprtree.Node{Op: exprtree.Column, Type: timestamp}
	y := &exprtree.Node{Op: exprtree.Column, Type: timestamp, Input: 1}
	one := &exprtree.Node{Op: exprtree.Literal, Type: timestamp, Value: int64(1)}
	two := &exprtree.Node{Op: exprtree.Literal, Type: timestamp, Value: int64(2), Slot: 1}
	null := &exprtree.Node{Op: exprtree.Literal, Type: timestamp, Slot: -1}
	floor := func(span int64, n *exprtree.Node) *exprtree.Node {
		return &exprtree.Node{Op: exprtree.FloorSpan, Type: timestamp, Constant: span, Arguments: []*exprtree.Node{n}}
	}
	cast := func(to arrow.DataType) *exprtree.Node {
		return &exprtree.Node{Op: exprtree.Cast, Type: to, Arguments: []*exprtree.Node{x}}
	}
	nodes := []*exprtree.Node{
		x, y, one, two, null,
		floor(1000, x), floor(60_000, x), floor(1000, y), floor(1000, floor(60_000, x)), floor(60_000, floor(1000, x)),
		cast(arrow.FixedWidthTypes.Timestamp_ms), cast(arrow.FixedWidthTypes.Date32),
		{Op: exprtree.CastWrap, Type: arrow.FixedWidthTypes.Timestamp_ms, Arguments: []*exprtree.Node{x}},
	}
	numbers := newNumbering()
	for i, n := range nodes {
		require.Equal(t, i, numbers.numberOf(n), describe(n))
	}
	require.Equal(t, numbers.numberOf(nodes[5]), numbers.numberOf(floor(1000, x)), "equal nodes are computed once")
}
