package function_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/function"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// TestRegistry finds every function complete and its name unique.
func TestRegistry(t *testing.T) {
	require.Positive(t, function.Count())
	names := map[string]bool{}
	for i := range function.Count() {
		f := function.At(i)
		assert.NotEmpty(t, f.Name)
		assert.False(t, names[f.Name], f.Name)
		names[f.Name] = true
		require.NotNil(t, f.Host, f.Name)
		b := ptx.New("x")
		assert.NotEqual(t, ptx.Register("%operand"), f.Write(b, "%operand"), f.Name)
		assert.NotEmpty(t, b.Code(), f.Name)
	}
	assert.Nil(t, function.At(function.Count()))
	assert.Nil(t, function.At(-1))
}
