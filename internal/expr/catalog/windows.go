package catalog

const (
	noRow    = "no such row"
	noneYet  = "no value yet"
	oneSided = "no value on one side of the row"
	ofText   = "numbers, decimals, bools, strings, binaries"
)

var windows = Section{"Windows", Window, "no", []Row{
	{Operands: "rows; an aggregate or a window function", Result: "its type", Null: "as the aggregate; fewer values than AtLeast", Functions: []Function{
		{Name: "over", Kind: Form, Parameters: params{{Name: "window", Go: "w", Type: Windows}}, Call: ByHand, Example: "sum(price) over (city order by day)", Python: "over"},
	}},
	{Operands: "rows", Result: "int64", Null: "never", Functions: []Function{
		{Name: "row_number", Free: true, Doc: "RowNumber is the number of the row in its partition, from 1, in the order of Over.", Python: "rank"},
		{Name: "rank", Free: true, Doc: "Rank is the number of the first row with the same order keys in the partition, from 1.", Python: "rank"},
		{Name: "dense_rank", Free: true, Doc: "DenseRank is the number of distinct order keys up to those of the row.", Python: "rank"},
		{Name: "tile", Aliases: []string{"ntile"}, Free: true, Parameters: withN, Doc: "Tile is the number, from 1, of the row's part of n parts of the partition of about the same size."},
	}},
	{Operands: "rows", Result: "float64", Null: "never", Functions: []Function{
		{Name: "percent_rank", Free: true, Doc: "PercentRank is (rank − 1) / (rows − 1) of the partition, 0 in a partition of one row."},
		{Name: "cumulative_distribution", Aliases: []string{"cume_dist"}, Free: true,
			Doc: "CumulativeDistribution is the fraction of the partition's rows up to the last one with the same order keys."},
	}},
	{Operands: "any", Result: "the same", Null: "no such row; with `SkipNulls` rows that are null are not counted", Functions: []Function{
		{Name: "lag", Parameters: withN, KeepsNulls: true, Doc: "Lag is the value n rows before in the partition, null for its first n rows.", Example: "lag(price, 1)", Python: "shift"},
		{Name: "lead", Parameters: withN, KeepsNulls: true, Doc: "Lead is the value n rows after in the partition, null for its last n rows.", Python: "shift"},
		{Name: "nth", Parameters: withN, KeepsNulls: true, Framed: true, Doc: "Nth is the value of row n of the frame, from 1, null if the frame has fewer rows.", Python: "nth"},
	}},
	{Operands: scalars + "; a value", Result: "the same", Null: "the value is null", Functions: []Function{
		{Name: "lag_or", Kind: Composed, Parameters: params{{Name: "n", Type: Whole}, {Name: "x"}}, Body: "If(e.IsNull().Lag(n).IsNull(), x, e.Lag(n))", Example: "lag_or(price, 1, 0)", Python: "shift",
			Doc: "LagOr is Lag with the value x for the first n rows of a partition."},
		{Name: "lead_or", Kind: Composed, Parameters: params{{Name: "n", Type: Whole}, {Name: "x"}}, Body: "If(e.IsNull().Lead(n).IsNull(), x, e.Lead(n))", Example: "lead_or(price, 1, 0)", Python: "shift",
			Doc: "LeadOr is Lead with the value x for the last n rows of a partition."},
	}},
	{Operands: "numbers, decimals, times", Result: "the same; of times a duration, of decimals a wider one", Null: noRow, Functions: []Function{
		{Name: "difference", Kind: Composed, Parameters: withN, Doc: "Difference is the value minus that n rows before in the partition.", Body: "e.Sub(e.Lag(n))", Python: "diff"},
	}},
	{Operands: ofText, Result: "float64; strings are read as numbers", Null: noRow, Functions: []Function{
		{Name: "percent_change", Kind: Composed, Parameters: withN, Body: "e.percentChange(n)", Python: "pct_change",
			Doc: "PercentChange is the difference to the value n rows before, divided by that value, as float64."},
	}},
	{Operands: "any", Result: "the same", Null: "no value before the row, behind it", Functions: []Function{
		{Name: "fill_forward", Kind: Composed, Body: "e.Last().SkipNulls().cumulative()", Doc: "FillForward is the value or, for a null, the last value before it in the partition.",
			Python: "forward_fill()", PythonDoc: "The value or, for a null, the last value before it, of :meth:`over` or of all rows."},
		{Name: "fill_backward", Kind: Composed, Body: "e.First().SkipNulls().behind()", Doc: "FillBackward is the value or, for a null, the first value behind it in the partition.",
			Python: "backward_fill()", PythonDoc: "The value or, for a null, the first value behind it, of :meth:`over` or of all rows."},
	}},
	{Operands: ofText, Result: "float64; strings are read as numbers", Null: oneSided, Functions: []Function{
		{Name: "interpolate", Kind: Composed, Body: "e.interpolated(RowNumber().Cast(arrow.PrimitiveTypes.Float64))",
			Doc:       "Interpolate is the value, as float64, or for a null the value on the line between the last value before it and the first value behind it, as if the rows had the same distance. It is null before the first and behind the last value of the partition.",
			Python:    "interpolate()",
			PythonDoc: "The value as a float or, for a null, that on the line between the values before and behind it, as if the rows had the same distance."},
	}},
	{Operands: "numbers; places that are numbers or times", Result: "float64", Null: oneSided + "; a null place", Functions: []Function{
		{Name: "interpolate_by", Kind: Composed, Parameters: params{{Name: "x", Type: Expression}}, Body: "e.interpolatedBy(expressionOf(x))", Python: "interpolate_by",
			Doc: "InterpolateBy is [Expr.Interpolate] for rows at places x, a number or a time: usually the key of the order. A row without a place stays null."},
	}},
	{Operands: "numbers, decimals, times; the gap, a literal", Result: "int64", Null: "never", Functions: []Function{
		{Name: "session", Kind: Composed, Parameters: params{{Name: "gap", Type: Literal}}, Body: "e.session(gap)", Example: "session(seconds, 1800) over (order by seconds)",
			Doc:       "Session is the number, from 1, of the session of a row: a session ends where the value is more than gap above that of the row before. It is of the key of the order, a number or a time: ts.Session(30*time.Minute).Over(By(user).OrderBy(ts)). A row without a value, and the one behind it, begin a session each.",
			Python:    "session(gap: Any)",
			PythonDoc: "The number, from 1, of the session: it ends where the value is more than ``gap`` above that of the row before.\n\n``col(\"ts\").session(timedelta(minutes=30)).over(\"user\", order_by=\"ts\")``. Polars has no such function."},
	}},
	{Operands: "numbers, decimals", Result: "int64", Functions: []Function{
		{Name: "qcut", Kind: Composed, Parameters: withN, Body: "e.quantileCut(n)", Example: "qcut(delay, 4)", Python: "qcut",
			Doc: "QCut is the number, from 0, of the bin of the value among n bins of about the same number of rows, of all rows or of a partition. The bins end at the quantiles 1/n, 2/n, …, 1, interpolated between two values, which belong to the bins that they end: equal values are in one bin. NaN is in the last one. Integers and decimals are compared as float64: those beyond 2^53 that have one float64 are equal. " +
				"Other quantiles are breaks of [Expr.Cut]: x.Cut(x.Quantile(0.1), x.Quantile(0.9)).Over(By(key))."},
	}},
	{Operands: "numbers, decimals", Result: "float64", Functions: []Function{
		{Name: "rescale", Kind: Composed, Parameters: params{{Name: "low", Type: Float}, {Name: "high", Type: Float}}, Body: "e.rescale(low, high)", Example: "rescale(delay, 0, 1)",
			Doc:    "Rescale moves the least value to low and the greatest to high, and those between them in proportion, of all rows or of a partition. If all values are equal, they become low; NaN stays NaN. If the least or the greatest is infinite, those between them become NaN. Integers and decimals become float64 before, which rounds those beyond 2^53. Low and high are finite. Package learn fits the same on some rows and applies it to others: learn.FitMinMax.",
			Python: "rescale(low: float = 0.0, high: float = 1.0)", PythonDoc: "The values moved in proportion so that the least becomes ``low`` and the greatest ``high``. Polars has none."},
	}},
	{Operands: "numbers, decimals, durations", Result: "the widest number of the kind; of durations the same", Null: noneYet, Functions: []Function{
		{Name: "cum_sum", Kind: Composed, Body: "e.Sum().cumulative()", Doc: "CumSum is the sum of the partition's values up to the row. Like all aggregates it skips nulls.",
			Python: "cum_sum()", PythonDoc: "The sum of the values up to the row. A null row has the sum up to it; Polars' is null."},
	}},
	{Operands: "numbers", Result: "the widest number of the kind", Null: noneYet, Functions: []Function{
		{Name: "cum_product", Kind: Composed, Body: "e.Product().cumulative()", Doc: "CumProduct is the product of the partition's values up to the row.",
			Python: "cum_prod()", PythonDoc: "The product of the values up to the row, also for a null row."},
	}},
	{Operands: "any", Result: "the same", Null: noneYet, Functions: []Function{
		{Name: "cum_min", Kind: Composed, Body: "e.Min().cumulative()", Doc: "CumMin is the least of the partition's values up to the row.",
			Python: "cum_min()", PythonDoc: "The least of the values up to the row, also for a null row."},
		{Name: "cum_max", Kind: Composed, Body: "e.Max().cumulative()", Doc: "CumMax is the greatest of the partition's values up to the row.",
			Python: "cum_max()", PythonDoc: "The greatest of the values up to the row, also for a null row."},
	}},
	{Operands: "numbers, decimals", Result: "float64; of decimals as `Mean`", Null: noneYet, Functions: []Function{
		{Name: "cum_mean", Kind: Composed, Body: "e.Mean().cumulative()", Doc: "CumMean is the mean of the partition's values up to the row.",
			Python: "cum_mean()", PythonDoc: "The mean of the values up to the row, also for a null row. Polars has none."},
	}},
	{Operands: "any", Result: "int64", Null: "never", Functions: []Function{
		{Name: "cum_count", Kind: Composed, Body: "e.Count().cumulative()", Doc: "CumCount is the number of the partition's values up to the row that are not null.",
			Python: "cum_count()", PythonDoc: "The number of values up to the row that are not null."},
	}},
	{Operands: "numbers, decimals", Result: "float64", Null: noneYet, Functions: []Function{
		{Name: "exponential_mean", Parameters: params{{Name: "alpha", Type: Float}}, FromDecimals: true, Example: "exponential_mean(price, 0.3)",
			Doc:    "ExponentialMean is the mean of the partition's values up to the row, weighted by (1 − alpha)^k for the value k values before the last one. Nulls are no step.",
			Python: "ewm_mean(*, alpha: float)", PythonDoc: "The mean of the values up to the row, each with the weight (1 - alpha) ** (the number of values after it)."},
	}},
	{Operands: "numbers, decimals; times: numbers or times; the half-life, a literal", Result: "float64", Null: noneYet, Functions: []Function{
		{Name: "exponential_mean_by", Kind: Composed, Parameters: params{{Name: "by", Type: Expression}, {Name: "half_life", Go: "halfLife", Type: Literal}}, Body: "e.exponentialMeanBy(expressionOf(by), halfLife)",
			Example: "exponential_mean_by(price, seconds, 1800) over (city)",
			Doc: "ExponentialMeanBy is the mean of the partition's values up to the row in the order of their times, in which the weight of the mean before halves with each half-life since the value before: a time.Duration, or a number if the times are numbers. " +
				"It sorts by the times, and rows of one time by the order of Over. A value at the time of the one before it has no weight. Rows without a value or a time do not count and have the mean before them. price.ExponentialMeanBy(ts, time.Hour).Over(By(city)).",
			Python: "ewm_mean_by"},
	}},
}}
