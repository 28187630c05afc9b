package plan

import (
	"context"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

// simplifier simplifies expressions on the columns of a schema. The results have the same
// values and types.
type simplifier struct {
	schema *arrow.Schema
	// done has the results, falses those of nullIsFalse, negations those of negation.
	done, falses, negations map[expr.Expr]expr.Expr
	// changed is set if an expression became another one.
	changed bool
}

func newSimplifier(schema *arrow.Schema) *simplifier {
	return &simplifier{schema: schema, done: map[expr.Expr]expr.Expr{}, falses: map[expr.Expr]expr.Expr{}, negations: map[expr.Expr]expr.Expr{}}
}

// all simplifies expressions and keeps their names.
func (s *simplifier) all(list []expr.Expr) []expr.Expr {
	simplified := make([]expr.Expr, len(list))
	for i, e := range list {
		simplified[i] = s.value(e)
		if simplified[i] != e {
			simplified[i] = Named(simplified[i], e.Name())
		}
	}
	return simplified
}

// values simplifies expressions without regard to their names.
func (s *simplifier) values(list []expr.Expr) []expr.Expr {
	simplified := make([]expr.Expr, len(list))
	for i, e := range list {
		simplified[i] = s.value(e)
	}
	return simplified
}

func (s *simplifier) aggregations(list []Aggregation) []Aggregation {
	simplified := slices.Clone(list)
	for i := range simplified {
		simplified[i].Values = s.values(simplified[i].Values)
		if simplified[i].Where.IsZero() {
			continue
		}
		simplified[i].Where = s.condition(simplified[i].Where)
		if value, ok := simplified[i].Where.Literal(); ok && value == true {
			simplified[i].Where = expr.Expr{}
		}
	}
	return simplified
}

// condition simplifies the condition of a filter, which treats null as false.
func (s *simplifier) condition(e expr.Expr) expr.Expr {
	return s.noteChange(e, s.nullIsFalse(s.value(e)))
}

func (s *simplifier) nullIsFalse(e expr.Expr) expr.Expr {
	result, known := s.falses[e]
	if !known {
		result = s.withoutNull(e)
		s.falses[e] = result
	}
	return result
}

func (s *simplifier) withoutNull(e expr.Expr) expr.Expr {
	operands := e.Operands()
	switch e.Operation() {
	case "literal":
		if value, _ := e.Literal(); value == nil {
			return expr.Lit(false)
		}
	case "and", "or":
		a, b := s.nullIsFalse(operands[0]), s.nullIsFalse(operands[1])
		if a == operands[0] && b == operands[1] {
			return e
		}
		if e.Operation() == "and" {
			return s.local(a.And(b))
		}
		return s.local(a.Or(b))
	}
	return e
}

func (s *simplifier) noteChange(before, after expr.Expr) expr.Expr {
	s.changed = s.changed || before != after
	return after
}

// value simplifies an expression.
func (s *simplifier) value(e expr.Expr) expr.Expr {
	return s.noteChange(e, s.simplified(e))
}

func (s *simplifier) simplified(e expr.Expr) expr.Expr {
	if known, ok := s.done[e]; ok {
		return known
	}
	operands, changed := map[expr.Expr]expr.Expr{}, false
	for _, operand := range e.Operands() {
		operands[operand] = s.simplified(operand)
		changed = changed || operands[operand] != operand
	}
	rewritten := e
	if changed {
		rewritten = e.Substitute(func(part expr.Expr) (expr.Expr, bool) {
			operand, ok := operands[part]
			return operand, ok
		})
		// Some operations take columns or literals only.
		if typeOf(rewritten, s.schema) == nil {
			rewritten = e
		}
	}
	rewritten = s.local(rewritten)
	s.done[e] = rewritten
	return rewritten
}

// local simplifies the outermost operation.
func (s *simplifier) local(e expr.Expr) expr.Expr {
	if constant, ok := s.constant(e); ok {
		return constant
	}
	operands := e.Operands()
	switch e.Operation() {
	case "and":
		return s.and(e, operands[0], operands[1])
	case "or":
		return s.or(e, operands[0], operands[1])
	case "not":
		return s.not(e, operands[0])
	case "is_null", "is_valid":
		if _, nullable, err := operands[0].Type(s.schema); err == nil && !nullable {
			return expr.Lit(e.Operation() == "is_valid")
		}
	case "if_else":
		if chosen, ok := operands[0].Literal(); ok {
			if chosen == true {
				return s.instead(e, operands[1])
			}
			return s.instead(e, operands[2])
		}
	case "coalesce", "fill_null":
		if _, nullable, err := operands[0].Type(s.schema); err == nil && !nullable {
			return s.instead(e, operands[0])
		}
	}
	return e
}

// instead returns the other expression if it has the type of e by itself.
func (s *simplifier) instead(e, other expr.Expr) expr.Expr {
	before, after := typeOf(e, s.schema), typeOf(other, s.schema)
	if before == nil || after == nil || !arrow.TypeEqual(before, after) {
		return e
	}
	if value, ok := other.Literal(); ok {
		return expr.LitOf(before, value)
	}
	return other
}

func (s *simplifier) and(e, a, b expr.Expr) expr.Expr {
	if _, ok := b.Literal(); ok {
		a, b = b, a
	}
	if value, ok := a.Literal(); ok {
		switch value {
		case true:
			return b
		case false:
			return expr.Lit(false)
		}
	}
	if a.Same(b) {
		return a
	}
	return e
}

func (s *simplifier) or(e, a, b expr.Expr) expr.Expr {
	if _, ok := b.Literal(); ok {
		a, b = b, a
	}
	if value, ok := a.Literal(); ok {
		switch value {
		case false:
			return b
		case true:
			return expr.Lit(true)
		}
	}
	return factored(e, a, b)
}

// mostFactored is the number of conditions from which on both sides of an Or are not compared.
const mostFactored = 100

// factored moves conditions that both sides of an Or have out of it: (x and a) or (x and
// b) is x and (a or b). Then a filter by x can be applied by itself.
func factored(e, a, b expr.Expr) expr.Expr {
	left, right := a.Conjuncts(), b.Conjuncts()
	if len(left)+len(right) > mostFactored {
		return e
	}
	onRight := conditionSetOf(right)
	var common []expr.Expr
	for _, c := range left {
		if onRight.has(c) {
			common = append(common, c)
		}
	}
	if len(common) == 0 {
		return e
	}
	isCommon := conditionSetOf(common).has
	left, right = slices.DeleteFunc(left, isCommon), slices.DeleteFunc(right, isCommon)
	if len(left) > 0 && len(right) > 0 {
		common = append(common, allOf(left).Or(allOf(right)))
	}
	return allOf(common)
}

// not moves negations inwards, where they vanish or make conditions that can be split.
func (s *simplifier) not(e, negated expr.Expr) expr.Expr {
	operands := negated.Operands()
	switch negated.Operation() {
	case "not":
		return operands[0]
	case "is_null":
		return operands[0].IsValid()
	case "is_valid":
		return operands[0].IsNull()
	case "equal":
		return operands[0].Ne(operands[1])
	case "not_equal":
		return operands[0].Eq(operands[1])
	case "or":
		return s.local(s.negation(operands[0]).And(s.negation(operands[1])))
	case "and":
		return s.local(s.negation(operands[0]).Or(s.negation(operands[1])))
	}
	return e
}

// negation returns the simplified negation of an expression.
func (s *simplifier) negation(condition expr.Expr) expr.Expr {
	result, known := s.negations[condition]
	if !known {
		result = s.local(condition.Not())
		s.negations[condition] = result
	}
	return result
}

// constant computes an expression without columns. It returns a literal of the expression's
// type.
func (s *simplifier) constant(e expr.Expr) (expr.Expr, bool) {
	switch e.Operation() {
	case "literal", "column", "as", "":
		return e, false
	}
	for _, operand := range e.Operands() {
		if _, ok := operand.Literal(); !ok {
			return e, false
		}
	}
	if len(e.Operands()) == 0 || inexact[e.Operation()] {
		return e, false
	}
	record := array.NewRecord(arrow.NewSchema(nil, nil), nil, 1)
	defer record.Release()
	results, err := expr.EvaluateRecord(context.Background(), record, []expr.Expr{e})
	if err != nil {
		return e, false
	}
	defer results[0].Release()
	value, ok := literalOf(results[0])
	if !ok {
		return e, false
	}
	literal := expr.LitOf(results[0].DataType(), value)
	if t := typeOf(literal, s.schema); t == nil || !arrow.TypeEqual(t, results[0].DataType()) {
		return e, false
	}
	return literal, true
}

// inexact are the functions with results that differ between devices in the last bits.
var inexact = map[string]bool{"exp": true, "log": true, "power": true, "sin": true, "cos": true}

// literalOf returns the only value of an array as a literal takes it.
func literalOf(values arrow.Array) (value any, ok bool) {
	if values.IsNull(0) {
		return nil, true
	}
	switch values := values.(type) {
	case *array.Boolean:
		return values.Value(0), true
	case *array.Int8:
		return values.Value(0), true
	case *array.Int16:
		return values.Value(0), true
	case *array.Int32:
		return values.Value(0), true
	case *array.Int64:
		return values.Value(0), true
	case *array.Uint8:
		return values.Value(0), true
	case *array.Uint16:
		return values.Value(0), true
	case *array.Uint32:
		return values.Value(0), true
	case *array.Uint64:
		return values.Value(0), true
	case *array.Float32:
		return values.Value(0), true
	case *array.Float64:
		return values.Value(0), true
	case *array.Decimal128:
		return values.Value(0), true
	case *array.Date32:
		return values.Value(0), true
	case *array.Date64:
		return values.Value(0), true
	case *array.Time32:
		return values.Value(0), true
	case *array.Time64:
		return values.Value(0), true
	case *array.Timestamp:
		return values.Value(0), true
	case *array.Duration:
		return values.Value(0), true
	}
	return nil, false
}
