package session

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/dustin/go-humanize"
)

// Main runs a program and prints its error, with the program's name before it.
func Main(program string, run func(context.Context) error) {
	if err := run(context.Background()); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
		os.Exit(1)
	}
}

// Device registers the flag of the device to measure.
func Device() *string {
	return flag.String("device", "", "device to measure; empty for the first GPU, or the host")
}

// Bytes registers a flag of a size in bytes, such as 1GiB.
func Bytes(name string, bytes uint64, usage string) *uint64 {
	flag.Func(name, fmt.Sprintf("%s (default %s)", usage, humanize.IBytes(bytes)), func(text string) (err error) {
		bytes, err = humanize.ParseBytes(text)
		return err
	})
	return &bytes
}
