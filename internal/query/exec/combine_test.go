package exec_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/exec"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/memory"
)

// TestCombineWhatFits groups batches with partial results that do not fit into the budget together and
// cannot be divided, because their groups have an order: those that fit are combined. On a device with
// kernels a partial result has room for all rows of its batch.
func TestCombineWhatFits(t *testing.T) {
	const batches, batchRows = 64, 256
	for name, c := range map[string]struct {
		groups int32
		budget uint64
	}{
		"few groups with room for more": {groups: 3, budget: 40_000},
		"as many groups as rows":        {groups: batchRows, budget: 60_000},
	} {
		t.Run(name, func(t *testing.T) {
			devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
				m := devicetest.Manager(t, dev, memory.Options{Budget: c.budget})
				spilling := &exec.Spilling{Manager: m}
				defer func() { require.NoError(t, spilling.Close()) }()
				node, err := plan.NewAggregate(remainders(t, batches, batchRows, c.groups), []expr.Expr{expr.Col("n")}, nil, plan.GroupOptions{Order: group.FirstAppearance})
				require.NoError(t, err)
				var want []int32
				for i := range c.groups {
					want = append(want, i)
				}
				require.Equal(t, want, column(t, node, exec.Settings{Manager: m, BatchRows: batchRows, Spilling: spilling}))
			})
		})
	}
}

// remainders is a scan of batches. Row i of each has the remainder of i and a number.
func remainders(t *testing.T, batches, rows int, divisor int32) plan.Node {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int32}}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	var records []arrow.Record
	for range batches {
		for i := range rows {
			b.Field(0).(*array.Int32Builder).Append(int32(i) % divisor)
		}
		records = append(records, b.NewRecord())
		t.Cleanup(records[len(records)-1].Release)
	}
	of, err := source.Records(schema, records...)
	require.NoError(t, err)
	scan, err := plan.NewScan(of, schema, int64(batches*rows), true)
	require.NoError(t, err)
	return scan
}
