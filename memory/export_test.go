package memory

import "time"

// SetClock has a tree of managers take the time from elsewhere.
func SetClock(m *Manager, read func() time.Time) {
	m.tree.clock.start, m.tree.clock.read = read(), read
}
