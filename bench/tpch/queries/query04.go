package queries

import (
	"time"

	"github.com/gpuframe/gpuframe"
)

// query04 is the Order Priority Checking Query.
func query04(t Tables) gpuframe.Query {
	first := date(1993, time.July, 1)
	return t.Orders.
		Filter(orderdate.Ge(first), orderdate.Lt(first.AddDate(0, 3, 0))).
		Join(t.Lineitem.Filter(commitdate.Lt(receiptdate)), gpuframe.Semi, gpuframe.On(orderkey, lineOrderkey)).
		GroupBy(orderpriority).
		Agg(gpuframe.Count().As("order_count")).
		Sort(orderpriority)
}
