package nested

import (
	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// structs are questions about structs, maps and JSON.
var structs = []question.Question{
	{
		Name: "orders of a city by a field of a struct",
		SQL: `
select address.city as city, count(*) as n, max(address.zip) as zip
from orders
group by address.city`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["orders"].
				GroupBy(place.Field("city").As("city")).
				Agg(gpuframe.Count().As("n"), place.Field("zip").Max().As("zip"))
		},
	},
	{
		Name: "groups by a whole struct",
		SQL: `
select {'city': address.city, 'zone': address.zip // 1000} as place, count(*) as n
from orders
group by 1`,
		Go: func(t question.Tables) gpuframe.Query {
			zone := place.Field("zip").Div(1000)
			return t["orders"].
				GroupBy(gpuframe.Struct(place.Field("city"), zone.As("zone")).As("place")).
				Agg(gpuframe.Count().As("n"))
		},
	},
	{
		Name: "a struct with another field",
		SQL: `
select id, struct_insert(address, country := case when address.city in ('Bern', 'Graz', 'Bremen') then 'south' else 'elsewhere' end) as address
from orders`,
		Go: func(t question.Tables) gpuframe.Query {
			country := gpuframe.If(place.Field("city").In("Bern", "Graz", "Bremen"), "south", "elsewhere")
			return t["orders"].Select("id", place.WithField("country", country))
		},
	},
	{
		Name: "values of a map",
		SQL: `
select attributes['device'] as device, attributes['lang'] as lang, count(*) as n, count(attributes['coupon']) as coupons
from orders
group by all`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["orders"].
				GroupBy(attributes.MapGet("device").As("device"), attributes.MapGet("lang").As("lang")).
				Agg(gpuframe.Count().As("n"), attributes.MapGet("coupon").Count().As("coupons"))
		},
	},
	{
		Name: "entries of maps as rows",
		SQL: `
select entry.key as key, count(*) as n, count(distinct entry.value) as different
from (select unnest(map_entries(attributes)) as entry from orders)
group by entry.key`,
		Go: func(t question.Tables) gpuframe.Query {
			entry := gpuframe.Col("entry")
			return t["orders"].
				Select(attributes.MapEntries().As("entry")).Explode("entry").
				GroupBy(entry.Field("key").As("key")).
				Agg(gpuframe.Count().As("n"), entry.Field("value").CountDistinct().As("different"))
		},
	},
	{
		Name: "map of the devices of a city",
		SQL: `
select address.city as city, histogram(attributes['device']) as devices
from orders
group by address.city`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["orders"].
				GroupBy(place.Field("city").As("city")).
				Agg(attributes.MapGet("device").Histogram().As("devices"))
		},
	},
	{
		Name: "paths of JSON",
		SQL: `
select payload->>'$.device.os' as os, count(*) as n, avg((payload->>'$.total')::double) as mean
from orders
where (payload->>'$.ok')::boolean
group by os`,
		Go: func(t question.Tables) gpuframe.Query {
			os, total := payload.JSONText("$.device.os"), payload.JSONText("$.total").Cast(float)
			return t["orders"].
				Filter(payload.JSONText("$.ok").Eq("true")).
				GroupBy(os.As("os")).Agg(gpuframe.Count().As("n"), total.Mean().As("mean"))
		},
	},
	{
		Name: "elements of arrays of JSON",
		SQL: `
select step, count(*) as n
from (select unnest((payload->'$.steps')::bigint[]) as step from orders)
group by step`,
		Go: func(t question.Tables) gpuframe.Query {
			step := gpuframe.Col("step")
			return t["orders"].
				Select(payload.JSONElements("$.steps").As("step")).Explode("step").
				GroupBy(step.Cast(integer)).Agg(gpuframe.Count().As("n"))
		},
	},
}
