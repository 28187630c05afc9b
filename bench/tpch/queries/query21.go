package queries

import "github.com/gpuframe/gpuframe"

// query21 is the query "Suppliers Who Kept Orders Waiting".
func query21(t Tables) gpuframe.Query {
	late := t.Lineitem.Filter(commitdate.Lt(receiptdate))
	ofOther := gpuframe.Matching(lineSuppkey.Ne(gpuframe.Col("l_suppkey_right")))
	suppliers := t.Supplier.Join(t.Nation.Filter(nationName.Eq("SAUDI ARABIA")), gpuframe.Semi, gpuframe.On(suppNationkey, nationkey))
	return late.
		Join(suppliers, gpuframe.Inner, gpuframe.On(lineSuppkey, suppkey)).
		Join(t.Orders.Filter(orderstatus.Eq("F")), gpuframe.Semi, gpuframe.On(lineOrderkey, orderkey)).
		Join(t.Lineitem, gpuframe.Semi, lineOrderkey, ofOther).
		Join(late, gpuframe.Anti, lineOrderkey, ofOther).
		GroupBy(suppName).
		Agg(gpuframe.Count().As("numwait")).
		Top(100, gpuframe.Col("numwait").Desc(), suppName)
}
