package rowkey

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
)

// Key is a column that rows are ordered by.
type Key struct {
	Column                 *column.Column
	Descending, NullsFirst bool
	// OwnNullsFirst puts the nulls of the column itself first; NullsFirst then is about
	// nulls in fields and elements.
	OwnNullsFirst bool
	// NaNLast puts NaN after all numbers, also if the key is descending.
	NaNLast bool
	// Reversible is for a single key. Its values are decoded from the sorted words: see
	// [Plan.Decode]. −0 comes directly before 0, and NaNs are apart from each other. A
	// null of a number or boolean has no bit, and the words of nulls come first.
	Reversible bool
}

// Storage is the form of the values of a [Source].
type Storage uint8

// The storages.
const (
	// Nothing has no values: the nulls of a struct, or a column of type null.
	Nothing Storage = iota
	// Boolean values are bits.
	Boolean
	// Unsigned, Signed and Float values have 1, 2, 4 or 8 bytes.
	Unsigned
	Signed
	Float
	// Decimal values are signed integers of 16 or 32 bytes.
	Decimal
	// Ranked values are the indices of a dictionary. Source.Ranks has their order.
	Ranked
	// Bytes values are strings and binaries.
	Bytes
	// Symbols values are lists. Source.Ranks has the order of their elements.
	Symbols
)

var storageNames = [...]string{"nothing", "boolean", "unsigned", "signed", "float", "decimal", "ranked", "bytes", "symbols"}

// String names the storage for messages.
func (s Storage) String() string { return storageNames[s] }

// Source is a column without fields that is encoded: a key, or a field of a struct that
// is a key.
type Source struct {
	Column  *column.Column
	Layout  layout.Layout
	Storage Storage
	// Key is the number of the key that the source belongs to.
	Key                                int
	Descending, NullsFirst, Reversible bool
	// InnerNullsFirst puts nulls in elements first, NaNLast NaNs last.
	InnerNullsFirst, NaNLast bool
	// Nullable reports whether rows can be null.
	Nullable bool
	// Parents are the structs with nulls around a field. A row is null if it is null in
	// any of them. Their elements are those of Column.
	Parents []*column.Column
	// Ranks are uint32, without nulls. For Ranked: for each value of the dictionary its
	// dense rank from 1, or 0 for a null. For Symbols: for each element of the child its
	// dense rank from 1, where nulls come first if InnerNullsFirst differs from Descending.
	Ranks *column.Column
	// Bounded reports whether all values of Unsigned or Signed are known to be in Least to
	// Greatest, which are unsigned numbers in the order of the values: the sign bit is
	// inverted. All values of a Decimal are known to fit 64 bits then.
	Bounded         bool
	Least, Greatest uint64
}

// Sources returns the sources of the keys, in order. The caller releases them.
//
// # Errors
//
// A type without an order is a [*TypeError].
func Sources(keys []Key) ([]Source, error) {
	var f flattener
	for i, key := range keys {
		if err := f.add(key.Column, Source{
			Key: i, Descending: key.Descending, Reversible: key.Reversible, NaNLast: key.NaNLast,
			NullsFirst: key.NullsFirst || key.OwnNullsFirst, InnerNullsFirst: key.NullsFirst,
		}); err != nil {
			return nil, errors.Join(err, Release(f.sources))
		}
	}
	return f.sources, nil
}

// Release releases the columns of sources.
func Release(sources []Source) error {
	var failures []error
	for _, s := range sources {
		failures = append(failures, s.Column.Release(), s.Ranks.Release(), release.All(s.Parents))
	}
	return errors.Join(failures...)
}

// TypeError is a key of a type without an order. It wraps device.ErrNotSupported.
type TypeError struct {
	// Key is the number of the key.
	Key int
	// Type is the type of the key, Part the type in it that has no order.
	Type, Part arrow.DataType
}

// Error names the type, and the part of it that has no order.
func (e *TypeError) Error() string {
	if arrow.TypeEqual(e.Type, e.Part) {
		return fmt.Sprintf("values of type %v have no order", e.Type)
	}
	return fmt.Sprintf("values of type %v have no order, because %v has none", e.Type, e.Part)
}

// Unwrap returns device.ErrNotSupported.
func (e *TypeError) Unwrap() error { return device.ErrNotSupported }

