package recipes

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/gpuframe/gpuframe"
)

func Example_partitions() {
	folder := must(os.MkdirTemp("", "recipes"))
	defer os.RemoveAll(folder)
	for day := range int64(4) {
		name := filepath.Join(folder, fmt.Sprintf("in-%d.csv", day+1))
		must(sales().Filter(col("day").Eq(day+1)).WriteFile(ctx, name, gpuframe.CSV()))
	}

	out := filepath.Join(folder, "out")
	manifest := must(gpu.CSV(filepath.Join(folder, "in-*.csv")).
		Sort("city").
		WriteFiles(ctx, out, gpuframe.Parquet(), gpuframe.FolderOptions{PartitionBy: []string{"city"}, Existing: gpuframe.OverwritePartitions}))
	fmt.Println(len(manifest.Files), "files,", manifest.Rows, "rows")
	show(gpu.Parquet(out).Filter(col("city").Eq("Bern")).Select("city", "product"))
	// Output:
	// 3 files, 6 rows
	// city,product
	// Bern,tea
	// Bern,ink
}

func Example_budget() {
	folder := must(os.MkdirTemp("", "recipes"))
	defer os.RemoveAll(folder)
	name := filepath.Join(folder, "numbers.parquet")
	numbers := gpuframe.From(gpu, make([]struct{ N float64 }, 250_000)).WithRowNumber("row")
	must(numbers.WriteFile(ctx, name, gpuframe.Parquet()))

	small := must(gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(1<<20))) // the file has 4 MB of values
	defer small.Close()
	rows := int64(0)
	for frame, err := range small.Parquet(name).Filter(col("row").Mod(2).Eq(0)).Batches(ctx) {
		rows += must(frame, err).NumRows()
		frame.Release()
	}
	fmt.Println(rows, "rows,", small.Manager().Stats().Peak <= 1<<20)
	// Output:
	// 125000 rows, true
}

func Example_larger() {
	folder := must(os.MkdirTemp("", "recipes"))
	defer os.RemoveAll(folder)
	small := must(gpuframe.Open(gpuframe.Device("host"), gpuframe.Budget(1<<20), gpuframe.SpillBudget(1<<18), gpuframe.SpillDirectory(folder)))
	defer small.Close()
	numbers := gpuframe.From(small, make([]struct{ N float64 }, 100_000)).WithRandom("order", 1).WithRowNumber("row")
	name := filepath.Join(folder, "sorted.parquet")
	rows := must(numbers.Sort("order").WriteFile(ctx, name, gpuframe.Parquet()))
	copies := small.Manager().TransferStats()
	fmt.Println(rows, "rows, copied to the device again:", copies.Uploads.Bytes > 2*8*100_000) // the source has 8 bytes a row
	// Output:
	// 100000 rows, copied to the device again: true
}
