package trace_test

import (
	"fmt"
	"strings"

	"github.com/gpuframe/gpuframe/memory/adaptor/trace"
)

func Example() {
	log := strings.NewReader(`Thread,Time,Action,Pointer,Size,Stream
1,14:21:19.998533,allocate,0x30a000000,256,0x2
1,14:21:20.104871,allocate,0x30a000100,4096,0x2
1,14:21:32.661875,free,0x30a000000,256,0x2
`)
	var current, peak uint64
	for event, err := range trace.Read(log) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch event.Action {
		case trace.Allocate:
			current += event.Size
		case trace.Free:
			current -= event.Size
		}
		peak = max(peak, current)
	}
	fmt.Println("peak", peak, "bytes, still held", current)
	// Output:
	// peak 4352 bytes, still held 4096
}
