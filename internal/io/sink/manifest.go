package sink

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/internal/io/hive"
)

// File is a file that was written.
type File struct {
	// Path is relative to the folder, with slashes.
	Path  string `json:"path"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
}

// Manifest describes the files of a write to a folder, or of the folder.
type Manifest struct {
	Files []File `json:"files"`
	Rows  int64  `json:"rows"`
	Bytes int64  `json:"bytes"`
}

// divide divides paths into those in partitions of the manifest, and others.
func (m Manifest) divide(ctx context.Context, paths []string, columns int) (within, others []string, err error) {
	partitions := map[string]bool{}
	for _, file := range m.Files {
		partitions[partitionOf(file.Path, columns)] = true
	}
	for _, path := range paths {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if partition := partitionOf(path, columns); partition != "" && partitions[partition] {
			within = append(within, path)
		} else {
			others = append(others, path)
		}
	}
	return within, others, nil
}

// partitionOf returns the folders of the partition of a path as gpuframe writes them, or empty text if their number is
// another one.
func partitionOf(path string, columns int) string {
	keys, values := hive.Folders(parent(path))
	if len(keys) != columns {
		return ""
	}
	folders := make([]string, columns)
	for i, key := range keys {
		folders[i] = hive.Folder(key, values[i])
	}
	return strings.Join(folders, "/")
}

// with returns the manifest with the files of another one that a folder still has.
func (m Manifest) with(before Manifest, kept []string) Manifest {
	paths := map[string]bool{}
	for _, path := range kept {
		paths[path] = true
	}
	files := slices.Clone(m.Files)
	for _, file := range before.Files {
		if paths[file.Path] {
			files = append(files, file)
		}
	}
	return newManifest(files)
}

// newManifest returns the manifest of files, in the order of their paths.
func newManifest(files []File) (m Manifest) {
	m.Files = slices.SortedFunc(slices.Values(files), func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	for _, file := range m.Files {
		m.Rows, m.Bytes = m.Rows+file.Rows, m.Bytes+file.Bytes
	}
	return m
}

// parent returns the folder of a path with slashes, or empty text.
func parent(path string) string {
	return path[:max(0, strings.LastIndexByte(path, '/'))]
}
