package world_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/exchange/nccl"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/kernels/exchange/world"
	"github.com/gpuframe/gpuframe/memory"
)

// processVariable is the environment variable with the task of a process that the tests start.
const processVariable = "GPUFRAME_WORLD_PROCESS"

// processes is the number of ranks on the host, each a process.
const processes = 3

// task is the work of a process, result the contents of the file that it writes.
type (
	task struct {
		Rank    int
		Size    int
		Address string
		Result  string
		// Device is the name of the device.
		Device string
		// Budget is that of the manager.
		Budget uint64
		// Library, if it is not empty, is the path of NCCL's library in this process.
		Library string
		// Automatic is set if the ranks choose the transport.
		Automatic bool
		// DieAt is the number of the step at which the process kills itself, or zero.
		DieAt int64
	}
	result struct {
		// Opened is the number of steps of Open, Steps that of Open and one exchange.
		Opened, Steps int64
		// Rounds is the number of rounds of the first exchange.
		Rounds uint64
		// Transport is the transport that the World reports.
		Transport string
		// Rows are the texts of the first column of the first exchange.
		Rows []string
		// Failed is the rank that the error names, or -1; Lost is set if the error is ErrLost.
		Failed int
		Lost   bool
		Error  string
		// Held are bytes and blocks in use after everything was released, Leaks what
		// the end of the manager reported.
		Held  uint64
		Leaks string
		// Waited is the time from the start of the failing call to its error.
		Waited time.Duration
	}
)

// TestProcess is the program of a process that the other tests start.
func TestProcess(t *testing.T) {
	text := os.Getenv(processVariable)
	if text == "" {
		t.Skip("run by the other tests, as a process")
	}
	var do task
	require.NoError(t, json.Unmarshal([]byte(text), &do))
	made := do.run(t)
	encoded, err := json.Marshal(made)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(do.Result, encoded, 0o600))
}

func (do task) run(t *testing.T) (made result) {
	dev, err := device.Open(do.Device)
	require.NoError(t, err)
	mgr, err := memory.NewManager(dev, memory.Options{Budget: do.Budget})
	require.NoError(t, err)
	var steps atomic.Int64
	config := withTransport(world.Config{Rank: do.Rank, Size: do.Size, Address: do.Address, Manager: mgr, RoundBytes: 500})
	if do.Automatic {
		config.Transport = world.Automatic
	}
	if do.Library != "" {
		t.Setenv(nccl.PathVariable, do.Library)
	}
	config = config.WithHook(func() {
		if steps.Add(1) == do.DieAt {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			if err != nil {
				os.Exit(1)
			}
			select {} // until the signal arrives
		}
	})
	begin := time.Now()
	w, err := world.Open(t.Context(), config)
	if err != nil {
		made.note(err, time.Since(begin))
		made.end(mgr, dev)
		return made
	}
	made.Opened, made.Transport = steps.Load(), w.Transport()
	t.Run("exchange", func(t *testing.T) { // which releases the parts
		parts := make([]*buffer.Buffer, do.Size)
		for to := range parts {
			parts[to], _ = part(t, mgr, do.Rank, to)
		}
		// The rank that dies does so in the first exchange. The others may have all its
		// bytes by then, but fail in the second exchange.
		for range 2 {
			begin := time.Now()
			table, err := w.AllToAll(t.Context(), parts)
			if err != nil {
				made.note(err, time.Since(begin))
				break
			}
			if made.Rows == nil {
				made.Rows, made.Steps, made.Rounds = texts(t, table), steps.Load(), w.Traffic().Rounds
			}
			require.NoError(t, table.Release())
		}
	})
	require.NoError(t, w.Close())
	made.end(mgr, dev)
	return made
}

// end records what is held, and closes the manager and its device.
func (r *result) end(mgr *memory.Manager, dev *device.Device) {
	stats := mgr.Stats()
	r.Held = stats.InUse + uint64(stats.Blocks)
	if err := errors.Join(mgr.Close(), dev.Close()); err != nil {
		r.Leaks = err.Error()
	}
}

func (r *result) note(err error, waited time.Duration) {
	r.Error, r.Failed, r.Waited = err.Error(), -1, waited
	r.Lost = errors.Is(err, world.ErrLost)
	if failure := (*world.RankError)(nil); errors.As(err, &failure) {
		r.Failed = failure.Rank
	}
}

