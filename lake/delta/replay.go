package delta

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gpuframe/gpuframe/lake/internal/storage"
)

// snapshot is the state of a table at a version.
type snapshot struct {
	protocol *protocol
	metadata *metadata
	// files are by path and deletion vector. order has the keys as they were added first.
	files map[fileKey]*addFile
	order []fileKey
}

// fileKey identifies a file with a deletion vector.
type fileKey struct{ path, vector string }

// replay reads the files of a segment, from the oldest on.
func (l *log) replay(ctx context.Context, s segment) (*snapshot, error) {
	state := &snapshot{files: map[fileKey]*addFile{}}
	if err := l.readCheckpoint(ctx, s, state); err != nil {
		return nil, err
	}
	for _, commit := range s.commits {
		data, err := l.need(ctx, storage.Join(l.folder, commit.Name))
		if err == nil {
			err = parseActions(data, func(a action) error { state.apply(a); return nil })
		}
		if err != nil {
			return nil, inFile(commit.Name, err)
		}
	}
	if state.protocol == nil || state.metadata == nil {
		return nil, fmt.Errorf("it has no action protocol or no action metaData: %w", ErrLog)
	}
	return state, nil
}

// apply applies an action to the state of the ones before it.
func (s *snapshot) apply(a action) {
	switch {
	case a.Add != nil:
		key := fileKey{a.Add.Path, a.Add.Vector.id()}
		if s.files[key] == nil {
			s.order = append(s.order, key)
		}
		s.files[key] = a.Add
	case a.Remove != nil:
		delete(s.files, fileKey{a.Remove.Path, a.Remove.Vector.id()})
	case a.Metadata != nil:
		s.metadata = a.Metadata
	case a.Protocol != nil:
		s.protocol = a.Protocol
	}
}

// adds returns the files, in the order in which they were added.
func (s *snapshot) adds() (list []*addFile) {
	listed := map[fileKey]bool{}
	for _, key := range s.order {
		if add := s.files[key]; add != nil && !listed[key] {
			listed[key] = true
			list = append(list, add)
		}
	}
	return list
}

// readable are the features of readers that this package has.
var readable = []string{"clustering", "columnMapping", "deletionVectors", "domainMetadata", "inCommitTimestamp", "rowTracking", "timestampNtz", "typeWidening", "typeWidening-preview", "v2Checkpoint", "vacuumProtocolCheck"}

// check refuses tables of versions and features that this package does not read.
func (p *protocol) check() error {
	if p.MinReaderVersion < 1 || p.MinReaderVersion > 3 {
		return fmt.Errorf("it needs readers of version %d, this package has 1 to 3: %w", p.MinReaderVersion, ErrUnsupported)
	}
	var unknown []string
	for _, feature := range p.ReaderFeatures {
		if !slices.Contains(readable, feature) {
			unknown = append(unknown, feature)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return fmt.Errorf("it needs readers with the features %s: %w", strings.Join(unknown, ", "), ErrUnsupported)
	}
	return nil
}
