package delta_test

import (
	"io"
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/lake/delta"
)

// systems of files that can be read at places, that can seek, and that can only be read.
type (
	otherFiles struct {
		fs.FS
		wrap func(fs.File) fs.File
	}
	seekable struct {
		fs.File
		io.Seeker
	}
	plain struct{ fs.File }
)

func (f otherFiles) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	if err != nil {
		return nil, err
	}
	if _, folder := file.(fs.ReadDirFile); folder {
		if about, err := file.Stat(); err == nil && about.IsDir() {
			return file, nil
		}
	}
	return f.wrap(file), nil
}

func TestVectorsOfFiles(t *testing.T) {
	w := newTable(t)
	vector := vectorBytes(t, 0, 2)
	w.file("v.bin", "0123456789"+framed(vector))
	w.commit(0, protocol3("deletionVectors"), metadata("n long", nil, nil), add("a.parquet", vectorAction("u", "^-aqEH.-t@S}K{vb[*k^", 11, len(vector), 2)))
	require.NoError(t, os.Rename(w.root+"/v.bin", w.root+"/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"))
	for name, wrap := range map[string]func(fs.File) fs.File{
		"places": func(f fs.File) fs.File { return f },
		"seeks":  func(f fs.File) fs.File { return seekable{f, f.(io.Seeker)} },
		"reads":  func(f fs.File) fs.File { return plain{f} },
	} {
		t.Run(name, func(t *testing.T) {
			table, err := delta.Open(t.Context(), ".", delta.Options{System: otherFiles{os.DirFS(w.root), wrap}})
			require.NoError(t, err)
			require.EqualValues(t, 2, table.Files()[0].Deleted)
		})
	}
}

// unknownFiles are entries of folders that have no information, because of an error.
type unknownFiles struct {
	fs.FS
	err error
}

type unknownEntry struct {
	fs.DirEntry
	err error
}

func (e unknownEntry) Info() (fs.FileInfo, error) { return nil, e.err }

func (f unknownFiles) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(f.FS, name)
	for i := 1; i < len(entries); i++ {
		entries[i] = unknownEntry{entries[i], f.err}
	}
	return entries, err
}

// A file of the log that cannot be described is an error, unless it has gone.
func TestUnknownFiles(t *testing.T) {
	w := versions(t)
	_, err := delta.Open(t.Context(), ".", delta.Options{System: unknownFiles{os.DirFS(w.root), fs.ErrPermission}})
	require.ErrorIs(t, err, fs.ErrPermission)
	table, err := delta.Open(t.Context(), ".", delta.Options{System: unknownFiles{os.DirFS(w.root), fs.ErrNotExist}})
	require.NoError(t, err)
	require.Zero(t, table.Version())
}
