package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/internal/io/hive"
	"github.com/gpuframe/gpuframe/internal/io/source/prune"
	"github.com/gpuframe/gpuframe/objectstore"
)

// A path is a file and the values of the folders named key=value above it.
type path struct {
	name string
	// values are by partition. Nil is a null.
	values []*string
	// object is that of a store, or nil.
	object *object
}

// paths are the files of a source, in their order, and the partitions that their
// folders name.
type paths struct {
	patterns   []string
	files      []path
	partitions []partition
}

// partition is a column that the folders of files name: year=2024.
type partition struct {
	name string
	// integer reports whether all values are integers.
	integer bool
}

// wildcards begin the parts of patterns that stand for others.
const wildcards = "*?["

// expand lists the files of paths: files, patterns of filepath.Glob, and folders, which
// are walked for files with one of the extensions. Files and folders that begin with a
// dot or an underscore are left out of walks. URLs are names of objects: see objectNames.
func (f Files) expand(patterns []string, extensions []string) (*paths, error) {
	if len(patterns) == 0 {
		return nil, fmt.Errorf("no paths, expected at least one: %w", ErrArgument)
	}
	p := &paths{patterns: displayed(patterns)}
	var keys [][]string
	add := func(file path, below string) error {
		var names []string
		names, file.values = folders(file.name, below)
		keys = append(keys, names)
		p.files = append(p.files, file)
		return nil
	}
	for _, each := range patterns {
		store, err := f.storeOf(each)
		if err != nil {
			return nil, err
		}
		if store != nil {
			err = (&objectNames{ctx: context.Background(), store: store, extensions: extensions, add: add}).visit(each)
		} else {
			err = f.visit(f.name(each), extensions, func(name, below string) error { return add(path{name: name}, below) })
		}
		if err != nil {
			return nil, err
		}
	}
	for i := range p.files {
		if !slices.Equal(keys[i], keys[0]) {
			return nil, &Error{Source: p.String(), Path: p.files[i].name, RowGroup: -1,
				Err: fmt.Errorf("its folders name the partitions %q, those of %s name %q, expected the same: %w", keys[i], p.files[0].name, keys[0], ErrContents)}
		}
	}
	for i, name := range keys[0] {
		if slices.Contains(keys[0][:i], name) {
			return nil, &Error{Source: p.String(), Path: p.files[0].name, RowGroup: -1,
				Err: fmt.Errorf("its folders name the partition %q twice: rename one of them: %w", name, ErrContents)}
		}
		p.partitions = append(p.partitions, partition{name: name, integer: p.integers(i)})
	}
	return p, nil
}

// displayed returns names of files as they may be shown.
func displayed(names []string) []string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = objectstore.Display(name)
	}
	return list
}

// visit calls add for the files of one path, in lexical order. Folders named key=value
// count below the folder, or below the first part of the pattern with a wildcard.
func (f Files) visit(pattern string, extensions []string, add func(name, below string) error) error {
	info, err := f.stat(pattern)
	switch {
	case err == nil && info.IsDir():
		return f.walkFolder(pattern, pattern, extensions, add)
	case err == nil:
		return add(pattern, filepath.Dir(pattern))
	case !strings.ContainsAny(pattern, wildcards):
		return err
	}
	matches, err := f.glob(pattern)
	if err != nil {
		return fmt.Errorf("pattern %q: %w: %w", pattern, err, ErrArgument)
	}
	if len(matches) == 0 {
		return &fs.PathError{Op: "glob", Path: pattern, Err: fs.ErrNotExist}
	}
	before, _, _ := strings.Cut(pattern, pattern[strings.IndexAny(pattern, wildcards):][:1])
	root := filepath.Dir(before + "x")
	for _, name := range matches {
		info, err := f.stat(name)
		if err != nil {
			return err
		}
		if info.IsDir() {
			err = f.walkFolder(name, root, extensions, add)
		} else {
			err = add(name, root)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f Files) walkFolder(folder, root string, extensions []string, add func(name, below string) error) error {
	hasFiles := false
	err := f.walk(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		hidden := name != folder && hive.Hidden(entry.Name())
		if entry.IsDir() {
			if hidden {
				return filepath.SkipDir
			}
			return nil
		}
		if hidden || !slices.Contains(extensions, Extension(name)) {
			return nil
		}
		hasFiles = true
		return add(name, root)
	})
	if err == nil && !hasFiles {
		err = withoutFiles(folder, extensions)
	}
	return err
}

// withoutFiles is the error of a folder without files.
func withoutFiles(folder string, extensions []string) error {
	return &fs.PathError{Op: "read folder", Path: folder, Err: fmt.Errorf("it has no files with the extension %s: %w", strings.Join(extensions, " or "), fs.ErrNotExist)}
}

// folders returns the keys and values of the folders of a file that are named
// key=value, below a folder.
func folders(name, below string) (keys []string, values []*string) {
	relative, err := filepath.Rel(below, name)
	if err != nil {
		return nil, nil
	}
	return hive.Folders(filepath.ToSlash(filepath.Dir(relative)))
}

// integers reports whether all values of a partition are integers, and one is not null.
func (p *paths) integers(i int) bool {
	hasValues := false
	for _, file := range p.files {
		if file.values[i] == nil {
			continue
		}
		if _, err := strconv.ParseInt(*file.values[i], 10, 64); err != nil {
			return false
		}
		hasValues = true
	}
	return hasValues
}

func (p *paths) String() string {
	text := strings.Join(p.patterns[:min(len(p.patterns), 3)], ", ")
	if len(p.patterns) > 3 {
		text += ", …"
	}
	if n := len(p.files); n > 1 {
		text += fmt.Sprintf(" (%d files)", n)
	}
	return text
}

func (p partition) field() arrow.Field {
	var t arrow.DataType = arrow.BinaryTypes.String
	if p.integer {
		t = arrow.PrimitiveTypes.Int64
	}
	return arrow.Field{Name: p.name, Type: t, Nullable: true}
}

// array returns rows repetitions of a value of the partition.
func (p partition) array(value *string, rows int) arrow.Array {
	builder := array.NewBuilder(arrowmemory.DefaultAllocator, p.field().Type)
	defer builder.Release()
	builder.Reserve(rows)
	switch b := builder.(type) {
	case *array.Int64Builder:
		if value != nil {
			number, _ := strconv.ParseInt(*value, 10, 64)
			for range rows {
				b.UnsafeAppend(number)
			}
		}
	case *array.StringBuilder:
		if value != nil {
			b.ReserveData(min(rows*len(*value), math.MaxInt32))
			for range rows {
				b.Append(*value)
			}
		}
	}
	if value == nil {
		builder.AppendNulls(rows)
	}
	return builder.NewArray()
}

// span is the range of a value of the partition, in rows rows.
func (p partition) span(value *string, rows int64) prune.Range {
	if value == nil {
		return prune.Range{Nulls: rows}
	}
	var bound any = []byte(*value)
	if p.integer {
		bound, _ = strconv.ParseInt(*value, 10, 64)
		return prune.Range{Low: bound, High: bound, Valid: rows}
	}
	return prune.Range{Low: bound, High: bound, Valid: rows}
}

// pathOf returns the path of an error of a file system.
func pathOf(err error) string {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return failed.Path
	}
	return ""
}
