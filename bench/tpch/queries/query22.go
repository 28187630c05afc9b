package queries

import "github.com/gpuframe/gpuframe"

// query22 is the Global Sales Opportunity Query.
func query22(t Tables) gpuframe.Query {
	code := gpuframe.Of[string]("cntrycode")
	return t.Customer.
		With(custPhone.Substring(1, 2).As("cntrycode")).
		Filter(code.In("13", "31", "23", "29", "30", "18", "17")).
		Filter(custAcctbal.Gt(mean(custAcctbal).Where(custAcctbal.Gt(0)))).
		Join(t.Orders, gpuframe.Anti, gpuframe.On(custkey, orderCustkey)).
		GroupBy(code).
		Agg(gpuframe.Count().As("numcust"), custAcctbal.Sum().As("totacctbal")).
		Sort(code)
}
