package hive_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/io/hive"
)

func TestFolder(t *testing.T) {
	text := func(value string) *string { return &value }
	for _, each := range []struct {
		key    string
		value  *string
		folder string
	}{
		{"year", text("2024"), "year=2024"},
		{"day", text("2024-01-31"), "day=2024-01-31"},
		{"city", text("São Paulo"), "city=S%C3%A3o%20Paulo"},
		{"city", nil, "city=__HIVE_DEFAULT_PARTITION__"},
		{"city", text(hive.Null), "city=%5F_HIVE_DEFAULT_PARTITION__"},
		{"city", text(""), "city="},
		{"_a", text("_b"), "%5Fa=_b"},
		{"a=b/c", text("../x=%41"), "a%3Db%2Fc=..%2Fx%3D%2541"},
	} {
		require.Equal(t, each.folder, hive.Folder(each.key, each.value))
		keys, values := hive.Folders("root/" + each.folder + "/more")
		require.Equal(t, []string{each.key}, keys)
		require.Equal(t, []*string{each.value}, values)
	}
}

// Every key and value comes back, and its folder is one part of a path and not hidden.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key, value := rapid.StringN(1, -1, -1).Draw(t, "key"), rapid.String().Draw(t, "value")
		folder := hive.Folder(key, &value)
		require.False(t, hive.Hidden(folder))
		require.False(t, strings.ContainsAny(folder, "/\\*?[:\x00"))
		keys, values := hive.Folders(folder)
		require.Equal(t, []string{key}, keys)
		require.Equal(t, value, *values[0])
	})
}

func TestHidden(t *testing.T) {
	for path, want := range map[string]bool{"a/b.parquet": false, "a/_b": true, ".a/b": true, "a=_b/c": false, "": false} {
		require.Equal(t, want, hive.Hidden(path), path)
	}
}
