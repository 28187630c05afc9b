package nested

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/text/render"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// Variables are the names of columns that stand for the element of a list, and for its index
// from 0, within an expression on elements. Columns of the rows with these names are hidden.
type Variables struct{ Element, Index string }

// DefaultVariables are the names of package gpuframe.
var DefaultVariables = Variables{Element: elementColumn, Index: indexColumn}

// Eval is a list of the values of an expression on the elements of a list: as many as the
// list has, null for a null list. Columns of the rows in the expression have their value for
// each element. Parts of it that do not read the element are computed once for each row.
func Eval(list, body expr.Expr, v Variables) expr.Expr { return onElements(list, body, v, false) }

// Filter is a list of the elements of a list for which a condition is true.
func Filter(list, condition expr.Expr, v Variables) expr.Expr {
	return onElements(list, condition, v, true)
}

// The columns of the table that an expression on elements is evaluated on.
const (
	elementColumn = "element()"
	indexColumn   = "element_index()"
	// operandPrefix begins the names of the operands. Messages leave out a zero byte.
	operandPrefix = "\x00operand "
)

// onElements makes the operands of the parts of an expression that do not read the element.
func onElements(list, body expr.Expr, v Variables, filters bool) expr.Expr {
	reads, operands, known := variableReader(v), []expr.Expr{list}, map[string]int{}
	inner := body.Substitute(func(part expr.Expr) (expr.Expr, bool) {
		name, isColumn := part.Column()
		switch {
		case isColumn && name == v.Element:
			return expr.Col(elementColumn), true
		case isColumn && name == v.Index:
			return expr.Col(indexColumn), true
		case reads(part) || !part.ReadsRows() && len(part.Columns()) == 0:
			return part, false
		}
		at, isKnown := known[name]
		if !isColumn || !isKnown {
			at = len(operands)
			operands = append(operands, part)
		}
		if isColumn {
			known[name] = at
		}
		return expr.Col(operandName(at)), true
	})
	return expr.Apply(onElementsOperator{inner, filters}, operands...)
}

func operandName(i int) string { return fmt.Sprint(operandPrefix, i) }

// variableReader returns a function that reports whether an expression reads a variable.
func variableReader(v Variables) func(e expr.Expr) bool {
	known := map[expr.Expr]bool{}
	var reads func(e expr.Expr) bool
	reads = func(e expr.Expr) bool {
		if read, ok := known[e]; ok {
			return read
		}
		name, isColumn := e.Column()
		read := isColumn && (name == v.Element || name == v.Index)
		for _, operand := range e.Operands() {
			read = reads(operand) || read
		}
		known[e] = read
		return read
	}
	return reads
}

// onElementsOperator evaluates an expression on elements. Its first operand is the list, the others
// are the columns of operandName.
type onElementsOperator struct {
	body    expr.Expr
	filters bool
}

func (o onElementsOperator) Name() string {
	name := "list_eval"
	if o.filters {
		name = "list_filter"
	}
	return fmt.Sprintf("%s[%v]", name, o.body)
}

// Same reports whether another operator is the same operation.
func (o onElementsOperator) Same(other expr.Operator) bool {
	as, ok := other.(onElementsOperator)
	return ok && o.filters == as.filters && o.body.Same(as.body)
}

