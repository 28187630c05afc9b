package caching

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/device"
)

// OutOfMemoryError reports that a [Resource] has no memory for a request, with the
// statistics that explain why. errors.Is matches it with device.ErrOutOfMemory.
type OutOfMemoryError struct {
	// Asked is the size of the request after rounding.
	Asked uint64
	// Device is the name of the device. Free and Total are its memory as reported by
	// the driver, including other processes, or zero if the driver does not report them.
	Device      string
	Free, Total uint64
	// Limit is the limit of the resource, or zero if it has none.
	Limit uint64
	// Resource are the statistics of the resource.
	Resource Stats
	// Err is the error of the driver or of the limit.
	Err error
}

var errLimit = fmt.Errorf("the resource's limit is reached: %w", device.ErrOutOfMemory)

func (r *Resource) outOfMemory(size uint64, err error) error {
	e := &OutOfMemoryError{Asked: size, Device: r.device.Name(), Resource: r.stats(), Err: err}
	if limit := r.limit.Load(); limit != math.MaxUint64 {
		e.Limit = limit
	}
	if free, total, err := r.device.Driver().MemoryInfo(); err == nil {
		e.Free, e.Total = free, total
	}
	return e
}

// Error names the request, the available memory, its use, and remedies.
func (e *OutOfMemoryError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "no %s on %s", humanize.IBytes(e.Asked), e.Device)
	if e.Total > 0 {
		fmt.Fprintf(&b, " (%s of %s free)", humanize.IBytes(e.Free), humanize.IBytes(e.Total))
	}
	s := e.Resource
	fmt.Fprintf(&b, ": %s reserved (peak %s) in %d segments, of which %s in use, %s held until other streams are done, %s cached in pieces of at most %s",
		humanize.IBytes(s.Reserved), humanize.IBytes(s.PeakReserved), s.Segments,
		humanize.IBytes(s.InUse), humanize.IBytes(s.Held), humanize.IBytes(s.Cached), humanize.IBytes(s.LargestFree))
	if e.Limit > 0 {
		fmt.Fprintf(&b, "; the limit is %s", humanize.IBytes(e.Limit))
	}
	fmt.Fprintf(&b, ": %v; try: %s", e.Err, strings.Join(e.advice(), "; "))
	return b.String()
}

// advice returns the remedies, the most likely first.
func (e *OutOfMemoryError) advice() []string {
	var advice []string
	if s := e.Resource; s.Cached+s.Held >= e.Asked {
		advice = append(advice, "the cached memory would suffice but is in pieces: CachingOptions.Segments = ExpandableSegments, or fewer sizes")
	}
	if e.Limit > 0 && errors.Is(e.Err, errLimit) {
		advice = append(advice, "a higher CachingOptions.LimitBytes")
	}
	if used := e.Total - min(e.Total, e.Free); used > e.Resource.Reserved+e.Resource.Reserved/4+1<<30 {
		advice = append(advice, fmt.Sprintf("ending what else holds memory there, %s", humanize.IBytes(used-e.Resource.Reserved)))
	}
	return append(advice, "releasing tables sooner, smaller batches, Manager.AllocateWait, or spilling")
}

// Unwrap returns the error of the driver or of the limit.
func (e *OutOfMemoryError) Unwrap() error { return e.Err }

// Is reports whether target is device.ErrOutOfMemory.
func (e *OutOfMemoryError) Is(target error) bool { return target == device.ErrOutOfMemory }
