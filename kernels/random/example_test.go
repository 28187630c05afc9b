package random_test

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/random"
	"github.com/gpuframe/gpuframe/memory"
)

// A column of the numbers of a die. The same seed gives the same column on every device.
func Example() {
	ctx := context.Background()
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

	dice, err := random.Below(ctx, 6, 6, random.Options{Options: kernels.Options{Manager: mgr}, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dice.Release()
	values, err := dice.Array(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer values.Release()
	fmt.Println(values)
	// Output: [5 5 3 0 3 1]
}
