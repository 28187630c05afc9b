package observe_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/observe"
)

// checked is the output of testdata/check_snapshot.py.
type checked struct {
	Actions [][]string
	Names   []string
}

// checkSnapshot runs testdata/check_snapshot.py. In tests that are not short, torch renders
// the snapshot, if render is set and torch is installed.
func checkSnapshot(t *testing.T, path string, render bool) (c checked) {
	arguments := []string{"testdata/check_snapshot.py", path}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 is installed: nothing here reads snapshots")
	}
	if render && !testing.Short() {
		for _, candidate := range []string{python, "/usr/bin/python3"} {
			if exec.Command(candidate, "-c", "import torch").Run() == nil {
				python, arguments = candidate, append(arguments, "torch")
				break
			}
		}
	}
	command := exec.Command(python, arguments...)
	var messages strings.Builder
	command.Stderr = &messages
	out, err := command.Output()
	require.NoError(t, err, messages.String())
	require.NoError(t, json.Unmarshal(out, &c))
	return c
}

func saveSnapshot(t *testing.T, r *observe.Recorder) string {
	path := filepath.Join(t.TempDir(), "snapshot.pickle")
	var out bytes.Buffer
	require.NoError(t, r.WriteMemorySnapshot(&out))
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
	return path
}

func TestMemorySnapshot(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Name: "service", Budget: 1 << 30})
		child, err := mgr.Child("tenant "+hostile, 0)
		require.NoError(t, err)
		defer func() { require.NoError(t, child.Close()) }()
		early := loadPrices(t, child, 1000, "early")
		defer func() { require.NoError(t, early.Release()) }()
		r, err := observe.New(observe.Options{Managers: []*memory.Manager{mgr}, SampleBytes: 1, Events: 1000})
		require.NoError(t, err)
		defer r.Close()
		kept := loadPrices(t, child, 5000, hostile)
		defer func() { require.NoError(t, kept.Release()) }()
		fail := func() {
			_, err := mgr.Allocate(2<<30, memory.AllocateOptions{Tag: "large"})
			require.ErrorIs(t, err, memory.ErrBudget)
		}
		fail() // the time of a failure is exact, that of other events only to a millisecond
		require.NoError(t, loadPrices(t, mgr, 7000, "gone").Release())
		fail()

		m := r.MemoryMap()
		require.Len(t, m.Managers, 1)
		assert.Equal(t, "service", m.Managers[0].Manager)
		require.Len(t, m.Managers[0].Events, 5)
		for i, kind := range []string{"allocated", "failed", "allocated", "released", "failed"} {
			assert.Equal(t, kind, m.Managers[0].Events[i].Kind)
		}
		assert.EqualValues(t, 1<<30-6000, m.Managers[0].Events[4].Remaining)
		released := m.Managers[0].Events[3]
		require.Positive(t, released.Stack, "events of ended blocks have stacks")
		assert.Contains(t, m.Stacks[released.Stack-1][0].Function, "loadPrices")
		byRequest := make(map[uint64]observe.Block)
		for _, s := range m.Managers[0].Segments {
			for _, b := range s.Blocks {
				if b.State == "in use" {
					byRequest[b.Requested] = b
				}
			}
		}
		require.Len(t, byRequest, 2)
		block := byRequest[5000]
		assert.Equal(t, hostile, block.Tag)
		assert.Equal(t, "tenant "+hostile, block.Tenant)
		assert.EqualValues(t, 5120, block.Bytes)
		assert.EqualValues(t, kept.Pointer(), block.Address)
		assert.Contains(t, m.Stacks[block.Stack-1][0].Function, "loadPrices")
		assert.Contains(t, byRequest, uint64(0), "of blocks before the recorder nothing is known")

		c := checkSnapshot(t, saveSnapshot(t, r), true)
		assert.Equal(t, [][]string{{"alloc", "oom", "alloc", "free_requested", "free_completed", "oom"}}, c.Actions)
		assert.Contains(t, strings.Join(c.Names, " "), "loadPrices")
	})
}

