// Command platforms reports the compile errors of packages and their tests on other
// platforms, without cgo. It checks types from source and compiles nothing, so it takes
// seconds where a build for the platform takes minutes.
//
//	platforms PATTERN,… GOOS/GOARCH…
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: platforms PATTERN,… GOOS/GOARCH…")
		os.Exit(2)
	}
	if err := check(strings.Split(os.Args[1], ","), os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "platforms:", err)
		os.Exit(1)
	}
}

func check(patterns []string, platforms []string) error {
	var faults []error
	for _, platform := range platforms {
		system, processor, ok := strings.Cut(platform, "/")
		if !ok {
			return fmt.Errorf("%q is not GOOS/GOARCH", platform)
		}
		loaded, err := packages.Load(&packages.Config{
			Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
				packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedTypesSizes,
			Tests: true,
			Env:   append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor),
		}, patterns...)
		if err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		n := packages.PrintErrors(loaded)
		fmt.Printf("%s: %d packages and tests, %d errors\n", platform, len(loaded), n)
		if n > 0 {
			faults = append(faults, fmt.Errorf("%s does not compile", platform))
		}
	}
	return errors.Join(faults...)
}
