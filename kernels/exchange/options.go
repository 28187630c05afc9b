package exchange

import (
	"fmt"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
)

// usualRound is the size of a round through pinned memory. Longer rounds hardly copy
// faster: at the 55 GB/s of a PCIe 5 link, 16 MiB take 0.3 ms.
const usualRound = 16 << 20

// Options configure an exchange. The zero value is right for most programs.
type Options struct {
	// Tag names the memory of the results in the statistics of their managers.
	Tag string
	// RoundBytes bounds the pinned memory that each pair of devices without peer access
	// uses. Zero means 16 MiB.
	RoundBytes uint64
	// Traffic counts the bytes that were moved, if it is not nil. Several exchanges may
	// share it.
	Traffic *Traffic
}

// Traffic counts moved bytes. It is safe for concurrent use.
type Traffic struct{ peer, pinned, rounds atomic.Uint64 }

// PeerBytes returns the number of bytes of enqueued peer copies.
func (t *Traffic) PeerBytes() uint64 { return t.peer.Load() }

// PinnedBytes returns the number of bytes that moved through pinned memory.
func (t *Traffic) PinnedBytes() uint64 { return t.pinned.Load() }

// Rounds returns the number of rounds through pinned memory.
func (t *Traffic) Rounds() uint64 { return t.rounds.Load() }

// String formats the counts on one line.
func (t *Traffic) String() string {
	return fmt.Sprintf("%d bytes by peer copies, %d through pinned memory in %d rounds", t.PeerBytes(), t.PinnedBytes(), t.Rounds())
}

func only(options []Options) (Options, error) {
	if len(options) > 1 {
		return Options{}, fmt.Errorf("%d options are given, expected at most one: %w", len(options), device.ErrInvalidValue)
	}
	var o Options
	if len(options) == 1 {
		o = options[0]
	}
	if o.RoundBytes == 0 {
		o.RoundBytes = usualRound
	}
	if o.Traffic == nil {
		o.Traffic = &Traffic{}
	}
	return o, nil
}
