package order

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/memory"
)

// fewFirst is the largest part of the rows that is selected before it is sorted.
const fewFirst = 1.0 / 8

// candidate is a row and its first word.
type candidate struct {
	word uint64
	row  uint32
}

// firstOnHost returns the first k rows. It collects the rows with a first word that
// may be among the first k, and sorts these. ok is false if they are too many: then all rows
// have to be sorted.
func (o *ordering) firstOnHost(k int) (first *column.Column, ok bool, err error) {
	if k == 0 || float64(k) > fewFirst*float64(o.rows) || o.plan.Bits() == 0 {
		return nil, false, nil
	}
	host, err := rowkey.NewHost(o.plan)
	if err != nil {
		return nil, false, err
	}
	count := parallel.Parts(o.rows)
	each := make([][]candidate, count)
	var many atomic.Bool
	err = parallel.Run(o.call.Context(), o.rows, count, func(part, begin, end int) {
		s := firstSelection{host: host, k: k, oneWord: o.plan.Exact() && o.plan.Segments[0].Words() == 1}
		each[part] = s.collect(begin, end)
		if s.full {
			many.Store(true)
		}
	})
	if err != nil || many.Load() {
		return nil, false, err
	}
	all := slices.Concat(each...)
	first, err = o.sortCandidates(all, k)
	return first, true, err
}

// firstSelection collects the candidates of a range of rows.
type firstSelection struct {
	host *rowkey.Host
	k    int
	// oneWord means that the first words decide the order.
	oneWord    bool
	candidates []candidate
	// worst is the largest word that a candidate may have. full means that too many rows
	// have it.
	worst uint64
	full  bool
}

// collect returns the candidates in the order of their rows.
func (s *firstSelection) collect(begin, end int) []candidate {
	var words [4096]uint64
	limit := 2*s.k + len(words)
	s.worst = ^uint64(0)
	for first := begin; first < end && !s.full; first += len(words) {
		batch := words[:min(len(words), end-first)]
		s.host.Encode(0, 0, rowkey.Rows{First: first}, batch)
		for i, word := range batch {
			if word <= s.worst {
				s.candidates = append(s.candidates, candidate{word, uint32(first + i)})
			}
		}
		if len(s.candidates) >= limit {
			s.narrow()
			s.full = len(s.candidates) >= limit
		}
	}
	s.narrow()
	return s.candidates
}

// narrow drops candidates that are not among the first k.
func (s *firstSelection) narrow() {
	if len(s.candidates) <= s.k {
		return
	}
	slices.SortFunc(s.candidates, func(a, b candidate) int { return cmp.Or(cmp.Compare(a.word, b.word), cmp.Compare(a.row, b.row)) })
	s.worst = s.candidates[s.k-1].word
	kept := s.k
	for !s.oneWord && kept < len(s.candidates) && s.candidates[kept].word == s.worst {
		kept++ // later words decide
	}
	s.candidates = s.candidates[:kept]
}

// sortCandidates returns the first k of the candidates, of which there are as many.
func (o *ordering) sortCandidates(candidates []candidate, k int) (*column.Column, error) {
	slices.SortFunc(candidates, func(a, b candidate) int { return cmp.Compare(a.row, b.row) })
	n := len(candidates)
	sizes := append(hostScratch(n), 4*uint64(n))
	block, scratch, err := o.call.Scratch(sizes...)
	if err != nil {
		return nil, err
	}
	var first *column.Column
	err = releasedAfter(block, func() error {
		rows, err := memory.Reinterpret[uint32](scratch[3])
		if err != nil {
			return err
		}
		s, err := newHostSort(o, rows, scratch[:3], n)
		if err != nil {
			return err
		}
		for i, c := range candidates {
			s.pairs.rows[i] = c.row
		}
		if err := s.sortListed(); err != nil {
			return err
		}
		first, err = o.newColumn(op.Result{Type: arrow.PrimitiveTypes.Uint32, Length: k}, func(out op.Buffers) error {
			to, err := out.Values.Host()
			if err != nil {
				return err
			}
			copy(op.Elements[uint32](to), s.pairs.rows[:k])
			return nil
		})
		return err
	})
	return release.OnError(first, err)
}
