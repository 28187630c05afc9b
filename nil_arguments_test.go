package gpuframe_test

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// callWithZeros calls a method with the zero value of each parameter; a variadic parameter gets one.
func callWithZeros(method reflect.Value) []reflect.Value {
	var arguments []reflect.Value
	for i := range method.Type().NumIn() {
		t := method.Type().In(i)
		if method.Type().IsVariadic() && i == method.Type().NumIn()-1 {
			t = t.Elem()
		}
		arguments = append(arguments, reflect.Zero(t))
	}
	return method.Call(arguments)
}

// takesContext reports whether a method does work: it takes a context, which no program leaves out.
func takesContext(t reflect.Type) bool {
	return t.NumIn() > 0 && t.In(0) == reflect.TypeFor[context.Context]()
}

// Nil arguments are refused by an error when the query is bound, or mean something: none panics.
func TestNilArguments(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	type row struct {
		X int64    `gpuframe:"x"`
		S string   `gpuframe:"s"`
		L []string `gpuframe:"l"`
	}
	rows := gpuframe.From(e, []row{{1, "a", nil}})
	bind := func(t *testing.T, query gpuframe.Query) {
		require.NotPanics(t, func() { _, _ = query.Schema(t.Context()) })
	}
	expressions := func(t *testing.T, results []reflect.Value) {
		for _, result := range results {
			if x, ok := result.Interface().(gpuframe.Expr); ok {
				bind(t, rows.Select(x.As("y")))
				bind(t, rows.GroupBy("x").Agg(x.As("y")))
				bind(t, rows.With(x.Over(gpuframe.By("s").OrderBy("x")).As("y")))
			}
		}
	}
	for _, column := range []string{"x", "s", "l", "none"} {
		value := reflect.ValueOf(gpuframe.Col(column))
		for i := range value.NumMethod() {
			t.Run(column+"/"+value.Type().Method(i).Name, func(t *testing.T) {
				require.NotPanics(t, func() { expressions(t, callWithZeros(value.Method(i))) })
			})
		}
	}
	for name, function := range map[string]any{
		"MapOf": gpuframe.MapOf, "Correlation": gpuframe.Correlation, "Covariance": gpuframe.Covariance,
		"RegressionSlope": gpuframe.RegressionSlope, "RegressionIntercept": gpuframe.RegressionIntercept, "RegressionR2": gpuframe.RegressionR2,
		"Hash": gpuframe.Hash, "Coalesce": gpuframe.Coalesce, "If": gpuframe.If, "CaseOf": gpuframe.CaseOf, "Least": gpuframe.Least, "Greatest": gpuframe.Greatest,
		"Concat": gpuframe.Concat, "ConcatWith": gpuframe.ConcatWith, "FormatText": gpuframe.FormatText, "Printf": gpuframe.Printf, "ListZip": gpuframe.ListZip,
		"ConcatList": gpuframe.ConcatList, "ConcatListSkipNulls": gpuframe.ConcatListSkipNulls, "Struct": gpuframe.Struct, "Lit": gpuframe.Lit, "LitOf": gpuframe.LitOf,
		"On": gpuframe.On, "Count": gpuframe.Count,
	} {
		t.Run(name, func(t *testing.T) {
			require.NotPanics(t, func() { expressions(t, callWithZeros(reflect.ValueOf(function))) })
		})
	}
	grouped := rows.GroupBy("s")
	for name, value := range map[string]reflect.Value{"query": reflect.ValueOf(rows), "grouped": reflect.ValueOf(grouped), "resampled": reflect.ValueOf(rows.Resample("x", 1))} {
		for i := range value.NumMethod() {
			if takesContext(value.Method(i).Type()) || slices.Contains([]string{"ExplainPlan", "SameShape"}, value.Type().Method(i).Name) {
				continue // the latter are of export_test.go
			}
			t.Run(name+"/"+value.Type().Method(i).Name, func(t *testing.T) {
				require.NotPanics(t, func() {
					for _, result := range callWithZeros(value.Method(i)) {
						if query, ok := result.Interface().(gpuframe.Query); ok {
							bind(t, query)
						}
					}
				})
			})
		}
	}
}
