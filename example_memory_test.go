package gpuframe_test

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// A table in host memory is read by many queries. It takes a few bits for each value.
func ExampleEngine_NewHostTable() {
	gpu := hostEngine()
	defer gpu.Close()
	table, err := gpu.NewHostTable(context.Background(), numberedRecords(3, 100_000), gpuframe.HostTableOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer table.Release()
	fmt.Println(table.NumRows(), "rows,", table.Bytes(0)*8/table.NumRows(), "and", table.Bytes(1)*8/table.NumRows(), "bits for each")
	show(gpu.HostTable(table).Filter(gpuframe.Col("n").Ge(200_000)).GroupBy(gpuframe.Col("rest")).Agg(gpuframe.Col("n").Max()).Sort(gpuframe.Col("rest")))
	// Output:
	// 300000 rows, 0 and 2 bits for each
	// rest,n
	// 0,299997
	// 1,299998
	// 2,299999
}

// The result of a query, kept in host memory for others.
func ExampleQuery_HostTable() {
	gpu := hostEngine()
	defer gpu.Close()
	folder, err := exampleFolder(gpu)
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	files := gpu.Parquet(folder)
	table, err := files.Select("city", "qty").HostTable(context.Background(), gpuframe.HostTableOptions{})
	if err != nil {
		panic(err)
	}
	defer table.Release()
	fmt.Println(files.InMemory(), gpu.HostTable(table).InMemory())
	// Output:
	// false true
}

// A service that makes a query again in each request shares the rows that the first one has kept: the function is called once.
func ExampleQuery_CacheWith() {
	gpu := hostEngine()
	defer gpu.Close()
	calls := 0
	length := gpuframe.GoFunc1("length", func(_ context.Context, names []string, results []int64) error {
		calls++
		for i, name := range names {
			results[i] = int64(len(name))
		}
		return nil
	})
	request := func() gpuframe.Query {
		return gpuframe.From(gpu, exampleSales()).Select("city", length.Of(gpuframe.Col("city")))
	}
	kept := request().Cache()
	defer kept.Evict()
	for range 3 {
		show(request().CacheWith(kept).Select(gpuframe.Col("length").Sum()))
	}
	fmt.Println(calls, "call")
	// Output:
	// length
	// 24
	// length
	// 24
	// length
	// 24
	// 1 call
}

// A registry of tables releases a frame when no query refers to it any more.
func ExampleFrame_Watched() {
	gpu := hostEngine()
	defer gpu.Close()
	frame, err := gpuframe.From(gpu, exampleSales()).Collect(context.Background())
	if err != nil {
		panic(err)
	}
	query, inUse := frame.Watched()
	report := query.Select(gpuframe.Count().As("n")) // the registry gives this to others
	show(report)
	fmt.Println("in use:", inUse())
	runtime.KeepAlive(report)
	if err := frame.Release(); err != nil { // later, when inUse returns false
		panic(err)
	}
	// Output:
	// n
	// 6
	// in use: true
}

// An engine in the memory of a manager that the program has, and shares with other packages.
func ExampleManaged() {
	dev, err := device.Open("host")
	if err != nil {
		panic(err)
	}
	defer dev.Close()
	manager, err := memory.NewManager(dev, memory.Options{Name: "reports", Budget: 1 << 30})
	if err != nil {
		panic(err)
	}
	defer manager.Close()
	gpu, err := gpuframe.Managed(manager)
	if err != nil {
		panic(err)
	}
	defer gpu.Close() // before the manager
	fmt.Println(gpu.Managers()[0] == manager, gpu.Devices()[0] == dev)
	// Output:
	// true true
}

// Several devices run each query together, if it has enough rows. The names are usually flags of a program.
func ExampleDevices() {
	names := []string{"host"} // "cuda:0", "cuda:1" on a machine with GPUs
	gpu, err := gpuframe.Open(gpuframe.Devices(names...), gpuframe.DivideFrom(1_000_000), gpuframe.Budget(8<<30))
	if err != nil {
		panic(err)
	}
	defer gpu.Close()
	for i, dev := range gpu.Devices() {
		fmt.Println(dev, gpu.Managers()[i].Stats().InUse, "bytes in use")
	}
	// Output:
	// host 0 bytes in use
}
