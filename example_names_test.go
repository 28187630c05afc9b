package gpuframe_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// typesOf prints the number of columns of expressions on a row of each type, which checks their types and computes nothing.
func typesOf(expressions ...gpuframe.Expression) {
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		log.Fatal(err)
	}
	defer gpu.Close()
	rows := gpuframe.From(gpu, []struct {
		X float64   `gpuframe:"x"`
		N int64     `gpuframe:"n"`
		B bool      `gpuframe:"b"`
		S string    `gpuframe:"s"`
		T time.Time `gpuframe:"t"`
		L []int64   `gpuframe:"l"`
	}{})
	for i, e := range expressions {
		if _, err := rows.Select(e).Schema(context.Background()); err != nil {
			log.Fatalf("expression %d: %v", i, err)
		}
	}
	fmt.Println("all have a type")
}

// Functions of numbers.
func ExampleExpr_numbers() {
	x, n := gpuframe.Col("x"), gpuframe.Col("n")
	typesOf(x.Abs(), x.Acos(), x.Acosh(), x.Asinh(), x.Atan(), x.Atan2(1), x.Atanh(), x.Cbrt(), x.Ceil(), x.Clamp(0, 1), x.Cosh(), x.Degrees(),
		x.Exp(), x.Expm1(), x.Hypot(2), x.IsNaN(), x.Log(), x.Log10(), x.Log1p(), x.Log2(), x.Neg(), x.RoundDigits(2), x.Sign(), x.Sinh(), x.Tan(), x.Tanh(), x.Trunc(),
		n.BitAnd(1), n.BitCount(), n.BitNot(), n.BitOr(1), n.BitXor(1), n.Factorial(), n.FloorDiv(7), n.FloorMod(7), n.Gcd(6), n.Lcm(6), n.Mod(7), n.ShiftLeft(1), n.ShiftRight(1))
	// Output: all have a type
}

// Comparisons, logic and choices.
func ExampleExpr_conditions() {
	x, b := gpuframe.Col("x"), gpuframe.Col("b")
	typesOf(x.Ne(1), x.Le(1), x.Between(0, 1), x.EqIEEE(1), x.LtIEEE(1), x.LeIEEE(1), x.GtIEEE(1), x.GeIEEE(1), x.NeIEEE(1), x.IsValid(),
		b.And(x.Gt(1)), b.Or(x.Gt(1)), b.Xor(x.Gt(1)), b.Not(), gpuframe.Coalesce(x, 0), gpuframe.Greatest(x, 0), gpuframe.Least(x, 0),
		gpuframe.If(b, 1, 0), gpuframe.Case().When(b, "yes").Else("no"), gpuframe.Hash(x, b))
	// Output: all have a type
}

// Functions of text.
func ExampleExpr_texts() {
	s := gpuframe.Col("s")
	typesOf(s.Base64(), s.Capitalize(), s.CountOf("a"), s.CountRegex("a+"), s.EditDistance("abc"), s.ExtractRegex("a(b)", 1), s.ExtractAllRegex("a(b)", 1), s.FindRegex("a"),
		s.FoldCase(), s.Hex(), s.IsASCII(), s.IsAlnum(), s.IsAlpha(), s.IsDigit(), s.IsLower(), s.IsSpace(), s.IsUpper(), s.JSONElements("$.a"), s.JSONGet("$.a"), s.JSONKeys("$.a"), s.JSONText("$.a"), s.JSONType("$.a"),
		s.JaccardSimilarity("a"), s.JaroSimilarity("a"), s.JaroWinklerSimilarity("a"), s.LengthBytes(), s.LengthChars(), s.Like("a%"), s.Lower(), s.MD5(), s.SHA1(), s.SHA256(), s.XXH3(), s.Murmur3(0),
		s.MatchesRegex("a"), s.Normalize("NFC"), s.PadEnd(5, ' '), s.PadStart(5, ' '), s.Repeat(2), s.Replace("a", "b"), s.ReplaceRegex("a", "b"), s.Reverse(), s.SplitPart(",", 1), s.SplitRegex(","),
		s.StripAccents(), s.Substring(1, 2), s.SubstringAt(1, 2), s.Translate("ab", "cd"), s.Trim(), s.TrimEnd(), s.TrimStart(), s.TrimPrefix("a"), s.TrimSuffix("a"), s.Unbase64(), s.Unhex(), s.Words(),
		gpuframe.Concat(s, "!"), gpuframe.ConcatWith("-", s, s))
	// Output: all have a type
}

