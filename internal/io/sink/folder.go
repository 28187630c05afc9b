package sink

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/io/hive"
	"github.com/gpuframe/gpuframe/objectstore"
)

// Existing is the treatment of files that the folder of a write has. Files and folders that begin with a dot or an
// underscore do not count, and stay.
type Existing int

// Choices about the files that a folder has.
const (
	// Refuse returns an error that wraps [fs.ErrExist].
	Refuse Existing = iota
	// Append leaves them, and adds files with new names.
	Append
	// Overwrite removes them.
	Overwrite
	// OverwritePartitions removes those of the partitions that the result has.
	OverwritePartitions
)

// FolderOptions describe the files of a folder.
type FolderOptions struct {
	// PartitionBy are the columns with a folder key=value for each value. They are not in the files.
	PartitionBy []string
	// Keys are further folders, below those.
	Keys []Key
	// FileRows is the number of rows of a file, except the last one of a partition. Zero means any.
	FileRows int64
	// FileBytes is the approximate length of a file. Zero means any.
	FileBytes int64
	Existing  Existing
	// MostFiles is the number of files above which the write fails. Zero means 10,000.
	MostFiles int
	// MostOpen is the number of files that are written at a time. Zero means 64 files, or 16 objects.
	MostOpen int
	// MostBytes is the memory of rows that wait for their row group. Zero means 256 MiB.
	MostBytes int64
	// Manifest is the name of a file with the manifest of the whole folder, or empty. It begins with an underscore or a dot.
	Manifest string
}

// check checks the options for a format.
func (o FolderOptions) check() error {
	switch {
	case o.FileRows < 0, o.FileBytes < 0, o.MostFiles < 0, o.MostOpen < 0, o.MostBytes < 0:
		return fmt.Errorf("a limit of files is negative, expected zero or more: %w", ErrArgument)
	case o.Existing < Refuse || o.Existing > OverwritePartitions:
		return fmt.Errorf("the choice about existing files is %d, expected %d to %d: %w", o.Existing, Refuse, OverwritePartitions, ErrArgument)
	case o.Existing == OverwritePartitions && len(o.PartitionBy)+len(o.Keys) == 0:
		return fmt.Errorf("partitions are overwritten without columns to partition by: overwrite the folder: %w", ErrArgument)
	case o.Manifest != "" && (!hive.Hidden(o.Manifest) || strings.ContainsAny(o.Manifest, `/\`) || strings.Trim(o.Manifest, ".") == ""):
		return fmt.Errorf("the manifest is called %q, expected a name that begins with an underscore, such as _manifest.json: %w", o.Manifest, ErrArgument)
	}
	return nil
}

// ToFolder writes the tables of a reader to files of a folder, or to objects of a store below a URL. They appear together at
// the end. The caller closes the reader.
func ToFolder(ctx context.Context, folder string, format Format, options FolderOptions, reader buffer.Reader) (m Manifest, err error) {
	m, err = toFolder(ctx, folder, format, options, reader)
	if err != nil {
		return Manifest{}, &Error{Format: format.name(), Path: objectstore.Display(folder), Err: plainPath(err)}
	}
	return m, nil
}

func toFolder(ctx context.Context, folder string, format Format, options FolderOptions, reader buffer.Reader) (m Manifest, err error) {
	if err := options.check(); err != nil {
		return Manifest{}, err
	}
	to, mostOpen, err := openTarget(ctx, folder)
	if err != nil {
		return Manifest{}, err
	}
	before, err := filesBefore(ctx, to, options)
	if err != nil {
		return Manifest{}, err
	}
	w := &folderWriter{
		to: to, format: format, fileRows: cmp.Or(options.FileRows, math.MaxInt64), fileBytes: cmp.Or(options.FileBytes, math.MaxInt64),
		mostFiles: cmp.Or(options.MostFiles, 10_000), mostOpen: cmp.Or(options.MostOpen, mostOpen), mostBytes: cmp.Or(options.MostBytes, 256<<20),
		name: "part-" + strings.ToLower(rand.Text()[:16]), open: map[string]*folderFile{},
	}
	err = w.writeAll(ctx, reader, options)
	if err == nil {
		m = newManifest(w.files)
		err = commitFolder(ctx, to, options, m, before)
	}
	if err != nil {
		return Manifest{}, errors.Join(plainPath(err), plainPath(to.abort(ctx)))
	}
	return m, nil
}

// existingFiles are the files of a folder before a write.
type existingFiles struct {
	paths    []string
	manifest []byte // the contents of the file, or nil
	listed   Manifest
}

// filesBefore returns the files of a folder, as far as the options need them. It checks that they allow the write.
func filesBefore(ctx context.Context, to target, options FolderOptions) (before existingFiles, err error) {
	if options.Existing == Append && options.Manifest == "" {
		return existingFiles{}, nil
	}
	if before.paths, err = to.list(ctx); err != nil {
		return existingFiles{}, err
	}
	if options.Existing == Refuse && len(before.paths) > 0 {
		return existingFiles{}, fmt.Errorf("the folder has files, such as %s: choose to append, to overwrite it, or to overwrite partitions: %w", before.paths[0], fs.ErrExist)
	}
	if options.Existing != Append && len(before.paths) > 0 && !to.canRemove() {
		return existingFiles{}, fmt.Errorf("the store cannot remove objects: append, or choose an empty folder: %w", errors.ErrUnsupported)
	}
	if options.Manifest == "" {
		return before, nil
	}
	if before.manifest, err = to.read(ctx, options.Manifest); err != nil {
		return existingFiles{}, fmt.Errorf("read the manifest %s: %w", options.Manifest, plainPath(err))
	}
	if options.Existing == Overwrite || len(before.paths) == 0 {
		return before, nil
	}
	const remedy = "leave out the manifest, or overwrite the folder"
	if before.manifest == nil {
		return existingFiles{}, fmt.Errorf("the folder has files, such as %s, and no manifest %s to add to: %s: %w", before.paths[0], options.Manifest, remedy, ErrArgument)
	}
	if err := json.Unmarshal(before.manifest, &before.listed); err != nil {
		return existingFiles{}, fmt.Errorf("the manifest %s of the folder is no list of files in JSON: %s: %w", options.Manifest, remedy, ErrArgument)
	}
	return before, nil
}

// commitFolder makes the files of a write appear, and removes those that they replace.
func commitFolder(ctx context.Context, to target, options FolderOptions, m Manifest, before existingFiles) (err error) {
	removed, kept := before.paths, []string(nil)
	switch options.Existing {
	case Append:
		removed, kept = nil, before.paths
	case OverwritePartitions:
		if removed, kept, err = m.divide(ctx, before.paths, len(options.PartitionBy)); err != nil {
			return err
		}
	}
	c := change{removed: removed, manifest: options.Manifest, before: before.manifest}
	if options.Manifest != "" {
		if c.list, err = json.MarshalIndent(m.with(before.listed, kept), "", "\t"); err != nil {
			return err
		}
	}
	return to.commit(ctx, c)
}
