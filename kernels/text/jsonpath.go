package text

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gpuframe/gpuframe/internal/base/lazy"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

const jsonSpace = " \t\r\n"

// jsonStep is a member with a name, or an element with a number.
type jsonStep struct {
	name      string
	isElement bool
	number    int
}

// stepForm is a step of a path: a name, a name in quotes, or a number.
var stepForm = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\.([^."\[\]]+)|\.("(?:[^"\\]|\\.)*")|\[(-?[0-9]{1,9})\])`)
}}

// jsonPath reads a path.
func jsonPath(path string) (steps []jsonStep, err error) {
	rest, isPath := strings.CutPrefix(path, "$")
	if strings.HasPrefix(path, "/") {
		return nil, fmt.Errorf("the path %q is a JSON pointer, expected $.name[0], or $.\"/name\" for a member of such a name: %w", path, expr.ErrLiteral)
	}
	if !isPath {
		return []jsonStep{{name: path}}, nil
	}
	for rest != "" {
		m := stepForm.Get().FindStringSubmatch(rest)
		if m == nil {
			return nil, fmt.Errorf("the path %q at %q, expected .name, .\"name\" or [number]: %w", path, rest, expr.ErrLiteral)
		}
		step := jsonStep{name: m[1]}
		switch {
		case m[2] != "":
			step.name = unquoted(m[2])
		case m[3] != "":
			step.isElement = true
			step.number, _ = strconv.Atoi(m[3]) // at most nine digits
		}
		steps, rest = append(steps, step), rest[len(m[0]):]
	}
	return steps, nil
}

// finder returns the function that returns the value at a path of a text, or false if the text is no JSON or has none.
func finder(path []jsonStep) func(text string) (value string, ok bool) {
	if !slices.ContainsFunc(path, func(s jsonStep) bool { return s.isElement && s.number < 0 }) {
		return func(text string) (string, bool) { return findJSON(text, path) }
	}
	return func(text string) (string, bool) {
		if !isJSON(text) {
			return "", false
		}
		return valueAt(strings.Trim(text, jsonSpace), path)
	}
}

// valueAt returns the value at a path of a valid JSON text. Of members with one name it is the first one.
func valueAt(value string, path []jsonStep) (part string, ok bool) {
	for _, step := range path {
		part, ok = "", false
		switch {
		case step.isElement && value[0] == '[':
			var elements []string
			eachElement(value, func(element string) { elements = append(elements, element) })
			at := step.number
			if at < 0 {
				at += len(elements)
			}
			if ok = at >= 0 && at < len(elements); ok {
				part = elements[at]
			}
		case !step.isElement && value[0] == '{':
			eachMember(value, func(key, text string) bool {
				if ok = key == step.name; ok {
					part = text
				}
				return !ok
			})
		}
		if !ok {
			return "", false
		}
		value = part
	}
	return value, true
}

// eachMember calls visit for the members of a valid object, until it returns false.
func eachMember(object string, visit func(key, value string) bool) {
	rest := trimSpace(object[1:])
	for rest[0] == '"' {
		keyEnd := valueEnd(rest)
		key := unquoted(rest[:keyEnd])
		rest = trimSpace(rest[keyEnd:])
		rest = trimSpace(rest[len(":"):])
		end := valueEnd(rest)
		if !visit(key, rest[:end]) {
			return
		}
		rest = trimSpace(rest[end:])
		rest = trimSpace(strings.TrimPrefix(rest, ","))
	}
}

// eachElement calls visit for the elements of a valid array.
func eachElement(list string, visit func(value string)) {
	rest := trimSpace(list[1:])
	for rest[0] != ']' {
		end := valueEnd(rest)
		visit(rest[:end])
		rest = trimSpace(rest[end:])
		rest = trimSpace(strings.TrimPrefix(rest, ","))
	}
}

// trimSpace leaves out white space at the beginning.
func trimSpace(text string) string { return text[spaceOf(text):] }

// valueEnd returns where the value at the beginning of valid JSON ends.
func valueEnd(text string) int {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
			if !quoted && depth == 0 {
				return i + 1
			}
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth == 0 {
				return i // behind a number or a word
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case depth == 0 && (c == ',' || c == ':' || strings.IndexByte(jsonSpace, c) >= 0):
			return i
		}
	}
	return len(text)
}

// unquoted is the text of a JSON string.
func unquoted(quoted string) (text string) {
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	return withoutEscapes(quoted)
}

// withoutEscapes is the text of a JSON string with escapes. It is a function for itself because its result is in the heap.
func withoutEscapes(quoted string) (text string) {
	_ = json.Unmarshal([]byte(quoted), &text) // it is valid
	return text
}