// Check returns a [*TypeError] if values of a type have no order.
func Check(t arrow.DataType, key int) error {
	part, err := unordered(t)
	if err != nil {
		return err
	}
	if part != nil {
		return &TypeError{Key: key, Type: t, Part: part}
	}
	return nil
}

// unordered returns the part of a type that has no order, or nil.
func unordered(t arrow.DataType) (arrow.DataType, error) {
	l, err := layout.Of(t)
	if err != nil {
		return nil, err
	}
	switch {
	case l.Kind == layout.Dictionary:
		return unordered(l.Dictionary())
	case l.Storage.ID() == arrow.MAP:
		return t, nil
	case l.Kind == layout.Struct, l.Kind == layout.List, l.Kind == layout.ListView, l.Kind == layout.FixedSizeList:
		for i := range l.Children() {
			child, _ := l.Child(i)
			if part, err := unordered(child); part != nil || err != nil {
				return part, err
			}
		}
		return nil, nil
	case l.Kind == layout.Null || l.Ordered():
		return nil, nil
	}
	return t, nil
}

// Alike reports whether the columns of a type in several tables have plans with equal
// segments, if all or none of them are nullable. Ranks depend on the values of a table,
// and the sources of a struct on its nulls.
func Alike(t arrow.DataType) bool {
	l, err := layout.Of(t)
	if err != nil {
		return false
	}
	switch l.Kind {
	case layout.Fixed, layout.Bits, layout.Binary, layout.View, layout.Null:
		return true
	}
	return false
}

// storageOf returns the storage of a type that has an order and is no struct.
func storageOf(l layout.Layout) Storage {
	switch l.Kind {
	case layout.Null:
		return Nothing
	case layout.Bits:
		return Boolean
	case layout.Dictionary:
		return Ranked
	case layout.List, layout.ListView, layout.FixedSizeList:
		return Symbols
	case layout.Binary, layout.View:
		return Bytes
	}
	switch l.Stored() {
	case layout.Unsigned:
		return Unsigned
	case layout.Signed:
		return Signed
	case layout.Float:
		return Float
	case layout.Decimal:
		return Decimal
	}
	return Bytes
}

// flattener collects sources.
type flattener struct{ sources []Source }

// add adds the sources of a column. The source has the properties of the key. The column
// is retained.
func (f *flattener) add(c *column.Column, s Source) error {
	if err := c.Check(); err != nil {
		return err
	}
	if len(s.Parents) == 0 {
		if err := Check(c.Type(), s.Key); err != nil {
			return err
		}
	}
	l, err := layout.Of(c.Type())
	if err != nil {
		return err
	}
	isStruct := l.Kind == layout.Struct
	nullable := hasNulls(c, l)
	if l.Kind == layout.Dictionary {
		nullable = nullable || c.Dictionary().NullCount() != 0
	}
	parents := s.Parents
	if !isStruct || nullable {
		s.Column, s.Layout, s.Nullable = c, l, nullable || len(parents) > 0
		if !isStruct {
			s.Storage = storageOf(l)
		}
		if err := f.append(s); err != nil {
			return err
		}
	}
	if !isStruct {
		return nil
	}
	if nullable {
		s.Parents = append(parents[:len(parents):len(parents)], c)
	}
	s.Storage, s.NullsFirst, s.Reversible = Nothing, s.InnerNullsFirst, false
	for i := range l.Children() {
		if err := f.addChild(c, i, s); err != nil {
			return err
		}
	}
	return nil
}

// hasNulls reports whether a column may have nulls, apart from columns of type null.
func hasNulls(c *column.Column, l layout.Layout) bool { return l.HasValidity() && op.Nullable(c) }

// addChild adds a field of a struct. Fields of a sliced struct are not sliced.
func (f *flattener) addChild(c *column.Column, i int, s Source) error {
	child, err := c.Child(i).SliceCapacity(c.Offset(), c.Len())
	if err != nil {
		return err
	}
	return errors.Join(f.add(child, s), child.Release())
}

// append adds a source with separate references.
func (f *flattener) append(s Source) error {
	parents := s.Parents
	s.Parents = nil
	if err := s.Column.Retain(); err != nil {
		return err
	}
	f.sources = append(f.sources, s)
	own := &f.sources[len(f.sources)-1]
	for _, p := range parents {
		if err := p.Retain(); err != nil {
			return err
		}
		own.Parents = append(own.Parents, p)
	}
	return nil
}
