package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	slashpath "path"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/internal/io/hive"
	"github.com/gpuframe/gpuframe/objectstore"
)

// storeOf returns the store of a name, or nil if it names a file of the file system.
func (f Files) storeOf(name string) (objectstore.Store, error) {
	if f.Store != nil {
		return objectstore.EnsureRetry(f.Store), nil
	}
	if _, url := objectstore.SchemeOf(name); !url || f.System != nil || strings.HasPrefix(name, fileScheme) {
		return nil, nil
	}
	return objectstore.Open(name)
}

// fileScheme begins the URLs of files.
const fileScheme = "file://"

// objectNames are the objects of a name in a store, as paths.
type objectNames struct {
	ctx        context.Context
	store      objectstore.Store
	extensions []string
	add        func(p path, below string) error
	// requests is the number of requests that no object counts yet.
	requests int64
}

// visit adds the objects of a name: an object, a pattern, or a folder, which is a prefix that ends in a slash. An object, or
// a folder, of the name of a pattern is meant itself.
func (n *objectNames) visit(name string) error {
	if wildcard := strings.IndexAny(name, wildcards); wildcard >= 0 {
		err := n.visitPattern(strings.TrimSuffix(name, "/"), wildcard)
		if !errors.Is(err, errors.ErrUnsupported) { // a store without lists may have such names, as of queries of URLs
			return err
		}
	}
	if strings.HasSuffix(name, "/") {
		return n.visitFolder(name)
	}
	n.requests++
	about, err := n.store.Stat(n.ctx, name)
	if err == nil {
		return n.addObject(about, name[:strings.LastIndexByte(name, '/')])
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return storeError(err)
	}
	if listing := n.visitFolder(name + "/"); !errors.Is(listing, errors.ErrUnsupported) && !errors.Is(listing, fs.ErrNotExist) {
		return listing
	}
	return err
}

func (n *objectNames) addObject(about objectstore.Object, below string) error {
	o := &object{store: n.store, about: about}
	o.pending.Requests.Store(n.requests)
	n.requests = 0
	return n.add(path{name: objectstore.Display(about.Name), object: o}, below)
}

// list calls a function for the objects with a prefix of their names.
func (n *objectNames) list(prefix string, visit func(objectstore.Object) error) error {
	for token := ""; ; {
		n.requests++
		page, next, err := n.store.List(n.ctx, prefix, token)
		if err != nil {
			return storeError(err)
		}
		for _, each := range page {
			if strings.HasSuffix(each.Name, "/") {
				continue // it stands for a folder
			}
			if err := visit(each); err != nil {
				return err
			}
		}
		if token = next; token == "" {
			return nil
		}
	}
}

// storeError adds the condition ErrRead to an error of a store about a request, unless it is about what exists.
func storeError(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return readError(err)
}

// visitFolder adds the objects below a folder that have one of the extensions.
func (n *objectNames) visitFolder(folder string) error {
	hasFiles := false
	err := n.list(folder, func(each objectstore.Object) error {
		if !n.below(strings.Split(each.Name[len(folder):], "/")) {
			return nil
		}
		hasFiles = true
		return n.addObject(each, strings.TrimSuffix(folder, "/"))
	})
	if err == nil && !hasFiles {
		err = withoutFiles(objectstore.Display(folder), n.extensions)
	}
	return err
}

// below reports whether a walk through a folder visits the object with these parts of its name below the folder.
func (n *objectNames) below(parts []string) bool {
	return !slices.ContainsFunc(parts, hive.Hidden) && slices.Contains(n.extensions, Extension(parts[len(parts)-1]))
}

// visitPattern adds the objects of a pattern, and those below folders of the pattern.
func (n *objectNames) visitPattern(pattern string, wildcard int) error {
	root := strings.LastIndexByte(pattern[:wildcard], '/')
	if scheme, _ := objectstore.SchemeOf(pattern); strings.HasSuffix(pattern[:root+1], "://") && scheme != "http" && scheme != "https" {
		return fmt.Errorf("pattern %q: the wildcard is in the name of the bucket: %w", objectstore.Display(pattern), ErrArgument)
	}
	parts := strings.Split(pattern[root+1:], "/")
	var matches []objectstore.Object
	literal := -1
	isFolder, folders := false, map[string]bool{} // whether a folder of the pattern has files
	err := n.list(pattern[:wildcard], func(each objectstore.Object) error {
		name := strings.Split(each.Name[root+1:], "/")
		ok := matchesPattern(parts, name)
		if ok && len(name) > len(parts) {
			folder := strings.Join(name[:len(parts)], "/")
			ok = n.below(name[len(parts):])
			folders[folder] = folders[folder] || ok
		}
		if each.Name == pattern {
			literal = len(matches)
		}
		isFolder = isFolder || strings.HasPrefix(each.Name, pattern+"/")
		if ok || each.Name == pattern {
			matches = append(matches, each)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if isFolder && literal < 0 {
		return n.visitFolder(pattern + "/")
	}
	for _, part := range parts {
		if _, err := slashpath.Match(part, ""); err != nil && literal < 0 {
			return fmt.Errorf("pattern %q: %w: %w", objectstore.Display(pattern), err, ErrArgument)
		}
	}
	for folder, hasFiles := range folders {
		if !hasFiles && literal < 0 {
			return withoutFiles(objectstore.Display(pattern[:root+1]+folder), n.extensions)
		}
	}
	if literal >= 0 {
		matches, root = matches[literal:literal+1], strings.LastIndexByte(pattern, '/')
	}
	for _, each := range matches {
		if err := n.addObject(each, each.Name[:root]); err != nil {
			return err
		}
	}
	if len(matches) == 0 {
		return &fs.PathError{Op: "glob", Path: objectstore.Display(pattern), Err: fs.ErrNotExist}
	}
	return nil
}

// matchesPattern reports whether a pattern has the name of an object, or of a folder that it is below.
func matchesPattern(pattern, name []string) bool {
	if len(name) < len(pattern) {
		return false
	}
	for i, part := range pattern {
		if ok, _ := slashpath.Match(part, name[i]); !ok {
			return false
		}
	}
	return true
}
