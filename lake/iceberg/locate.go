package iceberg

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gpuframe/gpuframe/lake/internal/storage"
	"github.com/gpuframe/gpuframe/objectstore"
)

// suffixes of files of metadata behind their versions.
var suffixes = []string{".metadata.json", ".gz.metadata.json", ".metadata.json.gz"}

// versioned are the names of files of metadata: v3.metadata.json of tables of file systems, 00003-….metadata.json of others.
var versioned = regexp.MustCompile(`^(?:v(\d+)|(\d+)-.*?)(?:\.gz)?\.metadata\.json(?:\.gz)?$`)

// locate returns the folder of a table, and the contents of its newest metadata. The path is the folder or a file of metadata.
func locate(ctx context.Context, from storage.Storage, name string) (root, file string, data []byte, err error) {
	if name, err = pathOf(from, name); err != nil {
		return name, "", nil, err
	}
	if strings.HasSuffix(name, ".metadata.json") || strings.HasSuffix(name, ".metadata.json.gz") {
		file = from.Root(name)
		data, err = from.Read(ctx, file, mostMetadata)
		root = parent(file)
		if base := root[strings.LastIndex(root, "/")+1:]; base == "metadata" {
			root = parent(root)
		}
		return root, file, data, inFile(file, err)
	}
	root = from.Root(name)
	folder := storage.Join(root, "metadata")
	hint, err := from.Read(ctx, storage.Join(folder, "version-hint.text"), 1<<10)
	if err == nil {
		file, data, err = hinted(ctx, from, folder, strings.TrimSpace(string(hint)))
		return root, file, data, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return root, "", nil, inFile("version-hint.text", err)
	}
	if file, err = newest(ctx, from, folder); err != nil {
		return root, "", nil, err
	}
	data, err = from.Read(ctx, file, mostMetadata)
	return root, file, data, inFile(file, storage.Needed(err, ErrMetadata))
}

// parent returns the folder of a file.
func parent(name string) string {
	if slash := strings.LastIndex(name, "/"); slash > 0 {
		return name[:slash]
	}
	return "."
}

// hinted reads the metadata that version-hint.text names, or later ones: writers may fail before they write the hint.
func hinted(ctx context.Context, from storage.Storage, folder, hint string) (file string, data []byte, err error) {
	version, err := strconv.ParseInt(hint, 10, 64)
	numbered := err == nil
	if !numbered && (hint == "" || strings.Contains(hint, "/")) {
		return "", nil, inFile("version-hint.text", fmt.Errorf("it has %.100q, expected a version: %w", hint, ErrMetadata))
	}
	if !numbered {
		file, err = firstOf(ctx, from, folder, []string{hint + suffixes[0], hint, "v" + hint + suffixes[0]})
	} else {
		file, err = latest(ctx, from, folder, version)
	}
	if err == nil && file == "" {
		err = inFile("version-hint.text", fmt.Errorf("it names %q, which is absent: %w", hint, ErrMetadata))
	}
	if err != nil {
		return "", nil, err
	}
	data, err = from.Read(ctx, file, mostMetadata)
	return file, data, inFile(file, storage.Needed(err, ErrMetadata))
}

// latest returns the file of a version, or that of the last of the versions behind it without a gap, or no name.
func latest(ctx context.Context, from storage.Storage, folder string, version int64) (file string, err error) {
	for {
		var names []string
		for _, suffix := range suffixes {
			names = append(names, fmt.Sprintf("v%d%s", version, suffix))
		}
		next, err := firstOf(ctx, from, folder, names)
		if err != nil || next == "" {
			return file, err
		}
		file = next
		version++
	}
}

// firstOf returns the first of some files of a folder, or no name.
func firstOf(ctx context.Context, from storage.Storage, folder string, names []string) (string, error) {
	for _, name := range names {
		file := storage.Join(folder, name)
		_, err := from.Stat(ctx, file)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", inFile(file, err)
		}
	}
	return "", nil
}

// newest returns the file of the greatest version in a folder.
func newest(ctx context.Context, from storage.Storage, folder string) (string, error) {
	entries, err := from.List(ctx, folder)
	if errors.Is(err, errors.ErrUnsupported) {
		return "", fmt.Errorf("it has no version-hint.text, and the store does not list its metadata: give the path of a file of metadata: %w", err)
	}
	if err != nil {
		return "", fmt.Errorf("list its metadata: %w", err)
	}
	greatest, names := int64(-1), []string(nil)
	var byVersion, byID string
	for _, each := range entries {
		match := versioned.FindStringSubmatch(each.Name)
		switch {
		case match == nil:
			continue
		case match[1] != "":
			byVersion = each.Name
		default:
			byID = each.Name
		}
		version, err := strconv.ParseInt(match[1]+match[2], 10, 64)
		if err != nil || version < greatest {
			continue
		}
		if version > greatest {
			greatest, names = version, nil
		}
		names = append(names, each.Name)
	}
	if byVersion != "" && byID != "" {
		return "", fmt.Errorf("its metadata have names of two kinds, such as %s and %s, so that the newest one is unknown: give the path of one: %w", byVersion, byID, ErrMetadata)
	}
	switch len(names) {
	case 0:
		return "", fmt.Errorf("%s has no file of metadata: %w", objectstore.Display(folder), fs.ErrNotExist)
	case 1:
		return storage.Join(folder, names[0]), nil
	}
	slices.Sort(names)
	return "", fmt.Errorf("it has several files of metadata of version %d: %s: give the path of one: %w", greatest, strings.Join(names, ", "), ErrMetadata)
}

// pathOf returns a name of the metadata as gpuframe has it.
func pathOf(from storage.Storage, name string) (string, error) {
	name, err := from.Name(name)
	if _, ok := objectstore.SchemeOf(name); ok || err != nil {
		return name, err
	}
	return path.Clean(name), nil
}

// fileName returns the name of a file that the metadata name.
func (t *Table) fileName(uri string) (string, error) {
	if t.moved {
		if rest, ok := strings.CutPrefix(uri, strings.TrimRight(t.metadata.Location, "/")+"/"); ok {
			return storage.Join(t.root, rest), nil
		}
	}
	name, err := pathOf(t.from, uri)
	if err != nil {
		return "", fmt.Errorf("%w: %w", err, ErrMetadata)
	}
	if t.moved {
		location, err := pathOf(t.from, t.metadata.Location)
		if rest, ok := strings.CutPrefix(name, strings.TrimRight(location, "/")+"/"); ok && err == nil {
			return storage.Join(t.root, rest), nil
		}
	}
	if t.from.System != nil {
		return path.Clean(strings.TrimLeft(name, "/")), nil
	}
	return name, nil
}
