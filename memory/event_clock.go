package memory

import (
	"sync/atomic"
	"time"
)

// eventTime is the time of an event in ticks since clockStart. Its lower bits have the
// number of the event in its stripe, which orders events of one tick.
type eventTime uint64

const (
	sequenceBits = 20
	// tickBits are the bits of nanoseconds that a tick has not: a tick is 16 microseconds.
	// An eventTime then lasts for nine years.
	tickBits = 14
)

// clockStart is the zero of times of events.
var clockStart = time.Now()

// at returns the time with the number of an event.
func (t eventTime) at(sequence uint64) eventTime {
	return t&^(1<<sequenceBits-1) | eventTime(sequence&(1<<sequenceBits-1))
}

func (t eventTime) sequence() uint64 { return uint64(t) & (1<<sequenceBits - 1) }

func (t eventTime) tick() uint64 { return uint64(t) >> sequenceBits }

func (t eventTime) time() time.Time { return clockStart.Add(time.Duration(t.tick() << tickBits)) }

// coarseClock is a clock that costs a load: a reading is reused for a millisecond.
type coarseClock struct {
	// current is the time as an eventTime, or zero if it must be read.
	current atomic.Uint64
	timer   *time.Timer
}

const clockResolution = time.Millisecond

func (c *coarseClock) open() {
	c.timer = time.AfterFunc(time.Hour, func() { c.current.Store(0) })
	c.timer.Stop()
}

func (c *coarseClock) close() { c.timer.Stop() }

func (c *coarseClock) now() eventTime {
	if now := c.current.Load(); now != 0 {
		return eventTime(now)
	}
	return c.read()
}

// ticks returns the time now. It is not zero.
func ticks() uint64 { return max(uint64(time.Since(clockStart))>>tickBits, 1) << sequenceBits }

// read reads the time and makes it current for a millisecond.
func (c *coarseClock) read() eventTime {
	now := ticks()
	if c.current.CompareAndSwap(0, now) {
		c.timer.Reset(clockResolution)
	}
	return eventTime(now)
}

// exact returns a time later than those of all events before, and earlier than those of all
// events after.
func (c *coarseClock) exact() eventTime {
	const tick = 1 << sequenceBits
	for {
		before := c.current.Load()
		if before == 0 {
			c.read()
			continue
		}
		// While current is not zero, the timer runs.
		now := max(ticks(), before+tick)
		if c.current.CompareAndSwap(before, now+tick) {
			return eventTime(now)
		}
	}
}
