package memory

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
)

// history makes records of a few addresses as stripes do: with times as coarse as those of
// the clock, with releases that are recorded after the next allocation of the address, and
// with separate records of some releases. It also returns the blocks that remain.
func history(random *rand.Rand) (lists []stripeRecords, remaining map[device.Pointer]uint64) {
	lists = make([]stripeRecords, 6)
	for i := range lists {
		lists[i].stripe = i
	}
	type place struct{ list, at int }
	held := make(map[device.Pointer]place)
	var late []func()
	sequence := uint64(0)
	remaining = make(map[device.Pointer]uint64)
	for i := range 60 {
		sequence++
		tick := eventTime(1+i/20) << sequenceBits
		pointer := device.Pointer(1+random.IntN(5)) << 9
		before, ok := held[pointer]
		if !ok {
			list := &lists[random.IntN(len(lists))]
			list.records = append(list.records, eventRecord{
				state: &blockState{number: uint64(i)}, generation: 1<<recordBits | recordAllocated, pointer: pointer, allocated: tick.at(sequence),
			})
			held[pointer] = place{list.stripe, len(list.records) - 1}
			remaining[pointer] = uint64(i)
			continue
		}
		delete(held, pointer)
		delete(remaining, pointer)
		list := &lists[before.list]
		separate := random.IntN(4) == 0
		release := func() {
			e := &list.records[before.at]
			at := max(tick, e.allocated&^(1<<sequenceBits-1)).at(sequence)
			if !separate {
				e.released = at
				e.generation |= recordReleased
				return
			}
			made := *e
			made.generation, made.released = 1<<recordBits|recordReleased, at
			made.allocated = e.allocated.at(0)
			list.records = append(list.records, made)
		}
		if random.IntN(3) > 0 {
			release()
			continue
		}
		late = append(late, func() {
			sequence++
			tick = eventTime(1+i/20+random.IntN(2)) << sequenceBits
			release()
		})
		if random.IntN(2) == 0 {
			late[0]()
			late = late[1:]
		}
	}
	for _, release := range late {
		release()
	}
	return lists, remaining
}

// requireOneHolder requires that no address has two blocks at a time, and returns the blocks
// that remain.
func requireOneHolder(t *testing.T, merged []mergedEvent) map[device.Pointer]uint64 {
	holder := make(map[device.Pointer]uint64)
	for i, e := range merged {
		number, has := holder[e.record.pointer]
		switch e.kind {
		case Allocated:
			require.False(t, has, "event %d: the address %d has block %d", i, e.record.pointer, number)
			holder[e.record.pointer] = e.record.state.number
		case Released:
			require.True(t, !has || number == e.record.state.number, "event %d", i)
			delete(holder, e.record.pointer)
		}
		if i > 0 {
			require.LessOrEqual(t, merged[i-1].at.time.tick(), e.at.time.tick())
		}
	}
	return holder
}

// The merged history has all events, is possible for each address, and leaves the blocks that
// remained.
func TestMergedEventsArePossible(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		lists, remaining := history(random)
		merged := mergeEvents(lists)
		require.Len(t, merged, 60)
		require.Equal(t, remaining, requireOneHolder(t, merged))
	}
}

// A ring has lost the first records of each stripe, or a record in the middle.
func TestMergedEventsOfALossyRing(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		lists, _ := history(random)
		for i := range lists {
			list := &lists[i]
			list.records = list.records[min(len(list.records), random.IntN(4)):]
			if n := len(list.records); n > 0 && random.IntN(4) == 0 {
				at := random.IntN(n)
				list.records = slices.Delete(list.records, at, at+1)
			}
		}
		requireOneHolder(t, mergeEvents(lists))
	}
}

