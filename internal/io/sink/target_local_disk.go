package sink

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// diskFile is a file that is written.
type diskFile interface {
	io.WriteCloser
	// Sync writes it to the disk.
	Sync() error
}

// system has calls of the operating system. Tests change them.
var system = struct {
	create func(name string) (diskFile, error)
	rename func(from, to string) error
	mkdir  func(name string) error
	// sync writes the names of a folder to the disk.
	sync func(folder string) error
	// remove removes a folder and all below it.
	remove func(folder string) error
}{createFile, os.Rename, func(name string) error { return os.Mkdir(name, 0o777) }, syncFolder, os.RemoveAll}

func createFile(name string) (diskFile, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// syncFolder writes the names of a folder to the disk. Windows and some file systems have no such call.
func syncFolder(folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	file, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := file.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// syncFolders writes the names of a folder, and of those below it with files, to the disk.
func syncFolders(root string, files []string) error {
	synced := map[string]bool{}
	for _, path := range files {
		for folder := parent(path); folder != "" && !synced[folder]; folder = parent(folder) {
			synced[folder] = true
			if err := system.sync(filepath.Join(root, filepath.FromSlash(folder))); err != nil {
				return err
			}
		}
	}
	return system.sync(root)
}

// writeSynced writes a file to the disk.
func writeSynced(name string, contents []byte) error {
	file, err := system.create(name)
	if err != nil {
		return err
	}
	_, err = file.Write(contents)
	return errors.Join(err, file.Sync(), file.Close())
}
