package queries

import "github.com/gpuframe/gpuframe"

// query17 is the Small-Quantity-Order Revenue Query.
func query17(t Tables) gpuframe.Query {
	return t.Lineitem.
		Join(t.Part.Filter(brand.Eq("Brand#23"), container.Eq("MED BOX")), gpuframe.Semi, gpuframe.On(linePartkey, partkey)).
		Filter(quantity.Lt(mean(quantity).Over(gpuframe.By(linePartkey)).Mul(0.2))).
		Select(ratio(extendedprice.Sum(), gpuframe.Lit(7)).As("avg_yearly"))
}
