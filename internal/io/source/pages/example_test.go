package pages_test

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

// The header of a page of 200 values in 40 bytes.
func ExampleRead() {
	header, err := pages.Read([]byte{0x15, 0, 0x15, 80, 0x15, 80, 0x2c, 0x15, 0x90, 0x03, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0})
	if err != nil {
		panic(err)
	}
	fmt.Println(header.Values, header.Uncompressed, header.Encoding == pages.Plain)
	// Output: 200 40 true
}
