package reduce

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/op/aggregate"
)

// partialsOnHost reduces n rows of a program's outputs to a partial per state, in the
// order of the kernel. Several goroutines take parts of the rows, like blocks.
func (p *plan) partialsOnHost(ctx context.Context, outputs []arrow.Array, n int64) ([][]uint64, error) {
	count, rows := parts(n), rowsOfPart(n)
	if count <= 1 {
		return newHostReduction(p, outputs).part(0, n), nil
	}
	perPart := make([][][]uint64, count)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(int64(runtime.GOMAXPROCS(0)), count) {
		workers.Go(func() {
			h := newHostReduction(p, outputs)
			for part := next.Add(1) - 1; part < count && ctx.Err() == nil; part = next.Add(1) - 1 {
				perPart[part] = h.part(part*rows, min((part+1)*rows, n))
			}
		})
	}
	workers.Wait()
	if ctx.Err() != nil {
		return nil, cancel.Error(ctx)
	}
	return p.mergeOnHost(perPart), nil
}

// mergeOnHost merges like the last block: lanes take the parts round-robin.
func (p *plan) mergeOnHost(perPart [][][]uint64) [][]uint64 {
	merged := make([][]uint64, len(p.states))
	for i, s := range p.states {
		words := s.kind.Words()
		for range lanes {
			merged[i] = append(merged[i], aggregate.IdentityHost(s.kind)...)
		}
		for part, partials := range perPart {
			aggregate.MergeHost(s.kind, merged[i][part%lanes*words:][:words], partials[i])
		}
		merged[i] = aggregate.MergeNeighbours(s.kind, merged[i])
	}
	return merged
}

// hostReduction is the memory with which one goroutine reduces parts.
type hostReduction struct {
	plan    *plan
	readers []*reader
	states  []*aggregate.Host
	keep    [lanes]bool
}

func newHostReduction(p *plan, outputs []arrow.Array) *hostReduction {
	h := &hostReduction{plan: p}
	for _, output := range outputs {
		h.readers = append(h.readers, newReader(output))
	}
	for _, s := range p.states {
		h.states = append(h.states, aggregate.NewHost(s.kind, s.form))
	}
	return h
}

// part reduces the rows [begin, end).
func (h *hostReduction) part(begin, end int64) [][]uint64 {
	for _, s := range h.states {
		s.Reset()
	}
	for first := begin; first < end; first += lanes {
		n := int(min(lanes, end-first))
		for _, r := range h.readers {
			r.read(int(first), n)
		}
		for i, s := range h.plan.states {
			if i == 0 || s.value != h.plan.states[i-1].value || s.where != h.plan.states[i-1].where {
				h.count(s, n) // otherwise the rows of the previous state
			}
			var low, high []uint64
			if s.value >= 0 {
				low, high = h.readers[s.value].low[:n], h.readers[s.value].high[:n]
			}
			h.states[i].Add(low, high, h.keep[:n], first)
		}
	}
	partials := make([][]uint64, len(h.states))
	for i, s := range h.states {
		partials[i] = s.Partial()
	}
	return partials
}

// count sets keep for the rows, of those that were read, that a state includes.
func (h *hostReduction) count(s state, n int) {
	for j := range n {
		h.keep[j] = true
	}
	if s.value >= 0 {
		h.readers[s.value].andValid(h.keep[:n])
	}
	if s.where < 0 {
		return
	}
	where := h.readers[s.where]
	where.andValid(h.keep[:n])
	for j := range n {
		h.keep[j] = h.keep[j] && where.low[j] != 0
	}
}
