package join

import (
	"errors"

	"github.com/gpuframe/gpuframe/internal/base/release"
)

// built is the build side of a join: a table of the rows, or the keys sorted if they do not fit
// 64 bits.
type built struct {
	table  *table
	sorted *sortedRows

	held release.Stack
}

// Release releases what the build side holds.
func (b *built) Release() error {
	if b == nil {
		return nil
	}
	return errors.Join(b.table.Release(), b.held.Release())
}
