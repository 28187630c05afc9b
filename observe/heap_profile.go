package observe

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gpuframe/gpuframe/observe/internal/stacks"
)

// WriteHeap writes the profile gpu_heap for `go tool pprof`: allocated and in use, blocks
// and bytes, by stack, with the labels tenant, tag and device. The counts are estimates
// from samples, as those of the Go heap are; without Options.SampleBytes the profile is
// empty.
func (r *Recorder) WriteHeap(w io.Writer) error {
	if err := r.heap.profile().Write(w); err != nil {
		return fmt.Errorf("observe: write the profile gpu_heap: %w", err)
	}
	return nil
}

// profile makes the profile of everything since the recorder was made.
func (h *heap) profile() *profile.Profile {
	b := profileBuilder{
		functions: make(map[string]*profile.Function), locations: make(map[place]*profile.Location),
		profile: &profile.Profile{
			SampleType: []*profile.ValueType{
				{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"},
				{Type: "inuse_objects", Unit: "count"}, {Type: "inuse_space", Unit: "bytes"},
			},
			DefaultSampleType: "inuse_space",
			PeriodType:        &profile.ValueType{Type: "space", Unit: "bytes"},
			Period:            int64(h.interval),
			TimeNanos:         time.Now().UnixNano(),
			DurationNanos:     int64(time.Since(h.start)),
		},
	}
	list := h.read()
	slices.SortFunc(list, func(a, b siteCounts) int {
		return cmp.Or(cmp.Compare(b.inUse.bytes, a.inUse.bytes), cmp.Compare(b.allocated.bytes, a.allocated.bytes))
	})
	for i := range list {
		b.add(&list[i])
	}
	return b.profile
}

// profileBuilder builds a profile. It writes each function and each place once.
type profileBuilder struct {
	profile   *profile.Profile
	functions map[string]*profile.Function
	locations map[place]*profile.Location
}

// place is a line of a function. Calls that were inlined there are separate places.
type place struct {
	function string
	line     int
}

func (b *profileBuilder) add(s *siteCounts) {
	sample := &profile.Sample{
		Value: []int64{round(s.allocated.blocks), round(s.allocated.bytes), round(s.inUse.blocks), round(s.inUse.bytes)},
		Label: make(map[string][]string),
	}
	for label, value := range map[string]string{"tenant": s.tenant, "tag": s.tag, "device": s.device} {
		if value != "" {
			sample.Label[label] = []string{value}
		}
	}
	for _, frame := range stacks.Frames(s.trace()) {
		sample.Location = append(sample.Location, b.location(frame))
	}
	b.profile.Sample = append(b.profile.Sample, sample)
}

// round rounds an estimate. Sums of weights may end a little below zero.
func round(estimate float64) int64 { return int64(math.Round(max(estimate, 0))) }

func (b *profileBuilder) location(frame runtime.Frame) *profile.Location {
	at := place{frame.Function, frame.Line}
	if known := b.locations[at]; known != nil {
		return known
	}
	function := b.functions[frame.Function]
	if function == nil {
		function = &profile.Function{
			ID: uint64(len(b.functions)) + 1, Name: frame.Function, SystemName: frame.Function, Filename: frame.File,
		}
		b.functions[frame.Function] = function
		b.profile.Function = append(b.profile.Function, function)
	}
	location := &profile.Location{
		ID: uint64(len(b.locations)) + 1, Address: uint64(frame.PC), Line: []profile.Line{{Function: function, Line: int64(frame.Line)}},
	}
	b.locations[at] = location
	b.profile.Location = append(b.profile.Location, location)
	return location
}
