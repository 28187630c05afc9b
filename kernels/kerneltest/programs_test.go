package kerneltest

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device/backend"
)

const emptyKernel = ".visible .entry k() { ret; }"

func (b *bench) program(function backend.Function) *program { return b.e.functions[function].program }

// TestDevicesShareCode checks that a text is compiled once, unless its addresses differ.
func TestDevicesShareCode(t *testing.T) {
	withMemory := ".global .u32 counter = 1;\n" + emptyKernel
	for _, test := range []struct {
		name, text string
		shared     bool
	}{{"kernels", emptyKernel, true}, {"kernels with memory", withMemory, false}} {
		t.Run(test.name, func(t *testing.T) {
			a, b := open(t, Options{}), open(t, Options{})
			first, err := a.load(test.text)
			require.NoError(t, err)
			second, err := b.load(test.text)
			require.NoError(t, err)
			require.Equal(t, test.shared, a.program(first) == b.program(second))
		})
	}
}

// TestNothingOutlivesATest checks that the registry's devices hold nothing after their test.
func TestNothingOutlivesATest(t *testing.T) {
	var device *shared
	t.Run("test", func(t *testing.T) {
		b := open(t, Options{})
		device = b.e.shared
		k, err := b.load(emptyKernel)
		require.NoError(t, err)
		require.NoError(t, b.e.Launch(k, backend.LaunchConfig{}, nil, nil))
		require.NotEmpty(t, device.functions)
	})
	require.Empty(t, device.modules)
	require.Empty(t, device.functions)
	require.Empty(t, device.captures.graphs)
}

func TestSpareBlocksAreBounded(t *testing.T) {
	program := &program{rows: 100, predicateRows: 10, localBytes: 16}
	var blocks []*block
	for range 10 {
		b := &block{}
		b.fit(&launch{program: program, dynamicShared: 1000, races: true}, 2)
		blocks = append(blocks, b)
	}
	each := blocks[0].bytes()
	require.Greater(t, each, 2*100*8*lanes)
	pool := blockPool{most: 3*each + 1}
	pool.put(blocks)
	require.Equal(t, 3*each, pool.bytes)
	require.Len(t, pool.take(2), 2)
	require.Len(t, pool.take(2), 1)
	require.Zero(t, pool.bytes)
	require.Empty(t, pool.take(1))
	require.Nil(t, blocks[0].launch, "a spare block keeps no launch alive")
}

func TestCacheOfImagesIsBounded(t *testing.T) {
	cache := imageCache{most: 1000}
	text := func(n int) string { return fmt.Sprintf("%s// %d\n%s", header, n, emptyKernel) }
	first, err := cache.read(text(0))
	require.NoError(t, err)
	again, err := cache.read(text(0))
	require.NoError(t, err)
	require.Same(t, first, again)
	for n := range 100 {
		_, err := cache.read(text(n))
		require.NoError(t, err)
		require.LessOrEqual(t, cache.bytes, 1000)
		require.LessOrEqual(t, len(cache.texts), 1000/len(text(0)))
	}
	_, err = cache.read("no PTX")
	require.ErrorIs(t, err, backend.ErrInvalidCode)
}
