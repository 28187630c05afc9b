package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// rootPath is the path of the main module; those of nested modules begin with it.
const rootPath = "github.com/gpuframe/gpuframe"

// A tree is the modules of the repository.
type tree struct {
	root    string // absolute
	version string
	modules []*moduleFolder
	folders map[string]*moduleFolder // by folder; nil for modules of others
	files   []string                 // tracked files and those that are not ignored, relative, with slashes
}

// A moduleFolder is a folder with a go.mod of a path below rootPath.
type moduleFolder struct {
	folder string // relative to the root, with slashes; "." of the main module
	mod    *modfile.File
}

func (m *moduleFolder) path() string { return m.mod.Module.Mod.Path }

func readTree(root string) (*tree, error) {
	t := &tree{root: root, folders: map[string]*moduleFolder{}}
	source, err := os.ReadFile(t.join(versionFile))
	if err != nil {
		return nil, err
	}
	match := versionLine.FindSubmatch(source)
	if match == nil || !semver.IsValid(string(match[2])) {
		return nil, fmt.Errorf("%s has no line `const Version = \"vX.Y.Z\"`", versionFile)
	}
	t.version = string(match[2])
	if t.files, err = listFiles(root); err != nil {
		return nil, err
	}
	for _, file := range t.files {
		if path.Base(file) != "go.mod" {
			continue
		}
		m, err := readModule(t.join(file), path.Dir(file))
		if err != nil {
			return nil, err
		}
		t.folders[m.folder] = nil
		if p := m.path(); p == rootPath || strings.HasPrefix(p, rootPath+"/") {
			t.modules, t.folders[m.folder] = append(t.modules, m), m
		}
	}
	return t, nil
}

func readModule(file, folder string) (*moduleFolder, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	mod, err := modfile.Parse(file, content, nil)
	if err != nil {
		return nil, err
	}
	if mod.Module == nil || mod.Go == nil {
		return nil, fmt.Errorf("%s has no module line or no go line", file)
	}
	return &moduleFolder{folder, mod}, nil
}

const versionFile = "version.go"

var versionLine = regexp.MustCompile(`(?m)^(const Version = ")([^"]+)(")$`)

// listFiles returns the files of the working tree without those that git ignores.
func listFiles(root string) ([]string, error) {
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files in %s: %w", root, err)
	}
	names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		_, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name)))
		return err != nil // deleted, but not in the index
	}), nil
}

func (t *tree) join(name string) string { return filepath.Join(t.root, filepath.FromSlash(name)) }

// at returns the module of a folder, which may be relative to the current one.
func (t *tree) at(folder string) (*moduleFolder, error) {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	for _, m := range t.modules {
		if t.join(m.folder) == absolute {
			return m, nil
		}
	}
	return nil, fmt.Errorf("%s contains no go.mod of %s", absolute, rootPath)
}

// named returns the module with a path, or nil.
func (t *tree) named(path string) *moduleFolder {
	for _, m := range t.modules {
		if m.path() == path {
			return m
		}
	}
	return nil
}

// needs returns the modules of the tree that m requires, directly or through others.
func (t *tree) needs(m *moduleFolder) []*moduleFolder {
	seen := map[string]*moduleFolder{}
	var add func(*moduleFolder)
	add = func(m *moduleFolder) {
		for _, required := range m.mod.Require {
			if other := t.named(required.Mod.Path); other != nil && seen[other.path()] == nil {
				seen[other.path()] = other
				add(other)
			}
		}
	}
	add(m)
	return slices.SortedFunc(maps.Values(seen), func(a, b *moduleFolder) int { return strings.Compare(a.path(), b.path()) })
}
