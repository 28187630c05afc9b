//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/memory"
)

// The slice of an imported array of any type applies to every buffer: values,
// validity and offsets begin at the array's offset.
func TestMistakeASliceThatIsReadOnlyInPart(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		const n, offset, length = 40, 5, 20
		for number, dataType := range arraytest.AllTypes() {
			g := arraytest.NewGenerator(uint64(number))
			record := recordOf(g.Array(dataType, n))
			want := record.NewSlice(offset, offset+length)
			for _, options := range []ImportOptions{{}, {Unchecked: true}} {
				p, a := foreignTable(t, m, record)
				p.Device.Array.Length = length
				child := childOf(&p.Device.Array, 0)
				child.Offset, child.Length = child.Offset+offset, length
				if child.NullCount > 0 {
					child.NullCount = -1
				}
				table, err := Import(m, pointerTo(p.Device), a.Schema(), options)
				require.NoError(t, err, "%v", dataType)
				requireRecord(t, want, download(t, table))
				requireReleasedOnce(t, p)
				require.NoError(t, a.Release())
			}
		}
		requireNothingHeld(t, m)
	})
}

// Arrow C++ refuses struct arrays with an offset as record batches. gpuframe exports
// no offset, for a slice, a stream or a record.
func TestMistakeAnOffsetThatOthersRefuse(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		out := cabitest.New[cabi.Array]()
		defer cabitest.Free(out)
		for number, dataType := range arraytest.AllTypes() {
			g := arraytest.NewGenerator(uint64(number))
			g.Sliced = true
			record := recordOf(g.Array(dataType, 30))
			whole := upload(t, m, record)
			part, err := whole.Slice(7, 12)
			require.NoError(t, err)
			a, err := Export(part)
			require.NoError(t, err)
			require.Zero(t, deviceArray(a).Array.Offset)
			require.EqualValues(t, 12, deviceArray(a).Array.Length)
			require.NoError(t, a.Release())
			require.NoError(t, part.Release())
			require.NoError(t, whole.Release())

			slice := record.NewSlice(7, 19)
			require.NoError(t, exportRecord(slice, out, nil))
			require.Zero(t, out.Offset)
			require.EqualValues(t, 12, out.Length)
			cabi.ReleaseArray(out)
			slice.Release()
		}
		requireNothingHeld(t, m)
	})
}

// gpuframe accepts an offset on import, on the host too. TestMistakeTheOffsetOfATable
// covers a device.
func TestMistakeTheOffsetOfARecord(t *testing.T) {
	external, err := hostManager()
	require.NoError(t, err)
	m := newHostManager(t)
	for number, dataType := range arraytest.AllTypes() {
		g := arraytest.NewGenerator(uint64(number))
		record := recordOf(g.Array(dataType, 30), g.Array(arrow.PrimitiveTypes.Int32, 30))
		for _, cut := range [][2]int64{{7, 30}, {7, 19}, {0, 4}, {30, 30}, {9, 9}} {
			p, a := foreignTable(t, m, record)
			p.Device.Array.Offset, p.Device.Array.Length = cut[0], cut[1]-cut[0]
			got, err := ImportRecord(pointerTo(&p.Device.Array), a.Schema())
			require.NoError(t, err, "%v", dataType)
			requireRecord(t, record.NewSlice(cut[0], cut[1]), got)
			got.Release()
			requireReleasedOnce(t, p)
			require.NoError(t, a.Release())
		}
	}
	requireNothingHeld(t, m)
	requireNothingHeld(t, external)
}

// cuVS's binding exports arrays without a release. The standard defines them as
// released, so nothing of them is read. If only a child has no release, the rest is
// released once.
func TestMistakeAnArrayWithoutARelease(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		g := arraytest.NewGenerator(5)
		record := recordOf(int32s(1, 2, 3), g.Array(arrow.ListOf(arrow.BinaryTypes.String), 3), g.Array(dictionaryType(), 3))
		arrays := func(p *cabi.DeviceArray) []*cabi.Array { return all(&p.Array) }
		count := 1
		for which := 0; which < count; which++ {
			p, a := foreignTable(t, m, record)
			structs := arrays(p.Device)
			count = len(structs)
			release := structs[which].Release
			structs[which].Release = 0
			_, err := Import(m, pointerTo(p.Device), a.Schema())
			require.ErrorIs(t, err, ErrMoved)
			require.Zero(t, p.Device.Array.Release)
			if which > 0 {
				require.Equal(t, 1, p.RootReleases())
			} else {
				require.Zero(t, p.Releases(), "the array has no release")
				p.Device.Array.Release = release
				cabi.ReleaseArray(&p.Device.Array)
			}
			require.NoError(t, a.Release())
			requireNothingHeld(t, m)
		}
		require.Equal(t, 6, count)
	})
}

func dictionaryType() arrow.DataType {
	return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int64}
}
