package retail

import (
	"time"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// comparisons are of one time, place or channel with another.
var comparisons = []question.Question{
	{
		Name: "growth of brands from a year to the next",
		SQL: `
with years as (
  select brand, year, sum(paid) as revenue
  from sales join items using (item) join days using (day)
  group by brand, year)
select a.brand, a.year, b.revenue / a.revenue as growth
from years a join years b on a.brand = b.brand and b.year = a.year + 1`,
		Go: func(t question.Tables) gpuframe.Query {
			years := t["sales"].
				Join(t["items"], gpuframe.Inner, "item").
				Join(t["days"], gpuframe.Inner, "day").
				GroupBy("brand", "year").Agg(paid.Sum().As("revenue"))
			return years.
				Join(years, gpuframe.Inner, "brand", gpuframe.On(year.Add(1), "year")).
				Select("brand", "year", revenueRight.TrueDiv(revenue).As("growth"))
		},
	},
	{
		Name: "weeks of a store and the same of the year before",
		SQL: `
with weeks as (
  select store, week, sum(paid) filter (where weekday in ('Saturday', 'Sunday')) as weekend, sum(paid) as revenue
  from sales join days using (day)
  group by store, week)
select b.store, b.week, b.weekend / a.weekend as weekend, b.revenue / a.revenue as revenue
from weeks a join weeks b on a.store = b.store and b.week = a.week + 52`,
		Go: func(t question.Tables) gpuframe.Query {
			weekend := gpuframe.Col("weekend")
			weeks := t["sales"].
				Join(t["days"], gpuframe.Inner, "day").
				GroupBy("store", "week").
				Agg(paid.Sum().Where(weekday.In("Saturday", "Sunday")).As("weekend"), paid.Sum().As("revenue"))
			return weeks.
				Join(weeks, gpuframe.Inner, "store", gpuframe.On(week.Sub(52), "week")).
				Select("store", "week", weekend.TrueDiv(gpuframe.Col("weekend_right")).As("weekend"), revenue.TrueDiv(revenueRight).As("revenue"))
		},
	},
	{
		Name: "months that deviate from the mean of their year",
		SQL: `
select category, year, month, revenue, mean, before, after
from (
  select category, year, month, sum(paid)::double as revenue,
    avg(sum(paid)::double) over (partition by category, year) as mean,
    lag(sum(paid)::double) over (partition by category order by year, month) as before,
    lead(sum(paid)::double) over (partition by category order by year, month) as after
  from sales join items using (item) join days using (day)
  group by category, year, month)
where abs(revenue - mean) > 0.1 * mean`,
		Go: func(t question.Tables) gpuframe.Query {
			mean, inOrder := gpuframe.Col("mean"), gpuframe.By("category").OrderBy("year", "month")
			return t["sales"].
				Join(t["items"], gpuframe.Inner, "item").
				Join(t["days"], gpuframe.Inner, "day").
				GroupBy("category", "year", "month").Agg(paid.Sum().TrueDiv(1).As("revenue")).
				With(
					revenue.Mean().Over(gpuframe.By("category", "year")).As("mean"),
					revenue.Lag(1).Over(inOrder).As("before"),
					revenue.Lead(1).Over(inOrder).As("after")).
				Filter(revenue.Sub(mean).Abs().Gt(mean.Mul(0.1)))
		},
	},
	{
		Name: "running revenue of two channels",
		SQL: `
with store as (
  select item, day, sum(sum(paid)) over (partition by item order by day) as running
  from sales where item < 50 group by item, day),
site as (
  select item, day, sum(sum(paid)) over (partition by item order by day) as running
  from web where item < 50 group by item, day)
select item, day, store.running, site.running as running_right
from store full join site using (item, day)
where coalesce(store.running, 0) > coalesce(site.running, 0)`,
		Go: func(t question.Tables) gpuframe.Query {
			running := func(channel string) gpuframe.Query {
				return t[channel].
					Filter(product.Lt(50)).
					GroupBy("item", "day").Agg(paid.Sum()).
					Select("item", "day", paid.CumSum().Over(gpuframe.By("item").OrderBy("day")).As("running"))
			}
			store, site := gpuframe.Col("running"), gpuframe.Col("running_right")
			return running("sales").
				Join(running("web"), gpuframe.Full, "item", "day").
				Filter(store.FillNull(0).Gt(site.FillNull(0)))
		},
	},
	{
		Name: "part of the sales that came back",
		SQL: `
select name, sum(coalesce(returns.quantity, 0)) / sum(sales.quantity) as part, sum(paid - coalesce(amount, 0)) as kept
from sales left join returns using (ticket, item) join stores using (store)
group by name`,
		Go: func(t question.Tables) gpuframe.Query {
			back := gpuframe.Col("quantity_right")
			return t["sales"].
				Join(t["returns"], gpuframe.Left, "ticket", "item").
				Join(t["stores"], gpuframe.Inner, "store").
				GroupBy("name").Agg(
				back.FillNull(0).Sum().TrueDiv(quantity.Sum()).As("part"),
				paid.Sub(amount.FillNull(0)).Sum().As("kept"))
		},
	},
	{
		Name: "items that come back more often than others",
		SQL: `
with rates as (
  select item, count(amount) / count(*) as rate
  from sales left join returns using (ticket, item)
  group by item)
select item, rate
from rates
where rate > 1.2 * (select avg(rate) from rates)`,
		Go: func(t question.Tables) gpuframe.Query {
			rate := gpuframe.Col("rate")
			return t["sales"].
				Join(t["returns"], gpuframe.Left, "ticket", "item").
				GroupBy("item").Agg(amount.Count().TrueDiv(gpuframe.Count()).As("rate")).
				Filter(rate.Gt(rate.Mean().Mul(1.2)))
		},
	},
	{
		Name: "sales that vary from month to month",
		SQL: `
with months as (
  select store, item % 100 as shelf, month, sum(quantity) as quantity
  from sales join days using (day)
  where year = 2023
  group by store, shelf, month)
select store, shelf, avg(quantity) as mean, stddev_samp(quantity) / avg(quantity) as variation
from months
group by store, shelf
having variation > 0.3`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["sales"].
				Join(t["days"].Filter(year.Eq(2023)), gpuframe.Inner, "day").
				GroupBy("store", product.Mod(100).As("shelf"), "month").Agg(quantity.Sum()).
				GroupBy("store", "shelf").
				Agg(quantity.Mean().As("mean"), quantity.StdDev().Div(quantity.Mean()).As("variation")).
				Filter(gpuframe.Col("variation").Gt(0.3))
		},
	},
	{
		Name: "best and worst items in one row",
		SQL: `
with profits as (select item, sum(profit) as profit from sales where store = 4 group by item),
best as (select item, row_number() over (order by profit desc, item) as place from profits),
worst as (select item, row_number() over (order by profit, item) as place from profits)
select place, best.item, worst.item as item_right
from best join worst using (place)
where place <= 10
order by place`,
		Go: func(t question.Tables) gpuframe.Query {
			profits := t["sales"].
				Filter(gpuframe.Col("store").Eq(4)).
				GroupBy("item").Agg(profit.Sum())
			best := profits.Top(10, profit.Desc(), "item").WithRowNumber("place")
			worst := profits.Top(10, profit, "item").WithRowNumber("place")
			return best.
				Join(worst, gpuframe.Inner, "place").
				Select(gpuframe.Col("place").Add(1), "item", "item_right").
				Sort("place")
		},
		Order: []string{"place"},
	},
	{
		Name: "sales above the mean of their category",
		SQL: `
select category, count(*) as n, sum(paid) as revenue
from (
  select category, paid, avg(paid::double) over (partition by category) as mean
  from web join items using (item))
where paid > 1.5 * mean
group by category`,
		Go: func(t question.Tables) gpuframe.Query {
			price := paid.TrueDiv(1)
			return t["web"].
				Join(t["items"], gpuframe.Inner, "item").
				Filter(price.Gt(price.Mean().Over(gpuframe.By("category")).Mul(1.5))).
				GroupBy("category").Agg(gpuframe.Count().As("n"), paid.Sum().As("revenue"))
		},
	},
	{
		Name: "before and after a day",
		SQL: `
select city,
  sum(case when day < '2023-06-01' then paid else 0 end) as before,
  sum(case when day >= '2023-06-01' then paid else 0 end) as after
from sales join stores using (store)
where day between '2023-05-02' and '2023-06-30'
group by city`,
		Go: func(t question.Tables) gpuframe.Query {
			change := time.Date(2023, time.June, 1, 0, 0, 0, 0, time.UTC)
			return t["sales"].
				Filter(date.Between(change.AddDate(0, 0, -30), change.AddDate(0, 0, 29))).
				Join(t["stores"], gpuframe.Inner, "store").
				GroupBy("city").Agg(
				paid.Sum().Where(date.Lt(change)).FillNull(0).As("before"),
				paid.Sum().Where(date.Ge(change)).FillNull(0).As("after"))
		},
	},
}
