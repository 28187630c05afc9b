package series

import (
	"time"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/bench/workloads/question"
)

// market are questions about quotes and trades.
var market = []question.Question{
	{
		Name: "trades with the quote as of their time",
		SQL: `
select trades.ts, symbol, price, size, bid, ask
from trades asof left join quotes using (symbol, ts)`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["trades"].AsOf(t["quotes"], "ts", gpuframe.AsOfOptions{By: []gpuframe.JoinTerm{"symbol"}}).
				Select("ts", "symbol", "price", "size", "bid", "ask")
		},
	},
	{
		Name: "cost of trades against a recent quote",
		SQL: `
select symbol, count(bid) as n, avg((price - (bid + ask) / 2) * size) as cost
from trades asof left join (select symbol, ts, ts as quoted, bid, ask from quotes) quotes using (symbol, ts)
where quoted >= trades.ts - interval 10 minutes
group by symbol`,
		Go: func(t question.Tables) gpuframe.Query {
			recent := gpuframe.AsOfOptions{By: []gpuframe.JoinTerm{"symbol"}, Tolerance: 10 * time.Minute, MatchedOnly: true}
			middle := bid.Add(ask).Div(2)
			return t["trades"].
				AsOf(t["quotes"], "ts", recent).
				GroupBy("symbol").Agg(bid.Count().As("n"), price.Sub(middle).Mul(size).Mean().As("cost"))
		},
	},
	{
		Name: "the first quote after each large trade",
		SQL: `
select t.ts, t.symbol, price, q.ts as next, bid
from trades t asof join quotes q on t.symbol = q.symbol and t.ts < q.ts
where size > 380`,
		Go: func(t question.Tables) gpuframe.Query {
			after := gpuframe.AsOfOptions{By: []gpuframe.JoinTerm{"symbol"}, Direction: gpuframe.Forward, NotEqual: true, MatchedOnly: true}
			return t["trades"].
				Filter(size.Gt(380)).
				AsOf(t["quotes"].With(ts.As("next")), "ts", after).
				Select("ts", "symbol", "price", "next", "bid")
		},
	},
	{
		Name: "bars of five minutes",
		SQL: `
select symbol, time_bucket(interval 5 minutes, ts) as bar, first(price order by ts) as open, max(price) as high, min(price) as low, last(price order by ts) as close, sum(size) as volume
from trades
group by symbol, bar`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["trades"].
				GroupBy("symbol", ts.FloorTo(5, "minute").As("bar")).
				Agg(price.First().As("open"), price.Max().As("high"), price.Min().As("low"), price.Last().As("close"), size.Sum().As("volume"))
		},
		Note: "the trades are in the order of their times: First and Last need no OrderBy",
	},
	{
		Name: "bars without trades too, with the last price",
		SQL: `
with bars as (select symbol, time_bucket(interval 10 minutes, ts) as ts, last(price order by ts) as close, count(*) as n from trades group by 1, 2),
grid as (select symbol, unnest(generate_series(min(ts), max(ts), interval 10 minutes)) as ts from bars group by symbol)
select symbol, ts, last_value(close ignore nulls) over (partition by symbol order by ts) as close, coalesce(n, 0) as n
from grid left join bars using (symbol, ts)
order by symbol, ts`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["trades"].
				Resample("ts", 10*time.Minute, "symbol").Agg(price.Last().As("close"), gpuframe.Count().As("n")).
				Select("symbol", "ts", gpuframe.Col("close").FillForward().Over(bySymbol), "n").
				Sort("symbol", "ts")
		},
		Order: []string{"symbol", "ts"},
	},
	{
		Name: "price weighted by volume, by hour",
		SQL: `
select symbol, date_trunc('hour', ts) as hour, sum(price * size) / sum(size) as vwap
from trades
group by symbol, hour`,
		Go: func(t question.Tables) gpuframe.Query {
			return t["trades"].
				GroupBy("symbol", ts.Truncate("hour").As("hour")).
				Agg(price.Mul(size).Sum().Div(size.Sum()).As("vwap"))
		},
	},
	{
		Name: "bands around a mean of twenty trades",
		SQL: `
select symbol, ts, price, mean, deviation
from (
  select symbol, ts, price, avg(price) over w as mean, stddev_samp(price) over w as deviation
  from trades window w as (partition by symbol order by ts rows between 19 preceding and current row))
where round(abs(price - mean) - 2 * deviation, 6) > 0`,
		Go: func(t question.Tables) gpuframe.Query {
			twenty, mean, deviation := bySymbol.Rows(-19, 0), gpuframe.Col("mean"), gpuframe.Col("deviation")
			return t["trades"].
				Select("symbol", "ts", "price", price.Mean().Over(twenty).As("mean"), price.StdDev().Over(twenty).As("deviation")).
				Filter(price.Sub(mean).Abs().Sub(deviation.Mul(2)).RoundDigits(6).Gt(0))
		},
	},
	{
		Name: "volume and range of the last hour",
		SQL: `
select symbol, ts, sum(size) over w as volume, max(price) over w - min(price) over w as spread
from trades
window w as (partition by symbol order by ts range between interval 1 hour preceding and current row)`,
		Go: func(t question.Tables) gpuframe.Query {
			hour := bySymbol.Range(-time.Hour, 0)
			return t["trades"].Select(
				"symbol", "ts", size.Sum().Over(hour).As("volume"),
				price.Max().Over(hour).Sub(price.Min().Over(hour)).As("spread"))
		},
	},
	{
		Name: "largest drawdown",
		SQL: `
select symbol, min(price / peak - 1) as drawdown
from (select symbol, price, max(price) over (partition by symbol order by ts) as peak from trades)
group by symbol`,
		Go: func(t question.Tables) gpuframe.Query {
			peak := price.CumMax().Over(bySymbol)
			return t["trades"].
				With(price.Div(peak).Sub(1).As("drawdown")).
				GroupBy("symbol").Agg(gpuframe.Col("drawdown").Min())
		},
	},
	{
		Name: "volatility of a day",
		SQL: `
select symbol, ts::date as day, stddev_samp(change) as volatility, count(change) as n
from (select symbol, ts, ln(price / lag(price) over (partition by symbol order by ts)) as change from trades)
group by symbol, day`,
		Go: func(t question.Tables) gpuframe.Query {
			change := gpuframe.Col("change")
			return t["trades"].
				With(price.Div(price.Lag(1).Over(bySymbol)).Log().As("change")).
				GroupBy("symbol", ts.Cast(date).As("day")).
				Agg(change.StdDev().As("volatility"), change.Count().As("n"))
		},
	},
	{
		Name: "mean spread weighted by its time",
		SQL: `
select symbol, sum((ask - bid) * seconds) / sum(seconds) as spread
from (select symbol, bid, ask, date_diff('second', ts, lead(ts) over (partition by symbol order by ts)) as seconds from quotes)
group by symbol`,
		Go: func(t question.Tables) gpuframe.Query {
			seconds := gpuframe.Col("seconds")
			second := ts.Truncate("second")
			return t["quotes"].
				With(second.Lead(1).Over(bySymbol).Sub(second).TotalSeconds().As("seconds")).
				GroupBy("symbol").Agg(ask.Sub(bid.Expr).Mul(seconds).Sum().Div(seconds.Sum()).As("spread"))
		},
		Note: "date_diff of DuckDB counts changes of the second: times are truncated before they are subtracted",
	},
	{
		Name: "correlation of the changes of two symbols",
		SQL: `
with bars as (select time_bucket(interval 30 minutes, ts) as bar, last(price order by ts) filter (where symbol = 'AXE') as axe, last(price order by ts) filter (where symbol = 'BAY') as bay from trades group by bar),
changes as (select axe / lag(axe) over (order by bar) - 1 as axe, bay / lag(bay) over (order by bar) - 1 as bay from bars)
select corr(axe, bay) as correlation, regr_slope(bay, axe) as beta
from changes`,
		Go: func(t question.Tables) gpuframe.Query {
			axe, bay := gpuframe.Col("AXE"), gpuframe.Col("BAY")
			inOrder := gpuframe.By().OrderBy("bar")
			return t["trades"].
				GroupBy(ts.FloorTo(30, "minute").As("bar")).Pivot("symbol", []any{"AXE", "BAY"}, price.Last()).
				Select(axe.PercentChange(1).Over(inOrder), bay.PercentChange(1).Over(inOrder)).
				Select(gpuframe.Correlation(axe, bay).As("correlation"), gpuframe.RegressionSlope(bay, axe).As("beta"))
		},
	},
	{
		Name: "when half of a day's volume was traded",
		SQL: `
select symbol, day, min(ts) as half
from (
  select symbol, ts::date as day, ts, sum(size) over (partition by symbol, ts::date order by ts) as running, sum(size) over (partition by symbol, ts::date) as total
  from trades)
where running * 2 >= total
group by symbol, day`,
		Go: func(t question.Tables) gpuframe.Query {
			byDay := gpuframe.By("symbol", "day")
			running, total := size.CumSum().Over(byDay.OrderBy("ts")), size.Sum().Over(byDay)
			return t["trades"].
				With(ts.Cast(date).As("day")).
				Filter(running.Mul(2).Ge(total)).
				GroupBy("symbol", "day").Agg(ts.Min().As("half"))
		},
	},
	{
		Name: "trades between two quotes of another time",
		SQL: `
select symbol, count(*) as n, sum(size) as size
from trades t
where exists (select * from quotes q where q.symbol = t.symbol and q.bid = t.price and q.ts between t.ts - interval 1 hour and t.ts)
group by symbol`,
		Go: func(t question.Tables) gpuframe.Query {
			quoted := gpuframe.Col("quoted")
			before := gpuframe.Matching(quoted.Between(ts.Sub(time.Hour), ts))
			return t["trades"].
				Join(t["quotes"].Rename("ts", "quoted"), gpuframe.Semi, "symbol", gpuframe.On("price", "bid"), before).
				GroupBy("symbol").Agg(gpuframe.Count().As("n"), size.Sum())
		},
	},
}
