package observe

import (
	"maps"
	"slices"
	"time"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/caching"
	"github.com/gpuframe/gpuframe/memory/resource"
	"github.com/gpuframe/gpuframe/observe/internal/stacks"
)

// MemoryMapVersion is the version of [MemoryMap]. It changes if a field changes its name or
// meaning; fields may be added without a change.
const MemoryMapVersion = 1

// MemoryMap has the memory of all topmost managers, block by block, and their last events.
type MemoryMap struct {
	Version  int             `json:"version"`
	Time     time.Time       `json:"time"`
	Managers []ManagerMemory `json:"managers"`
	// Stacks are the stacks of allocations. Blocks and events refer to them by position.
	Stacks [][]Frame `json:"stacks"`
}

// ManagerMemory has the memory of a topmost manager.
type ManagerMemory struct {
	Manager string `json:"manager"`
	Device  string `json:"device"`
	// Segments are the memory of the caching resource. Of other resources each sampled
	// block is a segment.
	Segments []Segment `json:"segments"`
	// Events are the last events, the oldest first, if [Options.Events] is set.
	Events []Event `json:"events"`
}

// Segment is contiguous memory. Its blocks cover it.
type Segment struct {
	Address uint64 `json:"address"`
	Bytes   uint64 `json:"bytes"`
	InUse   uint64 `json:"in_use_bytes"`
	Held    uint64 `json:"held_bytes"`
	// LargestFree is the longest free block.
	LargestFree uint64  `json:"largest_free_bytes"`
	Small       bool    `json:"small"`
	Expandable  bool    `json:"expandable"`
	Blocks      []Block `json:"blocks"`
}

// Block is a part of a segment.
type Block struct {
	Address uint64 `json:"address"`
	Bytes   uint64 `json:"bytes"`
	// State is "in use", "held" (freed, and streams still use it) or "free".
	State string `json:"state"`
	BlockOwner
}

// BlockOwner describes the allocation of a block. A sampled block has all fields. Another
// one has no stack, and no fields at all if its allocation is not among the events.
type BlockOwner struct {
	// Requested is the size before it was rounded up, or 0 if it is not known.
	Requested uint64 `json:"requested_bytes,omitempty"`
	Tenant    string `json:"tenant,omitempty"`
	Tag       string `json:"tag,omitempty"`
	// Since is the time of the allocation.
	Since time.Time `json:"since,omitzero"`
	// Stack is the position of the stack plus 1, or 0.
	Stack int `json:"stack,omitempty"`
}

// Event is an allocation, a release or a failure.
type Event struct {
	// Kind is "allocated", "released" or "failed".
	Kind    string    `json:"kind"`
	Time    time.Time `json:"time"`
	Address uint64    `json:"address,omitempty"`
	Bytes   uint64    `json:"bytes"`
	Tenant  string    `json:"tenant,omitempty"`
	Tag     string    `json:"tag,omitempty"`
	// Stream numbers the streams of the manager. 0 is its own.
	Stream int `json:"stream"`
	// Remaining is the rest of the budget at a failure.
	Remaining uint64 `json:"remaining_bytes,omitempty"`
	// Stack is the position of the stack plus 1, or 0.
	Stack int `json:"stack,omitempty"`
}

// Frame is a call.
type Frame struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line"`
}

// MemoryMap returns the memory of all topmost managers, block by block.
//
// # Waiting
//
// Allocations that need more than the cache of their stream wait while the blocks are read:
// about one millisecond for a hundred thousand blocks.
func (r *Recorder) MemoryMap() MemoryMap {
	m := MemoryMap{Version: MemoryMapVersion, Time: time.Now(), Managers: []ManagerMemory{}}
	table := stackTable{known: make(map[[stacks.Deepest]uintptr]int)}
	for i, top := range r.managers {
		m.Managers = append(m.Managers, r.memoryOf(top, r.rings[i], &table))
	}
	m.Stacks = table.list()
	return m
}

func (r *Recorder) memoryOf(top *memory.Manager, ring *memory.EventRing, table *stackTable) ManagerMemory {
	manager := ManagerMemory{Manager: titleOf(top), Device: top.Device().Name(), Events: []Event{}, Segments: []Segment{}}
	// The owners of blocks that are allocated later are not known.
	owners := make(map[device.Pointer]BlockOwner)
	if ring != nil {
		manager.Events = r.eventsOf(top, ring, table, owners)
	}
	r.heap.owners(top, table, owners)
	cache, ok := resource.Find[*memory.CachingResource](top.Resource())
	if !ok {
		manager.Segments = separateBlocks(owners)
		return manager
	}
	for _, s := range cache.Layout() {
		manager.Segments = append(manager.Segments, segmentOf(s, owners))
	}
	return manager
}

