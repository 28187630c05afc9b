package adaptor

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/google/pprof/profile"
)

// WriteProfile writes the outstanding allocations by call stack as a compressed
// profile for `go tool pprof`, with the sample types inuse_space and inuse_objects.
// Without TrackingOptions.Stacks the profile has one sample without a stack.
func (t *Tracking) WriteProfile(w io.Writer) error {
	b := profileBuilder{
		functions: make(map[string]*profile.Function), locations: make(map[uintptr]*profile.Location),
		profile: &profile.Profile{
			SampleType: []*profile.ValueType{
				{Type: "inuse_objects", Unit: "count"}, {Type: "inuse_space", Unit: "bytes"},
			},
			DefaultSampleType: "inuse_space",
			PeriodType:        &profile.ValueType{Type: "space", Unit: "bytes"},
			Period:            1, // every allocation is sampled
			TimeNanos:         time.Now().UnixNano(),
			Comments:          []string{fmt.Sprintf("%v memory of %v", t.Kind(), t.Device())},
		},
	}
	for _, s := range t.sites() {
		b.add(s)
	}
	if err := b.profile.Write(w); err != nil {
		return fmt.Errorf("memory/adaptor: tracking: write profile: %w", err)
	}
	return nil
}

type profileBuilder struct {
	profile   *profile.Profile
	functions map[string]*profile.Function
	locations map[uintptr]*profile.Location
}

func (b *profileBuilder) add(s *site) {
	sample := &profile.Sample{Value: []int64{int64(s.blocks), int64(s.bytes)}}
	for _, counter := range s.stack {
		sample.Location = append(sample.Location, b.location(counter))
	}
	b.profile.Sample = append(b.profile.Sample, sample)
}

// location describes a program counter, with one line for each call inlined there.
func (b *profileBuilder) location(counter uintptr) *profile.Location {
	if location := b.locations[counter]; location != nil {
		return location
	}
	location := &profile.Location{ID: uint64(len(b.locations)) + 1, Address: uint64(counter)}
	b.locations[counter] = location
	b.profile.Location = append(b.profile.Location, location)
	frames := runtime.CallersFrames([]uintptr{counter})
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		location.Line = append(location.Line, profile.Line{Function: b.function(frame), Line: int64(frame.Line)})
	}
	return location
}

func (b *profileBuilder) function(frame runtime.Frame) *profile.Function {
	if function := b.functions[frame.Function]; function != nil {
		return function
	}
	function := &profile.Function{
		ID: uint64(len(b.functions)) + 1, Name: frame.Function, SystemName: frame.Function, Filename: frame.File,
	}
	b.functions[frame.Function] = function
	b.profile.Function = append(b.profile.Function, function)
	return function
}
