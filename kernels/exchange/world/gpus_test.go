//go:build cgo && linux && (amd64 || arm64)

package world_test

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/exchange/nccl"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/exchange/world"
	"github.com/gpuframe/gpuframe/memory"
)

// mostGPURanks is the number of GPUs that the tests use.
const mostGPURanks = 4

// requireNCCL skips the test on a machine with fewer than two GPUs or without NCCL, and returns the
// names of the GPUs.
func requireNCCL(t testing.TB, most int) []string {
	t.Helper()
	names := gpus(t, most)
	if text := os.Getenv(devicetest.RequireGPUs); text != "" {
		wanted, err := strconv.Atoi(text)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(names), min(wanted, most), "GPUs")
	}
	if len(names) < 2 {
		t.Skipf("%d GPUs, expected two or more", len(names))
	}
	version, err := nccl.Version()
	if errors.Is(err, nccl.ErrNotAvailable) && os.Getenv(nccl.PathVariable) == "" {
		t.Skipf("there is no NCCL here: %v", err)
	}
	require.NoError(t, err)
	t.Logf("NCCL %s, %d GPUs", version, len(names))
	return names
}

// The tests of operations and failures, with a rank on each of two to four GPUs and NCCL.
func TestGPUs(t *testing.T) {
	if onGPUs() {
		t.Skip("this process is the one that the test starts")
	}
	requireNCCL(t, mostGPURanks)
	for _, name := range []string{
		"TestAllToAllOfEveryType", "TestOperations", "TestNoColumns", "TestRoundsWithinBudgets", "TestLargeTables", "TestTablesOfAnotherDevice",
		"TestCallersErrors", "TestABudgetIsExceeded", "TestEveryAllocationFails", "TestTheContextEnds", "TestAfterClose", "TestCloseDuringAnOperation",
	} {
		t.Run(name, func(t *testing.T) {
			command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+name+"$", "-test.v", "-test.short")
			command.Env = append(os.Environ(), gpusVariable+"=1")
			out, err := command.CombinedOutput()
			require.NoError(t, err, string(out))
			require.Contains(t, string(out), "--- PASS: "+name)
		})
	}
}

// Ranks with automatic transport use NCCL if each has a GPU.
func TestAutomaticOnGPUs(t *testing.T) {
	var devices []*device.Device
	for _, name := range requireNCCL(t, mostGPURanks) {
		devices = append(devices, devicetest.Open(t, name))
	}
	r := open(t, devices, memory.Options{}, func(c *world.Config) { c.Transport = world.Automatic })
	for _, w := range r.worlds {
		require.Contains(t, w.Transport(), "NCCL 2.")
	}
}

// Processes, each with a GPU, exchange tables by NCCL. Then one is killed, at each step of Open and at
// each step of an exchange: the others name it and hold no memory.
func TestAProcessWithAGPUIsKilled(t *testing.T) {
	names := requireNCCL(t, mostGPURanks)
	t.Setenv(gpusVariable, "1") // which the processes inherit
	change := func(do *task) {
		if do.Size = len(names); do.Rank < do.Size {
			do.Device = names[do.Rank]
		}
	}
	whole := exchanged(t, change)
	require.Contains(t, whole[0].Transport, "NCCL 2.")
	for at := int64(1); at <= whole[0].Steps; at++ {
		killed(t, change, int(at)%len(names), at)
	}
}
