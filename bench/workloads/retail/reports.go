package retail

import (
	"time"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// reports are totals, parts of totals and ranks.
var reports = []question.Question{
	{
		Name: "revenue of holidays by category",
		SQL: `
select category, sum(paid) as revenue, count(*) as n
from sales join items using (item)
where day in (select day from days where holiday)
group by category`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["sales"].
				Join(t["days"].Filter(gpuframe.Col("holiday")), gpuframe.Semi, "day").
				Join(t["items"], gpuframe.Inner, "item").
				GroupBy("category").Agg(paid.Sum().As("revenue"), gpuframe.Count().As("n"))
		},
	},
	{
		Name: "best brands of a month",
		SQL: `
select brand, sum(paid) as revenue
from sales join items using (item)
where day between '2023-12-01' and '2023-12-31'
group by brand
order by revenue desc, brand
limit 10`,
		Go: func(t question.Tables) gpuframe.Query {
			first := time.Date(2023, time.December, 1, 0, 0, 0, 0, time.UTC)
			return t["sales"].
				Filter(date.Between(first, first.AddDate(0, 0, 30))).
				Join(t["items"], gpuframe.Inner, "item").
				GroupBy("brand").Agg(paid.Sum().As("revenue")).
				Top(10, revenue.Desc(), "brand")
		},
		Order: []string{"revenue", "brand"},
	},
	{
		Name: "rollup of category and class",
		SQL: `
select category, class, sum(profit) as profit, sum(paid) as revenue
from sales join items using (item)
group by rollup (category, class)`,
		Go: func(t question.Tables) gpuframe.Query {
			sold := t["sales"].Join(t["items"], gpuframe.Inner, "item")
			return sold.Rollup("category", "class").Agg(profit.Sum(), paid.Sum().As("revenue"))
		},
	},
	{
		Name: "cube of city and weekday",
		SQL: `
select city, weekday, grouping(city, weekday) as level, sum(paid) as revenue, count(distinct customer) as n
from sales join stores using (store) join days using (day)
group by cube (city, weekday)`,
		Go: func(t question.Tables) gpuframe.Query {
			sold := t["sales"].Join(t["stores"], gpuframe.Inner, "store").Join(t["days"], gpuframe.Inner, "day")
			return sold.Cube("city", "weekday").Agg(gpuframe.GroupingID().As("level"), paid.Sum().As("revenue"), buyer.CountDistinct().As("n"))
		},
	},
	{
		Name: "best three classes of each category",
		SQL: `
select category, class, sum(paid) as revenue, rank() over (partition by category order by sum(paid) desc) as place
from sales join items using (item)
group by category, class
qualify place <= 3
order by category, place`,
		Go: func(t question.Tables) gpuframe.Query {
			byRevenue := gpuframe.By("category").OrderBy(revenue.Desc())
			return t["sales"].
				Join(t["items"], gpuframe.Inner, "item").
				GroupBy("category", "class").Agg(paid.Sum().As("revenue")).
				With(gpuframe.Rank().Over(byRevenue).As("place")).
				Filter(gpuframe.Col("place").Le(3)).
				Sort("category", "place")
		},
		Order: []string{"category", "place"},
	},
	{
		Name: "share of a class in its category",
		SQL: `
select category, class, sum(paid) as revenue, sum(paid) / sum(sum(paid)) over (partition by category) as share
from web join items using (item)
where colour in ('azure', 'coral', 'rose')
group by category, class`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["web"].
				Join(t["items"].Filter(colour.In("azure", "coral", "rose")), gpuframe.Inner, "item").
				GroupBy("category", "class").Agg(paid.Sum().As("revenue")).
				With(revenue.TrueDiv(revenue.Sum().Over(gpuframe.By("category"))).As("share"))
		},
	},
	{
		Name: "running revenue and means of months",
		SQL: `
select year, month, sum(paid) as revenue,
  sum(sum(paid)) over (partition by year order by month) as running,
  avg(sum(paid)) over (order by year, month rows between 2 preceding and current row)::decimal(20, 6) as mean
from sales join days using (day)
group by year, month
order by year, month`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["sales"].
				Join(t["days"], gpuframe.Inner, "day").
				GroupBy("year", "month").Agg(paid.Sum().As("revenue")).
				With(
					revenue.CumSum().Over(gpuframe.By("year").OrderBy("month")).As("running"),
					revenue.Mean().Over(gpuframe.By().OrderBy("year", "month").Rows(-2, 0)).As("mean")).
				Sort("year", "month")
		},
		Order: []string{"year", "month"},
		Note:  "the mean of decimals is a decimal here, a float in DuckDB",
	},
	{
		Name: "weekdays as columns",
		SQL: `
select store,
  sum(case when weekday = 'Friday' then paid end) as "Friday",
  sum(case when weekday = 'Saturday' then paid end) as "Saturday",
  sum(case when weekday = 'Sunday' then paid end) as "Sunday"
from sales join days using (day)
group by store`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["sales"].
				Join(t["days"], gpuframe.Inner, "day").
				GroupBy("store").Pivot(weekday, []any{"Friday", "Saturday", "Sunday"}, paid.Sum())
		},
	},
	{
		Name: "revenue of a square metre",
		SQL: `
select name, sum(paid) / any_value(area) as density
from sales join stores using (store)
group by name
having count(*) > 10
order by density desc`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["sales"].
				Join(t["stores"], gpuframe.Inner, "store").
				GroupBy("name").Agg(paid.Sum().TrueDiv(gpuframe.Col("area").AnyValue()).As("density"), gpuframe.Count().As("n")).
				Filter(n.Gt(10)).
				Drop("n").
				Sort(gpuframe.Col("density").Desc())
		},
		Order: []string{"density"},
	},
	{
		Name: "median and 90th percentile of a ticket",
		SQL: `
select store, median(total::double) as median, quantile_cont(total::double, 0.9) as high
from (select ticket, any_value(store) as store, sum(paid) as total from sales group by ticket)
group by store`,
		Go: func(t question.Tables) gpuframe.Query {
			total := gpuframe.Col("total")
			return t["sales"].
				GroupBy("ticket").Agg(gpuframe.Col("store").First(), paid.Sum().As("total")).
				GroupBy("store").Agg(total.Median().As("median"), total.Quantile(0.9).As("high"))
		},
	},
	{
		Name: "buyers by generation",
		SQL: `
select case when birth < 1946 then 'silent' when birth < 1965 then 'boomer' when birth < 1981 then 'x' when birth < 1997 then 'y' else 'z or unknown' end as generation,
  sum(paid) as revenue, count(distinct customer) as n
from sales join customers using (customer)
group by generation`,
		Go: func(t question.Tables) gpuframe.Query {
			generation := gpuframe.Case().
				When(birth.Lt(1946), "silent").When(birth.Lt(1965), "boomer").
				When(birth.Lt(1981), "x").When(birth.Lt(1997), "y").Else("z or unknown")
			return t["sales"].
				Join(t["customers"], gpuframe.Inner, "customer").
				GroupBy(generation.As("generation")).Agg(paid.Sum().As("revenue"), buyer.CountDistinct().As("n"))
		},
	},
	{
		Name: "buyers of both channels by month",
		SQL: `
select year, month, count(distinct customer) as n, count(*) filter (where channel = 'web') as web
from (select day, customer, 'store' as channel from sales union all select day, customer, 'web' from web)
join days using (day)
group by year, month`,
		Go: func(t question.Tables) gpuframe.Query {
			isWeb := gpuframe.Col("web")
			return t["sales"].Select("day", "customer", gpuframe.Lit(false).As("web")).
				Union(t["web"].Select("day", "customer", gpuframe.Lit(true).As("web"))).
				Join(t["days"], gpuframe.Inner, "day").
				GroupBy("year", "month").Agg(buyer.CountDistinct().As("n"), isWeb.CountIf().As("web"))
		},
	},
	{
		Name: "means of three ranges of quantities in one row",
		SQL: `
select
  (select sum(paid)::double / count(*) from sales where quantity between 1 and 5) as small,
  (select sum(paid)::double / count(*) from sales where quantity between 6 and 12) as medium,
  (select max(profit) from sales where quantity > 12) as large`,
		Go: func(t question.Tables) gpuframe.Query {
			small, medium := quantity.Between(1, 5), quantity.Between(6, 12)
			return t["sales"].Select(
				paid.Sum().Where(small).TrueDiv(gpuframe.Count().Where(small)).As("small"),
				paid.Sum().Where(medium).TrueDiv(gpuframe.Count().Where(medium)).As("medium"),
				profit.Max().Where(quantity.Gt(12)).As("large"))
		},
	},
	{
		Name: "totals of channels with their returns",
		SQL: `
select channel, sum(revenue) as revenue, sum(lost) as lost
from (
  select 'store' as channel, paid as revenue, 0 as lost from sales where day >= '2024-01-01'
  union all select 'store', 0, amount from returns where day >= '2024-01-01'
  union all select 'web', paid, 0 from web where day >= '2024-01-01')
group by rollup (channel)`,
		Go: func(t question.Tables) gpuframe.Query {
			recent := date.Ge(time.Date(2024, time.January, 1, 0, 0, 0, 0, time.UTC))
			part := func(table, channel string, gain, loss any) gpuframe.Query {
				return t[table].Filter(recent).Select(gpuframe.Lit(channel).As("channel"), gpuframe.LitOf(money, 0).Add(gain).As("revenue"), gpuframe.LitOf(money, 0).Add(loss).As("lost"))
			}
			moves := part("sales", "store", paid, 0).Union(part("returns", "store", 0, amount), part("web", "web", paid, 0))
			return moves.Rollup("channel").Agg(revenue.Sum(), gpuframe.Col("lost").Sum())
		},
	},
}
