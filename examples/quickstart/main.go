// Quickstart shows gpuframe in one screen: an Arrow record becomes a table on a device,
// DLPack exports a column and Arrow's C Device interface the table, and a budget limits
// the memory.
//
//	go run ./examples/quickstart
package main

import (
	"fmt"
	"log"

	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/examples/internal/flights"
	"github.com/gpuframe/gpuframe/memory"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	path, err := flights.Find(flights.Small)
	if err != nil {
		return err
	}
	reader, err := flights.Open(path, arrowmemory.DefaultAllocator)
	if err != nil {
		return err
	}
	defer reader.Close()

	dev, err := device.Open("") // the first GPU, or the host without a GPU
	if err != nil {
		return err
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{Budget: 1 << 30})
	if err != nil {
		return err
	}
	defer mgr.Close()

	for reader.Next() {
		table, err := buffer.FromRecord(mgr, reader.Record())
		if err != nil {
			return err
		}
		defer table.Release()

		tensor, err := dlpack.Export(table.Column(0))
		if err != nil {
			return err
		}
		defer tensor.Release()
		array, err := arrowdev.Export(table)
		if err != nil {
			return err
		}
		defer array.Release()
		fmt.Printf("%v on %s; column %q is a DLPack tensor at %p, the whole an ArrowDeviceArray at %p\n",
			table, dev, table.Schema().Field(0).Name, tensor.Pointer(), array.Device())
	}
	fmt.Println(mgr.Stats())
	return nil
}
