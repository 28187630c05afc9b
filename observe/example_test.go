package observe_test

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/observe"
)

// The holders of memory at a moment, by tag.
func Example() {
	dev, err := device.Open("host") // or "cuda:0"
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dev.Close()
	mgr, err := memory.NewManager(dev, memory.Options{Budget: 1 << 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer mgr.Close()
	recorder, err := observe.New(observe.Options{Managers: []*memory.Manager{mgr}, SampleBytes: observe.DefaultSampleBytes})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer recorder.Close()
	// http.Handle("/gpu/", recorder.Handler(observe.HandlerOptions{})) serves a page.

	prices, err := mgr.Allocate(4096, memory.AllocateOptions{Tag: "prices"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer prices.Release()
	for _, manager := range recorder.Snapshot().Managers {
		for _, tag := range manager.Tags {
			fmt.Println(tag.Name, tag.InUse)
		}
	}
	// Output: prices 4096
}
