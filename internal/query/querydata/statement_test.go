package querydata_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
)

// TestStatement tests what the option Statement gets, and its error.
func TestStatement(t *testing.T) {
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.Close()) })
	decimal := `{"function": "literal", "type": "decimal128(5, 2)", "value": "-1.50"}`
	text := document(`{"verb": "sql", "inputs": [0, 1], "text": "select 1", "names": ["a", "b"], "arguments": [` + lit("7") + `, ` + lit(`"x"`) + `, ` + lit("null") + `, ` + decimal + `]}`)
	options := given(engine)
	fail := errors.New("line 1, column 2: no")
	options.Statement = func(_ context.Context, text string, tables map[string]gpuframe.Query, arguments []any) (gpuframe.Query, error) {
		require.Equal(t, "select 1", text)
		require.Equal(t, map[string]gpuframe.Query{"a": options.Given[0], "b": options.Given[1]}, tables)
		require.Equal(t, []any{7, "x", nil, json.Number("-1.50")}, arguments)
		return tables["b"], fail
	}
	_, err = querydata.Decode(t.Context(), engine, []byte(text), options)
	var malformed *querydata.Error
	require.ErrorAs(t, err, &malformed)
	require.Equal(t, querydata.Error{Place: "steps[2]", Reason: fail.Error(), Owner: "sql"}, *malformed)
	fail = nil
	q, err := querydata.Decode(t.Context(), engine, []byte(text), options)
	require.NoError(t, err)
	require.Equal(t, options.Given[1], q)
	for text, want := range map[string]string{
		document(`{"verb": "sql", "inputs": [0], "text": "select 1", "names": ["a", "b"]}`): "steps[2].names: ",
		document(`{"verb": "sql", "inputs": [0], "names": ["a"]}`):                          "steps[2].text: ",
	} {
		_, err := querydata.Decode(t.Context(), engine, []byte(text), options)
		require.ErrorContains(t, err, want)
	}
	options.Statement = nil
	_, err = querydata.Decode(t.Context(), engine, []byte(text), options)
	require.ErrorContains(t, err, "not possible here")
}
