package pages

import (
	"encoding/binary"
	"fmt"
	"io"
)

// mostNested is the depth of groups of columns within each other.
const mostNested = 256

// footerSchema and elementChildren are fields of the metadata of a file and of a column in
// it.
const (
	footerSchema    = 2
	elementChildren = 5
)

// Footer returns the footer of a file, after a check of its lists: arrow-go allocates a list of
// the length that it claims.
//
// # Errors
//
// An error wraps [ErrDamaged], or is that of the reader. A file without a footer, or with an
// encrypted one, is no error here: it has no bytes.
func Footer(file io.ReaderAt, size int64) ([]byte, error) {
	tail := make([]byte, 8)
	if size < 12 {
		return nil, nil
	}
	if _, err := file.ReadAt(tail, size-8); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	if string(tail[4:]) != "PAR1" || length > size-8 {
		return nil, nil // arrow-go reports it
	}
	data := make([]byte, length)
	if _, err := file.ReadAt(data, size-8-length); err != nil {
		return nil, err
	}
	d := decoder{data: data}
	return data, d.fields(mostDepth, func(field int, kind byte) error {
		if field == footerSchema && kind == typeList {
			return d.columns()
		}
		return d.pass(kind, mostDepth-1)
	})
}

// columns checks the tree of columns, which is a list in preorder.
func (d *decoder) columns() error {
	// open has the number of children that are missing, for each group around the next column.
	var open []int64
	return d.elements(func(kind byte) error {
		if kind != typeStruct {
			return fmt.Errorf("a column is of type %d: %w", kind, ErrDamaged)
		}
		column, err := d.object(mostDepth)
		if err != nil {
			return err
		}
		if len(open) > 0 {
			open[len(open)-1]--
		}
		children := column[elementChildren].number
		if children < 0 || children > int64(len(d.data)) || len(open) > mostNested {
			return fmt.Errorf("a column has %d columns below it and is nested %d deep: %w", children, len(open), ErrDamaged)
		}
		if children > 0 {
			open = append(open, children)
		}
		for len(open) > 0 && open[len(open)-1] <= 0 {
			open = open[:len(open)-1]
		}
		return nil
	})
}