// Random blocks on two managers, with segments that are returned to the driver, so that
// events are of memory that is gone.
func TestRandomMemorySnapshots(t *testing.T) {
	dev := devicetest.Open(t, "host")
	random := rand.New(rand.NewPCG(1, 2))
	managers := []*memory.Manager{
		devicetest.Manager(t, dev, memory.Options{Name: "cached"}),
		devicetest.Manager(t, dev, memory.Options{Name: "direct", Resource: memory.NewDriverResource(dev)}),
	}
	r, err := observe.New(observe.Options{Managers: managers, SampleBytes: 1 << 20, Events: 600})
	require.NoError(t, err)
	defer r.Close()
	held := make([][]*memory.Block, len(managers))
	for i := range 2000 {
		at := random.IntN(2)
		if len(held[at]) > 0 && random.IntN(2) == 0 {
			which := random.IntN(len(held[at]))
			require.NoError(t, held[at][which].Release())
			held[at] = append(held[at][:which], held[at][which+1:]...)
		} else {
			block, err := managers[at].Allocate(uint64(random.IntN(1<<uint(5+random.IntN(18)))), memory.AllocateOptions{Tag: "random"})
			require.NoError(t, err)
			held[at] = append(held[at], block)
		}
		if i%500 == 499 {
			_, err := managers[0].Resource().(*memory.CachingResource).Trim(0)
			require.NoError(t, err)
		}
		if i%1000 == 999 {
			c := checkSnapshot(t, saveSnapshot(t, r), false)
			require.Len(t, c.Actions, 2)
		}
	}
	for _, blocks := range held {
		for _, block := range blocks {
			require.NoError(t, block.Release())
		}
	}
	checkSnapshot(t, saveSnapshot(t, r), false)
}

func TestFailuresWriteSnapshots(t *testing.T) {
	folder := t.TempDir()
	r, mgr := newRecorder(t, observe.Options{SnapshotFolder: folder, Events: 100, Logger: slog.New(slog.DiscardHandler)}, 1000)
	now := time.Unix(0, 0)
	observe.SetSnapshotClock(r, func() time.Time { return now })
	for range 3 { // at 0, 59 and 118 seconds
		_, err := mgr.Allocate(5000, memory.AllocateOptions{Tag: "large"})
		require.ErrorIs(t, err, memory.ErrBudget)
		now = now.Add(59 * time.Second)
	}
	r.Close()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	require.NoError(t, err)
	require.Len(t, files, 2, "one a minute")
	failures := r.Failures()
	assert.Equal(t, files, []string{failures[2].Snapshot, failures[0].Snapshot})
	assert.Empty(t, failures[1].Snapshot)
	for _, file := range files {
		for _, action := range checkSnapshot(t, file, false).Actions[0] {
			assert.Equal(t, "oom", action)
		}
	}

	var log bytes.Buffer
	r, mgr = newRecorder(t, observe.Options{SnapshotFolder: filepath.Join(folder, "missing"), Logger: slog.New(slog.NewTextHandler(&log, nil))}, 1000)
	_, err = mgr.Allocate(5000, memory.AllocateOptions{})
	require.ErrorIs(t, err, memory.ErrBudget)
	r.Close()
	assert.Contains(t, log.String(), "could not be written")
}

func TestMemoryMapIsServed(t *testing.T) {
	s := newService(t, "query")
	defer s.finish(t)
	loadPrices(t, s.engine.Manager(), 5000, hostile)
	handler := s.recorder.Handler(observe.HandlerOptions{Hosts: testHosts})
	reply := get(t, handler, "/v1/memory")
	require.Equal(t, http.StatusOK, reply.StatusCode)
	text, err := io.ReadAll(reply.Body)
	require.NoError(t, err)
	assert.NotContains(t, string(text), "<img")
	var m observe.MemoryMap
	require.NoError(t, json.Unmarshal(text, &m))
	assert.Equal(t, observe.MemoryMapVersion, m.Version)
	require.Len(t, m.Managers, 1)
	reply = get(t, handler, "/memory.pickle")
	require.Equal(t, http.StatusOK, reply.StatusCode)
	path := filepath.Join(t.TempDir(), "x.pickle")
	text, err = io.ReadAll(reply.Body)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, text, 0o600))
	checkSnapshot(t, path, false)
}
