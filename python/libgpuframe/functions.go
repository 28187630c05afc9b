//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

// #include <stdint.h>
// #include <stdlib.h>
// typedef int32_t (*gpuframe_callback)(uint64_t table, uint64_t *result, char *message, int64_t size);
// static inline int32_t gpuframe_call(void *callback, uint64_t table, uint64_t *result, char *message, int64_t size) {
//	return ((gpuframe_callback)callback)(table, result, message, size);
// }
import "C"

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/nested"
)

// function is a Python function that queries call. Its owner releases its handle.
type function struct{ function gpuframe.UserFunction }

// Close does nothing: the caller owns the callback.
func (*function) Close() error { return nil }

// functionOptions describe a function.
type functionOptions struct {
	Name string `json:"name"`
	Pure bool   `json:"pure"`
	// Columns are the columns of the table that the function returns. One without a name is the result; others are the
	// fields of a struct.
	Columns []struct {
		Name string `json:"name"`
		Type string `json:"type"`
	} `json:"columns"`
}

// errCall is wrapped by the failure of a Python function.
var errCall = errors.New("the Python function failed")

// gpuframe_function makes a function of a callback, which gets a table of its arguments. The callback owns that handle,
// and returns zero and the handle of a table, which it does not keep, or another status and a message. It stays
// valid until the handle of the function is released and all runs with the function have ended.
//
//export gpuframe_function
func gpuframe_function(callback unsafe.Pointer, options *C.char, out *C.uint64_t) *C.char {
	return guarded(func() error {
		var o functionOptions
		if err := decode(options, &o); err != nil {
			return err
		}
		fields := make([]arrow.Field, len(o.Columns))
		for i, c := range o.Columns {
			t, ok := querydata.Type(c.Type)
			if !ok {
				return fmt.Errorf(`%q is no type, expected one such as "int64" or "utf8": %w`, c.Type, errArgument)
			}
			fields[i] = arrow.Field{Name: c.Name, Type: t, Nullable: true}
		}
		s := gpuframe.Signature{Pure: o.Pure, Result: arrow.StructOf(fields...)}
		if len(fields) == 1 && fields[0].Name == "" {
			s.Result = fields[0].Type
		}
		f := gpuframe.ColumnFunc(o.Name, s, func(ctx context.Context, arguments *buffer.Buffer) (*column.Column, error) {
			return called(ctx, callback, arguments, fields)
		})
		*out = C.uint64_t(objects.add(&function{f}))
		return nil
	})
}

// callbacks holds the calls of Python functions. After the end of the interpreter there are none: a thread that
// enters it then would not return.
var callbacks = calls{none: sync.NewCond(new(sync.Mutex))}

// calls counts those that run. A call may run another one, which a [sync.RWMutex] would not let in while its owner
// waits.
type calls struct {
	none    *sync.Cond
	running int
	ended   bool
}

// begin counts a call, unless there are none any more.
func (c *calls) begin() error {
	c.none.L.Lock()
	defer c.none.L.Unlock()
	if c.ended {
		return fmt.Errorf("the interpreter has ended: %w", errCall)
	}
	c.running++
	return nil
}

func (c *calls) end() {
	c.none.L.Lock()
	defer c.none.L.Unlock()
	if c.running--; c.running == 0 {
		c.none.Broadcast()
	}
}

// close refuses further calls, and waits for the end of those that run.
func (c *calls) close() {
	c.none.L.Lock()
	defer c.none.L.Unlock()
	c.ended = true
	for c.running > 0 {
		c.none.Wait()
	}
}

// gpuframe_end_functions waits for the calls that run, and refuses later ones.
//
//export gpuframe_end_functions
func gpuframe_end_functions() *C.char {
	return guarded(func() error {
		callbacks.close()
		return nil
	})
}

// called calls a Python function.
func called(ctx context.Context, callback unsafe.Pointer, arguments *buffer.Buffer, fields []arrow.Field) (*column.Column, error) {
	if err := callbacks.begin(); err != nil {
		return nil, err
	}
	defer callbacks.end()
	if err := arguments.Retain(); err != nil {
		return nil, err
	}
	const size = 4 << 10
	message := (*C.char)(C.calloc(1, size))
	defer C.free(unsafe.Pointer(message))
	var result C.uint64_t
	if C.gpuframe_call(callback, C.uint64_t(objects.add(arguments)), &result, message, size) != 0 {
		return nil, fmt.Errorf("%s: %w", C.GoString(message), errCall)
	}
	table, ok := objects.take(handle(result)).(*buffer.Buffer)
	if !ok {
		return nil, fmt.Errorf("it returned no table: %w", errCall)
	}
	defer table.Release()
	if len(fields) == 1 && fields[0].Name == "" {
		c := table.Column(0)
		return c, c.Retain()
	}
	return packed(ctx, table, arguments, fields)
}

// packed returns the columns of a table as a column of structs.
func packed(ctx context.Context, table, arguments *buffer.Buffer, fields []arrow.Field) (*column.Column, error) {
	list := make([]expr.Expr, len(fields))
	for i, f := range fields {
		c, err := table.ColumnByName(f.Name)
		if err != nil {
			return nil, err
		}
		if !arrow.TypeEqual(c.Type(), f.Type) {
			return nil, fmt.Errorf("column %q of the result is %v, expected %v: %w", f.Name, c.Type(), f.Type, gpuframe.ErrFunctionResult)
		}
		list[i] = expr.Col(f.Name)
	}
	columns, err := expr.Evaluate(ctx, table, []expr.Expr{nested.Struct(list...)}, kernels.Options{Manager: arguments.Manager()})
	if err != nil {
		return nil, err
	}
	return columns[0], nil
}
