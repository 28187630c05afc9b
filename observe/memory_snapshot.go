package observe

import (
	"cmp"
	"io"
	"slices"

	"github.com/gpuframe/gpuframe/observe/internal/pickle"
)

// WriteMemorySnapshot writes [Recorder.MemoryMap] in the format of PyTorch's memory
// snapshots. Drop the file on https://pytorch.org/memory_viz, or run
//
//	python -m torch.cuda._memory_viz trace_plot snapshot.pickle -o trace.html
//
// The viewer shows topmost managers as devices, in the order of [Recorder.Managers]. Blocks
// that were not sampled have a frame with their tenant and tag.
func (r *Recorder) WriteMemorySnapshot(w io.Writer) error {
	m := r.MemoryMap()
	return m.WriteMemorySnapshot(w)
}

// WriteMemorySnapshot writes the map as [Recorder.WriteMemorySnapshot] does.
func (m *MemoryMap) WriteMemorySnapshot(w io.Writer) error {
	s := snapshotWriter{Encoder: pickle.NewEncoder(w), stacks: m.Stacks}
	s.Dict(func() {
		s.String("segments")
		type onDevice struct {
			*Segment
			device int
		}
		var segments []onDevice
		for i := range m.Managers {
			for j := range m.Managers[i].Segments {
				segments = append(segments, onDevice{&m.Managers[i].Segments[j], i})
			}
		}
		s.List(len(segments), func(i int) { s.segment(segments[i].Segment, segments[i].device) })
		s.String("device_traces")
		s.List(len(m.Managers), func(i int) {
			trace := traceOf(&m.Managers[i])
			s.List(len(trace), func(j int) { s.entry(&trace[j]) })
		})
		s.String("allocator_settings")
		s.Dict(func() {
			s.String("backend")
			s.String("gpuframe")
		})
	})
	return s.Close()
}

// snapshotWriter writes the parts of a snapshot.
type snapshotWriter struct {
	*pickle.Encoder
	stacks [][]Frame
}

func (s *snapshotWriter) uint(key string, value uint64) {
	s.String(key)
	s.Uint(value)
}

func (s *snapshotWriter) text(key, value string) {
	s.String(key)
	s.String(value)
}

func (s *snapshotWriter) segment(segment *Segment, device int) {
	s.Dict(func() {
		s.uint("device", uint64(device))
		s.uint("address", segment.Address)
		s.uint("total_size", segment.Bytes)
		s.uint("allocated_size", segment.InUse)
		s.uint("active_size", segment.InUse+segment.Held)
		requested := uint64(0)
		for i := range segment.Blocks {
			requested += requestedOf(&segment.Blocks[i])
		}
		s.uint("requested_size", requested)
		s.uint("stream", 0)
		kind := "large"
		if segment.Small {
			kind = "small"
		}
		s.text("segment_type", kind)
		s.String("segment_pool_id")
		s.Pair(func() { s.Uint(0) }, func() { s.Uint(0) })
		s.String("is_expandable")
		s.Bool(segment.Expandable)
		s.String("frames")
		s.List(0, nil)
		s.String("blocks")
		s.List(len(segment.Blocks), func(i int) { s.block(&segment.Blocks[i]) })
	})
}

// requestedOf returns the requested bytes of a block in use.
func requestedOf(b *Block) uint64 {
	switch {
	case b.State != "in use":
		return 0
	case b.Requested > 0:
		return b.Requested
	}
	return b.Bytes
}

func (s *snapshotWriter) block(b *Block) {
	s.Dict(func() {
		s.uint("address", b.Address)
		s.uint("size", b.Bytes)
		s.uint("requested_size", requestedOf(b))
		state := map[string]string{"in use": "active_allocated", "held": "active_pending_free", "free": "inactive"}[b.State]
		s.text("state", state)
		s.String("frames")
		s.frames(b.Stack, b.Tenant, b.Tag)
	})
}

