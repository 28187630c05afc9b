//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #include <stdlib.h>
import "C"

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/dlpack"
	"github.com/gpuframe/gpuframe/internal/io/sink"
	sources "github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
	"github.com/gpuframe/gpuframe/internal/text/apiterms"
	"github.com/gpuframe/gpuframe/learn"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/objectstore"
	"github.com/gpuframe/gpuframe/share"
)

// failure is an error for Python.
type failure struct {
	// Kind selects the exception.
	Kind string `json:"kind"`
	Text string `json:"text"`
	// Details describe the place of an internal fault of the library.
	Details string `json:"details,omitempty"`
	// The numbers of an exceeded budget, in bytes.
	Asked  uint64 `json:"asked,omitempty"`
	InUse  uint64 `json:"in_use,omitempty"`
	Budget uint64 `json:"budget,omitempty"`
	// Problems are those of a query.
	Problems []problem `json:"problems,omitempty"`
}

// problem is one thing that is wrong with a query.
type problem struct {
	Kind string `json:"kind"`
	Verb string `json:"verb"`
	File string `json:"file"`
	Line int    `json:"line"`
	Text string `json:"text"`
}

// fault is a panic of the library.
type fault struct {
	reason any
	stack  string
}

func (f *fault) Error() string {
	return fmt.Sprintf("a fault of gpuframe: %v; please report it with the exception's details", f.reason)
}

// kinds maps Go's conditions to exceptions, the most specific first.
var kinds = []struct {
	condition error
	kind      string
}{
	{errNoColumn, "key"},
	{errArgument, "value"},
	{learn.ErrOption, "value"},
	{learn.ErrType, "type"},
	{learn.ErrNoRows, "invalid"},
	{learn.ErrNotFinite, "invalid"},
	{learn.ErrUnknown, "invalid"},
	{errCall, "call"},
	{gpuframe.ErrFunctionResult, "call"},
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
	{sources.ErrUsed, "value"},
	{sources.ErrArgument, "value"},
	{sink.ErrArgument, "value"},
	{sources.ErrUnsupported, "unsupported"},
	{sink.ErrUnsupported, "unsupported"},
	{arrowdev.ErrUnsupported, "unsupported"},
	{arrowdev.ErrInvalid, "invalid"},
	{arrowdev.ErrDevice, "invalid"},
	{arrowdev.ErrMoved, "invalid"},
	{fs.ErrNotExist, "file"},
	{fs.ErrExist, "io"},
	{errFile, "io"},
	{objectstore.ErrScheme, "value"},
	{objectstore.ErrCredentials, "io"},
	{objectstore.ErrChanged, "io"},
	{objectstore.ErrThrottled, "io"},
	{objectstore.ErrUnavailable, "io"},
	{objectstore.ErrTruncated, "io"},
	{objectstore.ErrResponse, "io"},
	{errContents, "invalid"},
	{sources.ErrContents, "invalid"},
	{sources.ErrRead, "io"},
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
	{querydata.ErrDocument, "value"}, // after the causes of errors of tables
}

// The conditions that only this library has.
var (
	errNoColumn = errors.New("no such column")
	errArgument = errors.New("bad argument")
	errType     = errors.New("wrong type")
	errFile     = errors.New("the file cannot be opened")
	errUnread   = errors.New("not supported by the reader")
)

// unexplained is the kind of errors without a condition in kinds.
const unexplained = "error"

// noColumn returns the error about a name that a schema lacks.
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
	return fmt.Errorf("no column %q; the columns are %s: %w", name, strings.Join(names, ", "), errNoColumn)
}

// columnWithNulls is dlpack.ErrNulls for Python.
const columnWithNulls = "the column has nulls, which DLPack lacks: hand over values() and is_valid(), or use Arrow"

// plainText returns an error's text with Python's names and without the texts of Go's
// conditions.
func plainText(err error) string {
	text := apiterms.Text(apiterms.Python, strings.ReplaceAll(err.Error(), dlpack.ErrNulls.Error(), columnWithNulls))
	for _, each := range []error{errNoColumn, errArgument, errType, errContents, errUnread, errFile, errCall} {
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
	var requirement *querydata.RequirementError
	if errors.As(err, &requirement) {
		f.Kind = "invalid"
	}
	var broken *fault
	if errors.As(err, &broken) {
		f.Kind, f.Details = "internal", broken.stack
	}
	var query *gpuframe.QueryError
	if errors.As(err, &query) {
		f.Kind, f.Problems = describeQuery(query)
	}
	var budget *memory.BudgetError
	if errors.As(err, &budget) {
		f.Asked, f.InUse, f.Budget = budget.Asked, budget.InUse, budget.Budget
	}
	var needs *gpuframe.NeedsError
	if errors.As(err, &needs) {
		f.Asked, f.Budget = needs.Needed, needs.Budget
	}
	return f
}

// describeQuery returns the kind of the error of a query, and its problems. It is the kind
// of the problems if all are about files.
func describeQuery(err *gpuframe.QueryError) (kind string, problems []problem) {
	for i, p := range err.Problems {
		cause := describe(p.Err)
		problems = append(problems, problem{cause.Kind, p.Verb, p.File, p.Line, cause.Text})
		if i == 0 && slices.Contains([]string{"file", "permission", "io", "invalid"}, cause.Kind) || cause.Kind == kind {
			kind = cause.Kind
		} else {
			kind = "query"
		}
	}
	return kind, problems
}

// recovered runs a call and returns its error. A panic becomes an error.
func recovered(call func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = &fault{reason, string(debug.Stack())}
		}
	}()
	return call()
}

// guarded runs a call from C and returns its error as JSON in C memory, or nil. A panic
// becomes an error, because it must not reach C.
func guarded(call func() error) (text *C.char) {
	defer func() {
		if reason := recover(); reason != nil {
			text = encoded(describe(&fault{reason, string(debug.Stack())}))
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

// decode reads a JSON argument. NULL leaves value unchanged.
func decode(text *C.char, value any) error {
	if text == nil {
		return nil
	}
	err := json.Unmarshal([]byte(C.GoString(text)), value)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		expected := map[reflect.Kind]string{reflect.String: "a text", reflect.Int: "an integer", reflect.Bool: "a bool"}[wrong.Type.Kind()]
		return fmt.Errorf("%s is a value of JSON's type %s, expected %s: %w", wrong.Field, wrong.Value, cmp.Or(expected, "another type"), errArgument)
	case err != nil:
		return fmt.Errorf("%w: %w", errArgument, err)
	}
	return nil
}

// gpuframe_free frees an error or a result that a call returned.
//
//export gpuframe_free
func gpuframe_free(text *C.char) { C.free(unsafe.Pointer(text)) }
