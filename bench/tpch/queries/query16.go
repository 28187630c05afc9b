package queries

import "github.com/gpuframe/gpuframe"

// query16 is the Parts/Supplier Relationship Query.
func query16(t Tables) gpuframe.Query {
	parts := t.Part.Filter(
		brand.Ne("Brand#45"), partType.HasPrefix("MEDIUM POLISHED").Not(),
		partSize.In(49, 14, 23, 45, 19, 3, 36, 9))
	return t.PartSupp.
		Join(t.Supplier.Filter(suppComment.Like("%Customer%Complaints%")), gpuframe.Anti, gpuframe.On(psSuppkey, suppkey)).
		Join(parts, gpuframe.Inner, gpuframe.On(psPartkey, partkey)).
		GroupBy(brand, partType, partSize).
		Agg(psSuppkey.CountDistinct().As("supplier_cnt")).
		Sort(gpuframe.Col("supplier_cnt").Desc(), brand, partType, partSize)
}
