package sink

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

func (l *localFolder) commit(ctx context.Context, c change) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := l.makeStaging(); err != nil { // a result without rows has no files
		return err
	}
	if c.manifest != "" {
		if err := writeSynced(filepath.Join(l.staging, c.manifest), c.list); err != nil {
			return err
		}
	}
	if l.fresh {
		return l.appear()
	}
	if err := l.change(c); err != nil {
		for _, undo := range slices.Backward(l.undo) {
			if failure := undo(); failure != nil {
				l.kept = true
				err = errors.Join(plainPath(err), fmt.Errorf("files of the folder before the write are in %s: %w", l.staging, plainPath(failure)))
			}
		}
		return err
	}
	l.removeEmpty(c.removed)
	_ = system.remove(l.staging) // the new files are complete: what is left is hidden
	return nil
}

// appear makes the hidden folder the folder.
func (l *localFolder) appear() error {
	if err := syncFolders(l.staging, l.files); err != nil {
		return err
	}
	if err := system.rename(l.staging, l.folder); err != nil {
		return err
	}
	for _, folder := range append(slices.Clone(l.parents), l.folder) {
		if err := system.sync(filepath.Dir(folder)); err != nil {
			return errors.Join(err, system.rename(l.folder, l.staging))
		}
	}
	return nil
}

// change renames the files into the folder, those that it removes into the hidden one, and the manifest last. The new files
// are on the disk before those of the folder are touched, and all names before the hidden folder is removed.
func (l *localFolder) change(c change) error {
	for _, path := range l.files {
		if err := l.makeFolders(filepath.Dir(filepath.FromSlash(path))); err != nil {
			return err
		}
		if err := l.rename(filepath.Join(l.staging, filepath.FromSlash(path)), filepath.Join(l.folder, filepath.FromSlash(path))); err != nil {
			return err
		}
	}
	if err := syncFolders(l.folder, l.files); err != nil {
		return err
	}
	for i, path := range c.removed {
		if err := l.rename(filepath.Join(l.folder, filepath.FromSlash(path)), filepath.Join(l.staging, "removed-"+strconv.Itoa(i))); err != nil {
			return err
		}
	}
	if c.manifest == "" {
		return nil
	}
	if err := l.replaceManifest(c); err != nil {
		return err
	}
	return system.sync(l.folder)
}

// replaceManifest renames the manifest into the folder. It first writes the one before to the hidden folder, for an undo.
func (l *localFolder) replaceManifest(c change) error {
	staged, name := filepath.Join(l.staging, c.manifest), filepath.Join(l.folder, c.manifest)
	if c.before == nil {
		return l.rename(staged, name)
	}
	before := filepath.Join(l.staging, "before")
	if err := writeSynced(before, c.before); err != nil {
		return err
	}
	if err := system.rename(staged, name); err != nil {
		return err
	}
	l.undo = append(l.undo, func() error { return system.rename(before, name) })
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
