package gpuframe

import (
	"github.com/gpuframe/gpuframe/internal/query/bind"
	"github.com/gpuframe/gpuframe/internal/query/plan"
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
	// Weight makes rows of a sample without replacement more likely in proportion to a number: each row is drawn
	// among those that are left. Rows with a weight of null, NaN, zero or less are left out. It is of
	// [Query.SampleRows], and of [Query.Sample] with By, which keeps the fraction of the rows with a weight.
	Weight Expression
}

func (o SampleOptions) bound() bind.SampleOptions {
	bound := bind.SampleOptions{Seed: o.Seed, Replace: o.Replace, By: arguments(o.By)}
	if o.Weight != nil {
		bound.Weight = expressionOf(o.Weight).bound()
	}
	return bound
}

// Sample keeps a random part of the rows, in their order: each with a probability, so the
// number of rows differs between seeds. With Replace it draws this fraction of the number of
// rows, which may exceed 1. With By it keeps this fraction of the rows of each group, rounded.
func (q Query) Sample(fraction float64, options SampleOptions) Query {
	return q.then(bind.Sample(fraction, options.bound()))
}

// SampleRows keeps a number of random rows, in their order, or all if there are fewer. With
// Replace it draws this number of rows.
func (q Query) SampleRows(n int64, options SampleOptions) Query {
	return q.then(bind.SampleRows(n, options.bound()))
}

// Shuffle puts the rows into a random order, which depends on the seed and on their order
// alone.
func (q Query) Shuffle(seed uint64) Query { return q.then(bind.Shuffle(seed)) }

// WithRandom adds a column of random numbers from 0 to 1, 1 excluded. They depend on the seed
// and on the number of the row alone.
func (q Query) WithRandom(name string, seed uint64) Query {
	return q.then(bind.Number("WithRandom", plan.NumberOptions{Uniform: name, Seed: seed}))
}

// WithRowNumber adds a column of the numbers of the rows, from 0.
func (q Query) WithRowNumber(name string) Query {
	return q.then(bind.Number("WithRowNumber", plan.NumberOptions{Row: name}))
}
