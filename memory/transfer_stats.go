package memory

import (
	"sync/atomic"
	"time"

	"github.com/gpuframe/gpuframe/memory/internal/staging"
)

// TransferStats count the transfers between host memory and the device of a tree of
// managers.
type TransferStats struct {
	Uploads, Downloads TransferCounts
}

// TransferCounts are the transfers in one direction.
type TransferCounts struct {
	// Count is the number of transfers, Bytes the number of bytes that were to be copied,
	// and Failures the number of transfers that failed.
	Count, Bytes, Failures uint64
	// Time is the sum of the durations of the calls. An upload returns when its sources may
	// be reused, which may be before the bytes have arrived.
	Time time.Duration
}

// TransferStats returns the counts of the whole tree of managers.
func (m *Manager) TransferStats() TransferStats {
	return TransferStats{Uploads: m.tree.uploads.read(), Downloads: m.tree.downloads.read()}
}

// transferCounter counts transfers in one direction.
type transferCounter struct {
	count, bytes, failures, nanoseconds atomic.Uint64
}

func (c *transferCounter) add(spans []staging.Span, begin time.Time, err error) {
	bytes := uint64(0)
	for i := range spans {
		for j := range spans[i].Pieces {
			bytes += spans[i].Pieces[j].Bytes
		}
	}
	c.count.Add(1)
	c.bytes.Add(bytes)
	c.nanoseconds.Add(uint64(time.Since(begin)))
	if err != nil {
		c.failures.Add(1)
	}
}

func (c *transferCounter) read() TransferCounts {
	return TransferCounts{
		Count: c.count.Load(), Bytes: c.bytes.Load(), Failures: c.failures.Load(), Time: time.Duration(c.nanoseconds.Load()),
	}
}