// Functions of times.
func ExampleExpr_times() {
	t := gpuframe.Col("t")
	typesOf(t.Year(), t.Quarter(), t.Month(), t.DayOfYear(), t.Weekday(), t.Minute(), t.Second(), t.ISOYear(), t.ISOWeek(), t.DaysInMonth(), t.IsLeapYear(), t.AddDays(1), t.AddMonths(1), t.AddYears(1),
		t.DaysSince(t), t.MonthsSince(t), t.YearsSince(t), t.Truncate("month"), t.FloorTo(2, "month"), t.CeilTo(2, "month"), t.RoundTo(2, "month"), t.FormatTime("%Y"), gpuframe.Col("s").ParseTime("%Y", arrow.FixedWidthTypes.Timestamp_s),
		t.Sub(t).TotalDays(), t.Sub(t).TotalHours(), t.Sub(t).TotalMinutes(), t.Sub(t).TotalSeconds(), t.Sub(t).TotalMilliseconds(), t.Sub(t).TotalMicroseconds(), t.Sub(t).TotalNanoseconds())
	// Output: all have a type
}

// Aggregates, of all rows.
func ExampleExpr_aggregates() {
	x, b, n, s := gpuframe.Col("x"), gpuframe.Col("b"), gpuframe.Col("n"), gpuframe.Col("s")
	typesOf(b.All(), b.Any(), b.CountIf(), x.AnyValue(), x.Avg(), x.AtMax(n), x.AtMin(n), n.BitwiseAnd(), n.BitwiseOr(), n.BitwiseXor(), n.Entropy(), x.First(), x.Last(), x.GeometricMean(),
		s.JoinStrings(","), x.Kurtosis(), x.KurtosisPop(), x.Largest(2), x.Smallest(2), x.Mad(), x.Median(), x.Min(), n.Mode(), x.NullCount(), x.Quantile(0.9), x.Skewness(), x.StdDev(), x.Variance(),
		gpuframe.Correlation(x, n), gpuframe.Covariance(x, n), gpuframe.RegressionSlope(x, n), gpuframe.RegressionIntercept(x, n), gpuframe.RegressionR2(x, n))
	// Output: all have a type
}

// Functions of windows.
func ExampleExpr_windows() {
	x := gpuframe.Col("x")
	w := gpuframe.By("n").OrderBy(gpuframe.Col("t").Desc().NullsFirst())
	typesOf(gpuframe.RowNumber().Over(w), gpuframe.Rank().Over(w), gpuframe.DenseRank().Over(w), gpuframe.PercentRank().Over(w), gpuframe.CumulativeDistribution().Over(w), gpuframe.Tile(4).Over(w),
		x.Lag(1).Over(w), x.Lead(1).Over(w), x.LagOr(1, 0).Over(w), x.LeadOr(1, 0).Over(w), x.Nth(2).Over(w), x.PercentChange(1).Over(w), x.FillForward().Over(w), x.FillBackward().Over(w), x.Interpolate().Over(w),
		x.CumCount().Over(w), x.CumMax().Over(w), x.CumMean().Over(w), x.CumMin().Over(w), x.CumProduct().Over(w), x.ExponentialMean(0.5).Over(w), gpuframe.Col("t").Session(time.Hour).Over(gpuframe.By("n").OrderBy("t")),
		x.Mean().Over(w.Rows(-6, 0).AtLeast(3)), x.Max().Over(gpuframe.By("n").OrderBy("t").Range(-time.Hour, nil)), x.Last().SkipNulls().Over(w))
	// Output: all have a type
}

// Functions of lists.
func ExampleExpr_lists() {
	l := gpuframe.Col("l")
	typesOf(l.ListLength(), l.ListCount(), l.ListGet(0), l.ListSlice(0, 2), l.ListSort(), l.ListSortDescending(), l.ListUnique(), l.ListContains(1), l.ListMin(), l.ListMax(), l.ListMean(),
		gpuframe.ConcatList(l, l), gpuframe.ListZip(l, l.ListSort().As("sorted")), gpuframe.Struct(l, gpuframe.Col("n")))
	// Output: all have a type
}
