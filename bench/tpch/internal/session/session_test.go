package session

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/bench/internal/answer"
	"github.com/gpuframe/gpuframe/bench/tpch/data"
	"github.com/gpuframe/gpuframe/bench/tpch/queries"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

func open(t *testing.T, scale float64, options Options) *Session {
	g, err := data.New(scale, DefaultSeed)
	require.NoError(t, err)
	s, err := Open(t.Context(), g, options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// TestAnswers compares the answers with those of DuckDB, which bench/tpch/duckdb wrote.
func TestAnswers(t *testing.T) {
	folder := t.TempDir()
	g, err := data.New(0.01, DefaultSeed)
	require.NoError(t, err)
	require.NoError(t, g.WriteParquet(t.Context(), folder))
	devicetest.Hosts(t, 3)
	for name, options := range map[string]Options{
		"three devices":  {Device: "hosts:0,hosts:1,hosts:2", DivideFrom: 1},
		"their tables":   {Device: "hosts:0,hosts:1,hosts:2", Spread: true, TableRows: 10_000},
		"one table":      {Device: "host"},
		"several tables": {Device: "host", TableRows: 10_000},
		"Parquet":        {Device: "host", Folder: folder},
		"host memory":    {Device: "host", Host: true},
		"plain":          {Device: "host", Host: true, Plain: true},
	} {
		s := open(t, 0.01, options)
		for _, q := range queries.All {
			if testing.Short() && name != "one table" && name != "their tables" && q.Number%4 != 1 && (name != "three devices" || q.Number%2 == 0) {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", name, q.Number), func(t *testing.T) {
				text, err := os.ReadFile(filepath.Join("..", "..", "queries", "testdata", fmt.Sprintf("answer%02d.txt", q.Number)))
				require.NoError(t, err)
				want := answer.Parse(string(text))
				require.NotEmpty(t, want.Rows)
				require.NotContains(t, want.Rows[0], answer.Null)
				got, err := s.Answer(t.Context(), q)
				require.NoError(t, err)
				require.Empty(t, got.Difference(want, q.Order))
			})
		}
	}
}

// TestKernels compares some answers of each GPU, or of the emulator, with those of the host.
func TestKernels(t *testing.T) {
	chosen, scale := []int{1, 4, 6, 12, 14, 15}, 0.001
	if testing.Short() {
		chosen = []int{6, 12}
	}
	want := map[int]answer.Answer{}
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		s := open(t, scale, Options{Device: dev.Name()})
		for _, number := range chosen {
			q := queries.All[number-1]
			got, err := s.Answer(t.Context(), q)
			require.NoError(t, err, "query %d", number)
			require.NotEmpty(t, got.Rows)
			if dev.Name() == "host" {
				want[number] = got
				continue
			}
			require.Empty(t, got.Difference(want[number], q.Order), "query %d", number)
		}
	})
}

func TestMeasure(t *testing.T) {
	s := open(t, 0.001, Options{Device: "host"})
	require.Contains(t, s.String(), "host")
	m, err := s.Measure(t.Context(), queries.All[5], 1)
	require.NoError(t, err)
	require.EqualValues(t, 1, m.Rows)
	require.Positive(t, m.Best)
	require.Positive(t, m.Peak)
}

func TestBudget(t *testing.T) {
	s := open(t, 0.001, Options{Device: "host", Budget: 1 << 10})
	_, err := s.Measure(t.Context(), queries.All[0], 1)
	require.ErrorIs(t, err, memory.ErrBudget)
}

func TestFlags(t *testing.T) {
	var f Flags
	set := flag.NewFlagSet("test", flag.ContinueOnError)
	f.Register(set)
	folder := t.TempDir()
	require.NoError(t, set.Parse([]string{"-sf", "0.001", "-queries", "6,14", "-budget", "5", "-folder", folder}))
	chosen := f.Chosen()
	require.Equal(t, []int{6, 14}, []int{chosen[0].Number, chosen[1].Number})
	require.Equal(t, Options{Budget: 5, TableRows: DefaultTableRows}, f.Options(folder))
	for range 2 { // the second time finds the files
		g, at, remove, err := f.Files(t.Context())
		require.NoError(t, err)
		require.Equal(t, folder, at)
		require.Equal(t, 0.001, g.Scale())
		require.NoError(t, remove())
		require.FileExists(t, filepath.Join(folder, "lineitem-000.parquet"))
	}
	f.folder, f.Scale = "", 0.0001
	_, at, remove, err := f.Files(t.Context())
	require.NoError(t, err)
	require.NoError(t, remove())
	require.NoDirExists(t, at)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, _, err = f.Files(cancelled)
	require.ErrorIs(t, err, context.Canceled)
}

func TestSQL(t *testing.T) {
	for i, q := range queries.All {
		require.Equal(t, i+1, q.Number)
		text, err := q.SQL(0.01)
		require.NoError(t, err)
		require.Contains(t, text, "select")
		require.NotContains(t, text, "$")
	}
}
