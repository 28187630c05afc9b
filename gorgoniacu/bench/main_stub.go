//go:build !linux || !cgo || !(amd64 || arm64)

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bench: this was built without the binding, which needs cgo and 64-bit Linux")
	os.Exit(1)
}
