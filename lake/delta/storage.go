package delta

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

const (
	// mostLogFile is the length of a commit, a checkpoint or a sidecar at most.
	mostLogFile = 4 << 30
	fileScheme  = "file://"
)

// storage reads files by their names: paths of the machine or of a file system, or URLs of objects.
type storage struct {
	system fs.FS
	store  objectstore.Store
}

// entry is a file of the log.
type entry struct {
	name     string // within its folder
	size     int64
	modified time.Time
}

// storeOf returns the store of a URL, or nil.
func (s storage) storeOf(name string) (objectstore.Store, error) {
	if s.store != nil {
		return objectstore.EnsureRetry(s.store), nil
	}
	if _, ok := objectstore.SchemeOf(name); !ok || s.system != nil || strings.HasPrefix(name, fileScheme) {
		return nil, nil
	}
	return objectstore.Open(name)
}

// list returns the files of a folder, without those of folders below it.
func (s storage) list(ctx context.Context, folder string) ([]entry, error) {
	store, err := s.storeOf(folder)
	if err != nil {
		return nil, err
	}
	if store != nil {
		return listObjects(ctx, store, folder+"/")
	}
	var files []fs.DirEntry
	if s.system != nil {
		files, err = fs.ReadDir(s.system, folder)
	} else {
		files, err = os.ReadDir(filepath.FromSlash(strings.TrimPrefix(folder, fileScheme)))
	}
	var entries []entry
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
		entries = append(entries, entry{file.Name(), info.Size(), info.ModTime()})
	}
	return entries, err
}

func listObjects(ctx context.Context, store objectstore.Store, prefix string) (entries []entry, err error) {
	for token := ""; ; {
		page, next, err := store.List(ctx, prefix, token)
		if err != nil {
			return nil, err
		}
		for _, each := range page {
			if name := strings.TrimPrefix(each.Name, prefix); name != "" && !strings.Contains(name, "/") {
				entries = append(entries, entry{name, each.Size, each.Modified})
			}
		}
		if token = next; token == "" {
			return entries, nil
		}
	}
}

// read returns a whole file.
func (s storage) read(ctx context.Context, name string, most int64) ([]byte, error) {
	return s.readRange(ctx, name, 0, -1, most)
}

// readRange returns length bytes of a file from an offset on, or all behind it if length is negative.
func (s storage) readRange(ctx context.Context, name string, offset, length, most int64) (_ []byte, err error) {
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

func (s storage) open(name string) (fs.File, error) {
	if s.system != nil {
		return s.system.Open(name)
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

// rootOf returns the name of the folder of a table, without a slash at its end.
func (s storage) rootOf(name string) string {
	if s.system != nil {
		return path.Clean(strings.TrimLeft(filepath.ToSlash(name), "/"))
	}
	if trimmed := strings.TrimRight(name, "/"); trimmed != "" {
		return trimmed
	}
	return name
}

// join returns the name of a file below a folder.
func join(folder, name string) string {
	if _, ok := objectstore.SchemeOf(folder); ok {
		return folder + "/" + name // dots are characters of a key
	}
	return path.Join(folder, name)
}

// resolve returns the name of a file that the log names by a URI, relative to the folder of the table or absolute.
func resolve(root, uri string) (string, error) {
	scheme, rest, absolute := strings.Cut(uri, ":")
	if absolute && (strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "//")) && !strings.Contains(scheme, "/") {
		name, err := url.PathUnescape(uri)
		if err != nil {
			return "", fmt.Errorf("the path %q is no URI: %w: %w", objectstore.Display(uri), err, ErrLog)
		}
		if scheme == "file" {
			name = strings.TrimPrefix(name, "file:")
			return "/" + strings.TrimLeft(name, "/"), nil
		}
		if scheme == "s3a" || scheme == "s3n" {
			name = "s3" + name[len(scheme):]
		}
		return name, nil
	}
	name, err := url.PathUnescape(uri)
	if err != nil || name == "" {
		return "", fmt.Errorf("the path %q is no URI: %w", objectstore.Display(uri), ErrLog)
	}
	if strings.HasPrefix(name, "/") {
		return name, nil
	}
	return join(root, name), nil
}

// stat describes a file.
func (s storage) stat(ctx context.Context, name string) (entry, error) {
	store, err := s.storeOf(name)
	if err != nil {
		return entry{}, err
	}
	if store == nil {
		return entry{}, fmt.Errorf("stat %s: %w", objectstore.Display(name), errors.ErrUnsupported)
	}
	about, err := store.Stat(ctx, name)
	return entry{size: about.Size, modified: about.Modified}, err
}
