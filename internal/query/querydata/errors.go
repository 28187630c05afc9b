package querydata

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gpuframe/gpuframe"
)

// ErrDocument is the condition of every error of a document, also of a table that it names and that cannot be opened.
var ErrDocument = errors.New("malformed query document")

// RequirementError is the failure of a run by the verb require: a row does not meet its condition.
type RequirementError struct {
	// Message is the text of the document, or empty.
	Message string
}

// Error returns the message.
func (e *RequirementError) Error() string {
	return cmp.Or(e.Message, "a row does not meet the condition")
}

// Error is an error of a document.
type Error struct {
	// Place is the place in the document: "steps[1].conditions[0].arguments[1]". It is
	// empty for the whole document.
	Place string
	// Reason names the value and the expected one.
	Reason string
	// Step is the place that the step at fault has, the zero Place if it has none.
	Step gpuframe.Place
	// Owner is the verb or the function that has the member at fault, and Member its name. Within
	// is the place in the member, if it is an object or a list.
	Owner, Member, Within string
	// Cause is the error of a table that a step opens, or nil.
	Cause error
}

// Error returns the place and the reason.
func (e *Error) Error() string {
	if e.Place == "" {
		return "querydata: " + e.Reason
	}
	return fmt.Sprintf("querydata: %s: %s", e.Place, e.Reason)
}

// Unwrap returns [ErrDocument] and the cause, if an error has one.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{ErrDocument}
	}
	return []error{ErrDocument, e.Cause}
}

// locate finds the step, the owner and the member of the place in a document.
func (e *Error) locate(data any) {
	rest := e.Place
	for rest != "" {
		name, further := rest, ""
		if end := strings.IndexAny(rest, ".["); end >= 0 {
			name, further = rest[:end], rest[end:]
		}
		object, ok := data.(map[string]any)
		if !ok {
			return
		}
		data = object[name]
		e.enter(object, name, strings.TrimPrefix(further, "."))
		for strings.HasPrefix(further, "[") {
			index, after, _ := strings.Cut(further[1:], "]")
			list, ok := data.([]any)
			i, err := strconv.Atoi(index)
			if !ok || err != nil || i < 0 || i >= len(list) {
				return
			}
			data, further = list[i], after
		}
		rest = strings.TrimPrefix(further, ".")
	}
	if object, ok := data.(map[string]any); ok {
		e.enter(object, "", "")
	}
}

// enter records a member of a verb or function on the way to the place.
func (e *Error) enter(object map[string]any, member, within string) {
	if verb, ok := object["verb"].(string); ok {
		e.Owner, e.Member, e.Within = verb, member, within
		if place, ok := object["place"].(map[string]any); ok {
			e.Step.Verb, _ = place["verb"].(string)
			e.Step.File, _ = place["file"].(string)
			if line, ok := place["line"].(json.Number); ok {
				n, _ := line.Int64() // zero is no line
				e.Step.Line = int(n)
			}
		}
	} else if function, ok := object["function"].(string); ok {
		e.Owner, e.Member, e.Within = function, member, within
	}
}
