package nested

import (
	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// lists are questions about lists.
var lists = []question.Question{
	{
		Name: "value of an order by its lines",
		SQL: `
select id, len(lines) as n, list_sum(list_transform(lines, x -> x.quantity * x.price)) as value
from orders`,
		Go: func(t question.Tables) gpuframe.Query {
			value := element.Field("quantity").Mul(element.Field("price"))
			return t["orders"].Select("id", lines.ListLength().As("n"), lines.ListEval(value).ListSum().As("value"))
		},
	},
	{
		Name: "most frequent tags",
		SQL: `
select tag, count(*) as n
from (select unnest(tags) as tag from orders)
group by tag
order by n desc, tag`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["orders"].
				Select(tags.As("tag")).
				ExplodeWith(gpuframe.ExplodeOptions{DropEmpty: true}, "tag").
				GroupBy("tag").Agg(gpuframe.Count().As("n")).
				Sort(n.Desc(), "tag")
		},
		Order: []string{"n", "tag"},
	},
	{
		Name: "orders with one of two tags",
		SQL: `
select list_contains(tags, 'gift') as gift, count(*) as n
from orders
where list_contains(tags, 'gift') or list_contains(tags, 'sale')
group by gift`,
		Go: func(t question.Tables) gpuframe.Query {
			gift := tags.ListContains("gift")
			return t["orders"].
				Filter(gift.Or(tags.ListContains("sale"))).
				GroupBy(gift.As("gift")).Agg(gpuframe.Count().As("n"))
		},
	},
	{
		Name: "different tags as a text",
		SQL: `
select id, array_to_string(list_sort(list_distinct(tags)), ', ') as tags
from orders
where len(tags) > 1`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["orders"].
				Filter(tags.ListLength().Gt(1)).
				Select("id", tags.ListUnique().ListSort().ListJoin(", "))
		},
	},
	{
		Name: "orders by their set of tags",
		SQL: `
select list_sort(list_distinct(tags)) as tags, count(*) as n
from orders
where len(tags) > 0
group by 1`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["orders"].
				Filter(tags.ListLength().Gt(0)).
				GroupBy(tags.ListUnique().ListSort()).Agg(gpuframe.Count().As("n"))
		},
	},
	{
		Name: "pairs of tags in one order",
		SQL: `
with pairs as (select distinct id, unnest(tags) as tag from orders)
select a.tag, b.tag as other, count(*) as n
from pairs a join pairs b on a.id = b.id and a.tag < b.tag
group by all`,
		Go: func(t question.Tables) gpuframe.Query {
			pairs := t["orders"].
				Select("id", tags.ListUnique().As("tag")).
				ExplodeWith(gpuframe.ExplodeOptions{DropEmpty: true}, "tag")
			return pairs.
				Join(pairs.Rename("tag", "other"), gpuframe.Inner, "id").
				Filter(tag.Expr.Lt(gpuframe.Col("other"))).
				GroupBy("tag", "other").Agg(gpuframe.Count().As("n"))
		},
	},
	{
		Name: "large lines of an order",
		SQL: `
select id, list_transform(list_filter(lines, x -> x.quantity > 5), x -> x.article) as articles
from orders
where len(list_filter(lines, x -> x.quantity > 5)) > 1`,
		Go: func(t question.Tables) gpuframe.Query {
			large := lines.ListFilter(element.Field("quantity").Gt(5))
			return t["orders"].
				Filter(large.ListLength().Gt(1)).
				Select("id", large.ListEval(element.Field("article")).As("articles"))
		},
	},
	{
		Name: "revenue of articles",
		SQL: `
select x.article, sum(x.quantity) as quantity, sum(x.quantity * x.price) as value
from (select unnest(lines) as x from orders)
group by x.article`,
		Go: func(t question.Tables) gpuframe.Query {
			article, quantity, price := lines.Field("article"), lines.Field("quantity"), lines.Field("price")
			return t["orders"].
				Select("lines").Explode("lines").
				GroupBy(article.As("article")).Agg(quantity.Sum().As("quantity"), quantity.Mul(price).Sum().As("value"))
		},
	},
	{
		Name: "scores of a list against its mean",
		SQL: `
select id, list_filter(scores, x -> x > list_avg(scores)) as above, list_max(scores) - list_min(scores) as spread
from orders
where len(scores) > 0`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["orders"].
				Filter(scores.ListLength().Gt(0)).
				With(scores.ListMean().As("mean")).
				Select("id", scores.ListFilter(element.Gt(gpuframe.Col("mean"))).As("above"), scores.ListMax().Sub(scores.ListMin()).As("spread"))
		},
	},
	{
		Name: "mean score by its place",
		SQL: `
select place - 1 as place, count(*) as n, avg(score) as mean
from (select unnest(scores) as score, generate_subscripts(scores, 1) as place from orders)
group by place`,
		Go: func(t question.Tables) gpuframe.Query {
			places := gpuframe.ExplodeOptions{DropEmpty: true, Position: "place"}
			return t["orders"].
				Select("scores").
				ExplodeWith(places, "scores").
				GroupBy("place").Agg(gpuframe.Count().As("n"), scores.Mean().As("mean"))
		},
	},
	{
		Name: "articles of each customer",
		SQL: `
select customer, list_sort(list_distinct(flatten(list(list_transform(lines, x -> x.article))))) as articles, count(*) as n
from orders
group by customer`,
		Go: func(t question.Tables) gpuframe.Query {
			articles := lines.ListEval(element.Field("article"))
			return t["orders"].
				GroupBy("customer").
				Agg(articles.List().ListFlatten().ListUnique().ListSort().As("articles"), gpuframe.Count().As("n"))
		},
	},
	{
		Name: "the three latest orders of each customer",
		SQL: `
select customer, list(id order by id desc)[1:3] as latest
from orders
group by customer`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["orders"].GroupBy("customer").Agg(id.Largest(3).As("latest"))
		},
	},
	{
		Name: "numbered tags",
		SQL: `
select id, list_transform(tags, (x, i) -> i::varchar || ':' || x) as numbered
from orders
where list_contains(tags, 'late')`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["orders"].
				Filter(tags.ListContains("late")).
				Select("id", tags.ListEval(gpuframe.FormatText("{}:{}", gpuframe.ElementIndex().Add(1), element)).As("numbered"))
		},
	},
}
