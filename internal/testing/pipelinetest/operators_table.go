package pipelinetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/selection"
)

var filter = Operator{"filter", func(d *Draw) (string, Run, bool) {
	condition := d.Condition(2)
	return fmt.Sprintf("filter(%v)", condition), func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
		return selection.Filter(ctx, in.Table, condition, in.Options)
	}, true
}}

var project = Operator{"project", func(d *Draw) (string, Run, bool) {
	expressions := []expr.Expr{d.Number(2).As(d.Name()), d.Condition(2).As(d.Name())}
	for _, f := range d.Schema.Fields() {
		if d.IntN(3) > 0 {
			expressions = append(expressions, expr.Col(f.Name))
		}
	}
	return fmt.Sprintf("project(%v)", expressions), func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
		return expr.Project(ctx, in.Table, expressions, in.Options)
	}, true
}}

// rowOperators change the rows of a table.
var rowOperators = []Operator{
	{"filter by mask", func(d *Draw) (string, Run, bool) {
		i, ok := d.Column(Is(arrow.BOOL))
		if !ok {
			return "", nil, false
		}
		return fmt.Sprintf("filter by mask(%s)", d.Schema.Field(i).Name), func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
			return selection.FilterMask(ctx, in.Table, in.Table.Column(i), in.Options)
		}, true
	}},
	{"take", drawTake},
	{"reverse", func(d *Draw) (string, Run, bool) {
		return "reverse", func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
			return selection.Reverse(ctx, in.Table, in.Options)
		}, true
	}},
	{"head", func(d *Draw) (string, Run, bool) {
		n := d.Int64N(d.Rows + 3)
		return fmt.Sprintf("head(%d)", n), func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
			return selection.Head(ctx, in.Table, n, in.Options)
		}, true
	}},
	{"tail", func(d *Draw) (string, Run, bool) {
		n := d.Int64N(d.Rows + 3)
		return fmt.Sprintf("tail(%d)", n), func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
			return selection.Tail(ctx, in.Table, n, in.Options)
		}, true
	}},
	{"slice", func(d *Draw) (string, Run, bool) {
		first := d.Int64N(d.Rows + 1)
		n := d.Int64N(d.Rows - first + 1)
		return fmt.Sprintf("slice(%d, %d)", first, n), func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
			if _, err := in.Table.NumRows(ctx); err != nil {
				return nil, err
			}
			return in.Table.Slice(first, n)
		}, true
	}},
	{"concat", func(d *Draw) (string, Run, bool) {
		if !d.Schema.Equal(d.OtherSchema) {
			return "", nil, false
		}
		return "concat", func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
			return selection.Concat(ctx, []*buffer.Buffer{in.Table, in.Other, in.Table}, in.Options)
		}, true
	}},
	{"download and upload", func(d *Draw) (string, Run, bool) {
		return "download and upload", func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
			record, err := in.Table.Record(ctx)
			if err != nil {
				return nil, err
			}
			defer record.Release()
			return buffer.FromRecord(in.Manager, record)
		}, true
	}},
	{"compact", func(d *Draw) (string, Run, bool) {
		return "compact", func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
			return selection.Compact(ctx, in.Table, in.Options)
		}, true
	}},
	{"copy", func(d *Draw) (string, Run, bool) {
		return "copy", func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
			return in.Table, in.Table.Retain()
		}, true
	}},
}

// drawTake takes rows by indices of any width, with nulls and some out of bounds.
func drawTake(d *Draw) (string, Run, bool) {
	types := []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint16}
	t := types[d.IntN(len(types))]
	n := d.IntN(int(d.Rows) + 5)
	bounds, beyond := selection.Check, int64(0)
	if d.IntN(3) == 0 {
		bounds = selection.Null
		beyond = 3
	} else if d.IntN(10) == 0 {
		beyond = 1
	}
	b := array.NewBuilder(arrowmemory.DefaultAllocator, t)
	defer b.Release()
	for range n {
		if limit := min(d.Rows+beyond, 127); limit == 0 || d.IntN(9) == 0 {
			b.AppendNull()
		} else if err := b.AppendValueFromString(fmt.Sprint(d.Int64N(limit))); err != nil {
			b.AppendNull()
		}
	}
	indices := b.NewArray()
	text := fmt.Sprintf("take(%d indices of %v, bounds %d)", n, t, bounds)
	return text, func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
		c, err := column.FromArray(ctx, in.Manager, indices, column.UploadOptions{})
		if err != nil {
			return nil, err
		}
		taken, err := selection.TakeWith(ctx, in.Table, c, selection.TakeOptions{Options: in.Options, Bounds: bounds})
		return taken, errors.Join(err, c.Release())
	}, true
}

// columnOperators change the columns of a table.
var columnOperators = []Operator{
	{"select", func(d *Draw) (string, Run, bool) {
		var names []string
		for _, f := range d.Schema.Fields() {
			if d.IntN(4) > 0 {
				names = append(names, f.Name)
			}
		}
		if len(names) == 0 {
			return "", nil, false
		}
		return fmt.Sprintf("select(%v)", names), func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
			return in.Table.Select(names...)
		}, true
	}},
	{"choose", func(d *Draw) (string, Run, bool) {
		mask, ok := d.Column(Is(arrow.BOOL))
		if !ok {
			return "", nil, false
		}
		a, _ := d.Column(Any)
		t := d.Schema.Field(a).Type
		b, _ := d.Column(func(other arrow.DataType) bool { return arrow.TypeEqual(t, other) })
		as := d.Name()
		text := fmt.Sprintf("choose(%s, %s, %s) as %s", d.Schema.Field(mask).Name, d.Schema.Field(a).Name, d.Schema.Field(b).Name, as)
		return text, func(ctx context.Context, in Inputs) (*buffer.Buffer, error) {
			c, err := selection.Choose(ctx, in.Table.Column(mask), in.Table.Column(a), in.Table.Column(b), in.Options)
			return appended(in.Table, as, c, err)
		}, true
	}},
}
