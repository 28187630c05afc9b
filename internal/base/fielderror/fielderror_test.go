package fielderror_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/base/fielderror"
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
	named := fielderror.During[fault]("import", err)
	assert.EqualError(t, named, "test: import: field: it is 7: reason")
	both := fielderror.Also[fault](named, cleanup)
	assert.EqualError(t, both, "test: import: field: it is 7: reason\ncleanup")
	for _, e := range []error{err, named, both} {
		require.ErrorIs(t, e, reason)
	}
	require.ErrorIs(t, both, cleanup)
	assert.Empty(t, err.(*fault).Operation, "the error itself stays as it is")
	require.NotErrorIs(t, named, cleanup)

	other := fielderror.During[fault]("export", reason)
	assert.EqualError(t, other, "test: export: reason")
	require.ErrorIs(t, other, reason)
	assert.EqualError(t, fielderror.Also[fault](reason, cleanup), "reason\ncleanup")
	require.Equal(t, cleanup, errors.Unwrap(fielderror.During[fault]("export", fielderror.Also[fault](nil, cleanup))).(interface{ Unwrap() []error }).Unwrap()[0])

	require.NoError(t, fielderror.During[fault]("export", nil))
	require.NoError(t, fielderror.Also[fault](nil, nil))
	require.Equal(t, reason, fielderror.Also[fault](reason, nil))
}
