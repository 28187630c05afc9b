// Package formattest holds types for tests of the Arrow C data interface: one of every
// kind that arrow-go knows, and random nested ones.
package formattest
