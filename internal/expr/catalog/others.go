package catalog

// A Task is something that users of other libraries do, with its form in each: a row of docs/coming-from.md.
// An empty form does not exist there, or only as several steps.
type Task struct {
	// Go is the form in Go. Names of methods and functions before a parenthesis exist: a test reads them.
	Go                        string
	Polars, Pandas, SQL, Gota string
}

// Tasks are the tasks in the order of docs/coming-from.md.
func Tasks() []Task { return tasks }

var tasks = []Task{
	{`gpu.Parquet("f.parquet")`, `pl.scan_parquet("f.parquet")`, `pd.read_parquet("f.parquet")`, `FROM 'f.parquet'`, ``},
	{`gpu.CSV("f.csv", gpuframe.CSVOptions{})`, `pl.scan_csv("f.csv")`, `pd.read_csv("f.csv")`, `FROM 'f.csv'`, `dataframe.ReadCSV(r)`},
	{`gpuframe.From(gpu, rows)`, `pl.LazyFrame(rows)`, `pd.DataFrame(rows)`, `VALUES`, `dataframe.LoadStructs(rows)`},
	{`q.Collect(ctx)`, `q.collect()`, `immediately`, `SELECT`, `immediately`},
	{`q.Select("a", "b")`, `q.select("a", "b")`, `df[["a", "b"]]`, `SELECT a, b`, `df.Select([]string{"a", "b"})`},
	{`q.Drop("a")`, `q.drop("a")`, `df.drop(columns="a")`, `SELECT * EXCLUDE (a)`, `df.Drop("a")`},
	{`q.Rename("a", "b")`, `q.rename({"a": "b"})`, `df.rename(columns={"a": "b"})`, `SELECT a AS b`, `df.Rename("b", "a")`},
	{`q.Filter(x.Gt(15))`, `q.filter(x > 15)`, `df[df.x > 15]`, `WHERE x > 15`, `df.Filter(dataframe.F{…})`},
	{`q.With(x.Mul(2).As("y"))`, `q.with_columns(y=x * 2)`, `df.assign(y=df.x * 2)`, `SELECT *, x * 2 AS y`, `df.Mutate(s)`},
	{`q.GroupBy("k").Agg(x.Mean())`, `q.group_by("k").agg(x.mean())`, `df.groupby("k").x.mean()`, `SELECT k, avg(x) … GROUP BY k`, `df.GroupBy("k").Aggregation(…)`},
	{`q.GroupBy("k").Agg(gpuframe.Count())`, `q.group_by("k").len()`, `df.groupby("k").size()`, `SELECT k, count(*) … GROUP BY k`, ``},
	{`q.Sort("a", x.Desc())`, `q.sort("a", "x", descending=[False, True])`, `df.sort_values(["a", "x"], ascending=[True, False])`, `ORDER BY a, x DESC`, `df.Arrange(dataframe.Sort("a"), dataframe.RevSort("x"))`},
	{`q.Head(10)`, `q.head(10)`, `df.head(10)`, `LIMIT 10`, `df.Subset(…)`},
	{`q.Top(10, x.Desc())`, `q.top_k(10, by="x")`, `df.nlargest(10, "x")`, `ORDER BY x DESC LIMIT 10`, ``},
	{`q.Slice(20, 10)`, `q.slice(20, 10)`, `df.iloc[20:30]`, `LIMIT 10 OFFSET 20`, `df.Subset(…)`},
	{`q.Distinct("k")`, `q.unique("k")`, `df.drop_duplicates("k")`, `SELECT DISTINCT ON (k) *`, ``},
	{`q.Join(other, gpuframe.Inner, "k")`, `q.join(other, on="k")`, `df.merge(other, on="k")`, `JOIN other USING (k)`, `df.InnerJoin(other, "k")`},
	{`q.Join(other, gpuframe.Left, gpuframe.On("a", "b"))`, `q.join(other, left_on="a", right_on="b", how="left")`, `df.merge(other, left_on="a", right_on="b", how="left")`, `LEFT JOIN other ON a = b`, `df.LeftJoin(other, "k")`},
	{`q.AsOf(other, "t", gpuframe.AsOfOptions{})`, `q.join_asof(other, on="t")`, `pd.merge_asof(df, other, on="t")`, `ASOF JOIN other ON t >= other.t`, ``},
	{`q.Union(other)`, `pl.concat([q, other])`, `pd.concat([df, other])`, `UNION ALL`, `df.RBind(other)`},
	{`q.Except(other)`, ``, ``, `EXCEPT`, ``},
	{`q.Unpivot(columns, "k")`, `q.unpivot(columns, index="k")`, `df.melt("k", columns)`, `UNPIVOT`, ``},
	{`q.GroupBy("k").Pivot("on", values, x.Sum())`, `df.pivot("on", index="k", values="x")`, `df.pivot_table("x", "k", "on")`, `PIVOT`, ``},
	{`q.Explode("list")`, `q.explode("list")`, `df.explode("list")`, `unnest(list)`, ``},
	{`q.DropNulls("a")`, `q.drop_nulls("a")`, `df.dropna(subset="a")`, `WHERE a IS NOT NULL`, ``},
	{`q.FillNull(0, "a")`, `q.with_columns(pl.col("a").fill_null(0))`, `df.fillna({"a": 0})`, `coalesce(a, 0)`, ``},
	{`q.Describe(ctx)`, `q.describe()`, `df.describe()`, `SUMMARIZE`, `df.Describe()`},
	{`x.Sum().Over(gpuframe.By("k"))`, `x.sum().over("k")`, `df.groupby("k").x.transform("sum")`, `sum(x) OVER (PARTITION BY k)`, ``},
	{`x.Lag(1).Over(gpuframe.By("k").OrderBy("t"))`, `x.shift(1).over("k", order_by="t")`, `df.sort_values("t").groupby("k").x.shift(1)`, `lag(x) OVER (PARTITION BY k ORDER BY t)`, ``},
	{`x.Mean().Over(gpuframe.By().OrderBy("t").Rows(-6, 0))`, `x.rolling_mean(7)`, `df.x.rolling(7).mean()`, `avg(x) OVER (ORDER BY t ROWS 6 PRECEDING)`, `df.Rolling(7)`},
	{`q.Resample("t", time.Hour).Agg(x.Mean())`, `q.group_by_dynamic("t", every="1h").agg(x.mean())`, `df.resample("1h", on="t").x.mean()`, `GROUP BY time_bucket(…)`, ``},
	{`gpuframe.If(x.Gt(0), 1, 0)`, `pl.when(x > 0).then(1).otherwise(0)`, `np.where(df.x > 0, 1, 0)`, `CASE WHEN x > 0 THEN 1 ELSE 0 END`, ``},
	{`x.In(1, 2)`, `x.is_in([1, 2])`, `df.x.isin([1, 2])`, `x IN (1, 2)`, `series.In`},
	{`x.IsNull()`, `x.is_null()`, `df.x.isna()`, `x IS NULL`, `s.IsNaN()`},
	{`x.Cast(arrow.PrimitiveTypes.Float64)`, `x.cast(pl.Float64)`, `df.x.astype("float64")`, `x::DOUBLE`, `s.Float()`},
	{`q.WriteFile(ctx, "f.parquet", gpuframe.Parquet())`, `q.sink_parquet("f.parquet")`, `df.to_parquet("f.parquet")`, `COPY … TO 'f.parquet'`, ``},
	{`q.Explain(ctx)`, `q.explain()`, ``, `EXPLAIN`, ``},
}
