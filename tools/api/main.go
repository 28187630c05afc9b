// Command api keeps the exported names of the public packages compatible. It prints one line for
// each exported constant, variable, type, field, method and function, with its type, and compares
// them with the lines of releases in a folder: a line that is gone is an incompatible change.
// docs/versions.md has the rules for those. except.txt in the folder has the lines that may be
// gone. Lines that only the file of the next release has are not released yet: those are warnings.
//
//	api PATTERN…                              print the lines
//	api -check FOLDER -next VERSION PATTERN…  compare with FOLDER/v*.txt
//	api -record FOLDER -next VERSION PATTERN… write FOLDER/VERSION.txt: the lines that no other file has
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
	"golang.org/x/tools/go/packages"
)

func main() {
	check := flag.String("check", "", "a folder with lines of earlier releases")
	record := flag.String("record", "", "the folder to write to")
	next := flag.String("next", "", "the version of the next release")
	flag.Parse()
	if err := run(*check, *record, *next, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(1)
	}
}

func run(check, record, next string, patterns []string) error {
	if (check != "" || record != "") && !semver.IsValid(next) {
		return fmt.Errorf("-next is %q: it must be a version such as v0.2.0", next)
	}
	current, err := load(patterns)
	if err != nil {
		return err
	}
	switch {
	case check != "":
		r, err := readRecord(check, next)
		if err != nil {
			return err
		}
		warnings, err := r.compare(current)
		for _, line := range warnings {
			fmt.Fprintf(os.Stderr, "api: WARNING: not in the next release as recorded: %s\n", line)
		}
		if len(warnings) > 0 {
			fmt.Fprintln(os.Stderr, "api: make api-record records the API of", next)
		}
		return err
	case record != "":
		r, err := readRecord(record, next)
		if err != nil {
			return err
		}
		var text strings.Builder
		for _, line := range slices.Sorted(maps.Keys(current)) {
			if !r.released[line] {
				text.WriteString(line + "\n")
			}
		}
		return os.WriteFile(filepath.Join(record, next+".txt"), []byte(text.String()), 0o644)
	}
	for _, line := range slices.Sorted(maps.Keys(current)) {
		fmt.Println(line)
	}
	return nil
}

func load(patterns []string) (map[string]bool, error) {
	loaded, err := packages.Load(&packages.Config{Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedExportFile}, patterns...)
	if err != nil {
		return nil, err
	}
	lines := map[string]bool{}
	for _, p := range loaded {
		for _, e := range p.Errors {
			return nil, e
		}
		if public(p) {
			for _, line := range describe(p.Types) {
				lines[line] = true
			}
		}
	}
	return lines, nil
}

// public reports whether other modules may import a package.
func public(p *packages.Package) bool {
	return p.Name != "main" && !slices.Contains(strings.Split(p.PkgPath, "/"), "internal") && !strings.Contains(p.PkgPath, "/examples/")
}
