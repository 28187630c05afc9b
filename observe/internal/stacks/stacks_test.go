package stacks

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/base/callstack"
)

func TestIsHidden(t *testing.T) {
	for function, want := range map[string]bool{
		module + "memory.(*Manager).Allocate":           true,
		module + "memory/caching.(*Resource).Allocate":  true,
		module + "observe/observetest.(*leaks).sampled": true,
		module + "memory_test.TestX":                    false,
		module + "observe/observetest_test.TestX.func1": false,
		module + "memorial.X":                           false,
		module + "buffer.FromRecord":                    false,
		"github.com/gpuframe/gpuframe.Query.Collect":    false,
		"example.com/memory.Allocate":                   false,
		"main.main":                                     false,
		module + "memory.NewSlice[go.shape.int64]":      true,
		module + "internal/testing/devicetest.Manager":  false,
	} {
		assert.Equal(t, want, isHidden(function), function)
	}
}

func TestIsCaller(t *testing.T) {
	for function, want := range map[string]bool{
		"main.main":                                     true,
		"example.com/service.(*Report).load":            true,
		"net/http.HandlerFunc.ServeHTTP":                true,
		"github.com/gpuframe/gpuframe.Query.Collect":    false,
		"github.com/gpuframe/gpuframer/report.Run":      true,
		module + "buffer.FromRecord":                    false,
		module + "observe_test.loadPrices":              true,
		module + "kernels/group.By[go.shape.string]":    false,
		"github.com/gpuframe/gpuframe_test.TestX.func1": true,
		"runtime.goexit":                                false,
	} {
		assert.Equal(t, want, IsCaller(function), function)
	}
}

func TestFrames(t *testing.T) {
	assert.Empty(t, Frames(nil))
	// The frame of this test belongs to the package itself, so it is hidden.
	frames := Frames(callstack.Capture(0, Deepest))
	require.NotEmpty(t, frames)
	assert.Equal(t, "testing.tRunner", frames[0].Function)
	assert.False(t, strings.Contains(Text(frames, ""), "runtime.goexit"))
	only := Frames(callstack.Capture(0, 1))
	require.Len(t, only, 1, "a stack of hidden frames is shown")
	assert.Contains(t, Text(only, "\t"), "\tgithub.com/gpuframe/gpuframe/observe/internal/stacks.TestFrames\n")
}
