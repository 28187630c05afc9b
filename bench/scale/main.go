// Scale prints the tables of docs/measurements/2026-11-24-scale.md: the times of operators on many GPUs by a model of
// rates that were measured on one.
//
//	go -C bench run ./scale          # writes bench/scale/testdata; scripts/docs-tables.sh copies it
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	for name, text := range tables() {
		if err := os.WriteFile(filepath.Join("scale", "testdata", name), []byte(text), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, "scale:", err)
			os.Exit(1)
		}
	}
}
