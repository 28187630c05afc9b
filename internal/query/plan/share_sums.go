package plan

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

// fewestShared is the fewest sums of one expression that are computed from its sum and its count. Each sum of an
// expression reads all rows, so two aggregates take less time than three sums.
const fewestShared = 3

// shareSums computes the sums of an expression plus constants from one sum: sum(x + c) is sum(x) + c · count(x). It does
// so only if no addition and no sum can overflow.
func (o *optimization) shareSums(root Node) (Node, error) {
	return o.rewrite(root, func(n Node) (Node, error) {
		a, ok := n.(*Aggregate)
		if !ok {
			return n, nil
		}
		s := sharedSums{above: a, hasFewRows: o.hasFewRows(a.input), terms: make([]*sharedTerm, len(a.aggregations))}
		if !s.find() {
			return n, nil
		}
		return s.rewritten()
	})
}

// sharedSums are the sums of a group that are computed from others.
type sharedSums struct {
	above *Aggregate
	// hasFewRows is set if the rows are known to be so few that sums of numbers of 32 bits fit.
	hasFewRows bool
	// terms has the term of each aggregation that is a sum of one, or nil.
	terms   []*sharedTerm
	offsets []int64
}

// sharedTerm is an expression that several sums add a constant to.
type sharedTerm struct {
	value, where expr.Expr
	uses         int
	// sum and count are the names of the columns.
	sum, count string
}

// find reports whether enough sums share a term, and finds those.
func (s *sharedSums) find() bool {
	s.offsets = make([]int64, len(s.terms))
	var terms []*sharedTerm
	for i, a := range s.above.aggregations {
		if a.Function != "sum" {
			continue
		}
		value, offset, ok := s.termOf(a.Values[0])
		if !ok {
			continue
		}
		at := slices.IndexFunc(terms, func(t *sharedTerm) bool { return t.value.Same(value) && t.where.Same(a.Where) })
		if at < 0 {
			at = len(terms)
			terms = append(terms, &sharedTerm{value: value, where: a.Where})
		}
		terms[at].uses++
		s.terms[i], s.offsets[i] = terms[at], offset
	}
	for i, t := range s.terms {
		if t != nil && t.uses < fewestShared {
			s.terms[i] = nil
		}
	}
	return slices.ContainsFunc(s.terms, func(t *sharedTerm) bool { return t != nil })
}

// rewritten returns the group with one sum and one count of each term, and a projection to its results.
func (s *sharedSums) rewritten() (Node, error) {
	a := s.above
	var list []Aggregation
	var results []expr.Expr
	for _, k := range a.keys {
		results = append(results, expr.Col(k.Name()))
	}
	for i, t := range s.terms {
		name := a.aggregations[i].Name
		if t == nil {
			list = append(list, a.aggregations[i])
			results = append(results, expr.Col(name))
			continue
		}
		if t.sum == "" {
			t.sum, t.count = Computed(fmt.Sprintf("shared sum %d", i)), Computed(fmt.Sprintf("shared count %d", i))
			list = append(list,
				Aggregation{Function: "sum", Values: []expr.Expr{t.value}, Where: t.where, Name: t.sum},
				Aggregation{Function: "count_values", Values: []expr.Expr{t.value}, Where: t.where, Name: t.count})
		}
		sum := expr.Col(t.sum)
		if s.offsets[i] != 0 {
			sum = sum.Add(expr.Col(t.count).Mul(expr.LitOf(arrow.PrimitiveTypes.Int64, s.offsets[i])))
		}
		results = append(results, sum.As(name))
	}
	shared, err := NewAggregate(a.input, a.keys, list, a.options)
	if err != nil {
		return nil, err
	}
	return node(NewProject(shared, results...))
}

// hasFewRows reports whether a node is known to have less than 2³¹ rows.
func (o *optimization) hasFewRows(n Node) bool {
	for {
		if size := o.rowsOf(n); size.Exact {
			return size.Rows < 1<<31
		}
		if !isFilterOrProjection(n) {
			return false
		}
		n = n.Inputs()[0]
	}
}

// termOf returns the term and the constant of an expression, if the expression and sums of it and of
// the term are int64 without overflow. The constant of a plain expression is 0.
func (s *sharedSums) termOf(e expr.Expr) (term expr.Expr, constant int64, ok bool) {
	schema := s.above.input.Schema()
	e = Unnamed(e)
	for e.Operation() == "cast" && sameType(typeOf(e, schema), typeOf(e.Operands()[0], schema)) {
		e = e.Operands()[0] // SQL casts values to the type of their sums
	}
	term = e
	operands := e.Operands()
	switch e.Operation() {
	case "add":
		if value, isWhole := wholeLiteral(operands[1]); isWhole {
			term, constant = operands[0], value
		} else if value, isWhole := wholeLiteral(operands[0]); isWhole {
			term, constant = operands[1], value
		}
	case "subtract":
		if value, isWhole := wholeLiteral(operands[1]); isWhole {
			term, constant = operands[0], -value
		}
	}
	for term.Operation() == "cast" && isSignedInteger(typeOf(term, schema)) && isSignedInteger(typeOf(term.Operands()[0], schema)) {
		inner := term.Operands()[0]
		if bitsOf(typeOf(inner, schema)) > bitsOf(typeOf(term, schema)) {
			break
		}
		term = inner
	}
	result, from := typeOf(e, schema), typeOf(term, schema)
	// Values and constants of n bits have sums of 64 bits in 2^(63 − n) rows: for 16 bits that is any table.
	most := 16
	if s.hasFewRows {
		most = 32
	}
	if limit := int64(1) << (most - 1); !isSignedInteger(result) || !isSignedInteger(from) || bitsOf(from) > most || constant < -limit || constant >= limit {
		return term, 0, false
	}
	// The term is at most 2^(n − 1) away from zero.
	furthest := int64(1)<<(bitsOf(from)-1) + max(constant, -constant)
	fits := constant == 0 || bitsOf(result) == 64 || furthest < int64(1)<<(bitsOf(result)-1)
	return term, constant, fits
}

// wholeLiteral returns the value of a literal that is a signed integer.
func wholeLiteral(e expr.Expr) (int64, bool) {
	value, ok := e.Literal()
	if v := reflect.ValueOf(value); ok && value != nil && v.CanInt() {
		return v.Int(), true
	}
	return 0, false
}

func sameType(a, b arrow.DataType) bool { return a != nil && b != nil && arrow.TypeEqual(a, b) }

func isSignedInteger(t arrow.DataType) bool { return t != nil && arrow.IsSignedInteger(t.ID()) }

func bitsOf(t arrow.DataType) int { return t.(arrow.FixedWidthDataType).BitWidth() }
