package command

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpuframe/gpuframe"
)

// newVersion makes the command that prints what --version does.
func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "The version of this program, its revision and its tools",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(command.OutOrStdout(), "gpuframe", version())
			return err
		},
	}
}

// version describes this program: the version of the module, the revision and the tools.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return gpuframe.Version + ", " + runtime.Version()
	}
	return describeBuild(info)
}

// describeBuild adds the version that the go command noted, such as (devel), if it is not the version
// of the source.
func describeBuild(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	parts := []string{gpuframe.Version}
	if built := strings.Trim(info.Main.Version, "()"); built != "" && built != gpuframe.Version {
		parts[0] += " (" + built + ")"
	}
	if revision := settings["vcs.revision"]; revision != "" {
		text := "revision " + revision
		if settings["vcs.modified"] == "true" {
			text += " with changes"
		}
		parts = append(parts, text)
	}
	return strings.Join(append(parts, info.GoVersion, fmt.Sprintf("%s/%s", runtime.GOOS, runtime.GOARCH)), ", ")
}
