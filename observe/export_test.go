package observe

import "time"

// SetSnapshotClock replaces the clock of the pause between snapshots of failures.
func SetSnapshotClock(r *Recorder, now func() time.Time) {
	r.snapshots.mu.Lock()
	defer r.snapshots.mu.Unlock()
	r.snapshots.now = now
}

// WaitingProfiles returns the number of clients that wait for a difference of profiles.
func WaitingProfiles(r *Recorder) int64 { return r.deltas.used.Load() }
