package join

import (
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/window"
)

// A join with a condition need not evaluate it for all pairs of rows, or for all pairs with equal keys, if the condition has
// conjuncts
//
//	u < x and v > y
//
// with u and v of the build side, and x and y of the probe side: a value in a range, or spans that
// overlap. The build side is sorted by u. For a row of the probe side, the build rows with u < x end
// at a place that a search finds. They begin at the first row up to which the greatest v is above y:
// the greatest v up to each row is in order, so a search finds it too. The condition is evaluated for
// the rows in between. All of them match if u and v are one expression, and most if the spans have
// similar lengths. With keys the build side is sorted by these first, the greatest v is that of the rows with equal
// keys, and the searches have the keys too.

// bound is a comparison of an expression of the build side with one of the probe side.
type bound struct {
	build, probe expr.Expr
	// upper is set for build < probe, closed if it may be equal.
	upper, closed bool
}

// narrowing is a condition with an upper and a lower bound of the build side.
type narrowing struct {
	*condition
	upper, lower bound
	// probeKeys and buildKeys are the keys of both sides.
	probeKeys, buildKeys []*column.Column
}

// narrowing returns the bounds of the condition, if it has both.
func (k *condition) narrowing() (narrowing, bool) {
	var bounds []bound
	for _, conjunct := range k.options.Where.Conjuncts() {
		if b, ok := k.bound(conjunct); ok {
			bounds = append(bounds, b)
		}
	}
	best, ok := narrowing{condition: k}, false
	for _, upper := range bounds {
		for _, lower := range bounds {
			if !upper.upper || lower.upper {
				continue
			}
			if same := upper.build.Same(lower.build); !ok || same {
				best.upper, best.lower, ok = upper, lower, true
				if same {
					return best, true
				}
			}
		}
	}
	return best, ok
}

// bound returns the bound that a comparison is.
func (k *condition) bound(e expr.Expr) (bound, bool) {
	b := bound{}
	switch e.Operation() {
	case "less":
		b.upper = true
	case "less_equal":
		b.upper, b.closed = true, true
	case "greater":
	case "greater_equal":
		b.closed = true
	default:
		return b, false
	}
	operands := e.Operands()
	left, right := k.sideOf(operands[0]), k.sideOf(operands[1])
	switch {
	case left == buildSide && right == probeSide:
		b.build, b.probe = operands[0], operands[1]
	case left == probeSide && right == buildSide:
		b.build, b.probe, b.upper = operands[1], operands[0], !b.upper
	default:
		return b, false
	}
	return k.searchable(b)
}

const (
	noSide = iota
	probeSide
	buildSide
)

// sideOf returns the side that all columns of an expression are of.
func (k *condition) sideOf(e expr.Expr) (side int) {
	for _, name := range e.Columns() {
		for _, c := range k.result.columns {
			if c.name != name {
				continue
			}
			from := probeSide
			if c.right != k.probesRight {
				from = buildSide
			}
			if side != noSide && side != from {
				return noSide
			}
			side = from
		}
	}
	return side
}

