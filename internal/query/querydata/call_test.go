package querydata

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/expr/catalog"
)

// TestCall calls each function of values of a row and each aggregate, and refuses operands and members that are missing or too many.
func TestCall(t *testing.T) {
	values := map[catalog.Type]any{
		catalog.Text: "a", catalog.Character: "b", catalog.Whole: json.Number("2"), catalog.Float: json.Number("0.5"), catalog.Texts: []any{"c"}, catalog.Numbers: []any{json.Number("0.5")},
		catalog.Unit: "day", catalog.Zone: "UTC", catalog.Literal: map[string]any{"function": "literal", "value": json.Number("1")}, catalog.Dates: []any{}, catalog.DataType: "date32",
	}
	for _, f := range catalog.All() {
		if f.Kind != catalog.Elementwise && f.Kind != catalog.Aggregated {
			continue
		}
		least, _ := f.OperandCounts()
		operands, members := make([]gpuframe.Expr, least), map[string]any{}
		for i := range operands {
			operands[i] = gpuframe.Col("x")
		}
		for _, p := range f.Parameters {
			if !p.Type.IsOperand() {
				members[p.Name] = values[p.Type]
			}
		}
		e, err := Call(f.Name, operands, members)
		require.NoError(t, err, f.Name)
		require.NotEmpty(t, e.String(), f.Name)
		members["nothing"] = true
		_, err = Call(f.Name, operands, members)
		require.ErrorIs(t, err, ErrDocument, f.Name)
		if least > 0 {
			_, err = Call(f.Name, operands[1:], members)
			require.ErrorIs(t, err, ErrDocument, f.Name)
		}
	}
	_, err := Call("nothing", nil, nil)
	require.ErrorIs(t, err, ErrDocument)
}
