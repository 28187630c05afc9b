package plan

import "strings"

// Computed returns the name of a column that the plan computes for an expression above it:
// an aggregate or a window. No column of a source has such a name.
func Computed(text string) string { return computedPrefix + text }

const computedPrefix = "\x00"

// IsComputed reports whether a name is one of [Computed].
func IsComputed(name string) bool { return strings.HasPrefix(name, computedPrefix) }

// Readable removes the marks of [Computed] from a text.
func Readable(text string) string { return marks.Replace(text) }

var marks = strings.NewReplacer(computedPrefix, "", `\x00`, "")

// ReadableError returns an error without marks of [Computed] in its text.
func ReadableError(err error) error { return readable{err} }

type readable struct{ error }

// Error returns the text.
func (r readable) Error() string { return Readable(r.error.Error()) }

// Unwrap returns the error.
func (r readable) Unwrap() error { return r.error }
