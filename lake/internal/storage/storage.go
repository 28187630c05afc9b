// Package storage reads files of tables by their names, for the packages of table formats.
package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe/objectstore"
)

const fileScheme = "file://"

// Storage reads files by their names: paths of the machine or of a file system, or URLs of objects. It is safe for concurrent
// use.
type Storage struct {
	// System has all files, by names of package io/fs. Nil means the file system of the machine.
	System fs.FS
	// Store has all files. Nil means the stores that imported packages have registered.
	Store objectstore.Store
}

// Entry is a file of a folder.
type Entry struct {
	Name     string // within its folder
	Size     int64
	Modified time.Time
}

// storeOf returns the store of a URL, or nil.
func (s Storage) storeOf(name string) (objectstore.Store, error) {
	if s.Store != nil {
		return objectstore.EnsureRetry(s.Store), nil
	}
	if _, ok := objectstore.SchemeOf(name); !ok || s.System != nil || strings.HasPrefix(name, fileScheme) {
		return nil, nil
	}
	return objectstore.Open(name)
}

// List returns the files of a folder, without those of folders below it.
func (s Storage) List(ctx context.Context, folder string) ([]Entry, error) {
	store, err := s.storeOf(folder)
	if err != nil {
		return nil, err
	}
	if store != nil {
		return listObjects(ctx, store, folder+"/")
	}
	var files []fs.DirEntry
	if s.System != nil {
		files, err = fs.ReadDir(s.System, folder)
	} else {
		files, err = os.ReadDir(filepath.FromSlash(strings.TrimPrefix(folder, fileScheme)))
	}
	var entries []Entry
	for _, file := range files {
		if file.IsDir() {
			continue
		}
		info, failure := file.Info()
		if errors.Is(failure, fs.ErrNotExist) {
			continue // removed since
		}
		if failure != nil {
			return nil, errors.Join(failure, err)
		}
		entries = append(entries, Entry{file.Name(), info.Size(), info.ModTime()})
	}
	return entries, err
}

func listObjects(ctx context.Context, store objectstore.Store, prefix string) (entries []Entry, err error) {
	for token := ""; ; {
		page, next, err := store.List(ctx, prefix, token)
		if err != nil {
			return nil, err
		}
		for _, each := range page {
			if name := strings.TrimPrefix(each.Name, prefix); name != "" && !strings.Contains(name, "/") {
				entries = append(entries, Entry{name, each.Size, each.Modified})
			}
		}
		if token = next; token == "" {
			return entries, nil
		}
	}
}

// Read returns a whole file.
func (s Storage) Read(ctx context.Context, name string, most int64) ([]byte, error) {
	return s.ReadRange(ctx, name, 0, -1, most)
}

// ReadRange returns length bytes of a file from an offset on, or all behind it if length is negative.
func (s Storage) ReadRange(ctx context.Context, name string, offset, length, most int64) (_ []byte, err error) {
	store, err := s.storeOf(name)
	if err != nil {
		return nil, err
	}
	if store != nil {
		about, err := store.Stat(ctx, name)
		if err != nil {
			return nil, err
		}
		if length, err = within(offset, length, about.Size, most); err != nil {
			return nil, err
		}
		data := make([]byte, length)
		return data, store.ReadRange(ctx, about, data, offset)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	file, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if length, err = within(offset, length, info.Size(), most); err != nil {
		return nil, err
	}
	from, err := behind(file, offset)
	if err != nil {
		return nil, err
	}
	data := make([]byte, length)
	_, err = io.ReadFull(from, data)
	return data, err
}

// behind returns a reader of the bytes from an offset on. The ones before it are read only if the file has no other way.
func behind(file fs.File, offset int64) (io.Reader, error) {
	switch f := file.(type) {
	case io.ReaderAt:
		return io.NewSectionReader(f, offset, math.MaxInt64-offset), nil
	case io.Seeker:
		_, err := f.Seek(offset, io.SeekStart)
		return file, err
	}
	_, err := io.CopyN(io.Discard, file, offset)
	return file, err
}

func (s Storage) open(name string) (fs.File, error) {
	if s.System != nil {
		return s.System.Open(name)
	}
	return os.Open(filepath.FromSlash(strings.TrimPrefix(name, fileScheme)))
}

// within returns the length of a range in a file of a size.
func within(offset, length, size, most int64) (int64, error) {
	if length < 0 {
		length = max(0, size-offset)
	}
	if length > most {
		return 0, fmt.Errorf("it has %d bytes, the limit is %d: %w", length, most, ErrLimit)
	}
	if offset < 0 || offset > size || length > size-offset {
		return 0, fmt.Errorf("it has %d bytes, expected %d from byte %d on: %w", size, length, offset, io.ErrUnexpectedEOF)
	}
	return length, nil
}

// Root returns the name of the folder of a table, without a slash at its end.
func (s Storage) Root(name string) string {
	if s.System != nil {
		return path.Clean(strings.TrimLeft(filepath.ToSlash(name), "/"))
	}
	if trimmed := strings.TrimRight(name, "/"); trimmed != "" {
		return trimmed
	}
	return name
}

// Join returns the name of a file below a folder.
func Join(folder, name string) string {
	if _, ok := objectstore.SchemeOf(folder); ok {
		return folder + "/" + name // dots are characters of a key
	}
	return path.Join(folder, name)
}

// Resolve returns the name of a file that metadata name by a URI, relative to the folder of the table or absolute.
//
// # Errors
//
// The URI is empty, has an escape that is none, or is that of a file of another machine.
func Resolve(root, uri string) (string, error) {
	scheme, rest, absolute := strings.Cut(uri, ":")
	if absolute && strings.HasPrefix(rest, "/") && !strings.Contains(scheme, "/") {
		name, err := url.PathUnescape(uri)
		if err != nil {
			return "", fmt.Errorf("the path %q is no URI: %w", objectstore.Display(uri), err)
		}
		return Name(name)
	}
	name, err := url.PathUnescape(uri)
	if err != nil || name == "" {
		return "", fmt.Errorf("the path %q is no URI", objectstore.Display(uri))
	}
	if strings.HasPrefix(name, "/") {
		return name, nil
	}
	return Join(root, name), nil
}

// Stat describes a file, without its name.
func (s Storage) Stat(ctx context.Context, name string) (Entry, error) {
	store, err := s.storeOf(name)
	if err != nil {
		return Entry{}, err
	}
	if store != nil {
		about, err := store.Stat(ctx, name)
		return Entry{Size: about.Size, Modified: about.Modified}, err
	}
	if err := ctx.Err(); err != nil {
		return Entry{}, err
	}
	var info fs.FileInfo
	if s.System != nil {
		info, err = fs.Stat(s.System, name)
	} else {
		info, err = os.Stat(filepath.FromSlash(strings.TrimPrefix(name, fileScheme)))
	}
	if err != nil {
		return Entry{}, err
	}
	return Entry{Size: info.Size(), Modified: info.ModTime()}, nil
}
