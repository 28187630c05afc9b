package observe

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/gpuframe/gpuframe/memory"
)

// mostFailures is the number of failures that a recorder keeps.
const mostFailures = 100

// Failure is a request that got no memory, with the figures of that moment.
type Failure struct {
	Time    time.Time `json:"time"`
	Manager string    `json:"manager"`
	Tenant  string    `json:"tenant"`
	Tag     string    `json:"tag"`
	// Bytes is the size of the request.
	Bytes uint64 `json:"bytes"`
	// Reason is "budget" or "device": what had no room; or "cancelled", "other".
	Reason string `json:"reason"`
	// Error has the memory in use, the tags that held most and a remedy.
	Error string `json:"error"`
	// Snapshot is the file with the memory snapshot of that moment, if one was written.
	Snapshot string `json:"snapshot,omitempty"`
}

func (r *Recorder) failed(f memory.Failure) {
	failure := Failure{
		Time: time.Now(), Manager: titleOf(topOf(f.Manager)), Tenant: tenantOf(f.Manager), Tag: nameOf(f.Tag), Bytes: f.Bytes,
		Reason: reasonOf(f.Err), Error: textOf(f.Err.Error()),
	}
	if failure.Reason == "budget" || failure.Reason == "device" {
		if failure.Snapshot = r.snapshots.next(); failure.Snapshot != "" {
			snapshot := r.MemoryMap()
			go r.snapshots.write(&snapshot, failure.Snapshot)
		}
	}
	r.failures.add(failure, mostFailures)
	if r.log != nil {
		r.log.LogAttrs(context.Background(), slog.LevelWarn, "gpuframe: a request got no memory",
			slog.String("manager", failure.Manager), slog.String("tenant", failure.Tenant), slog.String("tag", failure.Tag),
			slog.Uint64("bytes", failure.Bytes), slog.String("reason", failure.Reason), slog.String("error", failure.Error), slog.String("snapshot", failure.Snapshot))
	}
}

func reasonOf(err error) string {
	var allocation *memory.AllocationError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "cancelled"
	case errors.Is(err, memory.ErrBudget):
		return "budget"
	case errors.As(err, &allocation):
		return "device"
	}
	return "other"
}

// Failures returns the last 100 requests that got no memory, the latest first.
func (r *Recorder) Failures() []Failure {
	list := r.failures.list()
	slices.Reverse(list)
	return list
}
