package memory

import (
	"time"

	"github.com/gpuframe/gpuframe/device"
)

// Options configure a [Manager]. The zero value is right for most programs.
type Options struct {
	// Name identifies the manager in statistics and messages. It may be empty.
	Name string

	// Budget is the maximum number of bytes in use at a time. Zero means that the
	// manager has no budget and only the device's memory is the limit.
	// [Manager.SetBudget] changes it.
	Budget uint64

	// PassingPeriod limits how long smaller requests may overtake a request that
	// waits for memory. After this period they wait behind it, or fail if they
	// cannot wait. Zero means one second; a negative value means that no request
	// overtakes another.
	PassingPeriod time.Duration

	// Resource provides the memory; the manager does not close it. Nil means that
	// the manager creates a [CachingResource].
	Resource Resource

	// Stream is the default stream of allocations; it must outlive the manager's
	// blocks. Nil means that the manager creates a stream.
	Stream *device.Stream

	// TrackAllocations records the call stack of every allocation for leak messages,
	// and detects every leak as soon as its block is collected. It costs two
	// microseconds per allocation.
	TrackAllocations bool

	// NoBackstop disables the detection of leaked blocks before Close. The backstop
	// detects a leaked block after all blocks of its group of at most 32 consecutive
	// allocations have been collected, and therefore costs only about ten
	// nanoseconds per allocation.
	NoBackstop bool

	// OnLeak is called for every block that was collected without being released. It
	// runs on a goroutine of the Go runtime and must return quickly. Freeing such a
	// block waits in the same cases as Release. Nil means a warning through
	// log/slog.
	OnLeak func(Leak)

	// Staging configures transfers between pageable host memory and the device.
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
	// Tag names the purpose of the memory. Statistics are kept per tag.
	Tag string
	// Priority orders the requests that wait for memory: higher priorities are
	// served first.
	Priority int
	// Retried is set if the request is repeated in another way should it get no memory, for requests
	// without a context: see [Retrying].
	Retried bool
	// Spare restricts the request to free memory: it calls no [Reclaimer], and its failure is not
	// counted. Use it with [Manager.Allocate] for work that can be left out, such as prefetching.
	Spare bool
}

// StagingOptions configure the staging of pageable memory: several goroutines fill
// chunks of pinned memory while the device copies. The pinned memory is allocated
// chunk by chunk during the first transfers, or in advance by [Manager.WarmStaging].
// It is kept until [Manager.TrimStaging] or until the manager is closed.
// [Manager.StagingStats] returns its size.
type StagingOptions struct {
	// Workers is the number of goroutines, including the caller's, that fill or
	// empty chunks at a time. Zero means three quarters of the processors, at most
	// twelve.
	Workers int
	// ChunkBytes is the size of a pinned chunk. Zero means 4 MiB.
	ChunkBytes int
	// Chunks is the maximum number of chunks. Zero means Workers + 4, and in addition 128 chunks
	// of 32 KiB for short transfers, of which many may wait at a time.
	Chunks int
}