// searchable returns a bound with both sides as int64, uint64 or float64 in the order of the
// comparison. NaN, the greatest of all, becomes infinity, so the bounds of floats are closed.
func (k *condition) searchable(b bound) (bound, bool) {
	x, xErr := k.typeOf(b.build, buildSide)
	y, yErr := k.typeOf(b.probe, probeSide)
	if xErr != nil || yErr != nil {
		return b, false
	}
	var convert func(expr.Expr) expr.Expr
	switch {
	case fitsInt64(x) && fitsInt64(y):
		convert = func(e expr.Expr) expr.Expr { return e.Cast(arrow.PrimitiveTypes.Int64) }
	case isDouble(x) && isDouble(y):
		convert = func(e expr.Expr) expr.Expr {
			e = e.Cast(arrow.PrimitiveTypes.Float64).Add(expr.Lit(0.0)) // there is no −0
			return expr.If(e.IsNaN(), expr.Lit(math.Inf(1)), e)
		}
		b.closed = true
	case arrow.TypeEqual(x, y) && exprtree.IsTemporal(x) && x.(arrow.FixedWidthDataType).BitWidth() == 32:
		convert = func(e expr.Expr) expr.Expr {
			return e.Cast(arrow.PrimitiveTypes.Int32).Cast(arrow.PrimitiveTypes.Int64)
		}
	case arrow.TypeEqual(x, y) && exprtree.IsTemporal(x) && x.(arrow.FixedWidthDataType).BitWidth() == 64:
		convert = func(e expr.Expr) expr.Expr { return e.Cast(arrow.PrimitiveTypes.Int64) }
	case arrow.TypeEqual(x, y) && x.ID() == arrow.UINT64:
		convert = func(e expr.Expr) expr.Expr { return e }
	default:
		return b, false
	}
	b.build, b.probe = convert(b.build), convert(b.probe)
	_, xErr = k.typeOf(b.build, buildSide)
	_, yErr = k.typeOf(b.probe, probeSide)
	return b, xErr == nil && yErr == nil
}

func fitsInt64(t arrow.DataType) bool { return arrow.IsInteger(t.ID()) && t.ID() != arrow.UINT64 }

func isDouble(t arrow.DataType) bool { return t.ID() == arrow.FLOAT32 || t.ID() == arrow.FLOAT64 }

// typeOf returns the type of an expression of one side.
func (k *condition) typeOf(e expr.Expr, side int) (arrow.DataType, error) {
	var fields []arrow.Field
	for _, c := range k.result.columns {
		if c.right != k.probesRight == (side == buildSide) {
			fields = append(fields, arrow.Field{Name: c.name, Type: k.table(c.right).Column(c.number).Type(), Nullable: true})
		}
	}
	t, _, err := e.Type(arrow.NewSchema(fields, nil))
	return t, err
}

// table returns the right or the left table.
func (k *condition) table(right bool) *buffer.Buffer {
	if right {
		return k.right
	}
	return k.left
}

// narrow returns matches of which those that meet the condition are a part. It returns nil if all
// pairs are evaluated.
func (k *condition) narrow(m *matches) (*matches, error) {
	if int64(m.probe)*int64(m.build) < narrowedPairs || min(m.probe, m.build) < narrowedRows {
		return nil, nil
	}
	n, ok := k.narrowing()
	if !ok {
		return nil, nil
	}
	n.probeKeys, n.buildKeys = k.leftKeys, k.rightKeys
	if k.probesRight {
		n.probeKeys, n.buildKeys = k.rightKeys, k.leftKeys
	}
	if len(k.leftKeys)+len(k.rightKeys) > 0 {
		if many, err := n.hasManyPairs(m); err != nil || !many {
			return nil, err
		}
	}
	var held release.Stack
	narrowed, err := newMatches(k.call, m.probe, m.build)
	if err == nil {
		err = n.fill(&held, narrowed)
	}
	return release.OnError(narrowed, err, held.Release())
}

// hasManyPairs reports whether a sort and searches are faster than to evaluate the condition for each pair of rows with
// equal keys: they are if there are narrowedPairs pairs or more, and pairsPerNarrowedRow for each row. A GPU waits for
// the number of pairs.
func (n *narrowing) hasManyPairs(m *matches) (bool, error) {
	if n.nullsEqual || len(n.probeKeys) != len(n.buildKeys) {
		return false, nil
	}
	s, err := newSequence(n.call, m, everyMatch)
	if err != nil {
		return false, err
	}
	return s.total >= narrowedPairs && s.total >= pairsPerNarrowedRow*int64(m.probe+m.build), s.Release()
}

