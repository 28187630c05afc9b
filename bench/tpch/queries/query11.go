package queries

import "github.com/gpuframe/gpuframe"

// query11 is the Important Stock Identification Query.
func query11(t Tables) gpuframe.Query {
	value := gpuframe.Col("value")
	german := t.Supplier.Join(t.Nation.Filter(nationName.Eq("GERMANY")), gpuframe.Semi, gpuframe.On(suppNationkey, nationkey))
	return t.PartSupp.
		Join(german, gpuframe.Semi, gpuframe.On(psSuppkey, suppkey)).
		GroupBy(psPartkey).
		Agg(supplycost.Mul(availqty).Sum().As("value")).
		Filter(value.Gt(value.Sum().Mul(0.0001 / t.Scale))).
		Sort(value.Desc())
}
