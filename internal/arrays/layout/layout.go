package layout

import (
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"
)

// Layout describes a type in memory and the meaning of its values. It has at most four
// fields and four words, so that the compiler keeps it in registers.
type Layout struct {
	Kind  Kind
	Class Class
	// Width is the length in bytes of a value, a view, an index or a run end, or of an
	// offset if the values have no fixed width.
	Width int
	// Storage is the type itself, or the storage type of an extension type.
	Storage arrow.DataType
}

// deepest bounds how many extension types are stored as one another.
const deepest = 64

// Of returns the layout of a type. It ignores the types of children and of a
// dictionary's values. It allocates only if it fails.
//
// # Errors
//
// The error is a [*TypeError].
func Of(t arrow.DataType) (Layout, error) {
	if t == nil {
		return Layout{}, &TypeError{Problem: "the type is nil"}
	}
	id := t.ID()
	if id == arrow.EXTENSION {
		var err error
		if t, err = storageOf(t); err != nil {
			return Layout{}, err
		}
		id = t.ID()
	}
	if uint(id) >= uint(len(rows)) || rows[id].kind == unknown {
		return Layout{}, &TypeError{Type: t, Problem: "has no layout that is known here", Unknown: true}
	}
	r := &rows[id]
	l := Layout{Kind: r.kind, Class: r.class, Width: int(r.width), Storage: t}
	if r.parameters {
		return l.withParameters()
	}
	return l, nil
}

// Storage returns the type itself, or the storage type of an extension type. The result
// is nil if the type only claims to be an extension type.
func Storage(t arrow.DataType) arrow.DataType {
	if t == nil || t.ID() != arrow.EXTENSION {
		return t
	}
	t, _ = storageOf(t)
	return t
}

func storageOf(t arrow.DataType) (arrow.DataType, error) {
	given := t
	for range deepest {
		extension, ok := t.(arrow.ExtensionType)
		if !ok {
			return nil, &TypeError{Type: given, Problem: "claims to be an extension type and is none", Unknown: true}
		}
		if t = extension.StorageType(); t == nil {
			return nil, &TypeError{Type: given, Problem: "is an extension type without a storage type"}
		}
		if t.ID() != arrow.EXTENSION {
			return t, nil
		}
	}
	return nil, &TypeError{Type: given, Problem: "is stored as extension types without end"}
}

// withParameters checks that the type has the Go type that its identity promises, and
// adds the width that only the type knows.
func (l Layout) withParameters() (Layout, error) {
	fits := false
	switch l.Kind {
	case Fixed:
		if t, ok := l.Storage.(*arrow.FixedSizeBinaryType); ok {
			l.Width, fits = t.ByteWidth, t.ByteWidth >= 0
		}
	case List, ListView:
		_, fits = l.Storage.(arrow.ListLikeType)
	case FixedSizeList:
		_, fits = l.Storage.(*arrow.FixedSizeListType)
	case Struct:
		_, fits = l.Storage.(*arrow.StructType)
	case SparseUnion, DenseUnion:
		_, fits = l.Storage.(arrow.UnionType)
	case Dictionary:
		t, ok := l.Storage.(*arrow.DictionaryType)
		if !ok || t.IndexType == nil || !arrow.IsInteger(t.IndexType.ID()) {
			return Layout{}, &TypeError{Type: l.Storage, Problem: "is no dictionary type with integer indices"}
		}
		l.Width, fits = int(rows[t.IndexType.ID()].width), true
	case RunEnds:
		t, ok := l.Storage.(*arrow.RunEndEncodedType)
		if !ok || t.RunEnds() == nil || !arrow.IsSignedInteger(t.RunEnds().ID()) || t.RunEnds().ID() == arrow.INT8 {
			return Layout{}, &TypeError{Type: l.Storage, Problem: "is not run-end encoded with int16, int32 or int64 run ends"}
		}
		l.Width, fits = int(rows[t.RunEnds().ID()].width), true
	}
	if !fits {
		return Layout{}, &TypeError{Type: l.Storage, Problem: "does not have what its identity promises"}
	}
	return l, nil
}

// Buffers returns how many buffers an array has. A view has this many, and data buffers
// after them.
func (l Layout) Buffers() int { return buffersOf[l.Kind].count }

// Buffer returns what buffer i holds; of a view all from the third on are data.
func (l Layout) Buffer(i int) Buffer {
	buffers := &buffersOf[l.Kind].buffers
	return buffers[min(i, len(buffers)-1)]
}

// HasValidity reports whether the first buffer is a validity bitmap.
func (l Layout) HasValidity() bool {
	entry := &buffersOf[l.Kind]
	return entry.count > 0 && entry.buffers[0] == Validity
}

// InArrow returns the number that buffer i has in an array of arrow-go, which keeps an
// empty place for the validity bitmap that unions lack.
func (l Layout) InArrow(i int) int {
	if l.HasValidity() {
		return i
	}
	return i + 1
}

// ElementBytes returns how many bytes of a buffer belong to one element; zero for
// bitmaps and data.
func (l Layout) ElementBytes(b Buffer) int {
	switch b {
	case Validity, ValueBits, Data:
		return 0
	case ChildOffsets:
		return 4
	}
	return l.Width
}

// Alignment returns what the address of a buffer is a multiple of.
func (l Layout) Alignment(b Buffer) int {
	switch b {
	case Validity, ValueBits, Data:
		return 1
	case ChildOffsets:
		return 4
	}
	const most = 8
	switch {
	case l.Kind == Fixed && l.Class == Bytes:
		return 1 // bytes need no alignment
	case l.Class == Interval && l.Width == 8:
		return 4 // two numbers of four bytes
	}
	return min(max(l.Width, 1), most)
}

// Extent returns the bytes that elements up to end take in a buffer, and whether they
// fit an int64. It is zero for data, whose length the offsets or views decide. An array
// without elements needs no offset.
func (l Layout) Extent(b Buffer, end int) (bytes uint64, ok bool) {
	count := uint64(end)
	switch b {
	case Validity, ValueBits:
		return count/8 + (count%8+7)/8, true
	case Data:
		return 0, true
	case Offsets:
		if end > 0 {
			count++
		}
	}
	high, bytes := bits.Mul64(count, uint64(l.ElementBytes(b)))
	return bytes, high == 0 && int64(bytes) >= 0
}

// IsSigned reports whether the integers that the type is stored in, or the indices of a
// dictionary, have a sign.
func (l Layout) IsSigned() bool {
	if l.Kind != Dictionary {
		return l.Stored() == Signed
	}
	return rows[l.Storage.(*arrow.DictionaryType).IndexType.ID()].class == Signed
}

// MaximumOffset returns the largest offset or run end that the type can hold.
func (l Layout) MaximumOffset() int64 { return 1<<(8*l.Width-1) - 1 }

// MaximumIndex returns the largest index that a dictionary type can hold.
func (l Layout) MaximumIndex() uint64 {
	bits := 8 * l.Width
	if l.IsSigned() {
		bits--
	}
	return 1<<bits - 1
}
