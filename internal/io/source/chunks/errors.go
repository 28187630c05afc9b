package chunks

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/internal/io/decompress"
	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

// ErrLong reports strings or lists that are longer together than an array of 32-bit offsets may be: decode fewer rows at
// a time.
var ErrLong = errors.New("the strings or lists are longer than a column may be: decode fewer rows at a time")

// Error is damage in a page. It wraps [pages.ErrDamaged].
type Error struct {
	// Column and Chunk are indices of the arguments, Leaf that of the leaf of a column of lists and structs, Page that
	// of the page of the chunk, which is 0 if the host decodes it.
	Column, Chunk, Leaf, Page int
	Err                       error
	nested                    bool
}

func (e *Error) Error() string {
	if e.nested {
		return fmt.Sprintf("column %d, chunk %d, leaf %d, page %d: %v", e.Column, e.Chunk, e.Leaf, e.Page, e.Err)
	}
	return fmt.Sprintf("column %d, chunk %d, page %d: %v", e.Column, e.Chunk, e.Page, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Damage is a bit of a page's status: see page.cuh.
const (
	damageCut = 1 << iota
	damageLevel
	damageIndex
	damageWidth
	damageLength
	damageLong
	damageDelta
	damagePacked
	damagePrefix
	damageChecksum
)

// damageError returns the error of a page with damage.
func damageError(o outcome, c decompress.Codec) error {
	status := o.status
	if status&damageChecksum != 0 {
		return pages.ChecksumError(uint32(o.bytes), uint32(o.bytes>>32))
	}
	if status == damagePacked {
		return fmt.Errorf("%w: %w", decompress.Status(o.packed).Error(c), pages.ErrDamaged)
	}
	for _, damage := range []struct {
		bit  uint32
		text string
	}{
		{damageCut, "the page ends early"},
		{damageLevel, "a level above the greatest one of the column"},
		{damageIndex, "an index outside of the dictionary"},
		{damageWidth, "indices or differences of too many bits"},
		{damageLength, "a length beyond the page"},
		{damagePrefix, "a string that shares more bytes with the one before than that has"},
		{damageDelta, "a delta encoding with impossible sizes"},
	} {
		if status&damage.bit != 0 {
			return fmt.Errorf("%s: %w", damage.text, pages.ErrDamaged)
		}
	}
	return fmt.Errorf("damage of kind %#x: %w", status, pages.ErrDamaged)
}
