package packed_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/buffer/spill"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/packed"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/faulttest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/memory"
)

// spiller returns a spiller that packs tables, until the end of the test.
func spiller(t testing.TB, m *memory.Manager, options spill.Options) *spill.Spiller {
	options.Packer = packed.WordPacker{}
	s, err := spill.NewSpiller(m, options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// toFiles are options with which all tables move to files.
func toFiles(t testing.TB) spill.Options { return spill.Options{HostBudget: 1, Directory: t.TempDir()} }

// recordOf returns a record of columns.
func recordOf(columns ...arrow.Array) arrow.Record {
	var fields []arrow.Field
	for i, c := range columns {
		fields = append(fields, arrow.Field{Name: fmt.Sprint(i), Type: c.DataType(), Nullable: true})
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(columns[0].Len()))
}

// requireEqual fails unless a record is another one, without NaN.
func requireEqual(t require.TestingT, want, got arrow.Record) {
	defer got.Release()
	require.True(t, array.RecordEqual(want, got))
}

// requireRows fails unless a record has the rows of another one.
func requireRows(t require.TestingT, want, got arrow.Record) {
	defer got.Release()
	for i, c := range want.Columns() {
		for row := range c.Len() {
			require.True(t, arraytest.Same(c, row, got.Column(i), row), "row %d of %v", row, c.DataType())
		}
	}
}

// requireSpilled moves a table to the host and back, and compares its rows. It returns how many bytes it had there.
func requireSpilled(t require.TestingT, s *spill.Spiller, table *spill.Table, want arrow.Record, compare func(t require.TestingT, want, got arrow.Record)) (bytes uint64) {
	_, err := s.Reclaim(tContext, 1<<60)
	require.NoError(t, err)
	require.Equal(t, table.Bytes() > 0, table.Spilled())
	bytes = s.Stats().HostBytes + s.Stats().FileBytes
	got, err := table.Record(tContext)
	require.NoError(t, err)
	compare(t, want, got)
	acquired, err := table.Acquire(tContext)
	require.NoError(t, err)
	got, err = acquired.Record(tContext)
	require.NoError(t, err)
	require.NoError(t, acquired.Release())
	compare(t, want, got)
	return bytes
}

// Random tables are the same after they were on the host.
func TestRandomSpilledTables(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := guarded(t, dev)
		spillers := []*spill.Spiller{spiller(t, m, spill.Options{}), spiller(t, m, toFiles(t))}
		property.Check(t, func(r *rapid.T) {
			s := rapid.SampledFrom(spillers).Draw(r, "spiller")
			g := arraytest.NewGenerator(rapid.Uint64().Draw(r, "seed"))
			rows := rapid.SampledFrom([]int{1, 1000, 20000}).Draw(r, "rows")
			var columns []arrow.Array
			for range rapid.IntRange(1, 4).Draw(r, "columns") {
				if dataType := rapid.SampledFrom(arraytest.AllTypes()).Draw(r, "type"); packed.Packable(dataType) {
					columns = append(columns, drawArray(t, r, g, dataType, rows))
				} else {
					columns = append(columns, g.Array(dataType, rows))
				}
			}
			want := recordOf(columns...)
			loaded, err := buffer.FromRecord(m, want)
			require.NoError(r, err)
			table, err := s.Add(loaded)
			require.NoError(r, err)
			defer func() { require.NoError(t, table.Release()) }()
			requireSpilled(r, s, table, want, requireRows)
			requireSpilled(r, s, table, want, requireRows)
		})
	})
}

// narrow returns a record with columns of few bits a row.
func narrow(rows int) arrow.Record {
	g := arraytest.NewGenerator(1)
	g.Nulls = arraytest.SomeNull
	decimal := &arrow.Decimal128Type{Precision: 15, Scale: 2}
	return recordOf(
		numbers(g, arrow.PrimitiveTypes.Int64, rows, func(i int) int64 { return int64(i/4*32 + i%4) }),
		numbers(g, decimal, rows, func(int) int64 { return 100 * g.Int64N(50) }),
		numbers(g, arrow.FixedWidthTypes.Date32, rows, func(int) int64 { return g.Int64N(2526) }),
	)
}