func (o onElementsOperator) schema(element arrow.DataType, operands []arrow.DataType) *arrow.Schema {
	fields := []arrow.Field{{Name: elementColumn, Type: element, Nullable: true}, {Name: indexColumn, Type: arrow.PrimitiveTypes.Int64}}
	for i, t := range operands[1:] {
		fields = append(fields, arrow.Field{Name: operandName(i + 1), Type: t, Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

func (o onElementsOperator) Result(operands []arrow.DataType) (arrow.DataType, error) {
	element, err := elementsOf(operands[0])
	if err != nil {
		return nil, err
	}
	if o.body.ReadsRows() {
		return nil, fmt.Errorf("%v has an aggregate or a window of elements: explode the list and group the rows, or use a function of lists: %w", o.body, expr.ErrType)
	}
	t, _, err := o.body.Type(o.schema(element.Type, operands))
	switch {
	case err != nil:
		return nil, err
	case !o.filters:
		return listOf(operands[0], t)
	case t.ID() != arrow.BOOL:
		return nil, fmt.Errorf("the condition on elements is %v, expected a bool: %w", render.TypeName(t), expr.ErrType)
	}
	return listLike(operands[0])
}

// listOf returns the type of lists with the lengths of others and other elements.
func listOf(lists, element arrow.DataType) (arrow.DataType, error) {
	like, err := listLike(lists)
	if err == nil && like.ID() == arrow.LARGE_LIST {
		return arrow.LargeListOf(element), nil
	}
	return arrow.ListOf(element), err
}

func (o onElementsOperator) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (*column.Column, error) {
	call, err := op.Begin(ctx, options, operands...)
	if err != nil {
		return nil, err
	}
	l, err := listsOf(&call, operands[0])
	if err != nil {
		return nil, err
	}
	s, err := newSpans(&call, &l, every, 0, 0)
	if err != nil {
		return nil, err
	}
	lists, err := o.lists(&call, &l, s, operands)
	return release.OnError(lists, err, s.Release())
}

// lists makes the result.
func (o onElementsOperator) lists(call *op.Call, l *lists, s *spans, operands []*column.Column) (*column.Column, error) {
	if err := s.sum(call); err != nil {
		return nil, err
	}
	table, err := o.table(call, l, s, operands)
	if err != nil {
		return nil, err
	}
	var changed *column.Column
	if o.filters {
		changed, err = o.filtered(call, l, s, table)
	} else {
		changed, err = o.evaluated(call, l, s, table)
	}
	return release.OnError(changed, err, table.Release())
}

// table returns the columns that the expression reads, with a row for each element.
func (o onElementsOperator) table(call *op.Call, l *lists, s *spans, operands []*column.Column) (*buffer.Buffer, error) {
	types := make([]arrow.DataType, len(operands))
	for i, c := range operands {
		types[i] = c.Type()
	}
	schema := o.schema(l.elements.Type(), types)
	read := map[string]bool{}
	for _, name := range o.body.Columns() {
		read[name] = true
	}
	var fields []arrow.Field
	var columns []*column.Column
	var parents *column.Column
	for i, f := range schema.Fields() {
		var c *column.Column
		var err error
		switch {
		case i == 0 && (o.filters || read[f.Name] || len(read) == 0):
			c, err = s.gather(call, l, every)
		case i == 1 && read[f.Name]:
			c, err = s.positions(call, false)
		case i > 1 && read[f.Name]:
			c, err = s.repeated(call, operands[i-1], &parents)
		default:
			continue
		}
		if err != nil {
			return nil, errors.Join(err, parents.Release(), release.All(columns))
		}
		fields, columns = append(fields, f), append(columns, c)
	}
	table, err := op.Table(arrow.NewSchema(fields, nil), columns, buffer.Rows{Count: int64(s.total), Manager: call.Manager})
	return release.OnError(table, err, parents.Release(), release.All(columns))
}

func (o onElementsOperator) evaluated(call *op.Call, l *lists, s *spans, table *buffer.Buffer) (*column.Column, error) {
	values, err := expr.Evaluate(call.Context(), table, []expr.Expr{o.body}, resultOptions(call))
	if err != nil {
		return nil, err
	}
	listed, err := s.listsOf(call, l, values[0])
	return release.OnError(listed, err, values[0].Release())
}

// listsOf returns lists of other elements.
func (s *spans) listsOf(call *op.Call, l *lists, elements *column.Column) (*column.Column, error) {
	t, err := listOf(l.column.Type(), elements.Type())
	if err != nil {
		return nil, err
	}
	return s.list(call, l, t, elements)
}

// filtered makes lists of the elements with a true condition.
func (o onElementsOperator) filtered(call *op.Call, l *lists, s *spans, table *buffer.Buffer) (*column.Column, error) {
	// The marks are null for the elements to leave out, so that those to keep are counted.
	null := expr.Null(arrow.FixedWidthTypes.Boolean)
	marks, err := expr.Evaluate(call.Context(), table, []expr.Expr{expr.If(o.body, expr.Lit(true), null)}, scratch(call))
	if err != nil {
		return nil, err
	}
	kept, err := s.kept(call, l, table.Column(0), marks[0])
	return release.OnError(kept, err, marks[0].Release())
}

// kept makes lists of the elements with marks.
func (s *spans) kept(call *op.Call, l *lists, elements, marks *column.Column) (*column.Column, error) {
	marked, err := s.listsOf(call, l, marks)
	if err != nil {
		return nil, err
	}
	counts, err := foldColumn(call, marked, Count, arrow.PrimitiveTypes.Int64)
	if counts, err = release.OnError(counts, err, marked.Release()); err != nil {
		return nil, err
	}
	in, err := call.View(counts)
	if err != nil {
		return nil, errors.Join(err, counts.Release())
	}
	shorter, err := newSequenceSpans(call, in)
	if err != nil {
		return nil, errors.Join(err, counts.Release())
	}
	listed, err := shorter.keep(call, l, elements, marks)
	return release.OnError(listed, err, shorter.Release(), counts.Release())
}

// keep makes lists of the lengths of s of the elements with marks.
func (s *spans) keep(call *op.Call, l *lists, elements, marks *column.Column) (*column.Column, error) {
	if err := s.sum(call); err != nil {
		return nil, err
	}
	table, err := selection.FilterColumn(call.Context(), elements, marks, resultOptions(call))
	if err != nil {
		return nil, err
	}
	// The number of elements is known: the column has no count of its own on the device.
	elements, err = table.Column(0).SliceCapacity(0, s.total)
	if elements, err = release.OnError(elements, err, table.Release()); err != nil {
		return nil, err
	}
	t, err := listLike(l.column.Type())
	var listed *column.Column
	if err == nil {
		listed, err = s.list(call, l, t, elements)
	}
	return release.OnError(listed, err, elements.Release())
}

// foldColumn folds the lists of a column.
func foldColumn(call *op.Call, c *column.Column, f Function, t arrow.DataType) (*column.Column, error) {
	l, err := listsOf(call, c)
	if err != nil {
		return nil, err
	}
	v, err := valuesOf(call, l.elements)
	if err != nil {
		return nil, err
	}
	return l.fold(call, f, t, v)
}
