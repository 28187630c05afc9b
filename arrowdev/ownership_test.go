//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/arrowdev/internal/producertest"
	"github.com/gpuframe/gpuframe/memory"
)

func deviceArray(a *Array) *cabi.DeviceArray { return (*cabi.DeviceArray)(a.Device()) }

// two is a record of two columns.
func two() arrow.Record { return recordOf(int32s(1, 2, 3, 4), texts("a", "bc", "", "a longer text")) }

func exported(t testing.TB, m *memory.Manager, record arrow.Record) *Array {
	t.Helper()
	table := upload(t, m, record)
	a, err := Export(table)
	require.NoError(t, err)
	require.NoError(t, table.Release())
	return a
}

func TestAnArrayOutlivesTheTable(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		a := exported(t, m, two())
		require.NotZero(t, m.Stats().InUse)
		require.NoError(t, a.Release())
		requireNothingHeld(t, m)
		require.NoError(t, a.Release())
		require.Nil(t, a.Device())
		require.Nil(t, a.Schema())
	})
}

func TestMoveTo(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		a := exported(t, m, two())
		moved, schema := cabitest.New[cabi.DeviceArray](), cabitest.New[cabi.Schema]()
		defer cabitest.Free(moved)
		defer cabitest.Free(schema)
		require.NoError(t, a.MoveTo(pointerTo(moved), nil))
		require.ErrorIs(t, a.MoveTo(pointerTo(moved), pointerTo(schema)), ErrMoved)
		require.NoError(t, a.MoveTo(nil, pointerTo(schema)))
		require.ErrorIs(t, a.MoveTo(nil, pointerTo(schema)), ErrMoved)
		_, err := Import(m, a.Device(), pointerTo(schema))
		requireFault(t, err, "import", "ArrowDeviceArray.array.release", ErrMoved)
		require.Zero(t, schema.Release, "a failed import consumes the schema too")
		require.NoError(t, a.Release())
		require.NotZero(t, m.Stats().InUse)
		require.NoError(t, cabitest.ReleaseArrayOnThread(&moved.Array))
		requireNothingHeld(t, m)
		require.ErrorIs(t, a.MoveTo(pointerTo(moved), nil), ErrMoved)
	})
}

func TestNothingIsImported(t *testing.T) {
	m := newHostManager(t)
	a := exported(t, m, two())
	_, err := Import(m, nil, a.Schema())
	requireFault(t, err, "import", "ArrowDeviceArray", ErrInvalid)
	require.Zero(t, (*cabi.Schema)(a.Schema()).Release)
	_, err = Import(m, a.Device(), a.Schema())
	require.ErrorIs(t, err, ErrMoved, "the schema is released")
	require.Zero(t, deviceArray(a).Array.Release, "a failed import consumes the array too")
	require.NoError(t, a.Release())

	a = exported(t, m, two())
	_, err = Import(nil, a.Device(), a.Schema())
	require.ErrorContains(t, err, "manager")
	require.NoError(t, a.Release())
	a = exported(t, m, two())
	_, err = Import(m, a.Device(), a.Schema(), ImportOptions{}, ImportOptions{})
	require.ErrorContains(t, err, "2 sets of options")
	require.NoError(t, a.Release())
	requireNothingHeld(t, m)
}

// The standard forbids a copy without a move. Such a copy is refused.
func TestUnmarkedCopyOfAnEndedArray(t *testing.T) {
	m := newHostManager(t)
	a := exported(t, m, two())
	copied := cabitest.New[cabi.DeviceArray]()
	defer cabitest.Free(copied)
	*copied = *deviceArray(a)
	kept := *copied
	schema := cabitest.New[cabi.Schema]()
	defer cabitest.Free(schema)
	require.NoError(t, a.MoveTo(nil, pointerTo(schema)))
	require.NoError(t, a.Release())
	requireNothingHeld(t, m)
	_, err := Import(m, pointerTo(copied), pointerTo(schema))
	requireFault(t, err, "import", "ArrowDeviceArray.array.release", ErrMoved)
	cabitest.ReleaseArray(&kept.Array)
	requireNothingHeld(t, m)
}

// The consumer moves a child out, releases the rest and takes the child in.
func TestMovedChild(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		for _, foreign := range []bool{false, true} {
			a := exported(t, m, two())
			d := deviceArray(a)
			var p *producertest.Producer
			if foreign {
				p = producertest.Disguise(d)
				defer p.Free()
				d = p.Device
			}
			child := cabitest.New[cabi.DeviceArray]()
			defer cabitest.Free(child)
			*child = *d
			cabitest.MoveArray(&child.Array, childOf(&d.Array, 1))
			schema := cabitest.New[cabi.Schema]()
			defer cabitest.Free(schema)
			require.NoError(t, ExportField(arrow.Field{Name: "b", Type: arrow.BinaryTypes.String}, pointerTo(schema)))

			_, err := Import(m, pointerTo(d), a.Schema())
			requireFault(t, err, "import", "ArrowDeviceArray.array.children[1].release", ErrMoved)
			require.NotZero(t, m.Stats().InUse)
			c, field, err := ImportColumn(m, pointerTo(child), pointerTo(schema))
			require.NoError(t, err)
			require.Equal(t, "b", field.Name)
			require.True(t, array.Equal(two().Column(1), arrayOf(t, c)))
			require.NoError(t, c.Release())
			require.NoError(t, a.Release())
			requireNothingHeld(t, m)
		}
	})
}

