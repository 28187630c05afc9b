package queries

import (
	"time"

	"github.com/gpuframe/gpuframe"
)

// query15 is the Top Supplier Query.
func query15(t Tables) gpuframe.Query {
	first := date(1996, time.January, 1)
	total := gpuframe.Col("total_revenue")
	best := t.Lineitem.
		Filter(shipdate.Ge(first), shipdate.Lt(first.AddDate(0, 3, 0))).
		GroupBy(lineSuppkey).
		Agg(revenue.Sum().As("total_revenue")).
		Filter(total.Eq(total.Max()))
	return t.Supplier.
		Join(best, gpuframe.Inner, gpuframe.On(suppkey, lineSuppkey)).
		Select(suppkey, suppName, suppAddress, suppPhone, total).
		Sort(suppkey)
}
