package faulttest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/launchtest"
	"github.com/gpuframe/gpuframe/memory"
)

// Operation is something to be tried.
type Operation struct {
	Name string
	// Says is in the message of every error: it names the operation.
	Says string
	// Requests is how many allocations the operation asks of the resource.
	Requests int
	// Cancellable says that the operation heeds its context, Waits that it does so
	// only where there is something to wait for.
	Cancellable, Waits bool
	// Mends are the driver's operations for whose failure this one has a remedy.
	Mends []string
	// Kernels are what the device that passes for a GPU can launch.
	Kernels map[string]launchtest.Kernel
	// Prepare makes what the operation needs, until the end of the test. Nothing
	// fails meanwhile. It returns nil where the device will not do.
	Prepare func(t testing.TB, m *memory.Manager) Run
}

// Run makes the operation once. After a success the result is checked and
// released by keep, while nothing fails; it is nil where there is none. After an
// error run checks what is peculiar to the operation.
type Run func(ctx context.Context) (keep func(t testing.TB), err error)

// trial is an operation on a manager.
type trial struct {
	Operation
	manager *memory.Manager
	run     Run
	// held are the figures of what the operation needs.
	held figures
	// lost says that staging memory may be given up: after a copy whose end cannot
	// be known it is not used again.
	lost bool
}

// figures are what has to be the same before and after.
type figures struct {
	InUse, Blocks, External, ExternalBlocks, Leaks, DoubleReleases, Staging uint64
}

func figuresOf(m *memory.Manager) figures {
	s := m.Stats()
	return figures{s.InUse, s.Blocks, s.External, s.ExternalBlocks, s.Leaks, s.DoubleReleases, m.StagingStats().InUse}
}

// newTrial prepares an operation. It skips the test where the device will not do.
func newTrial(t testing.TB, m *memory.Manager, o Operation) *trial {
	t.Helper()
	x := &trial{Operation: o, manager: m, run: o.Prepare(t, m)}
	if x.run == nil {
		t.Skipf("%s does nothing on %s", o.Name, m.Device())
	}
	x.held = figuresOf(m)
	return x
}

// succeed makes the operation and requires that it succeeds and holds nothing.
func (x *trial) succeed(t testing.TB) {
	t.Helper()
	keep, err := x.run(t.Context())
	require.NoError(t, err)
	x.keep(t, keep)
}

// keep checks and releases what came of a success.
func (x *trial) keep(t testing.TB, keep func(t testing.TB)) {
	t.Helper()
	if keep != nil {
		keep(t)
	}
	x.requireNothing(t)
}

// requireNothing requires that nothing is held but what the operation needs.
func (x *trial) requireNothing(t testing.TB) {
	t.Helper()
	now := figuresOf(x.manager)
	if x.lost {
		now.Staging = x.held.Staging
	}
	require.Equal(t, x.held, now)
}

// requireFailure requires that an error says what failed and why, and that
// nothing is held.
func (x *trial) requireFailure(t testing.TB, err error, causes ...error) {
	t.Helper()
	for _, cause := range causes {
		require.ErrorIs(t, err, cause)
	}
	require.ErrorContains(t, err, x.Says)
	x.requireNothing(t)
}
