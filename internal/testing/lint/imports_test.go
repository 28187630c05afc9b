package lint

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../../.."

func TestImportsPointDownwards(t *testing.T) {
	files, err := Files(root)
	require.NoError(t, err)
	require.Greater(t, len(files), 500, "the walk finds the module")
	for _, fault := range CheckImports(files) {
		t.Error(fault)
	}
}

func TestEveryLevelHasPackages(t *testing.T) {
	files, err := Files(root)
	require.NoError(t, err)
	for _, level := range Levels {
		for _, folder := range level.Folders {
			found := false
			for _, file := range files {
				found = found || within(file.Folder, []string{folder})
			}
			assert.True(t, found, "level %q lists %s, which has no Go file", level.Name, folder)
		}
	}
}

func TestUpwardImportsAreFound(t *testing.T) {
	tests := []struct {
		name string
		file File
		want string
	}{
		{"upwards", File{Path: "memory/x.go", Folder: "memory", Imports: []string{"column"}}, "downwards"},
		{"beside", File{Path: "memory/adaptor/x.go", Folder: "memory/adaptor", Imports: []string{"memory"}}, ""},
		{"by a test", File{Path: "memory/x_test.go", Folder: "memory", Imports: []string{"column"}, Test: true}, ""},
		{"without a level", File{Path: "new/x.go", Folder: "new"}, "no level"},
		{"test support", File{Path: "python/x.go", Folder: "internal/testing/lint", Imports: []string{"device/backend/backendtest"}}, "downwards"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			faults := CheckImports([]File{test.file})
			if test.want == "" {
				assert.Empty(t, faults)
				return
			}
			require.Len(t, faults, 1)
			assert.Contains(t, faults[0], test.want)
		})
	}
}
