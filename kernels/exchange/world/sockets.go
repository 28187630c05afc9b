package world

import (
	"context"
	"io"

	"golang.org/x/sync/errgroup"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/kernels/exchange/internal/pack"
	"github.com/gpuframe/gpuframe/memory"
)

// send is a block for a rank.
type send struct {
	rank  int
	block *packed
}

// receive is memory for a block of a rank.
type receive struct {
	rank  int
	block *memory.Block
	bytes uint64
	// pieces are the parts that NCCL moves.
	pieces []extent
}

// throughSockets moves blocks through pinned memory and sockets, all at the same time.
func (w *World) throughSockets(ctx context.Context, sends []send, receives []receive) error {
	var all errgroup.Group
	for _, s := range sends {
		all.Go(func() error { return w.failing(w.send(ctx, s)) })
	}
	for _, r := range receives {
		all.Go(func() error { return w.failing(w.receive(ctx, r)) })
	}
	return all.Wait()
}

// failing takes the World down after an error, so that no other goroutine waits for bytes.
func (w *World) failing(err error) error {
	if err != nil {
		return w.group.Fail(err)
	}
	return nil
}

// pieces calls f for each piece of a block, with pinned memory of its size.
func (w *World) pieces(ctx context.Context, bytes uint64, f func(staged []byte, begin uint64) error) error {
	if bytes == 0 {
		return nil
	}
	staged := w.pinned.AllocateUninitialized(int(min(bytes, w.config.RoundBytes)))
	defer w.pinned.Free(staged)
	for begin := uint64(0); begin < bytes; begin += uint64(len(staged)) {
		if err := cancel.Error(ctx); err != nil {
			return err
		}
		if err := f(staged[:min(uint64(len(staged)), bytes-begin)], begin); err != nil {
			return err
		}
		w.config.at()
	}
	return nil
}

func (w *World) send(ctx context.Context, s send) error {
	next := 0 // the first region that is not sent
	plan := &s.block.plan
	return w.pieces(ctx, plan.Bytes, func(staged []byte, begin uint64) error {
		if err := download(ctx, plan, &next, staged, begin); err != nil {
			return err
		}
		if _, err := w.group.Data(s.rank).Write(staged); err != nil {
			return w.group.Lost(s.rank, err)
		}
		w.traffic.sent.Add(uint64(len(staged)))
		return nil
	})
}

// download fills host memory with the bytes of a plan from a position on. Gaps become zero.
func download(ctx context.Context, p *pack.Plan, next *int, staged []byte, begin uint64) error {
	var from []memory.Destination
	end, filled := begin+uint64(len(staged)), begin
	for i := *next; i < len(p.Regions) && p.Regions[i].At < end; i++ {
		r := p.Regions[i]
		after := r.At + r.Source.Bytes()
		first, last := max(r.At, begin), min(after, end)
		if last == after {
			*next = i + 1
		}
		if first >= last {
			continue
		}
		part, err := r.Source.Slice(int(first-r.At), int(last-r.At))
		if err != nil {
			return err
		}
		clear(staged[filled-begin : first-begin])
		filled = last
		from = append(from, memory.Destination{From: part, Data: staged[first-begin : last-begin]})
	}
	clear(staged[filled-begin:])
	if len(from) == 0 {
		return nil
	}
	return memory.Download(ctx, nil, from)
}

func (w *World) receive(ctx context.Context, r receive) error {
	all, err := memory.View[uint8](r.block, 0, int(r.bytes))
	if err != nil {
		return err
	}
	return w.pieces(ctx, r.bytes, func(staged []byte, begin uint64) error {
		if _, err := io.ReadFull(w.group.Data(r.rank), staged); err != nil {
			return w.group.Lost(r.rank, err)
		}
		destination, err := all.Slice(int(begin), int(begin)+len(staged))
		if err != nil {
			return err
		}
		w.traffic.received.Add(uint64(len(staged)))
		return memory.Upload(ctx, w.config.Manager.Stream(), destination, []memory.Source{{Data: staged}})
	})
}
