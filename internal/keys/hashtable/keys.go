package hashtable

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// keys are the values of a column and the kernel that compares them.
type keys struct {
	// kernel is the kernel that inserts the keys.
	kernel string
	kind   keyKind
	// width is the number of bytes of a value or of an offset.
	width int
	// first holds the values or the offsets, from those of the first row on. For
	// booleans it holds the bits, and bit is the position of the first row in it. bytes
	// is the data that offsets point into.
	first, bytes memory.Slice[uint8]
	bit          int
	// last is the largest integer that is a key. Larger ones are treated like nulls.
	last uint64
}

// keyKind is the memory layout of keys.
type keyKind uint8

const (
	// keyBits are booleans.
	keyBits keyKind = iota
	// keyFixed are values of a fixed width, compared by their bits.
	keyFixed
	// keyFloat are floats. All NaNs are one key, and so are both zeros.
	keyFloat
	// keyBytes are bytes between offsets.
	keyBytes
)

// keysOf returns the keys of a column that is not encoded by a dictionary.
func keysOf(c *column.Column) (keys, error) {
	l, err := layout.Of(c.Type())
	if err != nil {
		return keys{}, err
	}
	switch l.Kind {
	case layout.Bits:
		k := keys{kernel: "insert_bool", kind: keyBits, bit: c.Offset() % 8}
		if bits := c.Buffer(1); c.Len() > 0 {
			k.first, err = bits.Slice(c.Offset()/8, (c.Offset()+c.Len()+7)/8)
		}
		return k, err
	case layout.Binary:
		if l.Width == 4 {
			return runsOf(c, 4, "insert_offsets_32")
		}
		return runsOf(c, 8, "insert_offsets_64")
	case layout.Fixed:
	default:
		return keys{}, layout.Refuse(c.Type(), "values of a fixed width, booleans, strings or binaries", device.ErrNotSupported)
	}
	width := l.Width
	k := keys{kind: keyFixed, width: width, last: math.MaxUint64}
	switch {
	case l.Class == layout.Float:
		k.kernel, k.kind = fmt.Sprintf("insert_f%d", 8*width), keyFloat
	case l.Class == layout.Bytes || width > 16 || width&(width-1) != 0:
		k.kernel = "insert_width"
	case width == 16:
		k.kernel = "insert_16"
	default:
		k.kernel = fmt.Sprintf("insert_%d", width)
	}
	if c.Len() == 0 {
		return k, nil
	}
	k.first, err = c.ValuesRegion()
	return k, err
}

func runsOf(c *column.Column, width int, kernel string) (keys, error) {
	k := keys{kernel: kernel, kind: keyBytes, width: width, bytes: c.Buffer(2)}
	if c.Len() == 0 {
		return k, nil
	}
	var err error
	k.first, err = c.Buffer(1).Slice(c.Offset()*width, (c.Offset()+c.Len()+1)*width)
	return k, err
}

// distinct returns the number of different keys that the type has.
func (k keys) distinct() uint64 {
	switch {
	case k.kind == keyBits:
		return 2
	case k.kind == keyBytes || k.width > 2:
		return math.MaxUint64
	}
	return 1 << (8 * k.width)
}

// arguments returns the kernel's arguments between the table and the slots.
func (k keys) arguments() []any {
	switch {
	case k.kind == keyBytes:
		return []any{k.first, k.bytes, k.bytes.Bytes()}
	case k.kernel == "insert_width":
		return []any{k.first, uint64(k.width)}
	case k.kind == keyFixed && k.width <= 8:
		return []any{k.first, k.last}
	}
	return []any{k.first, uint64(k.bit)}
}
