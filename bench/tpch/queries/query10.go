package queries

import (
	"time"

	"github.com/gpuframe/gpuframe"
)

// query10 is the Returned Item Reporting Query.
func query10(t Tables) gpuframe.Query {
	first := date(1993, time.October, 1)
	orders := t.Orders.Filter(orderdate.Ge(first), orderdate.Lt(first.AddDate(0, 3, 0)))
	best := t.Lineitem.
		Filter(returnflag.Eq("R")).
		Join(orders, gpuframe.Inner, gpuframe.On(lineOrderkey, orderkey)).
		GroupBy(orderCustkey.As("c_custkey")).
		Agg(revenue.Sum()).
		Top(20, gpuframe.Col("revenue").Desc())
	return best.
		Join(t.Customer, gpuframe.Inner, custkey).
		Join(t.Nation, gpuframe.Inner, gpuframe.On(custNationkey, nationkey)).
		Select(custkey, custName, gpuframe.Col("revenue"), custAcctbal, nationName, custAddress, custPhone, custComment)
}
