package queries

import (
	"time"

	"github.com/gpuframe/gpuframe"
)

// query06 is the Forecasting Revenue Change Query.
func query06(t Tables) gpuframe.Query {
	first := date(1994, time.January, 1)
	return t.Lineitem.
		Filter(
			shipdate.Ge(first), shipdate.Lt(first.AddDate(1, 0, 0)),
			discount.Between(0.05, 0.07), quantity.Lt(24)).
		Select(extendedprice.Mul(discount).Sum().As("revenue"))
}
