package queries

import (
	"time"

	"github.com/gpuframe/gpuframe"
)

// query08 is the National Market Share Query.
func query08(t Tables) gpuframe.Query {
	american := t.Nation.Join(t.Region.Filter(regionName.Eq("AMERICA")), gpuframe.Semi, gpuframe.On(nationRegionkey, regionkey))
	orders := t.Orders.
		Filter(orderdate.Between(date(1995, time.January, 1), date(1996, time.December, 31))).
		Join(t.Customer.Join(american, gpuframe.Semi, gpuframe.On(custNationkey, nationkey)), gpuframe.Semi, gpuframe.On(orderCustkey, custkey))
	brazilian := revenue.Sum().Where(nationName.Eq("BRAZIL")).FillNull(0)
	return t.Lineitem.
		Join(t.Part.Filter(partType.Eq("ECONOMY ANODIZED STEEL")), gpuframe.Semi, gpuframe.On(linePartkey, partkey)).
		Join(orders, gpuframe.Inner, gpuframe.On(lineOrderkey, orderkey)).
		Join(t.Supplier, gpuframe.Inner, gpuframe.On(lineSuppkey, suppkey)).
		Join(t.Nation, gpuframe.Inner, gpuframe.On(suppNationkey, nationkey)).
		GroupBy(orderdate.Year().As("o_year")).
		Agg(ratio(brazilian, revenue.Sum()).As("mkt_share")).
		Sort(gpuframe.Col("o_year"))
}
