package dlpack

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestErrorsNameOperationAndField(t *testing.T) {
	reason := errors.New("reason")
	assert.NoError(t, during("import", nil))
	assert.EqualError(t, during("import", reason), "dlpack: import: reason")
	err := during("import", faulty("ndim", "%d: %w", 2, reason))
	assert.EqualError(t, err, "dlpack: import: ndim: 2: reason")
	assert.ErrorIs(t, err, reason)
}

func TestFailedCleanupsAreAdded(t *testing.T) {
	first, cleanup := errors.New("first"), errors.New("cleanup")
	assert.NoError(t, also(nil, nil))
	assert.Same(t, first, also(first, nil))
	require.ErrorIs(t, also(nil, cleanup), cleanup)
	both := also(first, cleanup)
	require.ErrorIs(t, both, first)
	require.ErrorIs(t, both, cleanup)

	err := during("export", also(faulty("column", "%w", first), cleanup))
	require.ErrorIs(t, err, first)
	require.ErrorIs(t, err, cleanup)
	var typed *Error
	require.ErrorAs(t, err, &typed)
	assert.Equal(t, "column", typed.Field, "a cleanup does not hide the field")
}
