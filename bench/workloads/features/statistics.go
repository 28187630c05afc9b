package features

import (
	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// statistics are of columns, of pairs of columns and of predictions.
var statistics = []question.Question{
	{
		Name: "correlations of four columns",
		SQL: `
select corr(x, y) as xy, corr(x, z) as xz, corr(x, visits) as xv, corr(y, z) as yz, corr(y, visits) as yv, corr(z, visits) as zv
from people`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["people"].Select(
				gpuframe.Correlation(x, y).As("xy"), gpuframe.Correlation(x, z).As("xz"), gpuframe.Correlation(x, visits).As("xv"),
				gpuframe.Correlation(y, z).As("yz"), gpuframe.Correlation(y, visits).As("yv"), gpuframe.Correlation(z, visits).As("zv"))
		},
	},
	{
		Name: "a line for each job",
		SQL: `
select job, regr_slope(y, x) as slope, regr_intercept(y, x) as intercept, regr_r2(y, x) as r2, covar_samp(y, x) as covariance
from people
group by job`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["people"].GroupBy("job").Agg(
				gpuframe.RegressionSlope(y, x).As("slope"), gpuframe.RegressionIntercept(y, x).As("intercept"),
				gpuframe.RegressionR2(y, x).As("r2"), gpuframe.Covariance(y, x).As("covariance"))
		},
	},
	{
		Name: "moments and robust measures",
		SQL: `
select job, var_samp(z) as variance, kurtosis(z) as kurtosis, mad(z) as mad, quantile_disc(z, 0.9) as high, quantile_cont(z, 0.1) as low
from people
group by job`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["people"].GroupBy("job").Agg(
				z.Variance().As("variance"), z.Kurtosis().As("kurtosis"), z.Mad().As("mad"),
				z.QuantileWith(0.9, "discrete").As("high"), z.Quantile(0.1).As("low"))
		},
	},
	{
		Name: "entropy of jobs and most frequent city",
		SQL: `
select plan, entropy(job) as entropy, count(distinct city) as cities, count(city) / count(*) as known
from people
group by plan`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["people"].GroupBy("plan").Agg(
				job.Entropy().As("entropy"), city.CountDistinct().As("cities"), city.Count().TrueDiv(gpuframe.Count()).As("known"))
		},
	},
	{
		Name: "incomes far outside of the quartiles",
		SQL: `
select id, job, income
from (
  select id, job, income, quantile_cont(income, 0.25) over w as low, quantile_cont(income, 0.75) over w as high
  from people window w as (partition by job))
where income > high + 1.5 * (high - low) or income < low - 1.5 * (high - low)`,
		Go: func(t question.Tables) gpuframe.Query {
			low, high, byJob := gpuframe.Col("low"), gpuframe.Col("high"), gpuframe.By("job")
			margin := high.Sub(low).Mul(1.5)
			return t["people"].
				Select("id", "job", "income", income.Quantile(0.25).Over(byJob).As("low"), income.Quantile(0.75).Over(byJob).As("high")).
				Filter(income.Expr.Gt(high.Add(margin)).Or(income.Expr.Lt(low.Sub(margin)))).
				Drop("low", "high")
		},
	},
	{
		Name: "histogram of twenty bars",
		SQL: `
select least(floor((x - low) / (high - low) * 20), 19)::bigint as bar, count(*) as n
from people, (select min(x) as low, max(x) as high from people)
group by bar`,
		Go: func(t question.Tables) gpuframe.Query {
			bar := gpuframe.Least(x.Rescale(0, 20).Floor(), 19.0).Cast(integer)
			return t["people"].With(bar.As("bar")).GroupBy("bar").Agg(gpuframe.Count().As("n"))
		},
	},
	{
		Name: "table of predicted and true labels",
		SQL: `
select (score > 0.5)::bigint as predicted, count(*) filter (where label = 0) as "0", count(*) filter (where label = 1) as "1"
from people
group by predicted
order by predicted`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["people"].CrossTab(score.Gt(0.5).Cast(integer).As("predicted"), label, []any{0, 1})
		},
		Order: []string{"predicted"},
	},
	{
		Name: "area under the curve of a score",
		SQL: `
select (sum(place) filter (where label = 1) - sum(label) * (sum(label) + 1) / 2) / (sum(label) * (count(*) - sum(label)))::double as area
from (select label, row_number() over (order by score, id) as place from people)`,
		Go: func(t question.Tables) gpuframe.Query {
			place, positive := gpuframe.Col("place"), label.Sum()
			pairs := positive.Mul(gpuframe.Count().Sub(positive))
			return t["people"].
				With(gpuframe.RowNumber().Over(gpuframe.By().OrderBy("score", "id")).As("place")).
				Select(place.Sum().Where(label.Eq(1)).Sub(positive.Mul(positive.Add(1)).TrueDiv(2)).TrueDiv(pairs).As("area"))
		},
	},
	{
		Name: "true labels by tenths of the score",
		SQL: `
select tenth, count(*) as n, avg(score) as score, avg(label) as label
from (select score, label, ntile(10) over (order by score, id) as tenth from people)
group by tenth
order by tenth`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["people"].
				With(gpuframe.Tile(10).Over(gpuframe.By().OrderBy("score", "id")).As("tenth")).
				GroupBy("tenth").Agg(gpuframe.Count().As("n"), score.Mean(), label.Mean()).
				Sort("tenth")
		},
		Order: []string{"tenth"},
	},
	{
		Name: "sketches and exact answers",
		SQL: `
select abs(approx_count_distinct(income) / count(distinct income) - 1) < 0.5 as distinct, abs(approx_quantile(income, 0.5) / median(income) - 1) < 0.2 as median
from people`,
		Go: func(t question.Tables) gpuframe.Query {
			near := func(estimate, exact gpuframe.Expr) gpuframe.Expr {
				return estimate.TrueDiv(exact).Sub(1).Abs().Lt(0.2)
			}
			return t["people"].Select(
				near(income.ApproxCountDistinct(), income.CountDistinct()).As("distinct"),
				near(income.ApproxQuantile(0.5), income.Median()).As("median"))
		},
		Note: "estimates are compared with the exact values, within a fifth; the number of few different values is half as exact in DuckDB",
	},
	{
		Name: "three most frequent jobs of each plan",
		SQL: `
select plan, approx_top_k(job, 3)[1:3] as jobs
from people
group by plan`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["people"].GroupBy("plan").Agg(job.ApproxTopK(3).As("jobs"))
		},
	},
}
