package storage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gpuframe/gpuframe/objectstore"
)

// Writable returns an error that wraps [errors.ErrUnsupported] if the files of a folder cannot be written, or not by [Storage.WriteNew].
func (s Storage) Writable(folder string) error {
	if s.System != nil || s.Store != nil {
		return fmt.Errorf("a file system or a store is given, expected none: tables are written to paths and to registered stores: %w", errors.ErrUnsupported)
	}
	store, err := s.storeOf(folder)
	if err != nil || store == nil {
		return err
	}
	if _, ok := objectstore.ExclusiveOf(store); !ok {
		return fmt.Errorf("the store of %s has no conditional writes: commit by a catalog: %w", objectstore.Display(folder), errors.ErrUnsupported)
	}
	return nil
}

// Write writes a file. A folder of the machine is made, and has no file of the name.
func (s Storage) Write(ctx context.Context, name string, contents []byte) error {
	store, err := s.storeOf(name)
	if err != nil {
		return err
	}
	if store != nil {
		return store.Put(ctx, name, contents)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := MakeFolder(name); err != nil {
		return err
	}
	file, err := os.OpenFile(machinePath(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	err = disk.write(file, contents)
	if err == nil {
		err = disk.sync(file)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(machinePath(name)))
	}
	return nil
}

// WriteNew writes a file that appears with all of its contents, unless one of its name exists.
//
// # Errors
//
// [fs.ErrExist] means that one exists. After another error of a store, the file may exist.
func (s Storage) WriteNew(ctx context.Context, name string, contents []byte) error {
	store, err := s.storeOf(name)
	if err != nil {
		return err
	}
	if store != nil {
		exclusive, ok := objectstore.ExclusiveOf(store)
		if !ok {
			return errors.ErrUnsupported
		}
		return exclusive.PutNew(ctx, name, contents)
	}
	temporary := filepath.Join(filepath.Dir(machinePath(name)), "."+rand.Text()+".tmp")
	if err := s.Write(ctx, temporary, contents); err != nil {
		return err
	}
	return errors.Join(disk.link(temporary, machinePath(name)), os.Remove(temporary))
}

// Replace writes a file over another one.
func (s Storage) Replace(ctx context.Context, name string, contents []byte) error {
	store, err := s.storeOf(name)
	if err != nil {
		return err
	}
	if store != nil {
		return store.Put(ctx, name, contents)
	}
	temporary := filepath.Join(filepath.Dir(machinePath(name)), "."+rand.Text()+".tmp")
	if err := s.Write(ctx, temporary, contents); err != nil {
		return err
	}
	if err := disk.rename(temporary, machinePath(name)); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return nil
}

// Remove removes a file, which may be absent.
func (s Storage) Remove(ctx context.Context, name string) error {
	store, err := s.storeOf(name)
	if err != nil {
		return err
	}
	if store != nil {
		deleter, ok := objectstore.DeleterOf(store)
		if !ok {
			return fmt.Errorf("the store of %s removes no objects: %w", objectstore.Display(name), errors.ErrUnsupported)
		}
		return deleter.Delete(ctx, name)
	}
	if err := os.Remove(machinePath(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// MakeFolder makes the folder of a file of the machine. Stores have none.
func MakeFolder(name string) error {
	if _, ok := objectstore.SchemeOf(name); ok && !strings.HasPrefix(name, fileScheme) {
		return nil
	}
	return os.MkdirAll(filepath.Dir(machinePath(name)), 0o777)
}

func machinePath(name string) string { return filepath.FromSlash(strings.TrimPrefix(name, fileScheme)) }
