package sink

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gpuframe/gpuframe/internal/io/hive"
)

// localFolder is a folder of the file system. Files are written to a hidden folder, and renamed.
type localFolder struct {
	folder, staging string
	// fresh reports that the folder does not exist: the hidden one is in the same folder and becomes it. Otherwise it is within.
	fresh   bool
	staged  bool     // the hidden folder exists
	kept    bool     // it has files of the folder that could not be put back
	parents []string // folders above that were made
	files   []string // that are finished
	undo    []func() error
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

func (l *localFolder) read(_ context.Context, name string) ([]byte, error) {
	contents, err := os.ReadFile(filepath.Join(l.folder, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return contents, err
}

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

// makeStaging makes the hidden folder and those above it, unless they exist.
func (l *localFolder) makeStaging() error {
	if l.staged {
		return nil
	}
	if err := l.makeParents(filepath.Dir(l.staging)); err != nil {
		return err
	}
	err := system.mkdir(l.staging)
	l.staged = err == nil
	return err
}

// makeParents makes a folder and those above it, unless they exist.
func (l *localFolder) makeParents(folder string) error {
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if above := filepath.Dir(folder); above != folder {
		if err := l.makeParents(above); err != nil {
			return err
		}
	}
	err := system.mkdir(folder)
	if errors.Is(err, fs.ErrExist) { // another process was faster
		return nil
	}
	if err == nil {
		l.parents = append(l.parents, folder)
	}
	return err
}

// localFile is a file of the hidden folder.
type localFile struct {
	diskFile
	folder *localFolder
	path   string
}

// finish writes the file to the disk, so that it outlives a power failure after the commit.
func (f *localFile) finish() error {
	f.folder.files = append(f.folder.files, f.path)
	return errors.Join(f.Sync(), f.Close())
}

func (f *localFile) close() error { return f.Close() }

// abort removes the hidden folder, and the folders that were made above it.
func (l *localFolder) abort(context.Context) error {
	if l.kept {
		return nil
	}
	err := system.remove(l.staging)
	for _, folder := range slices.Backward(l.parents) {
		_ = os.Remove(folder) // others may have files there
	}
	return err
}
