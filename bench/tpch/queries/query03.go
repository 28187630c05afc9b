package queries

import (
	"time"

	"github.com/gpuframe/gpuframe"
)

// query03 is the Shipping Priority Query.
func query03(t Tables) gpuframe.Query {
	day := date(1995, time.March, 15)
	open := t.Orders.
		Filter(orderdate.Lt(day)).
		Join(t.Customer.Filter(segment.Eq("BUILDING")), gpuframe.Semi, gpuframe.On(orderCustkey, custkey))
	return t.Lineitem.
		Filter(shipdate.Gt(day)).
		Join(open, gpuframe.Inner, gpuframe.On(lineOrderkey, orderkey)).
		GroupBy(lineOrderkey, orderdate, shippriority).
		Agg(revenue.Sum()).
		Select(lineOrderkey, gpuframe.Col("revenue"), orderdate, shippriority).
		Top(10, gpuframe.Col("revenue").Desc(), orderdate)
}
