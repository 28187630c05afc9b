// Command pack writes the archive of PTX that it reads: see package archive.
//
//	pack <FILE.ptx >FILE.ptx.gz
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/gpuframe/gpuframe/internal/op/kernelset/archive"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(from io.Reader, to io.Writer) error {
	text, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	packed, err := archive.Pack(string(text))
	if err != nil {
		return err
	}
	_, err = to.Write(packed)
	return err
}
