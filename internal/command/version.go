package command

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// version describes this program: the version of the module, the revision and the tools.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "of an unknown version, " + runtime.Version()
	}
	return describeBuild(info)
}

func describeBuild(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	parts := []string{strings.Trim(info.Main.Version, "()")}
	if revision := settings["vcs.revision"]; revision != "" {
		text := "revision " + revision
		if settings["vcs.modified"] == "true" {
			text += " with changes"
		}
		parts = append(parts, text)
	}
	return strings.Join(append(parts, info.GoVersion, fmt.Sprintf("%s/%s", runtime.GOOS, runtime.GOARCH)), ", ")
}
