package world

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/exchange/ranks"
	"github.com/gpuframe/gpuframe/memory"
)

// RankError is the failure of one rank. Errors of the operations wrap it if another rank has
// failed.
type RankError = ranks.RankError

var (
	// ErrLost means that the process or the connection of a rank has ended.
	ErrLost = ranks.ErrLost
	// ErrMismatch means that a rank has another version, group size or operation.
	ErrMismatch = ranks.ErrMismatch
	// ErrProtocol means that a rank has sent a message that contradicts itself.
	ErrProtocol = ranks.ErrProtocol
	// ErrRemote means that another rank has reported an error.
	ErrRemote = ranks.ErrRemote
	// ErrClosed means that this rank has closed the World.
	ErrClosed = ranks.ErrClosed
)

// protocol is the version of the messages between ranks.
const protocol = "gpuframe world 2"

// usualRound is the size of a piece that moves through pinned memory.
const usualRound = 4 << 20

// Config describes a rank. Rank and Manager differ between the processes.
type Config struct {
	// Rank is the number of this process, from zero, and Size the number of processes.
	Rank, Size int
	// Address is where rank 0 listens while the ranks join: "unix:PATH" or
	// "tcp:HOST:PORT". The other ranks listen at PATH.RANK, or at the interface of
	// their machine that reaches rank 0.
	Address string
	// Listener, if it is not nil, is the listener of rank 0, in place of one at Address.
	// Open closes it.
	Listener net.Listener
	// Secret, if it is not empty, is known to the ranks only: processes without it cannot join. It
	// is not sent.
	Secret string
	// Manager has the memory of the results.
	Manager *memory.Manager
	// RoundBytes is the size of the pinned memory that each direction of each connection
	// uses. Zero means 4 MiB.
	RoundBytes uint64
	// Tag names the memory of the results in the statistics of the manager.
	Tag string
	// Transport is how the bytes of tables move. The zero value, Automatic, is right for most
	// programs. If a rank requests NCCL and another one cannot use it, Open fails on all ranks.
	Transport Transport
	// Patience bounds each wait of a World that has failed: for the message that names the rank that
	// caused it, for NCCL to end the communicator, and for ranks that read no messages. Zero means 3 s
	// after a failure of NCCL, and 30 s after one of a socket. Set it to more if processes may stand
	// still for longer.
	Patience time.Duration

	// at is called at each step of Open and of an operation. Tests end the process there.
	at func()
	// standIn is set in tests with a stand-in for NCCL, which moves memory of the host.
	standIn bool
}

// World is this process's part of a group of processes. Its methods are safe for concurrent
// use, but one operation runs at a time, and all ranks must call them in one order. If the context of
// an operation ends while it waits for the one before it, the World is down, too.
type World struct {
	config  Config
	group   *ranks.Group
	running sync.Mutex
	closed  bool
	// operations counts the calls, so that ranks find out if they call different ones.
	operations uint64
	// transport describes the transport and why it is used.
	transport string
	link      link
	pinned    *memory.PinnedAllocator
	traffic   struct{ sent, received, rounds atomic.Uint64 }
}

// Open joins a World and returns when all ranks have joined. The caller closes it.
//
// # Waiting
//
// Open waits for the other ranks until the context ends: pass one that ends.
//
// # Errors
//
// The error wraps [ErrMismatch] if a rank has another version or size. If the process or the context of
// a rank ends, Open fails on all ranks that have joined. The error wraps [ErrTransport] if a rank requests
// NCCL and a rank cannot use it.
func Open(ctx context.Context, config Config) (*World, error) {
	if config.Listener != nil {
		defer config.Listener.Close()
	}
	if config.Manager == nil {
		return nil, fmt.Errorf("exchange: world: the manager is nil: %w", device.ErrInvalidValue)
	}
	if config.Transport > Sockets {
		return nil, fmt.Errorf("exchange: world: Config.Transport is %d, expected Automatic, NCCL or Sockets: %w", config.Transport, device.ErrInvalidValue)
	}
	if config.RoundBytes == 0 {
		config.RoundBytes = usualRound
	}
	if config.at == nil {
		config.at = func() {}
	}
	group, err := ranks.Open(ctx, ranks.Config{Rank: config.Rank, Size: config.Size, Address: config.Address, Listener: config.Listener, Protocol: protocol, Secret: config.Secret, Patience: config.Patience})
	if err != nil {
		return nil, fmt.Errorf("exchange: world: open rank %d of %d: %w", config.Rank, config.Size, err)
	}
	w := &World{config: config, group: group, pinned: memory.NewPinnedAllocator(config.Manager.Device(), 0)}
	w.link = link{world: w, patience: config.Patience}
	if w.link.patience <= 0 {
		w.link.patience = usualPatience
	}
	if err := w.connect(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("exchange: world: open rank %d of %d: %w", config.Rank, config.Size, err), w.Close())
	}
	return w, nil
}

// Transport returns how the bytes of tables move and, if not by NCCL, why: "NCCL 2.28.3", or "pinned
// memory and sockets (rank 1: its device host is not a CUDA device)". It is the same on all ranks.
func (w *World) Transport() string { return w.transport }

// Rank returns the number of this process.
func (w *World) Rank() int { return w.config.Rank }

// Size returns the number of processes.
func (w *World) Size() int { return w.config.Size }

// Err returns why the World is down, or nil if it is not.
func (w *World) Err() error { return w.group.Err() }

// Close leaves the World. Operations of other ranks that need this one fail afterwards. Close
// ends an operation that is running. It may be called several times, and after a failure.
func (w *World) Close() error {
	err := w.group.Close()
	w.running.Lock()
	defer w.running.Unlock()
	if w.closed {
		return err
	}
	w.closed = true
	return errors.Join(err, w.link.abort(), w.pinned.Close())
}

// Traffic is the work of a World so far.
type Traffic struct {
	// SentBytes and ReceivedBytes are bytes of tables.
	SentBytes, ReceivedBytes uint64
	// Rounds is the number of times that ranks have exchanged blocks: one for each
	// operation, or one for each column if budgets are small.
	Rounds uint64
}

// Traffic returns the work of the World so far.
func (w *World) Traffic() Traffic {
	return Traffic{w.traffic.sent.Load(), w.traffic.received.Load(), w.traffic.rounds.Load()}
}
