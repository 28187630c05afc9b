package join

import (
	"errors"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
)

// matcher finds the matches of the keys of one call.
type matcher struct {
	*call
	facts facts
	// keys are those of the probe and the build side. The former are nil if the build side is kept.
	keys [2][]*column.Column
	// encoding makes words of them, or is nil. words are those of the build side, until it is built.
	encoding *encoding
	words    *words
	// least is the least word of the build side, if its range is known.
	least uint64

	held release.Stack
}

// measure makes the words of the build side, and finds the facts that the choice depends on. A GPU waits for the ranges of
// keys if they do not fit 64 bits otherwise.
func (m *matcher) measure() (err error) {
	f := &m.facts
	if !f.mayHaveWords() {
		return nil
	}
	var bound uint64
	if m.keys[0] != nil {
		if m.keys, bound, err = numbered(m.call, &m.held, m.keys); err != nil {
			return err
		}
	}
	if f.build > mostBuilt {
		return nil
	}
	if m.encoding, err = newEncoding(m.call, m.keys, bound); err != nil || m.encoding == nil {
		return err
	}
	if m.words, err = m.encoding.words(m.call, 1, m.keys[1]); err != nil {
		return err
	}
	f.words, f.masked, f.distinct = true, m.words.valid.Len() > 0, f.distinct || m.words.unique
	m.least, f.places, _ = m.words.span()
	return nil
}

// built is the build side of a join: a table of the rows, or the keys sorted if they do not fit
// 64 bits.
type built struct {
	table  *table
	sorted *sortedRows

	held release.Stack
}

// Release releases what the build side holds.
func (b *built) Release() error {
	if b == nil {
		return nil
	}
	return errors.Join(b.table.Release(), b.held.Release())
}
