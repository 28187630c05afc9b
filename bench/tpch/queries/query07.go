package queries

import (
	"time"

	"github.com/gpuframe/gpuframe"
)

// query07 is the Volume Shipping Query.
func query07(t Tables) gpuframe.Query {
	suppNation, custNation := gpuframe.Of[string]("supp_nation"), gpuframe.Of[string]("cust_nation")
	two := t.Nation.Filter(nationName.In("FRANCE", "GERMANY"))
	suppliers := t.Supplier.
		Join(two.Select(nationkey, nationName.As("supp_nation")), gpuframe.Inner, gpuframe.On(suppNationkey, nationkey))
	customers := t.Customer.
		Join(two.Select(nationkey, nationName.As("cust_nation")), gpuframe.Inner, gpuframe.On(custNationkey, nationkey))
	orders := t.Orders.Join(customers, gpuframe.Inner, gpuframe.On(orderCustkey, custkey))
	return t.Lineitem.
		Filter(shipdate.Between(date(1995, time.January, 1), date(1996, time.December, 31))).
		Join(suppliers, gpuframe.Inner, gpuframe.On(lineSuppkey, suppkey)).
		Join(orders, gpuframe.Inner, gpuframe.On(lineOrderkey, orderkey), gpuframe.Matching(suppNation.Expr.Ne(custNation))).
		GroupBy(suppNation, custNation, shipdate.Year().As("l_year")).
		Agg(revenue.Sum()).
		Sort(suppNation, custNation, gpuframe.Col("l_year"))
}
