package rangecache

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// Cache is a folder with ranges of objects. It is safe for concurrent use, also by several processes.
type Cache struct {
	directory string
	most      int64
	// aside is set after an error of the disk: the cache is not used any more.
	aside atomic.Bool
	// reserving is held by the goroutine that changes the usage.
	reserving sync.Mutex

	now   func() time.Time                    // tests change it
	write func(file *os.File, b []byte) error // tests change it
}

// New returns the cache of a folder, which is created when a range is kept first. The files have at most a number of bytes.
func New(directory string, most int64) *Cache {
	return &Cache{directory: directory, most: most, now: time.Now, write: func(file *os.File, b []byte) error {
		_, err := file.Write(b)
		return err
	}}
}

// Key identifies the contents of an object. No secret may be in it: it is hashed, but a short one could be guessed.
type Key struct {
	// Store is the endpoint: stores may have equal URLs.
	Store, URL, ETag string
	Size             int64
}

// digest identifies a version of an object in the cache.
type digest [sha256.Size]byte

func (k Key) digest() digest {
	return sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d", k.Store, k.URL, k.ETag, k.Size))
}

// Result describes a read by the cache.
type Result struct {
	// Bytes were in the cache.
	Bytes int64
	// Fetched reports whether some bytes were not.
	Fetched bool
	// Failure is the error of the disk because of which the cache is not used any more, for the read that has met it.
	Failure error
}

// Read fills a slice with bytes of an object: those that are in the cache, and by at most one call of fetch the others.
//
// # Errors
//
// The error is that of fetch. Errors of the disk are in the result.
func (c *Cache) Read(key Key, into []byte, offset int64, fetch func(into []byte, offset int64) error) (result Result, err error) {
	if c.aside.Load() || len(into) == 0 {
		return Result{Fetched: true}, fetch(into, offset)
	}
	object := key.digest()
	begin, end, failure := c.fill(object, into, offset)
	if failure != nil {
		begin, end = 0, len(into)
	}
	result.Bytes = int64(len(into) - (end - begin))
	if begin < end {
		result.Fetched = true
		if err := fetch(into[begin:end], offset+int64(begin)); err != nil {
			return result, err
		}
		if failure == nil {
			failure = c.keep(object, into[begin:end], offset+int64(begin))
		}
	}
	if failure != nil && c.aside.CompareAndSwap(false, true) {
		result.Failure = fmt.Errorf("the cache of objects is not used any more: %w", failure)
		slog.Warn("gpuframe: the cache of objects is not used any more", "directory", c.directory, "error", failure)
	}
	return result, err
}

// fill fills a slice from both ends with bytes of the cache. The bytes from begin to end are missing.
func (c *Cache) fill(object digest, into []byte, offset int64) (begin, end int, failure error) {
	folder := c.folder(object)
	entries, failure := segmentsIn(folder)
	begin, end = 0, len(into)
	for begin < end && failure == nil {
		s, ok := entries.at(offset + int64(begin))
		if !ok {
			break
		}
		n := int(min(s.end()-offset, int64(end))) - begin
		var taken bool
		if taken, failure = c.take(&entries, s, object, into[begin:begin+n], offset+int64(begin)); taken {
			begin += n
		}
	}
	for begin < end && failure == nil {
		s, ok := entries.before(offset + int64(end))
		if !ok {
			break
		}
		first := max(begin, int(s.offset-offset))
		var taken bool
		if taken, failure = c.take(&entries, s, object, into[first:end], offset+int64(first)); taken {
			end = first
		}
	}
	return begin, end, failure
}

// take reads bytes of a segment. It removes one that is damaged, and leaves one out that is not there any more.
func (c *Cache) take(entries *segments, s segment, object digest, into []byte, offset int64) (ok bool, failure error) {
	path := filepath.Join(c.folder(object), s.name())
	err := readSegment(path, object, s, into, offset)
	switch {
	case err == nil:
		now := c.now()
		_ = os.Chtimes(path, now, now) // of a folder that may only be read, the order stays as it is
		return true, nil
	case errors.Is(err, errDamaged):
		failure = remove(path)
	case !errors.Is(err, fs.ErrNotExist):
		failure = err
	}
	entries.drop(s)
	return false, failure
}

// keep writes a range, if there is room for it and no other process is writing one.
func (c *Cache) keep(object digest, contents []byte, offset int64) (failure error) {
	s := segment{offset, int64(len(contents))}
	file, err := c.reserve(object, s)
	if file == nil || err != nil {
		return err
	}
	defer func() {
		if failure != nil {
			failure = errors.Join(failure, remove(file.Name()))
		}
	}()
	err = c.write(file, header(object, s, contents))
	if err == nil {
		err = c.write(file, contents)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	now := c.now()
	if err := os.Chtimes(file.Name(), now, now); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = os.Rename(file.Name(), filepath.Join(c.folder(object), s.name()))
	if errors.Is(err, fs.ErrNotExist) { // another process has evicted it
		return nil
	}
	return err
}

func (c *Cache) folder(object digest) string {
	return filepath.Join(c.directory, fmt.Sprintf("%x", object[:]))
}

// remove removes a file. An absent one is no error.
func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
