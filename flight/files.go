package flight

import (
	"context"
	"errors"
	"io/fs"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// boundFiles is the file system of a call. It ends with the call's context: a pattern or a folder can
// have many files.
type boundFiles struct {
	ctx    context.Context
	system fs.FS
}

// Open implements fs.FS.
func (f boundFiles) Open(name string) (fs.File, error) {
	return bound(f, "open", name, func() (fs.File, error) { return f.system.Open(name) })
}

// Stat implements fs.StatFS.
func (f boundFiles) Stat(name string) (fs.FileInfo, error) {
	return bound(f, "stat", name, func() (fs.FileInfo, error) { return fs.Stat(f.system, name) })
}

// ReadDir implements fs.ReadDirFS.
func (f boundFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	return bound(f, "read folder", name, func() ([]fs.DirEntry, error) { return fs.ReadDir(f.system, name) })
}

// bound does an operation before the end of the context.
func bound[T any](f boundFiles, operation, name string, do func() (T, error)) (result T, err error) {
	if err := cancel.Error(f.ctx); err != nil {
		return result, &fs.PathError{Op: operation, Path: name, Err: err}
	}
	return do()
}

// noFiles is the file system of servers without [Options].Files.
type noFiles struct{}

// Open implements fs.FS.
func (noFiles) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("this server reads no files for its clients: read its tables")}
}
