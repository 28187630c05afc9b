package gpuframe_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/dlpack"
)

// exampleFolder has the sales of the examples as sales.parquet, and products.csv.
func exampleFolder(gpu *gpuframe.Engine) (folder string, err error) {
	if folder, err = os.MkdirTemp("", "gpuframe"); err != nil {
		return "", err
	}
	if _, err = gpuframe.From(gpu, exampleSales()).WriteFile(context.Background(), filepath.Join(folder, "sales.parquet"), gpuframe.Parquet()); err != nil {
		return "", err
	}
	return folder, os.WriteFile(filepath.Join(folder, "products.csv"), []byte("product,group\ntea,food\njam,food\nink,office\n"), 0o600)
}

// Filter, group and the best of a Parquet file, as CSV.
func ExampleEngine_Parquet() {
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gpu.Close()
	folder, err := exampleFolder(gpu)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	_, err = gpu.Parquet(filepath.Join(folder, "*.parquet")).
		Filter(gpuframe.Of[float64]("price").Gt(50)).
		GroupBy(gpuframe.Col("product")).Agg(gpuframe.Col("qty").Sum().As("sold")).
		Top(2, gpuframe.Col("sold").Desc(), gpuframe.Col("product").Asc()).
		Write(context.Background(), os.Stdout, gpuframe.CSV())
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// product,sold
	// jam,3
	// tea,3
}

// A join of a Parquet and a CSV file. The plan names what each scan reads.
func ExampleQuery_Join() {
	ctx := context.Background()
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gpu.Close()
	folder, err := exampleFolder(gpu)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	byGroup := gpu.Parquet(filepath.Join(folder, "sales.parquet")).
		Join(gpu.CSV(filepath.Join(folder, "products.csv")), gpuframe.Left, gpuframe.Col("product")).
		GroupBy(gpuframe.Col("group")).Agg(gpuframe.Col("qty").Sum()).
		Sort(gpuframe.Col("group"))
	plan, err := byGroup.Explain(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.Contains(plan, "2 of 5 columns"))
	if _, err = byGroup.Write(ctx, os.Stdout, gpuframe.CSV()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// true
	// group,qty
	// food,15
	// office,2
}

// A tenant reads data larger than its budget, batch by batch.
func ExampleEngine_Tenant() {
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gpu.Close()
	folder, err := exampleFolder(gpu)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	tenant, err := gpu.Tenant("a", 64<<20)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tenant.Close()
	rows := int64(0)
	for batch, err := range tenant.Parquet(folder).Filter(gpuframe.Of[string]("city").In("Oslo")).Batches(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		rows += batch.NumRows()
		if err := batch.Release(); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(rows)
	// Output: 3
}

// A column of a result as a DLPack tensor, in the same memory.
func ExampleFrame_Column() {
	gpu, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gpu.Close()
	all, err := gpuframe.From(gpu, exampleSales()).Collect(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer all.Release()
	tensor, err := dlpack.Export(all.Column("price"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tensor.Release()
	fmt.Println(all.NumRows(), "prices")
	// Output: 6 prices
}
