package caching

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host"
	"github.com/gpuframe/gpuframe/memory/internal/round"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// simulated is a device with simulated time: enqueued work runs only when the test
// advances it or when a caller waits for it. It records for all memory the work that
// used it last, and checks that later operations come after that work. Its memory
// has addresses but no contents.
//
// Violations are recorded in faults and not returned, because the code under test
// could ignore a returned error.
type simulated struct {
	backend.Device // the host device, for calls that are not simulated

	mu      sync.Mutex
	faults  []string
	streams map[backend.Stream]*simulatedStream
	events  map[backend.Event]*simulatedEvent
	handles uintptr
	// calls counts the driver calls by name.
	calls map[string]int
	// fail, if not nil, is called for every driver call that can fail.
	fail func(call string) error
	// recorded, if not nil, is called after an event was recorded.
	recorded func()

	// capacity is the size of the memory; used is the part that is allocated or
	// mapped.
	capacity, used uint64
	addresses      uint64
	allocated      map[backend.Pointer]uint64
	// vacant are previously allocated addresses, by size.
	vacant   map[uint64][]backend.Pointer
	ranges   map[backend.Pointer]uint64
	physical map[backend.Physical]*simulatedPiece
	mapped   map[backend.Pointer]simulatedMapping
	cells    map[uint64]*simulatedCell
}

// moment maps each stream to the position up to which its work has completed at some
// point.
type moment map[backend.Stream]uint64

func (m moment) add(other moment) {
	for stream, position := range other {
		m[stream] = max(m[stream], position)
	}
}

type simulatedStream struct {
	// enqueued and completed count pieces of work.
	enqueued, completed uint64
	// after is the work that precedes the next enqueued work.
	after moment
	// waits are the pieces of work that are waits and have not completed.
	waits     []simulatedWait
	destroyed bool
}

type simulatedWait struct {
	position uint64
	after    moment
}

type simulatedEvent struct {
	stream   backend.Stream
	position uint64
	after    moment
}

type simulatedPiece struct {
	bytes    uint64
	mappings int
	released bool
}

type simulatedMapping struct {
	bytes      uint64
	physical   backend.Physical
	accessible bool
}

// simulatedCell is memory of 512 bytes.
type simulatedCell struct {
	live bool
	uses moment
}

const (
	simulatedGranularity = 64 << 10
	simulatedTotal       = 64 << 20
)

var simulatedDevices atomic.Int64

type simulatedDriver struct{ sim *simulated }

func (d simulatedDriver) Devices() ([]backend.Info, error) {
	return []backend.Info{d.sim.Info()}, nil
}
func (d simulatedDriver) Open(int) (backend.Device, error) { return d.sim, nil }

// openSimulated opens a simulated device. The test closes it.
func openSimulated(t require.TestingT) (*simulated, *device.Device) {
	below, err := host.Driver{}.Open(0)
	require.NoError(t, err)
	sim := &simulated{
		Device: below, capacity: simulatedTotal, addresses: 1 << 40,
		streams: map[backend.Stream]*simulatedStream{0: {after: moment{}}},
		events:  map[backend.Event]*simulatedEvent{}, calls: map[string]int{},
		allocated: map[backend.Pointer]uint64{}, vacant: map[uint64][]backend.Pointer{},
		ranges: map[backend.Pointer]uint64{}, physical: map[backend.Physical]*simulatedPiece{},
		mapped: map[backend.Pointer]simulatedMapping{}, cells: map[uint64]*simulatedCell{},
	}
	name := fmt.Sprintf("simulated-%d", simulatedDevices.Add(1))
	require.NoError(t, device.Register(name, simulatedDriver{sim}))
	dev, err := device.Open(name)
	require.NoError(t, err)
	return sim, dev
}

func (s *simulated) broken(format string, arguments ...any) {
	if len(s.faults) < 4 { // the first faults are the most useful
		s.faults = append(s.faults, fmt.Sprintf(format, arguments...))
	}
}

// enter counts a call and locks the device. It returns the error with which the call
// fails.
func (s *simulated) enter(call string) error {
	s.mu.Lock()
	s.calls[call]++
	if s.fail == nil {
		return nil
	}
	return s.fail(call)
}

