package observetest_test

import (
	"fmt"
	"strings"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/observe/observetest"
)

// A test that forgets to release a block. Tests pass their t.
func ExampleNoLeaks() {
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

	t := &recorder{}
	observetest.NoLeaks(t, mgr)
	forgotten, err := mgr.Allocate(4000, memory.AllocateOptions{Tag: "prices"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer forgotten.Release()
	t.end() // the stack of the allocation follows the first line
	message, _, _ := strings.Cut(t.errors[0], "\n")
	fmt.Println(message)
	// Output: observetest: block of 3.9 KiB, tag "prices", is still held, allocated at
}
