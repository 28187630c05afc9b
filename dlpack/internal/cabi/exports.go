package cabi

import "sync"

// Handle identifies an exported tensor: the low half is the record's number. The high
// half is a generation, so that a handle is invalid after its tensor has ended. A
// Handle is never zero.
type Handle uint64

// Owner keeps the memory of an exported tensor alive.
type Owner interface {
	// Ended is called once, when the tensor is no longer used, on any goroutine or
	// foreign thread.
	Ended()
}

// recordsAtOnce is the number of records in one allocation of C memory.
const recordsAtOnce = 64

// exports are the tensors that consumers currently hold.
var exports struct {
	sync.Mutex
	entries []entry
	idle    queue
}

type entry struct {
	record     *Record
	owner      Owner
	generation uint32
	// next is the entry after this one in the queue.
	next uint32
}

// queue holds the entries without an owner. The oldest one is reused first, so that a
// deleter that is called twice by mistake usually finds its own record, unused.
type queue struct {
	first, last uint32
	length      int
}

func (q *queue) put(number uint32) {
	if q.length == 0 {
		q.first = number
	} else {
		exports.entries[q.last].next = number
	}
	q.last = number
	q.length++
}

func (q *queue) take() (number uint32) {
	number = q.first
	q.first = exports.entries[number].next
	q.length--
	return number
}

// Begin registers an exported tensor and returns its record. It returns false if C
// memory is exhausted.
func Begin(owner Owner) (Handle, *Record, bool) {
	exports.Lock()
	defer exports.Unlock()
	if exports.idle.length == 0 && !grow() {
		return 0, nil, false
	}
	number := exports.idle.take()
	e := &exports.entries[number]
	e.generation = max(e.generation+1, 1)
	e.owner = owner
	return Handle(e.generation)<<32 | Handle(number), e.record, true
}

func grow() bool {
	records := newRecords(recordsAtOnce)
	for i := range records {
		exports.entries = append(exports.entries, entry{record: &records[i]})
		exports.idle.put(uint32(len(exports.entries) - 1))
	}
	return len(records) > 0
}

// Find returns the owner of an exported tensor that has not ended.
func Find(handle Handle) (Owner, bool) {
	exports.Lock()
	defer exports.Unlock()
	if e := find(handle); e != nil {
		return e.owner, true
	}
	return nil, false
}

func find(handle Handle) *entry {
	number, generation := uint32(handle), uint32(handle>>32)
	if uint64(number) >= uint64(len(exports.entries)) {
		return nil
	}
	e := &exports.entries[number]
	if e.owner == nil || e.generation != generation {
		return nil
	}
	return e
}

// End removes a tensor and calls its owner's Ended. For a handle that has ended
// before, it does nothing.
func End(handle Handle) {
	if owner, ok := Take(handle); ok {
		owner.Ended()
	}
}

// Take ends an exported tensor and returns the owner, without a call of Ended. The
// record is kept for another tensor. Until then only its handle changes, so that a
// second call of the deleter by mistake still finds a deleter.
func Take(handle Handle) (Owner, bool) {
	exports.Lock()
	defer exports.Unlock()
	e := find(handle)
	if e == nil {
		return nil, false
	}
	owner := e.owner
	e.owner = nil
	e.record.Versioned.Context, e.record.Legacy.Context = 0, 0
	exports.idle.put(uint32(handle))
	return owner, true
}
