package codegen

import (
	"embed"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed *.ptx
var codes embed.FS

// item is a function, or a table of constants, of the library.
type item struct {
	name, text string
	// needs are the names of other items in the text.
	needs []string
}

// library is the functions of the .cu files beside this one, by name.
var library = sync.OnceValue(func() map[string]item {
	all := map[string]item{}
	files, _ := codes.ReadDir(".")
	for _, file := range files {
		code, _ := codes.ReadFile(file.Name()) // it is part of the program
		maps.Copy(all, cut(string(code)))
	}
	return all
})

var (
	// named finds the name that a top-level item defines.
	named = regexp.MustCompile(`^(?:\.visible |\.weak |\.extern )?\.(?:func\s*(?:\([^)]*\))?\s*|(?:global|const) [^=;]*?(?:\.b8|\.b16|\.b32|\.b64|\.u32|\.u64|\.f32|\.f64) )([A-Za-z_$][\w$]*)`)
	word  = regexp.MustCompile(`[A-Za-z_$][\w$]*`)
)

// cut takes the PTX of clang apart. What is for debuggers is left out.
func cut(code string) map[string]item {
	items := map[string]item{}
	var text []string
	finish := func() {
		joined := strings.Join(text, "\n") + "\n"
		text = nil
		match := named.FindStringSubmatch(joined)
		// Declarations end in a semicolon behind their parameters.
		if match == nil || strings.HasSuffix(strings.TrimSpace(joined), ")\n;") {
			return
		}
		items[match[1]] = item{name: match[1], text: strings.TrimPrefix(joined, ".visible ")}
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
		// Comments would name functions.
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
		for _, other := range word.FindAllString(i.text, -1) {
			if _, ok := items[other]; ok && other != name && !slices.Contains(i.needs, other) {
				i.needs = append(i.needs, other)
			}
		}
		items[name] = i
	}
	return items
}

// Functions returns the functions that what was written so far calls, to stand
// ahead of the kernel.
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
