package plan

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Size is how much a node is expected to yield.
type Size struct {
	// Rows is the number of rows, or negative if nothing is known.
	Rows int64
	// Exact is set if the number is not an estimate.
	Exact bool
	// RowBytes is the number of bytes of a row in device memory. Strings and lists count
	// as 24 bytes.
	RowBytes int64
}

// Bytes returns the bytes of all rows.
func (s Size) Bytes() int64 {
	if s.Rows > 0 && s.RowBytes > math.MaxInt64/s.Rows {
		return math.MaxInt64
	}
	return max(s.Rows, 0) * s.RowBytes
}

// Fractions of rows that are expected without further knowledge. They are the customary ones
// of System R (Selinger et al., "Access Path Selection in a Relational Database
// Management System", 1979), except for groups and for searches in text.
const (
	keptByEquality   = 0.1
	keptByComparison = 1.0 / 3
	keptByText       = 0.05
	keptByGrouping   = 0.1
	// keptByValues is the largest fraction of rows that one of several values is expected in.
	keptByValues = 0.5
	// listElements is the number of elements that a list is expected to have.
	listElements = 4
)

// Sizes of joins are estimated twice. [Join.estimate] expects a foreign key, without knowledge of
// the tables. orderJoins has all inputs of consecutive joins: it divides the product of the sides
// by the number of distinct keys, for which it takes the rows, before filters, of the smallest
// table with an equal key, and for several keys at most the rows of the smallest of the tables.

// EstimateOf returns the size of a node's result. An [Analysis] returns those of many nodes.
func EstimateOf(n Node) Size {
	return NewAnalysis().SizeOf(n)
}

// LeastBytes returns the least memory of the result of a node as one table, or zero if its number of
// rows is not known, or if it may share memory that exists before the query runs. Values without a fixed
// width count as their offsets.
func LeastBytes(n Node) int64 {
	size := NewAnalysis().rowsOf(n)
	if !size.Exact || size.Rows <= 0 || sharesMemory(n) {
		return 0
	}
	size.RowBytes = 0
	for _, f := range ownFields(n) {
		size.RowBytes += leastRowBytes(f.Type)
	}
	return size.Bytes()
}

// sharesMemory reports whether a result may have columns of tables in device memory or of caches.
func sharesMemory(root Node) (shares bool) {
	Walk(root, func(n Node) { shares = shares || n.sharesMemory() })
	return shares
}

// ownFields returns the fields of a node without columns that share the memory of others: a projection
// may yield a column twice.
func ownFields(n Node) (list []arrow.Field) {
	seen := map[string]bool{}
	p, projects := n.(*Project)
	for i, f := range n.Schema().Fields() {
		if projects {
			name, isColumn := plainColumn(p.expressions[i])
			if isColumn && seen[name] {
				continue
			}
			seen[name] = isColumn
		}
		list = append(list, f)
	}
	if !projects && len(n.Inputs()) == 1 && len(n.Inputs()[0].Schema().Fields()) == len(list) {
		return ownFields(n.Inputs()[0]) // of a sort or a slice
	}
	return list
}

func leastRowBytes(t arrow.DataType) int64 {
	const offset = 4
	if arrow.IsBaseBinary(t.ID()) {
		return offset
	}
	if width, ok := column.ElementBytes(t); ok {
		return int64(width)
	}
	return 0
}

// estimate returns the expected rows of a node, from those of its inputs.
func (a *Analysis) estimate(n Node) Size {
	var first Size
	if inputs := n.Inputs(); len(inputs) > 0 {
		first = a.rowsOf(inputs[0])
	}
	return n.estimate(a, first)
}

// selectivity is the fraction of rows that a filter with a condition is expected to keep.
// Without a condition it keeps all of them.
func selectivity(condition expr.Expr) float64 {
	if condition.IsZero() {
		return 1
	}
	return perPart(fractionKept)(condition)
}

// fractionKept is the selectivity of a condition, from those of its operands.
func fractionKept(condition expr.Expr, operand func(expr.Expr) float64) float64 {
	operands := condition.Operands()
	switch condition.Operation() {
	case "and":
		return operand(operands[0]) * operand(operands[1])
	case "or":
		a, b := operand(operands[0]), operand(operands[1])
		return a + b - a*b
	case "not":
		return 1 - operand(operands[0])
	case "equal":
		return keptByEquality
	case "not_equal":
		return 1 - keptByEquality
	case "in":
		return min(keptByEquality*float64(len(operands)-1), keptByValues)
	case "starts_with", "ends_with", "contains", "like":
		return keptByText
	}
	return keptByComparison
}

func scaled(s Size, by float64) Size {
	if s.Rows > 0 {
		s.Rows, s.Exact = max(int64(float64(s.Rows)*by), 1), false
	}
	return s
}

func limited(s Size, limit int64) Size {
	switch {
	case limit == All:
	case s.Rows < 0:
		return Size{Rows: limit}
	default:
		s.Rows = min(s.Rows, limit)
	}
	return s
}

// rowBytes is the number of bytes of one value.
func rowBytes(t arrow.DataType) int64 {
	if width, ok := column.ElementBytes(t); ok {
		return int64(width)
	}
	return 24
}
