package gpuframe_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/catalog"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// typesByWord are the types by the words of docs/functions.md.
var typesByWord = map[string][]arrow.DataType{
	"integers":   {arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint64},
	"floats":     {arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64},
	"decimals":   {&arrow.Decimal128Type{Precision: 9, Scale: 2}},
	"bools":      {arrow.FixedWidthTypes.Boolean},
	"strings":    {arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString},
	"binaries":   {arrow.BinaryTypes.Binary},
	"dates":      {arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64},
	"timestamps": {&arrow.TimestampType{Unit: arrow.Microsecond}, &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}},
	"clocks":     {arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time64ns},
	"durations":  {arrow.FixedWidthTypes.Duration_ms},
	"lists":      {arrow.ListOf(arrow.PrimitiveTypes.Int64), arrow.ListOf(arrow.BinaryTypes.String)},
}

// wordsOf are words that stand for others.
var wordsOf = map[string][]string{
	"numbers": {"integers", "floats"}, "times": {"dates", "timestamps", "clocks", "durations"},
	"any": {"integers", "floats", "decimals", "bools", "strings", "binaries", "dates", "timestamps", "clocks", "durations", "lists"},
}

// results are the types by the first words of the column of results.
var results = map[string]arrow.DataType{
	"bool": arrow.FixedWidthTypes.Boolean, "int64": arrow.PrimitiveTypes.Int64, "float64": arrow.PrimitiveTypes.Float64, "utf8": arrow.BinaryTypes.String,
	"binary": arrow.BinaryTypes.Binary, "uint64": arrow.PrimitiveTypes.Uint64, "uint32": arrow.PrimitiveTypes.Uint32,
}

// givenArguments are arguments of methods that others do not fit.
var givenArguments = map[string][]any{
	"Truncate": {"day"}, "FloorTo": {2, "day"}, "CeilTo": {2, "day"}, "RoundTo": {2, "day"}, "LocalTime": {"UTC"}, "InstantIn": {"UTC"},
	"FormatTime": {"%Y"}, "ParseTime": {"%Y", arrow.FixedWidthTypes.Date32}, "FormatDuration": {"go"}, "ParseDuration": {"go", arrow.FixedWidthTypes.Duration_s},
	"AddDays": {1}, "AddMonths": {1}, "AddYears": {1}, "AddBusinessDays": {1}, "HasPrefix": {"a"}, "HasSuffix": {"a"}, "Contains": {"a"}, "Find": {"a"}, "CountOf": {"a"},
	"TrimPrefix": {"a"}, "TrimSuffix": {"a"}, "ExtractRegex": {"a", 0}, "In": {gpuframe.Col("y")}, "Cut": {gpuframe.Col("y")}, "CutLeft": {gpuframe.Col("y")},
}

// callOf returns a documented function of the columns x and y, which have one type.
func callOf(t require.TestingT, name string, of arrow.DataType) gpuframe.Expr {
	return callWith(t, name, of, gpuframe.Col("x"), gpuframe.Col("y"))
}

// callWith returns a documented function of two operands of one type. A function with one operand
// leaves out the second.
func callWith(t require.TestingT, name string, of arrow.DataType, x, y gpuframe.Expr) gpuframe.Expr {
	switch name {
	case "Coalesce":
		return gpuframe.Coalesce(x, y)
	case "If":
		return gpuframe.If(x.IsNull(), x, y)
	case "CaseOf":
		return gpuframe.CaseOf(x.IsNull(), x, y.IsNull(), y, x)
	case "Least":
		return gpuframe.Least(x, y)
	case "Greatest":
		return gpuframe.Greatest(x, y)
	case "Concat":
		return gpuframe.Concat(x, y)
	case "Hash":
		return gpuframe.Hash(x, y)
	case "FormatText":
		return gpuframe.FormatText("{} {}", x, y)
	case "Printf":
		return gpuframe.Printf("%s %s", x, y)
	case "SubstringAt":
		return x.SubstringAt(1, 2)
	case "HLLSketch":
		return x.HLLSketch(12)
	case "KLLSketch":
		return x.KLLSketch(200)
	case "FrequentItemsSketch":
		return x.FrequentItemsSketch(64)
	case "QuantileWith":
		return x.QuantileWith(0.5, "lower")
	case "Normalize":
		return x.Normalize("NFD")
	case "ConcatWith":
		return gpuframe.ConcatWith(", ", x, y)
	case "RegressionSlope":
		return gpuframe.RegressionSlope(y, x)
	case "RegressionIntercept":
		return gpuframe.RegressionIntercept(y, x)
	case "RegressionR2":
		return gpuframe.RegressionR2(y, x)
	case "Correlation":
		return gpuframe.Correlation(x, y)
	case "Covariance":
		return gpuframe.Covariance(x, y)
	case "ExponentialMeanBy":
		return x.ExponentialMeanBy(gpuframe.Hash(y), 1)
	case "Session":
		if slices.Contains([]arrow.Type{arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP, arrow.TIME32, arrow.TIME64, arrow.DURATION}, of.ID()) {
			return x.Session(time.Hour)
		}
		return x.Session(1)
	}
	method := reflect.ValueOf(x).MethodByName(strings.TrimPrefix(name, "Expr."))
	require.True(t, method.IsValid(), name)
	var arguments []reflect.Value
	for _, g := range givenArguments[name] {
		arguments = append(arguments, reflect.ValueOf(g))
	}
	n := method.Type().NumIn()
	if method.Type().IsVariadic() {
		n--
	}
	for i := len(arguments); i < n; i++ {
		given := any(y)
		switch method.Type().In(i).Kind() {
		case reflect.Int:
			given = 1
		case reflect.Int32:
			given = 'a'
		case reflect.Float64:
			given = 0.5
		case reflect.String:
			given = "a"
		}
		arguments = append(arguments, reflect.ValueOf(given))
	}
	return method.Call(arguments)[0].Interface().(gpuframe.Expr)
}

