package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gpuframe/gpuframe/internal/expr/catalog"
)

// page returns docs/functions.md with new tables.
func page(root string) (string, error) {
	old, err := os.ReadFile(filepath.Join(root, "docs/functions.md"))
	if err != nil {
		return "", err
	}
	text := string(old)
	for i := range catalog.Sections() {
		s := &catalog.Sections()[i]
		if text, err = replaceTable(text, s.Title, table(s)); err != nil {
			return "", err
		}
	}
	if text, err = replaceTable(text, "verbs", verbs()); err != nil {
		return "", err
	}
	return replaceTable(text, "aliases", aliases())
}

// replaceTable returns a text with another table between the lines
//
//	<!-- catalog TITLE -->
//	<!-- end -->
func replaceTable(text, title, table string) (string, error) {
	begin, end := "<!-- catalog "+title+" -->\n", "<!-- end -->\n"
	before, rest, ok := strings.Cut(text, begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		return "", fmt.Errorf("the lines %q and %q are missing", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + table + end + after, nil
}

// verbs returns the table of the further names of verbs.
func verbs() string {
	text := "| verb | further names | in Go |\n| --- | --- | --- |\n"
	for _, v := range catalog.Verbs() {
		text += fmt.Sprintf("| `%s` | `%s` | `%s` |\n", v.Name, strings.Join(v.Aliases, "`, `"), strings.Join(append([]string{v.Go}, v.GoAliases()...), "`, `"))
	}
	return text
}

// aliases returns the table of the further names of functions.
func aliases() string {
	text := "| function | further names |\n| --- | --- |\n"
	for _, f := range catalog.All() {
		if len(f.Aliases) > 0 {
			text += fmt.Sprintf("| `%s` | `%s` |\n", f.Name, strings.Join(f.Aliases, "`, `"))
		}
	}
	return text
}

// table returns the table of a section.
func table(s *catalog.Section) string {
	text := "| Go | document | operands | result | null, in addition to a null operand | fuses |\n| --- | --- | --- | --- | --- | --- |\n"
	for i := range s.Rows {
		var names, members []string
		row := &s.Rows[i]
		for j := range row.Functions {
			f := &row.Functions[j]
			names, members = append(names, "`"+qualified(f)+"`"), append(members, "`"+f.Name+"`")
			if f.Variant != "" {
				names = append(names, "`"+f.Variant+"`")
			}
		}
		first := &row.Functions[0]
		text += fmt.Sprintf("| %s | %s | %s | %s | %s | %s |\n", strings.Join(names, ", "), strings.Join(members, ", "), first.Operands, first.Result, first.Null, first.Fuses)
	}
	return text
}

// qualified returns the name of a function in Go, with its type if a function of package gpuframe
// has the same name.
func qualified(f *catalog.Function) string {
	for _, other := range catalog.All() {
		if !f.Free && other.Free && other.Go == f.Go {
			return "Expr." + f.Go
		}
	}
	return f.Go
}
