package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe/objectstore"
)

// Files are the files of a file system, as sources. The zero value is the files of the operating
// system, with its names, and objects by their URLs: see package objectstore.
type Files struct {
	// System has names of package io/fs. A slash before a name is left out.
	System fs.FS
	// Store, if it is not nil, has all files: names are URLs of its objects.
	Store objectstore.Store
}

// name returns the name of a path in the file system.
func (f Files) name(path string) string {
	if f.System == nil {
		return strings.TrimPrefix(path, fileScheme)
	}
	return filepath.ToSlash(filepath.Clean(strings.TrimLeft(filepath.ToSlash(path), "/")))
}

func (f Files) stat(name string) (fs.FileInfo, error) {
	if f.System == nil {
		return os.Stat(name)
	}
	return fs.Stat(f.System, name)
}

func (f Files) glob(pattern string) ([]string, error) {
	if f.System == nil {
		return filepath.Glob(pattern)
	}
	return fs.Glob(f.System, pattern)
}

func (f Files) walk(folder string, visit fs.WalkDirFunc) error {
	if f.System == nil {
		return filepath.WalkDir(folder, visit)
	}
	return fs.WalkDir(f.System, folder, visit)
}

func (f Files) open(name string) (fs.File, error) {
	if f.System == nil {
		return os.Open(name)
	}
	return f.System.Open(name)
}

// version identifies the contents of a file.
type version struct {
	size    int64
	changed time.Time
	etag    string // of an object
}

func (v version) equal(other version) bool {
	return v.size == other.size && v.etag == other.etag && v.changed.Equal(other.changed)
}

// opener opens a file. The counters, if they are not nil, count the requests to a store.
type opener func(ctx context.Context, counters *Counters) (*opened, error)

// opened is an open file. An object of a store is read until the context is done with which it was opened.
type opened struct {
	version
	from  io.ReaderAt
	close func() error
	// remote reads an object of a store, or is nil.
	remote *objectReader
}

// opening returns a function that opens a file.
func (f Files) opening(p path) opener {
	if p.object != nil {
		return p.object.open
	}
	name := p.name
	return func(context.Context, *Counters) (*opened, error) {
		file, err := f.open(name)
		if err != nil {
			return nil, err
		}
		o, err := readable(name, file)
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		return o, nil
	}
}

// readable returns an open file that can be read anywhere. One that can only be read from the
// beginning to the end, as those of archives, is read into memory.
func readable(name string, file fs.File) (*opened, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("it is a folder")}
	}
	o := &opened{close: file.Close, version: version{size: info.Size(), changed: info.ModTime()}}
	var anywhere bool
	if o.from, anywhere = file.(io.ReaderAt); anywhere {
		return o, nil
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	o.from, o.size = bytes.NewReader(text), int64(len(text))
	return o, nil
}
