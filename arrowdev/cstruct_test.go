//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/cdata"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// A record is exported to another implementation of Arrow, here package cdata of
// arrow-go, and imported again, without cgo.
func ExampleNewCArray() {
	array, err := arrowdev.NewCArray()
	if err != nil {
		log.Fatal(err)
	}
	defer array.Release()
	schema, err := arrowdev.NewCSchema()
	if err != nil {
		log.Fatal(err)
	}
	defer schema.Release()

	record := numbersRecord(0, 3)
	defer record.Release()
	if err := arrowdev.ExportRecord(record, array.Pointer(), schema.Pointer()); err != nil {
		log.Fatal(err)
	}
	theirs, err := cdata.ImportCRecordBatch((*cdata.CArrowArray)(array.Pointer()), (*cdata.CArrowSchema)(schema.Pointer()))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(theirs.NumRows(), "rows, moved:", array.Empty())

	cdata.ExportArrowRecordBatch(theirs, (*cdata.CArrowArray)(array.Pointer()), (*cdata.CArrowSchema)(schema.Pointer()))
	theirs.Release()
	back, err := arrowdev.ImportRecord(array.Pointer(), schema.Pointer())
	if err != nil {
		log.Fatal(err)
	}
	defer back.Release()
	fmt.Println(back.NumRows(), "rows came back")
	// Output:
	// 3 rows, moved: true
	// 3 rows came back
}

// A stream of tables is exported to another library, and one is imported.
func ExampleNewCDeviceStream() {
	withManager(func(m *memory.Manager) error {
		stream, err := arrowdev.NewCDeviceStream()
		if err != nil {
			return err
		}
		defer stream.Release()
		// Another library writes its stream to stream.Address(). In this example
		// gpuframe does.
		if err := arrowdev.ExportStream(m, newTables(m, 2, 3), stream.Pointer()); err != nil {
			return err
		}
		reader, err := arrowdev.ImportStream(m, stream.Pointer())
		if err != nil {
			return err
		}
		defer reader.Close()
		rows := int64(0)
		for {
			table, err := reader.Next(context.Background())
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
			rows += table.Capacity()
			if err := table.Release(); err != nil {
				return err
			}
		}
		fmt.Println(rows, "rows")
		return nil
	})
	// Output: 6 rows
}

// Release releases contents that no consumer took, and leaves moved contents alone.
func TestCStructs(t *testing.T) {
	before := cabi.Structs()
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		record := numbersRecord(0, 3)
		defer record.Release()
		table, err := buffer.FromRecord(m, record)
		require.NoError(t, err)
		made := func(s *arrowdev.CStruct, err error) *arrowdev.CStruct {
			require.NoError(t, err)
			assert.True(t, s.Empty())
			assert.Equal(t, uintptr(s.Pointer()), s.Address())
			assert.Contains(t, s.String(), "empty Arrow")
			return s
		}
		a, err := arrowdev.Export(table)
		require.NoError(t, err)
		deviceArray, schema := made(arrowdev.NewCDeviceArray()), made(arrowdev.NewCSchema())
		require.Contains(t, a.String(), "Arrow array of 3 rows and 1 children on ")
		require.NoError(t, a.MoveTo(deviceArray.Pointer(), schema.Pointer()))
		require.Equal(t, "Arrow array that a consumer has taken", a.String())
		require.NoError(t, a.Release())
		require.Equal(t, "released Arrow array", a.String())
		stream, plain, host := made(arrowdev.NewCDeviceStream()), made(arrowdev.NewCStream()), made(arrowdev.NewCArray())
		require.NoError(t, arrowdev.ExportStream(m, newTables(m, 1, 3), stream.Pointer()))
		reader, err := array.NewRecordReader(record.Schema(), nil)
		require.NoError(t, err)
		require.NoError(t, arrowdev.ExportRecordReader(reader, plain.Pointer()))
		reader.Release()
		require.NoError(t, arrowdev.ExportRecord(record, host.Pointer(), nil))
		require.NoError(t, table.Release())
		require.Positive(t, m.Stats().Blocks, "the exported array holds the memory")

		all := []*arrowdev.CStruct{deviceArray, schema, stream, plain, host, made(arrowdev.NewCArray())}
		for i, each := range all {
			require.Equal(t, i == len(all)-1, each.Empty())
			each.Release()
			each.Release()
			require.True(t, each.Empty())
			require.Zero(t, each.Address())
			require.Contains(t, each.String(), "freed Arrow")
		}
		require.Zero(t, m.Stats().Blocks)
	})
	require.Equal(t, before, cabi.Structs())
	var none *arrowdev.CStruct
	none.Release()
	require.True(t, none.Empty())
	require.Equal(t, "nil struct", none.String())
}
