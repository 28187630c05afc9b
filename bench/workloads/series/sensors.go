package series

import (
	"time"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// sensors are questions about readings with gaps.
var sensors = []question.Question{
	{
		Name: "mean of fifteen minutes, every five",
		SQL: `
with windows as (select sensor, value, time_bucket(interval 5 minutes, ts) - unnest([0, 1, 2]) * interval 5 minutes as ts from readings)
select sensor, ts, avg(value) as mean, count(value) as n
from windows
group by sensor, ts
having count(*) > 0`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["readings"].
				Resample("ts", 5*time.Minute, "sensor").Span(15*time.Minute).
				Agg(value.Mean().As("mean"), value.Count().As("n"), gpuframe.Count().As("rows")).
				Filter(gpuframe.Col("rows").Gt(0)).
				Drop("rows")
		},
	},
	{
		Name: "days with their mean of a month",
		SQL: `
with days as (select sensor, ts::date as day, avg(value) as value from readings group by sensor, day)
select sensor, day, value, avg(value) over (partition by sensor order by day range between interval 1 month preceding and current row) as month
from days`,
		Go: func(t question.Tables) gpuframe.Query {
			month := gpuframe.By("sensor").OrderBy("day").Range(gpuframe.Every(-1, "month"), 0)
			return t["readings"].
				GroupBy("sensor", ts.Cast(date).As("day")).Agg(value.Mean()).
				With(value.Mean().Over(month).As("month"))
		},
	},
	{
		Name: "missing values from the row before",
		SQL: `
select sensor, ts, last_value(value ignore nulls) over (partition by sensor order by ts) as value
from readings`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["readings"].With(value.FillForward().Over(bySensor)).Select("sensor", "ts", "value")
		},
	},
	{
		Name: "missing values on a line in time",
		SQL: `
with ends as (
  select *, last_value(value ignore nulls) over w as low, last_value(case when value is not null then ts end ignore nulls) over w as low_ts,
    first_value(value ignore nulls) over v as high, first_value(case when value is not null then ts end ignore nulls) over v as high_ts
  from readings
  window w as (partition by sensor order by ts rows between unbounded preceding and current row), v as (partition by sensor order by ts rows between current row and unbounded following))
select sensor, ts, coalesce(value, low + (high - low) * epoch_us(ts - low_ts) / epoch_us(high_ts - low_ts)) as value
from ends`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["readings"].With(value.InterpolateBy(ts).Over(bySensor)).Select("sensor", "ts", "value")
		},
	},
	{
		Name: "exponential mean with a half-life of an hour",
		SQL: `
with weights as (
  select sensor, ts::date as day, ts, value,
    pow(2, epoch(ts - lag(ts) over d) / -3600) as weight,
    pow(2, epoch(ts - date_trunc('day', ts)) / 3600) as growth
  from readings where value is not null window d as (partition by sensor, ts::date order by ts))
select sensor, ts, sum(value * coalesce(1 - weight, 1) * growth) over (partition by sensor, day order by ts) / growth as mean
from weights`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["readings"].
				DropNulls("value").
				With(ts.Cast(date).As("day")).
				Select("sensor", "ts", value.ExponentialMeanBy(ts, time.Hour).Over(gpuframe.By("sensor", "day")).As("mean"))
		},
	},
	{
		Name: "hours of the day in another time zone",
		SQL: `
select sensor, hour(ts at time zone 'UTC' at time zone 'Europe/Oslo') as hour, avg(value) as mean
from readings
group by sensor, hour`,
		Go: func(t question.Tables) gpuframe.Query {
			hour := ts.Cast(utc).LocalTime("Europe/Oslo").Hour()
			return t["readings"].GroupBy("sensor", hour.As("hour")).Agg(value.Mean().As("mean"))
		},
	},
	{
		Name: "months of a calendar with the days above a limit",
		SQL: `
select date_trunc('month', day)::timestamp as month, count(*) filter (where high > 59) as hot, max(high) as high
from (select sensor, date_trunc('day', ts) as day, max(value) as high from readings group by sensor, day)
group by month
order by month`,
		Go: func(t question.Tables) gpuframe.Query {
			high := gpuframe.Col("high")
			return t["readings"].
				GroupBy("sensor", ts.Truncate("day").As("day")).Agg(value.Max().As("high")).
				GroupBy(gpuframe.Col("day").Truncate("month").As("month")).
				Agg(high.Gt(59).CountIf().As("hot"), high.Max()).
				Sort("month")
		},
		Order: []string{"month"},
	},
	{
		Name: "spans above a limit",
		SQL: `
with states as (select *, value > 50 as above, sum(case when value > 50 then 0 else 1 end) over (partition by sensor order by ts) as span from readings where value is not null)
select sensor, min(ts) as since, max(ts) as until, count(*) as n, max(value) as high
from states
where above
group by sensor, span
having count(*) >= 5`,
		Go: func(t question.Tables) gpuframe.Query {
			above := value.Gt(50)
			span := gpuframe.If(above, 0, 1).CumSum().Over(bySensor)
			return t["readings"].
				DropNulls("value").
				With(span.As("span")).
				Filter(above).
				GroupBy("sensor", "span").
				Agg(ts.Min().As("since"), ts.Max().As("until"), gpuframe.Count().As("n"), value.Max().As("high")).
				Filter(n.Ge(5)).
				Drop("span")
		},
	},
	{
		Name: "readings during an outage of their sensor",
		SQL: `
select sensor, since, count(*) as n, avg(value) as mean
from readings join outages using (sensor)
where ts between since and until
group by sensor, since`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["readings"].
				Join(t["outages"], gpuframe.Inner, "sensor", gpuframe.Matching(ts.Expr.Between(since, until))).
				GroupBy("sensor", "since").Agg(gpuframe.Count().As("n"), value.Mean().As("mean"))
		},
	},
	{
		Name: "outages of other sensors at the same time",
		SQL: `
select a.sensor, count(*) as n
from outages a join outages b on a.since < b.until and b.since < a.until and a.sensor <> b.sensor
group by a.sensor`,
		Go: func(t question.Tables) gpuframe.Query {
			overlap := since.Lt(gpuframe.Col("until_right")).And(gpuframe.Col("since_right").Lt(until))
			other := gpuframe.Col("sensor").Ne(gpuframe.Col("sensor_right"))
			return t["outages"].
				Join(t["outages"], gpuframe.Inner, gpuframe.Matching(overlap.And(other))).
				GroupBy("sensor").Agg(gpuframe.Count().As("n"))
		},
	},
	{
		Name: "change from the day before at the same hour",
		SQL: `
with hours as (select sensor, date_trunc('hour', ts) as hour, avg(value) as value from readings group by sensor, hour)
select a.sensor, a.hour, a.value - b.value as change
from hours a join hours b on a.sensor = b.sensor and b.hour = a.hour - interval 1 day`,
		Go: func(t question.Tables) gpuframe.Query {
			hour := gpuframe.Col("hour")
			hours := t["readings"].GroupBy("sensor", ts.Truncate("hour").As("hour")).Agg(value.Mean())
			return hours.
				Join(hours, gpuframe.Inner, "sensor", gpuframe.On(hour.Sub(24*time.Hour), "hour")).
				Select("sensor", "hour", value.Sub(gpuframe.Col("value_right")).As("change"))
		},
	},
}
