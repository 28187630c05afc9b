package main

import (
	"archive/zip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repositoryOf writes files to a folder and commits them.
func repositoryOf(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, arguments := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "all"}} {
		command := exec.Command("git", arguments...)
		command.Dir = root
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", arguments, err, out)
		}
	}
	return root
}

func sampleRepository(t *testing.T) string {
	return repositoryOf(t, map[string]string{
		"go.mod":                      "module " + rootPath + "\n\ngo 1.26.0\n",
		"version.go":                  "package gpuframe\n\nconst Version = \"v0.2.0\"\n",
		"LICENSE":                     "free\n",
		"python/gpuframe/__init__.py": "__version__ = \"0.1.0\"\n",
		chartFile:                     "name: serve\nversion: 0.1.0\nappVersion: 0.1.0\n",
		"scripts/check.work":          "",
		"one/go.mod":                  "module " + rootPath + "/one\n\ngo 1.26.0\n\nrequire " + rootPath + " v0.0.0\n\nreplace " + rootPath + " => ../\n",
		"one/one.go":                  "package one\n\nimport _ \"" + rootPath + "\"\n",
		"one/two/go.mod":              "module " + rootPath + "/one/two\n\ngo 1.26.0\n\nrequire " + rootPath + "/one v0.0.0\n",
		"one/two/two.go":              "package two\n\nimport _ \"" + rootPath + "/one\"\n",
		"one/other/go.mod":            "module other\n\ngo 1.26.0\n",
		"one/other/other.go":          "package other\n",
		".gitignore":                  "ignored.go\n",
		"one/ignored.go":              "package fault\n",
		"one/tools/go.mod":            "module " + rootPath + "/one/tools\n\ngo 1.26.0\n",
		"bench/go.mod":                "module " + rootPath + "/bench\n\ngo 1.26.0\n",
	})
}

func TestSync(t *testing.T) {
	root := sampleRepository(t)
	read := func(name string) string {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	tree, err := readTree(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.sync(true); err == nil || !strings.Contains(err.Error(), "one/go.mod is not in step with version.go v0.2.0") {
		t.Fatalf("differences were not reported: %v", err)
	}
	if err := tree.sync(false); err != nil {
		t.Fatal(err)
	}
	if mod := read("one/go.mod"); strings.Contains(mod, "replace") || !strings.Contains(mod, rootPath+" v0.2.0") {
		t.Fatal(mod)
	}
	if work := read("one/two/go.work"); !strings.Contains(work, rootPath+" => ../..\n") || !strings.Contains(work, rootPath+"/one => ..\n") {
		t.Fatal(work)
	}
	if work := read("one/tools/go.work"); strings.Contains(work, "replace") {
		t.Fatal(work)
	}
	if python := read(initFile); python != "__version__ = \"0.2.0\"\n" {
		t.Fatal(python)
	}
	if tree, err = readTree(root); err != nil {
		t.Fatal(err)
	}
	if err := tree.sync(true); err != nil {
		t.Fatal(err)
	}
	if err := tree.set("v0.3.0-rc.1"); err != nil {
		t.Fatal(err)
	}
	if python := read(initFile); python != "__version__ = \"0.3.0rc1\"\n" {
		t.Fatal(python)
	}
	if chart := read(chartFile); chart != "name: serve\nversion: 0.3.0-rc.1\nappVersion: 0.3.0-rc.1\n" {
		t.Fatal(chart)
	}
	for _, version := range []string{"0.3.0", "v0.3", "v2.0.0", "v0.3.0+x"} {
		if tree.set(version) == nil {
			t.Fatal(version)
		}
	}
}

// A module of the proxy compiles in an empty module cache, and contains only its own files.
func TestProxy(t *testing.T) {
	tree, err := readTree(sampleRepository(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.sync(false); err != nil {
		t.Fatal(err)
	}
	if tree, err = readTree(tree.root); err != nil {
		t.Fatal(err)
	}
	proxy, cache := t.TempDir(), t.TempDir()
	if err := tree.writeProxy(proxy); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.OpenReader(filepath.Join(proxy, rootPath, "one/@v/v0.2.0.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	var names []string
	for _, f := range archive.File {
		names = append(names, strings.TrimPrefix(f.Name, rootPath+"/one@v0.2.0/"))
	}
	slices.Sort(names)
	if got := strings.Join(names, " "); got != "LICENSE go.mod go.work one.go" {
		t.Fatal(got)
	}
	user := repositoryOf(t, map[string]string{"go.mod": "module user\n\ngo 1.26.0\n", "user.go": "package user\n\nimport _ \"" + rootPath + "/one/two\"\n"})
	for _, arguments := range [][]string{{"get", rootPath + "/one/two@latest"}, {"build", "./..."}} {
		command := exec.Command("go", arguments...)
		command.Dir = user
		command.Env = append(os.Environ(), "GOPROXY=file://"+proxy, "GOMODCACHE="+cache, "GOSUMDB=off", "GOWORK=off", "GOFLAGS=-modcacherw")
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s", arguments, err, out)
		}
	}
}
