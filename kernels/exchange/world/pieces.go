package world

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/kernels/exchange/internal/pack"
	"github.com/gpuframe/gpuframe/memory"
)

// NCCL copies from addresses that are multiples of pieceAlignment in words of 16 bytes, and byte by
// byte from others. Each send of a group adds work. So regions at other addresses, and
// regions shorter than directBytes, are first copied to one piece of memory.
const (
	pieceAlignment = 16
	directBytes    = 256 << 10
)

// piece is a part of a block that is sent as a whole.
type piece struct {
	at     uint64
	source column.Bytes
}

// extent is the position of a piece in a block, as a message.
type extent struct {
	At    uint64 `json:"at"`
	Bytes uint64 `json:"bytes"`
}

// isDirect reports whether a region is sent without a copy.
func isDirect(r pack.Region) bool {
	return r.Source.Bytes() >= directBytes && uintptr(r.Source.Pointer())%pieceAlignment == 0
}

// cut divides the block into pieces. If copy is set it copies the runs of regions that are not direct. If
// it is not set, or if the budget has no room for the copies, each region is a piece.
func (p *packed) cut(ctx context.Context, mgr *memory.Manager, copy bool) error {
	staged := uint64(0)
	for _, run := range p.runs() {
		staged += p.length(run)
	}
	if !copy {
		p.each()
		return nil
	}
	if staged > 0 {
		block, err := mgr.AllocateContext(ctx, staged, memory.AllocateOptions{Tag: op.ScratchTag})
		switch {
		case errors.Is(err, memory.ErrBudget) || errors.Is(err, device.ErrOutOfMemory):
			p.each()
			return nil
		case err != nil:
			return fmt.Errorf("memory for the columns to send: %w", err)
		}
		p.staged = block
	}
	next := 0 // the first region that is in no piece
	begin := uint64(0)
	for _, run := range append(p.runs(), [2]int{len(p.plan.Regions), len(p.plan.Regions)}) {
		for ; next < run[0]; next++ {
			r := p.plan.Regions[next]
			p.pieces = append(p.pieces, piece{r.At, r.Source})
		}
		if run[0] == run[1] {
			break
		}
		copied, err := p.stage(mgr, run, begin)
		if err != nil {
			return err
		}
		p.pieces = append(p.pieces, copied)
		next, begin = run[1], begin+p.length(run)
	}
	return nil
}

// each makes each region a piece.
func (p *packed) each() {
	for _, r := range p.plan.Regions {
		p.pieces = append(p.pieces, piece{r.At, r.Source})
	}
}

// runs returns the ranges of consecutive regions that are copied.
func (p *packed) runs() (runs [][2]int) {
	for i, r := range p.plan.Regions {
		switch last := len(runs) - 1; {
		case isDirect(r):
		case last >= 0 && runs[last][1] == i:
			runs[last][1] = i + 1
		default:
			runs = append(runs, [2]int{i, i + 1})
		}
	}
	return runs
}

// length is the number of bytes from the first region of a run to the next position at which a
// region may begin.
func (p *packed) length(run [2]int) uint64 {
	end := p.plan.Bytes
	if run[1] < len(p.plan.Regions) {
		end = p.plan.Regions[run[1]].At
	}
	return end - p.plan.Regions[run[0]].At
}

// stage copies a run of regions to the memory for copies, from a position on.
func (p *packed) stage(mgr *memory.Manager, run [2]int, begin uint64) (copied piece, err error) {
	first := p.plan.Regions[run[0]].At
	all, err := memory.View[uint8](p.staged, begin, int(p.length(run)))
	if err != nil {
		return copied, err
	}
	stream := mgr.Stream()
	if err := all.Fill(stream, 0); err != nil { // the gaps
		return copied, err
	}
	for _, r := range p.plan.Regions[run[0]:run[1]] {
		to, err := all.Slice(int(r.At-first), int(r.At-first)+r.Source.Len())
		if err == nil {
			err = to.CopyFrom(stream, r.Source)
		}
		if err != nil {
			return copied, err
		}
	}
	return piece{first, all}, nil
}

// extents describes the pieces to the rank that receives them.
func (p *packed) extents() (list []extent) {
	for _, piece := range p.pieces {
		list = append(list, extent{piece.at, piece.source.Bytes()})
	}
	return list
}

// checkExtents checks that pieces are in a block, in ascending order and apart.
func checkExtents(list []extent, bytes uint64) error {
	end := uint64(0)
	for _, e := range list {
		if e.At < end || e.Bytes == 0 || e.At > bytes || e.Bytes > bytes-e.At {
			return fmt.Errorf("a piece of %d bytes at %d, expected it from %d on in a block of %d bytes: %w", e.Bytes, e.At, end, bytes, ErrProtocol)
		}
		end = e.At + e.Bytes
	}
	return nil
}
