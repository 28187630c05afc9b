//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/memory"
)

// assertOnlyOwn checks that no array holds the table's memory.
func assertOnlyOwn(t testing.TB, table *buffer.Buffer) {
	var seen []*memory.Block
	for i := range table.NumColumns() {
		for block := range table.Column(i).Blocks {
			seen = distinct(seen, block)
		}
	}
	for _, block := range seen {
		assert.False(t, block.Exported())
	}
}

// exporting exports a table and releases the array.
func exporting(name string, requests int, record func() arrow.Record, strip bool) faulttest.Operation {
	return faulttest.Operation{
		Name: name, Says: "arrowdev: ", Requests: requests, Waits: true,
		Mends: []string{"StreamWaitEvent"}, // the release waits for the work that it cannot order
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			if strip && m.Device().Kind() == device.Host {
				return nil // the offset is in the structs there
			}
			table := upload(t, m, record())
			if strip {
				table = withoutOffsets(t, table)
			}
			t.Cleanup(func() { require.NoError(t, table.Release()) })
			return func(ctx context.Context) (func(testing.TB), error) {
				a, err := Export(table, ExportOptions{Context: ctx})
				if err == nil {
					err = a.Release()
				}
				assertOnlyOwn(t, table)
				return nil, err
			}
		},
	}
}

// withoutOffsets makes a table of a string column that lacks its one offset.
func withoutOffsets(t testing.TB, table *buffer.Buffer) *buffer.Buffer {
	data := table.Column(0).Data()
	none, err := data.Buffers[1].Slice(0, 0)
	require.NoError(t, err)
	data.Buffers = []column.Bytes{data.Buffers[0], none, data.Buffers[2]}
	c, err := column.New(data)
	require.NoError(t, err)
	bare, err := buffer.New(table.Schema(), []*column.Column{c}, buffer.Rows{})
	require.NoError(t, err)
	require.NoError(t, c.Release())
	require.NoError(t, table.Release())
	return bare
}

// importing imports another library's array. After an error the array has been
// released once; after a success it has been released when the table is released, or
// earlier if it has no memory.
func importing(name string, requests int, record func() arrow.Record, onGPU bool, early int, options ImportOptions) faulttest.Operation {
	return faulttest.Operation{
		Name: name, Says: "arrowdev: import: ", Requests: requests, Waits: true,
		Prepare: func(t testing.TB, m *memory.Manager) faulttest.Run {
			if !onGPU && m.Device().Kind() == device.CUDA {
				return nil // package checks has its own fault tests
			}
			p, a := foreignTable(t, m, record())
			t.Cleanup(func() { require.NoError(t, a.Release()) })
			p.Keep()
			if m.Device().Kind() == device.CUDA {
				ready(t, p, m.Stream())
			}
			table := upload(t, m, record())
			t.Cleanup(func() { require.NoError(t, table.Release()) })
			return func(ctx context.Context) (func(testing.TB), error) {
				before := p.RootReleases()
				in, schema := *p.Device, cabi.Schema{}
				if err := ExportSchema(table.Schema(), pointerTo(&schema)); err != nil {
					return nil, err
				}
				o := options
				o.Context = ctx
				back, err := Import(m, pointerTo(&in), pointerTo(&schema), o)
				assert.Zero(t, in.Array.Release)
				if err != nil {
					assert.Nil(t, back)
					assert.Equal(t, before+1, p.RootReleases(), "the array is consumed in every case")
					return nil, err
				}
				return func(t testing.TB) {
					require.Equal(t, before+early, p.RootReleases())
					requireRecord(t, record(), download(t, back))
					require.Equal(t, before+1, p.RootReleases())
				}, nil
			}
		},
	}
}

func numbersOnly() arrow.Record { return recordOf(int32s(1, 2, 3), int32s(4, 5, 6)) }

func operations() []faulttest.Operation {
	return []faulttest.Operation{
		exporting("Export", 0, two, false),
		exporting("Export of strings without offsets", 1, func() arrow.Record { return recordOf(texts()) }, true),
		importing("Import", 0, numbersOnly, true, 0, ImportOptions{}),
		importing("Import of strings", 0, two, false, 0, ImportOptions{}),
		importing("Import of strings that are trusted", 0, two, true, 0, ImportOptions{Unchecked: true}),
		importing("Import of no rows", 0, func() arrow.Record { return recordOf(int32s(), texts()) }, true, 1, ImportOptions{}),
	}
}

func TestEveryAllocationFails(t *testing.T) { faulttest.EachAllocation(t, operations()...) }

func TestEveryDriverCallFails(t *testing.T) { faulttest.EachCall(t, operations()...) }

func TestTheDeviceIsLostAtEveryDriverCall(t *testing.T) { faulttest.EachCallLost(t, operations()...) }

func TestTheContextEndsAtEveryDriverCall(t *testing.T) {
	faulttest.EachCallCancelled(t, operations()...)
}
