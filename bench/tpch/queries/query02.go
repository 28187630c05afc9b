package queries

import "github.com/gpuframe/gpuframe"

// query02 is the Minimum Cost Supplier Query.
func query02(t Tables) gpuframe.Query {
	offers := t.PartSupp.
		Join(t.Part.Filter(partSize.Eq(15), partType.HasSuffix("BRASS")), gpuframe.Inner, gpuframe.On(psPartkey, partkey)).
		Join(t.Supplier, gpuframe.Inner, gpuframe.On(psSuppkey, suppkey)).
		Join(t.Nation, gpuframe.Inner, gpuframe.On(suppNationkey, nationkey)).
		Join(t.Region.Filter(regionName.Eq("EUROPE")), gpuframe.Semi, gpuframe.On(nationRegionkey, regionkey))
	return offers.
		Filter(supplycost.Eq(supplycost.Min().Over(gpuframe.By(psPartkey)))).
		Select(suppAcctbal, suppName, nationName, psPartkey.As("p_partkey"), manufacturer, suppAddress, suppPhone, suppComment).
		Top(100, suppAcctbal.Desc(), nationName, suppName, partkey)
}
