//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

type number struct{ X int64 }

func numbers(t *testing.T, n int) gpuframe.Query {
	e, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) }) // an error names memory in use
	return gpuframe.From(e, make([]number, n))
}

// TestRunIsClosed closes runs before, between and after their tables.
func TestRunIsClosed(t *testing.T) {
	q := numbers(t, 100)
	q = q.Union(q, q, q)
	for read := range 6 {
		released := false
		r := start(q, operation{Do: "batches"}, func() { released = true })
		for range read {
			if b, more := <-r.tables; more {
				require.NoError(t, b.Release())
			}
		}
		require.NoError(t, r.Close())
		require.NoError(t, r.Close())
		require.True(t, released)
	}
}

// TestRunFails checks that errors and panics are those of the run.
func TestRunFails(t *testing.T) {
	q := numbers(t, 3)
	for _, c := range []struct {
		do   operation
		q    gpuframe.Query
		kind string
	}{
		{operation{Do: "fly"}, q, "value"},
		{operation{Do: "write", Format: "xls"}, q, "value"},
		{operation{Do: "collect", BatchRows: -1}, q, "value"},
		{operation{Do: "collect"}, q.Filter(gpuframe.Col("y")), "query"},
		{operation{Do: "schema"}, q.Engine().Parquet("/nothing/here.parquet"), "file"},
	} {
		r := start(c.q, c.do, func() {})
		_, more := <-r.tables
		require.False(t, more)
		require.Equal(t, c.kind, describe(r.err).Kind, r.err)
	}
	require.Equal(t, "internal", describe(recovered(func() error { panic("no") })).Kind)
	require.Equal(t, unexplained, describe(recovered(func() error { return errors.New("no") })).Kind)
}
