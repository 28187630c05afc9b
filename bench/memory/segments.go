package main

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/caching"
)

// trainingSequence makes the requests of a model that is trained in phases. Weights
// stay from the beginning to the end. Each step allocates the activations of every
// layer, of sizes that change from phase to phase, frees them in reverse order with
// workspaces and small blocks between, and holds all gradients until its end. The
// memory that one phase frees seldom fits the next one exactly.
func trainingSequence(phases, steps, layers int) *sequence {
	const width, half = 4096, 2
	s, random := new(sequence), newRandom()
	var weights []uint32
	for range layers {
		weights = append(weights, s.allocate(4*width*width/8), s.allocate(8*width*width/8), s.allocate(width*half))
	}
	for range phases {
		rows := random.between(512, 8192)
		for range steps {
			var activations, gradients, small []uint32
			for range layers {
				activations = append(activations, s.allocate(rows*width*half), s.allocate(rows*width*half*4), s.allocate(rows*16*half))
				workspace := s.allocate(rows * random.between(1, 1024) * half)
				small = append(small, s.allocate(random.between(1, 64<<10)))
				s.free(workspace)
			}
			for layer := layers - 1; layer >= 0; layer-- {
				gradient := s.allocate(rows * width * half)
				gradients = append(gradients, s.allocate(4*width*width/8), s.allocate(8*width*width/8))
				for i := 2; i >= 0; i-- {
					s.free(activations[3*layer+i])
				}
				s.free(gradient)
				s.free(small[layer])
			}
			for _, gradient := range gradients {
				s.free(gradient)
			}
		}
	}
	for _, weight := range weights {
		s.free(weight)
	}
	return s
}

// segments compares the reserved memory of the caching resource's two ways to grow.
func (b *bench) segments() error {
	phases, steps, layers := 24, 4, 24
	if b.quick {
		phases, steps, layers = 4, 2, 6
	}
	s := trainingSequence(phases, steps, layers)
	t := table.New("segments", "time", "peak reserved", "÷ peak in use", "reserved at end", "÷ peak in use", "of the fixed ones' peak", "bar")
	var fixed uint64
	for _, mode := range []struct {
		name     string
		segments caching.SegmentMode
	}{{"fixed", memory.FixedSegments}, {"expandable", memory.ExpandableSegments}} {
		got, err := b.segmentsOf(mode.segments, s)
		if errors.Is(err, device.ErrNotSupported) || errors.Is(err, device.ErrNotAvailable) {
			t.Add(mode.name, "not on this device")
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", mode.name, err)
		}
		var demands bars
		if mode.segments == memory.FixedSegments {
			fixed = got.peak
		} else if fixed > 0 {
			demands.demand(got.peak < fixed, "less")
		}
		t.Add(mode.name, milliseconds(got.first), gibibytes(got.peak), part(got.peak, s.peak), gibibytes(got.end), part(got.end, s.peak),
			part(got.peak, fixed), demands.String())
	}
	return show(fmt.Sprintf("Segments: training in %d phases, %d requests, peak %s", phases, len(s.bytes), gibibytes(s.peak)), t)
}

func (b *bench) segmentsOf(mode caching.SegmentMode, s *sequence) (measured timing, err error) {
	resource, err := memory.NewCachingResource(b.dev, memory.CachingOptions{Segments: mode})
	if err != nil {
		return timing{}, err
	}
	defer func() { err = errors.Join(err, resource.Close()) }()
	held := (&source{resource: resource}).newSlots(s.slotCount)
	took, done, err := held.replay(s, b.limit, b.dev.DefaultStream())
	if err != nil {
		return timing{}, err
	}
	if done < len(s.bytes) {
		return timing{}, fmt.Errorf("it was given up after %d of %d requests", done, len(s.bytes))
	}
	stats := resource.Stats()
	return timing{first: took, peak: stats.PeakReserved, end: stats.Reserved}, nil
}
