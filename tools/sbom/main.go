// Command sbom writes the software bill of materials of a release, in CycloneDX's JSON: the Go
// modules that the linker noted in its programs and libraries. It has no time and no serial number,
// so the same files give the same bytes.
//
//	sbom VERSION FILE… >sbom.cdx.json
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom VERSION FILE…")
		os.Exit(2)
	}
	if err := write(os.Stdout, os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

const project = "github.com/gpuframe/gpuframe"

func write(to io.Writer, version string, files []string) error {
	release := cdx.Component{
		BOMRef: purl(project, version), Type: cdx.ComponentTypeApplication, Name: project, Version: version, PackageURL: purl(project, version),
		Licenses: &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
	}
	modules := map[string]cdx.Component{}
	var programs []cdx.Component
	dependencies := []cdx.Dependency{{Ref: release.BOMRef, Dependencies: &[]string{}}}
	for _, file := range files {
		program, needs, err := describe(file, version)
		if err != nil {
			return err
		}
		programs = append(programs, program)
		for _, m := range needs {
			modules[m.BOMRef] = m
		}
		refs := slices.Sorted(maps.Keys(keyed(needs)))
		dependencies = append(dependencies, cdx.Dependency{Ref: program.BOMRef, Dependencies: &refs})
		*dependencies[0].Dependencies = append(*dependencies[0].Dependencies, program.BOMRef)
	}
	components := programs
	for _, ref := range slices.Sorted(maps.Keys(modules)) {
		components = append(components, modules[ref])
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &release}
	bom.Components, bom.Dependencies = &components, &dependencies
	return cdx.NewBOMEncoder(to, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}

func keyed(components []cdx.Component) map[string]bool {
	keys := map[string]bool{}
	for _, c := range components {
		keys[c.BOMRef] = true
	}
	return keys
}

// describe returns a program, and the modules in it with the Go distribution.
func describe(file, version string) (program cdx.Component, modules []cdx.Component, err error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return program, nil, fmt.Errorf("%s: %w: it must be a program or library of Go", file, err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return program, nil, err
	}
	sum := sha256.Sum256(content)
	platform := map[string]string{}
	for _, s := range info.Settings {
		platform[s.Key] = s.Value
	}
	name := fmt.Sprintf("%s-%s-%s", filepath.Base(file), platform["GOOS"], platform["GOARCH"])
	program = cdx.Component{
		BOMRef: "file:" + name, Type: cdx.ComponentTypeFile, Name: name, Version: version,
		Hashes: &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
	}
	for _, m := range append([]*debug.Module{{Path: info.Main.Path, Version: version}}, info.Deps...) {
		modules = append(modules, library(m, version))
	}
	return program, append(modules, library(&debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}, version)), nil
}

// library describes a module. Those of the project, which workspaces replace by folders, have the
// version of the release.
func library(m *debug.Module, version string) cdx.Component {
	if m.Path == project || strings.HasPrefix(m.Path, project+"/") {
		m = &debug.Module{Path: m.Path, Version: version}
	} else if m.Replace != nil {
		m = m.Replace
	}
	c := cdx.Component{BOMRef: purl(m.Path, m.Version), Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: purl(m.Path, m.Version), Scope: cdx.ScopeRequired}
	if m.Sum != "" {
		c.Properties = &[]cdx.Property{{Name: "go.sum", Value: m.Sum}}
	}
	return c
}

// purl returns the package URL of a Go module.
func purl(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}