// part is the table that a rank has for another one.
func part(t testing.TB, mgr *memory.Manager, from, to int) (*buffer.Buffer, []arrow.Array) {
	g := arraytest.NewGenerator(uint64(100*from + to))
	return columntest.DrawTable(t, mgr, g, 50+10*to, append([]arrow.DataType{arrow.BinaryTypes.String}, types...)...)
}

func texts(t testing.TB, table *buffer.Buffer) (rows []string) {
	column, err := table.Column(0).Array(t.Context())
	require.NoError(t, err)
	defer column.Release()
	for i := range column.Len() {
		rows = append(rows, column.ValueStr(i))
	}
	return rows
}

// start runs the processes until all have ended. Rank dies ends at a step.
func start(t *testing.T, change func(*task), dies int, at int64) (results []result, errs []error) {
	t.Helper()
	size := processes
	var first task
	if change(&first); first.Size != 0 {
		size = first.Size
	}
	results, errs = make([]result, size), make([]error, size)
	ctx := await.Context(t)
	folder, address := t.TempDir(), socketPath(t)
	for rank, err := range each(size, func(rank int) error {
		do := task{Rank: rank, Size: size, Address: address, Result: filepath.Join(folder, fmt.Sprint(rank))}
		change(&do)
		if rank == dies {
			do.DieAt = at
		}
		text, err := json.Marshal(do)
		if err != nil {
			return err
		}
		command := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestProcess$")
		command.Env = append(os.Environ(), processVariable+"="+string(text))
		out, err := command.CombinedOutput()
		if errs[rank] = err; rank == dies && at > 0 {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		if text, err = os.ReadFile(do.Result); err != nil {
			return err
		}
		return json.Unmarshal(text, &results[rank])
	}) {
		require.NoError(t, err, "rank %d", rank)
	}
	return results, errs
}

// Processes exchange tables. Then one of them is killed, at each step of Open and at ten points of
// an exchange: the others name it and hold no memory.
func TestAProcessIsKilled(t *testing.T) {
	whole := exchanged(t, onHosts)
	require.Contains(t, whole[0].Transport, transport().String())
	require.Greater(t, whole[0].Rounds, uint64(1))
	const points = 10
	opened, steps := whole[0].Opened, whole[0].Steps
	require.Greater(t, steps-opened, int64(points))
	for at := int64(1); at <= opened; at++ {
		killed(t, onHosts, int(at)%processes, at)
	}
	for point := range int64(points) {
		killed(t, onHosts, int(point)%processes, opened+1+point*(steps-opened-1)/(points-1))
	}
}

// onHosts gives all ranks the host as their device, and a budget with room for one column.
func onHosts(do *task) { do.Device, do.Budget = "host", 36<<10 }

// exchanged runs the processes until they have exchanged tables, and checks the results.
func exchanged(t *testing.T, change func(*task)) []result {
	whole, _ := start(t, change, 0, 0)
	mgr := openHosts(t, 1).managers[0]
	for rank, got := range whole {
		require.Empty(t, got.Error)
		require.Zero(t, got.Held)
		require.Empty(t, got.Leaks)
		var want []string
		for from := range whole {
			_, arrays := part(t, mgr, from, rank)
			for i := range arrays[0].Len() {
				want = append(want, arrays[0].ValueStr(i))
			}
		}
		require.Equal(t, want, got.Rows)
	}
	return whole
}

// killed runs the processes, of which one kills itself at a step, and checks the others.
func killed(t *testing.T, change func(*task), dies int, at int64) {
	t.Run(fmt.Sprintf("rank %d at step %d", dies, at), func(t *testing.T) {
		results, errs := start(t, change, dies, at)
		var ended *exec.ExitError
		require.ErrorAs(t, errs[dies], &ended)
		for rank, got := range results {
			if rank == dies {
				continue
			}
			t.Logf("rank %d after %v: %s", rank, got.Waited, got.Error)
			require.Equal(t, dies, got.Failed, got.Error)
			require.True(t, strings.Contains(got.Error, fmt.Sprintf("rank %d", dies)), got.Error)
			require.Zero(t, got.Held)
			require.Empty(t, got.Leaks)
		}
	})
}
