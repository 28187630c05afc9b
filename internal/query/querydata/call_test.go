package querydata

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/expr/catalog"
)

// TestCall calls each function of expressions alone, and refuses others.
func TestCall(t *testing.T) {
	names := PlainFunctions()
	require.Contains(t, names, "is_alpha")
	for _, name := range names {
		least, _ := catalog.OfDocument(name).OperandCounts()
		arguments := make([]gpuframe.Expr, least)
		for i := range arguments {
			arguments[i] = gpuframe.Col("x")
		}
		e, err := Call(name, arguments...)
		require.NoError(t, err, name)
		require.NotEmpty(t, e.String(), name)
		if least > 0 {
			_, err = Call(name, arguments[1:]...)
			require.ErrorIs(t, err, ErrDocument, name)
		}
	}
	for _, name := range []string{"sum", "round_digits", "nothing", "column"} {
		require.False(t, HasPlainFunction(name))
		_, err := Call(name, gpuframe.Col("x"))
		require.ErrorIs(t, err, ErrDocument)
	}
}
