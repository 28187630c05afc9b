package queries

import "github.com/gpuframe/gpuframe"

// query18 is the Large Volume Customer Query.
func query18(t Tables) gpuframe.Query {
	sum := gpuframe.Col("sum_qty")
	return t.Lineitem.
		GroupBy(lineOrderkey.As("o_orderkey")).Agg(quantity.Sum().As("sum_qty")).
		Filter(sum.Gt(300)).
		Join(t.Orders, gpuframe.Inner, orderkey).
		Join(t.Customer, gpuframe.Inner, gpuframe.On(orderCustkey, custkey)).
		Select(custName, orderCustkey.As("c_custkey"), orderkey, orderdate, totalprice, sum).
		Top(100, totalprice.Desc(), orderdate)
}
