package names_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gpuframe/gpuframe/internal/base/names"
)

func TestUnknown(t *testing.T) {
	assert.Equal(t, `no column is called "x": there are none`, names.Unknown("column", "x", nil))
	assert.Equal(t, `no column is called "x": there is only "y"`, names.Unknown("column", "x", []string{"y", "y"}))
	assert.Equal(t, `no column is called "dely": there are "delay", "day", "origin"`, names.Unknown("column", "dely", []string{"origin", "day", "delay"}))
	many := make([]string, 20)
	for i := range many {
		many[i] = fmt.Sprint("column ", i)
	}
	text := names.Unknown("column", "column 17", many)
	assert.True(t, strings.HasPrefix(text, `no column is called "column 17": there are "column 17", `), text)
	assert.True(t, strings.HasSuffix(text, " and 12 others"), text)
	assert.True(t, strings.HasSuffix(names.Unknown("column", "x", many[:9]), " and 1 other"))
}

func TestClosest(t *testing.T) {
	for name, want := range map[string]string{
		"dely": "delay", "DELAY": "delay", "dealy": "delay", "orgin": "origin", "distnace": "distance",
		"origin_": "origin", "": "id", "größe": "Größe", "distance": "distance",
	} {
		assert.Equal(t, want, names.Closest(name, []string{"distance", "origin", "delay", "id", "Größe"})[0], name)
	}
	assert.Equal(t, []string{"b", "a"}, names.Closest("xyz", []string{"b", "a", "b"}), "equally close ones keep their order")
	assert.NotEmpty(t, names.Closest(strings.Repeat("x", 1<<20), []string{strings.Repeat("y", 1<<20)}))
}
