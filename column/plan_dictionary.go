package column

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/arrays/arraybits"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/memory"
)

// dictionary plans indices and the dictionary that they refer to. Chunks with
// different dictionaries get a common dictionary of all values; their indices are
// rewritten during the transfer.
func (p *planner) dictionary(n *node, l layout.Layout, chunks []chunk) error {
	since := len(p.chunks)
	for i := range chunks {
		dictionary, err := chunks[i].dictionary()
		if err != nil {
			return inChunk(chunks, i, err)
		}
		p.chunks = append(p.chunks, dictionary)
	}
	dictionaries := p.keep(since)
	indices, dictionaries, err := p.unify(l, chunks, dictionaries)
	if err != nil {
		return err
	}
	unique := Unknown
	if len(dictionaries) == 1 && worthLookingAt(dictionaries[0].length, n.length) {
		unique = dictionaries[0].uniqueValues(l.Dictionary())
	}
	start := p.begin()
	for i, c := range nonEmpty(chunks) {
		bytes, err := c.elements(l, 1)
		if err != nil {
			return inChunk(chunks, i, err)
		}
		if indices == nil {
			p.elements(bytes, l.Width, nil, chunks, i, c.checkedIndices(l, bytes))
		} else { // checked by unify
			p.elements(bytes, l.Width, indices[i], chunks, i, nil)
		}
	}
	p.end(n, start)
	if n.dictionary, err = p.below(dictionaryNumber, "", l.Dictionary(), dictionaries); err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	n.dictionary.known.Unique = unique
	return nil
}

// dictionary returns the chunk's whole dictionary.
func (c *chunk) dictionary() (chunk, error) {
	data := c.data.Dictionary()
	if isNil(data) {
		return chunk{}, fmt.Errorf("the dictionary is nil: %w", ErrInvalid)
	}
	dictionary, err := newChunk(data, 0, data.Len())
	if err != nil {
		return chunk{}, fmt.Errorf("dictionary: %w", err)
	}
	return dictionary, nil
}

// unify makes one dictionary for all chunks, as chunks, and the rewriting of each
// chunk's indices. A rewriting is nil if the indices stay unchanged.
func (p *planner) unify(l layout.Layout, chunks, dictionaries []chunk) ([]rewriting, []chunk, error) {
	if len(chunks) < 2 {
		return nil, dictionaries, nil
	}
	differ := false
	for i := range dictionaries {
		if err := examine(l.Dictionary(), dictionaries[i]); err != nil {
			return nil, nil, inChunk(chunks, i, err)
		}
		differ = differ || !sameDictionary(dictionaries[0].data, dictionaries[i].data)
	}
	if !differ {
		return nil, dictionaries[:1], nil
	}
	for i := range chunks {
		if err := chunks[i].checkIndices(l); err != nil {
			return nil, nil, inChunk(chunks, i, err)
		}
	}
	if merged, indices := merge(l, dictionaries); merged != nil {
		p.temporary = append(p.temporary, merged)
		c, err := newChunk(merged.Data(), 0, merged.Len())
		return indices, []chunk{c}, err
	}
	indices := make([]rewriting, len(chunks))
	behind := 0
	for i := range dictionaries {
		indices[i] = shifted(l.Width, uint64(behind))
		ok := false
		if behind, ok = add(behind, dictionaries[i].length); !ok || behind > 0 && uint64(behind-1) > l.MaximumIndex() {
			return nil, nil, inChunk(chunks, i, fmt.Errorf("the dictionaries together have more values than the indices of %v can count: use a wider index type: %w",
				l.Storage, memory.ErrOverflow))
		}
	}
	return indices, dictionaries, nil
}

// examine checks a dictionary and its contents without a transfer: arrow-go compares
// and merges dictionaries without checks.
func examine(t arrow.DataType, dictionary chunk) error {
	var scratch planner
	defer scratch.release()
	if _, err := scratch.plan(t, []chunk{dictionary}); err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	if err := scratch.examineContents(); err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	return nil
}

// checkIndices checks that every index of a valid element lies in the dictionary.
func (c *chunk) checkIndices(l layout.Layout) error {
	if c.length == 0 {
		return nil
	}
	indices, err := c.elements(l, 1)
	if err != nil {
		return err
	}
	valid, err := c.validity(l)
	if err != nil {
		return err
	}
	return checkIndices(indices, l, c.data.Dictionary().Len(), valid, c.offset, 0)
}

// sameDictionary reports whether two dictionaries are the same array, or hold values of
// equal bits. Dictionaries that arrow-go cannot compare are different.
func sameDictionary(a, b arrow.ArrayData) (same bool) {
	defer func() {
		if recover() != nil {
			same = false
		}
	}()
	if a.Len() != b.Len() {
		return false
	}
	if a == b || shared(a, b) {
		return true
	}
	left, right := array.MakeFromData(a), array.MakeFromData(b)
	defer left.Release()
	defer right.Release()
	return arraybits.Equal(left, right)
}

// shared reports whether two arrays of one length are views of the same memory.
func shared(a, b arrow.ArrayData) bool {
	if a.Offset() != b.Offset() || len(a.Children()) > 0 || !isNil(a.Dictionary()) || len(a.Buffers()) != len(b.Buffers()) {
		return false
	}
	for i, buffer := range a.Buffers() {
		if buffer != b.Buffers()[i] {
			return false
		}
	}
	return true
}

// merge returns a dictionary of the values of all dictionaries, each value once, and
// the rewriting of the indices into each of them. It returns nil if arrow-go cannot
// merge them, for example dictionaries of structs, or if the indices are too narrow
// for the number of values.
func merge(l layout.Layout, dictionaries []chunk) (merged arrow.Array, indices []rewriting) {
	defer func() {
		if recover() != nil {
			merged, indices = nil, nil
		}
	}()
	// arrow-go takes NaNs with different bits for equal.
	bits := arraybits.Unsigned(l.Dictionary())
	unifier, err := array.NewDictionaryUnifier(arrowmemory.DefaultAllocator, bits)
	if err != nil {
		return nil, nil
	}
	defer unifier.Release()
	for i := range dictionaries {
		floats := array.MakeFromData(dictionaries[i].data)
		defer floats.Release()
		values := arraybits.As(bits, floats)
		defer values.Release()
		moved, err := unifier.UnifyAndTranspose(values)
		if err != nil {
			return nil, nil
		}
		indices = append(indices, transposed(l.Width, arrow.Int32Traits.CastFromBytes(moved.Bytes())))
	}
	merged, err = unifier.GetResultWithIndexType(l.Storage.(*arrow.DictionaryType).IndexType)
	if err != nil {
		return nil, nil
	}
	defer merged.Release()
	return arraybits.As(l.Dictionary(), merged), indices
}
