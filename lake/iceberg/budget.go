package iceberg

import (
	"fmt"
	"sync/atomic"
)

const (
	// mostFiles is the number of manifests and of entries of them in a snapshot at most.
	mostFiles = 1 << 22
	// mostEntryBytes is the length of what is kept of them at most.
	mostEntryBytes = 4 << 30
	// mostBound is the length of a bound of a column at most: longer ones are left out.
	mostBound = 4 << 10
)

// budget is what the manifests of a snapshot may still have. It is safe for concurrent use.
type budget struct{ entries, bytes atomic.Int64 }

func newBudget(entries, bytes int64) *budget {
	b := &budget{}
	b.entries.Store(entries)
	b.bytes.Store(bytes)
	return b
}

// take takes an entry of a length.
func (b *budget) take(length int64) error {
	if b.entries.Add(-1) < 0 {
		return fmt.Errorf("the snapshot has more than %d files and manifests: %w", mostFiles, ErrLimit)
	}
	if b.bytes.Add(-length) < 0 {
		return fmt.Errorf("the descriptions of the snapshot's files have more than %d bytes: %w", mostEntryBytes, ErrLimit)
	}
	return nil
}

// length is about that of an entry in memory.
func (e *entry) length() int64 {
	f := &e.File
	length := 512 + len(f.Path) + len(f.Key) + 4*len(f.Equality) + 16*(len(f.Values)+len(f.Nulls)) + 32*(len(f.Lower)+len(f.Upper))
	for _, bounds := range [][]bound{f.Lower, f.Upper} {
		for _, each := range bounds {
			length += len(each.Value)
		}
	}
	for name, value := range f.Partition {
		length += 64 + len(name)
		switch v := value.(type) {
		case string:
			length += 2 * len(v) // the key of the partition has it too
		case []byte:
			length += 2 * len(v)
		}
	}
	return int64(length)
}
