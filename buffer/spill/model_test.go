package spill_test

import (
	"context"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// model is the specification of a spiller: a request succeeds if its size and the
// size of the held memory together fit the budget, regardless of other tables.
type model struct {
	manager *memory.Manager
	spiller *spill.Spiller
	stream  *device.Stream
	budget  uint64
	tables  []*modelTable
	blocks  []*memory.Block
}

type modelTable struct {
	*spill.Table
	record arrow.Record
	held   []*buffer.Buffer
}

const modelTables = 6

// unmovable returns the held bytes, without one table.
func (m *model) unmovable(but *modelTable) (bytes uint64) {
	for _, table := range m.tables {
		if table != but && len(table.held) > 0 {
			bytes += table.Bytes()
		}
	}
	for _, block := range m.blocks {
		bytes += block.Bytes()
	}
	return bytes
}

func (m *model) expect(t *rapid.T, bytes uint64, but *modelTable, err error) bool {
	if m.unmovable(but)+bytes <= m.budget {
		require.NoError(t, err)
		return true
	}
	require.ErrorIs(t, err, memory.ErrBudget)
	return false
}

func (m *model) table(t *rapid.T) *modelTable {
	if len(m.tables) == 0 {
		t.Skip("the model has no table")
	}
	return rapid.SampledFrom(m.tables).Draw(t, "table")
}

func (m *model) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"add": func(t *rapid.T) {
			if len(m.tables) == modelTables {
				t.Skip("enough")
			}
			rows := rapid.IntRange(0, tableRows).Draw(t, "rows")
			record := numbers(rows, rapid.Int64().Draw(t, "first"))
			loaded, err := buffer.FromRecord(m.manager, record)
			if !m.expect(t, uint64(8*rows+63)/64*64, nil, err) {
				return
			}
			added, err := m.spiller.Add(loaded)
			require.NoError(t, err)
			m.tables = append(m.tables, &modelTable{Table: added, record: record})
		},
		"acquire": func(t *rapid.T) {
			table := m.table(t)
			acquire := table.Acquire
			if rapid.Bool().Draw(t, "on a stream") {
				acquire = func(ctx context.Context) (*buffer.Buffer, error) { return table.AcquireOn(ctx, m.stream) }
			}
			held, err := acquire(context.Background())
			if m.expect(t, table.Bytes(), table, err) {
				require.False(t, table.Spilled())
				table.held = append(table.held, held)
			}
		},
		"let go": func(t *rapid.T) {
			table := m.table(t)
			if len(table.held) == 0 {
				t.Skip("the table is not held")
			}
			i := rapid.IntRange(0, len(table.held)-1).Draw(t, "holder")
			got, err := table.held[i].Record(context.Background())
			require.NoError(t, err)
			requireSame(t, table.record, got)
			require.NoError(t, table.held[i].Release())
			table.held = append(table.held[:i:i], table.held[i+1:]...)
		},
		"read": func(t *rapid.T) {
			table := m.table(t)
			got, err := table.Record(context.Background())
			require.NoError(t, err)
			requireSame(t, table.record, got)
		},
		"allocate": func(t *rapid.T) {
			bytes := rapid.Uint64Range(1, 2*tableBytes).Draw(t, "bytes")
			block, err := m.manager.Allocate(bytes, memory.AllocateOptions{})
			if m.expect(t, bytes, nil, err) {
				m.blocks = append(m.blocks, block)
			}
		},
		"free": func(t *rapid.T) {
			if len(m.blocks) == 0 {
				t.Skip("the model has no block")
			}
			require.NoError(t, m.blocks[0].Release())
			m.blocks = m.blocks[1:]
		},
		"reclaim": func(t *rapid.T) {
			var movable uint64
			for _, table := range m.tables {
				if len(table.held) == 0 && !table.Spilled() {
					movable += table.Bytes()
				}
			}
			bytes := rapid.Uint64Range(0, 4*tableBytes).Draw(t, "bytes")
			released, err := m.spiller.Reclaim(context.Background(), bytes)
			require.NoError(t, err)
			require.GreaterOrEqual(t, released, min(bytes, movable))
			require.LessOrEqual(t, released, movable)
		},
		"release": func(t *rapid.T) {
			table := m.table(t)
			if len(table.held) > 0 {
				t.Skip("the table is held")
			}
			require.NoError(t, table.Release())
			for i := range m.tables {
				if m.tables[i] == table {
					m.tables = append(m.tables[:i:i], m.tables[i+1:]...)
					break
				}
			}
		},
		"": m.check,
	}
}

func (m *model) check(t *rapid.T) {
	var onHost, onDevice uint64
	count := 0
	for _, table := range m.tables {
		if table.Spilled() {
			require.Empty(t, table.held)
			onHost += table.Bytes()
			count++
		} else {
			onDevice += table.Bytes()
		}
	}
	for _, block := range m.blocks {
		onDevice += block.Bytes()
	}
	require.Equal(t, onDevice, m.manager.Stats().InUse)
	require.LessOrEqual(t, onDevice, m.budget)
	stats := m.spiller.Stats()
	require.GreaterOrEqual(t, stats.HostBytes+stats.FileBytes, onHost, "plus the copies that return")
	require.Equal(t, count, stats.Spilled)
	require.Equal(t, len(m.tables), stats.Tables)
}

func (m *model) end(t *rapid.T) {
	for _, table := range m.tables {
		for _, held := range table.held {
			require.NoError(t, held.Release())
		}
		require.NoError(t, table.Release())
	}
	for _, block := range m.blocks {
		require.NoError(t, block.Release())
	}
	require.Zero(t, m.manager.Stats().Blocks)
	require.NoError(t, m.spiller.Close())
}

func TestModel(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		const budget = 4 * tableBytes
		mgr := devicetest.Manager(t, dev, memory.Options{Budget: budget})
		stream, err := dev.NewStream()
		require.NoError(t, err)
		files := toFiles(t)
		property.Check(t, func(t *rapid.T) {
			options := rapid.SampledFrom([]spill.Options{{}, files, {HostBudget: 2 * tableBytes, Directory: files.Directory}}).Draw(t, "options")
			s, err := spill.NewSpiller(mgr, options)
			require.NoError(t, err)
			m := &model{manager: mgr, spiller: s, stream: stream, budget: budget}
			defer m.end(t)
			t.Repeat(m.actions())
		})
		require.NoError(t, stream.Close())
	})
}
