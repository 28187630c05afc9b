package dictionary

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
)

// keys says how the values of a column are compared, and where they are.
type keys struct {
	module *module
	kernel string
	// width is that of a value in bytes, of an offset for runs of bytes, or zero
	// for booleans.
	width int
	// float says that NaNs are one key and zeros another.
	float bool
	// offsets says that the values are runs of bytes between offsets.
	offsets bool
	// first is the values from the column's first on, or the offsets; of booleans
	// the bits. bytes is what offsets refer to. bit is the first boolean's.
	first, bytes memory.Slice[uint8]
	bit          int
}

// keysOf classifies a column of a type that is not a dictionary's.
func keysOf(c *column.Column) (keys, error) {
	t := c.Type()
	if extension, ok := t.(arrow.ExtensionType); ok {
		t = extension.StorageType()
	}
	switch t.ID() {
	case arrow.BOOL:
		k := keys{module: othersModule, kernel: "insert_bool", bit: c.Offset() % 8}
		var err error
		if bits := c.Buffer(1); c.Len() > 0 {
			k.first, err = bits.Slice(c.Offset()/8, (c.Offset()+c.Len()+7)/8)
		}
		return k, err
	case arrow.STRING, arrow.BINARY:
		return runsOf(c, 4, "insert_offsets_32")
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return runsOf(c, 8, "insert_offsets_64")
	}
	width, fixed := column.ElementBytes(t)
	if !fixed {
		return keys{}, fmt.Errorf("values of type %v cannot be compared: %w", c.Type(), device.ErrNotSupported)
	}
	k := keys{width: width}
	switch {
	case t.ID() == arrow.FLOAT32:
		k.module, k.kernel, k.float = floatsModule, "insert_f32", true
	case t.ID() == arrow.FLOAT64:
		k.module, k.kernel, k.float = floatsModule, "insert_f64", true
	case t.ID() == arrow.FIXED_SIZE_BINARY || width > 16 || width&(width-1) != 0:
		k.module, k.kernel = bytesModule, "insert_width"
	case width == 16:
		k.module, k.kernel = othersModule, "insert_16"
	default:
		k.module, k.kernel = integersModule, fmt.Sprintf("insert_%d", width)
	}
	if c.Len() == 0 {
		return k, nil
	}
	var err error
	k.first, err = c.ValuesRegion()
	return k, err
}

func runsOf(c *column.Column, width int, kernel string) (keys, error) {
	k := keys{module: bytesModule, kernel: kernel, width: width, offsets: true, bytes: c.Buffer(2)}
	if c.Len() == 0 {
		return k, nil
	}
	var err error
	k.first, err = c.Buffer(1).Slice(c.Offset()*width, (c.Offset()+c.Len()+1)*width)
	return k, err
}

// arguments are those of the kernel between the table and what it writes.
func (k keys) arguments() []any {
	switch {
	case k.offsets:
		return []any{k.first, k.bytes}
	case k.kernel == "insert_width":
		return []any{k.first, uint64(k.width)}
	}
	return []any{k.first, uint64(k.bit)}
}
