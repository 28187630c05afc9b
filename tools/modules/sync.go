package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/mod/semver"
)

// checkWork joins the modules that the check compiles together.
const checkWork = "scripts/check.work"

// initFile has the version of the Python package, chartFile that of the Helm chart.
const (
	initFile  = "python/gpuframe/__init__.py"
	chartFile = "deploy/helm/gpuframe-serve/Chart.yaml"
)

var (
	pythonLine = regexp.MustCompile(`(?m)^(__version__ = ")([^"]+)(")$`)
	chartLines = regexp.MustCompile(`(?m)^((?:version|appVersion): )(\S+)()$`)
)

// sync makes each go.mod require the modules of the tree at its version, and writes the go.work
// files. With check it returns an error for each file that differs.
func (t *tree) sync(check bool) error {
	var faults []error
	write := func(name string, content []byte) {
		current, err := os.ReadFile(t.join(name))
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			faults = append(faults, err)
		case bytes.Equal(current, content) && (err == nil) == (content != nil):
		case check:
			faults = append(faults, fmt.Errorf("%s is not in step with %s %s: run go -C tools run ./modules sync", name, versionFile, t.version))
		case content == nil:
			faults = append(faults, os.Remove(t.join(name)))
		default:
			faults = append(faults, os.WriteFile(t.join(name), content, 0o644))
		}
	}
	for _, m := range t.modules {
		content, err := t.requirements(m)
		if err != nil {
			return err
		}
		write(path.Join(m.folder, "go.mod"), content)
		write(path.Join(m.folder, "go.work"), t.workspace(m))
	}
	write(checkWork, t.checkWorkspace())
	for _, other := range []struct {
		file    string
		lines   *regexp.Regexp
		version string
	}{{initFile, pythonLine, pythonVersion(t.version)}, {chartFile, chartLines, strings.TrimPrefix(t.version, "v")}} {
		content, err := os.ReadFile(t.join(other.file))
		if err != nil {
			return err
		}
		write(other.file, other.lines.ReplaceAll(content, []byte("${1}"+other.version+"${3}")))
	}
	return errors.Join(faults...)
}

// requirements returns the text of a module's go.mod with the tree's version and without
// replacements of its modules.
func (t *tree) requirements(m *moduleFolder) ([]byte, error) {
	for _, required := range m.mod.Require {
		if t.named(required.Mod.Path) != nil {
			if err := m.mod.AddRequire(required.Mod.Path, t.version); err != nil {
				return nil, err
			}
		}
	}
	for _, replaced := range m.mod.Replace {
		if t.named(replaced.Old.Path) != nil {
			if err := m.mod.DropReplace(replaced.Old.Path, replaced.Old.Version); err != nil {
				return nil, err
			}
		}
	}
	m.mod.Cleanup()
	return m.mod.Format()
}

// workspace returns the go.work of a nested module: it alone, with the modules that it needs
// from this tree. The result is nil for a module that needs none, unless it lies below a module
// with a go.work, which the go command would read.
func (t *tree) workspace(m *moduleFolder) []byte {
	needs := t.needs(m)
	below := false
	for _, other := range t.modules {
		below = below || other != m && strings.HasPrefix(m.folder, other.folder+"/") && len(t.needs(other)) > 0
	}
	if m.path() == rootPath || len(needs) == 0 && !below {
		return nil
	}
	var text strings.Builder
	fmt.Fprintf(&text, "// Written by tools/modules.\n\ngo %s\n\nuse .\n", m.mod.Go.Version)
	text.WriteString(t.replacements(m.folder, "", needs))
	return []byte(text.String())
}

// checkWorkspace returns the text of checkWork. A module of a workspace is also required by
// others at a version, which would be fetched without a replacement of that version.
func (t *tree) checkWorkspace() []byte {
	root := t.named(rootPath)
	text := fmt.Sprintf("// Written by tools/modules.\n\ngo %s\n\nuse ..\nuse ../bench\n", root.mod.Go.Version)
	return []byte(text + t.replacements(path.Dir(checkWork), " "+t.version, []*moduleFolder{root}))
}

// replacements returns lines that replace modules by their folders, relative to a folder.
func (t *tree) replacements(folder, version string, modules []*moduleFolder) string {
	var text strings.Builder
	for i, m := range modules {
		if i == 0 {
			text.WriteByte('\n')
		}
		relative, err := filepath.Rel(folder, m.folder)
		if err != nil {
			panic(err) // both are relative to the root
		}
		if !strings.HasPrefix(relative, ".") {
			relative = "./" + relative
		}
		fmt.Fprintf(&text, "replace %s%s => %s\n", m.path(), version, filepath.ToSlash(relative))
	}
	return text.String()
}

// set changes the version of everything.
func (t *tree) set(version string) error {
	if !semver.IsValid(version) || semver.Build(version) != "" || semver.Canonical(version) != version {
		return fmt.Errorf("%q is no version of Go modules, such as v0.2.0 or v0.2.0-rc.1", version)
	}
	if major := semver.Major(version); major != "v0" && major != "v1" {
		return fmt.Errorf("%s: the paths of modules must end with /%s first", version, major)
	}
	source, err := os.ReadFile(t.join(versionFile))
	if err != nil {
		return err
	}
	source = versionLine.ReplaceAll(source, []byte("${1}"+version+"${3}"))
	if err := os.WriteFile(t.join(versionFile), source, 0o644); err != nil {
		return err
	}
	t.version = version
	return t.sync(false)
}

// pythonVersion returns a version as PEP 440 writes it: 0.2.0rc1 for v0.2.0-rc.1.
func pythonVersion(version string) string {
	version, prerelease, _ := strings.Cut(strings.TrimPrefix(version, "v"), "-")
	prerelease = strings.NewReplacer("alpha", "a", "beta", "b", ".", "").Replace(prerelease)
	return version + prerelease
}
