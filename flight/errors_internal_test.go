package flight

import (
	"context"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/gpuframe/gpuframe/internal/query/querydata"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/tableformat"
)

// The error of a table that a document names is one of the client, unless it is about resources or time.
func TestStatusOfTables(t *testing.T) {
	for cause, code := range map[error]codes.Code{
		nil: codes.InvalidArgument, fs.ErrNotExist: codes.InvalidArgument, tableformat.ErrFormat: codes.InvalidArgument,
		memory.ErrBudget: codes.ResourceExhausted, context.DeadlineExceeded: codes.DeadlineExceeded,
	} {
		require.Equal(t, code, status.Code(statusOf(&querydata.Error{Place: "steps[0].path", Reason: "cannot be opened", Cause: cause})), cause)
	}
}
