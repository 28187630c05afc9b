package memory

import (
	"time"

	"github.com/gpuframe/gpuframe/device"
)

// Options configure a [Manager]. The zero value is right for most programs.
type Options struct {
	// Name identifies the manager in figures and messages. It may be empty.
	Name string

	// Budget is the most bytes that may be in use at a time. Zero means no budget
	// of the manager's own: the memory of the device limits it. [Manager.SetBudget]
	// changes it.
	Budget uint64

	// PassingPeriod is how long smaller requests may pass one that waits for
	// memory. After that they wait behind it, or fail if they cannot wait. Zero
	// means one second; negative means that no request passes another.
	PassingPeriod time.Duration

	// Resource is where memory comes from; the manager does not close it. Nil
	// means a [CachingResource] of the manager's own.
	Resource Resource

	// Stream is what memory is allocated on unless a request says otherwise; it
	// must outlive the manager's blocks. Nil means a stream of the manager's
	// own.
	Stream *device.Stream

	// TrackAllocations keeps the call stack of every allocation, for the
	// messages about leaks, and has every leak found as soon as it is collected.
	// It costs two microseconds an allocation.
	TrackAllocations bool

	// NoBackstop leaves memory that was collected without being released to
	// Close. The backstop finds it when all blocks that were allocated in a row
	// with it, 32 at most, have been collected; that is why it costs only some
	// ten nanoseconds an allocation.
	NoBackstop bool

	// OnLeak is told of every block that was collected without being released,
	// on a goroutine of the runtime's: it must return soon. Freeing such a block
	// waits where Release would. Nil means a warning through log/slog.
	OnLeak func(Leak)

	// Staging configures transfers from and to ordinary memory.
	Staging StagingOptions
}

func (o *Options) passingPeriod() time.Duration {
	if o.PassingPeriod == 0 {
		return time.Second
	}
	return max(o.PassingPeriod, 0)
}

// AllocateOptions configure one allocation. The zero value is right for most.
type AllocateOptions struct {
	// Stream is the stream the memory belongs to. Nil means the manager's.
	Stream *device.Stream
	// Tag names what the memory is for. Figures are kept by tag.
	Tag string
	// Priority orders those who wait for memory: the higher goes first.
	Priority int
}

// StagingOptions configure how ordinary memory travels: through chunks of pinned
// memory that several goroutines fill while the device copies. The pinned memory
// is allocated chunk by chunk while the first transfers go on, or ahead by
// [Manager.WarmStaging], and kept until [Manager.TrimStaging] or the manager's end. [Manager.StagingStats] tells how much it is.
type StagingOptions struct {
	// Workers is how many goroutines fill or empty chunks at a time, the
	// caller's among them. Zero means three of four processors, but at most
	// twelve.
	Workers int
	// ChunkBytes is the size of a pinned chunk. Zero means 4 MiB.
	ChunkBytes int
	// Chunks is how many chunks there are at most. Zero means four more than
	// there are Workers.
	Chunks int
}
