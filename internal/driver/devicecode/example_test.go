package devicecode_test

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/driver/devicecode"
)

func ExamplePrepare() {
	text, err := devicecode.Prepare([]byte(".version 7.0"))
	fmt.Printf("%q %v\n", text, err)

	_, err = devicecode.Prepare([]byte("\x7fELF\x02\x01"))
	fmt.Println(err)
	// Output:
	// ".version 7.0\x00" <nil>
	// the cubin is not a 64-bit little-endian ELF file of at least 64 bytes
}
