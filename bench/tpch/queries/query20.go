package queries

import (
	"time"

	"github.com/gpuframe/gpuframe"
)

// query20 is the Potential Part Promotion Query.
func query20(t Tables) gpuframe.Query {
	first := date(1994, time.January, 1)
	shipped := t.Lineitem.
		Filter(shipdate.Ge(first), shipdate.Lt(first.AddDate(1, 0, 0))).
		GroupBy(linePartkey, lineSuppkey).
		Agg(quantity.Sum().As("shipped"))
	excess := t.PartSupp.
		Join(t.Part.Filter(partName.HasPrefix("forest")), gpuframe.Semi, gpuframe.On(psPartkey, partkey)).
		Join(shipped, gpuframe.Inner, gpuframe.On(psPartkey, linePartkey), gpuframe.On(psSuppkey, lineSuppkey)).
		Filter(availqty.Gt(gpuframe.Col("shipped").Mul(0.5)))
	return t.Supplier.
		Join(t.Nation.Filter(nationName.Eq("CANADA")), gpuframe.Semi, gpuframe.On(suppNationkey, nationkey)).
		Join(excess, gpuframe.Semi, gpuframe.On(suppkey, psSuppkey)).
		Select(suppName, suppAddress).
		Sort(suppName)
}
