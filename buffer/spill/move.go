package spill

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/memory"
)

// errHostMemory is wrapped by the error of a table that finds no room on the host.
var errHostMemory = errors.New("no host memory for it within Options.HostBudget")

// move is a table's move to the host or back. While it is in progress the mover owns
// the table's blocks.
type move struct {
	toHost bool
	// released is the number of device bytes that the move released. It is set before
	// done is closed.
	released uint64
	done     chan struct{}
}

// begin begins a move. The lock is held.
func (s *Spiller) begin(t *Table, toHost bool) {
	s.moves.Add(1)
	t.move = &move{toHost: toHost, done: make(chan struct{})}
}

// end ends a move that has released a number of device bytes. If the table was
// released meanwhile, end releases the rest, and returns the sum.
func (s *Spiller) end(t *Table, released uint64) (uint64, error) {
	defer s.moves.Done()
	s.mu.Lock()
	m := t.move
	t.move = nil
	var left contents
	if t.released {
		left = t.giveUp()
	}
	s.mu.Unlock()
	err := s.discard(left)
	if !left.onHost && len(left.blocks) > 0 {
		released += t.bytes
	}
	m.released = released
	close(m.done)
	return released, err
}

// toHost copies idle blocks to new ones in host memory, and waits.
func (s *Spiller) toHost(ctx context.Context, blocks []*memory.Block) (hosts []*memory.Block, err error) {
	for _, block := range blocks {
		host, err := s.allocateHost(ctx, block.Bytes(), block.Tag())
		if err != nil {
			return nil, errors.Join(err, release.All(hosts))
		}
		hosts = append(hosts, host)
	}
	err = s.copyOut(hosts, blocks)
	for _, host := range hosts {
		if err == nil {
			err = host.Synchronize(ctx)
		}
	}
	if err == nil {
		return hosts, nil
	}
	return nil, s.abandon(blocks, hosts, err)
}

// abandon gives host memory back to which copies of blocks may be pending.
func (s *Spiller) abandon(blocks, hosts []*memory.Block, err error) error {
	for _, block := range blocks {
		err = errors.Join(err, block.RecordUse(s.out))
	}
	return errors.Join(err, s.returning.add(hosts))
}

// allocateHost waits for host memory that is being returned before it fails.
func (s *Spiller) allocateHost(ctx context.Context, bytes uint64, tag string) (*memory.Block, error) {
	options := memory.AllocateOptions{Tag: tag, Stream: s.out, Retried: memory.IsRetrying(ctx)}
	block, err := s.host.Allocate(bytes, options)
	if err != nil && s.returning.hasBlocks() {
		if err := s.returning.drain(ctx); err != nil {
			return nil, err
		}
		block, err = s.host.Allocate(bytes, options)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errHostMemory, err)
	}
	return block, nil
}

// copyOut enqueues the copies to the host. All recorded work on the blocks is done,
// but work on the blocks' own streams may be unrecorded.
func (s *Spiller) copyOut(hosts, blocks []*memory.Block) error {
	if err := s.waitForStreams(blocks); err != nil {
		return err
	}
	driver := s.out.Device().Driver()
	return s.out.Enqueue(func(handle backend.Stream) error {
		for i, block := range blocks {
			if block.Bytes() == 0 {
				continue
			}
			err := driver.CopyToHostAsync(address.Pointer(hosts[i].Pointer()), block.Pointer(), block.Bytes(), handle)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// waitForStreams makes the stream out wait for those of the blocks.
func (s *Spiller) waitForStreams(blocks []*memory.Block) error {
	for i, block := range blocks {
		stream := block.Stream()
		if i > 0 && stream.Equal(blocks[i-1].Stream()) {
			continue
		}
		if done, err := stream.Done(); done && err == nil {
			continue
		}
		if err := s.out.WaitStream(stream); err != nil {
			return err
		}
	}
	return nil
}

// toDevice copies blocks in host memory to new ones, on their original streams.
// Unless it waits, the copies may be pending when it returns, in order with those
// streams.
func (s *Spiller) toDevice(ctx context.Context, homes []home, hosts []*memory.Block, wait bool) (blocks []*memory.Block, err error) {
	if ctx.Err() != nil {
		return nil, cancel.Error(ctx)
	}
	if blocks, err = allocateHomes(ctx, homes); err != nil {
		return nil, err
	}
	if err = s.copyIn(blocks, hosts, wait); err == nil && wait {
		if err = s.in.Synchronize(ctx); err == nil {
			return arrived(blocks), nil
		}
	}
	return s.pending(blocks, hosts, err)
}

// arrived returns blocks whose copy has ended. It is recorded as a use of the block. If the stream is idle, the block's
// next query finds the use done, and the table may be moved again, whatever work follows on the stream.
func arrived(blocks []*memory.Block) []*memory.Block {
	for _, block := range blocks {
		_ = isBusy(block)
	}
	return blocks
}

// pending records that copies may use blocks and their sources on the host. After an error it releases the blocks.
func (s *Spiller) pending(blocks, hosts []*memory.Block, err error) ([]*memory.Block, error) {
	for _, block := range slices.Concat(blocks, hosts) {
		err = errors.Join(err, block.RecordUse(s.in))
	}
	if err != nil {
		return nil, errors.Join(err, release.All(blocks))
	}
	return blocks, nil
}

// allocateHomes allocates memory on the device for blocks of a table.
func allocateHomes(ctx context.Context, homes []home) (blocks []*memory.Block, err error) {
	for _, home := range homes {
		block, err := home.allocate(ctx)
		if err != nil {
			return nil, errors.Join(err, release.All(blocks))
		}
		blocks = append(blocks, block)
	}
	return blocks, nil
}

// home holds the arguments of a block's allocation on the device.
type home struct {
	manager *memory.Manager
	stream  *device.Stream
	tag     string
	bytes   uint64
}

func (h home) allocate(ctx context.Context) (*memory.Block, error) {
	options := memory.AllocateOptions{Stream: h.stream, Tag: h.tag, Retried: memory.IsRetrying(ctx)}
	if h.stream.Closed() {
		options.Stream = nil
	}
	return h.manager.Allocate(h.bytes, options)
}

// copyIn enqueues the copies to the device: after the work that makes the blocks
// usable on their streams and, unless the caller waits, before the next work on these
// streams.
func (s *Spiller) copyIn(blocks, hosts []*memory.Block, waits bool) error {
	if err := s.inWaitsFor(blocks); err != nil {
		return err
	}
	driver := s.in.Device().Driver()
	err := s.in.Enqueue(func(handle backend.Stream) error {
		for i, block := range blocks {
			if block.Bytes() == 0 {
				continue
			}
			err := driver.CopyToDeviceAsync(block.Pointer(), address.Pointer(hosts[i].Pointer()), block.Bytes(), handle)
			if err != nil {
				return err
			}
		}
		return nil
	})
	for _, stream := range streamsOf(blocks) {
		if err == nil && !waits {
			err = stream.WaitStream(s.in)
		}
	}
	return err
}

// inWaitsFor makes the stream in wait for those of the blocks.
func (s *Spiller) inWaitsFor(blocks []*memory.Block) error {
	for _, stream := range streamsOf(blocks) {
		if err := s.in.WaitStream(stream); err != nil {
			return err
		}
	}
	return nil
}

// streamsOf returns the streams of blocks.
func streamsOf(blocks []*memory.Block) (streams []*device.Stream) {
	for _, block := range blocks {
		if stream := block.Stream(); len(streams) == 0 || !stream.Equal(streams[len(streams)-1]) {
			streams = append(streams, stream)
		}
	}
	return streams
}
