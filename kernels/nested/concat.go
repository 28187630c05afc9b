package nested

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/text/render"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

// Concat is a list of the elements of lists, and of other values as one element each, in the order of
// the arguments. It is null if a list is. All have elements of one type.
func Concat(values ...expr.Expr) expr.Expr { return expr.Apply(concat{}, values...) }

// ConcatSkipNulls is [Concat] without null lists. It is null if all arguments are null lists.
func ConcatSkipNulls(values ...expr.Expr) expr.Expr {
	return expr.Apply(concat{skipNulls: true}, values...)
}

type concat struct{ skipNulls bool }

func (c concat) Name() string {
	if c.skipNulls {
		return "concat_list_skip_nulls"
	}
	return "concat_list"
}

func isList(t arrow.DataType) bool {
	_, ok := layout.Storage(t).(arrow.ListLikeType)
	return ok && t.ID() != arrow.MAP
}

// element returns the type of the elements that an operand adds.
func (concat) element(t arrow.DataType) arrow.DataType {
	if isList(t) {
		return layout.Storage(t).(arrow.ListLikeType).Elem()
	}
	return t
}

func (c concat) Result(operands []arrow.DataType) (arrow.DataType, error) {
	first := c.element(operands[0])
	for _, t := range operands[1:] {
		if other := c.element(t); !arrow.TypeEqual(first, other) {
			return nil, fmt.Errorf("the elements are %v and %v, expected one type: use Cast: %w", render.TypeName(first), render.TypeName(other), expr.ErrType)
		}
	}
	return arrow.ListOf(first), nil
}

func (c concat) Run(ctx context.Context, operands []*column.Column, options kernels.Options) (lists *column.Column, err error) {
	call, err := op.Begin(ctx, options, operands...)
	if err != nil {
		return nil, err
	}
	joining := concatenation{call: &call, skipNulls: c.skipNulls}
	for _, operand := range operands {
		if err == nil {
			err = joining.add(operand)
		}
	}
	if err == nil {
		lists, err = joining.lists()
	}
	return release.OnError(lists, err, joining.release())
}

// concatenation is one run of concat.
type concatenation struct {
	call      *op.Call
	skipNulls bool
	parts     []lists
	spans     []*spans
	// lengths are the lengths of the parts, null for a null list.
	lengths []*column.Column
	// counts are spans with the numbers of elements of the parts in the result.
	counts []*spans
}

func (c *concatenation) release() error {
	return errors.Join(release.All(c.spans), release.All(c.lengths), release.All(c.counts))
}

// add adds the elements of an operand.
func (c *concatenation) add(operand *column.Column) (err error) {
	var part lists
	if isList(operand.Type()) {
		part, err = listsOf(c.call, operand)
	} else { // lists of one element each
		part = lists{column: operand, elements: operand, size: 1}
		part.rows, part.counted, err = operand.Extent(c.call.Context())
	}
	if err != nil {
		return err
	}
	length, err := part.fold(c.call, foldLength, arrow.PrimitiveTypes.Int64, values{})
	if err != nil {
		return err
	}
	c.parts, c.lengths = append(c.parts, part), append(c.lengths, length)
	s, err := newSpans(c.call, &part, every, 0, 0)
	if err == nil {
		c.spans = append(c.spans, s)
	}
	return err
}

func (c *concatenation) lists() (*column.Column, error) {
	total, err := c.count()
	if err != nil {
		return nil, err
	}
	in, err := c.call.View(total)
	if err != nil {
		return nil, errors.Join(err, total.Release())
	}
	all, err := newSequenceSpans(c.call, in)
	if err != nil {
		return nil, errors.Join(err, total.Release())
	}
	listed, err := c.list(all, in)
	return release.OnError(listed, err, all.Release(), total.Release())
}

// length is the length of the result of parts: null for a null result.
func (c *concatenation) length(parts []expr.Expr) expr.Expr {
	sum := expr.Lit(int64(0))
	for _, length := range parts {
		if c.skipNulls {
			length = expr.Coalesce(length, expr.Lit(int64(0)))
		}
		sum = sum.Add(length)
	}
	if !c.skipNulls {
		return sum
	}
	return expr.If(expr.Coalesce(parts...).IsNull(), expr.Null(arrow.PrimitiveTypes.Int64), sum)
}

// count returns the lengths of the results. A null list leaves out the elements of its row in all parts.
func (c *concatenation) count() (total *column.Column, err error) {
	fields, names := make([]arrow.Field, len(c.parts)), make([]expr.Expr, len(c.parts))
	for i := range c.parts {
		name := fmt.Sprint("length ", i)
		fields[i], names[i] = arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64, Nullable: true}, expr.Col(name)
	}
	sum, zero := c.length(names), expr.Lit(int64(0))
	for i := range names {
		names[i] = expr.If(sum.IsValid(), expr.Coalesce(names[i], zero), zero)
	}
	first := c.parts[0].column
	table, err := buffer.New(arrow.NewSchema(fields, nil), c.lengths, buffer.Rows{Count: int64(first.Len()), Shared: first.RowCount(), Manager: c.call.Manager})
	if err != nil {
		return nil, err
	}
	columns, err := expr.Evaluate(c.call.Context(), table, append(names, sum), scratch(c.call))
	if err = errors.Join(err, table.Release()); err != nil {
		return nil, errors.Join(err, release.All(columns))
	}
	for i, s := range c.spans {
		if err == nil {
			err = c.shorten(s, columns[i])
		}
	}
	total = columns[len(names)]
	return release.OnError(total, err, release.All(columns[:len(names)]))
}

// shorten gives spans other numbers of elements.
func (c *concatenation) shorten(s *spans, counts *column.Column) error {
	in, err := c.call.View(counts)
	if err != nil {
		return err
	}
	shorter, err := newSequenceSpans(c.call, in)
	if err != nil {
		return err
	}
	c.counts, s.counts = append(c.counts, shorter), shorter.counts
	return s.sum(c.call)
}

// list makes lists of the elements of all parts.
func (c *concatenation) list(all *spans, in op.View) (*column.Column, error) {
	if err := all.sum(c.call); err != nil {
		return nil, err
	}
	elements, err := c.elements()
	if err != nil {
		return nil, err
	}
	source := lists{column: in.Column, valid: in.Valid, bit: in.Bit}
	listed, err := all.list(c.call, &source, arrow.ListOf(elements.Type()), elements)
	return release.OnError(listed, err, elements.Release())
}

// elements returns the elements of all parts in the order of the rows, and of the parts in each.
func (c *concatenation) elements() (*column.Column, error) {
	tables := make([]*buffer.Buffer, 0, len(c.parts))
	for i, s := range c.spans {
		elements, err := s.gather(c.call, &c.parts[i], every)
		var table *buffer.Buffer
		if err == nil {
			table, err = s.withRows(c.call, elements)
			err = errors.Join(err, elements.Release())
		}
		if err != nil {
			return nil, errors.Join(err, table.Release(), release.All(tables))
		}
		tables = append(tables, table)
	}
	joined, err := selection.Concat(c.call.Context(), tables, scratch(c.call))
	if err = errors.Join(err, release.All(tables)); err != nil {
		return nil, errors.Join(err, joined.Release())
	}
	sorted, err := order.Sort(c.call.Context(), joined, []order.Key{{Column: rowColumn}}, resultOptions(c.call))
	if err = errors.Join(err, joined.Release()); err != nil {
		return nil, errors.Join(err, sorted.Release())
	}
	first := sorted.Column(0)
	return release.OnError(first, first.Retain(), sorted.Release())
}
