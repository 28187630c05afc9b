package window

import (
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
)

// rank computes a function of places.
func (a *arrangement) rank(f Function, t arrow.DataType) (*column.Column, error) {
	call, _, err := a.begin(nil)
	if err != nil {
		return nil, err
	}
	return a.newColumn(&call, t, false, func(out op.Buffers) error {
		switch {
		case call.OnHost():
		case f.kind == rowNumber && a.listed.Len() == 0 && a.rows <= mostShifted:
			return a.launchFor(&call, numberLoads, "over_numbers", a.argument(), out.Values)
		default:
			by := spreading{a, &call, 4, "spread_rows_32_64"}
			if f.kind == percentRank || f.kind == cumulativeDistribution {
				by.bytes, by.kernel = 8, "spread_rows_64"
			}
			if f.kind == rowNumber {
				if done, err := by.number(out); done || err != nil {
					return err
				}
			}
			return by.write(out, func(out op.Buffers) error {
				return a.launch(&call, "over_ranks", a.argument(), out.Values, uint32(f.kind-rowNumber), uint64(max(f.number, 1)))
			})
		}
		to, err := out.Host()
		if err != nil {
			return err
		}
		h, err := a.host()
		if err != nil {
			return err
		}
		results := op.Elements[uint64](to.Values)
		clear(results)
		return parallel.Run(a.ctx, h.n, parallel.Parts(h.n), func(_, begin, end int) {
			for place := begin; place < end; place++ {
				results[h.row(place)] = h.rank(f, place)
			}
		})
	})
}

// rank returns the result for a place, as bits.
func (h *hostRows) rank(f Function, place int) uint64 {
	begin, end := h.bounds(place)
	firstPeer, endOfPeers := h.peersOf(place)
	switch f.kind {
	case rank:
		return uint64(firstPeer-begin) + 1
	case denseRank:
		if h.peers == nil {
			return 1
		}
		return uint64(h.peers[place]-h.peers[begin]) + 1
	case percentRank:
		if end-begin == 1 {
			return 0
		}
		return math.Float64bits(float64(firstPeer-begin) / float64(end-begin-1))
	case cumulativeDistribution:
		return math.Float64bits(float64(endOfPeers-begin) / float64(end-begin))
	case tiles:
		size, at, n := int64(end-begin), int64(place-begin), f.number
		small, large := size/n, size%n
		if at < large*(small+1) {
			return uint64(at/(small+1)) + 1
		}
		return uint64(large+(at-large*(small+1))/max(small, 1)) + 1
	}
	return uint64(place-begin) + 1
}
