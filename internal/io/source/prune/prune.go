package prune

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Possible reports for each of the parts whether it can have a row that meets all
// conditions. Statistics returns the range of a column of the schema in a part; it is
// called only for columns of conditions. A condition that is not understood leaves out
// nothing.
func Possible(ctx context.Context, schema *arrow.Schema, conditions []expr.Expr, parts int, statistics func(part int, column string) Range) ([]bool, error) {
	possible := make([]bool, parts)
	for i := range possible {
		possible[i] = true
	}
	if parts == 0 {
		return possible, nil
	}
	numbers, ranges := withoutNaN(conditions), map[string][]Range{}
	for _, condition := range conditions {
		p := pruner{schema: schema, numbers: numbers, parts: parts, statistics: statistics, ranges: ranges, placed: map[string]bool{}}
		if err := p.exclude(ctx, condition, possible); err != nil {
			return nil, err
		}
		p.release()
	}
	return possible, nil
}

// withoutNaN returns the columns that are not NaN in rows that meet all conditions.
func withoutNaN(conditions []expr.Expr) map[string]bool {
	numbers := map[string]bool{}
	for _, condition := range conditions {
		for _, part := range condition.Conjuncts() {
			if part.Operation() != "not" || part.Operands()[0].Operation() != "is_nan" {
				continue
			}
			if name, ok := part.Operands()[0].Operands()[0].Column(); ok {
				numbers[name] = true
			}
		}
	}
	return numbers
}

// pruner rewrites one condition and collects the columns that the result reads.
type pruner struct {
	schema *arrow.Schema
	// numbers are columns that are not NaN in rows of interest.
	numbers    map[string]bool
	parts      int
	statistics func(part int, column string) Range
	ranges     map[string][]Range

	fields []arrow.Field
	arrays []arrow.Array
	placed map[string]bool
}

// exclude sets possible to false for parts without a row that meets the condition.
func (p *pruner) exclude(ctx context.Context, condition expr.Expr, possible []bool) error {
	rewritten := p.possible(condition)
	if _, literal := rewritten.Literal(); literal {
		return nil
	}
	record := array.NewRecord(arrow.NewSchema(p.fields, nil), p.arrays, int64(p.parts))
	defer record.Release()
	results, err := expr.EvaluateRecord(ctx, record, []expr.Expr{rewritten})
	if err != nil {
		// The types do not fit. The query reports it when it binds the condition.
		return ctx.Err()
	}
	defer results[0].Release()
	values, ok := results[0].(*array.Boolean)
	for i := range possible {
		if ok && values.IsValid(i) && !values.Value(i) {
			possible[i] = false
		}
	}
	return nil
}

func (p *pruner) release() {
	release.Arrow(p.arrays)
}

// always is the rewritten form of a condition that leaves out nothing.
var always = expr.Lit(true)

// possible returns an expression over the statistics that is false only for parts
// without a row in which the condition is true.
func (p *pruner) possible(condition expr.Expr) expr.Expr {
	if name, ok := condition.Column(); ok {
		return p.bound(name, "high", always)
	}
	operands := condition.Operands()
	switch condition.Operation() {
	case "as":
		return p.possible(operands[0])
	case "and", "and_strict":
		return p.possible(operands[0]).And(p.possible(operands[1]))
	case "or", "or_strict":
		return p.possible(operands[0]).Or(p.possible(operands[1]))
	case "is_null":
		if name, ok := operands[0].Column(); ok {
			return p.count(name, "nulls")
		}
	case "is_valid":
		if name, ok := operands[0].Column(); ok {
			return p.count(name, "valid")
		}
	case "not":
		if name, ok := operands[0].Column(); ok {
			return p.bound(name, "low", expr.Lit(false)).Not()
		}
	case "in":
		return p.in(operands)
	case "starts_with":
		return p.comparison("starts_with", operands[0], operands[1])
	case "equal", "not_equal", "less", "less_equal", "greater", "greater_equal":
		if _, ok := operands[1].Column(); ok {
			return p.comparison(flipped[condition.Operation()], operands[1], operands[0])
		}
		return p.comparison(condition.Operation(), operands[0], operands[1])
	}
	return always
}

// flipped are the comparisons with their operands exchanged.
var flipped = map[string]string{"equal": "equal", "not_equal": "not_equal",
	"less": "greater", "less_equal": "greater_equal", "greater": "less", "greater_equal": "less_equal"}

// in is a comparison with any of a list of literals.
func (p *pruner) in(operands []expr.Expr) expr.Expr {
	if len(operands) < 2 {
		return always
	}
	result := p.comparison("equal", operands[0], operands[1])
	for _, literal := range operands[2:] {
		result = result.Or(p.comparison("equal", operands[0], literal))
	}
	return result
}

