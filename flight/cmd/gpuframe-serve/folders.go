package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// folders are the folders with the files that clients may read: a file system with their absolute
// names. Each file is opened through the root of its folder, which follows no link that leads
// outside, so a link that is made at any time leads to no other file.
type folders []folder

// folder is a folder by its names: the one that was given, made absolute, and the real one.
type folder struct {
	names []string
	files fs.FS
}

// openFolders opens folders for the life of the process.
func openFolders(paths []string) (list folders, err error) {
	for _, name := range paths {
		absolute, err := filepath.Abs(name)
		if err != nil {
			return nil, err
		}
		root, err := os.OpenRoot(absolute)
		if err != nil {
			return nil, err
		}
		opened := folder{names: []string{systemName(absolute)}, files: root.FS()}
		if real, err := filepath.EvalSymlinks(absolute); err == nil && real != absolute {
			opened.names = append(opened.names, systemName(real))
		}
		list = append(list, opened)
	}
	return list, nil
}

// systemName is an absolute path as a name of package io/fs.
func systemName(absolute string) string {
	if name := strings.Trim(filepath.ToSlash(absolute), "/"); name != "" {
		return name
	}
	return "."
}

// Open implements fs.FS.
func (list folders) Open(name string) (fs.File, error) {
	return below(list, "open", name, func(files fs.FS, name string) (fs.File, error) { return files.Open(name) })
}

// Stat implements fs.StatFS.
func (list folders) Stat(name string) (fs.FileInfo, error) { return below(list, "stat", name, fs.Stat) }

// ReadDir implements fs.ReadDirFS.
func (list folders) ReadDir(name string) ([]fs.DirEntry, error) {
	return below(list, "read folder", name, fs.ReadDir)
}

var errOutside = errors.New("it is not below a folder of files that may be read")

// below does an operation in the folder that a name is below of.
func below[T any](list folders, operation, name string, do func(files fs.FS, name string) (T, error)) (result T, err error) {
	err = errOutside
	for _, each := range list {
		for _, root := range each.names {
			relative, inside := strings.CutPrefix(name, root+"/")
			switch {
			case root == ".":
				relative, inside = name, true
			case name == root:
				relative, inside = ".", true
			}
			if !inside {
				continue
			}
			if result, err = do(each.files, relative); err == nil {
				return result, nil
			}
		}
	}
	return result, &fs.PathError{Op: operation, Path: name, Err: plainPath(err)}
}

// plainPath returns the reason of an error of a file system.
func plainPath(err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Err
	}
	return err
}
