package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// ErrLimit means that a file, or a part of it, is larger than the package reads.
var ErrLimit = errors.New("the file is too large")

// Needed makes the error of a file that ends early or is absent one of a condition. It does not wrap [fs.ErrNotExist], which
// means that there is no table.
func Needed(err, condition error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%v: %w", err, condition)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %w", err, condition)
	}
	return err
}
