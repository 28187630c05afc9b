//go:build cgo && !(386 || arm || mips || mipsle)

package main

// #include <stdlib.h>
import "C"

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"runtime/debug"
	"strings"
	"syscall"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/share"
)

// failure is an error as Python gets it.
type failure struct {
	// Kind chooses the exception.
	Kind string `json:"kind"`
	Text string `json:"text"`
	// Details are where a fault of the library happened.
	Details string `json:"details,omitempty"`
	// The figures of a budget that did not suffice, in bytes.
	Asked  uint64 `json:"asked,omitempty"`
	InUse  uint64 `json:"in_use,omitempty"`
	Budget uint64 `json:"budget,omitempty"`
}

// kinds are the exceptions of Go's conditions, the most telling first.
var kinds = []struct {
	condition error
	kind      string
}{
	{errNoColumn, "key"},
	{errArgument, "value"},
	{errType, "type"},
	{memory.ErrBudget, "budget"},
	{device.ErrOutOfMemory, "memory"},
	{memory.ErrReleased, "released"},
	{share.ErrNotFound, "key"},
	{share.ErrExists, "value"},
	{share.ErrName, "value"},
	{share.ErrInUse, "in use"},
	{share.ErrNotPermitted, "permission"},
	{share.ErrDisconnected, "connection"},
	{share.ErrProtocol, "connection"},
	{share.ErrDevice, "value"},
	{share.ErrType, "unsupported"},
	{fs.ErrPermission, "permission"},
	{syscall.ECONNREFUSED, "connection"},
	{dlpack.ErrNulls, "buffer"},
	{dlpack.ErrNoValidity, "buffer"},
	{dlpack.ErrUnsupported, "buffer"},
	{dlpack.ErrVersion, "buffer"},
	{dlpack.ErrInvalid, "buffer"},
	{dlpack.ErrDevice, "buffer"},
	{memory.ErrReadOnly, "buffer"},
	{arrowdev.ErrUnsupported, "unsupported"},
	{arrowdev.ErrInvalid, "invalid"},
	{arrowdev.ErrDevice, "invalid"},
	{arrowdev.ErrMoved, "invalid"},
	{fs.ErrNotExist, "file"},
	{errFile, "io"},
	{errContents, "invalid"},
	{errUnread, "unsupported"},
	{device.ErrNotAvailable, "not available"},
	{device.ErrNoDevice, "not available"},
	{device.ErrDeviceLost, "device"},
	{buffer.ErrRows, "index"},
	{memory.ErrRange, "index"},
	{buffer.ErrSchema, "value"},
	{column.ErrInvalid, "invalid"},
	{device.ErrClosed, "released"},
	{device.ErrInvalidValue, "value"},
}

// The conditions that only this library has.
var (
	errNoColumn = errors.New("no such column")
	errArgument = errors.New("bad argument")
	errType     = errors.New("wrong type")
	errFile     = errors.New("the file cannot be opened")
	errUnread   = errors.New("not supported by the reader")
)

// unexplained is the kind of an error that none of kinds is for.
const unexplained = "error"

// noColumn is the error about a name that a schema lacks.
func noColumn(name string, schema *arrow.Schema) error {
	var names []string
	for _, field := range schema.Fields() {
		names = append(names, field.Name)
	}
	return noColumnOf(name, names)
}

func noColumnOf(name string, names []string) error {
	const most = 20
	if len(names) > most {
		names = append(names[:most:most], "…")
	}
	return fmt.Errorf("no column is called %q; there are %s: %w", name, strings.Join(names, ", "), errNoColumn)
}

// goNames are what the packages below begin their messages with: names of Go
// packages, which Python programs do not know.
var goNames = regexp.MustCompile(`(^|: )(?:(?:arrowdev|buffer|column|device|dlpack|expr|kernels|memory|reduce|selection|share): )+`)

// pythonTerms are the remedies that messages name, as they are called in Python.
var pythonTerms = strings.NewReplacer(
	dlpack.ErrNulls.Error(), "the column has nulls, which DLPack lacks: hand over values() and is_valid(), or use Arrow",
	"with Manager.SetBudget", "with set_budget()",
	"or use ImportMatrix for columns that each lie contiguously", "or hand over one column at a time",
	"use Import for other tensors", "hand over one column at a time",
	"use Import, which makes lists of the rows", "hand over one column at a time",
)

// plainText returns an error's text without what stands for conditions in Go alone,
// and with Python's names.
func plainText(err error) string {
	text := pythonTerms.Replace(goNames.ReplaceAllString(err.Error(), "$1"))
	for _, each := range []error{errNoColumn, errArgument, errType, errContents, errUnread, errFile} {
		text = strings.TrimSuffix(text, ": "+each.Error())
	}
	return text
}

func describe(err error) failure {
	f := failure{Kind: unexplained, Text: plainText(err)}
	for _, each := range kinds {
		if errors.Is(err, each.condition) {
			f.Kind = each.kind
			break
		}
	}
	var budget *memory.BudgetError
	if errors.As(err, &budget) {
		f.Asked, f.InUse, f.Budget = budget.Asked, budget.InUse, budget.Budget
	}
	return f
}

// guarded runs a call of C's and returns its error as JSON in C memory, or nil. A
// panic becomes an error: it must not reach C.
func guarded(call func() error) (text *C.char) {
	defer func() {
		if reason := recover(); reason != nil {
			text = encoded(failure{Kind: "internal", Text: fmt.Sprintf("a fault of gpuframe: %v; please report it with the exception's details", reason), Details: string(debug.Stack())})
		}
	}()
	if err := call(); err != nil {
		return encoded(describe(err))
	}
	return nil
}

// encoded returns a value as JSON in C memory.
func encoded(value any) *C.char {
	text, err := json.Marshal(value)
	if err != nil {
		text = []byte(`{"kind": "error", "text": "the library could not encode its answer"}`)
	}
	return C.CString(string(text))
}

// decode reads an argument that is JSON; nothing for NULL.
func decode(text *C.char, value any) error {
	if text == nil {
		return nil
	}
	if err := json.Unmarshal([]byte(C.GoString(text)), value); err != nil {
		return fmt.Errorf("%w: %w", errArgument, err)
	}
	return nil
}

// gpuframe_free frees what a call returned: an error, or a result's JSON.
//
//export gpuframe_free
func gpuframe_free(text *C.char) { C.free(unsafe.Pointer(text)) }