// comparison rewrites a comparison of a column with a literal.
func (p *pruner) comparison(operation string, column, literal expr.Expr) expr.Expr {
	name, isColumn := column.Column()
	value, isLiteral := literal.Literal()
	field, known := p.field(name)
	if !isColumn || !isLiteral || !known || value == nil {
		return always
	}
	if isText(field.Type) {
		return p.text(operation, name, value)
	}
	if !isNumeric(field.Type) {
		return always
	}
	low, high := p.bound(name, "low", always), p.bound(name, "high", always)
	nonNull := p.count(name, "valid")
	switch operation {
	case "equal":
		return nonNull.And(low.Le(literal)).And(high.Ge(literal)).And(p.member(name, field.Type, value))
	case "not_equal":
		if isFloat(field.Type) {
			return always // also with equal bounds, if a value is NaN
		}
		return nonNull.And(low.Ne(literal).Or(high.Ne(literal)))
	case "less":
		return nonNull.And(low.Lt(literal))
	case "less_equal":
		return nonNull.And(low.Le(literal))
	case "greater":
		return nonNull.And(high.Gt(literal))
	case "greater_equal":
		return nonNull.And(high.Ge(literal))
	}
	return always
}

// field returns the first field with a name, which is the column that package expr
// takes.
func (p *pruner) field(name string) (arrow.Field, bool) {
	indices := p.schema.FieldIndices(name)
	if len(indices) == 0 {
		return arrow.Field{}, false
	}
	return p.schema.Field(indices[0]), true
}

// rangesOf returns the ranges of a column in all parts.
func (p *pruner) rangesOf(name string) []Range {
	if known, ok := p.ranges[name]; ok {
		return known
	}
	ranges := make([]Range, p.parts)
	for i := range ranges {
		ranges[i] = p.statistics(i, name)
	}
	p.ranges[name] = ranges
	return ranges
}

// bound is the column of one side's bounds, or other if the column has none.
func (p *pruner) bound(name, side string, other expr.Expr) expr.Expr {
	field, ok := p.field(name)
	if !ok || !isNumeric(field.Type) {
		return other
	}
	return p.column(side+" "+name, field.Type, func(builder array.Builder) {
		for _, r := range p.rangesOf(name) {
			bound := r.Low
			if side == "high" {
				bound = r.High
			}
			if side == "high" && isFloat(field.Type) && !p.numbers[name] {
				bound = nil // NaN, which is greater, is not in statistics
			}
			appendBound(builder, bound)
		}
	})
}

// count reports whether a part has values that are null, or that are not.
func (p *pruner) count(name, kind string) expr.Expr {
	if _, ok := p.field(name); !ok {
		return always
	}
	return p.column(kind+" "+name, arrow.FixedWidthTypes.Boolean, func(builder array.Builder) {
		for _, r := range p.rangesOf(name) {
			n := r.Nulls
			if kind == "valid" {
				n = r.Valid
			}
			if n < 0 {
				builder.AppendNull()
			} else {
				builder.(*array.BooleanBuilder).Append(n > 0)
			}
		}
	})
}

// member reports whether parts may have an integer.
func (p *pruner) member(name string, t arrow.DataType, value any) expr.Expr {
	n, ok := IntegerOf(value)
	if !ok || !arrow.IsSignedInteger(t.ID()) || !slices.ContainsFunc(p.rangesOf(name), func(r Range) bool { return r.Has != nil }) {
		return always
	}
	return p.column(fmt.Sprintf("has %s %d", name, n), arrow.FixedWidthTypes.Boolean, func(builder array.Builder) {
		for _, r := range p.rangesOf(name) {
			builder.(*array.BooleanBuilder).Append(r.has(n))
		}
	})
}

// IntegerOf returns a literal of an integer type, if int64 has it.
func IntegerOf(literal any) (int64, bool) {
	switch v := literal.(type) {
	case int:
		return int64(v), true
	case int8:
		return int64(v), true
	case int16:
		return int64(v), true
	case int32:
		return int64(v), true
	case int64:
		return v, true
	case uint8:
		return int64(v), true
	case uint16:
		return int64(v), true
	case uint32:
		return int64(v), true
	case uint:
		return int64(v), uint64(v) <= math.MaxInt64
	case uint64:
		return int64(v), v <= math.MaxInt64
	}
	return 0, false
}

// text compares strings or binary values with a literal in every part.
func (p *pruner) text(operation, name string, value any) expr.Expr {
	literal, ok := textOf(value)
	if !ok {
		return always
	}
	return p.column(fmt.Sprintf("%s %s %x", operation, name, literal), arrow.FixedWidthTypes.Boolean, func(builder array.Builder) {
		for _, r := range p.rangesOf(name) {
			builder.(*array.BooleanBuilder).Append(r.Valid != 0 && r.textPossible(operation, literal) && (operation != "equal" || r.has(literal)))
		}
	})
}

// column adds a column of statistics, filled by fill, unless it was added before.
func (p *pruner) column(name string, t arrow.DataType, fill func(array.Builder)) expr.Expr {
	if !p.placed[name] {
		p.placed[name] = true
		builder := array.NewBuilder(arrowmemory.DefaultAllocator, t)
		defer builder.Release()
		fill(builder)
		p.fields = append(p.fields, arrow.Field{Name: name, Type: t, Nullable: true})
		p.arrays = append(p.arrays, builder.NewArray())
	}
	return expr.Col(name)
}
