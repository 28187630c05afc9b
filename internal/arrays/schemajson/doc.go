// Package schemajson describes Arrow schemas as JSON, for messages between processes.
//
// Types are the format strings of Arrow's C data interface and not a flatbuffer, because a
// malformed flatbuffer makes arrow-go panic and may end the process.
package schemajson

import "errors"

// ErrInvalid means that a type cannot be described, or that a description is of no type.
var ErrInvalid = errors.New("type unknown")
