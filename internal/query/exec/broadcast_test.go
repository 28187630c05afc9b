package exec_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// meeting is a record reader that returns no record before other readers were asked for one too.
type meeting struct {
	array.RecordReader
	asked  *sync.WaitGroup
	once   sync.Once
	failed error
}

// Next implements array.RecordReader.
func (m *meeting) Next() bool {
	m.once.Do(m.asked.Done)
	all := make(chan struct{})
	go func() { m.asked.Wait(); close(all) }()
	select {
	case <-all:
		return m.RecordReader.Next()
	case <-time.After(await.Limit):
		m.failed = errors.New("the other reader was not asked")
		return false
	}
}

// Err implements array.RecordReader.
func (m *meeting) Err() error { return errors.Join(m.failed, m.RecordReader.Err()) }

// TestRightSidesAreMadeAtTheSameTime joins with the rows of two readers, each of which waits for the
// other.
func TestRightSidesAreMadeAtTheSameTime(t *testing.T) {
	const devices, rows = 3, 60
	scan, _ := numbers(t, rows)
	var asked sync.WaitGroup
	asked.Add(2)
	made := scan
	for range 2 {
		b := array.NewInt32Builder(arrowmemory.DefaultAllocator)
		for i := range rows / 2 {
			b.Append(int32(2 * i))
		}
		values := b.NewArray()
		b.Release()
		schema := arrow.NewSchema([]arrow.Field{{Name: "m", Type: values.DataType()}}, nil)
		record := array.NewRecord(schema, []arrow.Array{values}, int64(values.Len()))
		values.Release()
		defer record.Release()
		records, err := array.NewRecordReader(schema, []arrow.Record{record})
		require.NoError(t, err)
		defer records.Release()
		of, err := source.RecordReader(&meeting{RecordReader: records, asked: &asked})
		require.NoError(t, err)
		right, err := plan.NewScan(of, schema, rows/2, true)
		require.NoError(t, err)
		made, err = plan.NewJoin(made, right, plan.JoinOptions{Kind: join.Semi, Keys: []plan.JoinKey{{Left: expr.Col("n"), Right: expr.Col("m")}}})
		require.NoError(t, err)
	}
	divided, err := plan.Distribute(made, plan.Devices{Count: devices, Way: "peer copies"})
	require.NoError(t, err)
	require.Contains(t, plan.Explain(divided), "all-gather among 3 devices")
	settings, _ := settingsOnSeveral(t, devices)
	require.Len(t, column(t, divided, settings), rows/2)
}
