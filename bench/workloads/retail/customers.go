package retail

import (
	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// customerQuestions are about sets of customers, and purchases of one customer in the course of time.
var customerQuestions = []question.Question{
	{
		Name: "customers of both channels",
		SQL: `
select city, count(*) as n
from customers
where customer in (select customer from sales intersect select customer from web)
group by city`,
		Go: func(t question.Tables) gpuframe.Query {
			both := t["sales"].Select("customer").Intersect(t["web"].Select("customer"))
			return t["customers"].
				Join(both, gpuframe.Semi, "customer").
				GroupBy("city").Agg(gpuframe.Count().As("n"))
		},
	},
	{
		Name: "items of the shops that the web did not sell in a year",
		SQL: `
select count(*) as n
from (
  select item, month from sales join days using (day) where year = 2024
  except select item, month from web join days using (day) where year = 2024)`,
		Go: func(t question.Tables) gpuframe.Query {
			sold := func(channel string) gpuframe.Query {
				return t[channel].Join(t["days"].Filter(year.Eq(2024)), gpuframe.Inner, "day").Select("item", "month")
			}
			return sold("sales").Except(sold("web")).Select(gpuframe.Count().As("n"))
		},
	},
	{
		Name: "customers with sales in every year",
		SQL: `
select customer, sum(paid) as revenue
from sales join days using (day)
where customer is not null
group by customer
having count(distinct year) = 3 and min(paid) > 2`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["sales"].
				DropNulls("customer").
				Join(t["days"], gpuframe.Inner, "day").
				GroupBy("customer").Agg(paid.Sum().As("revenue"), year.CountDistinct().As("years"), paid.Min().As("least")).
				Filter(gpuframe.Col("years").Eq(3), gpuframe.Col("least").Gt(2)).
				Select("customer", "revenue")
		},
	},
	{
		Name: "customers of a city with shop and without web",
		SQL: `
select name, birth
from customers c
where city = 'Oslo'
  and exists (select * from sales s where s.customer = c.customer and quantity > 15)
  and not exists (select * from web w where w.customer = c.customer and quantity > 10)`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["customers"].
				Filter(city.Eq("Oslo")).
				Join(t["sales"].Filter(quantity.Gt(15)), gpuframe.Semi, "customer").
				Join(t["web"].Filter(quantity.Gt(10)), gpuframe.Anti, "customer").
				Select("name", "birth")
		},
	},
	{
		Name: "customers with more growth on the web than in shops",
		SQL: `
with shop as (
  select customer, sum(paid) filter (where year = 2023) as first, sum(paid) filter (where year = 2024) as second
  from sales join days using (day) group by customer),
site as (
  select customer, sum(paid) filter (where year = 2023) as first, sum(paid) filter (where year = 2024) as second
  from web join days using (day) group by customer)
select customer, shop.second / shop.first as shop, site.second / site.first as site
from shop join site using (customer)
where shop.second / shop.first < site.second / site.first`,
		Go: func(t question.Tables) gpuframe.Query {
			growth := func(channel, name string) gpuframe.Query {
				inYear := func(y int32) gpuframe.Expr { return paid.Sum().Where(year.Eq(y)) }
				return t[channel].
					Join(t["days"], gpuframe.Inner, "day").
					GroupBy("customer").Agg(inYear(2024).TrueDiv(inYear(2023)).As(name))
			}
			return growth("sales", "shop").
				Join(growth("web", "site"), gpuframe.Inner, "customer").
				Filter(gpuframe.Col("shop").Lt(gpuframe.Col("site")))
		},
	},
	{
		Name: "best customers with their last day and best sale",
		SQL: `
select customer, sum(paid) as revenue, max(day) as last, arg_max(item, (paid, -item)) as best
from sales
where customer is not null
group by customer
order by revenue desc, customer
limit 10`,
		Go: func(t question.Tables) gpuframe.Query {
			order := gpuframe.Struct(paid, product.Neg().As("least"))
			return t["sales"].
				GroupBy("customer").DropNulls().
				Agg(paid.Sum().As("revenue"), date.Max().As("last"), product.AtMax(order).As("best")).
				Top(10, revenue.Desc(), "customer")
		},
		Order: []string{"revenue", "customer"},
	},
	{
		Name: "days between two visits by city",
		SQL: `
select city, avg(gap) as mean, max(gap) as most
from (
  select customer, day - lag(day) over (partition by customer order by day) as gap
  from (select distinct customer, day from sales where customer is not null))
join customers using (customer)
group by city`,
		Go: func(t question.Tables) gpuframe.Query {
			gap := gpuframe.Col("gap")
			return t["sales"].
				Select("customer", "day").DropNulls().Distinct().
				With(date.Difference(1).Over(gpuframe.By("customer").OrderBy("day")).TotalDays().As("gap")).
				Join(t["customers"], gpuframe.Inner, "customer").
				GroupBy("city").Agg(gap.Mean().As("mean"), gap.Max().As("most"))
		},
	},
	{
		Name: "cohorts by the quarter of the first visit",
		SQL: `
select date_trunc('quarter', first)::date as cohort, (year(day) - year(first))::bigint as age, count(distinct customer) as n
from (select customer, day, min(day) over (partition by customer) as first from sales where customer is not null)
group by cohort, age`,
		Go: func(t question.Tables) gpuframe.Query {
			first := gpuframe.Col("first")
			return t["sales"].
				DropNulls("customer").
				With(date.Min().Over(gpuframe.By("customer")).As("first")).
				GroupBy(first.Truncate("quarter").As("cohort"), date.Year().Sub(first.Year()).As("age")).
				Agg(buyer.CountDistinct().As("n"))
		},
	},
	{
		Name: "customers of items that sell often",
		SQL: `
with frequent as (select item from sales group by item, date_trunc('month', day) having count(*) > 8)
select count(distinct customer) as n, sum(paid) as revenue
from web
where item in (select item from frequent)`,
		Go: func(t question.Tables) gpuframe.Query {
			frequent := t["sales"].
				GroupBy("item", date.Truncate("month").As("month")).Agg(gpuframe.Count().As("n")).
				Filter(n.Gt(8))
			return t["web"].
				Join(frequent, gpuframe.Semi, "item").
				Select(buyer.CountDistinct().As("n"), paid.Sum().As("revenue"))
		},
	},
	{
		Name: "tickets in another city than the customer's",
		SQL: `
select ticket, any_value(customers.name) as name, any_value(stores.city) as shop, sum(paid) as revenue
from sales join stores using (store) join customers using (customer)
where stores.city <> customers.city and birth < 1950
group by ticket
order by revenue desc, ticket
limit 100`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["sales"].
				Join(t["stores"].Rename("city", "shop"), gpuframe.Inner, "store").
				Join(t["customers"].Filter(birth.Lt(1950)).Select("customer", "name", "city"), gpuframe.Inner, "customer", gpuframe.Suffix("_of_customer")).
				Filter(gpuframe.Col("shop").Ne(city)).
				GroupBy("ticket").Agg(gpuframe.Col("name_of_customer").First().As("name"), gpuframe.Col("shop").First(), paid.Sum().As("revenue")).
				Top(100, revenue.Desc(), "ticket")
		},
		Order: []string{"revenue", "ticket"},
	},
}
