package command

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

func TestVersion(t *testing.T) {
	output, err := execute("", "--version")
	require.NoError(t, err)
	require.Regexp(t, `^gpuframe version `+gpuframe.Version+`.*go1\..*/`, output)
	command, err := execute("", "version")
	require.NoError(t, err)
	require.Equal(t, strings.Replace(output, " version ", " ", 1), command)

	tools := ", go1.26, " + runtime.GOOS + "/" + runtime.GOARCH
	changed := []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.modified", Value: "true"}}
	for _, test := range []struct {
		built    string
		settings []debug.BuildSetting
		want     string
	}{
		{gpuframe.Version, nil, gpuframe.Version},
		{"", nil, gpuframe.Version},
		{"(devel)", changed, gpuframe.Version + " (devel), revision abc with changes"},
		{"v0.0.0-20260102030405-abcdefabcdef", changed[:1], gpuframe.Version + " (v0.0.0-20260102030405-abcdefabcdef), revision abc"},
	} {
		build := &debug.BuildInfo{GoVersion: "go1.26", Main: debug.Module{Version: test.built}, Settings: test.settings}
		require.Equal(t, test.want+tools, describeBuild(build))
	}
}

func TestServeNamesItsProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := execute("", "serve", "--listen", ":0")
	require.ErrorContains(t, err, `"gpuframe-serve": executable file not found in $PATH: install it with: go install github.com/gpuframe/gpuframe/flight/cmd/gpuframe-serve@`+gpuframe.Version)
}
