package queries

import "github.com/gpuframe/gpuframe"

// query13 is the Customer Distribution Query.
func query13(t Tables) gpuframe.Query {
	count := gpuframe.Col("c_count")
	return t.Customer.
		Join(t.Orders.Filter(orderComment.Like("%special%requests%").Not()), gpuframe.Left, gpuframe.On(custkey, orderCustkey)).
		GroupBy(custkey).Agg(orderkey.Count().As("c_count")).
		GroupBy(count).Agg(gpuframe.Count().As("custdist")).
		Sort(gpuframe.Col("custdist").Desc(), count.Desc())
}