// functionsOfValues are the functions of the catalog that the types of columns decide about.
func functionsOfValues() (list []*catalog.Function) {
	for _, f := range catalog.All() {
		if isOfValues(f) {
			list = append(list, f)
		}
	}
	return list
}

// isOfValues reports whether a function is of values of scalar types or of any.
func isOfValues(f *catalog.Function) bool {
	return f.Section != "Columns and literals" && f.Section != "Lists, structs, maps" && !strings.HasPrefix(f.Operands, "rows")
}

// TestFunctionTypes binds each function of the catalog with each type, and compares what is
// accepted, the type of the result, and whether it fuses with its entry.
func TestFunctionTypes(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	bound := 0
	for _, f := range functionsOfValues() {
		accepted := operandWords(t, f.Operands)
		for _, word := range wordsOf["any"] {
			for _, operandType := range typesByWord[word] {
				schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: operandType, Nullable: true}, {Name: "y", Type: operandType, Nullable: true}}, nil)
				called := callOf(t, f.Go, operandType)
				result, err := e.Records(schema).Select(called.As("z")).Schema(t.Context())
				switch {
				case accepted[word] && err != nil:
					// An entry may restrict a word behind the semicolon: "strings; utf8 only".
					assert.True(t, restricted(f.Go, operandType), "%s of %v is documented: %v", f.Go, operandType, err)
					continue
				case err != nil:
					continue
				}
				assert.True(t, accepted[word], "%s of %v has the result %v, but is not documented", f.Go, operandType, result.Field(0).Type)
				checkResult(t, f, operandType, result.Field(0).Type)
				if f.Kind == catalog.Elementwise {
					checkFuses(t, e, f, word, schema, called)
				}
				bound++
			}
		}
	}
	require.Greater(t, bound, 500)
}

// operandWords returns the words of the first operand.
func operandWords(t *testing.T, cell string) map[string]bool {
	accepted := map[string]bool{}
	first, _, _ := strings.Cut(cell, ";")
	for _, word := range strings.FieldsFunc(first, func(r rune) bool { return r == ' ' || r == ',' }) {
		switch {
		case typesByWord[word] != nil:
			accepted[word] = true
		case wordsOf[word] != nil:
			for _, w := range wordsOf[word] {
				accepted[w] = true
			}
		default:
			require.Contains(t, []string{"and", "as", "float64"}, word, cell)
		}
	}
	require.NotEmpty(t, accepted, cell)
	return accepted
}

// restricted reports types that a row excludes behind its semicolon.
func restricted(name string, of arrow.DataType) bool {
	switch name {
	case "JoinStrings":
		return of.ID() == arrow.LARGE_STRING
	case "InstantIn":
		return of.(*arrow.TimestampType).TimeZone != ""
	}
	return false
}

// checkResult compares a type with the column of results. What follows a semicolon are
// exceptions, which are not compared.
func checkResult(t *testing.T, f *catalog.Function, of, result arrow.DataType) {
	first, exceptions, _ := strings.Cut(f.Result, ";")
	want := results[first]
	if first == "the same" || first == "the common type" {
		want = of
	}
	if want != nil && !arrow.TypeEqual(want, result) {
		assert.NotEmpty(t, exceptions, "%s of %v has the result %v, documented is %s", f.Go, of, result, first)
	}
}

// checkFuses compares what an estimate reports with the column: only expressions of one kernel
// have one.
func checkFuses(t *testing.T, e *gpuframe.Engine, f *catalog.Function, word string, schema *arrow.Schema, called gpuframe.Expr) {
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for _, f := range b.Fields() {
		f.AppendNull()
	}
	record := b.NewRecord()
	defer record.Release()
	table, err := buffer.FromRecord(e.Manager(), record)
	require.NoError(t, err)
	defer func() { require.NoError(t, table.Release()) }()
	fuses := func(called gpuframe.Expr) bool {
		var estimate kernels.Estimate
		_, err := expr.Evaluate(t.Context(), table, []expr.Expr{called.Value()}, kernels.Options{Estimate: &estimate})
		require.Error(t, err)
		return !errors.Is(err, device.ErrNotSupported)
	}
	switch {
	case f.Fuses == "inside an expression":
		assert.False(t, fuses(called), "%s of %s alone", f.Go, word)
		assert.True(t, fuses(called.LengthBytes()), "%s of %s in an expression", f.Go, word)
	case strings.Contains(f.Fuses, "strings: no") && (word == "strings" || word == "binaries"), strings.HasPrefix(f.Fuses, "no"),
		strings.Contains(f.Fuses, "decimals: no") && word == "decimals":
		assert.False(t, fuses(called), "%s of %s fuses", f.Go, word)
	default:
		assert.True(t, strings.HasPrefix(f.Fuses, "yes") && fuses(called), "%s of %s: %s", f.Go, word, f.Fuses)
	}
}
