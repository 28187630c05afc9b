package expr_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// TestCompiledCodeIsBounded evaluates more shapes of expressions than kernels are kept.
func TestCompiledCodeIsBounded(t *testing.T) {
	gpu := &launchtest.GPU{Discard: true, Kernels: map[string]launchtest.Kernel{codegen.KernelName: {}}}
	dev := launchtest.Open(t, gpu)
	mgr := devicetest.Manager(t, dev, memory.Options{})
	values := bytesOn(t, mgr, make([]byte, 40))
	c := madeOf(t, column.Data{Type: i32, Length: 10, Buffers: []column.Bytes{{}, values}})
	table, err := buffer.New(schemaOf(i32), []*column.Column{c}, buffer.Rows{Count: 10})
	require.NoError(t, err)
	defer func() { require.NoError(t, table.Release()) }()
	for shape := range 3 * kernelset.MostKept {
		e := a
		for bit := 1; bit < 4*kernelset.MostKept; bit *= 2 {
			if shape&bit != 0 {
				e = e.Add(a)
			} else {
				e = e.Mul(a)
			}
		}
		got, err := expr.Evaluate(ctx, table, []expr.Expr{e})
		require.NoError(t, err)
		require.NoError(t, got[0].Release())
	}
	loaded := func() (count int) {
		for _, call := range gpu.Calls() {
			if strings.HasPrefix(call, "ModuleLoad") {
				count++
			} else if strings.HasPrefix(call, "ModuleUnload") {
				count--
			}
		}
		return count
	}
	await.Collected(t, func() bool {
		_, err := kernelset.Load(dev, "code", codegen.KernelName)
		require.NoError(t, err)
		return loaded() <= kernelset.MostKept+10 // with those that the last rounds load
	}, "code that is not kept is unloaded")
}
