package packed

import (
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// Block is packed rows of a column.
type Block struct {
	Rows, Nulls int
	// Low and High are bounds of the values, nulls and NaN aside, if Bounded is set: integers, the bits of a float64, or
	// decimals without their point.
	Low, High int64
	Bounded   bool
	// Coded is set if the strings are those of the dictionary. Text is the length of the strings.
	Coded bool
	Text  uint32
	// Bytes are the tiles, their codes and their strings. Their address is a multiple of 8. Blocks behind each other in
	// one slice are copied together.
	Bytes []byte
}

// Column is consecutive blocks of a column. All blocks but the last one of the whole column have [BlockRows] rows.
type Column struct {
	Type   arrow.DataType
	Blocks []Block
	// Dictionary has the strings of coded blocks, or is nil.
	Dictionary *Dictionary
	// First is the number of rows of the first block that are left out, Rows that of the rows after them.
	First, Rows int64
}

// Bytes is the length of the blocks. The dictionary is not part of it.
func (c Column) Bytes() (bytes int64) {
	for i := range c.Blocks {
		bytes += int64(len(c.Blocks[i].Bytes))
	}
	return bytes
}

// check checks all but the contents of the blocks.
func (c Column) check() (kind, error) {
	k, err := checkType(c.Type)
	if err != nil {
		return 0, err
	}
	rows := int64(0)
	for i := range c.Blocks {
		b := &c.Blocks[i]
		if err := b.check(c.Dictionary, k, i == len(c.Blocks)-1); err != nil {
			return 0, &Error{Block: i, Err: err}
		}
		rows += int64(b.Rows)
	}
	if c.First < 0 || c.Rows < 0 || c.First > rows || c.Rows > rows-c.First {
		return 0, fmt.Errorf("%d rows from row %d on of %d: %w", c.Rows, c.First, rows, device.ErrInvalidValue)
	}
	if rows > math.MaxInt32 {
		return 0, fmt.Errorf("%d rows, expected %d at most: %w", rows, math.MaxInt32, device.ErrInvalidValue)
	}
	return k, nil
}

func (b *Block) check(d *Dictionary, k kind, last bool) error {
	switch {
	case b.Rows <= 0 || b.Rows > BlockRows || b.Rows < BlockRows && !last:
		return fmt.Errorf("%d rows: %w", b.Rows, ErrDamaged)
	case b.Nulls < 0 || b.Nulls > b.Rows:
		return fmt.Errorf("%d nulls in %d rows: %w", b.Nulls, b.Rows, ErrDamaged)
	case uint64(len(b.Bytes)) > math.MaxUint32 || len(b.Bytes) < tileCount(b.Rows)*int(tileBytes)+padding:
		return fmt.Errorf("%d bytes: %w", len(b.Bytes), ErrDamaged)
	case b.Coded && d == nil:
		return fmt.Errorf("it has codes, and the column no dictionary: %w", ErrDamaged)
	case k.isText() && !b.Coded && int(b.Text) > len(b.Bytes)-padding:
		return fmt.Errorf("%d bytes of strings in %d bytes: %w", b.Text, len(b.Bytes), ErrDamaged)
	}
	return nil
}

// strings is the offset of the strings of a block without codes.
func (b *Block) strings() int { return len(b.Bytes) - padding - int(b.Text) }

// tiles are those of a block that was checked.
func (b *Block) tiles() []tile { return address.ValuesOf[tile](b.Bytes)[:tileCount(b.Rows)] }

// Release releases the memory of packed columns.
func Release(memory []*arrowmemory.Buffer) {
	release.Arrow(memory)
}