// called returns the number of driver calls with any of the names.
func (s *simulated) called(names ...string) (count int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		count += s.calls[name]
	}
	return count
}

// eventCalls are all calls that create, record, query or wait for events, or query
// streams.
var eventCalls = []string{"EventCreate", "EventRecord", "EventQuery", "EventSynchronize", "EventDestroy",
	"StreamQuery", "StreamSynchronize", "StreamWaitEvent", "Synchronize"}

// waitingCalls are the calls that block the caller.
var waitingCalls = []string{"EventSynchronize", "StreamSynchronize", "Synchronize"}

// Time.

func (s *simulated) stream(handle backend.Stream, call string) *simulatedStream {
	stream := s.streams[handle]
	if stream == nil || stream.destroyed {
		s.broken("%s of the stream %#x, which is not there", call, handle)
		return &simulatedStream{after: moment{}}
	}
	return stream
}

// now returns the moment after all current work of a stream has completed.
func (s *simulatedStream) now(handle backend.Stream) moment {
	m := maps.Clone(s.after)
	m[handle] = s.enqueued
	return m
}

// work enqueues a piece of work and returns its position.
func (s *simulated) work(handle backend.Stream) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	stream := s.stream(handle, "work")
	stream.enqueued++
	return stream.enqueued
}

// use enqueues a piece of work that uses memory.
func (s *simulated) use(handle backend.Stream, address, bytes uint64) {
	position := s.work(handle)
	s.mu.Lock()
	defer s.mu.Unlock()
	for at := address; at < address+bytes; at += roundingBytes {
		s.cell(at).uses[handle] = position
	}
}

func (s *simulated) cell(at uint64) *simulatedCell {
	cell := s.cells[at]
	if cell == nil {
		cell = &simulatedCell{uses: moment{}}
		s.cells[at] = cell
	}
	return cell
}

// complete runs a stream's work up to a position, including the work that it waits
// for.
func (s *simulated) complete(handle backend.Stream, position uint64) {
	stream := s.streams[handle]
	if position <= stream.completed {
		return
	}
	stream.completed = position
	for len(stream.waits) > 0 && stream.waits[0].position <= position {
		after := stream.waits[0].after
		stream.waits = stream.waits[1:]
		for other, done := range after {
			s.complete(other, done)
		}
	}
}

// advance runs some of the work of a stream.
func (s *simulated) advance(handle backend.Stream, count uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stream := s.streams[handle]
	s.complete(handle, min(stream.enqueued, stream.completed+count))
}

// idle runs all work.
func (s *simulated) idle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.completeAll()
}

func (s *simulated) completeAll() {
	for handle, stream := range s.streams {
		s.complete(handle, stream.enqueued)
	}
}

// ordered returns the position up to which a stream's work comes before the next
// work of another stream.
func (s *simulated) ordered(later, earlier backend.Stream) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams[later].after[earlier]
}

// handOut is called for memory that was allocated on a stream. It checks that the
// memory is not in use and that all its previous uses come before the next work of
// the stream.
func (s *simulated) handOut(handle backend.Stream, address, bytes uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	after := s.streams[handle].after
	for at := address; at < address+bytes; at += roundingBytes {
		cell := s.cell(at)
		if cell.live {
			s.broken("%#x was handed out twice", at)
		}
		cell.live = true
		for other, position := range cell.uses {
			switch {
			case s.streams[other].completed >= position:
				delete(cell.uses, other)
			case other != handle && after[other] < position:
				s.broken("%#x was handed out on stream %#x, which comes after position %d of stream %#x and not after %d where the memory was used",
					at, handle, after[other], other, position)
			}
		}
	}
}

// takeBack is called for memory that is about to be freed.
func (s *simulated) takeBack(address, bytes uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at := address; at < address+bytes; at += roundingBytes {
		s.cell(at).live = false
	}
}

// vanish removes memory and checks that nothing uses it any more.
func (s *simulated) vanish(call string, address, bytes uint64) {
	for at := address; at < address+bytes; at += roundingBytes {
		cell := s.cells[at]
		if cell == nil {
			continue
		}
		if cell.live {
			s.broken("%s of %#x, which is allocated", call, at)
		}
		for stream, position := range cell.uses {
			if done := s.streams[stream].completed; done < position {
				s.broken("%s of %#x, used at position %d of stream %#x, which has come to %d", call, at, position, stream, done)
			}
		}
		delete(s.cells, at)
	}
}

