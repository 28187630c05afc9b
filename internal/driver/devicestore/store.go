// Package devicestore holds the values that packages above package device keep for
// each open device, such as loaded code. Package device has one Store in each device
// and empties it when the device is closed; package perdevice is the typed way in.
package devicestore

import "sync"

// Store holds one value for each key. The zero Store is empty and ready. It is safe
// for concurrent use and must not be copied.
type Store struct{ values sync.Map }

// Load returns the value of a key, or nil.
func (s *Store) Load(key any) any {
	value, _ := s.values.Load(key)
	return value
}

// LoadOrStore returns the value of a key. If the key has no value, it stores and returns
// the given one.
func (s *Store) LoadOrStore(key, value any) any {
	kept, _ := s.values.LoadOrStore(key, value)
	return kept
}

// Clear forgets all values.
func (s *Store) Clear() { s.values.Clear() }
