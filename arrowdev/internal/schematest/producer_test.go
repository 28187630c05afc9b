//go:build cgo && !(386 || arm || mips || mipsle)

package schematest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/schematest"
)

func TestReleasesAreCounted(t *testing.T) {
	var p schematest.Producer
	defer p.Close()
	child := p.Schema("i")
	parent := p.Schema("+l", child)
	require.Same(t, child, schematest.Child(parent, 0))
	cabi.ReleaseSchema(parent)
	require.Zero(t, parent.Release)
	require.EqualValues(t, 1, p.Released(parent))
	require.EqualValues(t, 0, p.Released(child))
	require.EqualValues(t, 1, p.ReleasedInAll())
}

func Example() {
	var p schematest.Producer
	defer p.Close()
	schema := p.Schema("+l", p.Schema("i"))
	cabi.ReleaseSchema(schema)
	fmt.Println(p.Released(schema))
	// Output: 1
}
