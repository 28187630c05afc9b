package series

import (
	"time"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// visits are questions about what users did in the course of time.
var visits = []question.Question{
	{
		Name: "sessions with half an hour of silence between them",
		SQL: `
with starts as (select *, case when ts - lag(ts) over w > interval 30 minutes then 1 else 0 end as begins from events window w as (partition by user order by ts)),
numbered as (select *, 1 + sum(begins) over (partition by user order by ts) as session from starts)
select user, session, min(ts) as since, count(*) as n, sum(amount) as amount
from numbered
group by user, session`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["events"].
				With(ts.Session(30*time.Minute).Over(byUser).As("session")).
				GroupBy("user", "session").Agg(ts.Min().As("since"), gpuframe.Count().As("n"), amount.Sum())
		},
	},
	{
		Name: "steps of a funnel within three days",
		SQL: `
with firsts as (select user, min(ts) filter (where kind = 'view') as viewed from events group by user),
steps as (
  select user, viewed, min(ts) filter (where kind = 'cart') as chosen, min(ts) filter (where kind = 'buy') as bought
  from events join firsts using (user) where ts between viewed and viewed + interval 3 days group by user, viewed)
select count(*) as viewed, count(chosen) as chosen, count(case when bought > chosen then 1 end) as bought
from steps`,
		Go: func(t question.Tables) gpuframe.Query {
			viewed, chosen, bought := gpuframe.Col("viewed"), gpuframe.Col("chosen"), gpuframe.Col("bought")
			first := func(name string) gpuframe.Expr { return ts.Min().Where(kind.Eq(name)) }
			return t["events"].
				With(first("view").Over(gpuframe.By("user")).As("viewed")).
				Filter(ts.Expr.Between(viewed, viewed.Add(72*time.Hour))).
				GroupBy("user").Agg(viewed.AnyValue(), first("cart").As("chosen"), first("buy").As("bought")).
				Select(gpuframe.Count().As("viewed"), chosen.Count(), bought.Gt(chosen).CountIf().As("bought"))
		},
	},
	{
		Name: "time from one kind of event to the next",
		SQL: `
select kind, next, count(*) as n, avg(date_diff('microsecond', ts, later) / 1e6) as seconds
from (select kind, ts, lead(kind) over w as next, lead(ts) over w as later from events window w as (partition by user order by ts))
where next is not null
group by kind, next`,
		Go: func(t question.Tables) gpuframe.Query {
			wait := gpuframe.Col("later").Sub(ts).TotalMicroseconds()
			return t["events"].
				With(kind.Lead(1).Over(byUser).As("next"), ts.Lead(1).Over(byUser).As("later")).
				DropNulls("next").
				GroupBy("kind", "next").Agg(gpuframe.Count().As("n"), wait.Mean().Div(1e6).As("seconds"))
		},
	},
	{
		Name: "users that return in the next week",
		SQL: `
with weeks as (select distinct user, date_trunc('week', ts)::timestamp as week from events)
select a.week, count(*) as n, count(b.user) as returned
from weeks a left join weeks b on a.user = b.user and b.week = a.week + interval 7 days
group by a.week
order by a.week`,
		Go: func(t question.Tables) gpuframe.Query {
			week := gpuframe.Col("week")
			weeks := t["events"].Select("user", ts.Truncate("week").As("week")).Distinct()
			next := weeks.Select("user", week.Sub(7*24*time.Hour).As("week"), gpuframe.Lit(1).As("again"))
			return weeks.
				Join(next, gpuframe.Left, "user", "week").
				GroupBy("week").Agg(gpuframe.Count().As("n"), gpuframe.Col("again").Count().As("returned")).
				Sort("week")
		},
		Order: []string{"week"},
	},
	{
		Name: "bursts of one user",
		SQL: `
select user, max(burst) as most
from (select user, count(*) over (partition by user order by ts range between interval 2 hours preceding and current row) as burst from events)
group by user
having most > 3`,
		Go: func(t question.Tables) gpuframe.Query {
			most := gpuframe.Col("most")
			return t["events"].
				With(gpuframe.Count().Over(byUser.Range(-2*time.Hour, 0)).As("burst")).
				GroupBy("user").Agg(gpuframe.Col("burst").Max().As("most")).
				Filter(most.Gt(3))
		},
	},
	{
		Name: "weekdays and hours against the mean",
		SQL: `
select isodow(ts) - 1 as weekday, hour(ts) as hour, count(*) / avg(count(*)) over () as load
from events
group by 1, 2`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["events"].
				GroupBy(ts.Weekday().As("weekday"), ts.Hour().As("hour")).Agg(gpuframe.Count().As("n")).
				Select("weekday", "hour", n.TrueDiv(n.Mean()).As("load"))
		},
	},
	{
		Name: "users of each day and of its week",
		SQL: `
with days as (select ts::date as day, user from events group by 1, 2)
select d.day, count(distinct d.user) as users, (select count(distinct w.user) from days w where w.day between d.day - 6 and d.day) as week
from days d
group by d.day
order by d.day`,
		Go: func(t question.Tables) gpuframe.Query {
			day := gpuframe.Col("day")
			week := gpuframe.By().OrderBy("day").Range(-6*24*time.Hour, 0)
			return t["events"].
				Select(ts.Cast(date).As("day"), "user").Distinct().
				With(user.CountDistinct().Over(week).As("week")).
				GroupBy(day).Agg(gpuframe.Count().As("users"), gpuframe.Col("week").AnyValue()).
				Sort("day")
		},
		Order: []string{"day"},
	},
}
