package codegen

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed library.ptx
var libraryText string

// item is a function, or a table of constants, of the library.
type item struct {
	name, text string
	// needs are the names of other items in the text.
	needs []string
}

// library returns the functions of library.cu, by name.
var library = sync.OnceValue(func() map[string]item { return cut(libraryText) })

// definedName returns the name that a top-level item of PTX defines, or "" if it is not
// a function or a variable.
func definedName(text string) string {
	for _, linkage := range []string{".visible ", ".weak ", ".extern "} {
		if rest, ok := strings.CutPrefix(text, linkage); ok {
			text = rest
			break
		}
	}
	if function, ok := strings.CutPrefix(text, ".func"); ok {
		function = strings.TrimSpace(function)
		if strings.HasPrefix(function, "(") { // the result
			_, function, _ = strings.Cut(function, ")")
		}
		return firstName(function)
	}
	if strings.HasPrefix(text, ".global ") || strings.HasPrefix(text, ".const ") {
		fields := strings.Fields(text)
		for i, field := range fields[:len(fields)-1] {
			switch field {
			case ".b8", ".b16", ".b32", ".b64", ".u32", ".u64", ".f32", ".f64":
				return firstName(fields[i+1])
			}
		}
	}
	return ""
}

// firstName returns the name that text begins with.
func firstName(text string) string {
	text = strings.TrimSpace(text)
	if end := strings.IndexFunc(text, notInName); end >= 0 {
		text = text[:end]
	}
	return text
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '$'
}

// cut splits the PTX of clang into items, without debugging information.
func cut(code string) map[string]item {
	items := map[string]item{}
	var text []string
	finish := func() {
		joined := strings.Join(text, "\n") + "\n"
		text = nil
		name := definedName(joined)
		// Declarations end in a semicolon after their parameters.
		if name == "" || strings.HasSuffix(strings.TrimSpace(joined), ")\n;") {
			return
		}
		items[name] = item{name: name, text: strings.TrimPrefix(joined, ".visible ")}
	}
	for line := range strings.Lines(code) {
		line = strings.TrimRight(line, "\n")
		trimmed := strings.TrimSpace(line)
		if trimmed == "" || strings.HasPrefix(trimmed, "//") || strings.HasPrefix(trimmed, ".loc") || strings.HasPrefix(trimmed, ".file") {
			continue
		}
		if strings.HasPrefix(line, ".section") {
			break
		}
		// Comments may contain names of functions.
		if comment := strings.Index(line, "//"); comment >= 0 {
			line = strings.TrimRight(line[:comment], " \t")
		}
		text = append(text, line)
		if line == "}" || line == ";" || strings.HasPrefix(text[0], ".") && len(text) == 1 && strings.HasSuffix(line, ";") {
			finish()
		} else if len(text) == 1 && (strings.HasPrefix(line, ".version") || strings.HasPrefix(line, ".target") || strings.HasPrefix(line, ".address_size")) {
			text = nil
		}
	}
	for name, i := range items {
		for _, other := range strings.FieldsFunc(i.text, notInName) {
			if _, ok := items[other]; ok && other != name && !slices.Contains(i.needs, other) {
				i.needs = append(i.needs, other)
			}
		}
		items[name] = i
	}
	return items
}

// Functions returns the functions that the code written so far calls. They must precede
// the kernel.
func (g *Generator) Functions() string {
	var names []string
	for name := range g.functions {
		names = append(names, name)
	}
	slices.Sort(names)
	var s strings.Builder
	written := map[string]bool{}
	var write func(name string)
	write = func(name string) {
		if written[name] {
			return
		}
		written[name] = true
		i := library()[name]
		for _, other := range i.needs {
			write(other)
		}
		s.WriteString(i.text)
		s.WriteString("\n")
	}
	for _, name := range names {
		write(name)
	}
	return s.String()
}
