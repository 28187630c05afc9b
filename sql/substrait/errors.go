package substrait

import "fmt"

// Error is a part of a plan that cannot be translated.
type Error struct {
	// Path is the place in the plan: relations from the root, such as "root.sort.project.expressions[2]".
	Path string
	// Problem describes the fault.
	Problem string
}

func (e *Error) Error() string { return fmt.Sprintf("substrait: %s: %s", e.Path, e.Problem) }

// failed returns an error at a place.
func failed(path, format string, arguments ...any) error {
	return &Error{path, fmt.Sprintf(format, arguments...)}
}
