package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func Example() {
	main()
	// Output:
	// shape: (2, 3)
	// ┌────────┬─────────┬─────────┐
	// │ origin ┆    mean ┆ flights │
	// │ utf8   ┆ float64 ┆   int64 │
	// ╞════════╪═════════╪═════════╡
	// │ OSL    ┆    22.5 ┆       2 │
	// │ BRN    ┆    30.0 ┆       1 │
	// └────────┴─────────┴─────────┘
}

// TestTheProgramIsTheReadmes compares the blocks of Go and of its output in README.md with
// this program.
func TestTheProgramIsTheReadmes(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	program, err := os.ReadFile("main.go")
	require.NoError(t, err)
	_, code, found := strings.Cut(string(program), "package main\n")
	require.True(t, found)
	blocks := strings.Count(string(readme), "```go\n")
	assert.Equal(t, 1, blocks, "blocks of Go in README.md")
	assert.Contains(t, string(readme), "```go\npackage main\n"+code+"```\n")
}
