package queries

import "github.com/gpuframe/gpuframe"

// query09 is the Product Type Profit Measure Query.
func query09(t Tables) gpuframe.Query {
	profit := revenue.Sub(supplycost.Mul(quantity))
	return t.Lineitem.
		Join(t.Part.Filter(partName.Contains("green")), gpuframe.Semi, gpuframe.On(linePartkey, partkey)).
		Join(t.PartSupp, gpuframe.Inner, gpuframe.On(linePartkey, psPartkey), gpuframe.On(lineSuppkey, psSuppkey)).
		Join(t.Orders, gpuframe.Inner, gpuframe.On(lineOrderkey, orderkey)).
		Join(t.Supplier, gpuframe.Inner, gpuframe.On(lineSuppkey, suppkey)).
		Join(t.Nation, gpuframe.Inner, gpuframe.On(suppNationkey, nationkey)).
		GroupBy(nationName.As("nation"), orderdate.Year().As("o_year")).
		Agg(profit.Sum().As("sum_profit")).
		Sort(gpuframe.Col("nation"), gpuframe.Col("o_year").Desc())
}