// One stripe records blocks that are released at once, and others that are released after
// their chunk was filled. The ring keeps the last events in their exact order.
func TestEventRingKeepsTheLastOfAStripe(t *testing.T) {
	ring := &EventRing{tree: new(tree), last: 1000}
	ring.tree.stripes.open()
	ring.clock.open()
	defer ring.clock.close()
	s := &ring.tree.stripes.all[7]
	manager := new(Manager)
	tag := &tagTotals{name: "tag", manager: manager}
	type kindAndBytes struct {
		kind  EventKind
		bytes uint64
	}
	var want []kindAndBytes
	var late []*blockState
	release := func(state *blockState) {
		want = append(want, kindAndBytes{Released, state.allocation.Bytes})
		ring.recordRelease(s, state, 1)
		state.life.Store(newLife(2))
	}
	for i := range uint64(5000) {
		state := &blockState{number: i, tag: tag, stripe: 7}
		state.life.Store(newLife(1))
		state.allocation.Pointer, state.allocation.Bytes = device.Pointer(i+1)<<9, i+1
		if i%2 == 0 {
			ring.recordAllocation(s, state, 1)
		} else {
			ring.expect(s, state, 1)
			state.allocated = ring.clock.now()
			state.answered(1)
		}
		want = append(want, kindAndBytes{Allocated, i + 1})
		if i%3 > 0 {
			release(state)
		} else if late = append(late, state); len(late) > 300 {
			release(late[0])
			late = late[1:]
		}
		if i%500 > 0 {
			continue
		}
		var got []kindAndBytes
		for _, e := range ring.Events() {
			got = append(got, kindAndBytes{e.Kind, e.Bytes})
		}
		require.Equal(t, want[max(0, len(want)-1000):], got)
	}
}

// Requests that have no memory yet move to the next chunk, and those that fail leave no event.
func TestEventsOfUnansweredRequests(t *testing.T) {
	ring := &EventRing{tree: new(tree), last: 1000}
	ring.tree.stripes.open()
	ring.clock.open()
	defer ring.clock.close()
	s := &ring.tree.stripes.all[3]
	tag := &tagTotals{name: "tag", manager: new(Manager)}
	var states []*blockState
	for i := range uint64(600) {
		state := &blockState{number: i, tag: tag, stripe: 3}
		state.life.Store(newLife(1))
		ring.expect(s, state, 1)
		switch i % 3 {
		case 0: // fails
			state.life.Store(newLife(2))
			state.answered(1)
		case 1: // is answered later
			if len(states) < 20 {
				states = append(states, state)
			}
		default:
			state.allocation.Pointer, state.allocation.Bytes = device.Pointer(i+1)<<9, i+1
			state.allocated = ring.clock.now()
			state.answered(1)
		}
	}
	require.Len(t, ring.Events(), 200)
	for i, state := range states {
		state.allocation.Pointer, state.allocation.Bytes = device.Pointer(i+1)<<20, uint64(i+1)
		state.allocated = ring.clock.now()
		state.answered(1)
	}
	require.Len(t, ring.Events(), 200+len(states))
	for _, state := range states {
		ring.recordRelease(s, state, 1)
	}
	require.Len(t, ring.Events(), 200+2*len(states))
}

// A block that is recalled before the resource has answered has no event until then. Events
// read the fields of such a block while its request wrote them.
func TestEventsOfRecalledBlocks(t *testing.T) {
	ring := &EventRing{tree: new(tree), last: 1000}
	ring.tree.stripes.open()
	ring.clock.open()
	defer ring.clock.close()
	s := &ring.tree.stripes.all[3]
	state := &blockState{tag: &tagTotals{name: "tag", manager: new(Manager)}, stripe: 3}
	state.life.Store(newLife(1))
	ring.expect(s, state, 1)
	require.True(t, (&drawn{state: state, generation: 1}).recall())
	require.Empty(t, ring.Events(), "it has no memory yet")
	state.allocation.Pointer, state.allocation.Bytes = 512, 7
	state.allocated = ring.clock.now()
	require.True(t, state.answered(1))
	events := ring.Events()
	require.Len(t, events, 1)
	require.EqualValues(t, 512, events[0].Pointer)
	require.EqualValues(t, 7, events[0].Bytes)
}

func TestEventRecordFillsACacheLine(t *testing.T) {
	assert.LessOrEqual(t, unsafe.Sizeof(eventRecord{}), uintptr(64))
}
