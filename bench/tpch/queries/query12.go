package queries

import (
	"time"

	"github.com/gpuframe/gpuframe"
)

// query12 is the Shipping Modes and Order Priority Query.
func query12(t Tables) gpuframe.Query {
	first := date(1994, time.January, 1)
	urgent := orderpriority.In("1-URGENT", "2-HIGH")
	return t.Lineitem.
		Filter(
			shipmode.In("MAIL", "SHIP"), commitdate.Lt(receiptdate), shipdate.Expr.Lt(commitdate),
			receiptdate.Ge(first), receiptdate.Lt(first.AddDate(1, 0, 0))).
		Join(t.Orders, gpuframe.Inner, gpuframe.On(lineOrderkey, orderkey)).
		GroupBy(shipmode).
		Agg(
			gpuframe.Count().Where(urgent).As("high_line_count"),
			gpuframe.Count().Where(urgent.Not()).As("low_line_count")).
		Sort(shipmode)
}