// fill finds the matches.
func (n *narrowing) fill(held *release.Stack, m *matches) error {
	expressions := []expr.Expr{n.upper.build, n.lower.build}
	if n.upper.build.Same(n.lower.build) {
		expressions = expressions[:1]
	}
	bounds, err := n.evaluateSide(held, buildSide, expressions)
	if err != nil {
		return err
	}
	s, keys, err := sortUsable(n.call, held, m, slices.Concat(n.buildKeys, bounds), false)
	if err != nil {
		return err
	}
	keys = keys[:len(n.buildKeys)+1]
	first, err := firstColumns(held, s.table, len(keys))
	if err != nil {
		return err
	}
	reach := first
	if len(bounds) > 1 {
		if reach, err = n.reach(held, s.table); err != nil {
			return err
		}
	}
	probe, err := n.evaluateSide(held, probeSide, []expr.Expr{n.upper.probe, n.lower.probe})
	if err != nil {
		return err
	}
	high, err := n.places(held, first, probe[0], keys, n.upper.closed)
	if err != nil {
		return err
	}
	low, err := n.places(held, reach, probe[1], keys, false)
	if err != nil {
		return err
	}
	all, _, err := keyTable(held, slices.Concat(n.probeKeys, probe))
	if err != nil {
		return err
	}
	valid, err := usableOf(n.call, held, all)
	if err != nil {
		return err
	}
	return m.fillSpans(n.call, low, high, valid)
}

// reach returns the keys of the sorted rows, and the greatest lower bound of the rows with equal keys up to each.
func (n *narrowing) reach(held *release.Stack, sorted *buffer.Buffer) (*buffer.Buffer, error) {
	count := len(n.buildKeys)
	columns := columnsOf(sorted)
	var greatest *column.Column
	if count == 0 {
		var err error
		if greatest, err = window.CumulativeMax(n.Context(), columns[1], window.Options{Options: n.scratch()}); err != nil {
			return nil, err
		}
	} else {
		rows := window.Windows{PartitionBy: orderKeys(count), OrderBy: orderKeys(count + 1)[count:]}
		most := window.Max(expr.Col(sorted.Schema().Field(count+1).Name)).Rows(window.FirstRow, 0)
		list, err := window.Over(n.Context(), sorted, rows, []window.Function{most}, n.scratch())
		if err != nil {
			return nil, err
		}
		greatest = list[0]
	}
	held.Add(greatest)
	table, _, err := keyTable(held, append(columns[:count:count], greatest))
	return table, err
}

// places searches the values of a column, behind the keys.
func (n *narrowing) places(held *release.Stack, sorted *buffer.Buffer, values *column.Column, keys []order.Key, upper bool) (*column.Column, error) {
	table, _, err := keyTable(held, slices.Concat(n.probeKeys, []*column.Column{values}))
	if err != nil {
		return nil, err
	}
	return searchPlaces(n.call, held, sorted, table, keys, upper)
}

// evaluateSide evaluates expressions of one side.
func (k *condition) evaluateSide(held *release.Stack, side int, expressions []expr.Expr) ([]*column.Column, error) {
	var names []string
	var columns []*column.Column
	right := k.probesRight == (side == probeSide)
	for _, c := range k.result.columns {
		if c.right == right {
			names, columns = append(names, c.name), append(columns, k.table(right).Column(c.number))
		}
	}
	table, err := tableOf(names, columns, buffer.Rows{Count: int64(rowsOf(k.table(right))), Manager: k.Manager})
	if err != nil {
		return nil, err
	}
	held.Add(table)
	values, err := expr.Evaluate(k.Context(), table, expressions, k.scratch())
	if err != nil {
		return nil, err
	}
	for _, c := range values {
		held.Add(c)
	}
	return values, k.waitIdle()
}

// inOrder returns pairs in the order of the probe side and then of the build side.
func (k *condition) inOrder(held *release.Stack, kept *buffer.Buffer) (*buffer.Buffer, error) {
	if k.options.Order != LeftOrder || rowsOf(kept) == 0 {
		return kept, nil
	}
	s, err := sortRows(k.call, held, kept, []order.Key{{Column: "probe"}, {Column: "build"}})
	if err != nil {
		return nil, err
	}
	return s.table, nil
}
