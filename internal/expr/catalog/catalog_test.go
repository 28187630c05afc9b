package catalog

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNamesAreUnique has one function for each name and number of arguments.
func TestNamesAreUnique(t *testing.T) {
	for name, list := range load().named {
		for i, f := range list {
			assert.Equal(t, i == 0 && f.Name == name, f.Name == name, "%s has two functions", name)
			for _, other := range list[:i] {
				least, most := f.Arguments()
				otherLeast, otherMost := other.Arguments()
				assert.False(t, least <= otherMost && otherLeast <= most, "%s is %s and %s", name, f.Name, other.Name)
			}
		}
	}
}

// TestEntries has the rules of entries.
func TestEntries(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	for _, f := range All() {
		assert.Regexp(t, name, f.Name)
		assert.NotEmpty(t, f.Operands, f.Name)
		assert.NotEmpty(t, f.Result, f.Name)
		for i, p := range f.Parameters {
			assert.False(t, p.Type.Many() && i+1 < len(f.Parameters), "%s: parameter %s of any number is not the last one", f.Name, p.Name)
			assert.False(t, i > 0 && f.Parameters[i-1].Optional && !p.Optional, "%s: parameter %s is behind an optional one", f.Name, p.Name)
		}
		if f.Call == ByHand {
			assert.Equal(t, Form, f.Kind, "%s: only forms are written by hand", f.Name)
			assert.Empty(t, f.Doc, "%s is written by hand, its comment too", f.Name)
		} else {
			assert.True(t, strings.HasPrefix(f.Doc, f.Go+" ") && strings.HasSuffix(f.Doc, "."), "%s: %s", f.Name, f.Doc)
		}
		assert.Equal(t, strings.HasSuffix(f.Python, ")"), f.PythonDoc != "", "%s: a method of Python that is not written by hand has a docstring, no other", f.Name)
		if f.Example != "" {
			assert.Contains(t, f.Example, "(", f.Name)
		}
	}
}

func TestLookup(t *testing.T) {
	for call, want := range map[string]struct {
		arguments int
		name      string
	}{
		"count":       {0, "count_rows"},
		"count_rows":  {0, "count_rows"},
		"round":       {2, "round_digits"},
		"starts_with": {2, "has_prefix"},
		"avg":         {1, "mean"},
		"coalesce":    {7, "coalesce"},
		"sqrt":        {3, "sqrt"},
	} {
		f, ok := Lookup(call, want.arguments)
		require.True(t, ok, call)
		assert.Equal(t, want.name, f.Name, call)
	}
	f, ok := Lookup("count", 1)
	require.True(t, ok)
	assert.Equal(t, "count", f.Name)
	_, ok = Lookup("cosinus", 1)
	assert.False(t, ok)
	least, most := Named("like")[0].Arguments()
	assert.Equal(t, [2]int{2, 3}, [2]int{least, most})
	least, most = Named("in")[0].OperandCounts()
	assert.Equal(t, [2]int{1, Many}, [2]int{least, most})
	assert.Equal(t, "count_rows", OfAggregation("count").Name)
	assert.Equal(t, Aggregated, OfDocument("count").Kind)
	assert.Empty(t, OfDocument("avg").Name, "an alias is no name of documents")
	assert.True(t, OfDocument("over").ReadsOtherRows())
	assert.False(t, OfDocument("sequence").ReadsOtherRows())
	assert.Equal(t, TieOrder, OfAggregation("arg_min").Order)
	assert.Empty(t, OfAggregation("nothing").Name)
}
