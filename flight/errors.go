package flight

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/sql/parse"
)

// refused makes the status of a call that the server refuses.
func refused(code codes.Code, format string, values ...any) error {
	return status.Error(code, bounded("flight: "+fmt.Sprintf(format, values...)))
}

// unknownTable is the error for the name of a table that a client does not see.
type unknownTable struct{ text string }

func (e *unknownTable) Error() string { return e.text }

// statusOf returns the status that a client gets for an error, or nil.
func statusOf(err error) error {
	if err == nil {
		return nil
	}
	if known, ok := status.FromError(err); ok {
		return status.Error(known.Code(), textFor(known.Message()))
	}
	code := codes.Internal
	var query *gpuframe.QueryError
	var unknown *unknownTable
	var fault *parse.Error
	switch {
	case errors.As(err, &unknown):
		code = codes.NotFound
	case errors.Is(err, context.DeadlineExceeded):
		code = codes.DeadlineExceeded
	case errors.Is(err, context.Canceled), errors.Is(err, gpuframe.ErrCancelled):
		code = codes.Canceled
	case errors.Is(err, memory.ErrBudget), errors.Is(err, gpuframe.ErrBusy), errors.Is(err, device.ErrOutOfMemory):
		code = codes.ResourceExhausted
	case errors.As(err, &query), errors.As(err, &fault), errors.Is(err, querydata.ErrDocument), errors.Is(err, device.ErrInvalidValue),
		errors.Is(err, device.ErrNotSupported), errors.Is(err, buffer.ErrSchema), errors.Is(err, gpuframe.ErrContents):
		code = codes.InvalidArgument
	case errors.Is(err, gpuframe.ErrClosed):
		code = codes.Unavailable
	}
	return status.Error(code, textFor(err.Error()))
}

// textBytes is the length of the longest error text: a text quotes what the client sent.
const textBytes = 2000

// bounded cuts off the end of a long text.
func bounded(text string) string {
	if len(text) <= textBytes {
		return text
	}
	return strings.ToValidUTF8(text[:textBytes], "") + " …"
}

// folders matches the folders of an absolute path.
var folders = regexp.MustCompile(`(^|[\s"'` + "`" + `(=,\[:])(?:/[^\s"'` + "`" + `(),:;\[\]/]+)*/([^\s"'` + "`" + `(),:;\[\]/]+)`)

// withoutFolders replaces absolute paths by their last elements: clients learn which file of a
// table is damaged, and nothing about the server's folders.
func withoutFolders(text string) string { return folders.ReplaceAllString(text, "$1$2") }

// textFor is the text of an error that a client gets.
func textFor(text string) string { return bounded(withoutFolders(text)) }
