package devices

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/gpuframe/gpuframe/device"
)

// mostStreams is the largest number of streams besides the manager's. On an H200 64 clients of one
// to sixteen engines, each with a stream, got 2,600 queries per second from one engine, 5,400 from
// two, 9,700 from eight and 11,300 from sixteen. Other numbers of streams of one engine were not
// measured.
const mostStreams = 15

// Streams are the streams of queries that run at the same time on one device: kernels of few rows
// leave room for those of other queries. A query alone has the stream of its manager, so that all
// work is on one. It is safe for concurrent use.
type Streams struct {
	device *device.Device

	mu sync.Mutex
	// users are the numbers of queries on each stream. The first stream is nil, the manager's.
	users   []int
	streams []*device.Stream
	// seats are those of the queries that work, or nil on the host.
	seats *seats
}

// newStreams returns the streams of a device. The host has the manager's only.
func newStreams(dev *device.Device) *Streams {
	s := &Streams{device: dev, users: []int{0}, streams: []*device.Stream{nil}}
	if dev.Kind() != device.Host {
		s.seats = newSeats(mostStreams + 1)
	}
	return s
}

// Enter begins some work of a query, for which it may wait a little if as many work as there are streams. The caller calls
// leave at its end.
func (s *Streams) Enter(ctx context.Context) (leave func()) {
	if s == nil {
		return func() {}
	}
	return s.seats.enter(ctx)
}

// Take returns a stream that the fewest queries use, or nil for that of the manager. The caller
// passes it to Give at its end. A nil Streams has the manager's only.
func (s *Streams) Take() *device.Stream {
	if s == nil || s.device.Kind() == device.Host {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	least := 0
	for i, n := range s.users {
		if n < s.users[least] {
			least = i
		}
	}
	if s.users[least] > 0 && len(s.streams) <= mostStreams {
		// Without another stream the query shares one.
		if stream, err := s.device.NewStream(); err == nil {
			least = len(s.streams)
			s.streams, s.users = append(s.streams, stream), append(s.users, 0)
		}
	}
	s.users[least]++
	return s.streams[least]
}

// Give gives back a stream of Take.
func (s *Streams) Give(stream *device.Stream) {
	if s == nil || s.device.Kind() == device.Host {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.streams, stream); i >= 0 {
		s.users[i]--
	}
}

// close closes the streams after the last query.
func (s *Streams) close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var failures []error
	for _, stream := range s.streams[1:] {
		failures = append(failures, stream.Close())
	}
	s.streams, s.users = s.streams[:1], s.users[:1]
	return errors.Join(failures...)
}