// Driver calls.

func (s *simulated) Info() backend.Info {
	info := s.Device.Info()
	info.Name, info.TotalMemory = "simulated", simulatedTotal
	return info
}

func (s *simulated) MemoryInfo() (free, total uint64, err error) {
	defer s.mu.Unlock()
	if err := s.enter("MemoryInfo"); err != nil {
		return 0, 0, err
	}
	return s.capacity - min(s.used, s.capacity), simulatedTotal, nil
}

func (s *simulated) Synchronize() error {
	defer s.mu.Unlock()
	if err := s.enter("Synchronize"); err != nil {
		return err
	}
	s.completeAll()
	return nil
}

func (s *simulated) StreamCreate() (backend.Stream, error) {
	defer s.mu.Unlock()
	if err := s.enter("StreamCreate"); err != nil {
		return 0, err
	}
	s.handles++
	handle := backend.Stream(s.handles)
	s.streams[handle] = &simulatedStream{after: moment{}}
	return handle, nil
}

func (s *simulated) StreamDestroy(handle backend.Stream) error {
	defer s.mu.Unlock()
	if err := s.enter("StreamDestroy"); err != nil {
		return err
	}
	s.stream(handle, "StreamDestroy").destroyed = true
	return nil
}

func (s *simulated) StreamSynchronize(handle backend.Stream) error {
	defer s.mu.Unlock()
	if err := s.enter("StreamSynchronize"); err != nil {
		return err
	}
	s.complete(handle, s.stream(handle, "StreamSynchronize").enqueued)
	return nil
}

func (s *simulated) StreamQuery(handle backend.Stream) (bool, error) {
	defer s.mu.Unlock()
	if err := s.enter("StreamQuery"); err != nil {
		return false, err
	}
	stream := s.stream(handle, "StreamQuery")
	return stream.completed == stream.enqueued, nil
}

func (s *simulated) StreamWaitEvent(handle backend.Stream, event backend.Event) error {
	defer s.mu.Unlock()
	if err := s.enter("StreamWaitEvent"); err != nil {
		return err
	}
	mark := s.event(event, "StreamWaitEvent")
	if mark == nil {
		return nil
	}
	stream := s.stream(handle, "StreamWaitEvent")
	stream.enqueued++
	stream.waits = append(stream.waits, simulatedWait{position: stream.enqueued, after: mark.after})
	stream.after.add(mark.after)
	return nil
}

// event returns the recorded state of an event, or nil if it was never recorded.
func (s *simulated) event(event backend.Event, call string) *simulatedEvent {
	mark, ok := s.events[event]
	if !ok {
		s.broken("%s of the event %#x, which is not there", call, event)
	}
	return mark
}

func (s *simulated) EventCreate(bool) (backend.Event, error) {
	defer s.mu.Unlock()
	if err := s.enter("EventCreate"); err != nil {
		return 0, err
	}
	s.handles++
	s.events[backend.Event(s.handles)] = nil
	return backend.Event(s.handles), nil
}

func (s *simulated) EventDestroy(event backend.Event) error {
	defer s.mu.Unlock()
	if err := s.enter("EventDestroy"); err != nil {
		return err
	}
	s.event(event, "EventDestroy")
	delete(s.events, event)
	return nil
}

func (s *simulated) EventRecord(event backend.Event, handle backend.Stream) error {
	err := s.record(event, handle)
	if s.recorded != nil {
		s.recorded()
	}
	return err
}

func (s *simulated) record(event backend.Event, handle backend.Stream) error {
	defer s.mu.Unlock()
	if err := s.enter("EventRecord"); err != nil {
		return err
	}
	s.event(event, "EventRecord")
	stream := s.stream(handle, "EventRecord")
	s.events[event] = &simulatedEvent{stream: handle, position: stream.enqueued, after: stream.now(handle)}
	return nil
}

func (s *simulated) EventQuery(event backend.Event) (bool, error) {
	defer s.mu.Unlock()
	if err := s.enter("EventQuery"); err != nil {
		return false, err
	}
	mark := s.event(event, "EventQuery")
	return mark == nil || s.streams[mark.stream].completed >= mark.position, nil
}

