package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) {
	beam.Init()
	os.Exit(m.Run())
}

func TestRun(t *testing.T) {
	t.Chdir("../..")
	var printed bytes.Buffer
	require.NoError(t, run(t.Context(), &printed, "", "host"))
	require.Contains(t, printed.String(), "shape: (5, 3)")
	require.Contains(t, printed.String(), " 0 in use")
}
