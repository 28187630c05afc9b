package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A record is the lines of a folder.
type record struct {
	released, next, excepted map[string]bool
}

// readRecord reads the files of a folder. That of the version next is not released.
func readRecord(folder, next string) (record, error) {
	r := record{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	files, err := filepath.Glob(filepath.Join(folder, "v*.txt"))
	if err != nil {
		return r, err
	}
	for _, file := range files {
		lines := r.released
		if filepath.Base(file) == next+".txt" {
			lines = r.next
		}
		if err := readLines(file, lines); err != nil {
			return r, err
		}
	}
	err = readLines(filepath.Join(folder, "except.txt"), r.excepted)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return r, err
}

func readLines(file string, lines map[string]bool) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines[line] = true
		}
	}
	return nil
}

// compare returns an error that names the released lines that are gone and the exceptions that are
// not needed. Lines of the next release that are gone are warnings.
func (r record) compare(current map[string]bool) (warnings []string, err error) {
	if len(r.released)+len(r.next) == 0 {
		return nil, errors.New("the folder has no file v*.txt")
	}
	var faults []error
	for _, line := range slices.Sorted(maps.Keys(r.released)) {
		if !current[line] && !r.excepted[line] {
			faults = append(faults, fmt.Errorf("gone or changed: %s", line))
		}
	}
	for _, line := range slices.Sorted(maps.Keys(r.excepted)) {
		if current[line] || !r.released[line] {
			faults = append(faults, fmt.Errorf("except.txt: not gone, or never released: %s", line))
		}
	}
	for _, line := range slices.Sorted(maps.Keys(r.next)) {
		if !current[line] {
			warnings = append(warnings, line)
		}
	}
	if len(faults) > 0 {
		faults = append(faults, errors.New("programs of users may break: keep the old name, or add the lines to except.txt and the change to CHANGELOG.md"))
	}
	return warnings, errors.Join(faults...)
}
