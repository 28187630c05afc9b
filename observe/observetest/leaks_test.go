package observetest_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/observe/observetest"
)

// recorder is a test that records its errors.
type recorder struct {
	testing.TB
	cleanups []func()
	errors   []string
}

func (r *recorder) Helper()           {}
func (r *recorder) Cleanup(f func())  { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Error(args ...any) { r.errors = append(r.errors, fmt.Sprint(args...)) }

func (r *recorder) end() {
	for _, f := range r.cleanups {
		f()
	}
}

func forgetful(t *testing.T, m *memory.Manager, tag string) *memory.Block {
	block, err := m.Allocate(4000, memory.AllocateOptions{Tag: tag})
	require.NoError(t, err)
	return block
}

func TestNoLeaksNamesTagAndStack(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	before := forgetful(t, mgr, "before")
	r := &recorder{TB: t}
	observetest.NoLeaks(r, mgr)
	child, err := mgr.Child("tenant", 0)
	require.NoError(t, err)
	released := forgetful(t, mgr, "released")
	first, second := forgetful(t, mgr, "first"), forgetful(t, child, "second")
	require.NoError(t, released.Release())
	r.end()
	require.Len(t, r.errors, 2)
	for i, want := range []string{
		"observetest: block of 3.9 KiB, tag \"first\", is still held, allocated at\n",
		"observetest: block of 3.9 KiB, tag \"second\", manager \"tenant\", is still held, allocated at\n",
	} {
		assert.Contains(t, r.errors[i], want+"\tgithub.com/gpuframe/gpuframe/observe/observetest_test.forgetful\n")
		assert.Contains(t, r.errors[i], "leaks_test.go:")
	}
	for _, block := range []*memory.Block{before, first, second} {
		require.NoError(t, block.Release())
	}
	require.NoError(t, child.Close())
}

func TestNoLeaksFindsCollectedBlocks(t *testing.T) {
	found := make(chan memory.Leak, 1)
	mgr, err := memory.NewManager(devicetest.Open(t, "host"), memory.Options{
		TrackAllocations: true, OnLeak: func(l memory.Leak) { found <- l },
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, mgr.Close()) })
	r := &recorder{TB: t}
	observetest.NoLeaks(r, mgr)
	forgetful(t, mgr, "lost")
	await.Collected(t, func() bool { return len(found) > 0 }, "the leak was found")
	r.end()
	require.Len(t, r.errors, 1)
	assert.Contains(t, r.errors[0], `tag "lost", was collected without being released, allocated at`)
}

func TestNoLeaksAcceptsReleasedBlocks(t *testing.T) {
	mgr := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	observetest.NoLeaks(t, mgr)
	require.NoError(t, forgetful(t, mgr, "x").Release())
}
