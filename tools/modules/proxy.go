package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

// writeProxy writes the files that a module proxy serves for each module: list, info, mod and
// zip. https://go.dev/ref/mod#goproxy-protocol describes them.
func (t *tree) writeProxy(folder string) error {
	stamp, err := t.commitTime()
	if err != nil {
		return err
	}
	for _, m := range t.modules {
		if err := t.writeVersion(folder, m, stamp); err != nil {
			return fmt.Errorf("%s: %w", m.path(), err)
		}
	}
	return nil
}

func (t *tree) writeVersion(folder string, m *moduleFolder, stamp time.Time) error {
	version := module.Version{Path: m.path(), Version: t.version}
	escaped, err := module.EscapePath(version.Path)
	if err != nil {
		return err
	}
	versions := filepath.Join(folder, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		return err
	}
	write := func(suffix string, content []byte) error {
		return os.WriteFile(filepath.Join(versions, t.version+suffix), content, 0o644)
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{t.version, stamp})
	if err != nil {
		return err
	}
	mod, err := os.ReadFile(t.join(path.Join(m.folder, "go.mod")))
	if err != nil {
		return err
	}
	archive, err := os.Create(filepath.Join(versions, t.version+".zip"))
	if err != nil {
		return err
	}
	defer archive.Close()
	if err := modzip.Create(archive, version, t.contents(m)); err != nil {
		return err
	}
	if err := archive.Close(); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(versions, "list"), []byte(t.version+"\n"), 0o644); err != nil {
		return err
	}
	if err := write(".info", info); err != nil {
		return err
	}
	return write(".mod", mod)
}

// contents returns the files of a module, without those of modules below it. As in modules that
// the go command makes of a repository, one without a licence has that of the root.
func (t *tree) contents(m *moduleFolder) []modzip.File {
	var files []modzip.File
	licence := false
	for _, name := range t.files {
		if t.owner(name) != m {
			continue
		}
		inside := strings.TrimPrefix(name, m.folder+"/")
		licence = licence || inside == "LICENSE"
		if info, err := os.Lstat(t.join(name)); err == nil && info.Mode().IsRegular() {
			files = append(files, zipped{t.join(name), inside})
		}
	}
	if !licence {
		files = append(files, zipped{t.join("LICENSE"), "LICENSE"})
	}
	return files
}

// owner returns the innermost module that contains a file, or nil for a module of others.
func (t *tree) owner(name string) *moduleFolder {
	for folder := path.Dir(name); ; folder = path.Dir(folder) {
		if m, ok := t.folders[folder]; ok || folder == "." {
			return m
		}
	}
}

// commitTime returns the time of the newest commit, so that the same tree gives the same files.
func (t *tree) commitTime() (time.Time, error) {
	show := exec.Command("git", "show", "-s", "--format=%cI", "HEAD")
	show.Dir = t.root
	out, err := show.Output()
	if err != nil {
		return time.Time{}, fmt.Errorf("git show: %w", err)
	}
	stamp, err := time.Parse(time.RFC3339, strings.TrimSpace(string(out)))
	return stamp.UTC(), err
}

// A zipped is a file of the tree and its path in the archive.
type zipped struct{ file, inside string }

func (z zipped) Path() string                 { return z.inside }
func (z zipped) Lstat() (os.FileInfo, error)  { return os.Lstat(z.file) }
func (z zipped) Open() (io.ReadCloser, error) { return os.Open(z.file) }
