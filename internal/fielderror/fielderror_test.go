package fielderror_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/fielderror"
)

// fault is an error type as packages declare it.
type fault struct {
	Operation string
	Field     string
	Err       error
}

func (f *fault) Error() string { return fielderror.Fields(*f).Text("test") }
func (f *fault) Unwrap() error { return f.Err }

func TestErrors(t *testing.T) {
	reason, cleanup := errors.New("reason"), errors.New("cleanup")
	err := fielderror.New[fault]("field", "it is %d: %w", 7, reason)
	same := fielderror.During[fault]("import", err)
	require.Same(t, err, same, "the operation is added to the error itself")
	assert.EqualError(t, err, "test: import: field: it is 7: reason")
	require.Same(t, err, fielderror.Also[fault](err, cleanup))
	require.ErrorIs(t, err, reason)
	require.ErrorIs(t, err, cleanup)

	other := fielderror.During[fault]("export", reason)
	assert.EqualError(t, other, "test: export: reason")
	require.ErrorIs(t, other, reason)
	assert.EqualError(t, fielderror.Also[fault](reason, cleanup), "reason\ncleanup")
	require.Equal(t, cleanup, errors.Unwrap(fielderror.During[fault]("export", fielderror.Also[fault](nil, cleanup))).(interface{ Unwrap() []error }).Unwrap()[0])

	require.NoError(t, fielderror.During[fault]("export", nil))
	require.NoError(t, fielderror.Also[fault](nil, nil))
	require.Equal(t, reason, fielderror.Also[fault](reason, nil))
}
