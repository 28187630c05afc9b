//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/cdata"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/memory"
)

// recordOfType has one column of a type, sliced.
func recordOfType(seed uint64, dataType arrow.DataType, n int) arrow.Record {
	g := arraytest.NewGenerator(seed)
	whole := g.Array(dataType, n)
	defer whole.Release()
	part := array.NewSlice(whole, int64(n/5), int64(n))
	defer part.Release()
	schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: dataType, Nullable: true}}, nil)
	return array.NewRecord(schema, []arrow.Array{part}, int64(part.Len()))
}

func TestRecordRoundTripOfEveryType(t *testing.T) {
	for number, dataType := range arraytest.AllTypes() {
		t.Run(fmt.Sprint(number, " ", dataType), func(t *testing.T) {
			for _, n := range []int{0, 1, 60} {
				want := recordOfType(uint64(number), dataType, n)
				in, schema := newStruct[cabi.Array](t), newStruct[cabi.Schema](t)
				require.NoError(t, arrowdev.ExportRecord(want, pointerTo(in), pointerTo(schema)))
				got, err := arrowdev.ImportRecord(pointerTo(in), pointerTo(schema))
				require.NoError(t, err)
				require.Truef(t, array.RecordEqual(want, got), "%v\n%v", want, got)
				want.Release()
				got.Release()
			}
		})
	}
}

// arrow-go's reader of the C data interface accepts the exports.
func TestArrowGoReadsExports(t *testing.T) {
	for number, dataType := range arraytest.AllTypes() {
		name := strings.ToLower(dataType.String())
		if strings.Contains(name, "struct<>") || strings.Contains(name, "extension") || strings.Contains(name, "view") ||
			strings.Contains(name, "run_end") || strings.Contains(name, "union") {
			continue // it panics at them, or loses parts of them
		}
		t.Run(fmt.Sprint(number, " ", dataType), func(t *testing.T) {
			want := recordOfType(uint64(number), dataType, 60)
			in, schema := newStruct[cabi.Array](t), newStruct[cabi.Schema](t)
			require.NoError(t, arrowdev.ExportRecord(want, pointerTo(in), pointerTo(schema)))
			got, err := cdata.ImportCRecordBatch((*cdata.CArrowArray)(pointerTo(in)), (*cdata.CArrowSchema)(pointerTo(schema)))
			require.NoError(t, err)
			require.Truef(t, array.RecordEqual(want, got), "%v\n%v", want, got)
			want.Release()
			got.Release()
		})
	}
}

// The record's memory is held until the array, or a child that was moved out of it,
// is released, on any thread.
func TestAnExportedRecordIsHeld(t *testing.T) {
	allocator := arrowmemory.NewCheckedAllocator(arrowmemory.NewGoAllocator())
	defer allocator.AssertSize(t, 0)
	b := array.NewRecordBuilder(allocator, numbersSchema())
	b.Field(0).(*array.Int32Builder).AppendValues([]int32{1, 2, 3}, []bool{true, false, true})
	record := b.NewRecord()
	b.Release()
	out, child := newStruct[cabi.Array](t), newStruct[cabi.Array](t)
	require.NoError(t, arrowdev.ExportRecord(record, pointerTo(out), nil))
	record.Release()
	require.EqualValues(t, 1, out.NumChildren)
	cabitest.MoveArray(child, *(**cabi.Array)(address.Pointer(out.Children)))
	require.NoError(t, cabitest.ReleaseArrayOnThread(out))
	require.Positive(t, allocator.CurrentAlloc())
	require.EqualValues(t, 1, child.NullCount)
	require.NoError(t, cabitest.ReleaseArrayOnThread(child))
}

func TestRecordsThatCannotBeExported(t *testing.T) {
	out, schema := newStruct[cabi.Array](t), newStruct[cabi.Schema](t)
	record := numbersRecord(0, 3)
	defer record.Release()
	require.Error(t, arrowdev.ExportRecord(nil, pointerTo(out), pointerTo(schema)))
	require.ErrorIs(t, arrowdev.ExportRecord(record, nil, pointerTo(schema)), arrowdev.ErrInvalid)
	require.Zero(t, out.Release)
	require.Zero(t, schema.Release)
	stream := newStruct[cabi.Stream](t)
	require.Error(t, arrowdev.ExportRecordReader(nil, pointerTo(stream)))
	reader, err := array.NewRecordReader(numbersSchema(), nil)
	require.NoError(t, err)
	defer reader.Release()
	require.ErrorIs(t, arrowdev.ExportRecordReader(reader, nil), arrowdev.ErrInvalid)
}

