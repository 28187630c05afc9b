package decompress

import (
	"errors"
	"fmt"
)

// ErrDamaged reports a page that is not of its format.
var ErrDamaged = errors.New("the page is not of its format")

// Status is the result of a page. Kernels write the same numbers: see cuda/page.cuh.
type Status uint32

const (
	// Complete is the status of a page that was decompressed.
	Complete Status = iota
	// Outside is that of a page that is not within the input or the output.
	Outside
	// Truncated: the input ends within a token.
	Truncated
	// Long and Short: the output is longer or shorter than Page.Length.
	Long
	Short
	// Distance: a match begins before the output.
	Distance
	// Header: the header is not of the format, or has another length than Page.Length.
	Header
	// Block: a block of a type that does not exist, or with a length that contradicts its copy.
	Block
	// Tree: the lengths of codes are no prefix code, or the input has a code without a symbol.
	Tree
	// Refused: a library on the host refuses the page.
	Refused
	// Dictionary: the page needs a dictionary, which Parquet files do not have.
	Dictionary
)

var statusTexts = [...]string{
	Outside:    "it is not within the file's bytes or the memory for it",
	Truncated:  "it ends within a token",
	Long:       "it is longer than its header says",
	Short:      "it is shorter than its header says",
	Distance:   "a match begins before the page",
	Header:     "its first bytes are not of the format, or have another length than its header",
	Block:      "a block has a wrong type or length",
	Tree:       "its codes are no prefix code",
	Refused:    "its bytes are not of the format",
	Dictionary: "it needs a dictionary",
}

// Error returns nil for [Complete], else an error that wraps [ErrDamaged].
func (s Status) Error(c Codec) error {
	switch {
	case s == Complete:
		return nil
	case int(s) < len(statusTexts):
		return fmt.Errorf("decompression of %v failed: %s: %w", c, statusTexts[s], ErrDamaged)
	}
	return fmt.Errorf("decompression of %v failed with status %d: %w", c, uint32(s), ErrDamaged)
}
