package chunks

import (
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/internal/io/source/pages"
)

// selected is a chunk with the pages that have rows to decode.
type selected struct {
	*Chunk
	index      int // of the chunk
	plan       pages.Plan
	dictionary int // index of a page, or -1
	pages      []int
	// before is the number of rows of the first page before the first one to decode.
	before, rows int64
}

// pagesOf selects the pages of a chunk, which may be a part of a list or a struct.
func pagesOf(c *Chunk, nested bool) (s selected, err error) {
	s = selected{Chunk: c, dictionary: -1, plan: c.Plan}
	if s.plan == nil {
		if s.plan, err = pages.NewPlan(c.Bytes, c.About.Column); err != nil {
			return s, &Error{Err: err}
		}
	}
	if !nested && !c.About.Decodable() {
		return s, fmt.Errorf("%v from %v: %w", c.About.Type, c.About.Physical, pages.ErrOther)
	}
	err = undecodable(c.About, s.plan)
	if nested && err == nil {
		err = undecodableLeaf(c.About, s.plan)
	}
	if err != nil {
		return s, err
	}
	// A string may share its beginning with one of the page before.
	shares := slices.ContainsFunc(s.plan, func(p pages.Page) bool { return p.HasValues() && p.Encoding == pages.DeltaByteArray })
	row := int64(0)
	for i, p := range s.plan {
		if p.Kind == pages.DictionaryPage {
			s.dictionary = i
		}
		if !p.HasValues() {
			continue
		}
		if p.Values > 0 && row < c.end() && (shares || row+p.Values > c.First) {
			if len(s.pages) == 0 {
				s.before = c.First - row
			}
			s.pages = append(s.pages, i)
			s.rows += p.Values
		}
		row += p.Values
	}
	return s, nil
}

// indexed reports whether a selected page has indices.
func (s selected) indexed() bool {
	return slices.ContainsFunc(s.pages, func(i int) bool { return s.plan[i].Indexed() })
}
