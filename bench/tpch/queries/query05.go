package queries

import (
	"time"

	"github.com/gpuframe/gpuframe"
)

// query05 is the Local Supplier Volume Query.
func query05(t Tables) gpuframe.Query {
	first := date(1994, time.January, 1)
	asia := t.Nation.Join(t.Region.Filter(regionName.Eq("ASIA")), gpuframe.Semi, gpuframe.On(nationRegionkey, regionkey))
	suppliers := t.Supplier.Join(asia, gpuframe.Inner, gpuframe.On(suppNationkey, nationkey))
	orders := t.Orders.
		Filter(orderdate.Ge(first), orderdate.Lt(first.AddDate(1, 0, 0))).
		Join(t.Customer, gpuframe.Inner, gpuframe.On(orderCustkey, custkey))
	return t.Lineitem.
		Join(orders, gpuframe.Inner, gpuframe.On(lineOrderkey, orderkey)).
		Join(suppliers, gpuframe.Inner, gpuframe.On(lineSuppkey, suppkey), gpuframe.On(custNationkey, suppNationkey)).
		GroupBy(nationName).
		Agg(revenue.Sum()).
		Sort(gpuframe.Col("revenue").Desc())
}
