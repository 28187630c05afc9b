// Command modules keeps the modules of this repository in step. Nested modules require the
// others at the version of version.go and replace nothing, so that strangers can install them.
// The go.work of a nested module takes the others from this tree; only development reads it.
//
//	modules sync [-check]          write required versions and go.work files; or report differences
//	modules tidy [-diff] FOLDER…   go mod tidy, with the other modules from this tree
//	modules set VERSION            write version.go, the versions of the Python package and the chart, and sync
//	modules proxy FOLDER           write a module proxy of the tree: GOPROXY=file://FOLDER,…
//	modules list                   print the folders, paths and versions of the modules
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	flag.Usage = func() { fmt.Fprintln(os.Stderr, usage) }
	flag.Parse()
	if err := run(flag.Args(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "modules:", err)
		os.Exit(1)
	}
}

const usage = "usage: modules sync [-check] | tidy [-diff] FOLDER… | set VERSION | proxy FOLDER | list"

func run(arguments []string, out io.Writer) error {
	if len(arguments) == 0 {
		return errors.New(usage)
	}
	command, arguments := arguments[0], arguments[1:]
	flags := flag.NewFlagSet(command, flag.ContinueOnError)
	check := flags.Bool("check", false, "report differences and write nothing")
	diff := flags.Bool("diff", false, "print differences and write nothing")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	root, err := repository()
	if err != nil {
		return err
	}
	tree, err := readTree(root)
	if err != nil {
		return err
	}
	switch arguments = flags.Args(); {
	case command == "sync" && len(arguments) == 0:
		return tree.sync(*check)
	case command == "tidy" && len(arguments) > 0:
		for _, folder := range arguments {
			if err := tree.tidy(folder, *diff); err != nil {
				return err
			}
		}
		return nil
	case command == "set" && len(arguments) == 1:
		return tree.set(arguments[0])
	case command == "proxy" && len(arguments) == 1:
		return tree.writeProxy(arguments[0])
	case command == "list" && len(arguments) == 0:
		for _, m := range tree.modules {
			fmt.Fprintln(out, m.folder, m.path(), tree.version)
		}
		return nil
	}
	return errors.New(usage)
}

// repository returns the root of the repository that contains the current folder.
func repository() (string, error) {
	out, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return "", fmt.Errorf("git rev-parse --show-toplevel: %w: run it in the repository", err)
	}
	return filepath.Clean(strings.TrimSpace(string(out))), nil
}
