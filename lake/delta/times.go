package delta

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"time"

	"github.com/gpuframe/gpuframe/lake/internal/storage"
)

// Commits have times: those of their files, or since a version, which the table has as a property, those that they have.

// inCommit is since when commits have their times.
type inCommit struct {
	// version is the first one, or -1.
	version int64
	// since is its time, or zero if the table does not have it.
	since time.Time
}

// at returns the newest version that is not younger than a time.
func (l *log) at(ctx context.Context, all listing, t time.Time) (int64, error) {
	from, err := l.inCommit(ctx, all)
	if err != nil {
		return 0, err
	}
	var byFile, byCommit []int64
	for version := range all.commits {
		if from.version >= 0 && version >= from.version {
			byCommit = append(byCommit, version)
		} else {
			byFile = append(byFile, version)
		}
	}
	if !t.Before(from.since) {
		times, err := l.commitTimes(ctx, all, byCommit)
		if err != nil {
			return 0, err
		}
		if version, ok := newest(byCommit, times, t); ok {
			return version, nil
		}
	}
	if from.since.IsZero() || t.Before(from.since) {
		if version, ok := newest(byFile, fileTimes(all, byFile), t); ok {
			return version, nil
		}
	}
	return 0, fmt.Errorf("no version is as old as %s: %w", t.Format(time.RFC3339Nano), ErrVersion)
}

// newest returns the last version that is not younger than a time, by the times of versions in order.
func newest(versions []int64, times []time.Time, t time.Time) (int64, bool) {
	n := sort.Search(len(versions), func(i int) bool { return times[i].After(t) })
	if n == 0 {
		return 0, false
	}
	return versions[n-1], true
}

// fileTimes sorts versions, and returns the times of their files, each later than the one before.
func fileTimes(all listing, versions []int64) []time.Time {
	slices.Sort(versions)
	times := make([]time.Time, len(versions))
	for i, version := range versions {
		times[i] = all.commits[version].Modified
		if i > 0 && !times[i].After(times[i-1]) {
			times[i] = times[i-1].Add(time.Millisecond)
		}
	}
	return times
}

// commitTimes sorts versions, and returns the times that their commits have.
func (l *log) commitTimes(ctx context.Context, all listing, versions []int64) ([]time.Time, error) {
	slices.Sort(versions)
	times := make([]time.Time, len(versions))
	err := storage.Each(ctx, mostVectors, len(versions), func(ctx context.Context, i int) error {
		name := all.commits[versions[i]].Name
		data, err := l.need(ctx, storage.Join(l.folder, name))
		if err == nil {
			err = parseActions(data, func(a action) error {
				if a.CommitInfo != nil && a.CommitInfo.InCommitTimestamp != nil {
					times[i] = time.UnixMilli(*a.CommitInfo.InCommitTimestamp)
				}
				return nil
			})
		}
		if err == nil && times[i].IsZero() {
			err = fmt.Errorf("it has no inCommitTimestamp: %w", ErrLog)
		}
		return inFile(name, err)
	})
	return times, err
}

// inCommit returns since when commits have their times.
func (l *log) inCommit(ctx context.Context, all listing) (inCommit, error) {
	s, err := all.segment(all.latest())
	if err != nil {
		return inCommit{}, err
	}
	state, err := l.replay(ctx, s)
	if err != nil {
		return inCommit{}, err
	}
	about := state.metadata.Configuration
	if about["delta.enableInCommitTimestamps"] != "true" {
		return inCommit{version: -1}, nil
	}
	var from inCommit // of a table that was created with them
	if version, err := strconv.ParseInt(about["delta.inCommitTimestampEnablementVersion"], 10, 64); err == nil {
		from.version = version
	}
	if since, err := strconv.ParseInt(about["delta.inCommitTimestampEnablementTimestamp"], 10, 64); err == nil {
		from.since = time.UnixMilli(since)
	}
	return from, nil
}
