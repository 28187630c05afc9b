package exec

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/gpuframe/gpuframe/buffer"
)

// shared is the result of a node that several others read. The node runs once: a table is
// kept, and may move to host memory, until all of them have read it. All users are made
// before the first of them reads.
type shared struct {
	mu     sync.Mutex
	reader buffer.Reader
	// kept has the tables that not all users have read, dropped counts those before them.
	kept    *held
	dropped int
	users   []*sharedUser
	// failure is the error that ended the reader.
	failure error
}

func newShared(s *stage, reader buffer.Reader) *shared {
	return &shared{reader: reader, kept: &held{stage: s, schema: reader.Schema()}}
}

// user returns a further reader of all tables.
func (s *shared) user() buffer.Reader {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := &sharedUser{shared: s, Reader: s.reader}
	s.users = append(s.users, u)
	return u
}

// isOpen reports whether not all users were closed.
func (s *shared) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.users) > 0
}

// sharedUser is one of the readers of a shared result.
type sharedUser struct {
	buffer.Reader
	shared *shared
	// next is the number of the table that is read next.
	next int
}

// Next implements buffer.Reader.
func (u *sharedUser) Next(ctx context.Context) (*buffer.Buffer, error) {
	s := u.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.users, u) {
		return nil, errEnd
	}
	for u.next == s.dropped+len(s.kept.tables) {
		table, err := s.fetch(ctx)
		if err != nil {
			return nil, err
		}
		if len(s.users) == 1 {
			s.dropped++
			u.next++
			return table, nil
		}
		if err := s.kept.movable(ctx, table); err != nil {
			return nil, s.fail(err)
		}
	}
	table, err := s.kept.tables[u.next-s.dropped].Acquire(ctx)
	if err != nil {
		return nil, err
	}
	u.next++
	if err := s.drop(); err != nil {
		return nil, errors.Join(err, table.Release())
	}
	return table, nil
}

// fetch runs the node for its next table.
func (s *shared) fetch(ctx context.Context) (*buffer.Buffer, error) {
	if s.failure != nil {
		return nil, s.failure
	}
	table, err := s.reader.Next(ctx)
	if err != nil {
		return nil, s.fail(err)
	}
	return table, nil
}

func (s *shared) fail(err error) error {
	s.failure = s.kept.failed(err)
	return s.failure
}

// drop releases the tables that all users have read.
func (s *shared) drop() error {
	var failures []error
	for len(s.kept.tables) > 0 && !slices.ContainsFunc(s.users, func(u *sharedUser) bool { return u.next == s.dropped }) {
		failures = append(failures, s.kept.tables[0].Release())
		s.kept.tables = s.kept.tables[1:]
		s.dropped++
	}
	return errors.Join(failures...)
}

// Close implements buffer.Reader. The last user closes the node's reader.
func (u *sharedUser) Close() error {
	s := u.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.users, u)
	if at < 0 {
		return nil
	}
	s.users = slices.Delete(s.users, at, at+1)
	err := s.drop()
	if len(s.users) == 0 {
		err = errors.Join(err, s.reader.Close())
	}
	return err
}
