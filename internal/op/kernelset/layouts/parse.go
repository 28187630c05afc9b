package main

import (
	"fmt"
	"regexp"
	"strings"
)

const mark = "//go:layout"

// declaration is a marked declaration of C.
type declaration struct {
	// kind is enum, struct or static, name that of C and goName that of the Go type.
	kind, file, name, goName string
	// any is set if pointers are any memory, words if the method addTo is written instead of asArgument.
	any, words bool
	comment    []string
	// integer is the type of an enum or of constants.
	integer string
	members []member
}

// member is a constant, or a member of a struct.
type member struct {
	name    string
	comment []string
	// trailing is the comment behind it.
	trailing string
	// value is that of a constant, which may be empty.
	value string
	// dataType, pointer and length describe a member of a struct. length is empty unless it is an array.
	dataType, length string
	pointer          bool
}

var (
	enumLine   = regexp.MustCompile(`^enum (\w+) : (\w+) \{(.*)$`)
	structLine = regexp.MustCompile(`^struct (\w+) \{$`)
	staticLine = regexp.MustCompile(`^static constexpr (\w+) (.*);(?:\s*//\s*(.*))?$`)
	methodLine = regexp.MustCompile(`^(template <.*> )?(METHOD|(inline )?__device__) `)
	memberLine = regexp.MustCompile(`^(?:const )?(\w+) (.*);(?:\s*//\s*(.*))?$`)
	memberName = regexp.MustCompile(`^(\**)(\w+)(?:\[(\w+)\])?$`)
)

// marked returns the marked declarations of a source.
func marked(text string) (list []declaration, err error) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		goName, ok := strings.CutPrefix(line, mark)
		if !ok {
			continue
		}
		d := declaration{}
		if err := d.mark(strings.Fields(goName)); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		for begin := i - 1; begin >= 0 && strings.HasPrefix(lines[begin], "//"); begin-- {
			d.comment = append([]string{commentOf(lines[begin])}, d.comment...)
		}
		if i+1 == len(lines) {
			return nil, fmt.Errorf("line %d: no declaration follows", i+1)
		}
		if err := d.parse(lines[i+1:]); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err)
		}
		list = append(list, d)
	}
	return list, nil
}

// mark reads the words of a mark.
func (d *declaration) mark(words []string) error {
	for i, word := range words {
		switch {
		case i == 0:
			d.goName = word
		case word == "any":
			d.any = true
		case word == "words":
			d.words = true
		default:
			return fmt.Errorf("%s %s has the word %q, expected any or words", mark, d.goName, word)
		}
	}
	return nil
}

// commentOf returns the text of a line that is a comment.
func commentOf(line string) string {
	return strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line), "//"), " ")
}

// parse reads the declaration that begins with the first of some lines.
func (d *declaration) parse(lines []string) error {
	if m := enumLine.FindStringSubmatch(lines[0]); m != nil {
		d.kind, d.name, d.integer = "enum", m[1], m[2]
		return d.enum(append([]string{m[3]}, lines[1:]...))
	}
	if m := structLine.FindStringSubmatch(lines[0]); m != nil {
		d.kind, d.name = "struct", m[1]
		return d.structure(lines[1:])
	}
	if m := staticLine.FindStringSubmatch(lines[0]); m != nil {
		d.kind, d.integer = "static", m[1]
		return d.constants(m[2], m[3])
	}
	return fmt.Errorf("%q is no enum with a type, no struct and no static constexpr: %s cannot describe it", lines[0], mark)
}

// enum reads the constants up to the closing brace.
func (d *declaration) enum(lines []string) error {
	var comment []string
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "//") {
			comment = append(comment, commentOf(line))
			continue
		}
		line, trailing, _ := strings.Cut(line, "//")
		line, _, last := strings.Cut(line, "}")
		first := len(d.members)
		if err := d.constants(line, ""); err != nil {
			return err
		}
		if len(d.members) > first {
			d.members[first].comment, comment = comment, nil
			d.members[len(d.members)-1].trailing = strings.TrimSpace(trailing)
		}
		if last {
			return nil
		}
	}
	return fmt.Errorf("enum %s does not end", d.name)
}

// constants reads a list of names with values, which may be empty.
func (d *declaration) constants(list, trailing string) error {
	first := len(d.members)
	for _, item := range strings.Split(list, ",") {
		name, value, _ := strings.Cut(item, "=")
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if !regexp.MustCompile(`^\w+$`).MatchString(name) {
			return fmt.Errorf("%q is no name of a constant", name)
		}
		d.members = append(d.members, member{name: name, value: strings.TrimSpace(value)})
	}
	if n := len(d.members); n > first {
		d.members[n-1].trailing = trailing
	}
	return nil
}

// structure reads the members up to the closing brace at the begin of a line.
func (d *declaration) structure(lines []string) error {
	var comment []string
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		switch {
		case strings.HasPrefix(lines[i], "};"):
			return nil
		case line == "":
			comment = nil
		case strings.HasPrefix(line, "//"):
			comment = append(comment, commentOf(line))
		case strings.HasPrefix(line, "static "):
			comment = nil
		case methodLine.MatchString(line):
			comment = nil
			for !strings.HasSuffix(line, ";") && !strings.HasSuffix(line, "}") && i+1 < len(lines) && lines[i] != "    }" {
				i++
			}
		default:
			m := memberLine.FindStringSubmatch(line)
			if m == nil {
				return fmt.Errorf("struct %s: %q is no member that %s describes: numbers, structs, pointers and arrays", d.name, line, mark)
			}
			if err := d.fields(m[1], m[2], comment, m[3]); err != nil {
				return err
			}
			comment = nil
		}
	}
	return fmt.Errorf("struct %s does not end", d.name)
}

// fields reads the members of one line.
func (d *declaration) fields(dataType, list string, comment []string, trailing string) error {
	for i, item := range strings.Split(list, ",") {
		m := memberName.FindStringSubmatch(strings.TrimSpace(item))
		if m == nil || len(m[1]) > 1 {
			return fmt.Errorf("struct %s: %q is no member that %s describes", d.name, item, mark)
		}
		f := member{name: m[2], dataType: dataType, pointer: m[1] != "", length: m[3]}
		if i == 0 {
			f.comment = comment
		}
		d.members = append(d.members, f)
	}
	d.members[len(d.members)-1].trailing = trailing
	return nil
}
