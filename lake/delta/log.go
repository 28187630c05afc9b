package delta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/gpuframe/gpuframe/lake/internal/storage"
	"github.com/gpuframe/gpuframe/objectstore"
)

// mostLogFile is the length of a commit, a checkpoint or a sidecar at most.
const mostLogFile = 4 << 30

// log is the log of a table.
type log struct {
	storage.Storage
	folder string
}

// need reads a file that the log names.
func (l *log) need(ctx context.Context, name string) ([]byte, error) {
	data, err := l.Read(ctx, name, mostLogFile)
	return data, storage.Needed(err, ErrLog)
}

// find returns the files for the version of the options.
func (l *log) find(ctx context.Context, options Options) (segment, error) {
	entries, err := l.List(ctx, l.folder)
	var all listing
	if errors.Is(err, errors.ErrUnsupported) {
		if all, err = l.probe(ctx); err != nil {
			return segment{}, err
		}
	} else if err != nil {
		return segment{}, fmt.Errorf("read its log: %w", err)
	} else {
		all = sortLog(entries)
	}
	latest := all.latest()
	if latest < 0 {
		return segment{}, fmt.Errorf("its log %s has no commits: %w", objectstore.Display(l.folder), fs.ErrNotExist)
	}
	version := latest
	if options.Version != nil {
		version = *options.Version
	} else if !options.Timestamp.IsZero() {
		if version, err = l.at(ctx, all, options.Timestamp); err != nil {
			return segment{}, err
		}
	}
	if version < 0 || version > latest {
		return segment{}, fmt.Errorf("version %d: the newest one is %d: %w", version, latest, ErrVersion)
	}
	return all.segment(version)
}

// probe finds the files of a log in a store that does not list: it asks for the commits behind the last checkpoint by their names.
func (l *log) probe(ctx context.Context) (listing, error) {
	var entries []storage.Entry
	first := int64(0)
	hint, err := l.Read(ctx, storage.Join(l.folder, "_last_checkpoint"), 1<<20)
	var last struct {
		Version int64 `json:"version"`
		Parts   int   `json:"parts"`
		V2      struct {
			Path string `json:"path"`
		} `json:"v2Checkpoint"`
	}
	switch {
	case err == nil:
		if err := json.Unmarshal(hint, &last); err != nil {
			return listing{}, inFile("_last_checkpoint", fmt.Errorf("%w: %w", err, ErrLog))
		}
		if last.Version < 0 || last.Parts < 0 || last.Parts > 1<<16 {
			return listing{}, inFile("_last_checkpoint", fmt.Errorf("the checkpoint of version %d has %d parts: %w", last.Version, last.Parts, ErrLog))
		}
		first = last.Version + 1
		entries = append(entries, hinted(last.Version, last.Parts, last.V2.Path)...)
	case !errors.Is(err, fs.ErrNotExist):
		return listing{}, err
	}
	for version := first; ; version++ {
		name := fmt.Sprintf("%020d.json", version)
		about, err := l.Stat(ctx, storage.Join(l.folder, name))
		if errors.Is(err, fs.ErrNotExist) {
			return sortLog(entries), nil
		}
		if err != nil {
			return listing{}, err
		}
		about.Name = name
		entries = append(entries, about)
	}
}

// hinted are the files of a checkpoint that _last_checkpoint names.
func hinted(version int64, parts int, path string) (entries []storage.Entry) {
	prefix := fmt.Sprintf("%020d.checkpoint", version)
	if path != "" {
		return []storage.Entry{{Name: path}}
	}
	if parts == 0 {
		return []storage.Entry{{Name: prefix + ".parquet"}}
	}
	for part := 1; part <= parts; part++ {
		entries = append(entries, storage.Entry{Name: fmt.Sprintf("%s.%010d.%010d.parquet", prefix, part, parts)})
	}
	return entries
}