// frames writes a stack, or without one a frame with tenant and tag.
func (s *snapshotWriter) frames(stack int, tenant, tag string) {
	if stack == 0 && tenant == "" && tag == "" {
		s.List(0, nil)
		return
	}
	// Lists are written once for all blocks that share them.
	type owner struct {
		stack       int
		tenant, tag string
	}
	key := owner{stack: stack}
	frames := []Frame(nil)
	if stack > 0 {
		frames = s.stacks[stack-1]
	} else {
		key.tenant, key.tag = tenant, tag
		frames = []Frame{{Function: "tag " + cmp.Or(tag, "(untagged)"), File: "tenant " + cmp.Or(tenant, "(none)")}}
	}
	s.Shared(key, func() {
		s.List(len(frames), func(i int) {
			s.Shared(frames[i], func() {
				s.Dict(func() {
					s.text("filename", frames[i].File)
					s.uint("line", uint64(max(frames[i].Line, 0)))
					s.text("name", frames[i].Function)
				})
			})
		})
	})
}

// traceEntry is an event in PyTorch's terms.
type traceEntry struct {
	*Event
	action         string
	address, bytes uint64
}

func (s *snapshotWriter) entry(e *traceEntry) {
	s.Dict(func() {
		s.text("action", e.action)
		if e.action == "oom" {
			s.uint("device_free", e.Remaining)
		}
		s.uint("addr", e.address)
		s.uint("size", e.bytes)
		s.uint("stream", uint64(e.Stream))
		s.uint("time_us", uint64(max(e.Time.UnixMicro(), 0)))
		s.String("frames")
		if e.action == "segment_free" {
			s.List(0, nil)
		} else {
			s.frames(e.Stack, e.Tenant, e.Tag)
		}
	})
}

// traceOf returns the events of a manager in PyTorch's terms. The viewer requires that each
// block lies in a segment, also while it goes back in time. Segments that were returned to
// the driver are not known: their released blocks are shown in segments that were freed
// after the last of them.
func traceOf(m *ManagerMemory) []traceEntry {
	freed := freedSegments(m)
	var trace []traceEntry
	for i := range m.Events {
		e := &m.Events[i]
		switch e.Kind {
		case "allocated":
			trace = append(trace, traceEntry{e, "alloc", e.Address, e.Bytes})
		case "released":
			trace = append(trace, traceEntry{e, "free_requested", e.Address, e.Bytes}, traceEntry{e, "free_completed", e.Address, e.Bytes})
		case "failed":
			trace = append(trace, traceEntry{e, "oom", 0, e.Bytes})
		}
		for _, s := range freed[i] {
			trace = append(trace, traceEntry{e, "segment_free", s.from, s.to - s.from})
		}
	}
	return trace
}

// addressRange is a range of addresses up to to.
type addressRange struct {
	from, to uint64
	// last is the last event in it.
	last int
}

// freedSegments returns the ranges of blocks of events that lie in no segment, by the last
// event of each.
func freedSegments(m *ManagerMemory) map[int][]addressRange {
	var ranges []addressRange
	for i, e := range m.Events {
		if e.Kind == "failed" || inSegment(m.Segments, e.Address, e.Bytes) {
			continue
		}
		ranges = append(ranges, addressRange{e.Address, e.Address + e.Bytes, i})
	}
	slices.SortFunc(ranges, func(a, b addressRange) int {
		if a.from < b.from {
			return -1
		}
		return int(min(a.from-b.from, 1))
	})
	freed := make(map[int][]addressRange)
	for i := 0; i < len(ranges); {
		whole := ranges[i]
		for i++; i < len(ranges) && ranges[i].from < whole.to; i++ {
			whole.to, whole.last = max(whole.to, ranges[i].to), max(whole.last, ranges[i].last)
		}
		freed[whole.last] = append(freed[whole.last], whole)
	}
	return freed
}

// inSegment reports whether a segment, of those ordered by address, has the bytes.
func inSegment(segments []Segment, address, bytes uint64) bool {
	at, exact := slices.BinarySearchFunc(segments, address, func(s Segment, address uint64) int {
		switch {
		case s.Address < address:
			return -1
		case s.Address > address:
			return 1
		}
		return 0
	})
	if !exact {
		at--
	}
	return at >= 0 && address-segments[at].Address+bytes <= segments[at].Bytes
}
