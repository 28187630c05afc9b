package world

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/exchange/nccl"
	"github.com/gpuframe/gpuframe/memory"
)

// link is the communicator of a World. One goroutine uses it at a time: the one that holds
// World.running, and Open before that.
type link struct {
	world *World
	// comm is nil if the ranks use sockets, and after abort.
	comm *nccl.Comm
	// patience bounds the time from a failure of NCCL to the message that names the rank that caused it,
	// and the time of an abort.
	patience time.Duration
}

// usualPatience is the patience of a World whose configuration has none. It passes without a message
// only if NCCL has failed although all ranks live: then this rank reports it.
const usualPatience = 3 * time.Second

// The pauses between two looks at NCCL and the GPU.
const (
	firstPause = 5 * time.Microsecond
	lastPause  = 500 * time.Microsecond
)

// open joins the communicator. After an error the caller aborts the link.
func (l *link) open(ctx context.Context, id nccl.ID) (err error) {
	c := l.world.config
	ordinal := c.Manager.Device().Info().Ordinal
	if c.standIn {
		ordinal = -1
	}
	if l.comm, err = nccl.Init(ordinal, id, c.Rank, c.Size); err != nil {
		return err
	}
	c.at()
	return l.await(ctx, l.comm.State)
}

// abort ends the communicator and its work on the GPU. It does nothing if comm is nil.
//
// NCCL first ends the work, and then may wait for its threads and for other ranks, in some versions
// forever (NVIDIA/nccl issues 863 and 1777). So abort returns when its patience ends. The memory of the work
// is freed in the order of the stream.
func (l *link) abort() error {
	if l.comm == nil {
		return nil
	}
	comm := l.comm
	l.comm = nil
	ended := make(chan error, 1)
	go func() { ended <- comm.Abort() }()
	timer := time.NewTimer(l.patience)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		return fmt.Errorf("NCCL has not aborted the communicator in %v: end the process to free what it holds: %w", l.patience, ErrTransport)
	}
}

// await calls f until it returns true. It returns early if the World is down, if another rank has
// closed it, or if the context ends.
func (l *link) await(ctx context.Context, f func() (bool, error)) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		if done, err := f(); done || err != nil {
			return err
		}
		if err := l.world.group.Departed(); err != nil {
			return l.world.group.Fail(err)
		}
		timer.Reset(pause)
		select {
		case <-l.world.group.Down():
			return l.world.group.Err()
		case <-ctx.Done():
			return cancel.Error(ctx)
		case <-timer.C:
		}
	}
}

// move moves blocks from GPU to GPU, as one group of sends and receives on the manager's stream, and
// waits until they have arrived.
//
// # Errors
//
// After an error the communicator is aborted, and no work of NCCL or of the GPU uses the memory any
// more.
func (l *link) move(ctx context.Context, sends []send, receives []receive) error {
	if len(sends)+len(receives) == 0 {
		return nil
	}
	err := l.exchange(ctx, sends, receives)
	if err == nil {
		return nil
	}
	err = l.verdict(err)
	return errors.Join(err, l.abort())
}

// verdict returns why an exchange has failed, and takes the World down. If NCCL has failed because
// of another rank, the group reports that rank in a moment.
func (l *link) verdict(err error) error {
	var failure *nccl.Error
	if !errors.As(err, &failure) {
		return l.world.group.Fail(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), l.patience)
	defer stop()
	_ = l.await(ctx, func() (bool, error) { return false, nil })
	if down := l.world.group.Err(); down != nil {
		return down
	}
	return l.world.group.Fail(fmt.Errorf("%w: %w: set Config.Transport to Sockets if it fails again", err, ErrTransport))
}

func (l *link) exchange(ctx context.Context, sends []send, receives []receive) error {
	w := l.world
	stream := w.config.Manager.Stream()
	if stream.Capturing() {
		return fmt.Errorf("%v: end the capture before the operation: %w", stream, device.ErrCapturing)
	}
	transfers, used, err := transfersOf(sends, receives)
	if err != nil {
		return err
	}
	for _, block := range used {
		if err := block.OrderBefore(stream); err != nil {
			return err
		}
	}
	if w.config.standIn {
		// The stand-in moves bytes when it is called, and not in the order of the stream.
		if err := stream.Synchronize(ctx); err != nil {
			return err
		}
	}
	w.config.at()
	err = stream.Enqueue(func(handle backend.Stream) error { return l.comm.Exchange(uintptr(handle), transfers) })
	for _, block := range used {
		err = errors.Join(err, block.RecordUse(stream))
	}
	if err != nil {
		return err
	}
	w.config.at()
	if err := l.await(ctx, l.comm.State); err != nil { // until the work is on the stream
		return err
	}
	if err := l.finish(ctx, stream); err != nil {
		return err
	}
	for _, t := range transfers {
		if t.Send {
			w.traffic.sent.Add(t.Bytes)
		} else {
			w.traffic.received.Add(t.Bytes)
		}
	}
	w.config.at()
	return nil
}

// finish waits until the stream has done its work, and looks for failures of NCCL meanwhile.
func (l *link) finish(ctx context.Context, stream *device.Stream) error {
	event, err := stream.Record()
	if err != nil {
		return err
	}
	err = l.await(ctx, func() (bool, error) {
		if done, err := event.Done(); done || err != nil {
			return done, err
		}
		_, err := l.comm.State()
		return false, err
	})
	return errors.Join(err, event.Close())
}

// transfersOf returns the sends and receives of a round, and the memory that they use. Transfers
// between two ranks are in the order of their positions in the block, on both ranks.
func transfersOf(sends []send, receives []receive) (transfers []nccl.Transfer, used []*memory.Block, err error) {
	listed := map[*memory.Block]bool{}
	use := func(block *memory.Block) {
		if !listed[block] {
			listed[block] = true
			used = append(used, block)
		}
	}
	for _, s := range sends {
		for _, p := range s.block.pieces {
			use(p.source.Block())
			transfers = append(transfers, nccl.Transfer{Rank: s.rank, Send: true, Pointer: uintptr(p.source.Pointer()), Bytes: p.source.Bytes()})
		}
	}
	for _, r := range receives {
		use(r.block)
		for _, p := range r.pieces {
			to, err := memory.View[uint8](r.block, p.At, int(p.Bytes))
			if err != nil {
				return nil, nil, err
			}
			transfers = append(transfers, nccl.Transfer{Rank: r.rank, Pointer: uintptr(to.Pointer()), Bytes: p.Bytes})
		}
	}
	return transfers, used, nil
}
