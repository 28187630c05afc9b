// Command pack writes the archive of PTX that it reads, and prints the text of one: see package
// archive.
//
//	pack <FILE.ptx >FILE.ptx.packed
//	pack -d <FILE.ptx.packed
//	pack -n <FILE.ptx: the text that -d prints after it is packed
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/gpuframe/gpuframe/internal/op/kernelset/archive"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(args []string, from io.Reader, to io.Writer) error {
	input, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	var output []byte
	switch {
	case len(args) == 0:
		output, err = archive.Pack(string(input))
	case len(args) == 1 && args[0] == "-d":
		var text string
		text, err = archive.Text(input)
		output = []byte(text)
	case len(args) == 1 && args[0] == "-n":
		output = []byte(archive.Normal(string(input)))
	default:
		err = errors.New("usage: pack [-d | -n]")
	}
	if err != nil {
		return err
	}
	_, err = to.Write(output)
	return err
}
