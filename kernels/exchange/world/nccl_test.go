//go:build cgo && linux && (amd64 || arm64)

package world_test

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/exchange/nccl"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/standin"
	"github.com/gpuframe/gpuframe/kernels/exchange/world"
	"github.com/gpuframe/gpuframe/memory"
)

// withStandIn runs tests of this package in a process with the stand-in for NCCL of internal/exchange/nccl.
func withStandIn(t *testing.T, tests string, settings ...string) {
	t.Helper()
	if os.Getenv(standInVariable) != "" {
		t.Skip("this process is the one that the test starts")
	}
	library := standin.Compile(t, "../../../internal/exchange/nccl/testdata/fakenccl.c", "libnccl.so.2")
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
	withStandIn(t, "TestAllToAllOfEveryType|TestOperations|TestNoColumns|TestRoundsWithinBudgets|TestLargeTables|TestTablesOfAnotherDevice|"+
		"TestCallersErrors|TestRanksThatDiffer|TestABudgetIsExceeded|TestEveryAllocationFails|TestTheContextEnds|TestAfterClose|TestCloseDuringAnOperation|"+
		"TestNullableOnOneRank|TestTheContextEndsBehindAnOperation|TestARankFailsWhileAnotherAllocates")
}

// Processes that NCCL connects are killed, each at ten steps of an exchange.
func TestAProcessIsKilledWithStandIn(t *testing.T) {
	withStandIn(t, "TestAProcessIsKilled")
}

// Ranks that cannot all use NCCL use sockets and report why. If one requests NCCL, Open fails on all.
func TestTransport(t *testing.T) {
	run := func(name, tests string, settings ...string) {
		t.Run(name, func(t *testing.T) { withStandIn(t, tests, settings...) })
	}
	run("one device is no GPU", "TestScenario", "SCENARIO=other device", "REASON=rank 1: its device hosts:1 is not a CUDA device")
	run("no library", "TestScenario", "SCENARIO=automatic", "REASON=rank 0: nccl: /nonexistent cannot be used", nccl.PathVariable+"=/nonexistent")
	run("old library", "TestScenario", "SCENARIO=automatic", "REASON=rank 0: nccl: ", "FAKE_NCCL_VERSION=2804")
	run("a rank requests sockets", "TestScenario", "SCENARIO=sockets", "REASON=rank 2: Config.Transport is Sockets")
	run("a rank is refused", "TestScenario", "SCENARIO=automatic", "REASON=rank 1: nccl: ncclCommInitRankConfig: unhandled system error (2)", "FAKE_NCCL_FAIL=call:1")
	run("a rank cannot join", "TestScenario", "SCENARIO=automatic", "REASON=rank 2: nccl: ncclCommGetAsyncError: unhandled system error (2)", "FAKE_NCCL_FAIL=join:2")
	run("a rank fails", "TestScenario", "SCENARIO=failure", "FAKE_NCCL_FAIL=move:1")
	run("an abort hangs", "TestScenario", "SCENARIO=failure", "FAKE_NCCL_FAIL=move:1,abort:1")
	run("a process without the library", "TestScenario", "SCENARIO=processes")
	driver := standin.Compile(t, "../../../device/cuda/testdata/fakecuda.c", "libcuda.so.1")
	run("fake driver", "TestScenario", "SCENARIO=driver", "GPUFRAME_LIBCUDA="+driver, "FAKE_DEVICES=2", devicetest.RequireCUDA+"=1")
	run("fake driver and one GPU", "TestScenario", "SCENARIO=one GPU", "GPUFRAME_LIBCUDA="+driver, "FAKE_DEVICES=2", devicetest.RequireCUDA+"=1")
}

