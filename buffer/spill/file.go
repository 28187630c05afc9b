package spill

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/dustin/go-humanize"
)

// FileError is the failure of a file with a spilled table.
type FileError struct {
	// Operation is "create", "write", "read" or "remove".
	Operation string
	// Path is that of the file, or of the directory if the file was not created.
	Path string
	// Bytes is the size of the table in the file.
	Bytes uint64
	Err   error
}

// Error names the file and the bytes, and a remedy for a table that was not written.
func (e *FileError) Error() string {
	text := fmt.Sprintf("spill: %s a file for a table of %s: %s: %v", e.Operation, humanize.IBytes(e.Bytes), e.Path, e.Err)
	if e.Operation == "create" || e.Operation == "write" {
		text += ": make room there, choose another directory, or raise the budget of host memory"
	}
	return text
}

// Unwrap returns the error of the system.
func (e *FileError) Unwrap() error { return e.Err }

// storage is an open file. Tests have others that fail.
type storage interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Name() string
}

// createFile makes a file in a directory.
func createFile(directory string) (storage, error) {
	return os.CreateTemp(directory, "gpuframe-*.spill")
}

// file has the contents of tables in regions. It is open while it has a region, and in one file there
// are all, because the system limits the number of open files and takes long to make one.
type file struct {
	directory string
	create    func(directory string) (storage, error)

	mu   sync.Mutex
	open storage
	// removed is set if the directory has no entry for the file any more: the system releases
	// its space when it is closed, also if the process ends before.
	removed bool
	// end is the end of the last region. free are the gaps before it, in order; no two touch.
	end  uint64
	free []extent
}

// extent is a range of bytes.
type extent struct{ at, bytes uint64 }

func (e extent) end() uint64 { return e.at + e.bytes }

// region is the region of a file with one table.
type region struct {
	extent
	storage
	file *file
}

// reserve returns a region for a table of a number of bytes.
func (f *file) reserve(bytes uint64) (*region, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.open == nil {
		created, err := f.create(f.directory)
		if err != nil {
			return nil, &FileError{"create", f.directory, bytes, err}
		}
		// Windows refuses to remove an open file. It is removed when it is closed.
		f.open, f.removed = created, os.Remove(created.Name()) == nil
	}
	return &region{f.take(bytes), f.open, f}, nil
}

// take returns the first gap that suffices, or the end. The lock is held.
func (f *file) take(bytes uint64) extent {
	for i, gap := range f.free {
		if gap.bytes < bytes {
			continue
		}
		if f.free[i] = (extent{gap.at + bytes, gap.bytes - bytes}); f.free[i].bytes == 0 {
			f.free = slices.Delete(f.free, i, i+1)
		}
		return extent{gap.at, bytes}
	}
	f.end += bytes
	return extent{f.end - bytes, bytes}
}

// give makes a gap of an extent. The lock is held.
func (f *file) give(e extent) {
	at, _ := slices.BinarySearchFunc(f.free, e, func(a, b extent) int { return cmp.Compare(a.at, b.at) })
	f.free = slices.Insert(f.free, at, e)
	for _, i := range []int{at + 1, at} { // the gap behind, then the one before
		if i > 0 && i < len(f.free) && f.free[i-1].end() == f.free[i].at {
			f.free[i-1].bytes += f.free[i].bytes
			f.free = slices.Delete(f.free, i, i+1)
		}
	}
	if last := len(f.free) - 1; f.free[last].end() == f.end {
		f.end = f.free[last].at
		f.free = f.free[:last]
	}
}

// failed makes the error of an operation on the region.
func (r *region) failed(operation string, err error) error {
	return &FileError{operation, r.Name(), r.bytes, err}
}

// write and read move bytes at an offset in the region.
func (r *region) write(bytes []byte, at uint64) error {
	if _, err := r.WriteAt(bytes, int64(r.at+at)); err != nil {
		return r.failed("write", err)
	}
	return nil
}

func (r *region) read(bytes []byte, at uint64) error {
	if _, err := r.ReadAt(bytes, int64(r.at+at)); err != nil {
		return r.failed("read", err)
	}
	return nil
}

// release gives the region back. Without other regions it closes and removes the file. It does
// nothing if r is nil.
func (r *region) release() error {
	if r == nil {
		return nil
	}
	f := r.file
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.give(r.extent); f.end > 0 {
		return nil
	}
	f.open = nil
	err := r.Close()
	if !f.removed {
		err = errors.Join(err, os.Remove(r.Name()))
	}
	if err != nil {
		return r.failed("remove", err)
	}
	return nil
}
