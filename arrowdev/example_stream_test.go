//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// withManager runs f on the host device. Use "" for the first GPU.
func withManager(f func(m *memory.Manager) error) {
	dev, err := device.Open("host")
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	m, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(f(m), m.Close()); err != nil {
		log.Fatal(err)
	}
}

// batchesOfNumbers is a record reader of two batches.
func batchesOfNumbers() array.RecordReader {
	first, second := numbersRecord(0, 3), numbersRecord(1, 4)
	defer first.Release()
	defer second.Release()
	reader, err := array.NewRecordReader(numbersSchema(), []arrow.Record{first, second})
	if err != nil {
		log.Fatal(err)
	}
	return reader
}

func ExampleExportStream() {
	withManager(func(m *memory.Manager) error {
		// The consumer provides the struct: a C library passes its address, Python
		// passes it in a capsule.
		stream := cabitest.New[cabi.DeviceStream]()
		defer cabitest.Free(stream)

		// Any reader of tables is accepted. This one moves the batches of a record
		// reader to the device, each when the consumer requests it.
		records := batchesOfNumbers()
		reader := buffer.NewReader(m, records, buffer.LoadOptions{})
		records.Release()
		if err := arrowdev.ExportStream(m, reader, unsafe.Pointer(stream)); err != nil {
			return err
		}

		seen, err := cabitest.ReadDeviceStream(stream, -1, true) // the consumer, in C
		fmt.Println(seen.Batches, "batches of", seen.Rows, "rows together")
		return err
	})
	// Output: 2 batches of 7 rows together
}

func ExampleImportStream() {
	withManager(func(m *memory.Manager) error {
		stream := cabitest.New[cabi.DeviceStream]() // another library's
		defer cabitest.Free(stream)
		if err := arrowdev.ExportStream(m, newTables(m, 2, 3), unsafe.Pointer(stream)); err != nil {
			return err
		}

		reader, err := arrowdev.ImportStream(m, unsafe.Pointer(stream))
		if err != nil {
			return err
		}
		defer reader.Close()
		return printTables(reader)
	})
	// Output:
	// buffer of 3 rows × 1 columns
	//   n  int32  nullable
	// buffer of 3 rows × 1 columns
	//   n  int32  nullable
}

func printTables(reader buffer.Reader) error {
	for {
		table, err := reader.Next(context.Background())
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		fmt.Println(table)
		if err := table.Release(); err != nil {
			return err
		}
	}
}

func ExampleImportAsync() {
	withManager(func(m *memory.Manager) error {
		reader, err := arrowdev.ImportAsync(m, arrowdev.AsyncOptions{Ahead: 4})
		if err != nil {
			return err
		}
		defer reader.Close()

		// The handler is passed to a producer, which calls it from other threads. In
		// this example the producer is gpuframe.
		done := make(chan error)
		handler := reader.Handler()
		go func() {
			done <- arrowdev.ExportAsync(context.Background(), m, newTables(m, 2, 3), handler)
		}()
		return errors.Join(printTables(reader), <-done)
	})
	// Output:
	// buffer of 3 rows × 1 columns
	//   n  int32  nullable
	// buffer of 3 rows × 1 columns
	//   n  int32  nullable
}

// Records of any Arrow implementation are imported through an ArrowArrayStream.
// arrow-go v18 writes one by
//
//	cdata.ExportRecordReader(reader, (*cdata.CArrowArrayStream)(stream))
//
// and so do nanoarrow, Arrow C++, DuckDB, pyarrow's _export_to_c and every object
// with __arrow_c_stream__.
func ExampleImportRecordReader() {
	withManager(func(m *memory.Manager) error {
		stream := cabitest.New[cabi.Stream]() // cleared, in C memory
		defer cabitest.Free(stream)
		theirs := batchesOfNumbers()
		if err := arrowdev.ExportRecordReader(theirs, unsafe.Pointer(stream)); err != nil {
			return err
		}
		theirs.Release()

		records, err := arrowdev.ImportRecordReader(unsafe.Pointer(stream))
		if err != nil {
			return err
		}
		defer records.Release()
		table, err := buffer.FromReader(context.Background(), m, records, buffer.LoadOptions{})
		if err != nil {
			return err
		}
		fmt.Println(table)
		return table.Release()
	})
	// Output:
	// buffer of 7 rows × 1 columns
	//   n  int32  nullable
}
