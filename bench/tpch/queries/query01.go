package queries

import (
	"time"

	"github.com/gpuframe/gpuframe"
)

// query01 is the Pricing Summary Report Query.
func query01(t Tables) gpuframe.Query {
	discounted := extendedprice.Mul(gpuframe.Lit(1).Sub(discount))
	return t.Lineitem.
		Filter(shipdate.Le(date(1998, time.December, 1).AddDate(0, 0, -90))).
		GroupBy(returnflag, linestatus).
		Agg(
			quantity.Sum().As("sum_qty"),
			extendedprice.Sum().As("sum_base_price"),
			discounted.Sum().As("sum_disc_price"),
			discounted.Mul(gpuframe.Lit(1).Add(tax)).Sum().As("sum_charge"),
			mean(quantity).As("avg_qty"),
			mean(extendedprice).As("avg_price"),
			mean(discount).As("avg_disc"),
			gpuframe.Count().As("count_order")).
		Sort(returnflag, linestatus)
}
