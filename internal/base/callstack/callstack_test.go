package callstack_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gpuframe/gpuframe/internal/base/callstack"
)

func TestText(t *testing.T) {
	inner := func() callstack.Stack { return callstack.Capture(0, 2) }
	text := inner().Text("  ")
	lines := strings.Split(text, "\n")
	assert.Contains(t, lines[0], "callstack_test.TestText")
	assert.True(t, strings.HasPrefix(lines[0], "  g") && strings.HasPrefix(lines[1], "  \t"), text)
	assert.Len(t, lines, 5, "two frames, and the end")
	assert.Contains(t, callstack.Capture(1, 1).Text(""), "testing.tRunner")
	assert.Empty(t, callstack.Stack(nil).Text(""))
}
