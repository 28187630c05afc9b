package delta

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strconv"
	"time"
)

// log is the log of a table.
type log struct {
	storage
	folder string
}

// find returns the files for the version of the options.
func (l *log) find(ctx context.Context, options Options) (segment, error) {
	entries, err := l.list(ctx, l.folder)
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
		return segment{}, fmt.Errorf("its log %s has no commits: %w", l.folder, fs.ErrNotExist)
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
	var entries []entry
	first := int64(0)
	hint, err := l.read(ctx, l.folder+"/_last_checkpoint", 1<<20)
	var last struct {
		Version int64 `json:"version"`
		Parts   int   `json:"parts"`
		V2      struct {
			Path string `json:"path"`
		} `json:"v2Checkpoint"`
	}
	switch {
	case err == nil:
		if err := json.Unmarshal(hint, &last); err != nil || last.Version < 0 || last.Parts > 1<<16 {
			return listing{}, inFile("_last_checkpoint", fmt.Errorf("%w: %w", errors.Join(err), ErrLog))
		}
		first = last.Version + 1
		entries = append(entries, hinted(last.Version, last.Parts, last.V2.Path)...)
	case !errors.Is(err, fs.ErrNotExist):
		return listing{}, err
	}
	for version := first; ; version++ {
		name := fmt.Sprintf("%020d.json", version)
		about, err := l.stat(ctx, l.folder+"/"+name)
		if errors.Is(err, fs.ErrNotExist) {
			return sortLog(entries), nil
		}
		if err != nil {
			return listing{}, err
		}
		about.name = name
		entries = append(entries, about)
	}
}

// hinted are the files of a checkpoint that _last_checkpoint names.
func hinted(version int64, parts int, path string) (entries []entry) {
	prefix := fmt.Sprintf("%020d.checkpoint", version)
	if path != "" {
		return []entry{{name: path}}
	}
	if parts == 0 {
		return []entry{{name: prefix + ".parquet"}}
	}
	for part := 1; part <= parts; part++ {
		entries = append(entries, entry{name: fmt.Sprintf("%s.%010d.%010d.parquet", prefix, part, parts)})
	}
	return entries
}

// at returns the newest version that is not younger than a time.
func (l *log) at(ctx context.Context, all listing, t time.Time) (int64, error) {
	var versions []int64
	for version := range all.commits {
		versions = append(versions, version)
	}
	sort.Slice(versions, func(a, b int) bool { return versions[a] < versions[b] })
	times, err := l.times(ctx, all, versions)
	if err != nil {
		return 0, err
	}
	n := sort.Search(len(versions), func(i int) bool { return times[i].After(t) })
	if n == 0 {
		return 0, fmt.Errorf("no version is as old as %s: %w", t.Format(time.RFC3339Nano), ErrVersion)
	}
	return versions[n-1], nil
}

// times returns the times of commits, each later than the one before: those in the commits if the table has them, otherwise
// those of the files.
func (l *log) times(ctx context.Context, all listing, versions []int64) ([]time.Time, error) {
	enabled, err := l.enabled(ctx, all)
	if err != nil {
		return nil, err
	}
	times := make([]time.Time, len(versions))
	err = eachOf(ctx, mostVectors, len(versions), func(ctx context.Context, i int) error {
		commit := all.commits[versions[i]]
		times[i] = commit.modified
		if enabled < 0 || versions[i] < enabled {
			return nil
		}
		data, err := l.read(ctx, l.folder+"/"+commit.name, mostLogFile)
		if err == nil {
			err = parseActions(data, func(a action) error {
				if a.CommitInfo != nil && a.CommitInfo.InCommitTimestamp != nil {
					times[i] = time.UnixMilli(*a.CommitInfo.InCommitTimestamp)
				}
				return nil
			})
		}
		return inFile(commit.name, err)
	})
	for i := range times {
		if i > 0 && !times[i].After(times[i-1]) {
			times[i] = times[i-1].Add(time.Millisecond)
		}
	}
	return times, err
}

// enabled returns the version from which on commits have their times, or -1.
func (l *log) enabled(ctx context.Context, all listing) (int64, error) {
	s, err := all.segment(all.latest())
	if err != nil {
		return 0, err
	}
	state, err := l.replay(ctx, s)
	if err != nil {
		return 0, err
	}
	about := state.metadata.Configuration
	if about["delta.enableInCommitTimestamps"] != "true" {
		return -1, nil
	}
	version, err := strconv.ParseInt(about["delta.inCommitTimestampEnablementVersion"], 10, 64)
	if err != nil {
		return 0, nil
	}
	return version, nil
}
