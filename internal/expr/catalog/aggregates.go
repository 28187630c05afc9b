package catalog

var (
	withN  = params{{Name: "n", Type: Whole}}
	withXY = params{{Name: "x", Type: Expression}, {Name: "y", Type: Expression}}
	withYX = params{{Name: "y", Type: Expression}, {Name: "x", Type: Expression}}
)

const fewValues = "too few values"

var aggregates = Section{"Aggregates", Aggregated, "in a group-by", []Row{
	{Operands: "rows", Result: "int64", Null: "never", Functions: []Function{
		{Name: "count_rows", Go: "Count", Aliases: []string{"count"}, Free: true, Aggregation: "count", CountsRows: true, Merge: "sum", Doc: "Count is the number of rows.", Example: "count()", Python: "count_rows"},
	}},
	{Operands: "rows of sets of keys", Result: "int64", Null: "never", Functions: []Function{
		{Name: "grouping_id", Go: "GroupingID", Kind: Composed, Aliases: []string{"grouping"}, Free: true, Parameters: params{{Name: "keys", Type: Expressions, Optional: true}}, Body: "groupingID(unpack(keys))", Example: "grouping_id(city, day)",
			Doc: "GroupingID tells the rows of the sets of [Query.Rollup], [Query.Cube] and [Query.GroupingSets] apart: it has a bit for each of some keys, of the first one the highest, " +
				"which is 1 if the group is not by the key. Without arguments it has the bits of all keys. It is 0 for the groups of [Query.GroupBy], also of all rows, and an error in [Query.With].",
			Python: "grouping_id"},
	}},
	{Operands: "any", Result: "int64", Null: "never", Functions: []Function{
		{Name: "count", Aggregation: "count_values", CountsRows: true, Merge: "sum", Doc: "Count is the number of values that are not null.",
			Python: "count()", PythonDoc: "The number of values that are not null."},
		{Name: "null_count", CountsRows: true, Doc: "NullCount is the number of nulls.", Python: "null_count()", PythonDoc: "The number of nulls."},
	}},
	{Operands: scalars + ", lists; structs and lists of these", Result: "int64", Null: "never", Functions: []Function{
		{Name: "count_distinct", Parameters: params{{Name: "others", Type: Expressions, Optional: true}}, CountsRows: true, Example: "count_distinct(origin)", Python: "n_unique",
			Doc: "CountDistinct is the number of distinct values or, with other expressions, of distinct combinations of values. Nulls are not counted."},
	}},
	{Operands: "numbers, bools, decimals, durations; lists of floats of one length", Result: "the widest number of the kind; of bools int64, of durations the same; of lists a list of float64", Null: "no values; a sum that the type does not hold", Functions: []Function{
		{Name: "sum", Merge: "sum", Doc: "Sum is the sum of the values. A sum of integers or decimals that overflows is null. A sum of floats does not depend on the order of the rows. " +
			"Lists of floats are vectors: their sum has the sum of each element, as float64. A vector that is null or has a null element is skipped, and vectors of different lengths are an error.",
			Python: "sum()", PythonDoc: "The sum. Unlike in Polars, that of no values is null, and so is a sum of integers or decimals that overflows. That of lists of floats has the sum of each element."},
	}},
	{Operands: "integers, bools", Result: "64 bits, of bools int64", Null: "no values", Functions: []Function{
		{Name: "product", Doc: "Product is the product of integers, which wraps around.", Python: "product()", PythonDoc: "The product of integers, which wraps around."},
	}},
	{Operands: "integers", Result: "the same", Null: "no values", Functions: []Function{
		{Name: "bitwise_and", Kind: Composed, Aliases: []string{"bit_and"}, Body: "e.BitNot().BitwiseOr().BitNot()", Doc: "BitwiseAnd is the bits that all values have.",
			Python: "bitwise_and()", PythonDoc: "The bits that all values have."},
		{Name: "bitwise_or", Aliases: []string{"bit_or"}, Merge: "bitwise_or", Doc: "BitwiseOr is the bits that one value or more has.", Python: "bitwise_or()", PythonDoc: "The bits that one value or more has."},
		{Name: "bitwise_xor", Aliases: []string{"bit_xor"}, Merge: "bitwise_xor", Doc: "BitwiseXor is the bits that an odd number of values has.",
			Python: "bitwise_xor()", PythonDoc: "The bits that an odd number of values has."},
	}},
	{Operands: "numbers, bools, decimals; lists of floats of one length", Result: "float64; of decimals a decimal with [four more digits](expressions.md#decimals), of lists a list of float64", Null: "no values; a mean of more than 38 digits", Functions: []Function{
		{Name: "mean", Aliases: []string{"avg"}, GoAliases: []string{"Avg"}, Doc: "Mean is the arithmetic mean. That of decimals has four more digits behind the point, of at most 38, and is rounded half away from zero. " +
			"Lists of floats are vectors, as for [Expr.Sum]: their mean, the centroid, has the mean of each element.",
			Python: "mean()", PythonDoc: "The arithmetic mean. That of decimals is a decimal with four more digits, that of lists of floats has the mean of each element."},
	}},
	{Operands: "any", Result: "the same", Null: "no values", Functions: []Function{
		{Name: "min", Merge: "min", Doc: "Min is the least value.", Python: "min()", PythonDoc: "The least value."},
		{Name: "max", Merge: "max", Doc: "Max is the greatest value.", Python: "max()", PythonDoc: "The greatest value."},
	}},
	{Operands: "any", Result: "the same", Null: "no rows, null in the first or last row; with `SkipNulls` no values", Functions: []Function{
		{Name: "first", Order: RowOrder, KeepsNulls: true, Doc: "First is the value of the first row, which may be null: see [Expr.SkipNulls].", Python: "first"},
		{Name: "last", Order: RowOrder, KeepsNulls: true, Doc: "Last is the value of the last row, which may be null: see [Expr.SkipNulls].", Python: "last"},
	}},
	{Operands: "any", Result: "the same", Null: "no values", Functions: []Function{
		{Name: "any_value", Order: TieOrder, Doc: "AnyValue is one of the values that are not null, the same in every run."},
	}},
	{Operands: scalars + ", lists; structs and lists of these", Result: "the same", Null: "no values", Functions: []Function{
		{Name: "mode", Order: TieOrder, Doc: "Mode is the most frequent value.", Python: "mode()", PythonDoc: "The most frequent value. Unlike in Polars it is one value."},
	}},
	{Operands: "numbers, decimals", Result: "float64", Null: "no values", Functions: []Function{
		{Name: "median", FromDecimals: true, Doc: "Median is the middle of the sorted values, or the mean of the two in the middle.",
			Python: "median()", PythonDoc: "The middle of the sorted values, or the mean of the two in the middle."},
		{Name: "quantile", Aliases: []string{"quantile_cont"}, Parameters: params{{Name: "q", Type: Float}}, FromDecimals: true, Example: "quantile(price, 0.9)",
			Doc: "Quantile is the value below which a fraction q of the values lies, interpolated.", Python: "quantile"},
	}},
	{Operands: "numbers, decimals", Result: "float64", Null: "no values", Functions: []Function{
		{Name: "geometric_mean", Kind: Composed, Aliases: []string{"geomean"}, Body: "e.Log().Mean().Exp()", Doc: "GeometricMean is the root of the product of the values, by their logarithms: NaN with a negative value.",
			Python: "geometric_mean()", PythonDoc: "The root of the product of the values, by their logarithms."},
	}},
	{Operands: "any; an interpolation", Result: "the same; float64 of midpoint and linear", Null: "no values", Functions: []Function{
		{Name: "quantile_with", Kind: Composed, Parameters: params{{Name: "q", Type: Float}, {Name: "interpolation", Type: Text}}, Body: "e.quantileWith(q, interpolation)", Example: "quantile_with(price, 0.9, 'lower')",
			Doc: "QuantileWith is a quantile with a choice between values: lower, higher, nearest, midpoint and linear are those of NumPy and Polars, " +
				"discrete is the first value up to which a fraction q of the values lies. Midpoint and linear are of numbers.",
			Python: "quantile"},
	}},
	{Operands: scalars + ", lists; structs and lists of these", Result: "float64", Null: "no values", Functions: []Function{
		{Name: "entropy", Kind: Composed, Body: "e.entropy()", Doc: "Entropy is Shannon's entropy of the frequencies of the values, in bits.",
			Python: "entropy_bits()", PythonDoc: "Shannon's entropy of the frequencies of the values, in bits. Polars' ``entropy`` is of values that are probabilities."},
	}},
	{Operands: scalars + ", lists; structs and lists of these", Result: "map of the values to their numbers, in order", Null: "never", Functions: []Function{
		{Name: "histogram", Kind: Composed, Body: "e.histogram()", Doc: "Histogram is the map of the distinct values, in order, to their numbers, int64.",
			Python: "histogram()", PythonDoc: "The map of the distinct values, in order, to their numbers. Polars has ``value_counts``."},
	}},
	{Operands: scalars, Result: "int64", Null: "never", Functions: []Function{
		{Name: "approx_count_distinct", Kind: Composed, Aggregation: "approx_count_distinct", Order: RowOrder, Body: "e.approxCountDistinct()", Doc: "ApproxCountDistinct is about the number of distinct values: the estimate of [Expr.HLLSketch] with 4,096 registers. The standard error is 1.6 %.",
			Python: "approx_n_unique()", PythonDoc: "About the number of distinct values, with a standard error of 1.6 %. Unlike in Polars, null is none."},
	}},
	{Operands: scalars, Result: "binary", Null: "never", Functions: []Function{
		{Name: "hll_sketch", Kind: Composed, Aggregation: "hll_sketch", Order: RowOrder, Parameters: params{{Name: "lg_k", Go: "lgK", Type: Whole}}, Body: "e.hllSketch(lgK)", Example: "hll_sketch(user, 12)",
			Doc:    "HLLSketch is a HLL sketch of the values in the format of Apache DataSketches, with 2^lgK registers, 4 to 21: a binary of at most 2^lgK + 40 bytes, from which [Expr.HLLEstimate] computes the number of distinct values, with a standard error of 1.04 / √2^lgK. Integers and times are hashed as 64 bits, floats as float64, strings by their bytes.",
			Python: "hll_sketch(lg_k: int = 12)", PythonDoc: "A HLL sketch of the values, in the format of Apache DataSketches. Polars has none."},
	}},
	{Operands: "binaries; sketches", Result: "binary", Null: "no sketches; one of the values is no HLL sketch", Functions: []Function{
		{Name: "hll_merge", Kind: Composed, Aggregation: "hll_merge", Order: RowOrder, Body: "e.hllMerge()", Doc: "HLLMerge is the HLL sketch of all values that a column of sketches has, also of ones that other programs wrote, in any of DataSketches' forms. It has the registers of the smallest one.",
			Python: "hll_merge()", PythonDoc: "The HLL sketch of the values of all sketches. Polars has none."},
	}},
	{Operands: "numbers, decimals, times, strings", Result: "float64; of times and strings the same", Null: "no values", Functions: []Function{
		{Name: "approx_quantile", Kind: Composed, Aggregation: "approx_quantile", Order: RowOrder, Parameters: params{{Name: "q", Type: Float}}, Body: "e.approxQuantile(q)", Example: "approx_quantile(price, 0.9)",
			Doc:    "ApproxQuantile is about the value up to which a fraction q of the values lies, one of the values: the quantile of a [Expr.KLLSketch] of size 200. The fraction is wrong by at most 0.0133, in 99 of 100 cases. NaN is left out.",
			Python: "approx_quantile(quantile: float)", PythonDoc: "About the value up to which a fraction of the values lies, wrong by at most 0.0133 of the fraction in 99 of 100 cases. Polars has none."},
	}},
	{Operands: "numbers, decimals, times, strings", Result: "binary", Null: "never", Functions: []Function{
		{Name: "kll_sketch", Kind: Composed, Aggregation: "kll_sketch", Order: RowOrder, Parameters: params{{Name: "k", Type: Whole}}, Body: "e.kllSketch(k)", Example: "kll_sketch(price, 200)",
			Doc: "KLLSketch is a KLL sketch of the values in the format of Apache DataSketches, of size k, 8 to 65535: its KllFloatsSketch of float32, its KllDoublesSketch of other numbers and decimals, as float64, " +
				"its KllLongsSketch of times, its KllItemsSketch of strings. [Expr.KLLQuantile], [Expr.KLLLongsQuantile] and [Expr.KLLItemsQuantile] read them, and a rank is wrong by at most 2.296 / k^0.9723, in 99 of 100 cases: " +
				"0.0133 for k = 200, with some 3 k values. NaN is left out. Equal tables of rows make equal bytes: a hash of the values decides which half of them stays.",
			Python: "kll_sketch(k: int = 200)", PythonDoc: "A KLL sketch of the values, in the format of Apache DataSketches. Polars has none."},
	}},
	{Operands: "binaries; sketches", Result: "binary", Null: "no sketches; one of the values is no such sketch", Functions: []Function{
		{Name: "kll_merge", Kind: Composed, Aggregation: "kll_merge", Order: RowOrder, Body: "e.kllMerge()", Doc: "KLLMerge is the KLL sketch of all values that a column of sketches of numbers has, also of ones that other programs wrote. It has the least size of them, and is of float32 if all are.",
			Python: "kll_merge()", PythonDoc: "The KLL sketch of the values of all sketches of numbers. Polars has none."},
		{Name: "kll_longs_merge", Kind: Composed, Aggregation: "kll_longs_merge", Order: RowOrder, Body: "e.kllLongsMerge()", Doc: "KLLLongsMerge is [Expr.KLLMerge] of sketches of times, and of KllLongsSketches of other programs.",
			Python: "kll_longs_merge()", PythonDoc: "The KLL sketch of the values of all sketches of times. Polars has none."},
		{Name: "kll_items_merge", Kind: Composed, Aggregation: "kll_items_merge", Order: RowOrder, Body: "e.kllItemsMerge()", Doc: "KLLItemsMerge is [Expr.KLLMerge] of sketches of strings.",
			Python: "kll_items_merge()", PythonDoc: "The KLL sketch of the values of all sketches of strings. Polars has none."},
	}},
	{Operands: scalars + ", lists; structs and lists of these", Result: "list", Null: "never", Functions: []Function{
		{Name: "approx_top_k", Kind: Composed, Aggregation: "approx_top_k", Parameters: withN, Body: "e.approxTopK(n)", Example: "approx_top_k(origin, 3)",
			Doc: "ApproxTopK is the list of about the n most frequent values, the most frequent one first and equally frequent ones in the order of their first rows. n is 1 to 1,000,000. " +
				"In groups it is exact: the values are grouped too. In windows a value that occurs in more than 1 of 1,536 rows is considered, or in more than 1 of 3 n.",
			Python: "approx_top_k(n: int)", PythonDoc: "The list of about the n most frequent values, the most frequent one first. Polars has none."},
	}},
	{Operands: "integers, bools, times, strings", Result: "binary", Null: "never", Functions: []Function{
		{Name: "frequent_items_sketch", Kind: Composed, Aggregation: "frequent_items_sketch", Order: RowOrder, Parameters: params{{Name: "max_size", Go: "maxSize", Type: Whole}}, Body: "e.frequentItemsSketch(maxSize)", Example: "frequent_items_sketch(origin, 1024)",
			Doc: "FrequentItemsSketch is a sketch of the most frequent values in the format of Apache DataSketches, with a table of maxSize places, 8 to 2^26, rounded up to a power of two: " +
				"its ItemsSketch of strings, which [Expr.FrequentItems] reads, or its LongsSketch of integers, bools and times, as 64 bits, which [Expr.FrequentLongs] reads. " +
				"It has every value that occurs more often than in 3.5 / maxSize of the rows.",
			Python: "frequent_items_sketch(max_size: int = 1024)", PythonDoc: "A sketch of the most frequent values, in the format of Apache DataSketches. Polars has none."},
	}},
	{Operands: "binaries; sketches", Result: "binary", Null: "no sketches; one of the values is no such sketch", Functions: []Function{
		{Name: "frequent_items_merge", Kind: Composed, Aggregation: "frequent_items_merge", Order: RowOrder, Body: "e.frequentItemsMerge()", Doc: "FrequentItemsMerge is the sketch of all values that a column of sketches of strings has, also of ones that other programs wrote. It has the places of the smallest one.",
			Python: "frequent_items_merge()", PythonDoc: "The sketch of the values of all sketches of frequent strings. Polars has none."},
		{Name: "frequent_longs_merge", Kind: Composed, Aggregation: "frequent_longs_merge", Order: RowOrder, Body: "e.frequentLongsMerge()", Doc: "FrequentLongsMerge is [Expr.FrequentItemsMerge] of sketches of integers, bools and times.",
			Python: "frequent_longs_merge()", PythonDoc: "The sketch of the values of all sketches of frequent integers. Polars has none."},
	}},
	{Operands: "numbers", Result: "float64", Null: "no values", Functions: []Function{
		{Name: "mad", Kind: Composed, Body: "e.medianDeviation()", Doc: "Mad is the median absolute deviation: the median of the distances of the values from their median.",
			Python: "mad()", PythonDoc: "The median absolute deviation: the median of the distances of the values from their median."},
	}},
	{Operands: "numbers", Result: "float64", Null: fewValues, Functions: []Function{
		{Name: "variance", Aliases: []string{"var_samp"}, Freedom: 1, FromDecimals: true, Doc: "Variance is the sample variance: the divisor is the number of values minus one.",
			Python: "var()", PythonDoc: "The sample variance: the divisor is the number of values minus one."},
		{Name: "stddev", Go: "StdDev", Aliases: []string{"stddev_samp"}, Freedom: 1, FromDecimals: true, Doc: "StdDev is the square root of Variance.",
			Python: "std()", PythonDoc: "The square root of :meth:`var`."},
		{Name: "skewness", Doc: "Skewness is the third standardized moment, of the population.", Python: "skew()", PythonDoc: "The third standardized moment."},
		{Name: "kurtosis", Python: "kurtosis", Doc: "Kurtosis is the excess kurtosis of the population, from a sample of four or more values: Fisher's definition with the correction " +
			"for the number of values. It is DuckDB's kurtosis and pandas' kurt."},
		{Name: "kurtosis_pop", Python: "kurtosis", Doc: "KurtosisPop is the excess kurtosis of the values themselves: the fourth standardized moment minus 3. It is DuckDB's " +
			"kurtosis_pop and Polars' kurtosis."},
	}},
	{Operands: "numbers; two of them", Result: "float64", Null: fewValues, Functions: []Function{
		{Name: "correlation", Aliases: []string{"corr"}, Free: true, Parameters: withXY, Doc: "Correlation is Pearson's correlation of two expressions.", Python: "corr"},
		{Name: "covariance", Aliases: []string{"covar_samp"}, Free: true, Parameters: withXY, Freedom: 1, Doc: "Covariance is the sample covariance of two expressions.", Python: "cov"},
	}},
	{Operands: "numbers; two of them", Result: "float64", Null: "too few values, or x has one value", Functions: []Function{
		{Name: "regression_slope", Kind: Composed, Aliases: []string{"regr_slope"}, Free: true, Parameters: withYX, Body: "regression{expressionOf(x), expressionOf(y)}.slope()",
			Doc: "RegressionSlope is the slope of the line through the points (x, y) with the least squares, of the rows in which both are not null."},
		{Name: "regression_intercept", Kind: Composed, Aliases: []string{"regr_intercept"}, Free: true, Parameters: withYX, Body: "regression{expressionOf(x), expressionOf(y)}.intercept()",
			Doc: "RegressionIntercept is the value at x = 0 of the line of [RegressionSlope]."},
		{Name: "regression_r2", Go: "RegressionR2", Kind: Composed, Aliases: []string{"regr_r2"}, Free: true, Parameters: withYX, Body: "regression{expressionOf(x), expressionOf(y)}.determination()",
			Doc: "RegressionR2 is the coefficient of determination of the line of [RegressionSlope]: the square of the correlation, and 1 if y has one value."},
	}},
	{Operands: "any; a key to compare", Result: "the same", Null: "no rows with a value and a key", Functions: []Function{
		{Name: "at_max", Kind: Composed, Aliases: []string{"arg_max", "max_by"}, Parameters: params{{Name: "by", Type: Expression}}, Body: "e.atExtreme(expressionOf(by), Expr.Max)",
			Doc:    "AtMax is the value in the row with the greatest key, of the rows in which neither is null. Of rows with equal keys it is the greatest value. NaN is the greatest key.",
			Python: "at_max(by: Expr)", PythonDoc: "The value in the row with the greatest key. Rows in which one of them is null are left out. Polars has ``max_by``."},
		{Name: "at_min", Kind: Composed, Aliases: []string{"arg_min", "min_by"}, Parameters: params{{Name: "by", Type: Expression}}, Body: "e.atExtreme(expressionOf(by), Expr.Min)",
			Doc:    "AtMin is the value in the row with the least key, of the rows in which neither is null. Of rows with equal keys it is the least value.",
			Python: "at_min(by: Expr)", PythonDoc: "The value in the row with the least key. Rows in which one of them is null are left out. Polars has ``min_by``."},
	}},
	{Operands: "bools", Result: "int64", Null: "never", Functions: []Function{
		{Name: "count_if", Kind: Composed, Aliases: []string{"countif"}, Body: "Count().Where(e)", Doc: "CountIf is the number of rows in which e is true.",
			Python: "count_if()", PythonDoc: "The number of rows in which a bool is true."},
	}},
	{Operands: "bools", Result: "bool", Null: "no values", Functions: []Function{
		{Name: "any", Aliases: []string{"bool_or"}, Doc: "Any reports whether a value is true.", Python: "any()", PythonDoc: "Whether a value is true."},
		{Name: "all", Aliases: []string{"bool_and", "every"}, Doc: "All reports whether every value is true.", Python: "all()", PythonDoc: "Whether every value is true."},
	}},
	{Operands: "any", Result: "list; its elements are null where the values are, unless `SkipNulls` is called", Null: "never", Functions: []Function{
		{Name: "list", Aliases: []string{"array_agg"}, Order: RowOrder, KeepsNulls: true, Doc: "List is the list of the values, with null elements: see [Expr.SkipNulls].", Python: "implode"},
	}},
	{Operands: "any", Result: "list", Null: "never", Functions: []Function{
		{Name: "largest", Parameters: withN, Order: TieOrder, Doc: "Largest is the list of the n largest values, the largest first.", Example: "largest(price, 3)",
			Python: "top_k(k: int = 5)", PythonDoc: "The list of the k largest values, the largest first. Polars returns rows, not a list."},
		{Name: "smallest", Parameters: withN, Order: TieOrder, Doc: "Smallest is the list of the n smallest values, the smallest first.",
			Python: "bottom_k(k: int = 5)", PythonDoc: "The list of the k smallest values, the smallest first. Polars returns rows, not a list."},
	}},
	{Operands: "strings; utf8 only", Result: "utf8", Null: "no values", Functions: []Function{
		{Name: "join_strings", Aliases: []string{"string_agg"}, Parameters: params{{Name: "separator", Type: Text}}, Order: RowOrder, Example: "join_strings(origin, ', ')",
			Doc:    "JoinStrings is one string of those of the rows, in their order, with a separator between them.",
			Python: `str.join(delimiter: str = "")`, PythonDoc: "An aggregate: the strings of the rows as one."},
	}},
	{Operands: "rows; a `First`, `Last`, `Nth`, `List`, `Lag` or `Lead`", Result: "the same", Null: "no values", Functions: []Function{
		{Name: "skip_nulls", Kind: Form, Call: ByHand, Example: "last(price) skip nulls", Python: "first"},
	}},
	{Operands: "rows; a `First`, `Last`, `List`, `JoinStrings`, `AnyValue` or `Mode`", Result: "the same", Null: "as the aggregate", Functions: []Function{
		{Name: "order_by", Kind: Form, Parameters: params{{Name: "order", Go: "keys", Type: Keys}}, Call: ByHand, Example: "first(price order by day desc)", Python: "order_by"},
	}},
	{Operands: "rows; an aggregate and a bool", Result: "the same", Null: "no rows", Functions: []Function{
		{Name: "where", Kind: Form, Parameters: params{{Name: "condition", Type: Expression}}, Call: ByHand, Example: "sum(price) where (quantity > 1)", Python: "filter"},
	}},
}}

// planned are aggregates that only plans have.
var planned = []Function{
	{Aggregation: "arg_min", Kind: Aggregated, Parameters: params{{Name: "e"}}, Order: TieOrder},
	{Aggregation: "arg_max", Kind: Aggregated, Parameters: params{{Name: "e"}}, Order: TieOrder},
	{Aggregation: "distinct_values", Kind: Aggregated, Parameters: params{{Name: "e"}}},
	{Aggregation: "distinct_counts", Kind: Aggregated, Parameters: params{{Name: "e"}}},
	{Aggregation: "exponential_mean_by", Kind: Window, Parameters: params{{Name: "e"}, {Name: "by"}, {Name: "half_life", Type: Literal}}, Order: RowOrder},
}