func (s *simulated) EventSynchronize(event backend.Event) error {
	defer s.mu.Unlock()
	if err := s.enter("EventSynchronize"); err != nil {
		return err
	}
	if mark := s.event(event, "EventSynchronize"); mark != nil {
		s.complete(mark.stream, mark.position)
	}
	return nil
}

// Memory.

// take reduces the available memory.
func (s *simulated) take(bytes uint64) error {
	if s.used+bytes > s.capacity {
		return fmt.Errorf("simulated: %d bytes are left: %w", s.capacity-min(s.used, s.capacity), backend.ErrOutOfMemory)
	}
	s.used += bytes
	return nil
}

func (s *simulated) Alloc(bytes uint64) (backend.Pointer, error) {
	defer s.mu.Unlock()
	if err := s.enter("Alloc"); err != nil {
		return 0, err
	}
	if err := s.take(bytes); err != nil {
		return 0, err
	}
	var pointer backend.Pointer
	if vacant := s.vacant[bytes]; len(vacant) > 0 {
		pointer, s.vacant[bytes] = vacant[len(vacant)-1], vacant[:len(vacant)-1]
	} else {
		pointer = backend.Pointer(s.addresses)
		s.addresses += round.Up(bytes, roundingBytes) + roundingBytes
	}
	s.allocated[pointer] = bytes
	return pointer, nil
}

func (s *simulated) Free(pointer backend.Pointer) error {
	defer s.mu.Unlock()
	if err := s.enter("Free"); err != nil {
		return err
	}
	bytes, ok := s.allocated[pointer]
	if !ok {
		s.broken("Free of %v, which is not allocated", pointer)
		return nil
	}
	s.vanish("Free", uint64(pointer), bytes)
	delete(s.allocated, pointer)
	s.vacant[bytes] = append(s.vacant[bytes], pointer)
	s.used -= bytes
	return nil
}

// AllocAsync counts as work of the stream: the memory must not be used before it.
func (s *simulated) AllocAsync(bytes uint64, _ backend.Pool, handle backend.Stream) (backend.Pointer, error) {
	pointer, err := s.Alloc(bytes)
	if err == nil {
		s.use(handle, uint64(pointer), bytes)
	}
	return pointer, err
}

func (s *simulated) FreeAsync(pointer backend.Pointer, handle backend.Stream) error {
	if err := s.Free(pointer); err != nil {
		return err
	}
	s.work(handle)
	return nil
}

func (s *simulated) PhysicalGranularity() (uint64, error) { return simulatedGranularity, nil }

func (s *simulated) AddressReserve(bytes, _ uint64) (backend.Pointer, error) {
	defer s.mu.Unlock()
	if err := s.enter("AddressReserve"); err != nil {
		return 0, err
	}
	s.addresses = round.Up(s.addresses, simulatedGranularity) + simulatedGranularity
	pointer := backend.Pointer(s.addresses)
	s.addresses += bytes
	s.ranges[pointer] = bytes
	return pointer, nil
}

func (s *simulated) AddressFree(pointer backend.Pointer, bytes uint64) error {
	defer s.mu.Unlock()
	if err := s.enter("AddressFree"); err != nil {
		return err
	}
	if s.ranges[pointer] != bytes {
		s.broken("AddressFree of %v, %d bytes, which is not reserved", pointer, bytes)
	}
	for at := range s.mapped {
		if at >= pointer && at < pointer.Add(bytes) {
			s.broken("AddressFree of %v, while memory is mapped at %v", pointer, at)
		}
	}
	delete(s.ranges, pointer)
	return nil
}

func (s *simulated) PhysicalCreate(bytes uint64) (backend.Physical, error) {
	defer s.mu.Unlock()
	if err := s.enter("PhysicalCreate"); err != nil {
		return 0, err
	}
	if bytes == 0 || bytes%simulatedGranularity != 0 {
		s.broken("PhysicalCreate of %d bytes", bytes)
	}
	if err := s.take(bytes); err != nil {
		return 0, err
	}
	s.handles++
	s.physical[backend.Physical(s.handles)] = &simulatedPiece{bytes: bytes}
	return backend.Physical(s.handles), nil
}

