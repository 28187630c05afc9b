package objecttest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
)

func TestMemory(t *testing.T) {
	var store objecttest.Memory
	objecttest.Conforms(t, &store, "mem://bucket/folder/")
	require.Zero(t, store.Pending())
}
