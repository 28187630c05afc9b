package order

import (
	"sync/atomic"

	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
)

// bound finds the bounds of integers and of decimals that fit 64 bits if the words of all keys are longer than one word,
// and plans shorter words with them. Few rows on a GPU are sorted by words of any length.
func (o *ordering) bound() error {
	if o.plan.Bits() <= rowkey.WordBits || !o.plan.Exact() || o.rows == 0 || o.call.Estimating() || o.sortsFew(o.rows) {
		return nil
	}
	if !o.call.OnHost() {
		return o.boundOnDevice()
	}
	host, err := rowkey.NewHost(o.plan)
	if err != nil {
		return err
	}
	for i := range o.sources {
		if err := o.boundOnHost(host, i); err != nil {
			return err
		}
	}
	o.plan = rowkey.NewPlan(o.sources)
	return nil
}

// boundOnHost finds the bounds of a source if it has integers or decimals.
func (o *ordering) boundOnHost(host *rowkey.Host, source int) error {
	s := &o.sources[source]
	if !boundable(s) {
		return nil
	}
	count := parallel.Parts(o.rows)
	bounds := make([]rowkey.Bounds, count)
	var wide atomic.Bool
	err := parallel.Run(o.call.Context(), o.rows, count, func(part, begin, end int) {
		if s.Storage != rowkey.Decimal {
			bounds[part] = host.Bounds(source, begin, end-begin)
			return
		}
		own, isWide := host.DecimalBounds(source, begin, end-begin)
		if bounds[part] = own; isWide {
			wide.Store(true)
		}
	})
	if err != nil || wide.Load() {
		return err
	}
	all := bounds[0]
	for _, f := range bounds[1:] {
		all.Add(f)
	}
	all.Apply(s)
	return nil
}

// boundable reports whether bounds of a source can shorten its words.
func boundable(s *rowkey.Source) bool {
	return s.Storage == rowkey.Signed || s.Storage == rowkey.Unsigned || s.Storage == rowkey.Decimal
}