// eventsOf returns the events of a ring, and adds the owners of the blocks that the last of
// them leave.
func (r *Recorder) eventsOf(top *memory.Manager, ring *memory.EventRing, table *stackTable, owners map[device.Pointer]BlockOwner) []Event {
	streams := map[*device.Stream]int{top.Stream(): 0}
	list := []Event{}
	tenants := make(map[*memory.Manager]string)
	// Events of one tag usually have the same string.
	tag, shown := "", ""
	for _, e := range ring.Events() {
		tenant, ok := tenants[e.Manager]
		if !ok {
			tenant = tenantOf(e.Manager)
			tenants[e.Manager] = tenant
		}
		if e.Tag != tag {
			tag, shown = e.Tag, nameOf(e.Tag)
		}
		event := Event{
			Kind: "allocated", Time: e.Time, Address: uint64(e.Pointer), Bytes: e.Bytes, Tenant: tenant, Tag: shown,
			Remaining: e.Remaining, Stack: table.position(r.heap.stackOf(e.Number, e.Generation)),
		}
		if number, known := streams[e.Stream]; known {
			event.Stream = number
		} else if e.Stream != nil {
			event.Stream = len(streams)
			streams[e.Stream] = event.Stream
		}
		switch e.Kind {
		case memory.Allocated:
			owners[e.Pointer] = BlockOwner{Requested: e.Bytes, Tenant: event.Tenant, Tag: event.Tag, Since: e.Time, Stack: event.Stack}
		case memory.Released:
			event.Kind = "released"
			delete(owners, e.Pointer)
		case memory.Failed:
			event.Kind = "failed"
		}
		list = append(list, event)
	}
	return list
}

func segmentOf(s caching.Segment, owners map[device.Pointer]BlockOwner) Segment {
	segment := Segment{Address: uint64(s.Pointer), Bytes: s.Bytes, Small: s.Small, Expandable: s.Expandable, Blocks: make([]Block, 0, len(s.Blocks))}
	for _, b := range s.Blocks {
		block := Block{Address: uint64(b.Pointer), Bytes: b.Bytes, State: "free"}
		switch b.State {
		case caching.BlockInUse:
			block.State = "in use"
			// The owner may be that of an earlier block, which was longer.
			if owner := owners[b.Pointer]; owner.Requested <= b.Bytes {
				block.BlockOwner = owner
			}
			segment.InUse += b.Bytes
		case caching.BlockHeld:
			block.State = "held"
			segment.Held += b.Bytes
		case caching.BlockFree:
			segment.LargestFree = max(segment.LargestFree, b.Bytes)
		}
		segment.Blocks = append(segment.Blocks, block)
	}
	return segment
}

// separateBlocks returns a segment for each block of a resource that has no segments.
func separateBlocks(owners map[device.Pointer]BlockOwner) []Segment {
	list := []Segment{}
	for _, pointer := range slices.Sorted(maps.Keys(owners)) {
		owner := owners[pointer]
		list = append(list, Segment{
			Address: uint64(pointer), Bytes: owner.Requested, InUse: owner.Requested,
			Blocks: []Block{{Address: uint64(pointer), Bytes: owner.Requested, State: "in use", BlockOwner: owner}},
		})
	}
	return list
}

// IsCaller reports whether the frame is of the program that uses gpuframe: the first one of a stack is the line that
// allocated.
func (f Frame) IsCaller() bool { return stacks.IsCaller(f.Function) }

// stackTable numbers stacks.
type stackTable struct {
	known map[[stacks.Deepest]uintptr]int
	keys  []*siteKey
}

// position returns the position of the stack plus 1, or 0 without a key.
func (t *stackTable) position(key *siteKey) int {
	if key == nil {
		return 0
	}
	at, ok := t.known[key.stack]
	if !ok {
		t.keys = append(t.keys, key)
		at = len(t.keys)
		t.known[key.stack] = at
	}
	return at
}

// list returns the frames of all stacks.
func (t *stackTable) list() [][]Frame {
	list := [][]Frame{}
	for _, key := range t.keys {
		frames := []Frame{}
		for _, f := range stacks.Frames(key.trace()) {
			frames = append(frames, Frame{f.Function, f.File, f.Line})
		}
		list = append(list, frames)
	}
	return list
}
