package pages

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Fields of the metadata of a file.
const (
	footerRows   = 3
	footerGroups = 4
)

// WithRows returns the footer of a file without rows as that of a file with rows and row groups.
// groups is a list of them in thrift's compact protocol.
//
// # Errors
//
// An error wraps [ErrDamaged]: a footer without a field for rows and row groups.
func WithRows(footer []byte, rows int64, groups []byte) ([]byte, error) {
	d := decoder{data: footer}
	var head, tail []byte
	err := d.fields(mostDepth, func(field int, kind byte) error {
		switch field {
		case footerRows:
			head = footer[:d.at]
		case footerGroups:
			head = append(binary.AppendVarint(slices.Clone(head), rows), footer[d.at-1])
		}
		err := d.pass(kind, mostDepth-1)
		if field == footerGroups {
			tail = footer[d.at:]
		}
		return err
	})
	if err == nil && tail == nil {
		err = fmt.Errorf("the footer has no row groups: %w", ErrDamaged)
	}
	return slices.Concat(head, groups, tail), err
}
