package column

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/memory"
)

// dictionary plans indices and the dictionary they refer to. Where the chunks'
// dictionaries are to be put one behind another, the indices move along.
func (p *planner) dictionary(n *node, l layout, chunks []chunk, oneBehindAnother bool) error {
	if !oneBehindAnother {
		if err := p.values(n, l, chunks, 1, l.width); err != nil {
			return err
		}
		since := len(p.chunks)
		if len(chunks) > 0 {
			dictionary, err := chunks[0].dictionary() // the others are the same
			if err != nil {
				return inChunk(chunks, 0, err)
			}
			p.chunks = append(p.chunks, dictionary)
		}
		return p.dictionaryOf(n, l, p.keep(since))
	}
	start := p.begin()
	behind := 0
	since := len(p.chunks)
	for i := range chunks {
		c := &chunks[i]
		dictionary, err := c.dictionary()
		if err != nil {
			return inChunk(chunks, i, err)
		}
		p.chunks = append(p.chunks, dictionary)
		if c.length > 0 {
			indices, err := c.elements(l, 1, l.width, 0)
			if err != nil {
				return inChunk(chunks, i, err)
			}
			p.fill(len(indices), rewrite(indices, l.width, shifted(l.width, uint64(behind))))
		}
		ok := false
		if behind, ok = add(behind, dictionary.length); !ok || behind > 0 && uint64(behind-1) > l.maximumIndex() {
			return inChunk(chunks, i, fmt.Errorf("the chunks' dictionaries together have more values than the indices of %v can count: use a wider index type: %w",
				l.storage, memory.ErrOverflow))
		}
	}
	p.end(n, start)
	return p.dictionaryOf(n, l, p.keep(since))
}

func (p *planner) dictionaryOf(n *node, l layout, chunks []chunk) (err error) {
	if n.dictionary, err = p.plan(l.dictionary(), chunks); err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
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

// unify makes the chunks of a dictionary type refer to one dictionary. Where
// their dictionaries differ it lets arrow-go merge them on the host. What arrow-go
// cannot merge, such as dictionaries of structs, is to be put one behind another:
// then oneBehindAnother is true.
func (p *planner) unify(l layout, chunks []chunk) (unified []chunk, oneBehindAnother bool, err error) {
	differ := false
	for i := range chunks {
		dictionary, err := chunks[i].dictionary()
		if err == nil {
			err = p.examine(l.dictionary(), dictionary)
		}
		if err == nil && chunks[i].length > 0 {
			_, err = chunks[i].elements(l, 1, l.width, 0)
		}
		if err == nil {
			_, err = chunks[i].validity(l)
		}
		if err != nil {
			return nil, false, inChunk(chunks, i, err)
		}
		differ = differ || !sameDictionary(chunks[0].data.Dictionary(), chunks[i].data.Dictionary())
	}
	if !differ {
		return chunks, false, nil
	}
	for i := range chunks {
		if err := chunks[i].checkIndices(l); err != nil {
			return nil, false, inChunk(chunks, i, err)
		}
	}
	merged := merge(l, chunks)
	if merged == nil {
		return chunks, true, nil
	}
	p.temporary = append(p.temporary, merged)
	c, err := newChunk(merged.Data(), 0, merged.Len())
	since := len(p.chunks)
	p.chunks = append(p.chunks, c)
	return p.keep(since), false, err
}

// examine checks a dictionary as planning it does, without planning it: what is
// to be compared and merged by arrow-go must not lack anything.
func (p *planner) examine(t arrow.DataType, dictionary chunk) error {
	var scratch planner
	defer scratch.release()
	if _, err := scratch.plan(t, []chunk{dictionary}); err != nil {
		return fmt.Errorf("dictionary: %w", err)
	}
	return nil
}

// checkIndices checks that every index that counts lies in the dictionary.
func (c *chunk) checkIndices(l layout) error {
	if c.length == 0 {
		return nil
	}
	indices, err := c.elements(l, 1, l.width, 0)
	if err != nil {
		return err
	}
	valid, err := c.validity(l)
	if err != nil {
		return err
	}
	return checkIndices(indices, l, c.data.Dictionary().Len(), valid, c.offset)
}

// sameDictionary reports whether two dictionaries are one, or hold equal values.
// What arrow-go cannot compare is different.
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
	return array.Equal(left, right)
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

// merge returns one array of the chunks' elements with one dictionary of their
// dictionaries' values, or nil where arrow-go has no way to do it.
func merge(l layout, chunks []chunk) (merged arrow.Array) {
	defer func() {
		if recover() != nil {
			merged = nil
		}
	}()
	parts := make([]arrow.Array, 0, len(chunks))
	defer func() {
		for _, part := range parts {
			part.Release()
		}
	}()
	for i := range chunks {
		c := &chunks[i]
		dictionary, ok := c.data.Dictionary().(*array.Data)
		if !ok {
			return nil
		}
		data := array.NewDataWithDictionary(l.storage, c.length, c.data.Buffers(), c.nulls, c.offset, dictionary)
		parts = append(parts, array.NewDictionaryData(data))
		data.Release()
	}
	merged, err := array.Concatenate(parts, arrowmemory.DefaultAllocator)
	if err != nil {
		return nil
	}
	return merged
}