func TestAForeignRecordReader(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		const batches, rows = 20, 4
		foreign := foreignBatches(t, m, batches, rows)
		stream := newStruct[cabi.Stream](t)
		foreign.Stream(stream)
		reader, err := arrowdev.ImportRecordReader(pointerTo(stream))
		require.NoError(t, err)
		require.Zero(t, stream.Release)
		reader.Retain()
		reader.Release()
		require.Nil(t, reader.Record())
		var kept arrow.Record
		for i := range batches {
			require.True(t, reader.Next())
			record := reader.Record()
			require.Equal(t, numbers(i, rows), record.Column(0).(*array.Int32).Int32Values())
			if i == 3 {
				kept = record
				kept.Retain()
			}
		}
		require.False(t, reader.Next())
		require.NoError(t, reader.Err())
		require.False(t, reader.Next())
		reader.Release()
		require.Equal(t, numbers(3, rows), kept.Column(0).(*array.Int32).Int32Values(), "outlives the reader")
		kept.Release()
		requireGivenBack(t, foreign)

		// Straight to the device.
		foreign.Stream(stream)
		reader, err = arrowdev.ImportRecordReader(pointerTo(stream))
		require.NoError(t, err)
		uploading := buffer.NewReader(m, reader, buffer.LoadOptions{})
		reader.Release()
		for i := range 2 {
			table, err := uploading.Next(t.Context())
			require.NoError(t, err)
			requireNumbers(t, table, i, rows)
		}
		require.NoError(t, uploading.Close())
		requireGivenBack(t, foreign)
	})
}

func TestForeignRecordReadersThatFail(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		foreign := foreignBatches(t, m, 5, 4)
		foreign.FailAt, foreign.FailCode = 2, 5
		stream := newStruct[cabi.Stream](t)
		foreign.Stream(stream)
		reader, err := arrowdev.ImportRecordReader(pointerTo(stream))
		require.NoError(t, err)
		require.True(t, reader.Next())
		require.True(t, reader.Next())
		for range 2 {
			require.False(t, reader.Next())
			require.Nil(t, reader.Record())
			var told *arrowdev.StreamError
			require.ErrorAs(t, reader.Err(), &told)
			require.Equal(t, 5, told.Code)
			require.Equal(t, "batch 2 is broken", told.Message)
		}
		reader.Release()

		lying := foreignBatches(t, m, 5, 4)
		lying.Lying = true
		lying.Stream(stream)
		reader, err = arrowdev.ImportRecordReader(pointerTo(stream))
		require.NoError(t, err)
		require.False(t, reader.Next())
		require.ErrorIs(t, reader.Err(), arrowdev.ErrInvalid)
		reader.Release()

		_, err = arrowdev.ImportRecordReader(nil)
		require.ErrorIs(t, err, arrowdev.ErrInvalid)
		_, err = arrowdev.ImportRecordReader(pointerTo(stream))
		require.ErrorIs(t, err, arrowdev.ErrMoved)
		for _, alter := range []func(){func() { stream.GetNext = 0 }, func() { stream.GetSchema = 0 }} {
			foreign.Stream(stream)
			alter()
			_, err = arrowdev.ImportRecordReader(pointerTo(stream))
			require.ErrorIs(t, err, arrowdev.ErrInvalid)
		}
		requireGivenBack(t, foreign)
		requireGivenBack(t, lying)
	})
}

// Our stream is read by our reader and by arrow-go's.
func TestRecordReaderRoundTrip(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		allocator := arrowmemory.NewCheckedAllocator(arrowmemory.NewGoAllocator())
		defer allocator.AssertSize(t, 0)
		var records []arrow.Record
		b := array.NewRecordBuilder(allocator, numbersSchema())
		defer b.Release()
		for i := range 50 {
			b.Field(0).(*array.Int32Builder).AppendValues(numbers(i, 3), nil)
			records = append(records, b.NewRecord())
			defer records[i].Release()
		}
		for _, reads := range []int{0, 1, 50, 51} {
			reader, err := array.NewRecordReader(numbersSchema(), records)
			require.NoError(t, err)
			stream := newStruct[cabi.Stream](t)
			require.NoError(t, arrowdev.ExportRecordReader(reader, pointerTo(stream)))
			reader.Release()
			back, err := arrowdev.ImportRecordReader(pointerTo(stream))
			require.NoError(t, err)
			for i := range reads {
				require.Equal(t, i < 50, back.Next())
				require.NoError(t, back.Err())
				if i < 50 {
					require.True(t, array.RecordEqual(records[i], back.Record()))
				}
			}
			back.Release()
		}
	})
}

// A reader that fails, and one that panics, in the middle.
func TestRecordReadersThatFailOutside(t *testing.T) {
	streamingOnHost(t, func(t *testing.T, m *memory.Manager) {
		for name, broken := range map[string]*brokenReader{
			"broken on purpose": {err: errBroken},
			"panicked":          {},
		} {
			stream := newStruct[cabi.Stream](t)
			require.NoError(t, arrowdev.ExportRecordReader(broken, pointerTo(stream)))
			back, err := arrowdev.ImportRecordReader(pointerTo(stream))
			require.NoError(t, err)
			require.False(t, back.Next())
			require.ErrorContains(t, back.Err(), name)
			back.Release()
			require.Zero(t, broken.references)
		}
	})
}

type brokenReader struct {
	err        error
	references int
}

func (b *brokenReader) Retain()               { b.references++ }
func (b *brokenReader) Release()              { b.references-- }
func (b *brokenReader) Schema() *arrow.Schema { return numbersSchema() }
func (b *brokenReader) Record() arrow.Record  { return nil }
func (b *brokenReader) Err() error            { return b.err }
func (b *brokenReader) Next() bool {
	if b.err == nil {
		panic("on purpose")
	}
	return false
}
