package features

import (
	"context"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
	"github.com/gpuframe/gpuframe/learn"
)

// encodings are columns that models read.
var encodings = []question.Question{
	{
		Name: "one column for each plan",
		SQL: `
select id, (plan = 'basic')::utinyint as plan_basic, (plan = 'family')::utinyint as plan_family, (plan = 'free')::utinyint as plan_free, (plan = 'gold')::utinyint as plan_gold
from people`,
		Fit: func(ctx context.Context, t question.Tables) (gpuframe.Query, error) {
			people := t["people"].Select("id", "plan")
			plans, err := learn.FitOneHot(ctx, people, learn.CategoryOptions{}, "plan")
			return plans.Apply(people), err
		},
	},
	{
		Name: "numbers of jobs",
		SQL: `
select id, dense_rank() over (order by job) - 1 as job
from people`,
		Fit: func(ctx context.Context, t question.Tables) (gpuframe.Query, error) {
			people := t["people"].Select("id", "job")
			labels, err := learn.FitLabels(ctx, people, learn.CategoryOptions{}, "job")
			return labels.Apply(people), err
		},
	},
	{
		Name: "smoothed means of the label by city",
		SQL: `
with total as (select avg(label) as mean from people),
means as (select city, (sum(label) + 20 * any_value(mean)) / (count(*) + 20) as city_mean from people, total where city is not null group by city)
select id, coalesce(city_mean, mean) as city
from people left join means using (city), total`,
		Fit: func(ctx context.Context, t question.Tables) (gpuframe.Query, error) {
			means, err := learn.FitTargetMeans(ctx, t["people"], "label", learn.TargetOptions{Smoothing: 20}, "city")
			return means.Apply(t["people"].Select("id", "city")), err
		},
	},
	{
		Name: "means of the label of the others of a job",
		SQL: `
select id, (sum(label) over w - label + 5 * avg(label) over ()) / (count(*) over w - 1 + 5) as job
from people
window w as (partition by job)`,
		Fit: func(_ context.Context, t question.Tables) (gpuframe.Query, error) {
			people := t["people"].Select("id", "job", "label")
			encoded, err := learn.LeaveOneOut(people, "label", learn.TargetOptions{Smoothing: 5}, "job")
			return encoded.Select("id", "job"), err
		},
	},
	{
		Name: "mean zero and deviation one",
		SQL: `
select id, (x - avg(x) over ()) / stddev_pop(x) over () as x, (visits - avg(visits) over ()) / stddev_pop(visits) over () as visits
from people`,
		Fit: func(ctx context.Context, t question.Tables) (gpuframe.Query, error) {
			people := t["people"].Select("id", "x", "visits")
			scaling, err := learn.FitStandardization(ctx, people, "x", "visits")
			return scaling.Apply(people), err
		},
	},
	{
		Name: "from zero to one within a job",
		SQL: `
select id, (income - min(income) over w) / (max(income) over w - min(income) over w) as income
from people
window w as (partition by job)`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["people"].Select("id", income.Rescale(0, 1).Over(gpuframe.By("job")))
		},
	},
	{
		Name: "bins of quantiles",
		SQL: `
with edges as (select quantile_cont(z, [0.25, 0.5, 0.75]) as e from people)
select id, case when z <= e[1] then 0 when z <= e[2] then 1 when z <= e[3] then 2 else 3 end as bin
from people, edges`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["people"].Select("id", z.QCut(4).As("bin"))
		},
	},
	{
		Name: "people by ranges of their age",
		SQL: `
select case when age < 30 then 0 when age < 45 then 1 when age < 60 then 2 when age >= 60 then 3 end as bin, count(*) as n, avg(label) as part
from people
group by bin`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["people"].
				GroupBy(age.CutLeft(30, 45, 60).As("bin")).
				Agg(gpuframe.Count().As("n"), label.Mean().As("part"))
		},
	},
	{
		Name: "missing incomes by the median of the job",
		SQL: `
select id, coalesce(income, median(income) over (partition by job)) as income, income is null as missing
from people`,
		Go: func(t question.Tables) gpuframe.Query {
			median := income.Median().Over(gpuframe.By("job"))
			return t["people"].Select("id", income.Expr.FillNull(median), income.IsNull().As("missing"))
		},
	},
	{
		Name: "numbers of rows with the same job and plan",
		SQL: `
select id, count(*) over (partition by job, plan) as n, case when count(*) over (partition by job) < (select count(*) / 20 from people) then 'other' else job end as job
from people`,
		Go: func(t question.Tables) gpuframe.Query {
			rare := gpuframe.Count().Over(gpuframe.By("job")).TrueDiv(gpuframe.Count()).Lt(0.05)
			return t["people"].Select(
				"id", gpuframe.Count().Over(gpuframe.By("job", "plan")).As("n"),
				gpuframe.If(rare, "other", job).As("job"))
		},
	},
	{
		Name: "transformed and combined numbers",
		SQL: `
select id, ln(1 + z) as log, greatest(-2, least(2, x)) as clipped, x * y as product, x * x as square, sin(age / 10.0) as wave
from people`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["people"].Select(
				"id", z.Log1p().As("log"), x.Clamp(-2, 2).As("clipped"), x.Mul(y).As("product"), x.Mul(x).As("square"),
				age.Div(10.0).Sin().As("wave"))
		},
	},
	{
		Name: "training and test by a hash",
		SQL: `
select left(md5(id::varchar), 1) in ('0', '1', '2') as test, count(*) as n, avg(label) as part
from people
group by test`,
		Go: func(t question.Tables) gpuframe.Query {
			test := gpuframe.FormatText("{}", id).MD5().Substring(1, 1).In("0", "1", "2")
			return t["people"].
				GroupBy(test.As("test")).Agg(gpuframe.Count().As("n"), label.Mean().As("part"))
		},
		Note: "learn.Split divides by gpuframe.Hash, which DuckDB does not have",
	},
	{
		Name: "words in sixteen columns by a hash",
		SQL: `
select plan, count(*) filter (where bucket = '0') as "0", count(*) filter (where bucket = '7') as "7", count(*) filter (where bucket = 'e') as e
from (select plan, left(md5(concat(job, city)), 1) as bucket from people)
group by plan`,
		Go: func(t question.Tables) gpuframe.Query {
			bucket := gpuframe.ConcatWith("", job, city).MD5().Substring(1, 1)
			return t["people"].GroupBy("plan").Pivot(bucket, []any{"0", "7", "e"}, gpuframe.Count())
		},
	},
	{
		Name: "weights that balance jobs",
		SQL: `
select id, count(*) over () / ((select count(distinct job) from people) * count(*) over (partition by job)) as weight
from people`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["people"].Select("id", learn.BalancedWeight(job).As("weight"))
		},
	},
}
