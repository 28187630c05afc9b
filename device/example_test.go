package device_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gpuframe/gpuframe/device"
)

func Example() {
	dev, err := device.Open("host") // "" for the first GPU, "cuda:1" for the second
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	stream, err := dev.NewStream()
	if err != nil {
		log.Fatal(err)
	}
	defer stream.Close()

	fmt.Println(dev, "is of kind", dev.Kind())
	fmt.Println(stream.Synchronize(context.Background()))
	// Output:
	// host is of kind host
	// <nil>
}
