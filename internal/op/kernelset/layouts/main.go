// Command layouts writes layouts.gen.go: the Go form of the enums, structs and constants that the CUDA sources of a
// family mark. A family has it run by go generate:
//
//	//go:generate go run github.com/gpuframe/gpuframe/internal/op/kernelset/layouts cuda
//
// A mark is the last line of the comment of a declaration. It has the name of the Go type, or none for constants:
//
//	// Form is how the values of a source are stored.
//	//go:layout form
//	enum Form : u32 { from_nothing, from_bits };
//
// Names become those of Go: from_bits is fromBits. Comments are copied. An enum is a type of its integer with
// constants, which are exported if the type is, without its name in front of theirs. Headers that several families include may follow the folder. A struct is a struct of Go with a method asArgument, which returns it as a kernel takes it; its methods
// and static members are left out. Its members are numbers, structs with a mark, pointers, and arrays of these.
// Two words may follow the name of a struct:
//
//	any    pointers are any memory that a launch takes; by default they are of type memory.Slice[uint8]
//	words  instead of asArgument there is a method addTo, which adds the struct to a kernels.Words without allocating
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const output = "layouts.gen.go"

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: layouts FOLDER [HEADER...]")
		os.Exit(2)
	}
	text, err := layouts(os.Getenv("GOPACKAGE"), ".", os.Args[1], os.Args[2:]...)
	if err == nil {
		err = os.WriteFile(output, []byte(text), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "layouts:", err)
		os.Exit(1)
	}
}

// layouts returns the text of layouts.gen.go for the sources in a folder of a family, and headers.
func layouts(family, root, folder string, headers ...string) (string, error) {
	paths, err := filepath.Glob(filepath.Join(root, folder, "*.cu*"))
	if err != nil {
		return "", err
	}
	slices.Sort(paths)
	for _, header := range headers {
		paths = append(paths, filepath.Join(root, header))
	}
	var all []declaration
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		list, err := marked(string(text))
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		for i := range list {
			list[i].file = path
		}
		all = append(all, list...)
	}
	if len(all) == 0 {
		return "", fmt.Errorf("%s has no line %s NAME", filepath.Join(root, folder), mark)
	}
	return write(family, strings.Join(append([]string{folder + "/*.cu*"}, headers...), ", "), all)
}

// camel returns the Go form of a name of C.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[1+i] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}
