package bind

import (
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// Unpivot makes rows of columns, with some columns kept.
func Unpivot(columns, keep []string) Verb {
	columns, keep = slices.Clone(columns), slices.Clone(keep)
	return Verb{name: "Unpivot", bind: onInput(func(b *binder, input plan.Node) plan.Node { return b.unpivot(input, columns, keep) })}
}

func (b *binder) unpivot(input plan.Node, columns, keep []string) plan.Node {
	if len(columns) == 0 {
		b.report(fmt.Errorf("no column is given, expected one or more: %w", device.ErrInvalidValue))
		return nil
	}
	ok := true
	for _, name := range slices.Concat(columns, keep) {
		ok = b.check(expr.Col(name), input.Schema()) && ok
	}
	if !ok {
		return nil
	}
	var parts []plan.Node
	for _, name := range columns {
		var list []expr.Expr
		for _, k := range keep {
			list = append(list, expr.Col(k))
		}
		list = append(list, expr.Lit(name).As("variable"), expr.Col(name).As("value"))
		part, err := plan.NewProject(input, list...)
		if err != nil {
			b.report(plan.ReadableError(err))
			return nil
		}
		parts = append(parts, part)
	}
	n, err := plan.NewUnion(parts...)
	if err != nil {
		b.report(err)
		return nil
	}
	return n
}

// Pivot makes a row for each group, with a column for each value of an expression. list are the
// aggregates of the rows with one value.
func Pivot(keys, list []Expr, sets GroupingSets, options plan.GroupOptions) Verb {
	return Verb{name: "Pivot", bind: onInput(func(b *binder, input plan.Node) plan.Node { return b.pivot(input, keys, list, sets, options) })}
}

// CrossTab is [Pivot] in the order of its only key.
func CrossTab(key Expr, list []Expr) Verb {
	exec.UseTop()
	return Verb{name: "CrossTab", bind: onInput(func(b *binder, input plan.Node) plan.Node {
		n := b.pivot(input, []Expr{key}, list, nil, plan.GroupOptions{})
		if n == nil {
			return nil
		}
		sorted, err := plan.NewSort(n, []plan.SortKey{{Value: expr.Col(n.Schema().Field(0).Name)}}, plan.All)
		return b.checked(sorted, err, n)
	})}
}

func (b *binder) pivot(input plan.Node, keys, list []Expr, sets GroupingSets, options plan.GroupOptions) plan.Node {
	if len(list) == 0 {
		b.report(fmt.Errorf("no value is given, expected one or more: %w", buffer.ErrSchema))
		return nil
	}
	return b.aggregate(input, keys, listForms(list), sets, options)
}
