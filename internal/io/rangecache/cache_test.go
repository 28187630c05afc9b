package rangecache

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// object is contents with their requests.
type object struct {
	key      Key
	contents []byte

	mu       sync.Mutex
	requests []segment
}

func newObject(t testing.TB, etag string, size int) *object {
	random, contents := property.Random(t), make([]byte, size)
	for i := range contents {
		contents[i] = byte(random.Uint32())
	}
	return &object{key: Key{"store", "s3://bucket/a", etag, int64(size)}, contents: contents}
}

func (o *object) fetch(into []byte, offset int64) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requests = append(o.requests, segment{offset, int64(len(into))})
	copy(into, o.contents[offset:])
	return nil
}

// read reads a range by a cache, and returns what was requested for it.
func (o *object) read(t testing.TB, c *Cache, offset, length int64) (requests []segment, result Result) {
	t.Helper()
	into := make([]byte, length)
	o.requests = nil
	result, err := c.Read(o.key, into, offset, o.fetch)
	require.NoError(t, err)
	require.True(t, bytes.Equal(o.contents[offset:offset+length], into), "%d bytes from byte %d on", length, offset)
	return o.requests, result
}

// size is the number of bytes of the files.
func size(t testing.TB, c *Cache) (total int64) {
	t.Helper()
	err := filepath.Walk(c.directory, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			total += inUnits(info.Size())
		}
		return err
	})
	require.NoError(t, err)
	return total
}

func segmentFiles(t testing.TB, c *Cache) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(c.directory, "*", "*"))
	require.NoError(t, err)
	return paths
}

// Only bytes that are not in the cache are requested, by one request.
func TestRead(t *testing.T) {
	c, o := New(filepath.Join(t.TempDir(), "a", "b"), 64<<20), newObject(t, "1", 1<<20)
	for _, test := range []struct {
		offset, length int64
		want           []segment
	}{
		{1000, 200_000, []segment{{1000, 200_000}}},
		{1000, 200_000, nil},
		{70_000, 5, nil},
		{500, 1000, []segment{{500, 500}}},
		{200_000, 100_000, []segment{{201_000, 99_000}}},
		{0, 400_000, []segment{{0, 400_000}}}, // both ends are missing: one request has all between
		{500_000, 1, []segment{{500_000, 1}}},
		{390_000, 200_000, []segment{{400_000, 190_000}}},
		{0, 590_000, nil},
		{1<<20 - 1, 1, []segment{{1<<20 - 1, 1}}},
		{580_000, 1<<20 - 580_000, []segment{{590_000, 1<<20 - 590_001}}},
		{0, 1 << 20, nil},
	} {
		requests, result := o.read(t, c, test.offset, test.length)
		require.Equal(t, test.want, requests, "%d bytes from byte %d on", test.length, test.offset)
		require.Equal(t, len(test.want) > 0, result.Fetched)
	}
	require.Zero(t, len(o.requests))
	changed := newObject(t, "2", 1<<20)
	requests, _ := changed.read(t, c, 0, 100)
	require.Len(t, requests, 1, "another version")
	requests, _ = changed.read(t, New(c.directory, 64<<20), 0, 100)
	require.Empty(t, requests, "another process")
	failure := errors.New("failure of the store")
	_, err := c.Read(o.key, nil, 0, func([]byte, int64) error { return failure })
	require.ErrorIs(t, err, failure)
	other := newObject(t, "3", 100)
	_, err = c.Read(other.key, make([]byte, 100), 0, func([]byte, int64) error { return failure })
	require.ErrorIs(t, err, failure)
	requests, _ = other.read(t, c, 0, 100)
	require.Len(t, requests, 1, "failures are not kept")
}

// Reads of random ranges are right, also with several goroutines and evictions, and the files never have more bytes than the limit.
func TestRandom(t *testing.T) {
	const most = 3 << 20
	c := New(t.TempDir(), most)
	objects := []*object{newObject(t, "1", 2<<20), newObject(t, "2", 2<<20), newObject(t, "3", 100)}
	var reading sync.WaitGroup
	for range 4 {
		random := property.Random(t)
		reading.Go(func() {
			for range 200 {
				o := objects[random.IntN(len(objects))]
				offset := random.Int64N(o.key.Size)
				into := make([]byte, 1+random.Int64N(min(o.key.Size-offset, 300_000)))
				_, err := c.Read(o.key, into, offset, o.fetch)
				if !assert.NoError(t, err) || !assert.True(t, bytes.Equal(o.contents[offset:offset+int64(len(into))], into)) {
					return
				}
			}
		})
	}
	reading.Wait()
	require.LessOrEqual(t, size(t, c), int64(most))
	require.False(t, c.aside.Load())
	for _, path := range segmentFiles(t, c) {
		require.Equal(t, suffix, filepath.Ext(path), "a file that was being written")
	}
}

// The ranges that were used least recently are removed first. Files of others in the folder stay.
func TestEviction(t *testing.T) {
	const length, most = 100_000, 1 << 20
	c, o := New(t.TempDir(), most), newObject(t, "1", 3<<20)
	now := time.Unix(1_000_000, 0)
	c.now = func() time.Time {
		now = now.Add(time.Second)
		return now
	}
	foreign := []string{filepath.Join(c.directory, "notes.txt"), filepath.Join(c.directory, "folder", "1-1.range")}
	require.NoError(t, os.Mkdir(filepath.Dir(foreign[1]), 0o700))
	for _, path := range foreign {
		require.NoError(t, os.WriteFile(path, []byte("notes"), 0o600))
	}
	for i := range int64(20) {
		o.read(t, c, 0, length) // used again and again
		o.read(t, c, i*length, length)
		require.LessOrEqual(t, size(t, c), int64(most+3*unit))
	}
	for _, path := range foreign {
		require.FileExists(t, path)
	}
	requests, _ := o.read(t, c, 0, length)
	require.Empty(t, requests)
	requests, _ = o.read(t, c, 19*length, length)
	require.Empty(t, requests)
	requests, _ = o.read(t, c, length, length)
	require.NotEmpty(t, requests)
	requests, _ = o.read(t, c, length, 2<<20)
	require.NotEmpty(t, requests)
	files := segmentFiles(t, c)
	requests, _ = o.read(t, c, length+1, 2<<20)
	require.NotEmpty(t, requests, "a range that is longer than the cache is not kept")
	require.Equal(t, files, segmentFiles(t, c))
}

