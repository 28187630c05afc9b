// Package property runs property tests of pgregory.net/rapid with a seed that the
// environment may set, so that a check of a change draws the same cases everywhere, and
// only a search for faults draws others.
package property
