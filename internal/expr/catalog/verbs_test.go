package catalog

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVerbNamed(t *testing.T) {
	for _, test := range []struct {
		name, next, want string
		twoWords         bool
	}{
		{"limit", "10", "head", false},
		{"order", "by", "sort", true},
		{"order", "price", "order", false},
		{"group", "by", "group", true},
		{"group", "origin", "group", false},
		{"where", "delay", "filter", false},
		{"explode", "by", "explode", false},
		{"", "", "", false},
	} {
		verb, twoWords := VerbNamed(test.name, test.next)
		assert.Equal(t, test.want, verb, test.name)
		assert.Equal(t, test.twoWords, twoWords, test.name)
	}
}

// TestMeanings are in lower case, are no names of functions, and mean one.
func TestMeanings(t *testing.T) {
	known := slices.Collect(maps.Keys(load().named))
	known = append(known, "agg", "as_of", "distinct", "drop_nulls", "except", "explode", "filter", "group", "head", "join", "resample", "select", "slice", "sort", "union", "unpivot", "with")
	for name, meaning := range meanings {
		assert.Equal(t, strings.ToLower(name), name)
		assert.Empty(t, load().named[name], "%s is the name of a function", name)
		assert.Contains(t, known, meaning, "the meaning of %s", name)
	}
	require.Equal(t, "mean", Meaning("AVERAGE", known))
	require.Empty(t, Meaning("average", []string{"median"}), "the meaning is not one of the names")
	require.Empty(t, Meaning("", []string{""}), "no name")
	require.Empty(t, Meaning("mean", known))
}
