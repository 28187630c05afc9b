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
	// Says is a part of the message of every error: it names the operation.
	Says string
	// Requests is the number of allocations that the operation requests from the
	// resource.
	Requests int
	// Cancellable means that the operation honours its context, Waits that it does so
	// only if it has work to wait for.
	Cancellable, Waits bool
	// Mends holds the driver operations that may fail without failing this one.
	Mends []string
	// Kernels are the kernels of the device that imitates a GPU.
	Kernels map[string]launchtest.Kernel
	// Prepare makes the operands of the operation until the end of the test. No fault
	// occurs meanwhile. It returns nil if the operation cannot run on the device.
	Prepare func(t testing.TB, m *memory.Manager) Run
}

// Run runs the operation once. After a success keep, which may be nil, checks and
// releases the result; no fault occurs meanwhile. After an error Run checks the
// properties that are specific to the operation.
type Run func(ctx context.Context) (keep func(t testing.TB), err error)

// trial is an operation on a manager.
type trial struct {
	Operation
	manager *memory.Manager
	run     Run
	// operands are the figures of the operands.
	operands figures
	// lost means that staging memory may be given up: after a copy with an unknown end
	// it is not reused.
	lost bool
}

// figures are the statistics that must be equal before and after.
type figures struct {
	InUse, Blocks, External, ExternalBlocks, Leaks, DoubleReleases, Staging uint64
}

func figuresOf(m *memory.Manager) figures {
	s := m.Stats()
	return figures{s.InUse, s.Blocks, s.External, s.ExternalBlocks, s.Leaks, s.DoubleReleases, m.StagingStats().InUse}
}

// newTrial prepares an operation. It skips the test if the operation cannot run on the
// device.
func newTrial(t testing.TB, m *memory.Manager, o Operation) *trial {
	t.Helper()
	x := &trial{Operation: o, manager: m, run: o.Prepare(t, m)}
	if x.run == nil {
		t.Skipf("%s does nothing on %s", o.Name, m.Device())
	}
	x.operands = figuresOf(m)
	return x
}

// succeed runs the operation and requires that it succeeds and holds nothing.
func (x *trial) succeed(t testing.TB) {
	t.Helper()
	keep, err := x.run(t.Context())
	require.NoError(t, err)
	x.keep(t, keep)
}

// keep checks and releases the result of a success.
func (x *trial) keep(t testing.TB, keep func(t testing.TB)) {
	t.Helper()
	if keep != nil {
		keep(t)
	}
	x.requireNothing(t)
}

// requireNothing requires that only the operands are held.
func (x *trial) requireNothing(t testing.TB) {
	t.Helper()
	now := figuresOf(x.manager)
	if x.lost {
		now.Staging = x.operands.Staging
	}
	require.Equal(t, x.operands, now)
}

// requireFailure requires that an error names the operation and the cause, and that
// nothing is held.
func (x *trial) requireFailure(t testing.TB, err error, causes ...error) {
	t.Helper()
	for _, cause := range causes {
		require.ErrorIs(t, err, cause)
	}
	require.ErrorContains(t, err, x.Says)
	x.requireNothing(t)
}
