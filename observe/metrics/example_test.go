package metrics_test

import (
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/observe"
	"github.com/gpuframe/gpuframe/observe/metrics"
)

// The memory in use, by tag, as Prometheus gets it.
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
	recorder, err := observe.New(observe.Options{Managers: []*memory.Manager{mgr}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer recorder.Close()
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics.NewCollector(recorder))

	prices, err := mgr.Allocate(4096, memory.AllocateOptions{Tag: "prices"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer prices.Release()
	families, err := registry.Gather()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, family := range families {
		if strings.HasSuffix(family.GetName(), "_tag_in_use_bytes") {
			fmt.Println(family.GetName(), family.GetMetric()[0].GetGauge().GetValue())
		}
	}
	// Output: gpuframe_memory_tag_in_use_bytes 4096
}
