package sink

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gpuframe/gpuframe/internal/io/hive"
)

// localFolder is a folder of the file system. Files are written to a hidden folder, and renamed.
type localFolder struct {
	folder, staging string
	// fresh reports that the folder does not exist: the hidden one is in the same folder and becomes it. Otherwise it is within.
	fresh  bool
	staged bool     // the hidden folder exists
	kept   bool     // it has files of the folder that could not be put back
	files  []string // that are finished
	undo   []func() error
}

// system has calls of the operating system. Tests change them.
var system = struct {
	create func(name string) (io.WriteCloser, error)
	rename func(from, to string) error
	mkdir  func(name string) error
}{createFile, os.Rename, func(name string) error { return os.Mkdir(name, 0o777) }}

func createFile(name string) (io.WriteCloser, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

func newLocalFolder(folder string) (*localFolder, error) {
	if folder == "" {
		return nil, fmt.Errorf("the path of the folder is empty: %w", ErrArgument)
	}
	l := &localFolder{folder: filepath.Clean(folder)}
	hidden := rand.Text() + ".tmp"
	real, err := filepath.EvalSymlinks(l.folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		l.fresh = true
		l.staging = filepath.Join(filepath.Dir(l.folder), "."+filepath.Base(l.folder)+"."+hidden)
		return l, nil
	case err != nil:
		return nil, err
	}
	l.folder, l.staging = real, filepath.Join(real, "."+hidden)
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return nil, errors.Join(err, fmt.Errorf("it is a file, expected a folder: %w", fs.ErrExist))
	}
	return l, nil
}

func (l *localFolder) list(context.Context) (paths []string, err error) {
	if l.fresh {
		return nil, nil
	}
	err = filepath.WalkDir(l.folder, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || name == l.folder:
			return err
		case hive.Hidden(entry.Name()) && entry.IsDir():
			return filepath.SkipDir
		case hive.Hidden(entry.Name()), entry.IsDir():
			return nil
		}
		path, err := filepath.Rel(l.folder, name)
		paths = append(paths, filepath.ToSlash(path))
		return err
	})
	return paths, err
}

func (l *localFolder) canRemove() bool { return true }

func (l *localFolder) create(path string) (stagedFile, error) {
	name := filepath.Join(l.staging, filepath.FromSlash(path))
	if err := l.makeStaging(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, err
	}
	file, err := system.create(name)
	if err != nil {
		return nil, err
	}
	return &localFile{file, l, path}, nil
}

// makeStaging makes the hidden folder, unless it exists.
func (l *localFolder) makeStaging() error {
	if l.staged {
		return nil
	}
	err := os.Mkdir(l.staging, 0o777)
	l.staged = err == nil
	return err
}

// localFile is a file of the hidden folder.
type localFile struct {
	io.WriteCloser
	folder *localFolder
	path   string
}

func (f *localFile) finish() error {
	f.folder.files = append(f.folder.files, f.path)
	return f.Close()
}

func (f *localFile) close() error { return f.Close() }

func (l *localFolder) commit(ctx context.Context, c change) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := l.makeStaging(); err != nil { // a result without rows has no files
		return err
	}
	if c.manifest != "" {
		if err := os.WriteFile(filepath.Join(l.staging, c.manifest), c.list, 0o666); err != nil {
			return err
		}
	}
	if l.fresh {
		return system.rename(l.staging, l.folder)
	}
	if err := l.change(c); err != nil {
		for _, undo := range slices.Backward(l.undo) {
			if failure := undo(); failure != nil {
				l.kept = true
				err = errors.Join(err, fmt.Errorf("files of the folder before the write are in %s: %w", l.staging, failure))
			}
		}
		return err
	}
	l.removeEmpty(c.removed)
	return os.RemoveAll(l.staging)
}

// change renames the files into the folder, those that it removes into the hidden one, and the manifest last.
func (l *localFolder) change(c change) error {
	for _, path := range l.files {
		if err := l.makeFolders(filepath.Dir(filepath.FromSlash(path))); err != nil {
			return err
		}
		if err := l.rename(filepath.Join(l.staging, filepath.FromSlash(path)), filepath.Join(l.folder, filepath.FromSlash(path))); err != nil {
			return err
		}
	}
	for i, path := range c.removed {
		if err := l.rename(filepath.Join(l.folder, filepath.FromSlash(path)), filepath.Join(l.staging, "removed-"+strconv.Itoa(i))); err != nil {
			return err
		}
	}
	if c.manifest != "" {
		return system.rename(filepath.Join(l.staging, c.manifest), filepath.Join(l.folder, c.manifest))
	}
	return nil
}

// rename renames a file, and notes how to undo it.
func (l *localFolder) rename(from, to string) error {
	if err := system.rename(from, to); err != nil {
		return err
	}
	l.undo = append(l.undo, func() error { return system.rename(to, from) })
	return nil
}

// makeFolders makes folders below the folder.
func (l *localFolder) makeFolders(relative string) error {
	if relative == "." {
		return nil
	}
	if err := l.makeFolders(filepath.Dir(relative)); err != nil {
		return err
	}
	name := filepath.Join(l.folder, relative)
	err := system.mkdir(name)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		l.undo = append(l.undo, func() error {
			_ = os.Remove(name) // others may have files there
			return nil
		})
	}
	return err
}

// removeEmpty removes the folders that have lost their last file.
func (l *localFolder) removeEmpty(paths []string) {
	for _, path := range paths {
		for folder := parent(path); folder != ""; folder = parent(folder) {
			if os.Remove(filepath.Join(l.folder, filepath.FromSlash(folder))) != nil {
				break
			}
		}
	}
}

func (l *localFolder) abort(context.Context) error {
	if l.kept {
		return nil
	}
	return os.RemoveAll(l.staging)
}
