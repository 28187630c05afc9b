package adbc

import (
	"context"
	"errors"

	"github.com/apache/arrow-adbc/go/adbc"

	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/sql/parse"
)

// statusError is an error of ADBC that keeps its cause.
type statusError struct {
	status adbc.Error
	cause  error
}

// Unwrap returns the error of ADBC and the cause, for errors.As.
func (e *statusError) Unwrap() []error {
	if e.cause == nil {
		return []error{e.status}
	}
	return []error{e.status, e.cause}
}

// Error implements error.
func (e *statusError) Error() string { return e.status.Error() }

func failure(operation string, status adbc.Status, cause error) error {
	return &statusError{adbc.Error{Msg: "gpuframe: " + operation + ": " + cause.Error(), Code: status}, cause}
}

// undefinedTable is the SQLSTATE of a table that is not there.
var undefinedTable = [5]byte{'4', '2', 'S', '0', '2'}

// failed returns the error of ADBC for one of a statement.
func failed(operation string, err error) error {
	if err == nil {
		return nil
	}
	status := adbc.StatusInternal
	var fault *parse.Error
	switch {
	case errors.Is(err, context.Canceled):
		status = adbc.StatusCancelled
	case errors.Is(err, context.DeadlineExceeded):
		status = adbc.StatusTimeout
	case errors.As(err, &fault):
		status = adbc.StatusInvalidArgument
	case errors.Is(err, memory.ErrBudget):
		status = adbc.StatusIO
	}
	return &statusError{adbc.Error{Msg: err.Error(), Code: status}, err}
}