// Changes that a consumer made to an exported array are applied, if they are valid.
func TestAlteredOwnArray(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		a := exported(t, m, two())
		deviceArray(a).Array.Length, deviceArray(a).Array.Offset = 2, 1
		table, err := Import(m, a.Device(), a.Schema())
		require.NoError(t, err)
		requireRecord(t, two().NewSlice(1, 3), download(t, table))
		require.NoError(t, a.Release())

		a = exported(t, m, two())
		deviceArray(a).Array.Length, childOf(&deviceArray(a).Array, 0).Length = 5, 5
		childOf(&deviceArray(a).Array, 1).Length = 5
		_, err = Import(m, a.Device(), a.Schema())
		requireFault(t, err, "import", "ArrowDeviceArray.array.children[1].buffers[1]", ErrInvalid)
		require.NoError(t, a.Release())
		requireNothingHeld(t, m)
	})
}

// An array of another type over the same memory is accepted.
func TestAnOwnArrayAsAnotherType(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		a := exported(t, m, recordOf(int32s(1, 2, 3)))
		schema := cabitest.New[cabi.Schema]()
		defer cabitest.Free(schema)
		wanted := arrow.NewSchema([]arrow.Field{{Name: "day", Type: arrow.FixedWidthTypes.Date32}}, nil)
		require.NoError(t, ExportSchema(wanted, pointerTo(schema)))
		table, err := Import(m, a.Device(), pointerTo(schema))
		require.NoError(t, err)
		require.True(t, wanted.Equal(table.Schema()))
		require.Equal(t, arrow.Date32(2), download(t, table).Column(0).(*array.Date32).Value(1))
		require.NoError(t, a.Release())
		requireNothingHeld(t, m)
	})
}

// Another library's memory is released once, with the last object that uses it.
func TestForeignMemoryIsReleasedWithTheLastColumn(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		p, a := foreignTable(t, m, two())
		table, err := Import(m, pointerTo(p.Device), a.Schema())
		require.NoError(t, err)
		require.NotZero(t, m.Stats().External)
		kept := table.Column(1)
		require.NoError(t, kept.Retain())
		for block := range kept.Blocks {
			require.Equal(t, memory.ArrowDevice, block.Origin())
		}
		require.NoError(t, table.Release())
		require.Zero(t, p.RootReleases())
		require.True(t, array.Equal(two().Column(1), arrayOf(t, kept)))
		require.NoError(t, kept.Release())
		require.Equal(t, 1, p.Ended())
		require.Zero(t, p.Live())
		require.NoError(t, a.Release())
		requireNothingHeld(t, m)
	})
}

func TestRepeatedExchangesLeakNothing(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		table := upload(t, m, two())
		before := m.Stats()
		for i := range 10_000 {
			a, err := Export(table)
			require.NoError(t, err)
			switch i % 4 {
			case 0:
				require.NoError(t, a.Release())
			case 1:
				cabitest.ReleaseArray(&deviceArray(a).Array)
				require.NoError(t, a.Release())
			default:
				d := deviceArray(a)
				if i%4 == 3 {
					p := producertest.Disguise(d)
					d = p.Device
					defer p.Free()
				}
				back, err := Import(m, pointerTo(d), a.Schema())
				require.NoError(t, err)
				require.NoError(t, back.Release())
				require.NoError(t, a.Release())
			}
		}
		after := m.Stats()
		require.Equal(t, before.InUse, after.InUse)
		require.Equal(t, before.Blocks, after.Blocks)
		require.Zero(t, after.ExternalBlocks)
		for block := range table.Column(0).Blocks {
			require.False(t, block.Exported())
		}
		requireRecord(t, two(), download(t, table))
		requireNothingHeld(t, m)
	})
}

// Many threads export, import and release arrays of one table at the same time.
func TestHammer(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		table := upload(t, m, two())
		var group sync.WaitGroup
		for worker := range 8 {
			group.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(worker)))
				for range 100 {
					a, err := Export(table)
					if !assert.NoError(t, err) {
						return
					}
					d := a.Device()
					switch random.IntN(4) {
					case 0:
						assert.NoError(t, cabitest.ReleaseArrayOnThread((*cabi.Array)(d)))
					case 1:
						p := producertest.Disguise((*cabi.DeviceArray)(d))
						defer p.Free()
						d = unsafe.Pointer(p.Device)
						fallthrough
					case 2:
						back, err := Import(m, d, a.Schema())
						if assert.NoError(t, err) {
							assert.NoError(t, back.Release())
						}
					}
					assert.NoError(t, a.Release())
				}
			})
		}
		group.Wait()
		requireRecord(t, two(), download(t, table))
		requireNothingHeld(t, m)
	})
}
