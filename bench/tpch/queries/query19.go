package queries

import "github.com/gpuframe/gpuframe"

// query19 is the Discounted Revenue Query.
func query19(t Tables) gpuframe.Query {
	box := func(brandName string, boxes []string, low, size int) gpuframe.Expr {
		return brand.Eq(brandName).And(container.In(boxes...)).And(quantity.Between(low, low+10)).And(partSize.Between(1, int32(size)))
	}
	return t.Lineitem.
		Filter(shipmode.In("AIR", "AIR REG"), shipinstruct.Eq("DELIVER IN PERSON")).
		Join(t.Part, gpuframe.Inner, gpuframe.On(linePartkey, partkey)).
		Filter(box("Brand#12", []string{"SM CASE", "SM BOX", "SM PACK", "SM PKG"}, 1, 5).
			Or(box("Brand#23", []string{"MED BAG", "MED BOX", "MED PKG", "MED PACK"}, 10, 10)).
			Or(box("Brand#34", []string{"LG CASE", "LG BOX", "LG PACK", "LG PKG"}, 20, 15))).
		Select(revenue.Sum())
}
