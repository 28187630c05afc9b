//go:build linux && cgo && (amd64 || arm64)

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	require.NoError(t, run(1))
	require.ErrorContains(t, run(0), "-rounds 0")
}
