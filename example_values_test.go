package gpuframe_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
)

// Text with values in it.
func ExampleFormatText() {
	gpu := hostEngine()
	defer gpu.Close()
	price := gpuframe.Col("price")
	show(gpuframe.From(gpu, exampleSales()).Head(2).
		Select(gpuframe.FormatText("{:>6} {:8.2f} ({})", gpuframe.Col("city"), price, price.Div(3).FormatFloat()).As("text")))
	// Output:
	// text
	// "  Oslo    60.00 (20)"
	// "  Bern    55.00 (18.333333333333332)"
}

// CutLeft puts a break into the bin above it, Cut into the bin below. Quantiles may be values of the column.
func ExampleExpr_CutLeft() {
	gpu := hostEngine()
	defer gpu.Close()
	price := gpuframe.Col("price")
	sales := gpuframe.From(gpu, exampleSales())
	show(sales.Select(price, price.CutLeft(50, 80).As("from"), price.Cut(50, 80).As("up_to")).Sort(price))
	show(sales.Select(price.QuantileWith(0.5, "lower").As("lower"), price.QuantileWith(0.5, "midpoint").As("midpoint"), gpuframe.Col("city").ApproxCountDistinct().As("cities")))
	// Output:
	// price,from,up_to
	// 20,0,0
	// 51,1,1
	// 55,1,1
	// 60,1,1
	// 80,2,1
	// 90,2,2
	// lower,midpoint,cities
	// 55,57.5,3
}

// priceClass names the prices below a limit.
type priceClass struct {
	Below float64
	Name  string
}

// withClasses adds the classes of a configuration to a choice.
func withClasses(cases gpuframe.Cases, classes []priceClass) gpuframe.Cases {
	for _, c := range classes {
		cases = cases.When(gpuframe.Col("price").Lt(c.Below), c.Name)
	}
	return cases
}

// Conditions of a configuration: the first one that is true decides.
func ExampleCases() {
	gpu := hostEngine()
	defer gpu.Close()
	class := withClasses(gpuframe.Case(), []priceClass{{50, "cheap"}, {80, "usual"}}).Else("dear")
	show(gpuframe.From(gpu, exampleSales()).Select("price", class.As("class")).Sort("price"))
	// Output:
	// price,class
	// 20,cheap
	// 51,usual
	// 55,usual
	// 60,usual
	// 80,dear
	// 90,dear
}

// The same as a list of conditions and values.
func ExampleCaseOf() {
	gpu := hostEngine()
	defer gpu.Close()
	price := gpuframe.Col("price")
	class := gpuframe.CaseOf(price.Lt(50), "cheap", price.Lt(80), "usual", "dear")
	show(gpuframe.From(gpu, exampleSales()).GroupBy(class.As("class")).Agg(gpuframe.Count().As("n")).Sort("n"))
	// Output:
	// class,n
	// cheap,1
	// dear,2
	// usual,3
}

// Literals of types that Go does not have: products of decimals are exact.
func ExampleLitOf() {
	gpu := hostEngine()
	defer gpu.Close()
	cents := &arrow.Decimal128Type{Precision: 12, Scale: 2}
	rate := gpuframe.Case().
		When(gpuframe.Col("qty").Ge(3), gpuframe.LitOf(cents, "0.90")).
		When(gpuframe.Col("qty").Ge(2), gpuframe.LitOf(cents, "0.95")).
		Else(gpuframe.LitOf(cents, "1.00"))
	show(gpuframe.From(gpu, exampleSales()).Head(3).Select("qty", gpuframe.Col("price").Cast(cents).Mul(rate).As("paid")))
	// Output:
	// qty,paid
	// 2,57.0000
	// 1,55.0000
	// 3,72.0000
}

// A regular expression that does not compile is known before anything is read.
func ExamplePatternError() {
	gpu := hostEngine()
	defer gpu.Close()
	_, err := gpuframe.From(gpu, exampleSales()).Filter(gpuframe.Col("city").MatchesRegex("O[sz")).Explain(context.Background())
	var failure *gpuframe.PatternError
	if errors.As(err, &failure) {
		fmt.Println(failure)
	}
	// Output:
	// regular expression "O[sz": at byte 1: error parsing regexp: missing closing ]: `[sz`
}
