package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// folders are the folders with the files that clients may read.
type folders []folder

// folder is a folder by its names: the one that was given, made absolute, and the real one. Files
// are looked up through root, which follows no link that leads outside.
type folder struct {
	names []string
	root  *os.Root
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
		opened := folder{names: []string{absolute}, root: root}
		if real, err := filepath.EvalSymlinks(absolute); err == nil && real != absolute {
			opened.names = append(opened.names, real)
		}
		list = append(list, opened)
	}
	return list, nil
}

// check refuses paths that name other files than those below a folder: files, patterns, and
// folders with links to other files. A link that is made after the check is followed: whoever may
// write to a folder can make its clients read what the server can.
func (list folders) check(paths []string) error {
	for _, each := range paths {
		if strings.Contains(each, "://") {
			return fmt.Errorf("the path %q: only files of the server can be read", each)
		}
		err := list.checkOne(each)
		if errors.Is(err, errOutside) {
			return fmt.Errorf("the path %q is not below a folder of files that may be read", each)
		}
		if err != nil {
			return fmt.Errorf("the path %q: %w", each, err)
		}
	}
	return nil
}

// errOutside reports a file that is not below a folder.
var errOutside = errors.New("outside")

// checkOne checks the files of a path in the folder that has them.
func (list folders) checkOne(name string) error {
	absolute, err := filepath.Abs(name)
	if err != nil || strings.Contains(filepath.ToSlash(name)+"/", "/../") {
		return errOutside
	}
	for _, each := range list {
		for _, root := range each.names {
			relative, err := filepath.Rel(root, absolute)
			if err != nil || !filepath.IsLocal(relative) {
				continue
			}
			if strings.ContainsAny(root, `*?[\`) && strings.ContainsAny(relative, `*?[\`) {
				return errors.New("a pattern cannot be read in a folder with *, ?, [ or \\ in its name")
			}
			if err := each.checkFiles(filepath.ToSlash(relative)); err == nil || !errors.Is(err, errOutside) {
				return err
			}
		}
	}
	return errOutside
}

// checkFiles checks the file, the folder, or the files of a pattern.
func (f folder) checkFiles(relative string) error {
	files := []string{relative}
	if strings.ContainsAny(relative, `*?[\`) {
		found, err := fs.Glob(f.root.FS(), relative)
		if err != nil {
			return err
		}
		// A file with the name of the pattern is read in place of those that match.
		if _, err := f.root.Lstat(filepath.FromSlash(relative)); err == nil || len(found) == 0 {
			found = append(found, relative)
		}
		files = found
	}
	for _, file := range files {
		err := fs.WalkDir(f.root.FS(), file, func(name string, _ fs.DirEntry, err error) error {
			if err == nil {
				_, err = f.root.Stat(filepath.FromSlash(path.Clean(name))) // follows links
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("%w: %w", errOutside, err)
		}
	}
	return nil
}