// Tables of narrow values take a fraction of their bytes on the host and in files.
func TestSpilledTablesAreSmaller(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		for _, options := range []spill.Options{{}, toFiles(t)} {
			s := spiller(t, m, options)
			want := narrow(packed.BlockRows + 20000)
			loaded, err := buffer.FromRecord(m, want)
			require.NoError(t, err)
			table, err := s.Add(loaded)
			require.NoError(t, err)
			bytes := requireSpilled(t, s, table, want, requireEqual)
			if dev.Kind() == device.Host {
				require.Equal(t, table.Bytes(), bytes)
			} else {
				require.Less(t, bytes, table.Bytes()/5)
			}
			require.NoError(t, table.Release())
		}
	})
}

// A packed table in a file may have several pieces, and parts that are not packed.
func TestPiecesOfFiles(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		s := spiller(t, m, toFiles(t))
		g := arraytest.NewGenerator(1)
		g.Nulls = arraytest.SomeNull
		const rows = 6 * packed.BlockRows // of 60 bits: 2.8 MiB
		decimal := &arrow.Decimal128Type{Precision: 30, Scale: 2}
		want := recordOf(numbers(g, decimal, rows, func(int) int64 { return g.Int64N(1 << 60) }), g.Array(arrow.BinaryTypes.String, rows))
		loaded, err := buffer.FromRecord(m, want)
		require.NoError(t, err)
		table, err := s.Add(loaded)
		require.NoError(t, err)
		bytes := requireSpilled(t, s, table, want, requireEqual)
		require.Equal(t, dev.Kind() == device.Host, bytes == table.Bytes())
		require.NoError(t, table.Release())
	})
}

// After any driver call that fails the table is as before, and can be moved again.
func TestEveryDriverCallOfSpillingFails(t *testing.T) {
	for _, options := range []spill.Options{{}, toFiles(t)} {
		dev, driver := faulttest.OpenEmulator(t)
		m := devicetest.Manager(t, dev, memory.Options{})
		options.Host = memory.NewPinnedResource(dev)
		s := spiller(t, m, options)
		all := narrow(4096)
		want := recordOf(all.Column(1), all.Column(2)) // the dates are too few to be packed
		eachCallFails(t, driver, m, func() error {
			loaded, err := buffer.FromRecord(m, want)
			if err != nil {
				return err
			}
			table, err := s.Add(loaded)
			require.NoError(t, err)
			if _, err = s.Reclaim(t.Context(), table.Bytes()); err == nil {
				acquired, failure := table.Acquire(t.Context())
				err = failure
				require.NoError(t, acquired.Release())
			}
			driver.Arm(nil)
			got, failure := table.Record(t.Context())
			require.NoError(t, failure)
			requireEqual(t, want, got)
			require.NoError(t, table.Release())
			return err
		})
	}
}

// Goroutines use more tables than the device has memory for: each acquisition moves others.
func TestGoroutinesSpill(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		const tables, workers, uses = 5, 3, 6
		g := arraytest.NewGenerator(1)
		g.Nulls = arraytest.SomeNull
		records, kept := make([]arrow.Record, tables), make([]*spill.Table, tables)
		m := devicetest.Manager(t, dev, memory.Options{Budget: (workers + 1) * 80 << 10})
		s := spiller(t, m, spill.Options{})
		for i := range tables {
			low := g.Int64N(1 << 40)
			records[i] = recordOf(numbers(g, arrow.PrimitiveTypes.Int64, 9000, func(int) int64 { return low + g.Int64N(1000) }))
			records[i].Column(0).NullN() // which arrow-go counts once
			loaded, err := buffer.FromRecord(m, records[i])
			require.NoError(t, err)
			kept[i], err = s.Add(loaded)
			require.NoError(t, err)
			defer func() { require.NoError(t, kept[i].Release()) }()
		}
		var running sync.WaitGroup
		failures := make([]error, workers)
		for w := range workers {
			running.Go(func() {
				for i := range uses {
					n := (w*7 + i*3) % tables
					failures[w] = errors.Join(failures[w], kept[n].Use(t.Context(), func(table *buffer.Buffer) error {
						got, err := table.Record(t.Context())
						if err != nil {
							return err
						}
						defer got.Release()
						if !array.RecordEqual(records[n], got) {
							return fmt.Errorf("table %d has other rows", n)
						}
						return nil
					}))
				}
			})
		}
		running.Wait()
		require.NoError(t, errors.Join(failures...))
		require.Positive(t, s.Stats().Restores)
	})
}
