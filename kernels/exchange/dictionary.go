package exchange

import (
	"fmt"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/arraybits"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
)

// mostCompared is the size of the memory of a dictionary above which dictionaries of several
// devices are not compared: the host compares them.
const mostCompared = 16 << 20

// shareDictionaries gives pieces of a column one dictionary if theirs are equal, so that the
// dictionary does not grow with each exchange. It replaces the pieces.
func (m *mover) shareDictionaries(pieces []*column.Column) error {
	if len(pieces) < 2 || !canCompare(pieces[0].Dictionary()) {
		return nil
	}
	first := pieces[0].Dictionary()
	want, err := first.Array(m.ctx)
	if err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	defer want.Release()
	for i, piece := range pieces[1:] {
		other := piece.Dictionary()
		if other == first || other.Len() != first.Len() || !canCompare(other) {
			continue
		}
		got, err := other.Array(m.ctx)
		if err != nil {
			return fmt.Errorf("dictionary: %w", err)
		}
		equal := arraybits.Equal(want, got)
		got.Release()
		if !equal {
			continue
		}
		data := piece.Data()
		data.Dictionary = first
		shared, err := column.New(data)
		if err != nil {
			return err
		}
		pieces[i+1] = shared
		if err := piece.Release(); err != nil {
			return err
		}
	}
	return nil
}

// canCompare reports whether a dictionary is small and its values are numbers, strings or the
// like.
func canCompare(dictionary *column.Column) bool {
	if dictionary == nil {
		return false
	}
	bytes := uint64(0)
	for i := range dictionary.NumBuffers() {
		bytes += dictionary.Buffer(i).Bytes()
	}
	l, err := layout.Of(dictionary.Type())
	return err == nil && bytes <= mostCompared && (l.Kind == layout.Fixed || l.Kind == layout.Binary)
}