// TestScenario runs in the process that TestTransport starts.
func TestScenario(t *testing.T) {
	switch os.Getenv("SCENARIO") {
	case "":
		t.Skip("run by TestTransport, in a process with a stand-in for NCCL")
	case "automatic":
		requireSockets(t, func(*world.Config) {})
	case "sockets":
		requireSockets(t, func(c *world.Config) {
			if c.Rank == 2 {
				c.Transport = world.Sockets
			}
		})
	case "other device":
		requireSockets(t, func(c *world.Config) {
			if c.Rank == 1 {
				*c = world.Config{Rank: c.Rank, Size: c.Size, Address: c.Address, Manager: c.Manager}
			}
		})
	case "failure":
		r := open(t, devicesFor(t, 3), memory.Options{}, func(c *world.Config) {
			if c.Rank == 1 { // its NCCL fails while all ranks live
				c.Patience = 100 * time.Millisecond
			}
		})
		tables := r.tables(t, types...)
		r.fail(t, 1, world.ErrTransport, func(ctx context.Context, w *world.World) (*buffer.Buffer, error) {
			return w.AllToAll(ctx, slices.Repeat(tables[w.Rank():w.Rank()+1], w.Size()))
		})
	case "processes":
		for _, got := range exchanged(t, func(do *task) {
			onHosts(do)
			if do.Automatic = true; do.Rank == 1 {
				do.Library = "/nonexistent"
			}
		}) {
			require.Contains(t, got.Transport, "pinned memory and sockets (rank 1: nccl: /nonexistent cannot be used: ")
		}
	case "driver":
		fakeGPUs(t, []string{"cuda:0", "cuda:1"}, "NCCL 2.28.0")
	case "one GPU":
		fakeGPUs(t, []string{"cuda:0", "cuda:0"}, "pinned memory and sockets (rank 1: it has the GPU of rank 0, GPU-")
	}
}

// requireSockets opens two Worlds of three ranks with changed configurations: one with automatic ranks
// uses sockets, one with a rank that requests NCCL fails.
func requireSockets(t *testing.T, change func(*world.Config)) {
	r := open(t, devicetest.Hosts(t, 3), memory.Options{}, func(c *world.Config) {
		c.Transport = world.Automatic
		change(c)
	})
	tables := r.tables(t, types...)
	for _, w := range r.worlds {
		require.Contains(t, w.Transport(), "pinned memory and sockets ("+os.Getenv("REASON"))
	}
	for _, made := range r.all(t, func(ctx context.Context, w *world.World) (*buffer.Buffer, error) {
		return w.AllToAll(ctx, slices.Repeat(tables[w.Rank():w.Rank()+1], w.Size()))
	}) {
		require.NoError(t, made.Release())
	}
	address := socketPath(t)
	for rank, err := range each(3, func(rank int) error {
		c := withTransport(world.Config{Rank: rank, Size: 3, Address: address, Manager: r.managers[rank]})
		c.Transport = world.Automatic
		change(&c)
		if rank == 0 {
			c.Transport = world.NCCL
		}
		_, err := world.Open(t.Context(), c)
		return err
	}) {
		require.ErrorIs(t, err, world.ErrTransport, "rank %d", rank)
		require.ErrorContains(t, err, os.Getenv("REASON"))
		var failure *world.RankError
		require.ErrorAs(t, err, &failure)
	}
}

// fakeGPUs moves a table between GPUs of the stand-in for the driver, which runs no kernels.
func fakeGPUs(t *testing.T, names []string, transport string) {
	var devices []*device.Device
	for _, name := range names {
		devices = append(devices, devicetest.Open(t, name))
	}
	r := open(t, devices, memory.Options{}, func(c *world.Config) {
		*c = world.Config{Rank: c.Rank, Size: c.Size, Address: c.Address, Manager: c.Manager}
	})
	require.Contains(t, r.worlds[0].Transport(), transport)
	c, err := column.FromSlice(t.Context(), r.managers[1], []int64{1, 2, 3}, column.SliceOptions{})
	require.NoError(t, err)
	table := columntest.TableOf(t, r.managers[1], -1, c)
	require.NoError(t, c.Release())
	made := r.all(t, func(ctx context.Context, w *world.World) (*buffer.Buffer, error) {
		if w.Rank() == 1 {
			return w.Copy(ctx, table, 1, 0)
		}
		return w.Copy(ctx, nil, 1, 0)
	})
	got, err := made[0].Column(0).Array(t.Context())
	require.NoError(t, err)
	require.Equal(t, "[1 2 3]", got.String())
	got.Release()
	require.NoError(t, made[0].Release())
	require.NotZero(t, r.worlds[1].Traffic().SentBytes)
}
