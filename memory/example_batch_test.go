package memory_test

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// A batch sets three counters, each in a separate block, and reads them back with one
// wait.
func ExampleBatch() {
	dev, err := device.Open("host")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mgr.Close()

	var batch memory.Batch
	counts := make([]int64, 3)
	for i := range counts {
		counter, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer counter.Release()
		_ = memory.AddUpload(&batch, counter, []int64{int64(i) * 100})
		_ = memory.AddDownload(&batch, counter, counts[i:i+1])
	}
	err = batch.Run(context.Background(), nil)
	fmt.Println(counts, err)
	// Output: [0 100 200] <nil>
}
