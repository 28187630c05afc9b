package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
)

// tidy runs go mod tidy, which ignores workspaces, on a copy of go.mod with replacements.
func (t *tree) tidy(folder string, diff bool) error {
	m, err := t.at(folder)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "tidy-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	copied, sums := filepath.Join(work, "go.mod"), filepath.Join(work, "go.sum")
	content, err := os.ReadFile(t.join(path.Join(m.folder, "go.mod")))
	if err != nil {
		return err
	}
	content = append(content, t.replacements(m.folder, "", t.needs(m))...)
	if err := os.WriteFile(copied, content, 0o644); err != nil {
		return err
	}
	sumFile := t.join(path.Join(m.folder, "go.sum"))
	if content, err = os.ReadFile(sumFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(sums, content, 0o644); err != nil {
		return err
	}
	arguments := []string{"mod", "tidy", "-modfile=" + copied}
	if diff {
		arguments = append(arguments, "-diff")
	}
	command := exec.Command("go", arguments...)
	command.Dir = t.join(m.folder)
	command.Env = append(os.Environ(), "GOWORK=off")
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Run(); err != nil {
		return fmt.Errorf("go mod tidy in %s: %w\n%s", m.folder, err, output.Bytes())
	}
	if diff {
		return nil
	}
	tidied, err := readModule(copied, m.folder)
	if err != nil {
		return err
	}
	if content, err = t.requirements(tidied); err != nil {
		return err
	}
	if err := os.WriteFile(t.join(path.Join(m.folder, "go.mod")), content, 0o644); err != nil {
		return err
	}
	if content, err = os.ReadFile(sums); err != nil {
		return err
	}
	return os.WriteFile(sumFile, content, 0o644)
}
