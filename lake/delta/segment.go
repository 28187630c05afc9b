package delta

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpuframe/gpuframe/lake/internal/storage"
)

// segment is the files of the log that a version needs.
type segment struct {
	version int64
	// checkpoint is the version of the checkpoint, or -1 without one, and files are its files.
	checkpoint int64
	files      []string
	// commits are the files of the commits behind it, in order.
	commits []storage.Entry
}

// listing is the files of a log.
type listing struct {
	commits     map[int64]storage.Entry
	checkpoints map[int64][]checkpoint
}

// checkpoint is a checkpoint of a version: a file, or parts of which the list may lack some.
type checkpoint struct {
	files []string
	parts int // of a checkpoint in parts, 0 for one of a file
}

func (c checkpoint) complete() bool { return c.parts == 0 || len(c.files) == c.parts }

// sortLog finds commits and checkpoints among the files of a log. Others are left out.
func sortLog(entries []storage.Entry) listing {
	l := listing{commits: map[int64]storage.Entry{}, checkpoints: map[int64][]checkpoint{}}
	slices.SortFunc(entries, func(a, b storage.Entry) int { return cmp.Compare(a.Name, b.Name) })
	for _, each := range entries {
		parts := strings.Split(each.Name, ".")
		if len(parts[0]) != 20 || len(parts) < 2 {
			continue
		}
		version, err := strconv.ParseInt(parts[0], 10, 64)
		if err != nil || version < 0 {
			continue
		}
		switch {
		case len(parts) == 2 && parts[1] == "json":
			l.commits[version] = each
		case parts[1] != "checkpoint":
		case len(parts) == 3 && parts[2] == "parquet", len(parts) == 4 && (parts[3] == "parquet" || parts[3] == "json"):
			l.checkpoints[version] = append(l.checkpoints[version], checkpoint{files: []string{each.Name}})
		case len(parts) == 5 && parts[4] == "parquet":
			l.addPart(version, each.Name, parts[2], parts[3])
		}
	}
	return l
}

// addPart adds a file of a checkpoint in parts. Two writers may have written different numbers of parts.
func (l listing) addPart(version int64, name, part, parts string) {
	number, err := strconv.Atoi(part)
	all, failure := strconv.Atoi(parts)
	if err != nil || failure != nil || number < 1 || number > all {
		return
	}
	list := l.checkpoints[version]
	index := slices.IndexFunc(list, func(c checkpoint) bool { return c.parts == all })
	if index < 0 {
		list, index = append(list, checkpoint{parts: all}), len(list)
	}
	list[index].files = append(list[index].files, name)
	l.checkpoints[version] = list
}

// latest returns the newest version, or -1.
func (l listing) latest() int64 {
	latest := int64(-1)
	for version := range l.commits {
		latest = max(latest, version)
	}
	for version, list := range l.checkpoints {
		if slices.ContainsFunc(list, checkpoint.complete) {
			latest = max(latest, version)
		}
	}
	return latest
}

// segment returns the files for a version.
func (l listing) segment(version int64) (segment, error) {
	s := segment{version: version, checkpoint: -1}
	for each, list := range l.checkpoints {
		index := slices.IndexFunc(list, checkpoint.complete)
		if index >= 0 && each <= version && each > s.checkpoint {
			s.checkpoint, s.files = each, list[index].files
		}
	}
	for next := s.checkpoint + 1; next <= version; next++ {
		commit, ok := l.commits[next]
		if !ok {
			if s.checkpoint < 0 && next == 0 {
				return s, fmt.Errorf("version %d: the log begins behind version 0 and has no complete checkpoint up to it: %w", version, ErrVersion)
			}
			return s, fmt.Errorf("version %d: the commit of version %d is absent: %w", version, next, ErrLog)
		}
		s.commits = append(s.commits, commit)
	}
	return s, nil
}
