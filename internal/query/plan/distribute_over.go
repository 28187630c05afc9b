package plan

import (
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/window"
)

// dividesWindows reports whether windows can be computed for the partitions of each device alone.
// Otherwise it returns the reason, if there is one to show.
func (d *distribution) dividesWindows(n *Over, input spread) (reason string, ok bool) {
	if !input.all {
		return "", false
	}
	if reason := indivisible(n); reason != "" {
		return reason, false
	}
	return "", d.isWorthDividing(n)
}

// indivisible returns why the values of windows of some partitions may differ if they are computed
// without the rows of the others, or "" if they never do.
func indivisible(n *Over) string {
	dependsOnAll := isRowNumber
	if n.IsOrdered() {
		dependsOnAll = func(a Aggregation) bool { return a.dependsOnPlace(n.input.Schema()) }
	}
	switch {
	case len(n.keys.Partition) == 0:
		return "for windows over all rows"
	case !haveHash(n.keys.Partition, n.input.Schema()):
		return "for windows over keys without a hash"
	case slices.ContainsFunc(n.aggregations, dependsOnAll):
		return "for windows with values that depend on all rows"
	}
	return ""
}

// Partitions returns the keys of the partitions if partitions can be computed without the rows of the
// others, with the same results. Otherwise it returns nil.
func (o *Over) Partitions() []expr.Expr {
	if indivisible(o) != "" {
		return nil
	}
	return o.keys.Partition
}

// isRowNumber reports whether an aggregation is the number of a row among all.
func isRowNumber(a Aggregation) bool { return a.Function == "arg_min" || a.Function == "arg_max" }

// dependsOnPlace reports whether a function may have results with other last bits if its partition
// comes after other rows: floats are added up tile by tile. Frames with two bounds are folded
// alone.
func (a Aggregation) dependsOnPlace(schema *arrow.Schema) bool {
	switch a.Function {
	case "exponential_mean", "exponential_mean_by":
		return true
	case "sum", "product", "mean", "variance", "stddev":
	default:
		return false
	}
	switch a.Frame.Kind {
	case RowsFrame:
		if a.Frame.Low != window.FirstRow && a.Frame.High != window.LastRow {
			return false
		}
	case RangeFrame:
		if a.Frame.LowOffset != nil && a.Frame.HighOffset != nil {
			return false
		}
	}
	t := typeOf(a.Values[0], schema)
	switch {
	case t == nil:
		return true
	case t.ID() == arrow.DECIMAL128:
		return a.Function != "sum" && a.Function != "mean"
	}
	return !arrow.IsInteger(t.ID()) || a.Function != "sum" && a.Function != "product"
}

// window computes windows on the devices of the hashes of their keys. If the order of the rows is
// read, they have positions, by which they are sorted later.
func (d *distribution) window(n *Over, input spread) (spread, error) {
	keys := n.keys.Partition
	windowed := spread{all: true, partition: keys, positions: input.positions, columns: columnsOf(n.Schema())}
	below := input.node
	if !sameExpressions(input.partition, keys) {
		ordered, err := d.inOrder(input)
		if err != nil {
			return spread{}, err
		}
		below = ordered.node
		if windowed.positions = d.read[n]; windowed.positions {
			below = NewPosition(below)
		}
		below = NewExchange(below, Shuffle, d.devices, keys...)
	}
	var err error
	windowed.node, err = withInputs(n, below)
	return windowed, err
}

// inOrder returns a node with the rows in their order and without the column of positions.
func (d *distribution) inOrder(s spread) (spread, error) {
	if !s.positions {
		return spread{node: s.node, all: s.all}, nil
	}
	keys := []SortKey{positionKey()}
	sorted, err := NewSort(NewRanges(s.node, d.devices, keys), keys, All)
	if err != nil {
		return spread{}, err
	}
	unpositioned, err := NewColumns(sorted, s.columns...)
	return spread{node: unpositioned, all: true}, err
}

// positionKey orders rows by their positions.
func positionKey() SortKey { return SortKey{Value: expr.Col(PositionName)} }
