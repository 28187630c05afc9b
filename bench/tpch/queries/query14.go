package queries

import (
	"time"

	"github.com/gpuframe/gpuframe"
)

// query14 is the Promotion Effect Query.
func query14(t Tables) gpuframe.Query {
	first := date(1995, time.September, 1)
	promoted := revenue.Sum().Where(partType.HasPrefix("PROMO")).FillNull(0)
	return t.Lineitem.
		Filter(shipdate.Ge(first), shipdate.Lt(first.AddDate(0, 1, 0))).
		Join(t.Part, gpuframe.Inner, gpuframe.On(linePartkey, partkey)).
		Select(ratio(promoted, revenue.Sum()).Mul(100).As("promo_revenue"))
}