// A file with any byte changed, or cut anywhere, is found and read again.
func TestDamage(t *testing.T) {
	const length = 150_000
	c, o := New(t.TempDir(), 64<<20), newObject(t, "1", length)
	random := property.Random(t)
	o.read(t, c, 0, length)
	files := slices.DeleteFunc(segmentFiles(t, c), func(path string) bool { return filepath.Base(path) == usageName })
	require.Len(t, files, 1)
	good, err := os.ReadFile(files[0])
	require.NoError(t, err)
	header := int(segment{0, length}.headerLength())
	for i := range header + 100 {
		at := i
		if i >= header {
			at += random.IntN(length - 100)
		}
		bad := slices.Clone(good)
		bad[at] ^= 1 << random.IntN(8)
		require.NoError(t, os.WriteFile(files[0], bad, 0o600))
		requests, _ := o.read(t, c, 0, length)
		require.Len(t, requests, 1, "byte %d", at)
	}
	for _, cut := range []int{0, 1, header - 1, header, header + 1, len(good) - 1} {
		require.NoError(t, os.WriteFile(files[0], good[:cut], 0o600))
		requests, _ := o.read(t, c, 0, length)
		require.Len(t, requests, 1, "%d bytes", cut)
	}
	after, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.Equal(t, good, after)
	other := newObject(t, "2", length)
	path := filepath.Join(c.folder(other.key.digest()), filepath.Base(files[0]))
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, good, 0o600))
	requests, _ := other.read(t, c, 0, length)
	require.Len(t, requests, 1, "the file of another object")
	require.NoError(t, os.WriteFile(filepath.Join(c.directory, usageName), []byte("damaged"), 0o600))
	o.read(t, New(c.directory, 400<<10), 0, length)
	newObject(t, "3", length).read(t, New(c.directory, 400<<10), 0, length)
	require.LessOrEqual(t, size(t, c), int64(400<<10))
}

// After an error of the disk the cache is not used any more, one read reports it, and all reads are right.
func TestDiskErrors(t *testing.T) {
	full := &os.PathError{Op: "write", Path: "a", Err: syscall.ENOSPC}
	for _, test := range []struct {
		name  string
		setup func(t *testing.T, c *Cache)
	}{
		{"the disk is full", func(_ *testing.T, c *Cache) {
			c.write = func(file *os.File, b []byte) error {
				_, _ = file.Write(b[:len(b)/2])
				return full
			}
		}},
		{"the folder is a file", func(t *testing.T, c *Cache) {
			require.NoError(t, os.WriteFile(c.directory, nil, 0o600))
		}},
		{"the file of the usage is a folder", func(t *testing.T, c *Cache) {
			require.NoError(t, os.MkdirAll(filepath.Join(c.directory, usageName), 0o700))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, o := New(filepath.Join(t.TempDir(), "cache"), 64<<20), newObject(t, "1", 300_000)
			test.setup(t, c)
			_, result := o.read(t, c, 0, 100_000)
			require.ErrorContains(t, result.Failure, "the cache of objects is not used any more")
			for range 2 {
				requests, result := o.read(t, c, 0, 100_000)
				require.Len(t, requests, 1)
				require.NoError(t, result.Failure)
			}
			require.Empty(t, slices.DeleteFunc(segmentFiles(t, c), func(path string) bool { return filepath.Base(path) == usageName }))
		})
	}
}

// A segment that cannot be read, such as one of another user, is an error of the disk.
func TestUnreadable(t *testing.T) {
	c, o := New(t.TempDir(), 64<<20), newObject(t, "1", 1000)
	path := filepath.Join(c.folder(o.key.digest()), segment{0, 1000}.name())
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.Symlink(path, path)) // without end, also for root
	_, result := o.read(t, c, 0, 1000)
	require.ErrorIs(t, result.Failure, syscall.ELOOP)
}

// While another process has the lock, ranges are read and not kept.
func TestLocked(t *testing.T) {
	c, o := New(t.TempDir(), 64<<20), newObject(t, "1", 1000)
	held, err := lock(filepath.Join(c.directory, usageName))
	require.NoError(t, err)
	_, result := o.read(t, c, 0, 1000)
	require.NoError(t, result.Failure)
	requests, _ := o.read(t, c, 0, 1000)
	require.Len(t, requests, 1)
	require.NoError(t, held.Close())
	o.read(t, c, 0, 1000)
	requests, _ = o.read(t, c, 0, 1000)
	require.Empty(t, requests)
}

func FuzzSegment(f *testing.F) {
	contents := []byte("some bytes of an object")
	o := digest{1, 2, 3}
	s := segment{7, int64(len(contents))}
	f.Add(append(header(o, s, contents), contents...))
	f.Add([]byte(fileMark))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), s.name())
		require.NoError(t, os.WriteFile(path, b, 0o600))
		into := make([]byte, len(contents))
		if err := readSegment(path, o, s, into, s.offset); err != nil {
			require.ErrorIs(t, err, errDamaged)
			return
		}
		require.Equal(t, header(o, s, into), b[:s.headerLength()])
	})
}
