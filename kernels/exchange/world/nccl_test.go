//go:build cgo && linux && (amd64 || arm64)

package world_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/nccl"
	"github.com/gpuframe/gpuframe/internal/testing/standin"
)

// withStandIn runs tests of this package in a process whose NCCL is the stand-in of internal/nccl.
func withStandIn(t *testing.T, tests string, settings ...string) {
	t.Helper()
	if os.Getenv(standInVariable) != "" {
		t.Skip("this process is the one that the test starts")
	}
	library := standin.Compile(t, "../../../internal/nccl/testdata/fakenccl.c", "libnccl.so.2")
	folder, err := os.MkdirTemp("", "n") // sockets have short paths
	require.NoError(t, err)
	defer func() { require.NoError(t, os.RemoveAll(folder)) }()
	arguments := []string{"-test.run=^(" + tests + ")$", "-test.v"}
	if testing.Short() {
		arguments = append(arguments, "-test.short")
	}
	command := exec.CommandContext(t.Context(), os.Args[0], arguments...)
	command.Env = append(os.Environ(), standInVariable+"=1", nccl.PathVariable+"="+library, "FAKE_NCCL_FOLDER="+folder)
	command.Env = append(command.Env, settings...)
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: Test")
}

// The tests of operations and failures, with blocks that NCCL moves.
func TestWithStandIn(t *testing.T) {
	withStandIn(t, "TestAllToAllOfEveryType|TestOperations|TestNoColumns|TestRoundsWithinBudgets|"+
		"TestCallersErrors|TestRanksThatDiffer|TestABudgetIsExceeded|TestEveryAllocationFails|TestTheContextEnds|TestAfterClose")
}

// Processes that NCCL connects are killed, each at ten steps of an exchange.
func TestAProcessIsKilledWithStandIn(t *testing.T) {
	withStandIn(t, "TestAProcessIsKilled")
}
