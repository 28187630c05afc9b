package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// standardInput is the path that stands for standard input.
const standardInput = "-"

// spooled returns the paths with a temporary file in place of standard input, and a function that
// removes the file. Formats are read at several places, and more than once.
func (in *input) spooled(from io.Reader, paths []string) (files []string, remove func() error, err error) {
	remove = func() error { return nil }
	if !slices.Contains(paths, standardInput) {
		return paths, remove, nil
	}
	if len(paths) > 1 {
		return nil, remove, errors.New("- is standard input, expected no other files")
	}
	if in.from == "" {
		return nil, remove, fmt.Errorf("- is standard input: give --from with one of %s", strings.Join(formatNames(), ", "))
	}
	folder, err := os.MkdirTemp("", "gpuframe-")
	if err != nil {
		return nil, remove, fmt.Errorf("standard input: %w", err)
	}
	remove = func() error { return os.RemoveAll(folder) }
	path := filepath.Join(folder, "standard-input")
	if err := spool(path, from); err != nil {
		return nil, remove, errors.Join(fmt.Errorf("standard input: %w", err), remove())
	}
	return []string{path}, remove, nil
}

func spool(path string, from io.Reader) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	return errors.Join(err, file.Close())
}