func (s *simulated) PhysicalRelease(physical backend.Physical) error {
	defer s.mu.Unlock()
	if err := s.enter("PhysicalRelease"); err != nil {
		return err
	}
	piece := s.physical[physical]
	if piece == nil || piece.released {
		s.broken("PhysicalRelease of %#x, which is not there", physical)
		return nil
	}
	piece.released = true
	s.forget(physical, piece)
	return nil
}

// forget frees physical memory that has no handle and no mapping.
func (s *simulated) forget(physical backend.Physical, piece *simulatedPiece) {
	if piece.released && piece.mappings == 0 {
		delete(s.physical, physical)
		s.used -= piece.bytes
	}
}

func (s *simulated) Map(at backend.Pointer, bytes, offset uint64, physical backend.Physical) error {
	defer s.mu.Unlock()
	if err := s.enter("Map"); err != nil {
		return err
	}
	piece := s.physical[physical]
	if piece == nil || piece.released || offset != 0 || bytes != piece.bytes {
		s.broken("Map of %#x, %d bytes at %v", physical, bytes, at)
		return nil
	}
	inside := false
	for base, length := range s.ranges {
		inside = inside || at >= base && at.Add(bytes) <= base.Add(length)
	}
	if !inside {
		s.broken("Map at %v, %d bytes, which is not reserved", at, bytes)
	}
	for other, mapping := range s.mapped {
		if at < other.Add(mapping.bytes) && other < at.Add(bytes) {
			s.broken("Map at %v, %d bytes, where memory is mapped at %v", at, bytes, other)
		}
	}
	piece.mappings++
	s.mapped[at] = simulatedMapping{bytes: bytes, physical: physical}
	return nil
}

func (s *simulated) SetAccess(at backend.Pointer, bytes uint64) error {
	defer s.mu.Unlock()
	if err := s.enter("SetAccess"); err != nil {
		return err
	}
	for next := at; next < at.Add(bytes); {
		mapping, ok := s.mapped[next]
		if !ok || next.Add(mapping.bytes) > at.Add(bytes) {
			s.broken("SetAccess at %v, %d bytes: nothing is mapped, or not as a whole, at %v", at, bytes, next)
			return nil
		}
		mapping.accessible = true
		s.mapped[next] = mapping
		next = next.Add(mapping.bytes)
	}
	return nil
}

func (s *simulated) Unmap(at backend.Pointer, bytes uint64) error {
	defer s.mu.Unlock()
	if err := s.enter("Unmap"); err != nil {
		return err
	}
	mapping, ok := s.mapped[at]
	if !ok || mapping.bytes != bytes {
		s.broken("Unmap of %v, %d bytes, which is not mapped so", at, bytes)
		return nil
	}
	s.vanish("Unmap", uint64(at), bytes)
	delete(s.mapped, at)
	piece := s.physical[mapping.physical]
	piece.mappings--
	s.forget(mapping.physical, piece)
	return nil
}

// simulatedUpstream allocates segments without ordering anything itself, so that a
// segment that is freed too early is detected.
type simulatedUpstream struct {
	resource.Driver
	sim *simulated
}

func newSimulatedUpstream(sim *simulated, dev *device.Device) *simulatedUpstream {
	return &simulatedUpstream{Driver: *resource.NewDriver(dev), sim: sim}
}

func (u *simulatedUpstream) Free(allocation resource.Allocation, _ []*device.Stream) error {
	return u.sim.Free(allocation.Pointer)
}

var errInjected = errors.New("the driver fails")

// requireSound fails the test if a rule was violated.
func (s *simulated) requireSound(t require.TestingT) {
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Empty(t, s.faults)
}

// requireEmpty closes the device and fails the test if anything is left except one
// event per stream, its fence, which is closed when the stream is collected.
func (s *simulated) requireEmpty(t require.TestingT, dev *device.Device, fences int) {
	require.NoError(t, dev.Close())
	s.requireSound(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Zero(t, s.used, "memory is left")
	require.Empty(t, s.allocated)
	require.Empty(t, s.mapped)
	require.Empty(t, s.physical)
	require.Empty(t, s.ranges, "addresses are left")
	require.Len(t, s.events, fences, "events are left")
	for handle, stream := range s.streams {
		require.True(t, handle == 0 || stream.destroyed, "stream %#x is left", handle)
	}
}
