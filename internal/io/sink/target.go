package sink

import (
	"context"
	"io"
	"strings"

	"github.com/gpuframe/gpuframe/objectstore"
)

// target is a folder that files are written to. Paths are relative to it, with slashes.
type target interface {
	// list returns the paths of the files of the folder, without hidden ones.
	list(ctx context.Context) ([]string, error)
	canRemove() bool
	// read returns the contents of a file, or nil if it does not exist.
	read(ctx context.Context, name string) ([]byte, error)
	// create begins a file.
	create(path string) (stagedFile, error)
	// commit makes the finished files appear, and carries out a change. After an error the folder is as it was, unless
	// the error states otherwise. After a success hidden files may be left.
	commit(ctx context.Context, c change) error
	// abort removes what was written before a commit that has succeeded.
	abort(ctx context.Context) error
}

// change holds the further work of a commit.
type change struct {
	removed  []string // files
	manifest string   // the name of a file, or empty
	list     []byte   // its contents
	before   []byte   // those of the one before it, or nil
}

// stagedFile is a file of a target that readers do not see yet.
type stagedFile interface {
	io.Writer
	// finish ends the file: commit makes it appear.
	finish() error
	// close ends it without that. abort removes it.
	close() error
}

// openTarget returns the target of a folder, and the number of files that it may write at a time.
func openTarget(ctx context.Context, folder string) (to target, mostOpen int, err error) {
	const fileScheme = "file://"
	if _, url := objectstore.SchemeOf(folder); url && !strings.HasPrefix(folder, fileScheme) {
		store, err := objectstore.Open(folder)
		if err != nil {
			return nil, 0, err
		}
		return newObjectFolder(ctx, store, folder), 16, nil
	}
	to, err = newLocalFolder(strings.TrimPrefix(folder, fileScheme))
	return to, 64, err
}
