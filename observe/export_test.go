package observe

import "time"

// SetSnapshotClock replaces the clock of the pause between snapshots of failures.
func SetSnapshotClock(r *Recorder, now func() time.Time) {
	r.snapshots.mu.Lock()
	defer r.snapshots.mu.Unlock()
	r.snapshots.now = now
}
