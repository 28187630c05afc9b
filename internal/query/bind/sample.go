package bind

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// SampleOptions are those of Sample and SampleRows.
type SampleOptions struct {
	Seed uint64
	// Replace draws rows that may be drawn again.
	Replace bool
	// By are the keys of groups that have the fraction or the number of rows each.
	By []Expr
	// Weight is the weight of a row. The zero Expr is the same for all rows.
	Weight Expr
}

var errWeights = fmt.Errorf("the option Weight is of SampleRows, and of Sample with By, without Replace: %w", device.ErrInvalidValue)

// weighed returns the rows with a positive weight, and the key of an order of which the first rows are the sample: the
// negative logarithm of the random value, divided by the weight.
func (b *binder) weighed(input plan.Node, random expr.Expr, weight Expr) (plan.Node, expr.Expr, error) {
	if weight.Tree.IsZero() {
		return input, random, nil
	}
	value := weight.Tree.Cast(arrow.PrimitiveTypes.Float64)
	heavy, err := plan.NewFilter(input, value.Gt(expr.Lit(0.0)).And(value.IsNaN().Not()))
	unit := random.CastWrap(arrow.PrimitiveTypes.Float64).Add(expr.Lit(0.5)).Div(expr.Lit(0x1p64))
	return heavy, unit.Log().Neg().Div(value), err
}

// isWeight reports a weight that is no expression of the rows.
func (b *binder) isWeight(input plan.Node, weight Expr) bool {
	if weight.Tree.IsZero() {
		return true
	}
	_, ok := b.keys(input, []Expr{weight})
	return ok
}

// Sample keeps a random part of the rows.
func Sample(fraction float64, options SampleOptions) Verb {
	exec.UseWindows()
	exec.UseTop()
	exec.UseDraw()
	return Verb{name: "Sample", bind: onInput(func(b *binder, input plan.Node) plan.Node {
		switch {
		case !options.Weight.Tree.IsZero() && (len(options.By) == 0 || options.Replace):
			b.report(errWeights)
			return input
		case len(options.By) > 0 && !options.Replace && fraction >= 0 && fraction <= 1:
			return b.strata(input, options, func(number, rows expr.Expr) expr.Expr {
				return number.CastWrap(arrow.PrimitiveTypes.Float64).Le(rows.CastWrap(arrow.PrimitiveTypes.Float64).Mul(expr.Lit(fraction)).Add(expr.Lit(0.5)))
			})
		case len(options.By) > 0 && options.Replace:
			b.report(errReplacedStrata)
			return input
		case !(fraction >= 0) || math.IsInf(fraction, 1) || fraction > 1 && !options.Replace:
			b.report(fmt.Errorf("the fraction is %v, expected 0 to 1, or more with Replace: %w", fraction, device.ErrInvalidValue))
			return input
		case options.Replace:
			return plan.NewDraw(input, plan.DrawOptions{Rows: plan.All, Fraction: fraction, Seed: options.Seed})
		case fraction == 1:
			return input
		}
		return b.random(input, options.Seed, func(n plan.Node, _, random expr.Expr) (plan.Node, error) {
			return plan.NewFilter(n, random.Lt(expr.Lit(uint64(math.Ldexp(fraction, 64)))))
		})
	})}
}

// SampleRows keeps a number of random rows, or of each group.
func SampleRows(n int64, options SampleOptions) Verb {
	exec.UseWindows()
	exec.UseTop()
	exec.UseDraw()
	return Verb{name: "SampleRows", bind: onInput(func(b *binder, input plan.Node) plan.Node {
		switch {
		case !b.isCount(n) || !b.isWeight(input, options.Weight):
			return input
		case !options.Weight.Tree.IsZero() && options.Replace:
			b.report(errWeights)
			return input
		case len(options.By) > 0 && options.Replace:
			b.report(errReplacedStrata)
			return input
		case len(options.By) > 0:
			return b.strata(input, options, func(number, _ expr.Expr) expr.Expr { return number.Le(expr.Lit(n)) })
		case options.Replace:
			return plan.NewDraw(input, plan.DrawOptions{Rows: n, Seed: options.Seed})
		}
		return b.random(input, options.Seed, func(input plan.Node, row, random expr.Expr) (plan.Node, error) {
			heavy, key, err := b.weighed(input, random, options.Weight)
			if err != nil {
				return nil, err
			}
			drawn, err := plan.NewSort(heavy, []plan.SortKey{{Value: key}}, n)
			if err != nil {
				return nil, err
			}
			return plan.NewSort(drawn, []plan.SortKey{{Value: row}}, plan.All)
		})
	})}
}

var errReplacedStrata = fmt.Errorf("the options By and Replace are set: draw with replacement from each group by itself, or leave out one of them: %w", device.ErrInvalidValue)

// strata keeps rows of each group, which are numbered from 1 in a random order. Rows keep their
// order.
func (b *binder) strata(input plan.Node, options SampleOptions, keeps func(number, rows expr.Expr) expr.Expr) plan.Node {
	keys, ok := b.keys(input, options.By)
	if !ok || !b.isWeight(input, options.Weight) {
		return input
	}
	return b.random(input, options.Seed, func(n plan.Node, _, random expr.Expr) (plan.Node, error) {
		n, random, err := b.weighed(n, random, options.Weight)
		if err != nil {
			return nil, err
		}
		number, rows := plan.Computed("number in the group"), plan.Computed("rows of the group")
		over, err := plan.NewOver(n, plan.WindowKeys{Partition: keys, Order: []plan.SortKey{{Value: random}}}, []plan.Aggregation{
			{Function: "row_number", Name: number}, {Function: "count", Name: rows},
		})
		if err != nil {
			return nil, err
		}
		return plan.NewFilter(over, keeps(expr.Col(number), expr.Col(rows)))
	})
}

// Shuffle puts the rows into a random order.
func Shuffle(seed uint64) Verb {
	exec.UseTop()
	return Verb{name: "Shuffle", bind: onInput(func(b *binder, input plan.Node) plan.Node {
		return b.random(input, seed, func(n plan.Node, _, random expr.Expr) (plan.Node, error) {
			return plan.NewSort(n, []plan.SortKey{{Value: random}}, plan.All)
		})
	})}
}

// Number adds columns of numbers of the rows, for a verb with a name.
func Number(name string, options plan.NumberOptions) Verb {
	return Verb{name: name, bind: onInput(func(b *binder, input plan.Node) plan.Node {
		n, err := plan.NewNumber(input, options)
		return b.checked(n, err, input)
	})}
}

// random calls make with a node that has columns of the number and a random value of each
// row, and removes these from its result.
func (b *binder) random(input plan.Node, seed uint64, make func(n plan.Node, row, random expr.Expr) (plan.Node, error)) plan.Node {
	row, value := plan.Computed("row number"), plan.Computed("random")
	numbered, err := plan.NewNumber(input, plan.NumberOptions{Row: row, Random: value, Seed: seed})
	if err != nil {
		return b.checked(nil, err, input)
	}
	sampled, err := make(numbered, expr.Col(row), expr.Col(value))
	if err != nil {
		return b.checked(nil, err, input)
	}
	return b.without(sampled, numbered, input)
}
