package querydata_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
	"github.com/gpuframe/gpuframe/learn"
)

// TestFunctionsOfPrograms tests calls of functions that the program gives by their numbers.
func TestFunctionsOfPrograms(t *testing.T) {
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, engine.Close()) }()
	rows := gpuframe.From(engine, []struct{ X int64 }{{3}, {4}})
	double := gpuframe.GoFunc1("double", func(_ context.Context, x, results []int64) error {
		for i := range x {
			results[i] = 2 * x[i]
		}
		return nil
	})
	options := querydata.Options{Given: []gpuframe.Query{rows}, Functions: []gpuframe.UserFunction{double}}
	document := `{"version": 1, "steps": [{"verb": "given", "inputs": [], "number": 0}, {"verb": "select", "inputs": [0],
		"expressions": [{"function": "call", "number": %d, "arguments": [{"function": "column", "name": "X"}]}]}]}`
	q, err := querydata.Decode(t.Context(), engine, fmt.Appendf(nil, document, 0), options)
	require.NoError(t, err)
	f, err := q.Collect(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Release()) }()
	values, err := gpuframe.Column[int64](t.Context(), f, "double")
	require.NoError(t, err)
	require.Equal(t, []int64{6, 8}, values)
	_, err = querydata.Decode(t.Context(), engine, fmt.Appendf(nil, document, 1), options)
	require.ErrorContains(t, err, "expected the number of a function that is given")
}

// TestPrepare tests the step of a fitted value.
func TestPrepare(t *testing.T) {
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, engine.Close()) }()
	rows := gpuframe.From(engine, []struct{ X int64 }{{3}, {5}})
	options := querydata.Options{Given: []gpuframe.Query{rows}}
	document := `{"version": 1, "steps": [{"verb": "given", "inputs": [], "number": 0}, {"verb": "prepare", "inputs": [0], "kind": %q, "fitted": %q}]}`
	q, err := querydata.Decode(t.Context(), engine, fmt.Appendf(nil, document, "scaling", `{"columns": [{"column": "X", "shift": 3, "scale": 4}]}`), options)
	require.NoError(t, err)
	f, err := q.Collect(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Release()) }()
	values, err := gpuframe.Column[float64](t.Context(), f, "X")
	require.NoError(t, err)
	require.Equal(t, []float64{0, 0.5}, values)
	for kind, fitted := range map[string]string{"magic": "{}", "bins": "[]", "labels": `{"categories": [{"column": "X"}`} {
		_, err = querydata.Decode(t.Context(), engine, fmt.Appendf(nil, document, kind, fitted), options)
		require.ErrorIs(t, err, learn.ErrOption)
	}
	mixed := `{"categories": [{"column": "X", "values": [{"integer": 3}, {"text": "a"}, {}]}], "options": {"unknown": "null"}}`
	q, err = querydata.Decode(t.Context(), engine, fmt.Appendf(nil, document, "labels", mixed), options)
	require.NoError(t, err)
	labels, err := q.Collect(t.Context())
	require.NoError(t, err)
	require.NoError(t, labels.Release())
}
