package gpuframe

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// SampleOptions configure [Query.Sample] and [Query.SampleRows].
//
// A sample depends on the seed and on the rows of the query in their order, and on nothing
// else: it is the same on every device, and for every budget and size of batches.
type SampleOptions struct {
	Seed uint64
	// Replace draws each row of the result among all rows, so that a row may occur several
	// times. The rows are in the order in which they are drawn, and all rows of the query are
	// in memory together.
	Replace bool
	// By makes strata: the fraction or the number of rows is that of each group of rows with
	// equal values. It does not go with Replace.
	By []Expression
}

// Sample keeps a random part of the rows, in their order: each with a probability, so the
// number of rows differs between seeds. With Replace it draws this fraction of the number of
// rows, which may exceed 1. With By it keeps this fraction of the rows of each group, rounded.
func (q Query) Sample(fraction float64, options SampleOptions) Query {
	return q.then("Sample", nil, func(b *binder, inputs []plan.Node) plan.Node {
		input := inputs[0]
		switch {
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
	})
}

// SampleRows keeps a number of random rows, in their order, or all if there are fewer. With
// Replace it draws this number of rows.
func (q Query) SampleRows(n int64, options SampleOptions) Query {
	return q.then("SampleRows", nil, func(b *binder, inputs []plan.Node) plan.Node {
		if n < 0 {
			b.report(fmt.Errorf("the number of rows is %d, expected zero or more: %w", n, device.ErrInvalidValue))
			return inputs[0]
		}
		if len(options.By) > 0 && options.Replace {
			b.report(errReplacedStrata)
			return inputs[0]
		}
		if len(options.By) > 0 {
			return b.strata(inputs[0], options, func(number, _ expr.Expr) expr.Expr { return number.Le(expr.Lit(n)) })
		}
		if options.Replace {
			return plan.NewDraw(inputs[0], plan.DrawOptions{Rows: n, Seed: options.Seed})
		}
		return b.random(inputs[0], options.Seed, func(input plan.Node, row, random expr.Expr) (plan.Node, error) {
			drawn, err := plan.NewSort(input, []plan.SortKey{{Value: random}}, n)
			if err != nil {
				return nil, err
			}
			return plan.NewSort(drawn, []plan.SortKey{{Value: row}}, plan.All)
		})
	})
}

var errReplacedStrata = fmt.Errorf("By and Replace are set: draw with replacement from each group by itself, or leave out one of them: %w", device.ErrInvalidValue)

// strata keeps rows of each group, which are numbered from 1 in a random order. Rows keep their
// order.
func (b *binder) strata(input plan.Node, options SampleOptions, keeps func(number, rows expr.Expr) expr.Expr) plan.Node {
	keys, ok := b.keys(input, unpack(options.By))
	if !ok {
		return input
	}
	return b.random(input, options.Seed, func(n plan.Node, _, random expr.Expr) (plan.Node, error) {
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

// Shuffle puts the rows into a random order, which depends on the seed and on their order
// alone.
func (q Query) Shuffle(seed uint64) Query {
	return q.then("Shuffle", nil, func(b *binder, inputs []plan.Node) plan.Node {
		return b.random(inputs[0], seed, func(n plan.Node, _, random expr.Expr) (plan.Node, error) {
			return plan.NewSort(n, []plan.SortKey{{Value: random}}, plan.All)
		})
	})
}

// WithRandom adds a column of random numbers from 0 to 1, 1 excluded. They depend on the seed
// and on the number of the row alone.
func (q Query) WithRandom(name string, seed uint64) Query {
	return q.then("WithRandom", nil, func(b *binder, inputs []plan.Node) plan.Node {
		n, err := plan.NewNumber(inputs[0], plan.NumberOptions{Uniform: name, Seed: seed})
		return b.checked(n, err, inputs[0])
	})
}

// WithRowNumber adds a column of the numbers of the rows, from 0.
func (q Query) WithRowNumber(name string) Query {
	return q.then("WithRowNumber", nil, func(b *binder, inputs []plan.Node) plan.Node {
		n, err := plan.NewNumber(inputs[0], plan.NumberOptions{Row: name})
		return b.checked(n, err, inputs[0])
	})
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
