// Package objecttest is support for tests of object stores: a store in memory that counts requests and fails as a test
// wants, and the tests that every store passes.
package objecttest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/objectstore"
)

// Memory is a store of objects in memory. The zero value is empty.
type Memory struct {
	// Before, if it is not nil, is called before each request, with its operation and the bytes that it reads. Its error is
	// that of the request.
	Before func(ctx context.Context, operation, name string, bytes, offset int64) error
	// Page is the number of objects of a page of List. Zero means 3.
	Page int

	// Requests and Bytes count ranges that were read; Others are the other requests.
	Requests, Bytes, Others atomic.Int64
	// MostFlying is the most ranges that were read at a time.
	flying, MostFlying atomic.Int64

	mu      sync.Mutex
	objects map[string][]byte
	// pending is the number of uploads that have not ended.
	pending int
}

// Set writes an object without a request.
func (m *Memory) Set(name string, contents []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.objects == nil {
		m.objects = map[string][]byte{}
	}
	m.objects[name] = slices.Clone(contents)
}

// Get returns the contents of an object, or nil.
func (m *Memory) Get(name string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.objects[name]
}

// Names returns the names of all objects in order.
func (m *Memory) Names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.objects))
}

// Pending is the number of uploads that were neither committed nor aborted.
func (m *Memory) Pending() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.pending
}

// Flying is the number of ranges that are being read.
func (m *Memory) Flying() int64 { return m.flying.Load() }

// Reset sets the counters to zero.
func (m *Memory) Reset() {
	m.Requests.Store(0)
	m.Bytes.Store(0)
	m.Others.Store(0)
	m.MostFlying.Store(0)
}

func (m *Memory) begin(ctx context.Context, operation, name string, bytes, offset int64) error {
	if operation != "read" {
		m.Others.Add(1)
	}
	err := ctx.Err()
	if err == nil && m.Before != nil {
		err = m.Before(ctx, operation, name, bytes, offset)
	}
	if err != nil {
		return objectstore.NewError(operation, name, err)
	}
	return nil
}

// about describes an object. The caller holds the lock.
func (m *Memory) about(operation, name string) (objectstore.Object, error) {
	contents, ok := m.objects[name]
	if !ok {
		return objectstore.Object{}, objectstore.NewError(operation, name, fs.ErrNotExist)
	}
	sum := sha256.Sum256(contents)
	return objectstore.Object{Name: name, Size: int64(len(contents)), ETag: fmt.Sprintf("%x", sum[:8])}, nil
}

// Stat implements [objectstore.Store].
func (m *Memory) Stat(ctx context.Context, name string) (objectstore.Object, error) {
	if err := m.begin(ctx, "stat", name, 0, 0); err != nil {
		return objectstore.Object{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.about("stat", name)
}

// ReadRange implements [objectstore.Store].
func (m *Memory) ReadRange(ctx context.Context, object objectstore.Object, into []byte, offset int64) error {
	m.Requests.Add(1)
	m.Bytes.Add(int64(len(into)))
	flying := m.flying.Add(1)
	defer m.flying.Add(-1)
	for most := m.MostFlying.Load(); flying > most && !m.MostFlying.CompareAndSwap(most, flying); most = m.MostFlying.Load() {
	}
	if err := m.begin(ctx, "read", object.Name, int64(len(into)), offset); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now, err := m.about("read", object.Name)
	if err != nil {
		return err
	}
	if now.ETag != object.ETag {
		return objectstore.NewError("read", object.Name, objectstore.ErrChanged)
	}
	if offset < 0 || offset+int64(len(into)) > now.Size {
		return objectstore.NewError("read", object.Name, fmt.Errorf("%d bytes from byte %d on of %d: %w", len(into), offset, now.Size, objectstore.ErrResponse))
	}
	copy(into, m.objects[object.Name][offset:])
	return nil
}

// List implements [objectstore.Store].
func (m *Memory) List(ctx context.Context, prefix, token string) (page []objectstore.Object, next string, err error) {
	if err := m.begin(ctx, "list", prefix, 0, 0); err != nil {
		return nil, "", err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	length := m.Page
	if length == 0 {
		length = 3
	}
	for _, name := range slices.Sorted(maps.Keys(m.objects)) {
		if !strings.HasPrefix(name, prefix) || name <= token {
			continue
		}
		if len(page) == length {
			return page, page[length-1].Name, nil
		}
		about, err := m.about("list", name)
		if err != nil {
			return nil, "", err
		}
		page = append(page, about)
	}
	return page, "", nil
}

// Put implements [objectstore.Store].
func (m *Memory) Put(ctx context.Context, name string, contents []byte) error {
	if err := m.begin(ctx, "write", name, int64(len(contents)), 0); err != nil {
		return err
	}
	m.Set(name, contents)
	return nil
}

// PutNew implements [objectstore.Exclusive].
func (m *Memory) PutNew(ctx context.Context, name string, contents []byte) error {
	if err := m.begin(ctx, "write", name, int64(len(contents)), 0); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.objects[name]; ok {
		return objectstore.NewError("write", name, fs.ErrExist)
	}
	if m.objects == nil {
		m.objects = map[string][]byte{}
	}
	m.objects[name] = slices.Clone(contents)
	return nil
}

// Delete implements [objectstore.Deleter].
func (m *Memory) Delete(ctx context.Context, name string) error {
	if err := m.begin(ctx, "delete", name, 0, 0); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, name)
	return nil
}

// Create implements [objectstore.Store].
func (m *Memory) Create(ctx context.Context, name string) (objectstore.Upload, error) {
	if err := m.begin(ctx, "create", name, 0, 0); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pending++
	return &upload{store: m, name: name, parts: map[int][]byte{}}, nil
}

// upload is an object that is written by parts.
type upload struct {
	store *Memory
	name  string
	parts map[int][]byte
	ended bool
}

// WritePart implements [objectstore.Upload].
func (u *upload) WritePart(ctx context.Context, number int, contents []byte) error {
	if err := u.store.begin(ctx, "part", u.name, int64(len(contents)), int64(number)); err != nil {
		return err
	}
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	u.parts[number] = slices.Clone(contents)
	return nil
}

// Commit implements [objectstore.Upload].
func (u *upload) Commit(ctx context.Context, parts int) error {
	if err := u.store.begin(ctx, "commit", u.name, 0, int64(parts)); err != nil {
		return err
	}
	u.store.mu.Lock()
	var contents []byte
	for number := range parts {
		contents = append(contents, u.parts[number]...)
	}
	u.store.mu.Unlock()
	u.store.Set(u.name, contents)
	return u.end()
}

// Abort implements [objectstore.Upload].
func (u *upload) Abort(ctx context.Context) error {
	if err := u.store.begin(ctx, "abort", u.name, 0, 0); err != nil {
		return err
	}
	return u.end()
}

func (u *upload) end() error {
	u.store.mu.Lock()
	defer u.store.mu.Unlock()
	if !u.ended {
		u.ended = true
		u.store.pending--
	}
	return nil
}

var _ objectstore.Store = (*Memory)(nil)
